//! An algorithm at a sender: which observation revealed which gap, and one verdict for a loss event
//! of several gaps.
//!
//! ```text
//! at a receiver                          at the sender
//! a packet arrives                       an ACK shows a newer arrival
//! its ROTT                               the RTT of the newest packet that the ACK acknowledges
//! T_i, the time between two arrivals     the time between two such ACKs
//! the arrival after a gap of n packets   the ACK that shows n packets to be missing
//! ```
//!
//! Source: Dalwadi, equations 1 to 6: ZigZag and Spike with round-trip times, taken "on arrival of
//! each ACK".
//!
//! Deviations: none. The source leaves open:
//!
//! - *How large is the gap?* As large as the transport knows: its true size with SACK or QUIC
//!   ([`crate::ack::AckTracker`]), one packet with duplicate ACKs ([`crate::ack::DuplicateAcks`]).
//! - *Which ACK judges?* The one that reveals the gap, as a receiver judges at the first arrival
//!   after it. States that later ACKs change (Spike's, T_min) are read when the transport declares
//!   the loss.
//! - *A loss event that covers several gaps* is wireless if every gap is; otherwise it has the
//!   verdict of its oldest gap that is not wireless. A loss event without packet numbers is judged
//!   by the newest gap.
//! - *An ACK that only fills older gaps* is not an arrival, just as a late packet is not one at a
//!   receiver.
//! - *How many gaps are remembered?* The last eight. A loss in an older gap has none, and an
//!   algorithm that judges by it is undecided.

use crate::Judgement;
use crate::algorithm::{Algorithm, Needs, Scope};
use crate::loss::{Loss, Recovery};
use crate::observe::{Numbers, Observation};

/// An algorithm with the gaps that it was shown.
#[derive(Clone, Copy, Debug)]
pub struct AtSender<A> {
    algorithm: A,
    gaps: Gaps,
}

/// The gaps that a sender's observations revealed last. Several algorithms that get the same
/// observations may share them.
///
/// ```
/// use losscause::ack::Gaps;
/// use losscause::lda::Constant;
/// use losscause::{Loss, Observation, Signal, Time, Verdict};
///
/// let mut gaps = Gaps::default();
/// let loss = Loss::new(Time::ZERO, Signal::Gap);
/// let always = Constant::new(Verdict::Wireless);
/// assert_eq!(gaps.judge(&always, &loss).verdict, Verdict::Undecided);
/// let mut observation = Observation::first(7, Time::ZERO);
/// (observation.spanned, observation.missing) = (2, 1);
/// gaps.observe(&observation);
/// assert_eq!(gaps.judge(&always, &loss).verdict, Verdict::Wireless);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gaps {
    /// The observations that revealed a gap, the newest first.
    revealed: [Option<Observation>; GAPS],
}

const GAPS: usize = 8;

impl<A: Algorithm> AtSender<A> {
    /// Runs `algorithm` at a sender.
    pub fn new(algorithm: A) -> Self {
        Self { algorithm, gaps: Gaps::default() }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// The observations that revealed the gaps of a loss, the newest first. Without numbers, the
    /// newest gap is its own.
    pub fn revealed(&self, lost: Option<Numbers>) -> impl Iterator<Item = &Observation> {
        self.gaps.revealed(lost)
    }
}

impl Gaps {
    /// An observation was made.
    #[inline]
    pub fn observe(&mut self, observation: &Observation) {
        if observation.reveals_gap() {
            self.revealed.rotate_right(1);
            self.revealed[0] = Some(*observation);
        }
    }

    /// As [`AtSender::revealed`].
    pub fn revealed(&self, lost: Option<Numbers>) -> impl Iterator<Item = &Observation> {
        let is_newest = |place: usize| place == 0;
        self.revealed.iter().flatten().enumerate().filter_map(move |(place, gap)| {
            let missing = gap.acked.and_then(|acked| acked.missing);
            let holds = missing
                .zip(lost)
                .map_or(is_newest(place), |(missing, lost)| missing.overlaps(lost));
            holds.then_some(gap)
        })
    }

