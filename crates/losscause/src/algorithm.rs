//! The one trait of all algorithms, and the one through which others look at them.

use crate::loss::{Loss, Recovery};
use crate::observe::{Numbers, Observation};
use crate::registry::ConfigError;
use crate::{Judgement, Verdict};

/// A loss differentiation algorithm, at a receiver or at a sender.
///
/// It takes in **every** observation, and is asked about losses after the observation that revealed
/// them. `()` differentiates nothing, at no cost: every loss is congestion.
///
/// A rule that tolerates the first loss of a connection:
///
/// ```
/// use losscause::algorithm::Scope;
/// use losscause::{
///     Algorithm, Judgement, Loss, Needs, Observation, Signal, Time, Verdict, ask, tell,
/// };
///
/// #[derive(Default)]
/// struct FirstIsFree(u32);
///
/// impl Algorithm for FirstIsFree {
///     fn name(&self) -> &'static str {
///         "first is free"
///     }
///     fn needs(&self) -> Needs {
///         Needs::NONE.with_acks()
///     }
///     fn observe(&mut self, _: &Observation) {}
///     fn on_loss(&mut self, loss: &Loss) {
///         self.0 += loss.lost_pkts;
///     }
///     fn judge(&self, _: &Loss) -> Judgement {
///         Judgement::stated(Verdict::wireless_if(self.0 <= 1), self.name(), "the losses so far")
///     }
///     fn scope(&self) -> Scope {
///         Scope::EVERY_LOSS
///     }
/// }
///
/// let mut rule = FirstIsFree::default();
/// let mut judge = || {
///     let loss = tell(&mut rule, &Loss::new(Time::ZERO, Signal::Gap), &mut ());
///     ask(&rule, &loss, &mut ()).verdict
/// };
/// assert_eq!([judge(), judge()], [Verdict::Wireless, Verdict::Congestion]);
/// ```
pub trait Algorithm {
    /// The published name: "ZigZag", "mBiaz".
    fn name(&self) -> &'static str;

    /// The inputs that it needs. A caller that cannot provide one must refuse the algorithm, not
    /// guess.
    fn needs(&self) -> Needs;

    /// Whether its settings are in range: asked before it runs, if its settings are its fields
    /// (`Registry::with_own`).
    ///
    /// # Errors
    /// A setting is out of range.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Takes in an observation.
    fn observe(&mut self, observation: &Observation);

    /// Takes in a loss that a sender declares, whatever its signal, before [`Algorithm::judge`].
    fn on_loss(&mut self, loss: &Loss) {
        let _ = loss;
    }

    /// Judges a loss. Repeated calls give the same answer.
    fn judge(&self, loss: &Loss) -> Judgement;

    /// A recovery ended. The algorithm may now revise its verdict on the loss that opened it. If
    /// the new verdict is wireless, a transport that can undo its reduction does so, but never back
    /// into slow start.
    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        let _ = recovery;
        None
    }

    /// A loss proved to be none: the packets arrived late.
    fn take_back(&mut self, numbers: Numbers) {
        let _ = numbers;
    }

    /// Of which losses a sender tells it, and about which it is asked.
    fn scope(&self) -> Scope {
        Scope::FIRST_LOSS
    }

    /// The published name of the base scheme in use: the algorithm's own name, except for hybrids.
    fn scheme(&self) -> &'static str {
        self.name()
    }

    /// The base schemes of a hybrid, by their published names; empty for all others.
    fn schemes(&self) -> &'static [&'static str] {
        &[]
    }
}

impl Algorithm for () {
    fn name(&self) -> &'static str {
        "always congestion"
    }

    fn needs(&self) -> Needs {
        Needs::NONE
    }

    #[inline]
    fn observe(&mut self, _: &Observation) {}

    #[inline]
    fn judge(&self, _: &Loss) -> Judgement {
        Judgement::stated(Verdict::Congestion, self.name(), "whatever was observed")
    }
}

/// Of which losses of a recovery a sender tells an algorithm, and about which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The algorithm is told ([`Algorithm::on_loss`]) of all lost packets of a recovery, and not
    /// only of the loss that opens it.
    pub observes_every_loss: bool,
    /// Every loss of a recovery is judged. A transport that kept its window reduces it at the first
    /// loss that is called congestion.
    pub judges_every_loss: bool,
    /// The algorithm judges losses that only the retransmission timer shows, too.
    pub judges_timeouts: bool,
}

