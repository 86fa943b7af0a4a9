//! Round-trip times and the retransmission timeout (RFC 6298), with Linux's variation.
//!
//! ```text
//! first R:  SRTT = R,  MDEV = R/2,  RTTVAR = max(MDEV, min_rto/4)
//! next R':  error = R' - SRTT,  SRTT += error/8
//!           MDEV += (|error| - MDEV)/4;  a rise is divided by 8 once more if R' < SRTT
//!           RTTVAR = max(RTTVAR, largest MDEV of this round trip)
//! once per round trip:  RTTVAR falls by a quarter of its distance from the largest MDEV, which is then min_rto/4 again
//! RTO = SRTT + 4 RTTVAR, doubled by each timeout, at most max_rto
//! ```
//!
//! Linux (net/ipv4/tcp_input.c, `tcp_rtt_estimator`) differs from RFC 6298 in three points: RTTVAR
//! has the floor min_rto/4, so that min_rto (200 ms) is added to SRTT and is not a floor of the
//! sum; RTTVAR falls once per round trip only; a falling round-trip time hardly raises it.
//!
//! Deviations: the smallest round-trip time is that of the whole connection; Linux forgets it after
//! 300 s.

use losscause::Span;

#[derive(Clone, Debug, Default)]
pub(super) struct Rtt {
    min_rto_us: i64,
    max_rto: Span,
    /// SRTT in eighths of a microsecond; 0 before the first measurement.
    srtt_8: i64,
    /// MDEV, its maximum in this round trip, and RTTVAR, in quarters of a microsecond.
    mdev_4: i64,
    mdev_max_4: i64,
    rttvar_4: i64,
    /// The round trip ends when more than this is acknowledged.
    round_end: u64,
    rto: Span,
    min: Option<Span>,
}

/// The longest round-trip time that is measured: sums stay in range whatever echo is wrong.
const MOST_US: i64 = 1 << 40;

impl Rtt {
    pub(super) fn new(min_rto: Span, max_rto: Span, initial_rto: Span) -> Self {
        Self {
            min_rto_us: min_rto.as_nanos() / 1_000,
            max_rto,
            rto: initial_rto,
            ..Self::default()
        }
    }

    /// A round-trip time for the timeout, when everything below `una` is acknowledged and below
    /// `next` sent.
    pub(super) fn on_sample(&mut self, rtt: Span, una: u64, next: u64) {
        let rtt_us = (rtt.as_nanos() / 1_000).clamp(1, MOST_US);
        if self.srtt_8 == 0 {
            self.srtt_8 = rtt_us * 8;
            self.mdev_4 = rtt_us * 2;
            self.rttvar_4 = self.mdev_4.max(self.min_rto_us);
            self.mdev_max_4 = self.rttvar_4;
            self.round_end = next;
        } else {
            self.vary(rtt_us - self.srtt_8 / 8);
            if una > self.round_end {
                self.rttvar_4 -= (self.rttvar_4 - self.mdev_max_4).max(0) / 4;
                self.round_end = next;
                self.mdev_max_4 = self.min_rto_us;
            }
        }
        self.rto = Span::from_micros(self.srtt_8 / 8 + self.rttvar_4).min(self.max_rto);
    }

    fn vary(&mut self, error_us: i64) {
        self.srtt_8 = (self.srtt_8 + error_us).max(1);
        let rise = error_us.abs() - self.mdev_4 / 4;
        self.mdev_4 += if error_us < 0 && rise > 0 { rise / 8 } else { rise };
        self.mdev_max_4 = self.mdev_max_4.max(self.mdev_4);
        self.rttvar_4 = self.rttvar_4.max(self.mdev_max_4);
    }

    /// A round-trip time of the newest packet that an ACK reports: bounds the smallest.
    pub(super) fn on_newest(&mut self, rtt: Span) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// The timer expired.
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
    }

    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        (self.srtt_8 > 0).then(|| Span::from_nanos(self.srtt_8 * 125))
    }

    /// The smallest round-trip time.
    pub(super) fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt() -> Rtt {
        Rtt::new(Span::from_millis(200), Span::from_secs(120), Span::from_secs(1))
    }

    fn ms(ms: i64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn the_minimum_is_added_to_the_round_trip_time() {
        let mut rtt = rtt();
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.on_sample(ms(40), 1, 11);
        // 4 RTTVAR = 2 * 40 ms is below 200 ms.
        assert_eq!(rtt.rto(), ms(240));
        assert_eq!(rtt.srtt(), Some(ms(40)));
    }

    #[test]
    fn a_longer_round_trip_raises_the_variation_a_shorter_hardly() {
        let mut rtt = rtt();
        rtt.on_sample(ms(400), 1, 11);
        // SRTT 400, 4 MDEV = 800.
        assert_eq!(rtt.rto(), ms(1_200));
        rtt.on_sample(ms(800), 2, 11);
        // Error 400, SRTT 450; 4 MDEV = 800 + 400 - 200 = 1000.
        assert_eq!(rtt.rto(), ms(1_450));
        rtt.on_sample(ms(50), 3, 11);
        // Error -400, SRTT 400; 4 MDEV = 1000 + (400 - 250)/8 = 1018.75.
        assert_eq!(rtt.rto(), Span::from_micros(1_418_750));
    }

    #[test]
    fn the_variation_falls_by_a_quarter_once_per_round_trip() {
        let mut rtt = rtt();
        rtt.on_sample(ms(400), 1, 11);
        rtt.on_sample(ms(400), 5, 21);
        assert_eq!(rtt.rto(), ms(1_200), "within the first round trip");
        rtt.on_sample(ms(400), 12, 21);
        // The largest MDEV of the first round trip is its first, 800: no fall yet. Then 600, 450,
        // 337.5 come.
        assert_eq!(rtt.rto(), ms(1_200));
        rtt.on_sample(ms(400), 22, 31);
        // The largest since then is 800 * (3/4)^3 = 337.5: a quarter of 462.5 goes.
        assert_eq!(rtt.rto(), Span::from_micros(1_084_375));
    }

    #[test]
    fn timeouts_double_it_up_to_the_largest_until_a_measurement() {
        let mut rtt = rtt();
        rtt.on_sample(ms(40), 1, 11);
        let series: Vec<i64> = std::iter::repeat_with(|| {
            rtt.back_off();
            rtt.rto().as_nanos() / 1_000_000
        })
        .take(10)
        .collect();
        assert_eq!(series, [480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 120_000, 120_000]);
        rtt.on_sample(ms(40), 2, 11);
        assert_eq!(rtt.rto(), ms(240));
    }
}
