//! The retransmission timeout (RFC 6298), in ticks of a clock that may be coarse.
//!
//! ```text
//! first R:  SRTT = R,  RTTVAR = R/2                                  (2.2)
//! next R':  RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|                    (2.3)
//!           SRTT   = 7/8 SRTT + 1/8 R'
//! RTO = max(min_rto, SRTT + max(G, 4 RTTVAR)) * back-off, at most max_rto
//! ```
//!
//! The estimates are integers scaled by 8 and 4, as Jacobson and Karels (1988, appendix A) keep them and ns-2 does.
//! With a tick of 1 ns this is RFC 6298; with ns-2's `tcpTick_` it is ns-2, roundings included. RTTVAR's smallest
//! value, a quarter of a tick, makes 4 RTTVAR >= G.
//!
//! Deviations: none. The estimates are forgotten after the fourth doubling, which RFC 6298, section 5 permits and
//! ns-2 does.

use losscause::{Span, Time};

use super::config::Config;

#[derive(Clone, Debug)]
pub(super) struct Rto {
    tick: Span,
    tick_offset: Span,
    min: Span,
    max: Span,
    /// SRTT in eighths of a tick; zero before the first measurement.
    srtt_8: i64,
    /// RTTVAR in quarters of a tick.
    rttvar_4: i64,
    /// SRTT + 4 RTTVAR, without limits and back-off.
    base: Span,
    /// 1, 2, 4, …
    backoff: i64,
}

impl Rto {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            tick: config.tick,
            tick_offset: config.tick_offset,
            min: config.min_rto,
            max: config.max_rto,
            srtt_8: 0,
            rttvar_4: 0,
            base: config.initial_rto,
            backoff: 1,
        }
    }

    /// The acknowledgement of a segment that was sent once, at `sent`, arrived.
    pub(super) fn on_sample(&mut self, sent: Time, now: Time) {
        let rtt = self.ticks(sent, now);
        if self.srtt_8 == 0 {
            self.srtt_8 = rtt * 8;
            self.rttvar_4 = rtt * 2;
        } else {
            let error = rtt - self.srtt_8 / 8;
            self.srtt_8 = (self.srtt_8 + error).max(1);
            self.rttvar_4 = (self.rttvar_4 + error.abs() - self.rttvar_4 / 4).max(1);
        }
        self.base = self.tick * (self.srtt_8 / 8 + self.rttvar_4);
        self.clear_backoff();
    }

    /// The timer expired (RFC 6298, 5.5).
    pub(super) fn back_off(&mut self) {
        if self.backoff < 64 || self.current() < self.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.srtt_8 = 0;
        }
    }

    pub(super) fn clear_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The timeout to arm the timer with.
    pub(super) fn current(&self) -> Span {
        (self.base.max(self.min) * self.backoff).min(self.max).max(self.tick * 2)
    }

    /// Whole ticks between two instants, as a clock counts that ticks at fixed instants; at least 1.
    fn ticks(&self, sent: Time, now: Time) -> i64 {
        let tick = self.tick.as_nanos();
        let into_tick = (sent + self.tick_offset).as_nanos().rem_euclid(tick);
        (((now - sent).as_nanos() + into_tick) / tick).max(1)
    }
}
