//! WestwoodVT: Westwood that asks, before it cuts, whether the queues are full (Koo, Mun and Choo, "TCP WestwoodVT: A Novel
//! Technique for Discriminating the Cause of Packet Loss in Wireless Networks", LNCS 4479, 2007, sections 3.2 and 3.3).
//!
//! ```text
//! Delta = (W/BaseRTT - W/RTT) BaseRTT                     packets in queues, equations 1 to 3
//! fast retransmit in congestion avoidance, figure 2:
//!   Delta > beta:    congestion;  ssthresh and cwnd as Westwood
//!   Delta < alpha:   wireless;    cwnd += 1
//!   else:            undecided;   cwnd as it is
//! ```
//!
//! alpha is 14 and beta 16 packets, either side of three quarters of the paper's queues of 20. W is cwnd, no more than the
//! receiver's window; RTT that of the newest ACK of new data, BaseRTT the smallest ever. Whatever the verdict, the recovery
//! sends the packet again; over NewReno, which the paper builds on, that is fast recovery without a cut. Growth is Reno's.
//!
//! What the paper leaves open:
//!
//! - *A postponed decision* (section 3.2: until the next three duplicate ACKs) is not made up for: every loss that duplicate ACKs
//!   reveal is judged by its own Delta.
//! - *In slow start* (cwnd below ssthresh) the rule does not apply ("in congestion avoidance", figure 2): Westwood's cut.
//! - *After a timeout*, as Westwood.
//! - *An LDA besides*: its verdict of wireless is this rule's; after any other one the rule decides itself.
//!
//! Deviations: none. Section 3.2 has W in bytes and section 4.1 only Delta = 15 undecided; Delta is a real number of packets here,
//! and the comparisons are those of figure 2.

use losscause::filter::Backlog;
use losscause::{AckSample, Span, Time, Verdict};

use super::westwood::Westwood;
use super::{Loss, Window};

/// Thresholds of WestwoodVT, packets in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WestwoodVtParameters {
    /// A loss with fewer is wireless.
    pub alpha_pkts: u32,
    /// A loss with more is congestion. At least [`WestwoodVtParameters::alpha_pkts`].
    pub beta_pkts: u32,
}

impl WestwoodVtParameters {
    /// The paper's, for queues of 20 packets.
    pub const PUBLISHED: Self = Self { alpha_pkts: 14, beta_pkts: 16 };
}

#[derive(Clone, Debug)]
pub(in super::super) struct WestwoodVt {
    parameters: WestwoodVtParameters,
    westwood: Westwood,
    backlog: Backlog,
}

impl WestwoodVt {
    pub(super) fn new(parameters: WestwoodVtParameters) -> Self {
        Self { parameters, westwood: Westwood::default(), backlog: Backlog::default() }
    }

