//! The list of the algorithms: any of them behind one type without a pointer, their parameters, and
//! their names.
//!
//! A new algorithm is one file and one line here.

use super::*;
use crate::algorithm::{Algorithm, Needs, Scope};
use crate::loss::{Loss, Recovery};
use crate::observe::{Numbers, Observation};
use crate::registry::{ConfigError, End, Origin, Parameters};
use crate::{Judgement, Verdict};

/// Declares [`AnyAlgorithm`], [`LdaConfig`] and [`BuiltIn`] from one line per algorithm: its type,
/// the type of its parameters, and the published sets of parameters with their names.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $kind:ident: $parameters:ident {
        $($(#[$name_doc:meta])* $name:ident = $published:expr),*
    })*) => {
        /// One of the algorithms, chosen at run time ([`BuiltIn::build`], [`LdaConfig::build`]).
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)] // No allocation here; a flow holds one of these.
        #[repr(u8)] // A tag that is read at once, for every packet.
        pub enum AnyAlgorithm {
            $($(#[$doc])* $kind($kind),)*
            /// An algorithm of another crate.
            #[cfg(feature = "alloc")]
            Boxed(BoxedAlgorithm),
        }

        /// Parameters and open readings of any algorithm. [`BuiltIn::config`] and an entry of a
        /// registry hold the published ones.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum LdaConfig {
            $($(#[$doc])* $kind($parameters),)*
            /// An algorithm from outside of this crate.
            #[cfg(feature = "alloc")]
            Boxed(BoxedParameters),
        }

        /// The algorithms of this crate, for code that goes through all of them or chooses one
        /// without allocation. What a program offers to its users comes from a `Registry`, which is
        /// open.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum BuiltIn {
            $($($(#[$name_doc])* $name,)*)*
        }

        /// Does the same with whichever algorithm it is.
        macro_rules! each {
            ($any:expr, $algorithm:ident => $body:expr) => {
                match $any {
                    $(AnyAlgorithm::$kind($algorithm) => $body,)*
                    #[cfg(feature = "alloc")]
                    AnyAlgorithm::Boxed($algorithm) => $body,
                }
            };
        }

        impl LdaConfig {
            pub(crate) fn parameters(&self) -> &dyn Parameters {
                match self {
                    $(Self::$kind(parameters) => parameters,)*
                    #[cfg(feature = "alloc")]
                    Self::Boxed(parameters) => parameters,
                }
            }

            pub(crate) fn parameters_mut(&mut self) -> &mut dyn Parameters {
                match self {
                    $(Self::$kind(parameters) => parameters,)*
                    #[cfg(feature = "alloc")]
                    Self::Boxed(parameters) => parameters,
                }
            }
        }

        impl BuiltIn {
            /// All of them: those of the papers in their order, our own, the constants, the
            /// yardsticks.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

            /// The published parameters, and the readings this crate takes where the paper leaves
            /// one open.
            pub fn config(self) -> LdaConfig {
                match self {
                    $($(Self::$name => LdaConfig::$kind($published),)*)*
                }
            }
        }
    };
}

algorithms! {
    /// Biaz or mBiaz.
    Biaz: BiazConfig {
        /// [`Biaz`](crate::lda::Biaz) with upper limit n + 2.
        Biaz = BiazConfig::default(),
        /// [`Biaz`](crate::lda::Biaz) with upper limit n + 1.25.
        MBiaz = BiazConfig::modified()
    }
    /// Spike or Spike-Tobe.
    Spike: SpikeConfig {
        /// [`Spike`](crate::lda::Spike) with thresholds in proportion to the range of ROTTs.
        Spike = SpikeConfig::default(),
        /// [`Spike`](crate::lda::Spike) with Tobe's fixed thresholds.
        SpikeTobe = SpikeConfig::tobe()
    }
    /// ZigZag.
    ZigZag: ZigZagConfig {
        /// [`ZigZag`](crate::lda::ZigZag).
        ZigZag = ZigZagConfig::default()
    }
    /// ZBS.
    Zbs: ZbsConfig {
        /// [`Zbs`](crate::lda::Zbs).
        Zbs = ZbsConfig::default()
    }
    /// Flip Flop with history.
    FlipFlopHistory: FlipFlopConfig {
        /// [`FlipFlopHistory`](crate::lda::FlipFlopHistory), for senders.
        FlipFlop = FlipFlopConfig::default()
    }
    /// The Vegas buffer rule.
    VegasBuffer: VegasBufferConfig {
        /// [`VegasBuffer`](crate::lda::VegasBuffer), for senders.
        VegasBuffer = VegasBufferConfig::default()
    }
    /// Sift.
    Sift: SiftConfig {
        /// [`Sift`](crate::lda::Sift), this project's own.
        Sift = SiftConfig::default()
    }
    /// The same verdict always.
    Constant: Constant {
        /// [`Constant`](crate::lda::Constant): every loss is congestion.
        AlwaysCongestion = Constant::new(Verdict::Congestion),
        /// [`Constant`](crate::lda::Constant): every loss is wireless.
        AlwaysWireless = Constant::new(Verdict::Wireless)
    }
    /// Veno's rule.
    Veno: VenoConfig {
        /// [`Veno`](crate::lda::Veno), a yardstick for senders.
        Veno = VenoConfig::default()
    }
    /// CDG's tolerance.
    CdgTolerance: CdgToleranceConfig {
        /// [`CdgTolerance`](crate::lda::CdgTolerance), a yardstick for senders.
        CdgTolerance = CdgToleranceConfig::default()
    }
    /// The fqRTT rule.
    FqRtt: FqRttConfig {
        /// [`FqRtt`](crate::lda::FqRtt), a yardstick for senders.
        FqRtt = FqRttConfig::default()
    }
    /// The n-th loss of an episode.
    NthLoss: NthLossConfig {
        /// [`NthLoss`](crate::lda::NthLoss), a yardstick for senders.
        NthLoss = NthLossConfig::default()
    }
    /// The drop-rate rule.
    DropRate: DropRateConfig {
        /// [`DropRate`](crate::lda::DropRate), a yardstick for senders.
        DropRate = DropRateConfig::default()
    }
    /// The roll-back rule.
    RollBack: RollBackConfig {
        /// [`RollBack`](crate::lda::RollBack), a yardstick for senders.
        RollBack = RollBackConfig::default()
    }
    /// The receiver runs one of them, and tells.
    AsTold: AsTold {}
}

impl BuiltIn {
    /// The one to begin with, on a link of which nothing is known. `docs/abroad.md` has what it was
    /// measured to bring and to cost on 28 kinds of networks.
    pub const RECOMMENDED: Self = Self::Sift;

    /// Those that a receiver can run; a sender can run all.
    pub fn at_receivers() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|algorithm| algorithm.build(End::Receiver).is_ok())
    }

    /// Known rules of other stacks, to compare with ([`Origin::Yardstick`]).
    pub fn yardsticks() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|algorithm| algorithm.info().origin == Origin::Yardstick)
    }

    /// Builds the algorithm with its published parameters.
    ///
    /// # Errors
    /// If it runs at senders only, and this is a receiver.
    pub fn build(self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        self.config().build(end)
    }
}

