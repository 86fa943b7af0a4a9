//! The part that Reno and NewReno share (RFC 5681, section 3.2, steps 1 to 4). The third duplicate
//! ACK signals a loss. From then on each duplicate ACK inflates the window by one packet, until
//! fast recovery ends.

use losscause::Time;

use crate::tcp::config::Config;
use crate::tcp::loss_event::Found;
use crate::tcp::quirks::{FastRetransmit, Inflation, LimitedTransmit};
use crate::tcp::segment::Ack;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

/// Counts duplicate ACKs and the window inflation that they cause.
#[derive(Clone, Debug)]
pub(super) struct FastRecovery {
    threshold: u32,
    fast_retransmit: FastRetransmit,
    limited_transmit: LimitedTransmit,
    rule: Inflation,
    phase: Phase,
    /// One above the highest packet sent when the last loss was detected or the timer last expired.
    recover: u64,
    /// The time of that loss or timeout; `None` before the first.
    recover_at: Option<Time>,
    /// The first unacknowledged packet must be retransmitted now.
    retransmit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Fast recovery is not under way.
    Open { dup_acks: u32 },
    /// From fast retransmit until the ACK that ends fast recovery.
    Recovering { inflation: u32 },
}

impl FastRecovery {
    /// `rule_of_recovery` decides when fast retransmit is allowed, unless the configuration sets
    /// another rule.
    pub(super) fn new(config: &Config, rule_of_recovery: FastRetransmit) -> Self {
        Self {
            threshold: config.dup_ack_threshold,
            fast_retransmit: config.quirks.fast_retransmit.unwrap_or(rule_of_recovery),
            limited_transmit: config.quirks.limited_transmit,
            rule: config.quirks.inflation,
            phase: Phase::Open { dup_acks: 0 },
            recover: 0,
            recover_at: None,
            retransmit: false,
        }
    }

    pub(super) fn on_dup_ack(&mut self, now: Time, ack: &Ack, stream: &Stream) -> Option<Found> {
        let dup_acks = match &mut self.phase {
            // Step 4.
            Phase::Recovering { inflation } => {
                *inflation = inflation.saturating_add(1);
                return None;
            }
            Phase::Open { dup_acks } => dup_acks,
        };
        *dup_acks = dup_acks.saturating_add(1);
        if *dup_acks != self.threshold || !self.allows(ack, stream) {
            return None;
        }
        // Steps 2 and 3.
        (self.recover, self.recover_at) = (stream.sent, Some(now));
        self.phase = Phase::Recovering { inflation: self.threshold };
        self.retransmit = true;
        Some(Found::with(stream.flight_pkts()))
    }

    /// Whether the third duplicate may signal a loss. If packets may have been sent twice, the
    /// segment that caused the duplicate must be a first transmission, sent after everything below
    /// `recover`: it overtook the missing packet.
    fn allows(&self, ack: &Ack, stream: &Stream) -> bool {
        let later =
            || !ack.echo_of_retransmission && self.recover_at.is_some_and(|at| ack.echo >= at);
        let by_echo = self.fast_retransmit == FastRetransmit::AfterRecovery && later();
        by_echo || self.fast_retransmit.allows(stream.una, self.recover)
    }

    /// Handles an ACK of new data. Resets the duplicate count unless fast recovery continues.
    #[inline]
    pub(super) fn on_new_ack(&mut self) {
        self.retransmit = false;
        if let Phase::Open { dup_acks } = &mut self.phase {
            *dup_acks = 0;
        }
    }

