//! WestwoodVT: Westwood that checks whether the queues are full before it cuts (Koo, Mun and Choo,
//! "TCP WestwoodVT: A Novel Technique for Discriminating the Cause of Packet Loss in Wireless
//! Networks", LNCS 4479, 2007, sections 3.2 and 3.3).
//!
//! ```text
//! Delta = (W/BaseRTT - W/RTT) BaseRTT                     packets in queues, equations 1 to 3
//! fast retransmit in congestion avoidance, figure 2:
//!   Delta > beta:    congestion;  ssthresh and cwnd as Westwood
//!   Delta < alpha:   wireless;    cwnd += 1
//!   else:            undecided;   cwnd unchanged
//! ```
//!
//! alpha is 14 and beta 16 packets, either side of three quarters of the paper's queue of 20. W is
//! min(cwnd, receiver's window), RTT that of the newest ACK of new data, BaseRTT the smallest ever.
//! Recovery retransmits the packet whatever the verdict; over NewReno, on which the paper builds,
//! that is fast recovery without a cut. Growth is Reno's.
//!
//! What the paper leaves open:
//!
//! - *A postponed decision* (section 3.2: until the next three duplicate ACKs) is dropped: each
//!   loss that duplicate ACKs reveal is judged by its own Delta.
//! - *In slow start* (cwnd below ssthresh) the rule does not apply ("in congestion avoidance",
//!   figure 2); Westwood's cut applies.
//! - *After a timeout* the response is Westwood's.
//! - *With an LDA*: a verdict of wireless is handled as this rule's wireless; after any other
//!   verdict the rule decides.
//! - *Which Delta?* That of the newest ACK of new data (section 3.2: estimated with every ACK).
//!
//! The rule is the LDA [`VegasBuffer`] with these thresholds. Section 3.2 states W in bytes, and
//! section 4.1 treats only Delta = 15 as undecided; here Delta is a real number of packets, as
//! figure 2 needs it.
//!
//! Deviations: Delta equal to alpha is wireless and Delta equal to beta is congestion, where figure
//! 2's comparisons are strict.

use losscause::lda::vegas_buffer::{Between, VegasBuffer, VegasBufferConfig, WindowOf};
use losscause::{Span, Time, Verdict};

use super::westwood::Westwood;
use super::{AckEvent, CongestionControl, TimeoutEvent};
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, LossEvent};
use crate::tcp::window::Window;

/// Thresholds of WestwoodVT, packets in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WestwoodVtParameters {
    /// A loss with a smaller Delta is wireless.
    pub alpha_pkts: u32,
    /// A loss with a larger Delta is congestion. At least [`WestwoodVtParameters::alpha_pkts`].
    pub beta_pkts: u32,
}

impl WestwoodVtParameters {
    /// The paper's thresholds, for queues of 20 packets.
    pub const PUBLISHED: Self = {
        let VegasBufferConfig { alpha, beta, .. } = VegasBufferConfig::westwood_vt();
        Self { alpha_pkts: alpha as u32, beta_pkts: beta as u32 }
    };
}

#[derive(Clone, Debug)]
pub(super) struct WestwoodVt {
    westwood: Westwood,
    rule: VegasBuffer,
}

impl WestwoodVt {
    pub(super) fn new(config: &Config, parameters: WestwoodVtParameters) -> Self {
        let thresholds = VegasBufferConfig {
            alpha: f64::from(parameters.alpha_pkts),
            beta: f64::from(parameters.beta_pkts),
            between: Between::Undecided,
            window_of: WindowOf::Cwnd,
        };
        let rule =
            VegasBuffer::new(&thresholds).expect("Config::validate has ordered the thresholds");
        Self { westwood: Westwood::new(config), rule }
    }

    fn verdict(&self, window: &Window, loss: &LossEvent) -> Verdict {
        if loss.verdict.is_wireless() {
            return Verdict::Wireless;
        }
        if window.in_slow_start() {
            return Verdict::Congestion;
        }
        self.rule.verdict().verdict
    }
}

