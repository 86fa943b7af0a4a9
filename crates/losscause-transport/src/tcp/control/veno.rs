//! Veno: Reno with a smaller cut if few packets are queued (Fu and Liew, "TCP Veno: TCP Enhancement
//! for Transmission Over Wireless Access Networks", IEEE JSAC 21(2), 2003).
//!
//! ```text
//! N = cwnd (RTT - BaseRTT) / RTT                               packets in queues
//! ACK of new data:   slow start as Reno's;  else cwnd += 1/cwnd, for N >= beta with every other ACK only
//! fast retransmit:   ssthresh = 4/5 cwnd for N < beta, else cwnd/2;  cwnd = ssthresh
//! timeout:           as Reno's
//! ```
//!
//! beta is 3 packets. N < beta means that the loss was random, so Veno differentiates by itself. If
//! an LDA judges the loss wireless, the window stays unchanged. BaseRTT is the smallest round-trip
//! time since the last loss.
//!
//! Deviations: RTT is that of the newest ACK (the paper says "measured"); ssthresh is at least 2
//! (RFC 5681).

use losscause::Span;
use losscause::filter::Backlog;
use losscause::lda::VegasBufferConfig;

use super::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::quirks::Halving;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(super) struct Veno {
    halving: Halving,
    backlog: Backlog,
    /// Whether the previous ACK was skipped, where only every other one counts.
    skipped: bool,
}

/// A loss with at least this many packets in queues is congestion.
const BETA_PKTS: f64 = VegasBufferConfig::veno().beta;

impl Veno {
    pub(super) fn new(config: &Config) -> Self {
        Self { halving: config.quirks.halving, backlog: Backlog::default(), skipped: false }
    }

    fn queued_pkts(&self, window: &Window) -> f64 {
        self.backlog.pkts(window.usable()).unwrap_or(0.0)
    }
}

impl CongestionControl for Veno {
    fn name(&self) -> &'static str {
        "Veno"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if let Some(rtt) = acked.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.backlog.observe(rtt);
        }
        if !acked.growth.is_due() {
            return;
        }
        if window.in_slow_start() || self.queued_pkts(window) < BETA_PKTS {
            window.grow();
            return;
        }
        self.skipped = !self.skipped;
        if !self.skipped {
            window.grow();
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        let factor = if self.queued_pkts(window) < BETA_PKTS { 0.8 } else { 0.5 };
        window.ssthresh = (window.usable() * factor).max(2.0);
        window.cwnd = window.ssthresh;
        self.backlog.forget_base();
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        self.halving.on_timeout(window, timeout);
        self.backlog.forget_base();
    }
}

#[cfg(test)]
mod tests {
    use losscause::{Time, Verdict};

    use super::*;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::ack;

    fn acked(veno: &mut Veno, window: &mut Window, rtt_ms: i64) {
        veno.on_ack(window, &ack(0, 1, Some(rtt_ms), Growth::Due));
    }

    fn after_loss(rtt_ms: i64, verdict: Verdict) -> f64 {
        let mut window = Window { cwnd: 10.0, ssthresh: 2.0, max_pkts: 100 };
        let mut veno = Veno::new(&Config::rfc());
        acked(&mut veno, &mut window, 70);
        acked(&mut veno, &mut window, rtt_ms);
        window.cwnd = 10.0;
        veno.on_loss(
            &mut window,
            &LossEvent { at: Time::ZERO, flight_pkts: 10, verdict, sending: None },
        );
        assert_eq!(veno.backlog.base_rtt().is_none(), verdict != Verdict::Wireless);
        window.cwnd
    }

    #[test]
    fn a_loss_with_fewer_than_beta_packets_in_queues_costs_a_fifth() {
        // N = 10 (RTT - 70)/RTT: 2.99 at 99.86 ms, 3 at 100 ms.
        assert_eq!(after_loss(99, Verdict::Congestion), 8.0);
        assert_eq!(after_loss(100, Verdict::Congestion), 5.0);
        assert_eq!(after_loss(100, Verdict::Undecided), 5.0);
        assert_eq!(after_loss(100, Verdict::Wireless), 10.0);
    }

    #[test]
    fn from_beta_on_every_other_ack_opens_the_window() {
        let mut window = Window { cwnd: 10.0, ssthresh: 2.0, max_pkts: 100 };
        let mut veno = Veno::new(&Config::rfc());
        acked(&mut veno, &mut window, 70);
        assert_eq!(window.cwnd, 10.1, "N is 0");
        let series = [200, 200, 200, 200].map(|rtt| {
            let before = window.cwnd;
            acked(&mut veno, &mut window, rtt);
            window.cwnd > before
        });
        assert_eq!(series, [false, true, false, true]);
    }
}