    /// What `algorithm` says of a loss: wireless if every gap of it is; otherwise the answer about
    /// its oldest gap that is not.
    pub fn judge(&self, algorithm: &impl Algorithm, loss: &Loss) -> Judgement {
        let mut answer: Option<Judgement> = None;
        for gap in self.revealed(loss.numbers) {
            let judgement = algorithm.judge(&Loss { revealed_by: Some(*gap), ..*loss });
            if answer.is_none() || !judgement.verdict.is_wireless() {
                answer = Some(judgement);
            }
        }
        answer.unwrap_or_else(|| algorithm.judge(loss))
    }
}

impl<A: Algorithm> Algorithm for AtSender<A> {
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    fn needs(&self) -> Needs {
        self.algorithm.needs()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        self.algorithm.observe(observation);
        self.gaps.observe(observation);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.algorithm.on_loss(loss);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        self.gaps.judge(&self.algorithm, loss)
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        self.algorithm.on_recovered(recovery)
    }

    fn take_back(&mut self, numbers: Numbers) {
        self.algorithm.take_back(numbers);
    }

    fn scope(&self) -> Scope {
        self.algorithm.scope()
    }

    fn scheme(&self) -> &'static str {
        self.algorithm.scheme()
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.algorithm.schemes()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::Reason;
    use crate::Span;
    use crate::Verdict;
    use crate::ack::DuplicateAcks;
    use crate::at;
    use crate::lda::{Biaz, BiazConfig, Constant, Spike, SpikeConfig, ZigZag, ZigZagConfig};
    use crate::loss::Signal;
    use crate::observe::{Acked, Newest};
    use crate::verdict::Amount;
    use crate::verdict::Input;

    fn loss_of(numbers: Option<Numbers>) -> Loss {
        Loss { numbers, ..Loss::new(at(1_000), Signal::Gap) }
    }

    /// The verdict about the packet that duplicate ACKs ask for. Each ACK is (time ms, round-trip
    /// time ms, number).
    fn after_duplicates(lda: impl Algorithm, acks: &[(i64, i64, u64)]) -> Judgement {
        let mut lda = AtSender::new(lda);
        let mut tracker = DuplicateAcks::default();
        for &(at_ms, rtt_ms, next) in acks {
            lda.observe(&tracker.on_ack(at(at_ms), Some(Span::from_millis(rtt_ms)), next, 100));
        }
        lda.judge(&loss_of(acks.last().map(|&(.., next)| Numbers::one(next))))
    }

    fn biaz() -> Biaz {
        Biaz::new(&BiazConfig::default()).expect("valid")
    }

    fn spike() -> Spike {
        Spike::new(&SpikeConfig::default()).expect("valid")
    }

    #[test]
    fn biaz_asks_for_two_spacings_from_last_ack_to_first_duplicate() {
        // T_min 10 ms: one lost packet is wireless from 20 to below 30 ms. Later duplicates do not
        // matter.
        let after = |first_ms| {
            let acks = [
                (0, 100, 1),
                (10, 100, 2),
                (first_ms, 100, 2),
                (first_ms + 10, 100, 2),
                (first_ms + 90, 100, 2),
            ];
            after_duplicates(biaz(), &acks).verdict
        };
        assert_eq!(after(29), Verdict::Congestion, "19 ms");
        assert_eq!(after(30), Verdict::Wireless);
        assert_eq!(after(39), Verdict::Wireless);
        assert_eq!(after(40), Verdict::Congestion);
    }

    #[test]
    fn a_delayed_ack_of_two_packets_is_two_spacings() {
        // ACKs of two packets come 20 ms apart: T_min is 10 ms.
        let acks = [(0, 100, 2), (20, 100, 4), (40, 100, 6), (60, 100, 6)];
        assert_eq!(
            after_duplicates(biaz(), &acks).verdict,
            Verdict::Wireless,
            "20 ms for one lost packet"
        );
    }

