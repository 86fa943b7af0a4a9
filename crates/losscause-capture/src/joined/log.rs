//! Every data packet of a capture, flow by flow.
//!
//! Beside the views of [`crate::flow`], which forget what is settled, a log keeps all: 40 bytes per
//! data packet. A flow whose addresses and ports are used again by a later connection has a log for
//! each of them.

use std::collections::BTreeMap;

use losscause::{Span, Time};

use crate::flow::Unwrap;
use crate::packet::{Endpoint, Numbered, Packet, Protocol, Tcp, Transport, flag};

/// The logs of a capture.
#[derive(Debug, Default)]
pub(super) struct Logs {
    pub(super) flows: BTreeMap<Key, Vec<Log>>,
}

/// One direction of a connection, or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) src: Endpoint,
    pub(super) dst: Endpoint,
    pub(super) protocol: Protocol,
    /// Which stream of the sender, by its packets.
    pub(super) stream: Option<u32>,
}

/// A direction's data packets, in the capture's order.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The sequence number of the SYN, if it was seen.
    pub(super) syn: Option<u32>,
    /// The largest segment that the receiver of the data takes, if its SYN was seen.
    pub(super) mss: Option<u16>,
    pub(super) packets: Vec<Logged>,
    /// The receiver has everything below.
    pub(super) acked: u64,
    unwrap: Option<Unwrap>,
    /// Streams: the last packet and its number without wrap-around; packets that followed each
    /// other, most in a row.
    last: Option<(Numbered, u64)>,
    in_order: u32,
    most_in_order: u32,
}

/// A packet with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Logged {
    pub(super) time: Time,
    /// The first byte, unwrapped; of streams, the packet's number.
    pub(super) start: u64,
    /// Behind the last byte.
    pub(super) end: u64,
    /// The sender's timestamp: TSval, or that of RTP or SRT.
    pub(super) stamp: Option<u32>,
    /// The number of its frame; 0 is none.
    pub(super) frame: u32,
    /// SRT: whether it was sent before.
    pub(super) is_again: bool,
    /// IPv4's identification; 0 tells nothing.
    pub(super) ip_id: u16,
}

/// Farther from the newest is another connection (RFC 7323, section 2.3).
const MAX_JUMP: u64 = 1 << 30;
/// Copies of one packet in a capture lie closer together, in time and in packets.
pub(super) const SAME_PACKET: Span = Span::from_millis(10);
const LOOK_BACK: usize = 8;
/// So many packets in a row prove a stream, as in `flow::stream`.
const PROBATION_PKTS: u32 = 4;

impl Logs {
    /// Takes down a packet.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet<'_>) {
        let src = packet.src;
        let dst = packet.dst;
        match packet.transport {
            Transport::Tcp(ref tcp) => self.on_segment(now, packet, tcp),
            Transport::Udp { .. } | Transport::Esp { .. } => {
                if let Some(numbered) = Numbered::of(packet).filter(|_| !packet.is_dns()) {
                    let key = Key {
                        src,
                        dst,
                        protocol: numbered.protocol,
                        stream: Some(numbered.stream),
                    };
                    self.newest(key).on_numbered(now, numbered, packet);
                }
            }
        }
    }

    fn on_segment(&mut self, now: Time, packet: &Packet<'_>, tcp: &Tcp) {
        let src = packet.src;
        let dst = packet.dst;
        let protocol = Protocol::Tcp;
        let stream = None;
        let own = Key { src, dst, protocol, stream };
        let other = Key { src: dst, dst: src, protocol, stream };
        if tcp.has(flag::SYN) {
            let log = self.newest(own);
            let is_new =
                if log.syn.is_some() { log.syn != Some(tcp.seq) } else { !log.packets.is_empty() };
            if is_new {
                self.begin(own);
            }
            let log = self.newest(own);
            log.syn = Some(tcp.seq);
            log.unwrap.get_or_insert(Unwrap::begin(tcp.seq.wrapping_add(1)));
            let answers = tcp.has(flag::ACK);
            // The first SYN of a connection comes before the other direction's.
            if !answers && is_new {
                self.begin(other);
            }
            self.newest(other).mss = tcp.options.mss;
        }
        if tcp.payload_bytes > 0 {
            let seq = tcp.seq.wrapping_add(u32::from(tcp.has(flag::SYN)));
            let jumps = self
                .newest(own)
                .unwrap
                .is_some_and(|all| all.unwrap(seq).abs_diff(all.newest()) > MAX_JUMP);
            if jumps {
                self.begin(own);
            }
            self.newest(own).on_data(now, seq, tcp, packet);
        }
        if tcp.has(flag::ACK)
            && !tcp.has(flag::RST)
            && let Some(log) = self.flows.get_mut(&other).and_then(|logs| logs.last_mut())
            && let Some(all) = log.unwrap
        {
            let ack = all.unwrap(tcp.ack);
            if ack.abs_diff(all.newest()) <= MAX_JUMP {
                log.acked = log.acked.max(ack);
            }
        }
    }

    fn newest(&mut self, key: Key) -> &mut Log {
        let logs = self.flows.entry(key).or_default();
        if logs.is_empty() {
            logs.push(Log::default());
        }
        let last = logs.len() - 1;
        &mut logs[last]
    }

    fn begin(&mut self, key: Key) {
        self.flows.entry(key).or_default().push(Log::default());
    }
}

