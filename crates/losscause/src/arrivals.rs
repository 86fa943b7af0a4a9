//! A receiver: packets that arrive, the gaps between them, and an algorithm that judges each gap.
//!
//! ```
//! use losscause::{ArrivalTracker, Interval, Observed, Packet, Span, Time};
//!
//! let mut tracker = ArrivalTracker::default();
//! let mut on = |seq, at_ms| {
//!     tracker.observe(Packet { seq, at: Time::ZERO + Span::from_millis(at_ms), sent: None })
//! };
//! on(1, 0);
//! // Packets 2 and 3 are missing.
//! let Observed::InOrder(observation) = on(4, 30) else { panic!("the newest packet") };
//! assert_eq!(observation.missing, 2);
//! assert_eq!(
//!     observation.since_last,
//!     Some(Interval { span: Span::from_millis(30), delay_before: None })
//! );
//! assert_eq!(on(2, 31), Observed::Late);
//! assert_eq!(on(2, 32), Observed::Duplicate);
//! ```

use crate::algorithm::{Algorithm, Observer, ask};
use crate::loss::Loss;
use crate::observe::{Interval, Numbers, Observation};
use crate::{Span, Time};

/// A packet as it reached the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sequence number, one per packet sent, unwrapped to 64 bits.
    pub seq: u64,
    /// When it arrived, by the receiver's clock.
    pub at: Time,
    /// When it was sent, by the sender's clock, if the packet says so.
    pub sent: Option<Time>,
}

/// What a received packet turned out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)] // A tag that is read at once, for every packet.
pub enum Observed {
    /// The next packet, or the first after a gap (then [`Observation::missing`] is not zero), or
    /// the first of a stream, which may also begin anew (see [`MAX_JUMP_PKTS`]).
    InOrder(Observation),
    /// A packet that filled an earlier gap: it was reordered, not lost.
    Late,
    /// A packet seen before.
    Duplicate,
}

/// The farthest that a packet's sequence number may lie from the highest one seen, in packets.
///
/// A packet farther ahead or behind starts the stream anew: it becomes an observation without an
/// interval before it, and nothing between is judged lost. So a forged or garbled sequence number
/// costs one interval instead of billions of judgements, and the next honest packet leads back the
/// same way.
pub const MAX_JUMP_PKTS: u64 = 65_536;

/// Turns received packets into observations. Late packets and duplicates become none, so they
/// confuse no algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalTracker {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    seq: u64,
    at: Time,
    delay: Option<Span>,
    /// Bit i is set if packet `seq - i` was received.
    received: u64,
}

impl ArrivalTracker {
    /// Takes in one received packet.
    #[inline]
    pub fn observe(&mut self, packet: Packet) -> Observed {
        let Packet { seq, at, sent } = packet;
        let delay = sent.map(|sent| at - sent);
        let Some(last) = &mut self.last else { return self.begin(seq, at, delay) };
        if seq <= last.seq || seq - last.seq > MAX_JUMP_PKTS {
            return self.observe_out_of_order(seq, at, delay);
        }
        // At most MAX_JUMP_PKTS, so it fits.
        let packets = (seq - last.seq) as u32;
        let span = (at - last.at).max(Span::ZERO);
        let observation = Observation {
            at,
            seq,
            delay,
            spanned: packets,
            missing: packets - 1,
            since_last: Some(Interval { span, delay_before: last.delay }),
            acked: None,
        };
        *last =
            Last { seq, at, delay, received: last.received.checked_shl(packets).unwrap_or(0) | 1 };
        Observed::InOrder(observation)
    }

    #[cold]
    fn begin(&mut self, seq: u64, at: Time, delay: Option<Span>) -> Observed {
        self.last = Some(Last { seq, at, delay, received: 1 });
        Observed::InOrder(Observation::first(seq, at).with_delay(delay))
    }

    #[cold]
    fn observe_out_of_order(&mut self, seq: u64, at: Time, delay: Option<Span>) -> Observed {
        let Some(last) = &mut self.last else { return self.begin(seq, at, delay) };
        if seq.abs_diff(last.seq) > MAX_JUMP_PKTS {
            return self.begin(seq, at, delay);
        }
        let back = last.seq - seq;
        if back >= u64::from(u64::BITS) {
            return Observed::Late;
        }
        let bit = 1 << back;
        let seen = last.received & bit != 0;
        last.received |= bit;
        if seen { Observed::Duplicate } else { Observed::Late }
    }

