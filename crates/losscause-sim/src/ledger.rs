//! Every lost packet of a flow with its true cause, and the verdict of the sender or receiver on
//! it.
//!
//! A receiver judges every lost packet. A packet stays in the ledger until it or a later packet is
//! judged: receivers judge in order of sequence numbers, so the packet cannot be judged after that.
//!
//! A TCP sender judges loss events. An event contains all packets in flight that are lost by then.
//! Its cause is congestion if any of them was lost to congestion. The packets stay in the ledger
//! until the sender asks about a later packet, or until its timer expires and everything is
//! retransmitted.

use std::collections::VecDeque;

use losscause::arrivals::MAX_JUMP_PKTS;
use losscause::{End, Judgement, Loss, Numbers, Observation, Observer, Recovery, Time};

use crate::oracle::Oracle;
use crate::report::{LossCounts, VerdictTally};
use crate::rng::Stream;
use crate::topology::FlowId;
use crate::trace::{Event, EventKind, Recorder, Seen};
use crate::truth::{Cause, Truth};

/// Initial capacity, entries.
const RESERVED_PKTS: usize = 8;

/// The widest gap that a receiver judges; it restarts after a wider one.
const MAX_PKTS: usize = MAX_JUMP_PKTS as usize;

/// The losses of one flow. Fields that every received packet touches come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Ledger {
    /// The base scheme in force, and the packets received since it came into force; none before the
    /// first packet.
    scheme: Option<(&'static str, u64)>,
    /// Received packets by base scheme, for earlier periods; `scheme` has those of the present one.
    schemes: Vec<(&'static str, u64)>,
    judge: Judge,
    oracle: Option<Oracle>,
    /// Lost packets that are not yet judged, by sequence number. Empty for flows that do not
    /// differentiate.
    unjudged: VecDeque<Entry>,
    /// One draw per lost packet, for oracles.
    stream: Stream,
    lost: LossCounts,
    /// Lost copies of data packets that are not lost themselves.
    lost_copies: u64,
    verdicts: VerdictTally,
}

/// Which losses of a flow are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    None,
    /// Every lost packet.
    Receiver,
    /// Every loss event that duplicate ACKs reveal.
    Sender,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    seq: u64,
    truth: Truth,
}

impl Ledger {
    /// `stream` is drawn from once per lost packet.
    pub(crate) fn new(judge: Judge, oracle: Option<Oracle>, stream: Stream) -> Self {
        Self {
            unjudged: VecDeque::with_capacity(if judge == Judge::None { 0 } else { RESERVED_PKTS }),
            judge,
            oracle,
            stream,
            lost: LossCounts::default(),
            lost_copies: 0,
            verdicts: VerdictTally::default(),
            schemes: Vec::new(),
            scheme: None,
        }
    }

    /// A data packet was lost.
    pub(crate) fn lost(&mut self, seq: u64, cause: Cause) {
        self.lost.count(cause);
        if self.judge == Judge::None {
            return;
        }
        if self.unjudged.len() == MAX_PKTS {
            self.unjudged.pop_front();
        }
        let entry =
            Entry { seq, truth: Truth { cause, first: cause, draw: self.stream.uniform() } };
        // Losses come in order, except that a packet may be lost late on its path and its successor
        // early, and that packets may overtake each other.
        let later = self.unjudged.iter().rev().take_while(|other| other.seq > seq).count();
        self.unjudged.insert(self.unjudged.len() - later, entry);
    }

    /// A copy of a data packet was lost, but the packet was not.
    pub(crate) fn lost_copy(&mut self) {
        self.lost_copies += 1;
    }

    pub(crate) fn lost_copies(&self) -> u64 {
        self.lost_copies
    }

    pub(crate) fn counts(&self) -> LossCounts {
        self.lost
    }

    pub(crate) fn verdicts(&self) -> VerdictTally {
        let mut verdicts = self.verdicts;
        if self.judge == Judge::Receiver {
            verdicts.congestion.undetected = self.lost.congestion - verdicts.congestion.judged();
            verdicts.wireless.undetected = self.lost.wireless - verdicts.wireless.judged();
        }
        verdicts
    }