    /// Ends fast recovery: deflates the window to cwnd.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Open { dup_acks: 0 };
    }

    /// Schedules retransmission of the first unacknowledged packet.
    pub(super) fn retransmit(&mut self) {
        self.retransmit = true;
    }

    pub(super) fn on_timeout(&mut self, now: Time, stream: &Stream) {
        (self.recover, self.recover_at) = (stream.sent, Some(now));
        self.end();
        self.retransmit = false;
    }

    /// Whether fast recovery is under way.
    #[inline]
    pub(super) fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovering { .. })
    }

    /// Whether everything sent before the loss was detected is acknowledged.
    #[inline]
    pub(super) fn is_repaired(&self, stream: &Stream) -> bool {
        stream.una >= self.recover
    }

    /// Whether the duplicate threshold is met, even if fast retransmit is not allowed.
    #[inline]
    pub(super) fn suspects_loss(&self) -> bool {
        match self.phase {
            Phase::Recovering { .. } => true,
            Phase::Open { dup_acks } => dup_acks >= self.threshold,
        }
    }

    /// The window inflation; `None` outside fast recovery.
    pub(super) fn inflation(&mut self) -> Option<&mut u32> {
        match &mut self.phase {
            Phase::Recovering { inflation } => Some(inflation),
            Phase::Open { .. } => None,
        }
    }

    /// The first unacknowledged packet, if it must be retransmitted now.
    #[inline]
    pub(super) fn take_retransmission(&mut self, stream: &Stream) -> Option<u64> {
        std::mem::take(&mut self.retransmit).then_some(stream.una)
    }

    /// cwnd plus inflation in fast recovery, or plus limited transmit before it.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        window.pkts(match self.phase {
            Phase::Recovering { .. } if self.rule == Inflation::Never => 0,
            Phase::Recovering { inflation } => inflation,
            Phase::Open { dup_acks } if dup_acks < self.threshold => {
                self.limited_transmit.releases(dup_acks, stream.next == stream.sent)
            }
            Phase::Open { dup_acks } if self.rule == Inflation::Always => dup_acks,
            Phase::Open { .. } => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tcp::quirks::Quirks;

    /// A duplicate ACK caused by a packet sent at `echo_ms`.
    fn dup_ack(next: u64, echo_ms: i64, echo_of_retransmission: bool) -> Ack {
        Ack { echo_of_retransmission, ..Ack::new(next, at(echo_ms)) }
    }

    /// Everything from `una` to below `sent` is in flight.
    fn stream(una: u64, sent: u64) -> Stream {
        Stream { una, next: sent, sent, end: u64::MAX }
    }

    /// A window so large that the receiver's limit hides nothing that duplicates add.
    fn window() -> Window {
        Window { cwnd: 100.0, ssthresh: 100.0, max_pkts: 1000 }
    }

    fn extra(recovery: &FastRecovery, unsent: bool) -> u32 {
        let next = if unsent { 15 } else { 6 };
        recovery.window_pkts(&Stream { next, ..stream(5, 15) }, &window()) - 100
    }

    fn fresh(config: &Config) -> FastRecovery {
        FastRecovery::new(config, FastRetransmit::Always)
    }

    fn with(quirks: Quirks) -> FastRecovery {
        fresh(&Config { quirks, ..Config::rfc() })
    }

    fn after_dup_acks(recovery: &mut FastRecovery, una: u64, sent: u64, count: u32) -> Vec<bool> {
        (0..count)
            .map(|_| {
                recovery.on_dup_ack(at(0), &dup_ack(una, 0, false), &stream(una, sent)).is_some()
            })
            .collect()
    }

    #[test]
    fn the_third_duplicate_ack_and_no_other_retransmits() {
        for config in [Config::rfc(), Config::ns2()] {
            let mut recovery = fresh(&config);
            assert_eq!(
                after_dup_acks(&mut recovery, 5, 15, 6),
                [false, false, true, false, false, false]
            );
        }
    }

    /// What each of the first five duplicates adds to cwnd.
    fn inflation(recovery: &mut FastRecovery) -> [u32; 5] {
        [(); 5].map(|()| {
            after_dup_acks(recovery, 5, 15, 1);
            extra(recovery, true)
        })
    }

    #[test]
    fn the_window_is_inflated_by_three_and_by_each_more_duplicate() {
        let mut recovery = with(Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC });
        assert_eq!(inflation(&mut recovery), [0, 0, 3, 4, 5]);
    }

    #[test]
    fn without_inflation_no_duplicate_from_the_third_on_adds() {
        let mut recovery = with(Quirks { inflation: Inflation::Never, ..Quirks::NS2_2_35 });
        assert_eq!(inflation(&mut recovery)[2..], [0, 0, 0]);
        recovery.on_timeout(at(0), &stream(5, 15));
        after_dup_acks(&mut recovery, 5, 15, 6);
        assert_eq!(extra(&recovery, false), 0);
    }

    #[test]
    fn duplicate_acks_are_counted_anew_after_a_new_ack() {
        let mut recovery = fresh(&Config::rfc());
        after_dup_acks(&mut recovery, 5, 15, 2);
        recovery.on_new_ack();
        assert_eq!(after_dup_acks(&mut recovery, 6, 16, 3), [false, false, true]);
    }

    #[test]
    fn ns2_retransmits_fast_once_something_was_acknowledged() {
        let third = |config, una| after_dup_acks(&mut fresh(&config), una, una + 4, 3)[2];
        assert!(!third(Config::ns2(), 0));
        assert!(third(Config::ns2(), 1));
        assert!(third(Config::rfc(), 0));
    }

    #[test]
    fn limited_transmit_releases_one_per_duplicate_below_threshold() {
        let released = |limited_transmit, unsent| {
            // ns-2 does not fast-retransmit packet 0, so fast recovery adds nothing.
            let mut recovery = with(Quirks { limited_transmit, ..Quirks::NS2_2_35 });
            let mut released = vec![];
            for _ in 0..4 {
                after_dup_acks(&mut recovery, 0, 15, 1);
                released.push(extra(&recovery, unsent));
            }
            released
        };
        assert_eq!(released(LimitedTransmit::Off, true), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, true), [1, 2, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, false), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::NextPacket, false), [1, 2, 0, 0]);
    }

    #[test]
    fn below_recover_duplicates_of_later_packets_alone_mean_a_loss() {
        let found = |fast_retransmit, una, echo_ms, retransmission| {
            let mut recovery =
                with(Quirks { fast_retransmit: Some(fast_retransmit), ..Quirks::RFC });
            recovery.on_timeout(at(1_000), &stream(5, 15));
            let ack = dup_ack(una, echo_ms, retransmission);
            (0..3).any(|_| recovery.on_dup_ack(at(2_000), &ack, &stream(una, 30)).is_some())
        };
        for una in [12, 15] {
            assert!(
                !found(FastRetransmit::AfterRecovery, una, 999, false),
                "sent before the timeout"
            );
            assert!(
                !found(FastRetransmit::AfterRecovery, una, 1_200, true),
                "may have been sent in vain"
            );
            assert!(found(FastRetransmit::AfterRecovery, una, 1_200, false), "15 or above");
            assert!(!found(FastRetransmit::OncePerWindow, una, 1_200, false), "ns-2 does not look");
        }
        assert!(
            found(FastRetransmit::AfterRecovery, 16, 999, false),
            "above recover every duplicate counts"
        );
    }
}