    /// The highest sequence number seen in the stream.
    pub fn highest(&self) -> Option<u64> {
        self.last.map(|l| l.seq)
    }
}

/// An algorithm at a receiver: fed with every packet, asked about every gap.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // The algorithm's tag lies beside the tracker, because every packet reads both.
pub struct Differentiator<A> {
    tracker: ArrivalTracker,
    algorithm: A,
}

impl<A: Algorithm> Differentiator<A> {
    /// Puts `algorithm` behind a fresh tracker.
    pub fn new(algorithm: A) -> Self {
        Self { tracker: ArrivalTracker::default(), algorithm }
    }

    /// Takes in one received packet. If it reveals a gap, every missing packet is judged, in order,
    /// before the eyes of `observer`. The caller applies the answer when it declares the loss, and
    /// drops it if the packet was only reordered.
    #[inline]
    pub fn on_packet(&mut self, packet: Packet, observer: &mut impl Observer) -> Observed {
        let observed = self.observe(packet, observer);
        if let Observed::InOrder(observation) = &observed
            && observation.reveals_gap()
        {
            self.judge_gap(observation, observer);
        }
        observed
    }

    /// The first half of [`Self::on_packet`]: takes in one received packet. If it reveals a gap,
    /// [`Self::judge_gap`] must follow.
    #[inline(always)]
    pub fn observe(&mut self, packet: Packet, observer: &mut impl Observer) -> Observed {
        let observed = self.tracker.observe(packet);
        match &observed {
            Observed::InOrder(observation) => {
                self.algorithm.observe(observation);
                observer.on_observation(observation, self.algorithm.scheme());
            }
            Observed::Late => self.take_back(packet.seq, observer),
            Observed::Duplicate => {}
        }
        observed
    }

    /// The second half of [`Self::on_packet`]: judges every packet missing before `observation`,
    /// the last one observed.
    pub fn judge_gap(&self, observation: &Observation, observer: &mut impl Observer) {
        for seq in observation.seq - u64::from(observation.missing)..observation.seq {
            ask(&self.algorithm, &Loss::in_gap(seq, *observation), observer);
        }
    }

    #[cold]
    fn take_back(&mut self, seq: u64, observer: &mut impl Observer) {
        self.algorithm.take_back(Numbers::one(seq));
        observer.on_taken_back(Numbers::one(seq));
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }
}

/// A [`Differentiator`], or `()`, which judges nothing at no cost. Transports that differentiate
/// only on request take either.
///
/// ```
/// use losscause::arrivals::Differentiate;
/// use losscause::lda::Constant;
/// use losscause::{Differentiator, Packet, Time, Verdict};
///
/// struct Receiver<D> {
///     differentiator: D,
///     received: u64,
/// }
///
/// impl<D: Differentiate> Receiver<D> {
///     fn on_packet(&mut self, packet: Packet) {
///         self.received += 1;
///         self.differentiator.on_packet(packet, &mut ());
///     }
/// }
///
/// let mut plain = Receiver { differentiator: (), received: 0 };
/// plain.on_packet(Packet { seq: 0, at: Time::ZERO, sent: None });
/// assert!(!plain.differentiator.judges());
/// assert!(Differentiate::judges(&Differentiator::new(Constant::new(Verdict::Wireless))));
/// ```
pub trait Differentiate {
    /// Whether it judges losses.
    fn judges(&self) -> bool;

    /// As [`Differentiator::on_packet`].
    fn on_packet(&mut self, packet: Packet, observer: &mut impl Observer);
}

impl Differentiate for () {
    #[inline]
    fn judges(&self) -> bool {
        false
    }

    #[inline]
    fn on_packet(&mut self, _: Packet, _: &mut impl Observer) {}
}

impl<A: Algorithm> Differentiate for Differentiator<A> {
    #[inline]
    fn judges(&self) -> bool {
        true
    }

