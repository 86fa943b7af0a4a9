//! Why packets were really lost, and what the receiver took them for.
//!
//! The driver of a stream enters every data packet that the path loses. The receiver's algorithm
//! asks for the truth, if it is an oracle, and its verdict is counted once per packet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use losscause::{Judgement, Loss, Observer, Verdict};
use losscause_sim::truth::{Cause, Truth};
use losscause_sim::{Oracle, VerdictTally};

/// A handle on the losses of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Truths(Arc<Mutex<Losses>>);

#[derive(Debug, Default)]
struct Losses {
    /// Lost packets that were not judged yet, by sequence number.
    open: BTreeMap<u64, Cause>,
    tally: VerdictTally,
}

impl Truths {
    /// The path lost a data packet.
    pub(super) fn lost(&self, seq: u64, cause: Cause) {
        self.with(|losses| _ = losses.open.insert(seq, cause));
    }

    /// The truth about a lost packet that was not judged yet; none of one that the path did not
    /// lose.
    pub(super) fn truth(&self, seq: u64) -> Option<Truth> {
        let cause = self.with(|losses| losses.open.get(&seq).copied())?;
        Some(Truth { cause, first: cause, draw: 0.0 })
    }

    /// The receiver took a lost packet for `verdict`.
    pub(super) fn judged(&self, seq: u64, verdict: Verdict) {
        self.with(|losses| {
            let Some(cause) = losses.open.remove(&seq) else { return };
            losses.tally.of(cause).count(verdict);
        });
    }

    /// The verdicts so far.
    pub(super) fn tally(&self) -> VerdictTally {
        self.with(|losses| losses.tally)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Losses) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Looks at the receiver's algorithm: counts its verdicts, and answers for it if it is an oracle.
/// No other algorithm gets at the truth.
pub(super) struct TruthObserver<'a> {
    pub(super) truths: &'a Truths,
    pub(super) oracle: Option<Oracle>,
}

impl Observer for TruthObserver<'_> {
    fn overrule(&mut self, loss: &Loss) -> Option<Judgement> {
        Some(self.oracle?.told(self.truths.truth(loss.seq()?)))
    }

    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        if let Some(seq) = loss.seq() {
            self.truths.judged(seq, judgement.verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lost_packet_is_counted_once_by_its_true_cause() {
        let truths = Truths::default();
        truths.lost(4, Cause::Wireless);
        truths.lost(5, Cause::Congestion);
        assert_eq!(truths.truth(4).map(|truth| truth.cause), Some(Cause::Wireless));
        assert_eq!(truths.truth(6), None, "the path did not lose it");
        for seq in [4, 5, 5, 6] {
            truths.judged(seq, Verdict::Wireless);
        }
        let tally = truths.tally();
        assert_eq!((tally.congestion.called_wireless, tally.wireless.called_wireless), (1, 1));
        assert_eq!((tally.m_c(), tally.m_w()), (Some(1.0), Some(0.0)));
    }
}