impl Scope {
    /// The loss that opens a recovery, as all published algorithms. Timeouts are congestion.
    pub const FIRST_LOSS: Self =
        Self { observes_every_loss: false, judges_every_loss: false, judges_timeouts: false };
    /// Every loss of a recovery.
    pub const EVERY_LOSS: Self =
        Self { observes_every_loss: true, judges_every_loss: true, judges_timeouts: false };
}

/// Inputs: what an algorithm needs ([`Algorithm::needs`]), or what a caller provides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// The delay of every arrival ([`Observation::delay`]).
    pub delay: bool,
    /// Observations spaced as the packets reached the receiver, so that intervals mean transmission
    /// times.
    pub spacing: bool,
    /// The true size of a gap. Duplicate ACKs without SACK count every gap as one packet.
    pub gap_size: bool,
    /// Acknowledgements ([`Observation::acked`]): it runs at senders only.
    pub acks: bool,
    /// The congestion window ([`Acked::cwnd_pkts`](crate::observe::Acked::cwnd_pkts)).
    pub cwnd: bool,
    /// The receiver's label ([`Loss::label`]).
    pub label: bool,
    /// Something that only a special caller has, as a noun phrase: "the true cause".
    pub other: Option<&'static str>,
}

impl Needs {
    /// No inputs.
    pub const NONE: Self = Self {
        delay: false,
        spacing: false,
        gap_size: false,
        acks: false,
        cwnd: false,
        label: false,
        other: None,
    };

    /// The inputs so far, and the delay of every arrival.
    #[must_use]
    pub const fn with_delay(self) -> Self {
        Self { delay: true, ..self }
    }

    /// The inputs so far, and intervals that mean transmission times.
    #[must_use]
    pub const fn with_spacing(self) -> Self {
        Self { spacing: true, ..self }
    }

    /// The inputs so far, and the true size of a gap.
    #[must_use]
    pub const fn with_gap_size(self) -> Self {
        Self { gap_size: true, ..self }
    }

    /// The inputs so far, and acknowledgements.
    #[must_use]
    pub const fn with_acks(self) -> Self {
        Self { acks: true, ..self }
    }

    /// The inputs so far, and the congestion window.
    #[must_use]
    pub const fn with_cwnd(self) -> Self {
        Self { acks: true, cwnd: true, ..self }
    }

    /// The inputs so far, and the receiver's label.
    #[must_use]
    pub const fn with_label(self) -> Self {
        Self { acks: true, label: true, ..self }
    }

    /// The inputs so far, and one that only a special caller has.
    #[must_use]
    pub const fn with_other(self, what: &'static str) -> Self {
        Self { other: Some(what), ..self }
    }

    /// The first of these inputs that `provided` lacks, as a noun phrase.
    pub fn first_missing_from(self, provided: Self) -> Option<&'static str> {
        [
            (self.acks, provided.acks, "acknowledgements"),
            (self.delay, provided.delay, "the delay of every arrival"),
            (self.spacing, provided.spacing, "observations spaced like the packets"),
            (self.gap_size, provided.gap_size, "the size of a gap"),
            (self.cwnd, provided.cwnd, "a congestion window"),
            (self.label, provided.label, "the receiver's label"),
        ]
        .into_iter()
        .find_map(|(needed, given, name)| (needed && !given).then_some(name))
        .or(self.other.filter(|_| self.other != provided.other))
    }
}

/// Looks at an algorithm while it runs: traces, scores, counts. `()` does not look, at no cost; two
/// observers are one.
///
/// ```
/// use losscause::lda::Constant;
/// use losscause::{Differentiator, Judgement, Loss, Numbers, Observer, Packet, Time, Verdict};
///
/// #[derive(Default, Debug, PartialEq)]
/// struct Counts {
///     wireless: u32,
///     taken_back: u32,
/// }
///
/// impl Observer for Counts {
///     fn on_judged(&mut self, _: &Loss, judgement: &Judgement) {
///         self.wireless += u32::from(judgement.verdict.is_wireless());
///     }
///     fn on_taken_back(&mut self, _: Numbers) {
///         self.taken_back += 1;
///     }
/// }
///
/// let mut counts = Counts::default();
/// let mut receiver = Differentiator::new(Constant::new(Verdict::Wireless));
/// for seq in [0, 1, 4, 2] {
///     receiver.on_packet(Packet { seq, at: Time::ZERO, sent: None }, &mut counts);
/// }
/// assert_eq!(counts, Counts { wireless: 2, taken_back: 1 });
/// ```
pub trait Observer {
    /// The algorithm has taken in an observation. `scheme` is the base scheme now in force
    /// ([`Algorithm::scheme`]). Called before the losses that it reveals are judged.
    fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
        let _ = (observation, scheme);
    }

    /// An answer in the algorithm's place, from an observer that knows more, such as the truth in a
    /// simulator.
    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        let _ = loss;
        None
    }

    /// A loss was judged.
    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        let _ = (loss, judgement);
    }

    /// A judged loss proved to be none: the packets arrived late.
    fn on_taken_back(&mut self, numbers: Numbers) {
        let _ = numbers;
    }

    /// A sender declares a loss, whatever its signal, with the numbers of all lost packets. Called
    /// before it is judged.
    fn on_loss(&mut self, loss: &Loss) {
        let _ = loss;
    }

    /// Whether [`Observer::on_loss`] is to be called for every loss of a recovery, and not only for
    /// the one that opens it.
    fn wants_every_loss(&self) -> bool {
        false
    }

    /// A sender's recovery ended.
    fn on_recovered(&mut self, recovery: &Recovery) {
        let _ = recovery;
    }

    /// A sender's retransmission timer expired. What is lost by now is sent again and never judged.
    fn on_timeout(&mut self) {}
}

