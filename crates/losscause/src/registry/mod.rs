//! The algorithms by name: what a scenario file or a command line chooses from.

mod choice;
mod config;
mod settings;

use core::fmt;
use core::str::FromStr;

pub(crate) use choice::{Choice, choice};
pub use config::{Config, ConfigError, Setting, Value};
pub(crate) use config::{check, check_order};

use crate::Verdict;
use crate::lda::{
    AnyLda, AnySenderLda, BiazConfig, FlipFlopConfig, SpikeConfig, VegasBufferConfig, ZbsConfig, ZigZagConfig,
};

/// The algorithms of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// [`Biaz`](crate::lda::Biaz) with upper limit n + 2.
    Biaz,
    /// [`Biaz`](crate::lda::Biaz) with upper limit n + 1.25.
    MBiaz,
    /// [`Spike`](crate::lda::Spike) with thresholds in proportion to the range of ROTTs.
    Spike,
    /// [`Spike`](crate::lda::Spike) with Tobe's fixed thresholds.
    SpikeTobe,
    /// [`ZigZag`](crate::lda::ZigZag).
    ZigZag,
    /// [`Zbs`](crate::lda::Zbs).
    Zbs,
    /// [`FlipFlopHistory`](crate::lda::FlipFlopHistory), for senders.
    FlipFlop,
    /// [`VegasBuffer`](crate::lda::VegasBuffer), for senders.
    VegasBuffer,
    /// [`Constant`](crate::lda::Constant): every loss is congestion.
    AlwaysCongestion,
    /// [`Constant`](crate::lda::Constant): every loss is wireless.
    AlwaysWireless,
}

/// What a list of algorithms says about one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The published name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// The section that defines it, in that paper.
    pub section: &'static str,
}

/// The cost of an algorithm, counted as Table V of Cen 2003 can be understood: a comparison is an addition, a division
/// is a multiplication, and finding its inputs (T_i, ROTT, n) is included. Each number is the largest that occurs once
/// minima and maxima have settled. `docs/algorithms/complexity.md` holds them against the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// Additions for every packet that arrives.
    pub additions_per_arrival: u32,
    /// Additions for every judged loss.
    pub additions_after_loss: u32,
    /// Multiplications for every packet that arrives.
    pub multiplications_per_arrival: u32,
    /// Multiplications for every judged loss.
    pub multiplications_after_loss: u32,
}

const BARMAN: &str = "Barman & Matta, \"Effectiveness of loss labeling\", 2002";
const BIAZ_1998: &str = "Biaz & Vaidya, \"A negative result\", IC3N 1998";
const CEN: &str = "Cen, Cosman & Voelker, IEEE/ACM Trans. Networking 11(5), 2003";

impl Algorithm {
    /// All of them, in the order in which papers list them.
    pub const ALL: [Algorithm; 10] = [
        Algorithm::Biaz,
        Algorithm::MBiaz,
        Algorithm::Spike,
        Algorithm::SpikeTobe,
        Algorithm::ZigZag,
        Algorithm::Zbs,
        Algorithm::FlipFlop,
        Algorithm::VegasBuffer,
        Algorithm::AlwaysCongestion,
        Algorithm::AlwaysWireless,
    ];

    /// Those that a receiver can run; a sender can run all.
    pub const AT_RECEIVERS: [Algorithm; 8] = [
        Algorithm::Biaz,
        Algorithm::MBiaz,
        Algorithm::Spike,
        Algorithm::SpikeTobe,
        Algorithm::ZigZag,
        Algorithm::Zbs,
        Algorithm::AlwaysCongestion,
        Algorithm::AlwaysWireless,
    ];

