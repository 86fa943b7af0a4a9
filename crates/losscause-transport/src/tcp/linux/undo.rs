//! Undoing a cut that no loss justified: by D-SACK (RFC 3708) or by timestamps (Eifel, RFC 3522 and
//! RFC 4015).
//!
//! ```text
//! by D-SACK:      every retransmission since the cut was reported as a duplicate
//! by timestamps:  an ACK of new data echoes a segment sent before the first retransmission, or nothing was sent
//!                 again yet
//! ```
//!
//! Then cwnd and ssthresh return to at least what they were. Linux (net/ipv4/tcp_input.c,
//! `tcp_may_undo`) tests both on every ACK that moves SND.UNA in recovery or after a timeout.
//!
//! Deviations: none.

use losscause::Time;

#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// What the cut answers; `None` if there is nothing to undo.
    cut: Option<Cut>,
    /// The first retransmission since everything was repaired.
    resent_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    /// SND.UNA when the window was cut.
    una: u64,
    /// Retransmissions not reported as duplicates; `None` before the first.
    unanswered: Option<u64>,
    cwnd_pkts: u32,
    /// `None` if the cut must stand (an ECN echo came).
    ssthresh_pkts: Option<u32>,
}

impl Undo {
    /// The window, `cwnd_pkts` and `ssthresh_pkts`, is about to be cut with `resent`
    /// retransmissions in flight.
    pub(super) fn begin(&mut self, una: u64, resent: u64, cwnd_pkts: u32, ssthresh_pkts: u32) {
        let unanswered = (resent > 0).then_some(resent);
        self.cut = Some(Cut { una, unanswered, cwnd_pkts, ssthresh_pkts: Some(ssthresh_pkts) });
    }

    /// An ECN echo came: the cut stands.
    pub(super) fn forbid(&mut self) {
        if let Some(cut) = &mut self.cut {
            cut.ssthresh_pkts = None;
        }
    }

    /// Whether a cut may turn out needless.
    pub(super) fn is_possible(&self) -> bool {
        self.cut.is_some()
    }

    /// Nothing is left to undo.
    pub(super) fn clear(&mut self) {
        self.cut = None;
    }

    /// No retransmission is outstanding any more.
    pub(super) fn on_repaired(&mut self) {
        self.resent_at = None;
    }

    /// A packet was sent again.
    pub(super) fn on_resend(&mut self, now: Time) {
        self.resent_at.get_or_insert(now);
        if let Some(cut) = &mut self.cut {
            cut.unanswered = Some(cut.unanswered.unwrap_or(0) + 1);
        }
    }

    /// The receiver reported packet `seq` as a duplicate.
    pub(super) fn on_duplicate(&mut self, seq: u64) {
        if let Some(Cut { una, unanswered: Some(unanswered), .. }) = &mut self.cut
            && seq >= *una
        {
            *unanswered = unanswered.saturating_sub(1);
        }
    }

    /// Whether every retransmission was a duplicate.
    pub(super) fn by_duplicates(&self) -> bool {
        self.cut.is_some_and(|cut| cut.unanswered == Some(0))
    }

    /// Whether an ACK of new data that echoes `echo` was caused by a segment sent before the first
    /// retransmission. Pacing may hold that back.
    pub(super) fn by_timestamp(&self, echo: Time) -> bool {
        self.cut.is_some() && self.resent_at.is_none_or(|resent_at| echo < resent_at)
    }

    /// cwnd and ssthresh before the cut, if it may be undone. Nothing is left to undo then.
    pub(super) fn take(&mut self) -> Option<(u32, u32)> {
        let cut = self.cut.take()?;
        Some((cut.cwnd_pkts, cut.ssthresh_pkts?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    fn cut() -> Undo {
        let mut undo = Undo::default();
        undo.begin(10, 0, 20, 100);
        undo.on_resend(at(50));
        undo.on_resend(at(60));
        undo
    }

    #[test]
    fn every_retransmission_must_be_reported_as_a_duplicate() {
        let mut undo = cut();
        undo.on_duplicate(10);
        assert!(!undo.by_duplicates(), "one of two");
        undo.on_duplicate(9);
        assert!(!undo.by_duplicates(), "9 was acknowledged before the cut");
        undo.on_duplicate(12);
        assert!(undo.by_duplicates());
        assert_eq!(undo.take(), Some((20, 100)));
        assert!(!undo.by_duplicates(), "nothing is left to undo");
    }

    #[test]
    fn a_cut_without_retransmissions_is_not_undone_by_duplicates() {
        let mut undo = Undo::default();
        undo.begin(10, 0, 20, 100);
        undo.on_duplicate(12);
        assert!(!undo.by_duplicates());
    }

    #[test]
    fn an_echo_from_before_the_resend_shows_the_original_arrived() {
        let mut undo = cut();
        assert!(undo.by_timestamp(at(49)));
        assert!(!undo.by_timestamp(at(50)));
        undo.clear();
        assert!(!undo.by_timestamp(at(49)), "nothing is left to undo");
    }

    #[test]
    fn new_data_is_acknowledged_before_anything_was_sent_again() {
        let mut undo = Undo::default();
        assert!(!undo.by_timestamp(at(49)), "nothing was cut");
        undo.begin(10, 0, 20, 100);
        assert!(undo.by_timestamp(at(49)));
        undo.on_resend(at(40));
        assert!(!undo.by_timestamp(at(49)));
    }

    #[test]
    fn an_echoed_mark_makes_the_cut_stand() {
        let mut undo = cut();
        undo.forbid();
        assert_eq!(undo.take(), None);
    }
}
