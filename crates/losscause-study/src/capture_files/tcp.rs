//! A TCP connection in a capture.
//!
//! The simulator numbers packets; a capture numbers bytes. Every data packet has as many bytes as
//! are left of its simulated size behind the headers of IPv4 (20 bytes) and TCP with timestamps
//! (32), at least one. Segments without data are as long as their headers.
//!
//! Each end echoes timestamps by RFC 7323, section 4.3: the one of the last segment that began
//! where the end's acknowledgements stood. With delayed acknowledgements that is the first of two
//! segments, and during a loss the last one in sequence. (The simulated sender measures round trips
//! by the segment that caused the acknowledgement.)
//!
//! A receiver's label "wireless" is in the first reserved bit of an acknowledgement.

use losscause::{Span, Time};
use losscause_capture::write::{self, Packet, TcpFlags, Transport};
use losscause_sim::rng::Stream;
use losscause_transport::tcp::{Ack, Config, Segment};

use super::addresses::Ends;
use super::drops::Direction;
use super::ip::{Identification, TIME_TO_LIVE, ecn_field};

/// One end's numbers.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Sequence number of its SYN.
    initial: u32,
    /// The time of the end's clock at time 0 of the run, in ticks.
    clock: u32,
    id: Identification,
    /// The other end's timestamp that it echoes (TS.Recent).
    recent: u32,
}

/// A connection as a capture shows it.
#[derive(Clone, Debug)]
pub(super) struct Tcp {
    ends: Ends,
    tick: Span,
    /// Bytes of a data segment's payload.
    segment_bytes: u32,
    /// Whether the simulated connection begins with a SYN, packet 0.
    opens: bool,
    offers_sack: bool,
    offers_ecn: bool,
    /// The receive window, bytes, and by how many bits it is shifted in headers.
    window_bytes: u32,
    window_scale: u8,
    sender: End,
    receiver: End,
    /// When the last simulated SYN was sent.
    syn_sent_at: Option<Time>,
    /// The highest acknowledgement that the receiver sent (Last.ACK.sent).
    last_ack_sent: u32,
}

/// Bytes of the headers of a data segment: IPv4, TCP, timestamps.
const HEADER_BYTES: u32 = 20 + 20 + 12;

/// RFC 863: the receiver discards what it receives.
const DISCARD_PORT: u16 = 9;

impl Tcp {
    /// Flow number `flow`; `stream` draws initial numbers and clocks.
    pub(super) fn new(flow: usize, config: &Config, tick: Span, stream: &mut Stream) -> Self {
        let segment_bytes = config.wire_bytes().saturating_sub(HEADER_BYTES).max(1);
        // RFC 7323, section 2.3: a shift of at most 14.
        let window_bytes = u64::from(config.max_window_pkts) * u64::from(segment_bytes);
        let window_bytes = window_bytes.min(65_535 << 14) as u32;
        let window_scale = (0..14).find(|scale| window_bytes >> scale <= 65_535).unwrap_or(14);
        let mut number = || stream.below(1 << 32) as u32;
        let [sender, receiver] = [(number(), number()), (number(), number())];
        let mut end =
            |(initial, clock)| End { initial, clock, id: Identification::new(stream), recent: 0 };
        let sender = end(sender);
        let receiver = end(receiver);
        Self {
            ends: Ends::of(flow, 40_000, DISCARD_PORT),
            tick,
            segment_bytes,
            opens: config.syn_bytes().is_some(),
            offers_sack: config.uses_sack(),
            offers_ecn: config.ecn,
            window_bytes,
            window_scale,
            last_ack_sent: sender.initial.wrapping_add(1),
            sender,
            receiver,
            syn_sent_at: None,
        }
    }

    /// A segment is sent.
    pub(super) fn segment(&mut self, at: Time, segment: &Segment) -> Packet {
        if self.opens && segment.seq == 0 {
            self.syn_sent_at = Some(at);
            return self.syn(at);
        }
        let flags = TcpFlags { ack: true, cwr: segment.cwr, ..TcpFlags::default() };
        let tcp = write::Tcp {
            sequence: self.sequence(segment.seq),
            acknowledgement: self.receiver.initial.wrapping_add(1),
            flags,
            window: self.window(self.window_bytes.into()),
            timestamps: Some((self.ticks(self.sender, at), self.sender.recent)),
            ..write::Tcp::default()
        };
        let payload_bytes = self.segment_bytes as u16;
        Packet {
            payload_bytes,
            ecn: ecn_field(segment.ecn),
            ..self.packet(Direction::Forward, tcp)
        }
    }