    #[inline]
    fn on_packet(&mut self, packet: Packet, observer: &mut impl Observer) {
        Differentiator::on_packet(self, packet, observer);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::lda::Constant;
    use crate::{Judgement, Reason, Verdict};
    use std::vec::Vec;

    fn packet(seq: u64, at_ms: i64) -> Packet {
        let at = Time::ZERO + Span::from_millis(at_ms);
        Packet { seq, at, sent: Some(at - Span::from_millis(7)) }
    }

    fn interval(observed: Observed) -> Option<(i64, u32)> {
        let Observed::InOrder(arrival) = observed else { panic!("{observed:?}") };
        arrival.since_last.map(|i| (i.span.as_nanos() / 1_000_000, arrival.spanned))
    }

    #[test]
    fn a_gap_spans_the_missing_packets_and_the_one_after_it() {
        let mut tracker = ArrivalTracker::default();
        assert_eq!(interval(tracker.observe(packet(5, 0))), None);
        assert_eq!(interval(tracker.observe(packet(6, 40))), Some((40, 1)));
        assert_eq!(interval(tracker.observe(packet(9, 160))), Some((120, 3)));
        assert_eq!(tracker.highest(), Some(9));
    }

    #[test]
    fn late_packets_and_duplicates_differ_and_are_never_arrivals() {
        let mut tracker = ArrivalTracker::default();
        for (seq, expected) in
            [(0, None), (2, None), (1, Some(Observed::Late)), (1, Some(Observed::Duplicate))]
        {
            let observed = tracker.observe(packet(seq, 1));
            assert!(expected.is_none_or(|e| e == observed), "{seq}: {observed:?}");
        }
        assert_eq!(tracker.observe(packet(2, 1)), Observed::Duplicate);
        assert_eq!(interval(tracker.observe(packet(66, 10))), Some((9, 64)));
        assert_eq!(
            tracker.observe(packet(2, 11)),
            Observed::Late,
            "farther back than can be remembered"
        );
        assert_eq!(tracker.observe(packet(3, 11)), Observed::Late);
        assert_eq!(tracker.observe(packet(3, 11)), Observed::Duplicate);
    }

    #[test]
    fn a_clock_that_is_set_back_gives_an_interval_of_zero() {
        let mut tracker = ArrivalTracker::default();
        tracker.observe(packet(0, 100));
        assert_eq!(interval(tracker.observe(packet(1, 40))), Some((0, 1)));
        assert_eq!(interval(tracker.observe(packet(2, 50))), Some((10, 1)));
    }

    #[derive(Default)]
    struct Log {
        arrivals: Vec<(u64, &'static str)>,
        judged: Vec<u64>,
        taken_back: Vec<u64>,
    }

    impl Observer for Log {
        fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
            self.arrivals.push((observation.seq, scheme));
        }
        fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
            // The observer knows better about packet 10.
            (loss.numbers == Some(Numbers::one(10)))
                .then(|| Judgement::stated(Verdict::Undecided, "log", "known"))
        }
        fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
            let revealed_by = loss.revealed_by.map(|observation| observation.seq);
            assert_eq!(
                self.arrivals.last().map(|a| a.0),
                revealed_by,
                "the observation is told first"
            );
            let seq = loss.numbers.expect("numbered").first;
            assert!(matches!(judgement.reason, Reason::Stated { .. }));
            assert_eq!(judgement.verdict == Verdict::Undecided, seq == 10);
            self.judged.push(seq);
        }
        fn on_taken_back(&mut self, numbers: Numbers) {
            self.taken_back.push(numbers.first);
        }
    }

    fn run(seqs: &[u64]) -> Log {
        let mut log = Log::default();
        let mut differentiator = Differentiator::new(Constant::new(Verdict::Wireless));
        for (i, &seq) in seqs.iter().enumerate() {
            differentiator.on_packet(packet(seq, i as i64), &mut log);
        }
        log
    }

    #[test]
    fn every_missing_packet_is_judged_once_with_all_arrivals_seen() {
        let log = run(&[3, 4, 8, 6, 6, 9, 11]);
        assert_eq!(log.judged, [5, 6, 7, 10]);
        assert_eq!(log.taken_back, [6], "it was late");
        assert_eq!(log.arrivals, [3, 4, 8, 9, 11].map(|seq| (seq, "always wireless")));
    }

    #[test]
    fn an_absurd_jump_starts_anew_and_an_honest_packet_leads_back() {
        let far = 11 + MAX_JUMP_PKTS + 1;
        let log = run(&[9, 10, far, 11, 13, u64::MAX, 1, 3]);
        assert_eq!(log.judged, [12, 2]);
        assert_eq!(log.arrivals.len(), 8);
        let largest = run(&[20, 20 + MAX_JUMP_PKTS]);
        assert_eq!(
            largest.judged.len() as u64,
            MAX_JUMP_PKTS - 1,
            "the largest jump that still counts as losses"
        );
        assert!(run(&[20, 21 + MAX_JUMP_PKTS]).judged.is_empty());
    }
}