#[cfg(feature = "alloc")]
impl AnyAlgorithm {
    /// The algorithm behind a pointer: it takes the memory of its own state, not that of the
    /// largest algorithm.
    pub fn in_box(self) -> BoxedAlgorithm {
        match self {
            Self::Boxed(algorithm) => algorithm,
            other => each!(other, algorithm => BoxedAlgorithm::new(algorithm)),
        }
    }
}

impl Algorithm for AnyAlgorithm {
    fn name(&self) -> &'static str {
        each!(self, algorithm => Algorithm::name(algorithm))
    }

    fn needs(&self) -> Needs {
        each!(self, algorithm => algorithm.needs())
    }

    #[inline(always)] // One call per observation, to the algorithm itself.
    fn observe(&mut self, observation: &Observation) {
        each!(self, algorithm => algorithm.observe(observation));
    }

    fn on_loss(&mut self, loss: &Loss) {
        each!(self, algorithm => algorithm.on_loss(loss));
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        each!(self, algorithm => algorithm.judge(loss))
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        each!(self, algorithm => algorithm.on_recovered(recovery))
    }

    fn take_back(&mut self, numbers: Numbers) {
        each!(self, algorithm => algorithm.take_back(numbers));
    }

    fn scope(&self) -> Scope {
        each!(self, algorithm => algorithm.scope())
    }

    fn scheme(&self) -> &'static str {
        each!(self, algorithm => algorithm.scheme())
    }

    fn schemes(&self) -> &'static [&'static str] {
        each!(self, algorithm => algorithm.schemes())
    }
}