    /// An acknowledgement is sent.
    pub(super) fn acknowledge(&mut self, at: Time, ack: &Ack) -> Packet {
        // Data is sent only after the answer to a SYN has come.
        if self.opens && ack.next == 1 && self.syn_sent_at.is_some_and(|syn| ack.echo <= syn) {
            return self.syn_ack(at);
        }
        let acknowledgement = self.sequence(ack.next);
        let mut sack = [(0, 0); write::MAX_SACK_BLOCKS];
        let duplicate = ack.sack.duplicate(ack.next).map(|seq| (seq, seq + 1));
        for (place, (start, end)) in
            sack.iter_mut().zip(duplicate.into_iter().chain(ack.sack.ranges(ack.next)))
        {
            *place = (self.sequence(start), self.sequence(end));
        }
        self.last_ack_sent = acknowledgement;
        let tcp = write::Tcp {
            sequence: self.receiver.initial.wrapping_add(1),
            acknowledgement,
            flags: TcpFlags {
                ack: true,
                ece: ack.ece,
                reserved: ack.wireless,
                ..TcpFlags::default()
            },
            window: self.window(u64::from(ack.window_pkts) * u64::from(self.segment_bytes)),
            timestamps: Some((self.ticks(self.receiver, at), self.receiver.recent)),
            sack,
            ..write::Tcp::default()
        };
        self.packet(Direction::Back, tcp)
    }

    /// The sender's SYN.
    pub(super) fn syn(&mut self, at: Time) -> Packet {
        let flags = TcpFlags {
            syn: true,
            ece: self.offers_ecn,
            cwr: self.offers_ecn,
            ..TcpFlags::default()
        };
        let timestamps = Some((self.ticks(self.sender, at), 0));
        let tcp = write::Tcp { sequence: self.sender.initial, flags, timestamps, ..self.offer() };
        self.packet(Direction::Forward, tcp)
    }

    /// The receiver's answer to a SYN that it has received.
    pub(super) fn syn_ack(&mut self, at: Time) -> Packet {
        let tcp = write::Tcp {
            sequence: self.receiver.initial,
            acknowledgement: self.sender.initial.wrapping_add(1),
            flags: TcpFlags { syn: true, ack: true, ece: self.offers_ecn, ..TcpFlags::default() },
            timestamps: Some((self.ticks(self.receiver, at), self.receiver.recent)),
            ..self.offer()
        };
        self.packet(Direction::Back, tcp)
    }

    /// The other end received a packet: it keeps the timestamp if the packet is the next in
    /// sequence.
    pub(super) fn receive(&mut self, direction: Direction, packet: &Packet) {
        let Transport::Tcp(tcp) = packet.transport else { return };
        let Some((value, _)) = tcp.timestamps else { return };
        let (end, begins_in_sequence) = match direction {
            Direction::Forward => (&mut self.receiver, !is_after(tcp.sequence, self.last_ack_sent)),
            Direction::Back => (&mut self.sender, true),
        };
        // A SYN brings the first timestamp.
        if begins_in_sequence && (tcp.flags.syn || !is_after(end.recent, value)) {
            end.recent = value;
        }
    }

    /// The options of both SYNs.
    fn offer(&self) -> write::Tcp {
        write::Tcp {
            window: self.window_bytes.min(65_535) as u16,
            // RFC 6691: the options of a segment are not subtracted.
            max_segment_bytes: Some((self.segment_bytes + 12).min(65_535) as u16),
            sack_permitted: self.offers_sack,
            window_scale: Some(self.window_scale),
            ..write::Tcp::default()
        }
    }

    /// A packet without payload.
    fn packet(&mut self, direction: Direction, tcp: write::Tcp) -> Packet {
        let Ends { sender, receiver } = self.ends;
        let (source, destination, end) = match direction {
            Direction::Forward => (sender, receiver, &mut self.sender),
            Direction::Back => (receiver, sender, &mut self.receiver),
        };
        Packet {
            source,
            destination,
            id: end.id.next(),
            time_to_live: TIME_TO_LIVE,
            ecn: 0,
            transport: Transport::Tcp(tcp),
            payload_bytes: 0,
        }
    }

    /// Sequence number of the first byte of packet `number`.
    fn sequence(&self, number: u64) -> u32 {
        let data_before = number.saturating_sub(self.opens.into());
        let bytes = data_before.wrapping_mul(self.segment_bytes.into());
        self.sender.initial.wrapping_add(1).wrapping_add(bytes as u32)
    }

    /// A window as it is in a header.
    fn window(&self, bytes: u64) -> u16 {
        (bytes >> self.window_scale).min(65_535) as u16
    }

    /// An end's clock.
    fn ticks(&self, end: End, at: Time) -> u32 {
        end.clock.wrapping_add(at.as_nanos().div_euclid(self.tick.as_nanos()) as u32)
    }
}

/// Whether `a` comes after `b` among numbers that wrap around.
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[cfg(test)]
mod tests {
    use losscause_transport::Ecn;
    use losscause_transport::tcp::{RecoveryScheme, SackBlocks};

    use super::*;

    fn connection(config: &Config) -> Tcp {
        Tcp::new(0, config, Span::from_millis(10), &mut Stream::new(1, "test"))
    }

    fn segment(seq: u64) -> Segment {
        Segment { ecn: Ecn::Capable, ..Segment::new(seq, Time::ZERO, 1460) }
    }

    fn ack(next: u64, blocks: &[(u64, u64)]) -> Ack {
        Ack { sack: SackBlocks::of(next, blocks.iter().copied()), ..Ack::new(next, Time::ZERO) }
    }

