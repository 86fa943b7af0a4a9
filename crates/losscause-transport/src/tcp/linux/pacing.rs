//! Pacing: packets leave at their earliest departure time (net/ipv4/tcp_output.c, `tcp_pacing_check`,
//! `tcp_update_skb_after_send`).
//!
//! ```text
//! rate       2.0 cwnd/SRTT while cwnd < ssthresh/2, else 1.2 cwnd/SRTT, of cwnd and what is outstanding the larger;
//!            a control that follows delivery rates sets its own
//! burst      consecutive packets leave together: as many as the rate sends in 1/1024 s, at least two, at most
//!            64 kB and half of cwnd; within 8 ms of round-trip time more
//! next       burst/rate after this one; if this one was late, earlier by as much, at most by half of that
//! ```
//!
//! The first ten packets leave at once. A retransmission after a timeout, and a probe that repeats a
//! packet, leave at once too, and delay the next packet. Timeouts and probes count from the next
//! departure.
//!
//! Source: `tcp_update_pacing_rate`, `tcp_tso_autosize`; the timer is that of the stack itself. The
//! queue discipline `fq` would get packets ahead of time and hold each until it is due; both give the
//! same departures.
//!
//! Deviations: bursts stand for segmentation offload, which is not modelled beyond them. The kernel
//! may wait for more of cwnd to fill a burst (`tcp_tso_should_defer`); here what fits leaves.

use losscause::{Span, Time};

use crate::tcp::control::Pacing;
use crate::tcp::window::Window;

/// When packets may leave.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    payload_bytes: u32,
    /// `None` until a rate is known: nothing is held back.
    pacing: Option<Pacing>,
    /// When the next burst may leave (the kernel's `tcp_wstamp_ns`).
    departs_at: Time,
    burst: Option<Burst>,
    /// Data packets sent.
    sent_pkts: u64,
    /// Whether a packet waits for its departure.
    waits: bool,
}

/// Packets that leave together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    began: Time,
    /// By how much it was late.
    late: Span,
    bytes: u64,
    next_seq: u64,
    left: u64,
}

/// What the sender would send now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) seq: u64,
    /// Packets that cwnd lets into the network.
    pub(super) room_pkts: u64,
    pub(super) cwnd_pkts: u32,
    pub(super) min_rtt: Option<Span>,
}

/// Packets at the start that are not paced.
const UNPACED_PKTS: u64 = 10;

/// What the rate sends in this time leaves together: 1/1024 s (`sk_pacing_shift` 10).
const BURST_SHIFT: u32 = 10;

/// Most bytes of a burst (`sk_gso_max_size`).
const MOST_BURST_BYTES: u64 = 65_535;

/// A burst has this many packets at least (`net.ipv4.tcp_min_tso_segs`).
const LEAST_BURST_PKTS: u32 = 2;

/// Percent of cwnd/SRTT in slow start and after (`net.ipv4.tcp_pacing_ss_ratio`,
/// `tcp_pacing_ca_ratio`).
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// The pacing of a control that has none of its own.
pub(super) fn by_window(
    window: &Window,
    outstanding: u64,
    payload_bytes: u32,
    srtt: Span,
) -> Pacing {
    let percent = if window.whole_pkts() < window.ssthresh as u32 / 2 {
        SLOW_START_PERCENT
    } else {
        AVOIDANCE_PERCENT
    };
    let pkts = u64::from(window.whole_pkts()).max(outstanding);
    let bytes = u128::from(pkts) * u128::from(payload_bytes) * u128::from(percent) * 10_000_000;
    let per_s = bytes / u128::from(srtt.as_nanos().max(1).unsigned_abs());
    Pacing {
        bytes_per_s: u64::try_from(per_s).unwrap_or(u64::MAX).max(1),
        least_burst_pkts: LEAST_BURST_PKTS,
    }
}

impl Pacing {
    /// Packets that leave together with this rate.
    pub(super) fn burst_pkts(&self, payload_bytes: u32, min_rtt: Option<Span>) -> u64 {
        let nearby = min_rtt.map_or(0, |min| match min.as_nanos() / 1_000 / 512 {
            shift @ 0..32 => MOST_BURST_BYTES >> shift,
            _ => 0,
        });
        let bytes = ((self.bytes_per_s >> BURST_SHIFT) + nearby).min(MOST_BURST_BYTES);
        (bytes / u64::from(payload_bytes)).max(self.least_burst_pkts.into())
    }
}