    #[test]
    fn spike_reads_round_trip_times_and_every_duplicate_moves_it() {
        let rising = [(0, 100, 1), (10, 200, 2), (20, 180, 2), (30, 180, 2), (40, 180, 2)];
        assert_eq!(after_duplicates(spike(), &rising).verdict, Verdict::Congestion);
        let falling = [(0, 100, 1), (10, 200, 2), (20, 180, 2), (30, 150, 2), (40, 120, 2)];
        assert_eq!(after_duplicates(spike(), &falling).verdict, Verdict::Wireless);
    }

    #[test]
    fn zigzag_judges_by_the_packet_before_the_gap_not_by_duplicates() {
        use crate::lda::JudgedBy::BeforeGap;
        let zigzag = ZigZag::new(&ZigZagConfig { judged_by: BeforeGap, ..ZigZagConfig::default() })
            .expect("valid");
        // The packet before the gap took 90 ms, 10 ms less than the others; the duplicates took
        // longer than the mean.
        let acks =
            [(0, 100, 1), (10, 101, 2), (20, 90, 3), (30, 130, 3), (40, 130, 3), (50, 130, 3)];
        let judgement = after_duplicates(zigzag, &acks);
        let value = judgement.evidence().expect("compared").value;
        assert_eq!(value, Amount::Time(Span::from_millis(-10)), "relative to the first packet's");
        assert_eq!(judgement.verdict, Verdict::Wireless);
    }

    #[test]
    fn without_a_gap_nothing_is_decided() {
        let judgement = after_duplicates(Constant::new(Verdict::Wireless), &[(0, 100, 1)]);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        assert_eq!(judgement.reason, Reason::Missing { input: Input::Gap });
    }

    /// ACKs, each with when it comes and the gap that it reveals: its first packet and how many are
    /// missing.
    fn observe(algorithm: &mut impl Algorithm, acks: &[(i64, u64, u32)]) {
        let mut newest = Newest::default();
        for &(at_ms, first, missing) in acks {
            let numbers =
                (missing > 0).then(|| Numbers { first, last: first + u64::from(missing) - 1 });
            let acked = Acked { missing: numbers, ..Acked::new(1) };
            algorithm.observe(
                &newest.advance(at(at_ms), None, [missing + 1, missing]).with_acked(acked),
            );
        }
    }

    #[test]
    fn a_loss_is_judged_by_the_gap_that_it_lies_in() {
        // T_min 10 ms. Packets 2 and 3 are missing for 35 ms: wireless, as 30 <= 35 < 40. Packet 9
        // for 35 ms: congestion.
        let mut lda = AtSender::new(biaz());
        observe(&mut lda, &[(0, 0, 0), (10, 0, 0), (45, 2, 2), (80, 9, 1)]);
        let verdict = |first, last| lda.judge(&loss_of(Some(Numbers { first, last }))).verdict;
        assert_eq!(verdict(3, 3), Verdict::Wireless);
        assert_eq!(verdict(9, 9), Verdict::Congestion);
        assert_eq!(verdict(2, 9), Verdict::Congestion, "wireless only if every gap is");
        assert_eq!(verdict(5, 5), Verdict::Undecided, "never missing");
        assert_eq!(
            lda.judge(&loss_of(None)).verdict,
            Verdict::Congestion,
            "without numbers: the newest gap"
        );
    }

    #[test]
    fn a_gap_older_than_the_last_eight_is_forgotten() {
        let mut lda = AtSender::new(Constant::new(Verdict::Wireless));
        let acks: Vec<_> = (0..9).map(|i| (10 * i, 2 * i as u64, 1)).collect();
        observe(&mut lda, &acks);
        let verdicts: Vec<_> =
            [0, 2].map(|n| lda.judge(&loss_of(Some(Numbers::one(n)))).verdict).into();
        assert_eq!(verdicts, [Verdict::Undecided, Verdict::Wireless]);
    }
}
