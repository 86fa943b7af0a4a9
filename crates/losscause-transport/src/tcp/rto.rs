//! The retransmission timeout (RFC 6298), in ticks of a clock that may be coarse.
//!
//! ```text
//! first R:  SRTT = R,  RTTVAR = R/2                                  (2.2)
//! next R':  RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|                    (2.3)
//!           SRTT   = 7/8 SRTT + 1/8 R'
//! RTO = max(min_rto, SRTT + max(G, 4 RTTVAR)) * back-off, at most max_rto
//! ```
//!
//! The estimates are integers scaled by 8 and 4, as in Jacobson and Karels (1988, appendix A) and
//! in ns-2. With a tick of 1 ns this is RFC 6298; with ns-2's `tcpTick_` it is ns-2, including its
//! rounding. RTTVAR's smallest value, a quarter of a tick, ensures 4 RTTVAR >= G.
//!
//! Deviations: none. The estimates are cleared after the fourth doubling, which RFC 6298, section 5
//! permits and ns-2 does.

use losscause::{Span, Time};

use super::config::Config;
use super::quirks::MinRtoOf;

#[derive(Clone, Debug)]
pub(super) struct Rto {
    tick: Span,
    tick_offset: Span,
    min: Span,
    min_of: MinRtoOf,
    max: Span,
    /// SRTT in eighths of a tick; zero before the first measurement.
    srtt_8: i64,
    /// RTTVAR in quarters of a tick.
    rttvar_4: i64,
    /// SRTT + 4 RTTVAR, without limits and back-off.
    base: Span,
    /// 1, 2, 4, …
    backoff: i64,
    /// The timeout before the first measurement.
    initial: Span,
}

/// The longest round-trip time that is measured: a sum of several stays in range whatever clock or
/// echo is wrong.
const MOST_TICKS: i64 = i64::MAX >> 8;

/// The timeout for data after a lost SYN.
const AFTER_LATE_SYN: Span = Span::from_secs(3);

