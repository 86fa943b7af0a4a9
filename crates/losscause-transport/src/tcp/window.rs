//! cwnd and ssthresh, which every control adjusts, and the growth that most share (RFC 5681,
//! section 3.1).

use super::config::Config;

/// What a congestion control sets: cwnd and ssthresh, packets. Temporary inflation by recovery is
/// not included.
///
/// Only whole packets leave: the fraction of cwnd is kept for growth. Linux's machine and its own
/// controls count in whole packets, which are exact here.
#[derive(Clone, Debug)]
pub struct Window {
    /// The congestion window. At least 1; ns-2's Vegas alone also has 0.
    pub cwnd: f64,
    /// The slow start threshold. Below it the window is in slow start.
    pub ssthresh: f64,
    /// The largest window that the receiver offers: [`Config::max_window_pkts`]. A control only
    /// reads it.
    pub max_pkts: u32,
}

impl Window {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            cwnd: f64::from(config.initial_window_pkts),
            ssthresh: f64::from(config.initial_ssthresh_pkts.unwrap_or(config.max_window_pkts)),
            max_pkts: config.max_window_pkts,
        }
    }

    /// Data starts to flow, or restarts, with a window of this size.
    pub fn restart(&mut self, cwnd_pkts: u32) {
        self.cwnd = f64::from(cwnd_pkts);
    }

    /// Whether the window is in slow start (RFC 5681, section 3.1).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whole packets of cwnd.
    #[inline]
    pub fn whole_pkts(&self) -> u32 {
        self.cwnd as u32
    }

    /// Whole packets that cwnd and the receiver's window allow, plus `extra` from recovery.
    #[inline]
    pub(super) fn pkts(&self, extra: u32) -> u32 {
        self.whole_pkts().saturating_add(extra).min(self.max_pkts)
    }

    /// cwnd, at most the receiver's window.
    pub fn usable(&self) -> f64 {
        self.cwnd.min(f64::from(self.max_pkts))
    }

    /// Of `flight_pkts` in flight, how many may still be in the network: at most the window. RFC
    /// 5681, equation 4, means data in the network. Packets sent beyond cwnd on duplicate ACKs
    /// replaced packets that had left it, although a stalled cumulative ACK does not show that.
    pub fn in_network(&self, flight_pkts: u64) -> u64 {
        flight_pkts.min(u64::from(self.pkts(0)))
    }

    /// Growth for one ACK of new data: slow start by one packet, congestion avoidance by 1/cwnd
    /// (RFC 5681, equations 2, 3).
    #[inline]
    pub fn grow(&mut self) {
        self.grow_by(1.0);
    }

    /// Like [`Window::grow`], with another increase per round trip in congestion avoidance.
    #[inline]
    pub fn grow_by(&mut self, increase_pkts: f64) {
        self.cwnd += if self.in_slow_start() { 1.0 } else { increase_pkts / self.cwnd };
    }

    /// Caps cwnd at `most_pkts`. Only whole packets count, as in ns-2's `opencwnd`.
    #[inline]
    pub(super) fn cap(&mut self, most_pkts: u32) {
        if self.whole_pkts() > most_pkts {
            self.cwnd = f64::from(most_pkts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_beyond_the_window_has_left_the_network() {
        let window = |cwnd| Window { cwnd, ssthresh: 50.0, max_pkts: 44 };
        assert_eq!(window(20.9).in_network(12), 12, "less than the window was in flight");
        assert_eq!(window(20.9).in_network(600), 20);
        assert_eq!(window(60.0).in_network(600), 44, "the receiver's window");
    }

    #[test]
    fn slow_start_adds_one_packet_per_ack_up_to_ssthresh() {
        let mut window = Window { cwnd: 2.0, ssthresh: 4.0, max_pkts: 4 };
        let series: Vec<f64> = std::iter::repeat_with(|| {
            window.grow();
            window.cwnd
        })
        .take(4)
        .collect();
        // ssthresh is 4: then the increase is 1/4, then 1/4.25.
        assert_eq!(series, [3.0, 4.0, 4.25, 4.25 + 1.0 / 4.25]);
    }

    #[test]
    fn congestion_avoidance_adds_about_one_packet_per_round_trip() {
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0, max_pkts: 10 };
        for _ in 0..10 {
            window.grow();
        }
        // 10 + 1/10 + 1/10.1 + … stays a little below 11.
        assert!((10.95..11.0).contains(&window.cwnd), "{}", window.cwnd);
    }
    #[test]
    fn a_capped_window_restarts_from_the_cap_once_above_it() {
        let mut window = Window { cwnd: 3.0, ssthresh: 4.0, max_pkts: 100 };
        let series: Vec<f64> = std::iter::repeat_with(|| {
            window.grow();
            window.cap(4);
            window.cwnd
        })
        .take(6)
        .collect();
        // 4.25, 4.4853, 4.7082, 4.9206; one more step would be 5.1238, which is 5 packets.
        let rounded: Vec<f64> = series.iter().map(|cwnd| (cwnd * 1e4).round() / 1e4).collect();
        assert_eq!(rounded, [4.0, 4.25, 4.4853, 4.7082, 4.9206, 4.0]);
        // Inflation by duplicate ACKs comes on top.
        assert_eq!(window.pkts(3), 7);
    }
}
