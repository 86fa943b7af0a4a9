//! The algorithms by name: what a scenario file or a command line chooses from.
//!
//! [`Parameters`] are what an algorithm can be set to. They know its name, source and settings ([`Info`]) and build it,
//! for a receiver or a sender. Each algorithm implements them beside its code. [`Algorithm`] names those of this crate;
//! `Registry` (feature `alloc`) holds them and those of other crates.

mod choice;
mod error;
mod info;
#[cfg(feature = "alloc")]
mod open;
mod parameters;

use core::fmt;
use core::str::FromStr;

pub use choice::{Choice, Field, choice};
pub use error::{ConfigError, check, check_order};
pub use info::{Info, Operations, Setting};
#[cfg(feature = "alloc")]
pub use open::{Registry, RegistryError};
pub use parameters::{LdaConfig, Parameters, Value};

use crate::Verdict;
use crate::lda::{
    AnyLda, AnySenderLda, BiazConfig, CdgToleranceConfig, Constant, DropRateConfig, FlipFlopConfig, FqRttConfig,
    NthLossConfig, RollBackConfig, SiftConfig, SpikeConfig, VegasBufferConfig, VenoConfig, ZbsConfig, ZigZagConfig,
};

/// The algorithms of this crate, for code that goes through all of them or chooses one without allocation. What a
/// program offers to its users comes from a `Registry`, which is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
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
    /// [`Sift`](crate::lda::Sift), this project's own, in its safe setting.
    Sift,
    /// [`Sift`](crate::lda::Sift) without margin and ceiling.
    SiftBalanced,
    /// [`Constant`]: every loss is congestion.
    AlwaysCongestion,
    /// [`Constant`]: every loss is wireless.
    AlwaysWireless,
    /// [`Veno`](crate::lda::Veno), a yardstick for senders.
    Veno,
    /// [`CdgTolerance`](crate::lda::CdgTolerance), a yardstick for senders.
    CdgTolerance,
    /// [`FqRtt`](crate::lda::FqRtt), a yardstick for senders.
    FqRtt,
    /// [`NthLoss`](crate::lda::NthLoss), a yardstick for senders.
    NthLoss,
    /// [`DropRate`](crate::lda::DropRate), a yardstick for senders.
    DropRate,
    /// [`RollBack`](crate::lda::RollBack), a yardstick for senders.
    RollBack,
}

impl Algorithm {
    /// All of them: those of the papers in their order, our own, the constants, the yardsticks.
    pub const ALL: [Algorithm; 18] = [
        Algorithm::Biaz,
        Algorithm::MBiaz,
        Algorithm::Spike,
        Algorithm::SpikeTobe,
        Algorithm::ZigZag,
        Algorithm::Zbs,
        Algorithm::FlipFlop,
        Algorithm::VegasBuffer,
        Algorithm::Sift,
        Algorithm::SiftBalanced,
        Algorithm::AlwaysCongestion,
        Algorithm::AlwaysWireless,
        Algorithm::Veno,
        Algorithm::CdgTolerance,
        Algorithm::FqRtt,
        Algorithm::NthLoss,
        Algorithm::DropRate,
        Algorithm::RollBack,
    ];

    /// Known rules of other stacks, to compare with ([`Info::is_yardstick`]).
    pub const YARDSTICKS: [Algorithm; 6] = [
        Algorithm::Veno,
        Algorithm::CdgTolerance,
        Algorithm::FqRtt,
        Algorithm::NthLoss,
        Algorithm::DropRate,
        Algorithm::RollBack,
    ];

    /// Those that a receiver can run; a sender can run all.
    pub const AT_RECEIVERS: [Algorithm; 10] = [
        Algorithm::Biaz,
        Algorithm::MBiaz,
        Algorithm::Spike,
        Algorithm::SpikeTobe,
        Algorithm::ZigZag,
        Algorithm::Zbs,
        Algorithm::Sift,
        Algorithm::SiftBalanced,
        Algorithm::AlwaysCongestion,
        Algorithm::AlwaysWireless,
    ];

    /// The published name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Name, aliases, source and settings.
    pub fn info(self) -> &'static Info {
        self.config().info()
    }

    /// Finds an algorithm by its name or an alias, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.info().answers_to(name))
    }

    /// The published parameters, and the readings this crate takes where the paper leaves one open.
    pub fn config(self) -> LdaConfig {
        match self {
            Algorithm::Biaz => LdaConfig::Biaz(BiazConfig::default()),
            Algorithm::MBiaz => LdaConfig::Biaz(BiazConfig::modified()),
            Algorithm::Spike => LdaConfig::Spike(SpikeConfig::default()),
            Algorithm::SpikeTobe => LdaConfig::Spike(SpikeConfig::tobe()),
            Algorithm::ZigZag => LdaConfig::ZigZag(ZigZagConfig::default()),
            Algorithm::Zbs => LdaConfig::Zbs(ZbsConfig::default()),
            Algorithm::FlipFlop => LdaConfig::FlipFlop(FlipFlopConfig::default()),
            Algorithm::VegasBuffer => LdaConfig::VegasBuffer(VegasBufferConfig::default()),
            Algorithm::Sift => LdaConfig::Sift(SiftConfig::default()),
            Algorithm::SiftBalanced => LdaConfig::Sift(SiftConfig::balanced()),
            Algorithm::AlwaysCongestion => LdaConfig::Constant(Constant::new(Verdict::Congestion)),
            Algorithm::AlwaysWireless => LdaConfig::Constant(Constant::new(Verdict::Wireless)),
            Algorithm::Veno => LdaConfig::Veno(VenoConfig::default()),
            Algorithm::CdgTolerance => LdaConfig::CdgTolerance(CdgToleranceConfig::default()),
            Algorithm::FqRtt => LdaConfig::FqRtt(FqRttConfig::default()),
            Algorithm::NthLoss => LdaConfig::NthLoss(NthLossConfig::default()),
            Algorithm::DropRate => LdaConfig::DropRate(DropRateConfig::default()),
            Algorithm::RollBack => LdaConfig::RollBack(RollBackConfig::default()),
        }
    }

    /// Builds the algorithm with its published parameters, for a receiver.
    ///
    /// # Errors
    /// If it is none of [`Algorithm::AT_RECEIVERS`].
    pub fn build(self) -> Result<AnyLda, ConfigError> {
        self.config().build()
    }

    /// Builds the algorithm with its published parameters, for a sender.
    ///
    /// # Errors
    /// None: every algorithm runs at a sender.
    pub fn build_at_sender(self) -> Result<AnySenderLda, ConfigError> {
        self.config().build_at_sender()
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