    /// The published name.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Name, aliases, summary and source.
    pub const fn info(self) -> Info {
        let (name, aliases, summary, paper, section): (_, &'static [&'static str], _, _, _) = match self {
            Algorithm::Biaz => (
                "Biaz",
                &[],
                "wireless if the packet after the gap came as soon as the lost ones allowed, and no later",
                CEN,
                "III-A",
            ),
            Algorithm::MBiaz => (
                "mBiaz",
                &["modified-biaz"],
                "Biaz with a tighter upper limit: fewer congestion losses pass",
                CEN,
                "III-A",
            ),
            Algorithm::Spike => {
                ("Spike", &[], "congestion while the trip time is in a spike between its extremes", CEN, "III-B")
            }
            Algorithm::SpikeTobe => (
                "Spike-Tobe",
                &["tobe"],
                "Spike with fixed thresholds of 20 ms and 5 ms above the smallest trip time",
                CEN,
                "III-B",
            ),
            Algorithm::ZigZag => {
                ("ZigZag", &[], "wireless if the trip time is well below its mean for that many losses", CEN, "III-C")
            }
            Algorithm::Zbs => {
                ("ZBS", &["hybrid"], "runs ZigZag, mBiaz or Spike, whichever suits the path it sees", CEN, "VII-A")
            }
            Algorithm::FlipFlop => (
                "Flip Flop",
                &["flip-flop", "FF"],
                "congestion if more than eta of the last l round-trip times were outliers",
                BARMAN,
                "2.2",
            ),
            Algorithm::VegasBuffer => (
                "Vegas buffer",
                &["vegas-buffer"],
                "congestion if many packets of the window wait in queues, wireless if few do",
                BIAZ_1998,
                "Vegas predictor",
            ),
            Algorithm::AlwaysCongestion => (
                "always congestion",
                &["always-congestion", "congestion", "none"],
                "every loss is congestion: a transport without differentiation",
                CEN,
                "III",
            ),
            Algorithm::AlwaysWireless => (
                "always wireless",
                &["always-wireless", "wireless"],
                "every loss is wireless: the other end of the scale",
                "no paper: a bound for comparison",
                "none",
            ),
        };
        Info { name, aliases, summary, paper, section }
    }

    /// Finds an algorithm by its name or an alias, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| {
            let info = a.info();
            core::iter::once(&info.name).chain(info.aliases).any(|n| n.eq_ignore_ascii_case(name))
        })
    }

    /// The published parameters, and the readings this crate takes where the paper leaves one open.
    pub fn config(self) -> Config {
        match self {
            Algorithm::Biaz => Config::Biaz(BiazConfig::default()),
            Algorithm::MBiaz => Config::Biaz(BiazConfig::modified()),
            Algorithm::Spike => Config::Spike(SpikeConfig::default()),
            Algorithm::SpikeTobe => Config::Spike(SpikeConfig::tobe()),
            Algorithm::ZigZag => Config::ZigZag(ZigZagConfig::default()),
            Algorithm::Zbs => Config::Zbs(ZbsConfig::default()),
            Algorithm::FlipFlop => Config::FlipFlop(FlipFlopConfig::default()),
            Algorithm::VegasBuffer => Config::VegasBuffer(VegasBufferConfig::default()),
            Algorithm::AlwaysCongestion => Config::Constant(Verdict::Congestion),
            Algorithm::AlwaysWireless => Config::Constant(Verdict::Wireless),
        }
    }

    /// Builds the algorithm with its published parameters, for a receiver.
    ///
    /// # Panics
    /// If it is none of [`Algorithm::AT_RECEIVERS`].
    pub fn build(self) -> AnyLda {
        self.config().build().expect("published parameters are valid, and it is for receivers")
    }

    /// Builds the algorithm with its published parameters, for a sender.
    pub fn build_at_sender(self) -> AnySenderLda {
        self.config().build_at_sender().expect("published parameters are valid")
    }

    /// Its own settings.
    pub const fn settings(self) -> &'static [Setting] {
        match self {
            Algorithm::Biaz | Algorithm::MBiaz => settings::BIAZ,
            Algorithm::Spike => settings::SPIKE,
            Algorithm::SpikeTobe => settings::SPIKE_TOBE,
            Algorithm::ZigZag => settings::ZIGZAG,
            Algorithm::Zbs => settings::ZBS,
            Algorithm::FlipFlop => settings::FLIP_FLOP,
            Algorithm::VegasBuffer => settings::VEGAS_BUFFER,
            Algorithm::AlwaysCongestion | Algorithm::AlwaysWireless => &[],
        }
    }

    /// A hybrid's base schemes, each with the prefix of its settings: `spike.alpha` is the alpha of ZBS's Spike.
    pub const fn bases(self) -> &'static [(&'static str, Algorithm)] {
        match self {
            Algorithm::Zbs => {
                &[("mbiaz", Algorithm::MBiaz), ("spike", Algorithm::Spike), ("zigzag", Algorithm::ZigZag)]
            }
            _ => &[],
        }
    }

    /// Its cost per arrival and per judged loss, with published parameters; pinned by a test that counts. None for those
    /// that only senders run, as they see no arrivals.
    pub const fn operations(self) -> Option<Operations> {
        let (additions_per_arrival, additions_after_loss, multiplications_per_arrival, multiplications_after_loss) =
            match self {
                Algorithm::Biaz | Algorithm::MBiaz => (2, 4, 0, 2),
                Algorithm::Spike => (5, 1, 0, 0),
                Algorithm::SpikeTobe => (5, 1, 0, 0),
                Algorithm::ZigZag => (5, 4, 4, 1),
                Algorithm::Zbs => (20, 4, 10, 2),
                Algorithm::AlwaysCongestion | Algorithm::AlwaysWireless => (0, 0, 0, 0),
                Algorithm::FlipFlop | Algorithm::VegasBuffer => return None,
            };
        Some(Operations {
            additions_per_arrival,
            additions_after_loss,
            multiplications_per_arrival,
            multiplications_after_loss,
        })
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        Self::from_name(name).ok_or(UnknownAlgorithm)
    }
}

/// There is no algorithm of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm;

impl core::error::Error for UnknownAlgorithm {}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such loss differentiation algorithm; there are ")?;
        for (i, algorithm) in Algorithm::ALL.iter().enumerate() {
            write!(f, "{}{algorithm}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