impl Log {
    /// A log of these packets.
    pub(super) fn of(packets: Vec<Logged>) -> Self {
        Self { packets, ..Self::default() }
    }

    fn on_data(&mut self, now: Time, seq: u32, tcp: &Tcp, packet: &Packet<'_>) {
        let all = self.unwrap.get_or_insert(Unwrap::begin(seq));
        let start = all.unwrap(seq);
        let end = start + u64::from(tcp.payload_bytes);
        // A keep-alive repeats the last byte (RFC 9293, section 3.8.4).
        if tcp.payload_bytes == 1 && end <= all.newest() {
            return;
        }
        all.advance(end);
        let stamp = tcp.options.timestamps.map(|(tsval, _)| tsval);
        let ip_id = packet.ip_id;
        let frame = frame(packet);
        self.push(Logged { time: now, start, end, stamp, ip_id, frame, is_again: false });
    }

    fn on_numbered(&mut self, now: Time, numbered: Numbered, packet: &Packet<'_>) {
        let Numbered { protocol, number, stamp, is_again, .. } = numbered;
        let follows = self.last.is_some_and(|(last, _)| numbered.follows(&last));
        self.in_order = if follows { self.in_order + 1 } else { 1 };
        self.most_in_order = self.most_in_order.max(self.in_order);
        // Older numbers have room below.
        let newest = self.last.map_or_else(
            || protocol.wrap().map_or(number, |_| (1 << 32) | number),
            |(_, newest)| newest,
        );
        let start = newest.saturating_add_signed(protocol.ahead(number, newest));
        self.last = Some((numbered, newest.max(start)));
        let ip_id = packet.ip_id;
        let frame = frame(packet);
        self.push(Logged { time: now, start, end: start + 1, stamp, ip_id, frame, is_again });
    }

    /// Adds a packet, unless it is the one that was captured before: on another interface, say.
    fn push(&mut self, new: Logged) {
        let same = |old: &Logged| {
            Logged { time: new.time, frame: new.frame, ..*old } == new
                && new.time - old.time < SAME_PACKET
        };
        if new.ip_id == 0 || !self.packets.iter().rev().take(LOOK_BACK).any(same) {
            self.packets.push(new);
        }
    }

    /// Whether it has data, and is not UDP that only looks like a stream.
    pub(super) fn is_flow(&self, key: &Key) -> bool {
        !self.packets.is_empty() && (key.stream.is_none() || self.most_in_order >= PROBATION_PKTS)
    }

    /// The largest packet's bytes.
    pub(super) fn largest(&self) -> u64 {
        self.packets.iter().map(|packet| packet.end - packet.start).max().unwrap_or(0)
    }
}

/// The number of a packet's frame; 0 if a log cannot keep it.
fn frame(packet: &Packet<'_>) -> u32 {
    packet.frame.try_into().unwrap_or(0)
}