    fn header(packet: &Packet) -> write::Tcp {
        let Transport::Tcp(tcp) = packet.transport else { panic!("not TCP: {packet:?}") };
        tcp
    }

    fn at_ms(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn packet_numbers_become_bytes_and_a_packet_keeps_its_size() {
        let mut tcp = connection(&Config { recovery: RecoveryScheme::Sack, ..Config::rfc() });
        let first = tcp.segment(Time::ZERO, &segment(0));
        let third = tcp.segment(Time::ZERO, &segment(2));
        assert_eq!((first.bytes(), first.payload_bytes, first.ecn), (1500, 1448, 2));
        assert_eq!(header(&third).sequence.wrapping_sub(header(&first).sequence), 2 * 1448);
        let answer = header(&tcp.acknowledge(Time::ZERO, &ack(1, &[(2, 3)])));
        assert_eq!(answer.acknowledgement.wrapping_sub(header(&first).sequence), 1448);
        assert_eq!(
            answer.sack[0],
            (header(&third).sequence, header(&third).sequence.wrapping_add(1448))
        );
        assert_eq!(answer.sack[1], (0, 0));
    }

    #[test]
    fn timestamps_count_ticks() {
        let mut tcp = connection(&Config::rfc());
        let mut value = |ms| header(&tcp.segment(at_ms(ms), &segment(0))).timestamps.unwrap().0;
        let start = value(0);
        assert_eq!([9, 10, 25].map(|ms| value(ms).wrapping_sub(start)), [0, 1, 2]);
    }

    #[test]
    fn a_receiver_echoes_the_first_of_two_or_the_last_in_sequence() {
        let mut tcp = connection(&Config::rfc());
        let mut deliver = |ms, seq| {
            let packet = tcp.segment(at_ms(ms), &segment(seq));
            tcp.receive(Direction::Forward, &packet);
            header(&packet).timestamps.unwrap().0
        };
        let first = deliver(0, 0);
        deliver(10, 1);
        let echo = |tcp: &mut Tcp, next| {
            header(&tcp.acknowledge(at_ms(15), &ack(next, &[]))).timestamps.unwrap().1
        };
        assert_eq!(echo(&mut tcp, 2), first);
        let mut deliver = |ms, seq| {
            let packet = tcp.segment(at_ms(ms), &segment(seq));
            tcp.receive(Direction::Forward, &packet);
            header(&packet).timestamps.unwrap().0
        };
        let second = deliver(20, 2);
        deliver(40, 4);
        assert_eq!(echo(&mut tcp, 3), second, "packet 3 is missing");
        let packet = tcp.segment(at_ms(60), &segment(3));
        tcp.receive(Direction::Forward, &packet);
        assert_eq!(
            echo(&mut tcp, 5),
            header(&packet).timestamps.unwrap().0,
            "the retransmission fills the gap"
        );
    }

    #[test]
    fn a_simulated_syn_takes_one_number_and_is_answered_by_one() {
        let mut tcp = connection(&Config::ns2());
        let syn =
            tcp.segment(Time::ZERO, &Segment { payload_bytes: 0, wire_bytes: 40, ..segment(0) });
        tcp.receive(Direction::Forward, &syn);
        let answer = tcp.acknowledge(at_ms(20), &ack(1, &[]));
        let data = tcp.segment(at_ms(40), &Segment { sent_at: at_ms(40), ..segment(1) });
        let [syn, answer, data] = [syn, answer, data].map(|packet| header(&packet));
        assert!(
            syn.flags.syn
                && !syn.flags.ack
                && answer.flags.syn
                && answer.flags.ack
                && !data.flags.syn
        );
        assert_eq!(syn.sequence.wrapping_add(1), data.sequence);
        assert_eq!(answer.acknowledgement, data.sequence);
        assert_eq!(answer.timestamps.unwrap().1, syn.timestamps.unwrap().0);
        // Packet 1 is lost and 2 arrives: the acknowledgement asks for 1, too, and is no SYN.
        let duplicate =
            header(&tcp.acknowledge(at_ms(60), &Ack { echo: at_ms(40), ..ack(1, &[(2, 3)]) }));
        assert!(!duplicate.flags.syn);
        assert_eq!(duplicate.acknowledgement, data.sequence);
    }

    #[test]
    fn the_window_is_the_receivers_scaled_as_little_as_possible() {
        for (pkts, scale) in [(20, 0), (46, 1), (1000, 5)] {
            let mut tcp = connection(&Config { max_window_pkts: pkts, ..Config::rfc() });
            let syn = header(&tcp.syn(Time::ZERO));
            assert_eq!(syn.window_scale, Some(scale));
            let window = u32::from(header(&tcp.segment(Time::ZERO, &segment(0))).window) << scale;
            assert!((0..1 << scale).contains(&(pkts * 1448 - window)), "{window}");
            // A receiver that offers less says so.
            let less = Ack { window_pkts: pkts / 2, ..ack(1, &[]) };
            let window = u32::from(header(&tcp.acknowledge(Time::ZERO, &less)).window) << scale;
            assert!((0..1 << scale).contains(&(pkts / 2 * 1448 - window)), "{window}");
        }
    }
}
