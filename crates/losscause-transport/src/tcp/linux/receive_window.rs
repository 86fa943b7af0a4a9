//! The autotuned receive window (dynamic right-sizing, Fisk and Feng 2001).
//!
//! ```text
//! offered   64 kB at first; 2 packets more for every packet that arrives, up to the limit
//! limit     once per round trip in which the application read more than ever before, `read` and not `most`:
//!           2 read + 4 read (read - most)/most, and what is held beyond a gap
//! ```
//!
//! The measurement is a round trip late, and slow start doubles: if read = 2 most, the limit is 6
//! read. Packets held beyond a gap take room from the limit; the right edge never moves back (RFC
//! 9293, section 3.8.6). A packet takes 2304 bytes of the receive buffer, so the limit starts at 56
//! packets and is never above 14,563 ([`Config::max_window_pkts`]): `net.ipv4.tcp_rmem` is 128 kB
//! and 32 MB.
//!
//! Linux: net/ipv4/tcp_input.c, `tcp_rcv_space_adjust` and `tcp_grow_window`. The round-trip time
//! is measured by timestamps (`tcp_rcv_rtt_measure_ts`): a shorter one counts at once, a longer one
//! moves it by an eighth.
//!
//! Deviations: counted in packets; the application reads at once.

use losscause::{Span, Time};

use crate::tcp::config::Config;

#[derive(Clone, Debug)]
pub(super) struct ReceiveWindow {
    most_pkts: u64,
    limit_pkts: u64,
    offered_pkts: u64,
    /// One above the last packet ever allowed.
    edge: u64,
    /// Most packets that the application read in a round trip.
    read_pkts: u64,
    /// When the round trip began, and the next packet expected then.
    round: (Time, u64),
    rtt: Option<Span>,
    /// The timestamp measured last.
    echoed_us: u32,
}

/// The first window, bytes (`tcp_select_initial_window`).
const INITIAL_BYTES: u32 = 65_535;

/// The first limit, packets.
const INITIAL_LIMIT_PKTS: u64 = 131_072 / 2_304;

/// What the application is taken to read in the first round trip, packets (`TCP_INIT_CWND`).
const INITIAL_READ_PKTS: u64 = 10;

/// The first receive window, packets.
pub(super) fn initial_pkts(config: &Config) -> u32 {
    (INITIAL_BYTES / config.payload_bytes).clamp(1, config.max_window_pkts)
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        let initial = u64::from(initial_pkts(config));
        Self {
            most_pkts: config.max_window_pkts.into(),
            limit_pkts: INITIAL_LIMIT_PKTS.clamp(initial, config.max_window_pkts.into()),
            offered_pkts: initial,
            edge: initial,
            read_pkts: INITIAL_READ_PKTS,
            round: (Time::ZERO, 0),
            rtt: None,
            echoed_us: 0,
        }
    }

    /// A packet arrived that echoes `echo_us`; everything below `next` has, and `held_end` is one
    /// above the highest. Returns whether the window grows.
    pub(super) fn on_packet(&mut self, now: Time, echo_us: u32, next: u64, held_end: u64) -> bool {
        if echo_us != 0 && echo_us != self.echoed_us {
            self.echoed_us = echo_us;
            let rtt = Span::from_micros(timestamp_us(now).wrapping_sub(echo_us).into());
            self.rtt =
                Some(self.rtt.map_or(rtt, |smoothed| rtt.min(smoothed + (rtt - smoothed) / 8)));
        }
        let grows = self.offered_pkts < self.limit_pkts;
        self.offered_pkts = (self.offered_pkts + 2).min(self.limit_pkts);
        let (began, from) = self.round;
        if self.rtt.is_some_and(|rtt| now - began >= rtt) {
            let read = next - from;
            if read > self.read_pkts {
                let most = std::mem::replace(&mut self.read_pkts, read);
                let limit =
                    2 * read + 4 * read * (read - most) / most + held_end.saturating_sub(next);
                self.limit_pkts = self.limit_pkts.max(limit).min(self.most_pkts);
            }
            self.round = (now, next);
        }
        grows
    }

    /// The window for an ACK of everything below `next`, packets, with `held_pkts` beyond a gap.
    pub(super) fn offer(&mut self, next: u64, held_pkts: u64) -> u32 {
        let window = self.offered_pkts.min(self.limit_pkts.saturating_sub(held_pkts));
        self.edge = self.edge.max(next + window);
        u32::try_from(self.edge - next).unwrap_or(u32::MAX)
    }

    /// The round-trip time, as the receiver measures it.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.rtt
    }
}

/// A timestamp (RFC 7323): microseconds modulo 2^32, never 0.
pub(super) fn timestamp_us(now: Time) -> u32 {
    ((now.as_nanos() / 1_000) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    fn window() -> ReceiveWindow {
        ReceiveWindow::new(&Config::linux())
    }

    #[test]
    fn the_first_window_is_64_kb() {
        assert_eq!(initial_pkts(&Config::linux()), 45, "65535 bytes in packets of 1448");
        assert_eq!(window().offer(1, 0), 45);
    }

    #[test]
    fn the_limit_runs_ahead_of_what_was_read_in_a_round_trip() {
        let mut window = window();
        let echo = timestamp_us(at(60));
        assert!(window.on_packet(at(100), echo, 1, 1), "47 packets");
        assert_eq!(window.rtt(), Some(Span::from_millis(40)));
        let grew = (2..=15).filter(|&seq| window.on_packet(at(120), echo, seq, seq)).count();
        assert_eq!(
            (grew, window.offered_pkts, window.limit_pkts),
            (5, 56, 56),
            "the round trip is not over"
        );
        window.on_packet(at(140), echo, 16, 24);
        // 15 packets were read since packet 1, and 8 are held: 2 * 15 + 4 * 15 * (15 - 10)/10 + 8.
        assert_eq!((window.limit_pkts, window.offer(16, 7)), (68, 56));
        window.on_packet(at(141), echo, 17, 24);
        assert_eq!(window.offer(17, 7), 58, "2 packets more");
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let mut window = window();
        assert_eq!(window.offer(10, 0), 45);
        assert_eq!(window.offer(12, 40), 43, "up to packet 54, although there is room for 16 only");
    }

    #[test]
    fn the_limit_ends_at_the_largest_window() {
        let mut window = ReceiveWindow::new(&Config { max_window_pkts: 100, ..Config::linux() });
        window.on_packet(at(100), timestamp_us(at(60)), 1, 1);
        window.on_packet(at(140), timestamp_us(at(60)), 81, 81);
        assert_eq!(window.limit_pkts, 100);
    }
}