    /// Received packets by the base scheme in force on arrival.
    pub(crate) fn schemes(&self) -> Vec<(&'static str, u64)> {
        let mut schemes = self.schemes.clone();
        if let Some((scheme, packets)) = self.scheme {
            *packets_under(&mut schemes, scheme) += packets;
        }
        schemes
    }

    /// The last loss of a packet that was lost several times, because the receiver's gap is about
    /// that loss.
    fn find(&self, seq: u64) -> Option<&Entry> {
        let beyond =
            self.unjudged.iter().position(|entry| entry.seq > seq).unwrap_or(self.unjudged.len());
        self.unjudged.get(beyond.checked_sub(1)?).filter(|entry| entry.seq == seq)
    }

    /// The truth about the lost packets from `seq` on: the draw and cause of the first, and whether
    /// any was lost to congestion.
    fn event(&self, seq: u64) -> Option<Truth> {
        let mut lost =
            self.unjudged.iter().filter(|entry| entry.seq >= seq).map(|entry| entry.truth);
        let first = lost.next()?;
        let congestion =
            first.cause == Cause::Congestion || lost.any(|truth| truth.cause == Cause::Congestion);
        Some(Truth { cause: if congestion { Cause::Congestion } else { Cause::Wireless }, ..first })
    }

    /// Removes packets that can no longer be judged.
    fn forget_below(&mut self, seq: u64) {
        while self.unjudged.front().is_some_and(|entry| entry.seq < seq) {
            self.unjudged.pop_front();
        }
    }

    /// A packet arrived, the first since this scheme replaced another.
    #[cold]
    fn change_scheme(&mut self, scheme: &'static str) {
        if let Some((before, packets)) = self.scheme.replace((scheme, 1)) {
            *packets_under(&mut self.schemes, before) += packets;
        }
    }
}

/// The count of `scheme`; zero if it has none.
fn packets_under<'a>(
    schemes: &'a mut Vec<(&'static str, u64)>,
    scheme: &'static str,
) -> &'a mut u64 {
    let place = schemes.iter().position(|&(name, _)| name == scheme).unwrap_or_else(|| {
        schemes.push((scheme, 0));
        schemes.len() - 1
    });
    &mut schemes[place].1
}

/// Looks at one end of a flow: knows the truth from the ledger, answers for oracles, and records
/// the verdicts.
pub(crate) struct Watch<'a, R> {
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) recorder: &'a mut R,
    pub(crate) flow: FlowId,
    pub(crate) end: End,
    pub(crate) now: Time,
}

impl<R: Recorder> Observer for Watch<'_, R> {
    #[inline]
    fn on_observation(&mut self, observation: &Observation, scheme: &'static str) {
        if self.recorder.looks() {
            self.recorder.see(self.flow, self.end, Seen::Observed(observation));
        }
        if self.end == End::Sender {
            return;
        }
        match &mut self.ledger.scheme {
            Some((name, packets)) if std::ptr::eq(*name, scheme) => *packets += 1,
            _ => self.ledger.change_scheme(scheme),
        }
    }

    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        let oracle = self.ledger.oracle.filter(|_| self.judges())?;
        Some(oracle.told(self.truth(loss)))
    }

    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        if !self.judges() {
            return;
        }
        // A sender's first verdict stands for the whole event.
        let cause = self.truth(loss).filter(|_| !loss.is_further).map(|truth| truth.cause);
        if let Some(cause) = cause {
            self.ledger.verdicts.of(cause).count(judgement.verdict);
        }
        if self.recorder.looks() {
            self.recorder.see(self.flow, self.end, Seen::Judged(loss, cause));
        }
        let seq = loss.seq().unwrap_or(0);
        if self.end == End::Receiver {
            self.ledger.forget_below(seq + 1);
        }
        self.record(seq, cause, judgement);
    }

    fn on_taken_back(&mut self, numbers: Numbers) {
        if self.recorder.looks() {
            self.recorder.see(self.flow, self.end, Seen::TakenBack(numbers));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.recorder.looks() {
            self.recorder.see(self.flow, self.end, Seen::Declared(loss));
        }
    }

    fn wants_every_loss(&self) -> bool {
        self.recorder.looks()
    }

    fn on_recovered(&mut self, recovery: &Recovery) {
        if self.recorder.looks() {
            self.recorder.see(self.flow, self.end, Seen::Recovered(recovery));
        }
    }

    fn on_timeout(&mut self) {
        // A receiver does not see timeouts.
        if self.ledger.judge == Judge::Sender {
            self.ledger.unjudged.clear();
        }
    }
}

