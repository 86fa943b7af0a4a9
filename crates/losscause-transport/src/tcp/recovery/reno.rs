//! Reno's loss recovery: fast retransmit and fast recovery (RFC 5681, section 3.2).
//!
//! The third duplicate ACK signals that the next packet was lost: it is retransmitted at once, and
//! the window is halved. Each duplicate ACK shows that another packet has left the network, so it
//! inflates the window by one packet until new data is acknowledged. The first ACK of new data
//! removes the inflation, even if it does not acknowledge everything that was in flight.
//!
//! Deviations: [`FastRetransmit::OncePerWindow`] and [`LimitedTransmit::NextPacket`], both selected
//! in [`crate::tcp::Quirks`], are ns-2's.

use losscause::Time;

use super::Progress;
use super::fast_recovery::FastRecovery;
use crate::tcp::config::Config;
use crate::tcp::loss_event::Found;
use crate::tcp::quirks::{FastRetransmit, Inflation, Quirks};
use crate::tcp::segment::Ack;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(crate) struct Reno {
    fast_recovery: FastRecovery,
}

impl Reno {
    pub(super) fn new(config: &Config) -> Self {
        Self { fast_recovery: FastRecovery::new(config, FastRetransmit::Always) }
    }

    /// Fast retransmit whenever the threshold is met, without inflating the window.
    pub(super) fn without_fast_recovery(config: &Config) -> Self {
        let quirks = Quirks {
            fast_retransmit: Some(FastRetransmit::Always),
            inflation: Inflation::Never,
            ..config.quirks
        };
        Self::new(&Config { quirks, ..*config })
    }

    pub(super) fn on_dup_ack(&mut self, now: Time, ack: &Ack, stream: &Stream) -> Option<Found> {
        self.fast_recovery.on_dup_ack(now, ack, stream)
    }

    /// RFC 5681, section 3.2, step 6, if a loss is under repair.
    #[inline]
    pub(super) fn on_new_ack(&mut self) -> Progress {
        let repaired = self.fast_recovery.is_recovering();
        self.fast_recovery.on_new_ack();
        self.fast_recovery.end();
        if repaired { Progress::Recovered } else { Progress::Open }
    }

    pub(super) fn on_timeout(&mut self, now: Time, stream: &Stream) {
        self.fast_recovery.on_timeout(now, stream);
    }

    #[inline]
    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        self.fast_recovery
            .take_retransmission(stream)
            .or_else(|| stream.take_next(self.fast_recovery.window_pkts(stream, window)))
    }

    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        self.fast_recovery.window_pkts(stream, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dup_ack(next: u64) -> Ack {
        Ack::new(next, Time::ZERO)
    }

    /// Everything from `una` to below `sent` is in flight.
    fn stream(una: u64, sent: u64) -> Stream {
        Stream { una, next: sent, sent, end: u64::MAX }
    }

    /// A window so large that the receiver's limit hides nothing that recovery adds.
    fn window() -> Window {
        Window { cwnd: 100.0, ssthresh: 100.0, max_pkts: 1000 }
    }

    fn extra(reno: &Reno) -> u32 {
        reno.window_pkts(&stream(5, 15), &window()) - 100
    }

    fn after_dup_acks(reno: &mut Reno, una: u64, sent: u64, count: u32) -> Vec<bool> {
        (0..count)
            .map(|_| reno.on_dup_ack(Time::ZERO, &dup_ack(una), &stream(una, sent)).is_some())
            .collect()
    }

    #[test]
    fn the_first_new_ack_deflates_even_if_it_is_partial() {
        let mut reno = Reno::new(&Config::rfc());
        after_dup_acks(&mut reno, 5, 15, 7);
        assert_eq!(reno.on_new_ack(), Progress::Recovered);
        assert_eq!(extra(&reno), 0);
        assert_eq!(reno.on_new_ack(), Progress::Open);
    }

    #[test]
    fn a_second_loss_of_a_window_is_resent_by_rfc_5681_not_by_ns2() {
        let second_loss = |config: &Config, una| {
            let mut reno = Reno::new(config);
            after_dup_acks(&mut reno, 5, 15, 3);
            reno.on_new_ack();
            after_dup_acks(&mut reno, una, 20, 3)[2]
        };
        assert!(second_loss(&Config::rfc(), 9));
        assert!(!second_loss(&Config::ns2(), 9));
        // Only what was sent before the first loss is acknowledged: not allowed yet.
        assert!(!second_loss(&Config::ns2(), 15));
        assert!(second_loss(&Config::ns2(), 16));
    }

    #[test]
    fn after_a_timeout_ns2_waits_for_the_whole_lost_windows_ack() {
        let mut reno = Reno::new(&Config::ns2());
        reno.on_timeout(Time::ZERO, &stream(5, 15));
        assert_eq!(after_dup_acks(&mut reno, 7, 16, 5), [false; 5]);
        assert_eq!(extra(&reno), 0);
        reno.on_new_ack();
        assert_eq!(after_dup_acks(&mut reno, 16, 30, 3), [false, false, true]);
    }
}
