//! The bytes of `bpf/record.h`, as the kernel hands them out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use losscause::{Safeguard, Span};
use serde::Serialize;

/// Sums since the connection opened or the program was loaded. Losses are packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Losses judged congestion.
    pub congestion: u64,
    /// Losses judged wireless, which were ignored.
    pub wireless: u64,
    /// Losses that the rule could not judge, or left undecided.
    pub undecided: u64,
    /// Reductions of the window.
    pub reductions: u64,
    /// Recoveries that ended without a reduction.
    pub avoided: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Reductions for a congestion mark (ECN).
    pub marks: u64,
    /// Losses wireless by rule that were congestion because of `max_run`.
    pub run_caps: u64,
    /// Losses wireless by rule that were congestion because of `max_share`.
    pub share_caps: u64,
    /// Losses wireless by rule that were congestion because of the guard.
    pub guarded: u64,
    /// Losses wireless by rule that were congestion because of the brake.
    pub braked: u64,
    /// Episodes that the kernel began without the program, which made up for it at the next ACK.
    pub skipped: u64,
}

/// What a program has counted since it was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Over all connections.
    #[serde(flatten)]
    pub sums: Sums,
    /// Connections that have used it.
    pub opened: u64,
    /// Those of them that are closed or use another one now.
    pub closed: u64,
}

/// Why a judgement came out as it did. The numbers are those of `bpf/verdict.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The algorithm's rule.
    Rule,
    /// The rule lacks a round-trip time, or an earlier ACK.
    NoSample,
    /// No SACK has shown the gap.
    NoGap,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoed a congestion mark.
    Mark,
    /// The kernel reduced without a lost packet.
    NoLoss,
    /// Wireless by rule, but `max_run` losses in a row were ignored.
    RunCap,
    /// Wireless by rule, but `max_share` of the recent packets were lost and ignored.
    ShareCap,
    /// Wireless by rule, but the paper applies the rule in congestion avoidance only.
    SlowStart,
    /// Wireless by rule, but the queue is so long that a reduction leaves the link full.
    Guard,
    /// Wireless by rule, but rounds lost more than independent losses explain.
    Brake,
}

/// The last judgement of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The verdict: `congestion`, `wireless` or `undecided`.
    pub verdict: &'static str,
    /// Why.
    pub why: Why,
    /// What the rule measured: nanoseconds, outliers, thousandths of a packet, or tenths of a
    /// decibel.
    pub measured: i64,
    /// What it was held against.
    pub limit: i64,
    /// The safeguard that overruled it, with its numbers.
    pub safeguard: Option<Safeguard>,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) netns: u32,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// A judgement, as `bpf/log.h` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Logged {
    /// By CLOCK_MONOTONIC, nanoseconds.
    pub(super) at: u64,
    pub(super) ends: Ends,
    pub(super) packets: u32,
    pub(super) seq: Option<u32>,
    pub(super) judged: Judged,
}

/// A connection, as `bpf/status.bpf.c` writes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The kernel's cookie of the socket.
    pub(super) socket: u64,
    pub(super) sums: Sums,
    pub(super) rtt: Span,
    pub(super) rtt_min: Span,
    pub(super) rtt_max: Span,
    pub(super) judged: Option<Judged>,
    /// By CLOCK_MONOTONIC.
    pub(super) began: Span,
    pub(super) delivered: u64,
    pub(super) mss: u32,
    pub(super) brake_rounds: u32,
    pub(super) ends: Ends,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) srtt: Span,
}

/// Size of `struct lc_row`.
pub(super) const ROW_BYTES: usize = 280;
/// Size of `struct lc_logged`.
pub(super) const LOGGED_BYTES: usize = 136;
/// Size of `struct lc_totals`.
const TOTALS_BYTES: usize = 112;