impl Rto {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            tick: config.quirks.tick,
            tick_offset: config.quirks.tick_offset,
            min: config.min_rto,
            min_of: config.quirks.min_rto_of,
            max: config.max_rto,
            srtt_8: 0,
            rttvar_4: 0,
            base: config.initial_rto,
            backoff: 1,
            initial: config.initial_rto,
        }
    }

    /// A segment that was sent once, at `sent`, was acknowledged.
    #[inline]
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
        if self.backoff < 64 || self.min_of == MinRtoOf::Estimate && self.current() < self.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.srtt_8 = 0;
        }
    }

    /// The SYN was acknowledged after its timer had expired: data starts with a timeout of at least
    /// 3 s (RFC 6298, 5.7). ns-2's initial timeout of 3 s stays backed off.
    pub(super) fn on_late_syn(&mut self) {
        if self.initial < AFTER_LATE_SYN {
            (self.base, self.backoff, self.srtt_8) = (AFTER_LATE_SYN, 1, 0);
        }
    }

    /// The smoothed round-trip time; `None` before the first measurement, and from the fourth
    /// doubling until the next one.
    pub(super) fn srtt(&self) -> Option<Span> {
        (self.srtt_8 > 0).then(|| Span::from_nanos(self.tick.as_nanos() * self.srtt_8 / 8))
    }

    pub(super) fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    pub(super) fn clear_backoff(&mut self) {
        self.backoff = 1;
    }

    /// The timeout to arm the timer with.
    #[inline]
    pub(super) fn current(&self) -> Span {
        let backed_off = match self.min_of {
            MinRtoOf::Estimate => self.base.max(self.min) * self.backoff,
            MinRtoOf::Timer => (self.base * self.backoff).max(self.min),
        };
        backed_off.min(self.max).max(self.tick * 2)
    }

    /// Clock ticks between two instants, at least 1. The ticks lie at fixed instants.
    fn ticks(&self, sent: Time, now: Time) -> i64 {
        let tick = self.tick.as_nanos();
        let into_tick = (sent + self.tick_offset).as_nanos().rem_euclid(tick);
        ((now - sent).as_nanos().saturating_add(into_tick) / tick).clamp(1, MOST_TICKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Quirks;

    fn ms(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn ticking(tick_ms: i64, base: Config) -> Config {
        Config { quirks: Quirks { tick: Span::from_millis(tick_ms), ..base.quirks }, ..base }
    }

    fn rto(config: Config) -> Rto {
        Rto::new(&Config { min_rto: Span::ZERO, ..config })
    }

    #[test]
    fn the_first_two_measurements_follow_rfc_6298() {
        let mut rto = rto(Config::rfc());
        rto.on_sample(ms(0), ms(200));
        // SRTT 200, RTTVAR 100.
        assert_eq!(rto.current(), Span::from_millis(600));
        rto.on_sample(ms(200), ms(300));
        // RTTVAR 0.75 * 100 + 0.25 * 100 = 100, SRTT 0.875 * 200 + 0.125 * 100 = 187.5.
        assert_eq!(rto.current(), Span::from_micros(587_500));
    }

    #[test]
    fn a_steady_round_trip_time_ends_at_srtt_and_three_ticks() {
        let mut rto = rto(Config::rfc());
        for i in 0..200 {
            rto.on_sample(ms(i * 100), ms(i * 100 + 50));
        }
        // A quarter of three quarters of a tick rounds down to 0, so RTTVAR stays there.
        assert_eq!(rto.current(), Span::from_millis(50) + Span::from_nanos(3));
    }

    #[test]
    fn a_coarse_clock_counts_the_ticks_between_two_instants() {
        let tick = ticking(100, Config::rfc());
        let ticks = |config: &Config, sent, now| Rto::new(config).ticks(ms(sent), ms(now));
        assert_eq!(ticks(&tick, 50, 250), 2);
        assert_eq!(ticks(&tick, 90, 110), 1, "20 ms across a tick");
        assert_eq!(ticks(&tick, 90, 310), 3, "220 ms across three ticks");
        assert_eq!(ticks(&tick, 10, 90), 1, "no tick counts as one");
        let quirks = Quirks { tick_offset: Span::from_millis(15), ..tick.quirks };
        let offset = Config { quirks, ..tick };
        assert_eq!(ticks(&offset, 80, 300), 3, "ticks at 85, 185 and 285 ms");
        assert_eq!(ticks(&offset, 90, 280), 1, "a tick at 185 ms");
    }

    #[test]
    fn a_tick_of_a_tenth_of_a_second_gives_ns2s_timeout() {
        let mut rto = rto(ticking(100, Config::ns2()));
        // Two ticks: srtt 16/8, rttvar 4/4, so 2 + 4.
        rto.on_sample(ms(50), ms(250));
        assert_eq!(rto.current(), Span::from_millis(600));
        // Three ticks: srtt (16 + 1)/8, rttvar (4 + 1 - 1)/4, so 2 + 4.
        rto.on_sample(ms(250), ms(500));
        assert_eq!(rto.current(), Span::from_millis(600));
        // One tick: error 1 - 2, srtt 16/8, rttvar (4 + 1 - 1)/4.
        rto.on_sample(ms(500), ms(550));
        assert_eq!(rto.current(), Span::from_millis(600));
        // Two ticks: no error, rttvar (4 - 1)/4, so 2 + 3.
        rto.on_sample(ms(600), ms(800));
        assert_eq!(rto.current(), Span::from_millis(500));
    }

    #[test]
    fn the_timeout_is_never_below_the_floor_or_two_ticks() {
        let mut floor = Rto::new(&Config::rfc());
        floor.on_sample(ms(0), ms(10));
        assert_eq!(floor.current(), Span::from_secs(1));
        let config = Config { initial_rto: Span::from_millis(10), ..ticking(500, Config::rfc()) };
        assert_eq!(rto(config).current(), Span::from_secs(1));
    }

    #[test]
    fn a_timer_minimum_costs_a_short_timeout_its_first_back_offs() {
        let tenths = |config: Config| {
            let mut rto = Rto::new(&config);
            // Two ticks of 0.1 s: 2 + 4.
            rto.on_sample(ms(50), ms(250));
            let mut series = vec![];
            for _ in 0..9 {
                series.push(rto.current().as_nanos() / 100_000_000);
                rto.back_off();
            }
            series
        };
        assert_eq!(tenths(Config::ns2_2001()), [10, 12, 24, 48, 96, 192, 384, 384, 384]);
        assert_eq!(tenths(Config::ns2_classic()), [10, 20, 40, 80, 160, 320, 600, 600, 600]);
    }

    #[test]
    fn the_timeout_doubles_up_to_its_limit() {
        let seconds = |config: &Config| {
            let mut rto = Rto::new(config);
            let mut series = vec![];
            for _ in 0..8 {
                series.push(rto.current().as_nanos() / 1_000_000_000);
                rto.back_off();
            }
            series
        };
        assert_eq!(seconds(&Config::rfc()), [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(seconds(&Config::ns2()), [3, 6, 12, 24, 48, 60, 60, 60]);
    }

    #[test]
    fn after_a_lost_syn_data_starts_with_three_seconds() {
        let after = |config: &Config| {
            let mut rto = Rto::new(config);
            rto.back_off();
            rto.on_late_syn();
            rto.current()
        };
        assert_eq!(after(&Config::rfc()), Span::from_secs(3));
        assert_eq!(
            after(&Config { initial_rto: Span::from_millis(2_500), ..Config::rfc() }),
            Span::from_secs(3)
        );
        assert_eq!(after(&Config::ns2()), Span::from_secs(6), "3 s, doubled once");
    }

    #[test]
    fn the_smoothed_round_trip_time_moves_by_an_eighth() {
        let mut rto = rto(Config::rfc());
        assert_eq!(rto.srtt(), None);
        rto.on_sample(ms(0), ms(200));
        rto.on_sample(ms(200), ms(300));
        assert_eq!(rto.srtt(), Some(Span::from_micros(187_500)));
    }

    #[test]
    fn the_floor_counts_before_the_back_off() {
        let mut rto = Rto::new(&Config::ns2());
        rto.on_sample(ms(0), ms(20));
        rto.back_off();
        assert_eq!(rto.current(), Span::from_millis(400));
    }

    #[test]
    fn a_measurement_ends_the_back_off() {
        let mut rto = rto(Config::rfc());
        rto.back_off();
        rto.on_sample(ms(0), ms(200));
        assert_eq!(rto.current(), Span::from_millis(600));
    }

    #[test]
    fn after_four_doublings_the_next_measurement_is_the_first() {
        let after = |doublings| {
            let mut rto = rto(Config::rfc());
            rto.on_sample(ms(0), ms(200));
            for _ in 0..doublings {
                rto.back_off();
            }
            rto.on_sample(ms(1000), ms(1100));
            rto.current()
        };
        assert_eq!(after(3), Span::from_micros(587_500));
        assert_eq!(after(4), Span::from_millis(300));
    }
}
