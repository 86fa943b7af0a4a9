//! Growth in whole packets, which Linux's controls share (RFC 5681, section 3.1;
//! net/ipv4/tcp_cong.c).
//!
//! ```text
//! slow start:            cwnd += packets delivered, up to ssthresh; the rest counts for congestion avoidance
//! congestion avoidance:  cwnd += 1 for every `per` packets delivered
//! ```
//!
//! Linux counts packets that an ACK delivers, reported ones included, where RFC 5681 counts ACKs
//! (RFC 3465 counts bytes).

use crate::tcp::control::AckEvent;
use crate::tcp::window::Window;

/// Packets delivered towards the next packet of cwnd (the kernel's `snd_cwnd_cnt`).
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    count: u32,
}

impl Steps {
    /// A loss or a timeout: the count starts again.
    pub(super) fn restart(&mut self) {
        self.count = 0;
    }

    /// Growth for an ACK, if it is due. `per` says how many packets are to be delivered for one
    /// packet more, with this cwnd and after so many.
    pub(super) fn grow(
        &mut self,
        window: &mut Window,
        acked: &AckEvent,
        per: impl FnOnce(u32, u32) -> u32,
    ) {
        if !acked.growth.is_due() {
            return;
        }
        let delivered = u32::try_from(acked.newly_acked_pkts).unwrap_or(u32::MAX);
        let left = if window.in_slow_start() { slow_start(window, delivered) } else { delivered };
        if left > 0 {
            let per = per(window.whole_pkts(), left);
            self.add(window, per, left);
        }
    }

    /// Congestion avoidance for `delivered` packets: one packet more for every `per`.
    fn add(&mut self, window: &mut Window, per: u32, delivered: u32) {
        let mut pkts = window.whole_pkts();
        if self.count >= per {
            self.count = 0;
            pkts = pkts.saturating_add(1);
        }
        self.count += delivered;
        if self.count >= per {
            pkts = pkts.saturating_add(self.count / per);
            self.count %= per;
        }
        window.cwnd = f64::from(pkts);
    }
}

/// Slow start for `delivered` packets. Returns those left for congestion avoidance.
fn slow_start(window: &mut Window, delivered: u32) -> u32 {
    let before = window.whole_pkts();
    let pkts = before.saturating_add(delivered).min(window.ssthresh as u32);
    window.cwnd = f64::from(pkts);
    delivered - (pkts - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_pkts: 1_000 }
    }

    #[test]
    fn slow_start_leaves_the_excess_to_congestion_avoidance() {
        let mut steps = Steps::default();
        let mut window = window(10.0, 12.0);
        assert_eq!(slow_start(&mut window, 5), 3);
        assert_eq!(window.cwnd, 12.0);
        steps.add(&mut window, 12, 3);
        steps.add(&mut window, 12, 8);
        assert_eq!((window.cwnd, steps.count), (12.0, 11));
        steps.add(&mut window, 12, 2);
        assert_eq!((window.cwnd, steps.count), (13.0, 1));
    }

    #[test]
    fn a_count_that_a_smaller_step_has_overtaken_gives_one_packet() {
        let mut steps = Steps { count: 30 };
        let mut window = window(50.0, 10.0);
        steps.add(&mut window, 20, 1);
        assert_eq!((window.cwnd, steps.count), (51.0, 1));
    }
}