impl Pacer {
    pub(super) fn new(payload_bytes: u32, pacing: Option<Pacing>) -> Self {
        Self {
            payload_bytes,
            pacing,
            departs_at: Time::ZERO,
            burst: None,
            sent_pkts: 0,
            waits: false,
        }
    }

    pub(super) fn set(&mut self, pacing: Pacing) {
        self.pacing = Some(pacing);
    }

    /// Whether the packet may leave now; it does so at once. Otherwise the sender waits until
    /// [`Pacer::waits_until`].
    pub(super) fn admits(&mut self, now: Time, ready: &Ready) -> bool {
        let Some(pacing) = self.pacing else { return true };
        if self.burst.is_some_and(|burst| burst.left > 0 && burst.next_seq == ready.seq) {
            return true;
        }
        if now < self.departs_at {
            self.waits = true;
            return false;
        }
        let half = u64::from(ready.cwnd_pkts / 2).max(1);
        let pkts = pacing.burst_pkts(self.payload_bytes, ready.min_rtt);
        self.begin_burst(now, ready.seq, pkts.min(ready.room_pkts).min(half));
        true
    }

    fn begin_burst(&mut self, now: Time, seq: u64, pkts: u64) -> Burst {
        let began = self.departs_at.max(now);
        let late = began - self.departs_at;
        let burst = Burst { began, late, bytes: 0, next_seq: seq, left: pkts };
        self.burst = Some(burst);
        self.departs_at = began;
        burst
    }

