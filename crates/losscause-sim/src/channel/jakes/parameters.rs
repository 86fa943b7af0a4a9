//! What the channel is made of, and what makes a set of parameters invalid.

use losscause::Span;

use super::convolutional::CONSTRAINT_LENGTHS;

/// A direct-sequence CDMA uplink over fading paths, its code and its interleaver.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Size of a packet, bytes (1 to 65 535).
    pub packet_bytes: u32,
    /// Rate of information bits, the zeros that end a packet's code included, b/s (1 to 10^12).
    pub rate_bps: u64,
    /// Length of a trial (at most a day, and at least one block of packets).
    pub trial: Span,
    /// Chips per bit of [`Parameters::chips_of`] (1 to 65 536).
    pub spreading_gain: u32,
    /// What a spreading sequence spreads.
    pub chips_of: Unit,
    /// Users at a time, the one that is watched included (1 to 1000).
    pub users: u32,
    /// Paths that the receiver resolves (1 to 64, at most as many as oscillators).
    pub paths: u32,
    /// How much weaker each path is than the one before, dB (0 to 100).
    pub path_decay_db: f64,
    /// Received energy over noise density, dB (-100 to 100); of what, say the next two.
    pub eb_n0_db: f64,
    /// The bit whose energy that is.
    pub energy_of: Unit,
    /// Where that energy arrives.
    pub energy_on: EnergyOn,
    /// What the receiver loses against one that knows the channel perfectly, dB (-100 to 100): the
    /// ratio of signal to noise and interference is lower by it.
    pub implementation_loss_db: f64,
    /// How other users' signals lie in time and phase.
    pub alignment: Alignment,
    /// Whether the user's own other paths interfere, too.
    pub self_interference: bool,
    /// Largest Doppler shift times the duration of [`Parameters::doppler_per`] (above 0; at most
    /// 0.05 per coded bit).
    pub doppler: f64,
    /// The duration that Doppler shifts are measured in.
    pub doppler_per: DopplerPer,
    /// Oscillators of the fading model (a power of two, at most 4096).
    pub oscillators: u32,
    /// Constraint length of the convolutional code (3 to 9).
    pub constraint_length: u32,
    /// What the demodulator tells the decoder.
    pub decision: Decision,
    /// Packets per block of the interleaver (1 to 64; at most 2^20 coded bits in all, a packet of
    /// the largest size).
    pub interleaver_packets: u32,
    /// Length of a row of the interleaver, coded bits (1 to 10^6).
    pub interleaver_columns: u32,
}

/// Most coded bits in a block: its order of sending is kept in memory.
const LARGEST_BLOCK: u32 = 1 << 20;

/// One of two kinds of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// An information bit.
    Bit,
    /// A bit after the encoder, of which there are two per information bit.
    CodedBit,
}

/// Where energy is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyOn {
    /// On each path, in the mean over the paths.
    Path,
    /// On all paths together.
    AllPaths,
}

/// How the signals of users lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Chips begin at any time and carriers have any phase, as in an uplink (Pursley 1977).
    Asynchronous,
    /// Chips are in step, carriers have any phase.
    ChipsAligned,
    /// Chips and carriers are in step.
    Synchronous,
}

/// What a Doppler shift is multiplied with to become a pure number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DopplerPer {
    /// The duration of an information bit.
    Bit,
    /// The duration of a coded bit.
    CodedBit,
    /// The duration of a chip.
    Chip,
}

/// What the demodulator tells the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// How likely each bit is, in 255 steps.
    Soft,
    /// Only which value is the likelier one.
    Hard,
}

/// A parameter out of its range: its name, what it is, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// The parameter, by its name in [`Parameters`].
    pub parameter: &'static str,
    /// "is 3, expected 4 or more".
    pub problem: String,
}

