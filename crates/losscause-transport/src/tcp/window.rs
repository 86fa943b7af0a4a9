//! The numbers that every response moves, and the growth that most of them share (RFC 5681, section 3.1).

use super::config::Config;

/// cwnd and ssthresh, in packets; what recovery adds to cwnd for a while is kept there.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    /// The receiver's window.
    pub(super) max_pkts: u32,
}

impl Window {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            cwnd: f64::from(config.initial_window_pkts),
            ssthresh: f64::from(config.initial_ssthresh_pkts.unwrap_or(config.max_window_pkts)),
            max_pkts: config.max_window_pkts,
        }
    }

    /// Data is about to flow (again).
    pub(super) fn restart(&mut self, cwnd_pkts: u32) {
        self.cwnd = f64::from(cwnd_pkts);
    }

    /// Whole packets that cwnd and the receiver's window allow, with `extra` more from recovery.
    #[inline]
    pub(super) fn pkts(&self, extra: u32) -> u32 {
        (self.cwnd as u32).saturating_add(extra).min(self.max_pkts)
    }

    /// cwnd, but no more than the receiver's window.
    pub(super) fn usable(&self) -> f64 {
        self.cwnd.min(f64::from(self.max_pkts))
    }

    /// What may still be in the network of so many packets in flight: no more than the window allows. RFC 5681, equation 4, means
    /// data in the network. What duplicate ACKs let out beyond cwnd replaced packets that have left it, though a stalled
    /// cumulative ACK does not say so.
    pub(super) fn in_network(&self, flight_pkts: u64) -> u64 {
        flight_pkts.min(u64::from(self.pkts(0)))
    }

    /// One ACK of new data: slow start by one packet, congestion avoidance by 1/cwnd (RFC 5681, equations 2, 3).
    #[inline]
    pub(super) fn grow(&mut self) {
        self.grow_by(1.0);
    }

    /// The same with another step per round trip in congestion avoidance.
    #[inline]
    pub(super) fn grow_by(&mut self, increase_pkts: f64) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { increase_pkts / self.cwnd };
    }

    /// Takes back what an ACK opened beyond `most_pkts`; only whole packets count, as in ns-2's `opencwnd`.
    #[inline]
    pub(in super::super) fn cap(&mut self, most_pkts: u32) {
        if self.cwnd as u32 > most_pkts {
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
        // 4 is ssthresh: from there on 1/4, then 1/4.25.
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
    fn a_capped_window_starts_again_from_the_cap_when_its_whole_part_exceeds_it() {
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
        // What duplicate ACKs let out comes on top.
        assert_eq!(window.pkts(3), 7);
    }
}