impl<R: Recorder> Watch<'_, R> {
    /// Whether this end judges the flow's losses.
    fn judges(&self) -> bool {
        match self.ledger.judge {
            Judge::None => false,
            Judge::Receiver => self.end == End::Receiver,
            Judge::Sender => self.end == End::Sender,
        }
    }

    /// The truth about a lost packet at a receiver, about a loss event at a sender.
    fn truth(&mut self, loss: &Loss) -> Option<Truth> {
        let seq = loss.seq()?;
        match self.end {
            End::Receiver => self.ledger.find(seq).map(|entry| entry.truth),
            End::Sender => {
                self.ledger.forget_below(seq);
                self.ledger.event(seq)
            }
        }
    }

    fn record(&mut self, seq: u64, cause: Option<Cause>, judgement: &Judgement) {
        if self.recorder.detail().everything() {
            let kind = EventKind::Verdict { seq, cause, judgement: *judgement };
            self.recorder.record(&Event { at: self.now, flow: self.flow, kind });
        }
    }
}

#[cfg(test)]
mod tests {

    use losscause::{Signal, Verdict};

    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(Judge::Receiver, None, Stream::new(1, "flow/test/oracle"))
    }

    fn watch(ledger: &mut Ledger, end: End) -> Watch<'_, ()> {
        Watch { ledger, recorder: Box::leak(Box::new(())), flow: FlowId(0), end, now: Time::ZERO }
    }

    fn arrival(seq: u64) -> Observation {
        Observation::first(seq, Time::ZERO)
    }

    fn judge(ledger: &mut Ledger, seq: u64, verdict: Verdict) -> Option<Cause> {
        let mut watch = watch(ledger, End::Receiver);
        let loss = Loss::in_gap(seq, arrival(seq + 1));
        let truth = watch.truth(&loss);
        watch.on_judged(&loss, &Judgement::stated(verdict, "test", "as asked"));
        truth.map(|truth| truth.cause)
    }

    #[test]
    fn every_lost_packet_is_counted_once_against_its_own_cause() {
        let mut ledger = ledger();
        for (seq, cause) in [
            (3, Cause::Congestion),
            (4, Cause::Wireless),
            (9, Cause::Wireless),
            (12, Cause::Wireless),
        ] {
            ledger.lost(seq, cause);
        }
        assert_eq!(judge(&mut ledger, 3, Verdict::Wireless), Some(Cause::Congestion));
        assert_eq!(judge(&mut ledger, 4, Verdict::Wireless), Some(Cause::Wireless));
        assert_eq!(judge(&mut ledger, 9, Verdict::Undecided), Some(Cause::Wireless));
        let verdicts = ledger.verdicts();
        assert_eq!((verdicts.m_c(), verdicts.m_w()), (Some(1.0), Some(0.0)));
        assert_eq!(verdicts.wireless.undecided, 1);
        assert_eq!((verdicts.congestion.undetected, verdicts.wireless.undetected), (0, 1));
    }

    #[test]
    fn a_packet_lost_late_on_its_path_is_found_behind_its_successor() {
        let mut ledger = ledger();
        ledger.lost(7, Cause::Congestion);
        ledger.lost(5, Cause::Wireless);
        assert_eq!(judge(&mut ledger, 5, Verdict::Wireless), Some(Cause::Wireless));
        assert_eq!(judge(&mut ledger, 7, Verdict::Wireless), Some(Cause::Congestion));
    }

    #[test]
    fn what_nobody_will_ask_for_is_forgotten_and_undetected() {
        let mut ledger = ledger();
        // Lost before anything arrived: there is no gap to reveal it.
        ledger.lost(0, Cause::Wireless);
        ledger.lost(5, Cause::Wireless);
        assert_eq!(judge(&mut ledger, 5, Verdict::Wireless), Some(Cause::Wireless));
        assert!(ledger.unjudged.is_empty());
        assert_eq!(ledger.verdicts().wireless.undetected, 1);
    }

    fn declare(ledger: &mut Ledger, first: u64, verdict: Verdict) -> Option<Cause> {
        let mut watch = watch(ledger, End::Sender);
        let mut loss = Loss::new(Time::ZERO, Signal::Gap);
        loss.numbers = Some(Numbers::one(first));
        let truth = watch.truth(&loss);
        watch.on_judged(&loss, &Judgement::stated(verdict, "test", "as asked"));
        truth.map(|truth| truth.cause)
    }

    #[test]
    fn a_loss_event_counts_once_and_congestion_outweighs_the_air() {
        let mut ledger = Ledger::new(Judge::Sender, None, Stream::new(1, "flow/test/oracle"));
        ledger.lost(3, Cause::Wireless);
        ledger.lost(5, Cause::Congestion);
        assert_eq!(declare(&mut ledger, 3, Verdict::Congestion), Some(Cause::Congestion));
        ledger.lost(20, Cause::Wireless);
        assert_eq!(declare(&mut ledger, 13, Verdict::Wireless), Some(Cause::Wireless));
        let verdicts = ledger.verdicts();
        assert_eq!((verdicts.congestion.judged(), verdicts.wireless.judged()), (1, 1));
        assert_eq!((verdicts.m_c(), verdicts.m_w()), (Some(0.0), Some(0.0)));
        assert_eq!(verdicts.congestion.undetected, 0, "packets of the same event are not missing");
    }

    #[test]
    fn what_was_lost_before_a_timeout_is_no_part_of_a_later_event() {
        let mut ledger = Ledger::new(Judge::Sender, None, Stream::new(1, "flow/test/oracle"));
        ledger.lost(5, Cause::Congestion);
        watch(&mut ledger, End::Sender).on_timeout();
        assert_eq!(declare(&mut ledger, 3, Verdict::Congestion), None, "a spurious one");
        ledger.lost(6, Cause::Wireless);
        assert_eq!(declare(&mut ledger, 3, Verdict::Congestion), Some(Cause::Wireless));
        assert_eq!(ledger.verdicts().wireless.judged(), 1);
    }

    #[test]
    fn received_packets_count_for_the_scheme_in_force() {
        let mut ledger = ledger();
        let mut watch = watch(&mut ledger, End::Receiver);
        for (seq, scheme) in ["Spike", "Spike", "mBiaz", "Spike"].into_iter().enumerate() {
            watch.on_observation(&arrival(seq as u64), scheme);
        }
        assert_eq!(ledger.schemes(), [("Spike", 3), ("mBiaz", 1)]);
    }

    /// Keeps what was taken back.
    #[derive(Default)]
    struct TakenBack(Vec<u64>);

    impl Recorder for TakenBack {
        fn detail(&self) -> crate::trace::Detail {
            crate::trace::Detail::Nothing
        }
        fn record(&mut self, _: &Event) {}
        fn looks(&self) -> bool {
            true
        }
        fn see(&mut self, _: FlowId, _: End, seen: Seen<'_>) {
            if let Seen::TakenBack(numbers) = seen {
                self.0.push(numbers.first);
            }
        }
    }

    #[test]
    fn a_recorder_sees_what_is_taken_back() {
        let mut recorder = TakenBack::default();
        let mut ledger = ledger();
        let mut watch = Watch {
            ledger: &mut ledger,
            recorder: &mut recorder,
            flow: FlowId(0),
            end: End::Sender,
            now: Time::ZERO,
        };
        watch.on_taken_back(Numbers::one(7));
        assert_eq!(recorder.0, [7]);
    }
}