impl CongestionControl for WestwoodVt {
    fn name(&self) -> &'static str {
        "WestwoodVT"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if let Some(rtt) = acked.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.rule.on_rtt(rtt, Some(window.usable()), acked.flight_pkts());
        }
        self.westwood.on_ack(window, acked);
    }

    fn on_dup_ack(&mut self, now: Time) {
        self.westwood.on_dup_ack(now);
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        match self.verdict(window, loss) {
            Verdict::Congestion => self.westwood.on_loss(window, loss),
            Verdict::Wireless => {
                window.cwnd += 1.0;
                Answer::Kept
            }
            Verdict::Undecided => Answer::Kept,
        }
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        self.westwood.on_timeout(window, timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tcp::control::Growth;
    use crate::tcp::control::tests::{ack as ack_event, timeout};

    fn ack(vt: &mut WestwoodVt, window: &mut Window, ms: i64, rtt_ms: i64) {
        vt.on_ack(window, &ack_event(ms, 1, Some(rtt_ms), Growth::Repairing));
    }

    /// 100 packets/s over a path of 60 ms: a pipe of six packets. The queue adds 30 ms to the last
    /// ACK, so Delta is `cwnd`/3.
    fn settled(cwnd: f64) -> WestwoodVt {
        let mut vt = WestwoodVt::new(&Config::rfc(), WestwoodVtParameters::PUBLISHED);
        let mut window = Window { cwnd, ssthresh: 2.0, max_pkts: 100 };
        for i in 0..2_000 {
            ack(&mut vt, &mut window, 10 * i, if i < 1_999 { 60 } else { 90 });
        }
        vt
    }

    fn after(cwnd: f64, ssthresh: f64, verdict: Verdict) -> (f64, f64, bool) {
        let mut window = Window { cwnd, ssthresh, max_pkts: 100 };
        let loss = LossEvent { at: at(19_990), flight_pkts: cwnd as u64, verdict, sending: None };
        let cut = settled(cwnd).on_loss(&mut window, &loss);
        (
            (window.cwnd * 10.0).round() / 10.0,
            (window.ssthresh * 10.0).round() / 10.0,
            cut == Answer::Cut,
        )
    }

    #[test]
    fn the_window_opens_below_alpha_and_falls_to_path_above_beta() {
        assert_eq!(after(40.0, 9.0, Verdict::Congestion), (41.0, 9.0, false), "Delta 13.3");
        assert_eq!(after(45.0, 9.0, Verdict::Congestion), (45.0, 9.0, false), "Delta 15");
        assert_eq!(
            after(60.0, 9.0, Verdict::Congestion),
            (6.0, 6.0, true),
            "Delta 20: 100 packets/s times 60 ms"
        );
        assert_eq!(
            after(300.0, 9.0, Verdict::Congestion),
            (6.0, 6.0, true),
            "Delta 33: the receiver's window of 100"
        );
    }

    #[test]
    fn an_undecided_loss_leaves_nothing_behind_for_the_next() {
        let mut vt = settled(45.0);
        let mut window = Window { cwnd: 45.0, ssthresh: 9.0, max_pkts: 100 };
        let loss = LossEvent {
            at: at(19_990),
            flight_pkts: 45,
            verdict: Verdict::Congestion,
            sending: None,
        };
        assert_eq!(vt.on_loss(&mut window, &loss), Answer::Kept);
        // 45 (1 - 60/80) = 11.3, then 45 (1 - 60/120) = 22.5.
        ack(&mut vt, &mut window, 20_000, 80);
        assert_eq!(vt.on_loss(&mut window, &loss), Answer::Kept);
        assert_eq!(window.cwnd, 46.0);
        ack(&mut vt, &mut window, 20_010, 120);
        assert_eq!(vt.on_loss(&mut window, &loss), Answer::Cut);
    }

    #[test]
    fn in_slow_start_every_loss_is_westwoods() {
        assert_eq!(after(40.0, 50.0, Verdict::Congestion), (6.0, 6.0, true));
    }

    #[test]
    fn an_lda_that_says_wireless_is_believed_else_the_rule_decides() {
        assert_eq!(after(60.0, 9.0, Verdict::Wireless), (61.0, 9.0, false));
        assert_eq!(after(40.0, 50.0, Verdict::Wireless), (41.0, 50.0, false));
        assert_eq!(after(60.0, 9.0, Verdict::Undecided), (6.0, 6.0, true));
        assert_eq!(after(40.0, 9.0, Verdict::Undecided), (41.0, 9.0, false));
    }

    #[test]
    fn a_timeout_is_westwoods() {
        let mut window = Window { cwnd: 40.0, ssthresh: 9.0, max_pkts: 100 };
        settled(40.0).on_timeout(&mut window, &timeout(19_990, 40, false));
        assert_eq!(
            (window.cwnd, (window.ssthresh * 10.0).round()),
            (1.0, 60.0),
            "6 packets fill the path"
        );
    }

    #[test]
    fn before_any_round_trip_time_nothing_is_decided() {
        let mut vt = WestwoodVt::new(&Config::rfc(), WestwoodVtParameters::PUBLISHED);
        let mut window = Window { cwnd: 9.0, ssthresh: 9.0, max_pkts: 100 };
        let loss =
            LossEvent { at: at(0), flight_pkts: 9, verdict: Verdict::Congestion, sending: None };
        assert_eq!(vt.on_loss(&mut window, &loss), Answer::Kept);
        assert_eq!((window.cwnd, window.ssthresh), (9.0, 9.0));
    }
}
