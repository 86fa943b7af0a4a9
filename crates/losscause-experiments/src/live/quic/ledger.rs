//! Why packets were really lost, joined with what the controller took them for.
//!
//! The network knows the cause of every lost packet, and quinn's controllers learn of losses in
//! batches, without packet numbers: the newest lost packet's time of sending, and a number of
//! bytes. A batch consists of the oldest packets that the path lost and that no earlier batch held,
//! up to that time and that many bytes: QUIC declares a packet lost if enough later ones were
//! acknowledged, so nothing older stays open (RFC 9002, section 6.1). The bytes tell packets apart
//! that were sent at the same instant.
//!
//! The ledger is shared by the network, which enters losses, a
//! [`RecordingController`](super::recording::RecordingController), which opens and closes batches,
//! and an observer of the controller inside ([`LedgerObserver`]), which enters its verdicts. No
//! algorithm reads the ledger.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::{Judgement, Loss, Observer, Time, Verdict};
use losscause_quic::{ControllerObserver, LossVerdict};
use losscause_sim::truth::{Cause, Truth};
use losscause_sim::{Oracle, VerdictTally};

/// A packet that the path lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LostPacket {
    /// QUIC's number.
    pub(super) number: u64,
    pub(super) sent_at: Time,
    /// Bytes of the QUIC packet.
    pub(super) bytes: u64,
    pub(super) cause: Cause,
}

/// The losses of one sender; see the [module](self).
#[derive(Debug, Default)]
struct Entries {
    /// Number of the newest packet sent.
    newest: Option<u64>,
    /// Lost packets that no batch held yet, in the order of their sending.
    open: VecDeque<LostPacket>,
    /// The truth about the batch that is being judged.
    batch: Vec<LostPacket>,
    /// The verdict that the controller acted on, if it judges.
    verdict: Option<Verdict>,
    verdicts: VerdictTally,
    batches: u64,
    unexplained: u64,
    largest_window: u64,
}

/// A handle on the losses of one sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(Arc<Mutex<Entries>>);

impl Ledger {
    /// The newest packet has this number.
    pub(super) fn sent(&self, number: u64) {
        self.with(|entries| entries.newest = Some(number));
    }

    /// The number of the newest packet; none if none was sent since the last call.
    pub(super) fn take_newest(&self) -> Option<u64> {
        self.with(|entries| entries.newest.take())
    }

    /// The path lost a packet. Drops by managed queues may come late, so the packets are sorted.
    pub(super) fn lost(&self, packet: LostPacket) {
        self.with(|entries| {
            let order = |packet: &LostPacket| (packet.sent_at, packet.number);
            let place = entries.open.partition_point(|open| order(open) < order(&packet));
            entries.open.insert(place, packet);
        });
    }

    /// The controller is about to hear of a batch: the newest of `bytes` lost bytes was sent at
    /// `newest_sent_at`.
    pub(super) fn open_batch(&self, newest_sent_at: Time, bytes: u64) {
        self.with(|entries| {
            entries.batch.clear();
            entries.verdict = None;
            let mut lost = 0;
            let belongs =
                |packet: &LostPacket, lost: u64| packet.sent_at <= newest_sent_at && lost < bytes;
            while let Some(packet) =
                entries.open.front().copied().filter(|packet| belongs(packet, lost))
            {
                entries.open.pop_front();
                lost += packet.bytes;
                entries.batch.push(packet);
            }
            entries.batches += 1;
            entries.unexplained += u64::from(lost != bytes);
        });
    }

    /// The controller acts on the open batch as if it were `verdict`.
    fn judged_as(&self, verdict: Verdict) {
        self.with(|entries| entries.verdict = Some(verdict));
    }

    /// The controller has acted on the open batch; its window is `window` bytes now. Undecided, or
    /// without a verdict, as from quinn's own controllers, it was congestion.
    pub(super) fn close_batch(&self, window: u64) {
        self.with(|entries| {
            let is_wireless = entries.verdict.take().is_some_and(Verdict::is_wireless);
            let acted = if is_wireless { Verdict::Wireless } else { Verdict::Congestion };
            for packet in std::mem::take(&mut entries.batch) {
                entries.verdicts.of(packet.cause).count(acted);
            }
            entries.largest_window = entries.largest_window.max(window);
        });
    }

    /// The truth about the open batch: congestion if any packet was lost to it. None if the path
    /// lost none of them.
    fn truth(&self) -> Option<Truth> {
        self.with(|entries| {
            let first = entries.batch.first()?.cause;
            let congestion = entries.batch.iter().any(|packet| packet.cause == Cause::Congestion);
            let cause = if congestion { Cause::Congestion } else { Cause::Wireless };
            Some(Truth { cause, first, draw: 0.0 })
        })
    }

    /// The verdicts so far.
    pub(super) fn verdicts(&self) -> VerdictTally {
        self.with(|entries| entries.verdicts)
    }

    /// Batches so far, and those whose bytes were not those of the packets that the path lost.
    pub(super) fn batches(&self) -> (u64, u64) {
        self.with(|entries| (entries.batches, entries.unexplained))
    }

    /// The largest window right after a loss, bytes.
    pub(super) fn largest_window(&self) -> u64 {
        self.with(|entries| entries.largest_window)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Entries) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Observes a controller: enters the verdicts that it acts on, caps included, and answers for an
/// oracle.
#[derive(Clone, Debug)]
pub(super) struct LedgerObserver {
    pub(super) ledger: Ledger,
    /// Answers in the algorithm's place, from the truth about the open batch.
    pub(super) oracle: Option<Oracle>,
}

impl Observer for LedgerObserver {
    fn overrule(&mut self, _: &Loss) -> Option<Judgement> {
        Some(self.oracle?.told(self.ledger.truth()))
    }
}

impl ControllerObserver for LedgerObserver {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        self.ledger.judged_as(verdict.verdict);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64, cause: Cause) -> LostPacket {
        LostPacket { number, sent_at: Time::from_nanos(number as i64), bytes: 100, cause }
    }

    #[test]
    fn a_batch_holds_losses_up_to_its_newest_packet_each_once() {
        let ledger = Ledger::default();
        for (number, cause) in [(3, Cause::Wireless), (2, Cause::Congestion), (9, Cause::Wireless)]
        {
            ledger.lost(packet(number, cause));
        }
        ledger.open_batch(Time::from_nanos(3), 200);
        let truth = ledger.truth().unwrap();
        assert_eq!((truth.cause, truth.first), (Cause::Congestion, Cause::Congestion));
        ledger.judged_as(Verdict::Wireless);
        ledger.close_batch(5000);
        ledger.open_batch(Time::from_nanos(20), 100);
        assert_eq!(ledger.truth().unwrap().cause, Cause::Wireless);
        ledger.close_batch(3000);
        // One queue drop called wireless, one wireless loss called wireless, one not.
        let judged = ledger.verdicts();
        assert_eq!((judged.m_c(), judged.m_w()), (Some(1.0), Some(0.5)));
        assert_eq!((ledger.batches(), ledger.largest_window()), ((2, 0), 5000));
    }

    #[test]
    fn a_batch_that_the_path_did_not_lose_counts_as_unexplained() {
        let ledger = Ledger::default();
        ledger.open_batch(Time::from_nanos(20), 100);
        assert_eq!(ledger.truth(), None);
        ledger.close_batch(0);
        assert_eq!((ledger.batches(), ledger.verdicts().m_c()), ((1, 1), None));
    }
}
