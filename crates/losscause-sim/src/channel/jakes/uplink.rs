//! One user's packets from the encoder to the decoder.
//!
//! A trial is a sequence of interleaver blocks. Each packet's bits are drawn, encoded and ended by
//! the code's zeros; the packets of a block are interleaved and sent as coded bits ±1; each coded
//! bit is received as
//!
//! ```text
//! y = ±γ + √(γ/2) n,    n normal,
//! ```
//!
//! a quarter of its log-likelihood ratio, with γ of [`rake`](super::rake). A packet is lost if a
//! decoded bit is wrong: a checksum is taken to find every error.
//!
//! Deviations: γ is computed every few coded bits, less than a fiftieth of a Doppler cycle apart,
//! and taken to run straight in between.

use super::convolutional::{Code, LARGEST, Viterbi};
use super::fading::Fading;
use super::interleaver::Interleaver;
use super::rake::Rake;
use super::{Decision, ParameterProblem, Parameters};
use crate::normal::Normal;
use crate::rng::Stream;

/// A user's uplink.
#[derive(Clone, Debug)]
pub struct Uplink {
    parameters: Parameters,
    code: Code,
    interleaver: Interleaver,
    rake: Rake,
}

/// Most coded bits between two computations of the channel.
const LONGEST_STEP: u32 = 64;

/// Most of a Doppler cycle between them.
const STEP_CYCLES: f64 = 0.02;

/// Steps of soft decisions per unit of y; with equal chances of ±1 behind it, y reaches the end of
/// its range, ±5.3, once the bit is wrong with a probability of e^-21.
const STEPS: f64 = 24.0;

impl Uplink {
    /// An uplink with these parameters.
    ///
    /// # Errors
    /// One of them is out of its range.
    pub fn new(parameters: Parameters) -> Result<Self, ParameterProblem> {
        parameters.validate()?;
        let code = Code::of(parameters.constraint_length);
        let block =
            code.coded(parameters.packet_bits() as usize) * parameters.interleaver_packets as usize;
        let interleaver = Interleaver::new(block, parameters.interleaver_columns as usize);
        let rake = Rake::new(&parameters);
        Ok(Self { parameters, code, interleaver, rake })
    }

    /// The parameters that the uplink was made with.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Packets in a trial.
    pub fn packets_per_trial(&self) -> usize {
        self.parameters.blocks_per_trial() * self.parameters.interleaver_packets as usize
    }

    /// Sends one trial's packets; returns for each, in order, how many of its bits are wrong after
    /// decoding. Trials of different numbers are independent.
    pub fn trial(&self, seed: u64, number: u32) -> Vec<u32> {
        let stream = |part: &str| Stream::new(seed, &format!("uplink/{number}/{part}"));
        let bits = self.parameters.packet_bits() as usize;
        let packets = self.parameters.interleaver_packets as usize;
        let mut air = Air::new(&self.parameters, &self.rake, stream("fading"), stream("noise"));
        let mut data = stream("data");
        let mut decoder = Viterbi::new(self.code);
        let mut messages = vec![vec![false; bits]; packets];
        let mut decoded = vec![false; bits];
        let mut sent = Vec::new();
        let mut received = vec![0; self.interleaver.order().len()];
        let mut wrong = Vec::with_capacity(self.packets_per_trial());
        for _ in 0..self.parameters.blocks_per_trial() {
            sent.clear();
            for message in &mut messages {
                message.fill_with(|| data.uniform() < 0.5);
                self.code.encode(message, &mut sent);
            }
            for &position in self.interleaver.order() {
                received[position as usize] = air.transmit(sent[position as usize]);
            }
            for (message, received) in
                messages.iter().zip(received.chunks_exact(self.code.coded(bits)))
            {
                decoder.decode(received, &mut decoded);
                wrong
                    .push(message.iter().zip(&decoded).filter(|(sent, got)| sent != got).count()
                        as u32);
            }
        }
        wrong
    }
}

/// The way of a coded bit: fading, combining, noise, demodulation.
struct Air<'a> {
    rake: &'a Rake,
    decision: Decision,
    fading: Fading,
    noise: Normal,
    gains: Vec<[f64; 2]>,
    /// The ratio of energy to noise and interference at the last computation and at the next.
    ratio: [f64; 2],
    /// Coded bits between the two, and how many of them are gone.
    step: u32,
    gone: u32,
}

impl<'a> Air<'a> {
    fn new(parameters: &Parameters, rake: &'a Rake, mut fading: Stream, noise: Stream) -> Self {
        let doppler = parameters.cycles_per_coded_bit();
        let step = ((STEP_CYCLES / doppler) as u32).clamp(1, LONGEST_STEP);
        let paths = parameters.paths as usize;
        let fading = Fading::new(
            paths,
            parameters.oscillators as usize,
            doppler * f64::from(step),
            &mut fading,
        );
        let mut air = Self {
            rake,
            decision: parameters.decision,
            fading,
            noise: Normal::new(noise),
            gains: vec![[0.0; 2]; paths],
            ratio: [0.0; 2],
            step,
            gone: 0,
        };
        air.ratio = [air.next_ratio(), air.next_ratio()];
        air
    }

    fn next_ratio(&mut self) -> f64 {
        self.fading.sample(&mut self.gains);
        self.rake.combine(&self.gains)
    }