impl Parameters {
    pub(super) fn validate(&self) -> Result<(), ParameterProblem> {
        let check = |parameter, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(ParameterProblem {
                    parameter,
                    problem: format!("is {value}, expected {least} to {most}"),
                })
            }
        };
        check("packet_bytes", self.packet_bytes.into(), 1.0, 65_535.0)?;
        check("rate_bps", self.rate_bps as f64, 1.0, 1e12)?;
        check("spreading_gain", self.spreading_gain.into(), 1.0, 65_536.0)?;
        check("users", self.users.into(), 1.0, 1000.0)?;
        check("oscillators", self.oscillators.into(), 1.0, 4096.0)?;
        if !self.oscillators.is_power_of_two() {
            let problem = format!("is {}, expected a power of two", self.oscillators);
            return Err(ParameterProblem { parameter: "oscillators", problem });
        }
        check("paths", self.paths.into(), 1.0, f64::from(self.oscillators.min(64)))?;
        check("path_decay_db", self.path_decay_db, 0.0, 100.0)?;
        check("eb_n0_db", self.eb_n0_db, -100.0, 100.0)?;
        check("implementation_loss_db", self.implementation_loss_db, -100.0, 100.0)?;
        let coded_bit = Self { doppler: 1.0, ..self.clone() }.cycles_per_coded_bit();
        check("doppler", self.doppler, 1e-12, 0.05 / coded_bit)?;
        let shortest = *CONSTRAINT_LENGTHS.start();
        let longest = *CONSTRAINT_LENGTHS.end();
        check("constraint_length", self.constraint_length.into(), shortest.into(), longest.into())?;
        check("interleaver_packets", self.interleaver_packets.into(), 1.0, 64.0)?;
        let block =
            2 * (self.packet_bits() + self.constraint_length - 1) * self.interleaver_packets;
        if block > LARGEST_BLOCK {
            let problem =
                format!("makes a block of {block} coded bits, expected at most {LARGEST_BLOCK}");
            return Err(ParameterProblem { parameter: "interleaver_packets", problem });
        }
        check("interleaver_columns", self.interleaver_columns.into(), 1.0, 1e6)?;
        check("trial", self.trial.as_secs_f64(), 0.0, 86_400.0)?;
        if self.blocks_per_trial() == 0 {
            let problem =
                format!("is {} s, expected time for a block of packets", self.trial.as_secs_f64());
            return Err(ParameterProblem { parameter: "trial", problem });
        }
        Ok(())
    }

    /// Information bits of a packet.
    pub fn packet_bits(&self) -> u32 {
        8 * self.packet_bytes
    }

    /// Blocks of the interleaver that are sent completely within a trial.
    pub(super) fn blocks_per_trial(&self) -> usize {
        let bits = u128::from(self.rate_bps)
            * u128::from(self.trial.as_nanos().max(0).unsigned_abs())
            / 1_000_000_000;
        let packet = self.packet_bits() + self.constraint_length - 1;
        (bits / u128::from(packet * self.interleaver_packets)) as usize
    }

    pub(super) fn chips_per_coded_bit(&self) -> f64 {
        match self.chips_of {
            Unit::Bit => 0.5 * f64::from(self.spreading_gain),
            Unit::CodedBit => f64::from(self.spreading_gain),
        }
    }

    /// Energy of a coded bit on all paths together, over the noise density.
    pub(super) fn coded_bit_to_noise(&self) -> f64 {
        let bit = match self.energy_of {
            Unit::Bit => 0.5,
            Unit::CodedBit => 1.0,
        };
        let paths = match self.energy_on {
            EnergyOn::Path => f64::from(self.paths),
            EnergyOn::AllPaths => 1.0,
        };
        bit * paths * libm::exp10(self.eb_n0_db / 10.0)
    }

    /// Largest Doppler shift, in cycles per coded bit.
    pub(super) fn cycles_per_coded_bit(&self) -> f64 {
        self.doppler
            * match self.doppler_per {
                DopplerPer::Bit => 0.5,
                DopplerPer::CodedBit => 1.0,
                DopplerPer::Chip => self.chips_per_coded_bit(),
            }
    }
}

impl Alignment {
    /// Variance of a unit of other users' power per chip, relative to that of white noise of the
    /// same density.
    pub(super) fn factor(self) -> f64 {
        match self {
            Alignment::Asynchronous => 2.0 / 3.0,
            Alignment::ChipsAligned => 1.0,
            Alignment::Synchronous => 2.0,
        }
    }
}