/// Reads fields of a C struct in their order.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Of a struct that is at least as long as what is read.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("the caller has checked the length");
        self.0 = rest;
        *field
    }
    fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.take())
    }
    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.take())
    }
    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.take())
    }
    fn i64(&mut self) -> i64 {
        i64::from_ne_bytes(self.take())
    }
    fn span(&mut self) -> Span {
        Span::from_nanos(self.i64())
    }

    fn sums(&mut self) -> Sums {
        Sums {
            congestion: self.u64(),
            wireless: self.u64(),
            undecided: self.u64(),
            reductions: self.u64(),
            avoided: self.u64(),
            timeouts: self.u64(),
            marks: self.u64(),
            run_caps: self.u64(),
            share_caps: self.u64(),
            guarded: self.u64(),
            braked: self.u64(),
            skipped: self.u64(),
        }
    }

    /// None before the first loss.
    fn judged(&mut self) -> Option<Judged> {
        let verdict = self.u32();
        let why = self.u32();
        let measured = self.i64();
        let limit = self.i64();
        let [guard, brake] = self.said();
        let verdict = match verdict {
            1 => "congestion",
            2 => "wireless",
            _ => "undecided",
        };
        let why = match why {
            1 => Why::Rule,
            2 => Why::NoSample,
            3 => Why::NoGap,
            4 => Why::Timeout,
            5 => Why::Mark,
            6 => Why::NoLoss,
            7 => Why::RunCap,
            8 => Why::ShareCap,
            9 => Why::SlowStart,
            11 => Why::Guard,
            12 => Why::Brake,
            _ => return None,
        };
        let safeguard = match why {
            Why::Guard => Some(guard),
            Why::Brake => Some(brake),
            _ => None,
        };
        Some(Judged { verdict, why, measured, limit, safeguard })
    }

    /// A `struct lc_said`, read as the guard's and as the brake's.
    fn said(&mut self) -> [Safeguard; 2] {
        let queue = self.span();
        let base = self.span();
        let lost_pkts = self.u64();
        let expected_1024 = self.i64();
        let kept_1024 = self.u32();
        let flight_pkts = self.u32().into();
        let reports = self.u32();
        let rounds_ago = u8::try_from(self.u32()).unwrap_or(u8::MAX);
        [
            Safeguard::Guard { queue, base, kept_1024 },
            Safeguard::Brake { lost_pkts, reports, flight_pkts, expected_1024, rounds_ago },
        ]
    }

    pub(crate) fn ends(&mut self) -> Ends {
        let family = self.u32();
        let netns = self.u32();
        let local = self.address(family);
        let remote = self.address(family);
        let local_port = self.u16();
        let remote_port = self.u16();
        Ends {
            netns,
            local: SocketAddr::new(local, local_port),
            remote: SocketAddr::new(remote, remote_port),
        }
    }

    fn address(&mut self, family: u32) -> IpAddr {
        let bytes: [u8; 16] = self.take();
        match family {
            AF_INET6 => Ipv6Addr::from(bytes).to_canonical(),
            _ => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into(),
        }
    }
}

const AF_INET6: u32 = 10;

impl Row {
    /// Reads a `struct lc_row`.
    pub(super) fn read(bytes: &[u8; ROW_BYTES]) -> Self {
        let mut fields = Fields(bytes);
        let socket = fields.u64();
        let sums = fields.sums();
        let rtt = fields.span();
        let rtt_min = fields.span();
        let rtt_max = fields.span();
        Self {
            socket,
            sums,
            rtt,
            rtt_min,
            rtt_max,
            judged: fields.judged(),
            began: fields.span(),
            delivered: fields.u64(),
            mss: fields.u32(),
            brake_rounds: fields.u32(),
            ends: fields.ends(),
            cwnd: fields.u32(),
            ssthresh: fields.u32(),
            srtt: Span::from_micros(fields.u32().into()),
        }
    }
}

impl Logged {
    /// Reads a `struct lc_logged`; none if the size or the reason is another one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LOGGED_BYTES] = bytes.try_into().ok()?;
        let mut fields = Fields(bytes);
        let at = fields.u64();
        let ends = fields.ends();
        let packets = fields.u32();
        let seq = fields.u32();
        let located = fields.u32();
        Some(Self {
            at,
            ends,
            packets,
            seq: (located != 0).then_some(seq),
            judged: fields.judged()?,
        })
    }
}

impl Totals {
    /// Reads a `struct lc_totals`; none if the size is another one.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; TOTALS_BYTES] = bytes.try_into().ok()?;
        let mut fields = Fields(bytes);
        Some(Self { sums: fields.sums(), opened: fields.u64(), closed: fields.u64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a `struct lc_judgement` with this reason, and of its `struct lc_said`.
    fn judged(reason: u32) -> Option<Judged> {
        let ms = |ms: u64| (1_000_000 * ms).to_ne_bytes();
        let mut bytes = [1_u32, reason].map(u32::to_ne_bytes).concat();
        bytes.extend(
            [ms(3), ms(5), ms(62), ms(40), 9_u64.to_ne_bytes(), 1_229_u64.to_ne_bytes()].concat(),
        );
        bytes.extend([717_u32, 30, 4, 2].map(u32::to_ne_bytes).concat());
        let mut fields = Fields(&bytes);
        let judged = fields.judged();
        assert!(fields.0.is_empty() || judged.is_none());
        judged
    }

    #[test]
    fn what_a_safeguard_said_is_read() {
        let safeguard = |reason| judged(reason)?.safeguard;
        assert_eq!(safeguard(1), None, "the rule");
        let guard =
            "guard: a queue of 62.0 ms stood, 0.43 of the base of 40.0 ms (17.1 ms) suffice";
        assert_eq!(safeguard(11).unwrap().to_string(), guard);
        let brake = "brake: 9 of a flight of 30 lost in 4 reports, where 1.2 were expected, 2 rounds of losses ago";
        assert_eq!(safeguard(12).unwrap().to_string(), brake);
    }
}