impl Observer for () {}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
        self.0.on_observation(observation, scheme);
        self.1.on_observation(observation, scheme);
    }

    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        self.0.overrule(loss).or_else(|| self.1.overrule(loss))
    }

    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        self.0.on_judged(loss, judgement);
        self.1.on_judged(loss, judgement);
    }

    fn on_taken_back(&mut self, numbers: Numbers) {
        self.0.on_taken_back(numbers);
        self.1.on_taken_back(numbers);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
        self.1.on_loss(loss);
    }

    fn wants_every_loss(&self) -> bool {
        self.0.wants_every_loss() || self.1.wants_every_loss()
    }

    fn on_recovered(&mut self, recovery: &Recovery) {
        self.0.on_recovered(recovery);
        self.1.on_recovered(recovery);
    }

    fn on_timeout(&mut self) {
        self.0.on_timeout();
        self.1.on_timeout();
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline]
    fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
        (**self).on_observation(observation, scheme);
    }

    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        (**self).overrule(loss)
    }

    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        (**self).on_judged(loss, judgement);
    }

    fn on_taken_back(&mut self, numbers: Numbers) {
        (**self).on_taken_back(numbers);
    }

    fn on_loss(&mut self, loss: &Loss) {
        (**self).on_loss(loss);
    }

    fn wants_every_loss(&self) -> bool {
        (**self).wants_every_loss()
    }

    fn on_recovered(&mut self, recovery: &Recovery) {
        (**self).on_recovered(recovery);
    }

    fn on_timeout(&mut self) {
        (**self).on_timeout();
    }
}

/// An observer that calls a function with every judged loss; made by [`on_judged`].
///
/// A struct can hold one of a plain function:
///
/// ```
/// use losscause::algorithm::{OnJudged, ask, on_judged};
/// use losscause::{Judgement, Loss, Signal, Time, Verdict};
///
/// struct Connection {
///     log: OnJudged<fn(&Loss, &Judgement)>,
/// }
///
/// let log = |loss: &Loss, judgement: &Judgement| eprintln!("{:?}: {judgement}", loss.seq());
/// let mut connection = Connection { log: on_judged(log) };
/// let judgement = ask(&(), &Loss::new(Time::ZERO, Signal::Gap), &mut connection.log);
/// assert_eq!(judgement.verdict, Verdict::Congestion);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnJudged<F>(F);

impl<F: FnMut(&Loss, &Judgement)> Observer for OnJudged<F> {
    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        (self.0)(loss, judgement);
    }
}

/// An observer that calls `f` with every judged loss.
pub fn on_judged<F: FnMut(&Loss, &Judgement)>(f: F) -> OnJudged<F> {
    OnJudged(f)
}

/// Asks `algorithm` about a loss, under the eyes of `observer`.
pub fn ask(algorithm: &impl Algorithm, loss: &Loss, observer: &mut impl Observer) -> Judgement {
    let judgement = observer.overrule(loss).unwrap_or_else(|| algorithm.judge(loss));
    observer.on_judged(loss, &judgement);
    judgement
}

/// Tells `algorithm` of a loss that a sender declares, under the eyes of `observer`. Returns the
/// loss as it is told.
pub fn tell(algorithm: &mut impl Algorithm, loss: &Loss, observer: &mut impl Observer) -> Loss {
    observer.on_loss(loss);
    let scope = algorithm.scope();
    let told = loss.within(scope);
    if !loss.is_further || scope.observes_every_loss {
        algorithm.on_loss(&told);
    }
    told
}