    /// Packet `seq` leaves, with so much payload.
    pub(super) fn on_send(&mut self, now: Time, seq: u64, payload_bytes: u32) {
        self.sent_pkts += u64::from(payload_bytes > 0);
        let Some(pacing) = self.pacing else {
            self.departs_at = now;
            return;
        };
        let under_way = self.burst.filter(|burst| burst.left > 0 && burst.next_seq == seq);
        let mut burst = under_way.unwrap_or_else(|| self.begin_burst(now, seq, 1));
        burst.bytes += u64::from(payload_bytes);
        burst.next_seq += 1;
        burst.left -= 1;
        self.burst = Some(burst);
        if self.sent_pkts >= UNPACED_PKTS {
            let nanos = u128::from(burst.bytes) * 1_000_000_000 / u128::from(pacing.bytes_per_s);
            let lasts = Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX / 4));
            self.departs_at = burst.began + lasts - (lasts / 2).min(burst.late);
        }
    }

    /// Nothing more may leave now.
    pub(super) fn end_burst(&mut self) {
        self.burst = None;
    }

    /// When the packet that waits may leave.
    pub(super) fn waits_until(&self) -> Option<Time> {
        self.waits.then_some(self.departs_at)
    }

    /// Whether the wait of [`Pacer::waits_until`] is over; it is handled.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let due = self.waits && now >= self.departs_at;
        self.waits &= !due;
        due
    }

    /// When the next burst may leave; not before `now`.
    pub(super) fn departs_at(&self, now: Time) -> Time {
        self.departs_at.max(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: fn(i64) -> Span = Span::from_millis;

    fn at_us(us: i64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Ten packets were sent at time zero, at 1 MB/s and 1,000 bytes each: one per millisecond.
    fn pacer(least_burst_pkts: u32) -> Pacer {
        let pacing = Pacing { bytes_per_s: 1_000_000, least_burst_pkts };
        let mut pacer = Pacer::new(1_000, Some(pacing));
        for seq in 0..10 {
            assert!(pacer.admits(at_us(0), &ready(seq)), "the first ten are not paced");
            pacer.on_send(at_us(0), seq, 1_000);
        }
        pacer.end_burst();
        pacer
    }

    fn ready(seq: u64) -> Ready {
        Ready { seq, room_pkts: 100, cwnd_pkts: 100, min_rtt: Some(MS(40)) }
    }

    /// Sends from `seq` on at `us`. Returns how many packets leave.
    fn leave(pacer: &mut Pacer, us: i64, seq: u64) -> u64 {
        let mut pkts = 0;
        while pacer.admits(at_us(us), &ready(seq + pkts)) {
            pacer.on_send(at_us(us), seq + pkts, 1_000);
            pkts += 1;
        }
        pacer.end_burst();
        pkts
    }

    #[test]
    fn two_packets_leave_every_two_milliseconds() {
        let mut pacer = pacer(2);
        // The burst of packets 8 and 9 takes 2 ms.
        assert_eq!((pacer.departs_at(at_us(0)), pacer.waits_until()), (at_us(2_000), None));
        assert_eq!(leave(&mut pacer, 0, 10), 0);
        assert_eq!(pacer.waits_until(), Some(at_us(2_000)));
        assert!(!pacer.take_due(at_us(1_999)) && pacer.take_due(at_us(2_000)));
        assert_eq!(leave(&mut pacer, 2_000, 10), 2);
        assert_eq!(pacer.waits_until(), Some(at_us(4_000)));
    }

    #[test]
    fn a_late_burst_brings_the_next_one_forward_by_at_most_half() {
        let mut pacer = pacer(2);
        assert_eq!(leave(&mut pacer, 2_300, 10), 2, "0.3 ms late");
        assert_eq!(pacer.departs_at(at_us(0)), at_us(4_000));
        assert_eq!(leave(&mut pacer, 90_000, 12), 2, "86 ms late");
        assert_eq!(pacer.departs_at(at_us(0)), at_us(91_000), "half of 2 ms");
    }

    #[test]
    fn a_packet_out_of_sequence_ends_the_burst() {
        let mut pacer = pacer(2);
        assert!(pacer.admits(at_us(2_000), &ready(3)));
        pacer.on_send(at_us(2_000), 3, 1_000);
        assert!(!pacer.admits(at_us(2_000), &ready(7)), "a burst is of consecutive packets");
        assert_eq!(pacer.departs_at(at_us(0)), at_us(3_000), "1 ms for one packet");
    }

    #[test]
    fn a_packet_that_need_not_wait_delays_the_next() {
        let mut pacer = pacer(2);
        pacer.on_send(at_us(500), 0, 1_000);
        assert_eq!(pacer.departs_at(at_us(0)), at_us(3_000), "after the burst of 2 ms");
    }

    #[test]
    fn a_burst_is_what_the_rate_sends_in_a_millisecond() {
        let pkts = |bytes_per_s, rtt_ms| {
            Pacing { bytes_per_s, least_burst_pkts: 2 }.burst_pkts(1_448, Some(MS(rtt_ms)))
        };
        // 50 Mb/s: 6,250,000/1,024 = 6,103 bytes; 1 Gb/s: 122,070, more than 65,535.
        assert_eq!([1_250_000, 6_250_000, 125_000_000].map(|rate| pkts(rate, 40)), [2, 4, 45]);
        // 4 ms: 4,000/512 = 7, and 65,535/128 = 511 bytes more; 2 ms: 65,535/8 = 8,191 more.
        assert_eq!([pkts(6_250_000, 4), pkts(6_250_000, 2)], [4, 9]);
    }

    #[test]
    fn a_window_is_sent_in_half_a_round_trip_at_first_then_in_five_sixths() {
        let rate = |cwnd, ssthresh, outstanding| {
            let window = Window { cwnd, ssthresh, max_pkts: 1_000 };
            by_window(&window, outstanding, 1_000, MS(100)).bytes_per_s
        };
        assert_eq!(rate(10.0, 1e9, 10), 200_000);
        assert_eq!(rate(10.0, 20.0, 10), 120_000, "cwnd is half of ssthresh");
        assert_eq!(rate(10.0, 10.0, 15), 180_000, "15 packets are outstanding");
    }

    proptest! {
        #[test]
        fn no_10_ms_carry_more_than_the_rate_and_three_bursts(
            rate_kb in 100_u64..20_000,
            late_us in prop::collection::vec(0_i64..20_000, 1..300),
        ) {
            let pacing = Pacing { bytes_per_s: rate_kb * 1_000, least_burst_pkts: 2 };
            let burst = pacing.burst_pkts(1_000, None);
            let mut pacer = Pacer::new(1_000, Some(pacing));
            let mut now = Time::ZERO;
            let mut seq = 0;
            let mut sent = vec![];
            for late in late_us {
                let room = Ready { seq, min_rtt: None, ..ready(seq) };
                while pacer.admits(now, &Ready { seq, ..room }) && (seq < 10 || sent.len() < 5_000) {
                    pacer.on_send(now, seq, 1_000);
                    if seq >= 10 {
                        sent.push(now);
                    }
                    seq += 1;
                    if seq > 10 && pacer.departs_at(now) > now && pacer.burst.is_none_or(|burst| burst.left == 0) {
                        break;
                    }
                }
                pacer.end_burst();
                now = pacer.departs_at(now) + Span::from_micros(late);
            }
            let most = 10 * rate_kb + 3 * burst * 1_000;
            for (i, first) in sent.iter().enumerate() {
                let window = sent[i..].iter().take_while(|at| **at - *first < MS(10));
                prop_assert!(window.count() as u64 * 1_000 <= most);
            }
        }
    }
}