    /// What the decoder gets to see of a bit: positive for 0, negative for 1.
    #[inline]
    fn transmit(&mut self, bit: bool) -> i16 {
        if self.gone == self.step {
            self.gone = 0;
            self.ratio = [self.ratio[1], self.next_ratio()];
        }
        let [last, next] = self.ratio;
        let ratio = last + (next - last) * (f64::from(self.gone) / f64::from(self.step));
        self.gone += 1;
        let received = if bit { -ratio } else { ratio } + (0.5 * ratio).sqrt() * self.noise.draw();
        match self.decision {
            Decision::Soft => {
                let largest = f64::from(LARGEST);
                // Rounded to the nearest: the cast cuts what is positive.
                ((received * STEPS).clamp(-largest, largest) + largest + 0.5) as i16 - LARGEST
            }
            Decision::Hard if received > 0.0 => 1,
            Decision::Hard => -1,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use losscause::Span;

    use super::*;
    use crate::channel::jakes::{Alignment, DopplerPer, EnergyOn, Unit};

    /// The row of high loss of Table I in Cen 2003.
    pub(crate) fn table_one() -> Parameters {
        Parameters {
            packet_bytes: 381,
            rate_bps: 150_000,
            trial: Span::from_secs(12),
            spreading_gain: 16,
            chips_of: Unit::CodedBit,
            users: 5,
            paths: 4,
            path_decay_db: 0.0,
            eb_n0_db: 4.0,
            energy_of: Unit::CodedBit,
            energy_on: EnergyOn::Path,
            implementation_loss_db: 1.0,
            alignment: Alignment::Asynchronous,
            self_interference: true,
            doppler: 2.62e-4,
            doppler_per: DopplerPer::CodedBit,
            oscillators: 32,
            constraint_length: 4,
            decision: Decision::Soft,
            interleaver_packets: 2,
            interleaver_columns: 111,
        }
    }

    fn lost(parameters: Parameters) -> usize {
        Uplink::new(parameters).unwrap().trial(1, 0).iter().filter(|&&wrong| wrong > 0).count()
    }

    fn short() -> Parameters {
        Parameters { trial: Span::from_secs(2), ..table_one() }
    }

    #[test]
    fn a_trial_holds_the_whole_blocks_that_fit() {
        // 1.8 million bits; a packet has 3048 and 3 zeros: 589.9 packets, 294 blocks of two, 196 of
        // three.
        assert_eq!(Uplink::new(table_one()).unwrap().packets_per_trial(), 588);
        let three = Parameters { interleaver_packets: 3, ..table_one() };
        assert_eq!(Uplink::new(three).unwrap().packets_per_trial(), 588);
    }

    #[test]
    fn a_trial_depends_on_seed_and_number_alone() {
        let uplink = Uplink::new(Parameters { implementation_loss_db: 3.0, ..short() }).unwrap();
        let first = uplink.trial(1, 0);
        uplink.trial(1, 1);
        assert_eq!(uplink.trial(1, 0), first);
        assert_ne!(uplink.trial(1, 1), first);
        assert_ne!(uplink.trial(2, 0), first);
    }

    #[test]
    fn a_strong_signal_loses_nothing_and_a_buried_one_everything() {
        assert_eq!(lost(Parameters { implementation_loss_db: -20.0, ..short() }), 0);
        let all = lost(Parameters { implementation_loss_db: 20.0, ..short() });
        assert_eq!(all, Uplink::new(short()).unwrap().packets_per_trial());
    }

    #[test]
    fn spreading_soft_decisions_and_fewer_users_save_packets() {
        let weak = Parameters { implementation_loss_db: 2.0, ..short() };
        let before = lost(weak.clone());
        assert!(before > 5, "{before}");
        assert!(lost(Parameters { spreading_gain: 64, ..weak.clone() }) < before);
        assert!(lost(Parameters { users: 1, ..weak.clone() }) < before);
        assert!(lost(Parameters { decision: Decision::Hard, ..weak.clone() }) > before);
        assert!(lost(Parameters { paths: 1, ..weak }) > before);
    }

    #[test]
    fn fast_fading_is_sampled_more_often() {
        let step = |doppler_per| {
            let parameters = Parameters { doppler_per, ..table_one() };
            let rake = Rake::new(&parameters);
            Air::new(&parameters, &rake, Stream::new(1, "fading"), Stream::new(1, "noise")).step
        };
        assert_eq!(step(DopplerPer::CodedBit), 64);
        // 16 chips of 2.62e-4 cycles are 0.0042 cycles per coded bit: four of them stay below 0.02.
        assert_eq!(step(DopplerPer::Chip), 4);
    }

    #[test]
    fn parameters_out_of_their_range_are_refused_by_name() {
        let refusal = |parameters| {
            let problem = Uplink::new(parameters).unwrap_err();
            format!("{} {}", problem.parameter, problem.problem)
        };
        assert_eq!(
            refusal(Parameters { constraint_length: 10, ..table_one() }),
            "constraint_length is 10, expected 3 to 9"
        );
        assert_eq!(
            refusal(Parameters { oscillators: 12, ..table_one() }),
            "oscillators is 12, expected a power of two"
        );
        assert_eq!(
            refusal(Parameters { paths: 33, ..table_one() }),
            "paths is 33, expected 1 to 32"
        );
        assert_eq!(
            refusal(Parameters { trial: Span::from_millis(40), ..table_one() }),
            "trial is 0.04 s, expected time for a block of packets"
        );
        assert!(refusal(Parameters { doppler: 0.0, ..table_one() }).starts_with("doppler is 0"));
        assert!(
            refusal(Parameters { doppler: f64::NAN, ..table_one() }).starts_with("doppler is NaN")
        );
        assert!(refusal(Parameters { doppler: 0.1, ..table_one() }).ends_with("to 0.05"));
        assert!(refusal(Parameters { users: 0, ..table_one() }).starts_with("users is 0"));
    }
}
