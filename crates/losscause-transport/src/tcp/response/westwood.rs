//! Westwood: after a loss the window is what the path was seen to carry (Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP
//! Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links", MobiCom 2001).
//!
//! Every ACK at t_k tells that d_k packets arrived since the one before, at t_(k-1) = t_k - D:
//!
//! ```text
//! b_k   = d_k / D
//! bwe_k = [(2 tau/D - 1) bwe_(k-1) + b_k + b_(k-1)] / (2 tau/D + 1)      low-pass filter, Tustin's approximation
//! fast retransmit:   ssthresh = bwe RTTmin, at least 2;  cwnd = ssthresh if it was more
//! timeout:           ssthresh = bwe RTTmin, at least 2;  cwnd = 1
//! ```
//!
//! After tau/m without an ACK the filter takes in b = 0, once for every tau/m. d is counted in `delivered.rs`. Growth is Reno's.
//! Over NewReno this is WestwoodNR. A loss judged wireless leaves the window as it is.
//!
//! Deviations: the paper names tau and m without fixing them for all paths; here tau is 500 ms and m is 2, the smallest that it
//! allows. ACKs of the same instant are one sample. Everything is counted in packets.

use losscause::{AckSample, Span, Time};

use super::delivered::Delivered;
use super::{Loss, Window};

#[derive(Clone, Debug, Default)]
pub(in super::super) struct Westwood {
    bandwidth: Bandwidth,
    rtt_min: Option<Span>,
    delivered: Delivered,
}

impl Westwood {
    #[inline]
    pub(super) fn on_ack(&mut self, window: &mut Window, sample: &AckSample, may_grow: bool) {
        if let Some(rtt) = sample.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        self.bandwidth.on_ack(sample.at, self.delivered.on_ack(sample.newly_acked_pkts));
        if may_grow {
            window.grow();
        }
    }

    pub(super) fn on_dup_ack(&mut self, now: Time) {
        self.bandwidth.on_ack(now, self.delivered.on_dup_ack());
    }

    pub(super) fn on_fast_retransmit(&mut self, window: &mut Window, loss: &Loss) -> bool {
        if loss.verdict.is_wireless() {
            return false;
        }
        window.ssthresh = self.pipe_pkts(loss.at);
        window.cwnd = window.cwnd.min(window.ssthresh);
        true
    }

    pub(super) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        window.ssthresh = self.pipe_pkts(now);
        window.cwnd = 1.0;
        self.delivered.on_timeout();
    }

    /// What fills the path and no queue.
    fn pipe_pkts(&mut self, now: Time) -> f64 {
        self.bandwidth.idle_until(now);
        let rtt_min = self.rtt_min.unwrap_or(Span::ZERO).as_secs_f64();
        (self.bandwidth.estimate * rtt_min).max(2.0)
    }
}

/// The bandwidth filter, packets per second.
#[derive(Clone, Debug, Default)]
struct Bandwidth {
    estimate: f64,
    last_sample: f64,
    last_at: Option<Time>,
    /// Packets of the newest instant, which are no sample yet.
    pending: u64,
}

const TAU: Span = Span::from_millis(500);
/// tau/m.
const LONGEST: Span = Span::from_millis(250);

impl Bandwidth {
    fn on_ack(&mut self, now: Time, pkts: u64) {
        let Some(last) = self.last_at else {
            self.last_at = Some(now);
            return;
        };
        if now <= last {
            self.pending += pkts;
            return;
        }
        self.idle_until(now);
        let since = now - self.last_at.unwrap_or(last);
        self.pending += pkts;
        if since > Span::ZERO {
            let sample = self.pending as f64 / since.as_secs_f64();
            self.pending = 0;
            self.filter(sample, since);
            self.last_at = Some(now);
        }
    }

    /// Takes in the silence before `now`, in pieces of tau/m; what is shorter stays for the next sample.
    fn idle_until(&mut self, now: Time) {
        let Some(last) = self.last_at else { return };
        let pieces = (now - last).as_nanos().max(1) - 1;
        let pieces = pieces / LONGEST.as_nanos();
        // After so many the estimate is nothing.
        for _ in 0..pieces.min(1000) {
            self.filter(0.0, LONGEST);
        }
        self.last_at = Some(last + LONGEST * pieces);
    }

    fn filter(&mut self, sample: f64, since: Span) {
        let ratio = 2.0 * TAU.as_secs_f64() / since.as_secs_f64();
        self.estimate = ((ratio - 1.0) * self.estimate + sample + self.last_sample) / (ratio + 1.0);
        self.last_sample = sample;
    }
}

#[cfg(test)]
mod tests {
    use losscause::Verdict;

    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_filter_follows_its_equation() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.on_ack(at(0), 1);
        bandwidth.on_ack(at(100), 1);
        // 10 packets/s; 2 tau/D = 10: (9 * 0 + 10 + 0)/11.
        assert!((bandwidth.estimate - 10.0 / 11.0).abs() < 1e-12);
        bandwidth.on_ack(at(300), 4);
        // 20 packets/s; 2 tau/D = 5: (4 * 10/11 + 20 + 10)/6.
        assert!((bandwidth.estimate - (40.0 / 11.0 + 30.0) / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_steady_stream_of_acks_is_estimated_right_however_it_is_spaced() {
        for (step_ms, pkts) in [(10, 1), (20, 2), (50, 5), (200, 20)] {
            let mut bandwidth = Bandwidth::default();
            for i in 0..2_000 {
                bandwidth.on_ack(at(i * step_ms), pkts);
            }
            assert!((bandwidth.estimate - 100.0).abs() < 0.5, "{} every {step_ms} ms", bandwidth.estimate);
        }
    }

    #[test]
    fn silence_lowers_the_estimate() {
        let mut bandwidth = Bandwidth { estimate: 90.0, last_sample: 0.0, last_at: Some(at(0)), pending: 0 };
        bandwidth.idle_until(at(600));
        // Twice 250 ms with 2 tau/D = 4: times 3/5 each.
        assert!((bandwidth.estimate - 32.4).abs() < 1e-9);
        assert_eq!(bandwidth.last_at, Some(at(500)));
    }

    #[test]
    fn a_loss_leaves_what_fills_the_path() {
        let after = |cwnd, verdict| {
            let bandwidth = Bandwidth { estimate: 80.0, last_sample: 80.0, last_at: Some(at(0)), pending: 0 };
            let mut westwood =
                Westwood { bandwidth, rtt_min: Some(Span::from_millis(100)), delivered: Delivered::default() };
            let mut window = Window { cwnd, ssthresh: 50.0, max_pkts: 100 };
            let loss = Loss { at: at(10), flight_pkts: 20, verdict, sending: None };
            westwood.on_fast_retransmit(&mut window, &loss);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(after(20.0, Verdict::Congestion), (8.0, 8.0));
        assert_eq!(after(6.0, Verdict::Congestion), (6.0, 8.0), "no more than it was");
        assert_eq!(after(20.0, Verdict::Wireless), (20.0, 50.0));
    }
}