    pub(super) fn on_ack(&mut self, window: &mut Window, sample: &AckSample, may_grow: bool) {
        if let Some(rtt) = sample.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.backlog.observe(rtt);
        }
        self.westwood.on_ack(window, sample, may_grow);
    }

    pub(super) fn on_dup_ack(&mut self, now: Time) {
        self.westwood.on_dup_ack(now);
    }

    pub(super) fn on_fast_retransmit(&mut self, window: &mut Window, loss: &Loss) -> bool {
        match self.verdict(window, loss) {
            Verdict::Congestion => self.westwood.on_fast_retransmit(window, loss),
            Verdict::Wireless => {
                window.cwnd += 1.0;
                false
            }
            Verdict::Undecided => false,
        }
    }

    pub(super) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.westwood.on_timeout(window, now);
    }

    fn verdict(&self, window: &Window, loss: &Loss) -> Verdict {
        if loss.verdict.is_wireless() {
            return Verdict::Wireless;
        }
        if window.cwnd < window.ssthresh {
            return Verdict::Congestion;
        }
        match self.backlog.pkts(window.usable()) {
            Some(delta) if delta > f64::from(self.parameters.beta_pkts) => Verdict::Congestion,
            Some(delta) if delta < f64::from(self.parameters.alpha_pkts) => Verdict::Wireless,
            _ => Verdict::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 100 packets/s and a path of 60 ms, six packets; the queue adds 30 ms.
    fn settled() -> WestwoodVt {
        let mut vt = WestwoodVt::new(WestwoodVtParameters::PUBLISHED);
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0, max_pkts: 100 };
        for i in 0..2_000 {
            let rtt = Some(Span::from_millis(if i == 0 { 60 } else { 90 }));
            let sample = AckSample { at: at(10 * i), rtt, newly_acked_pkts: 1, in_flight_pkts: 9, cwnd_pkts: 9.0 };
            vt.on_ack(&mut window, &sample, false);
        }
        vt
    }

    fn after(cwnd: f64, ssthresh: f64, verdict: Verdict) -> (f64, f64, bool) {
        let mut window = Window { cwnd, ssthresh, max_pkts: 100 };
        let loss = Loss { at: at(19_990), flight_pkts: cwnd as u64, verdict, sending: None };
        let cut = settled().on_fast_retransmit(&mut window, &loss);
        ((window.cwnd * 10.0).round() / 10.0, (window.ssthresh * 10.0).round() / 10.0, cut)
    }

    #[test]
    fn below_alpha_the_window_opens_by_one_between_it_stays_above_beta_it_falls_to_the_path() {
        // Delta is a third of the window.
        assert_eq!(after(40.0, 9.0, Verdict::Congestion), (41.0, 9.0, false), "Delta 13.3");
        assert_eq!(after(45.0, 9.0, Verdict::Congestion), (45.0, 9.0, false), "Delta 15");
        assert_eq!(after(60.0, 9.0, Verdict::Congestion), (6.0, 6.0, true), "Delta 20: 100 packets/s times 60 ms");
        // Strict at both ends.
        assert_eq!(after(42.0, 9.0, Verdict::Congestion), (42.0, 9.0, false), "Delta 14");
        assert_eq!(after(48.0, 9.0, Verdict::Congestion), (48.0, 9.0, false), "Delta 16");
        assert_eq!(after(300.0, 9.0, Verdict::Congestion), (6.0, 6.0, true), "Delta 33: the receiver's window of 100");
    }

    #[test]
    fn in_slow_start_every_loss_is_westwoods() {
        assert_eq!(after(40.0, 50.0, Verdict::Congestion), (6.0, 6.0, true));
    }

    #[test]
    fn an_lda_that_says_wireless_is_believed_and_any_other_verdict_leaves_it_to_the_rule() {
        assert_eq!(after(60.0, 9.0, Verdict::Wireless), (61.0, 9.0, false));
        assert_eq!(after(40.0, 50.0, Verdict::Wireless), (41.0, 50.0, false));
        assert_eq!(after(60.0, 9.0, Verdict::Undecided), (6.0, 6.0, true));
        assert_eq!(after(40.0, 9.0, Verdict::Undecided), (41.0, 9.0, false));
    }

    #[test]
    fn a_timeout_is_westwoods() {
        let mut window = Window { cwnd: 40.0, ssthresh: 9.0, max_pkts: 100 };
        settled().on_timeout(&mut window, at(19_990));
        assert_eq!((window.cwnd, (window.ssthresh * 10.0).round()), (1.0, 60.0));
    }

    #[test]
    fn before_any_round_trip_time_nothing_is_decided() {
        let mut vt = WestwoodVt::new(WestwoodVtParameters::PUBLISHED);
        let mut window = Window { cwnd: 9.0, ssthresh: 9.0, max_pkts: 100 };
        let loss = Loss { at: at(0), flight_pkts: 9, verdict: Verdict::Congestion, sending: None };
        assert!(!vt.on_fast_retransmit(&mut window, &loss));
        assert_eq!((window.cwnd, window.ssthresh), (9.0, 9.0));
    }
}
