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
use losscause_sim::Oracle;
use losscause_sim::truth::{Cause, Truth};

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

/// Lost packets by true cause and by what the controller took them for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// Lost to a queue and called congestion.
    pub(super) congestion_right: u64,
    /// Lost to a queue and called wireless: these make up M_c.
    pub(super) congestion_wrong: u64,
    /// Lost to the air and called wireless.
    pub(super) wireless_right: u64,
    /// Lost to the air and called congestion: these make up M_w.
    pub(super) wireless_wrong: u64,
    /// Batches of losses that the controller heard of.
    pub(super) batches: u64,
    /// Batches whose bytes were not those of the packets that the path lost: packets declared lost
    /// that arrived late.
    pub(super) unexplained: u64,
}

impl Judged {
    /// M_c in percent: congestion losses called wireless, of all congestion losses; none without
    /// one.
    pub(super) fn m_c(&self) -> Option<f64> {
        share(self.congestion_wrong, self.congestion_right)
    }

    /// M_w in percent: wireless losses called congestion, of all wireless losses; none without one.
    pub(super) fn m_w(&self) -> Option<f64> {
        share(self.wireless_wrong, self.wireless_right)
    }

    fn count(&mut self, cause: Cause, verdict: Verdict) {
        let place = match (cause, verdict.is_wireless()) {
            (Cause::Congestion, false) => &mut self.congestion_right,
            (Cause::Congestion, true) => &mut self.congestion_wrong,
            (Cause::Wireless, true) => &mut self.wireless_right,
            (Cause::Wireless, false) => &mut self.wireless_wrong,
        };
        *place += 1;
    }

    /// What was judged since `earlier`.
    #[must_use]
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            congestion_right: self.congestion_right - earlier.congestion_right,
            congestion_wrong: self.congestion_wrong - earlier.congestion_wrong,
            wireless_right: self.wireless_right - earlier.wireless_right,
            wireless_wrong: self.wireless_wrong - earlier.wireless_wrong,
            batches: self.batches - earlier.batches,
            unexplained: self.unexplained - earlier.unexplained,
        }
    }
}

fn share(wrong: u64, right: u64) -> Option<f64> {
    let all = wrong + right;
    (all > 0).then(|| 100.0 * wrong as f64 / all as f64)
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
    judged: Judged,
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
            entries.judged.batches += 1;
            entries.judged.unexplained += u64::from(lost != bytes);
        });
    }

    /// The controller acts on the open batch as if it were `verdict`.
    fn judged_as(&self, verdict: Verdict) {
        self.with(|entries| entries.verdict = Some(verdict));
    }

    /// The controller has acted on the open batch; its window is `window` bytes now. Without a
    /// verdict, as from quinn's own controllers, it was congestion.
    pub(super) fn close_batch(&self, window: u64) {
        self.with(|entries| {
            let verdict = entries.verdict.take().unwrap_or(Verdict::Congestion);
            for packet in std::mem::take(&mut entries.batch) {
                entries.judged.count(packet.cause, verdict);
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

    /// What was judged so far.
    pub(super) fn counts(&self) -> Judged {
        self.with(|entries| entries.judged)
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
        let judged = ledger.counts();
        assert_eq!((judged.m_c(), judged.m_w()), (Some(100.0), Some(50.0)));
        assert_eq!((judged.batches, judged.unexplained, ledger.largest_window()), (2, 0, 5000));
    }

    #[test]
    fn a_batch_that_the_path_did_not_lose_counts_as_unexplained() {
        let ledger = Ledger::default();
        ledger.open_batch(Time::from_nanos(20), 100);
        assert_eq!(ledger.truth(), None);
        ledger.close_batch(0);
        assert_eq!((ledger.counts().unexplained, ledger.counts().m_c()), (1, None));
    }
}
