//! When a recovery begins and ends, for callers whose transport does not tell (QUIC, captures).
//!
//! A recovery begins with a declared loss and ends when a packet sent after that loss is
//! acknowledged (RFC 9002, section 7.3.2).

use crate::Time;
use crate::loss::{Loss, Recovery};

/// Follows the recoveries of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryTracker {
    open: Option<Open>,
}

/// A recovery that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    began: Time,
    lost_pkts: u64,
}

impl RecoveryTracker {
    /// A loss was declared. It opens a recovery unless one is under way.
    pub fn on_loss(&mut self, loss: &Loss) {
        let open = self.open.get_or_insert(Open { began: loss.at, lost_pkts: 0 });
        open.lost_pkts = open.lost_pkts.saturating_add(loss.lost_pkts.into());
    }

    /// An ACK arrived at `at`; the newest packet known to have arrived was sent at
    /// `newest_sent_at`. Returns the recovery that it ends.
    #[inline]
    pub fn on_ack(&mut self, at: Time, newest_sent_at: Time) -> Option<Recovery> {
        let ended = self.open.take_if(|open| newest_sent_at > open.began)?;
        Some(Recovery::new(ended.began, at, ended.lost_pkts))
    }

    /// Whether a recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use crate::loss::Signal;

    #[test]
    fn a_recovery_lasts_until_a_packet_sent_after_its_loss_is_acked() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut tracker = RecoveryTracker::default();
        assert_eq!(tracker.on_ack(at(90), at(50)), None, "none is under way");
        tracker.on_loss(&Loss { lost_pkts: 2, ..Loss::new(at(100), Signal::Gap) });
        tracker.on_loss(&Loss::new(at(110), Signal::Gap));
        assert_eq!(tracker.on_ack(at(140), at(100)), None, "sent at that very instant");
        assert!(tracker.is_recovering());
        assert_eq!(tracker.on_ack(at(141), at(101)), Some(Recovery::new(at(100), at(141), 3)));
        assert!(!tracker.is_recovering());
    }
}
