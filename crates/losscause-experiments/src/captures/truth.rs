//! What became of every packet of data, and which losses can show in a capture.
//!
//! At the sender a loss shows by its retransmission. At the receiver a first transmission shows as
//! lost if a packet that was sent later, with a higher number, arrives before the retransmission.

use std::collections::{BTreeMap, HashMap};

use losscause::{Span, Time};
use losscause_capture::frames::Frames;
use losscause_capture::packet::{Endpoint, Parsed, Rtp, Transport};
use losscause_capture::{CaptureError, Vantage};
use losscause_study::capture_files::{KnownCaptures, LostPacket, LostPackets};

/// The end of a run in which losses need not show yet: their retransmission may come after it.
pub(super) const TAIL: Span = Span::from_secs(2);

/// A packet of data that an end sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) at: Time,
    /// The number in its header.
    seq: u32,
    /// What it carries, counted from the flow's first: bytes of TCP, or packets.
    first: u64,
    end: u64,
    fate: Fate,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Underway,
    Arrived(Time),
    /// Which one of the flow's lost packets it is.
    Lost(usize),
}

/// The truth about a flow.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    /// What was lost.
    pub(super) lost: LostPackets,
    /// Of each lost packet whether it shows at the sender and at the receiver.
    shows: Vec<[bool; 2]>,
    /// Whether it is TCP. What other senders send does not tell them what is lost.
    pub(super) is_tcp: bool,
    /// Its packets in the order of sending.
    pub(super) sent: Vec<Sent>,
}

impl Truth {
    /// The truth about each flow that lost packets.
    ///
    /// # Errors
    /// One of the captures cannot be read.
    pub(super) fn all(captures: &KnownCaptures) -> Result<Vec<Self>, CaptureError> {
        let mut flows: BTreeMap<Endpoint, Numbers> = BTreeMap::new();
        let sent = data(&captures.sender, &mut flows)?;
        flows.values_mut().for_each(|numbers| numbers.newest = 0);
        let mut arrived = data(&captures.receiver, &mut flows)?;
        let begun = first_time(&captures.sender)?;
        let of_flow = |(source, sent): (Endpoint, Vec<Sent>)| {
            let name = source.to_string();
            let lost = captures.lost.iter().find(|lost| lost.source() == name)?.clone();
            let arrived = arrived.remove(&source).unwrap_or_default();
            let is_tcp = flows.get(&source).is_some_and(|numbers| numbers.is_tcp);
            let sent = with_fates(sent, &arrived, lost.packets(), begun);
            Some(Self::of(lost, sent, is_tcp, captures.ended - TAIL))
        };
        Ok(sent.into_iter().filter_map(of_flow).collect())
    }

    fn of(lost: LostPackets, sent: Vec<Sent>, is_tcp: bool, until: Time) -> Self {
        let mut shows = vec![[false; 2]; lost.packets().len()];
        for (place, packet) in sent.iter().enumerate() {
            if let Some(number) = packet.lost() {
                shows[number] = showing(&sent, place, is_tcp, until);
            }
        }
        Self { lost, shows, is_tcp, sent }
    }

    /// Whether a capture at this end shows a lost packet.
    pub(super) fn shows(&self, lost: usize, vantage: Vantage) -> bool {
        self.shows[lost][usize::from(vantage == Vantage::Receiver)]
    }
}

impl Sent {
    fn carries(&self, number: u64) -> bool {
        (self.first..self.end).contains(&number)
    }

    pub(super) fn arrived(&self) -> Option<Time> {
        match self.fate {
            Fate::Arrived(at) => Some(at),
            Fate::Underway | Fate::Lost(_) => None,
        }
    }

    /// Which one of the flow's lost packets it is.
    pub(super) fn lost(&self) -> Option<usize> {
        match self.fate {
            Fate::Lost(place) => Some(place),
            Fate::Underway | Fate::Arrived(_) => None,
        }
    }
}

/// Whether the lost packet in this place shows at the sender and at the receiver before `until`.
fn showing(sent: &[Sent], place: usize, is_tcp: bool, until: Time) -> [bool; 2] {
    let (before, own, later) = (&sent[..place], sent[place], &sent[place + 1..]);
    let again = later.iter().filter(|packet| packet.carries(own.first));
    let sent_again = again.clone().next().is_some_and(|packet| packet.at < until);
    let repaired = again.filter_map(Sent::arrived).min();
    let beyond = later.iter().filter(|packet| packet.first > own.first);
    let revealed = beyond.filter_map(Sent::arrived).min();
    let is_first = before.iter().all(|packet| packet.end <= own.first || own.end <= packet.first);
    // A SYN tells with which number TCP begins; a receiver of RTP knows of nothing before its first
    // packet.
    let is_known = is_tcp || before.iter().any(|packet| packet.arrived().is_some());
    let at_receiver = is_known
        && is_first
        && revealed.is_some_and(|at| at < until && repaired.is_none_or(|repaired| at < repaired));
    [sent_again, at_receiver]
}

/// How a flow numbers its packets.
#[derive(Clone, Copy)]
struct Numbers {
    is_tcp: bool,
    /// The first number on the wire.
    first: u32,
    /// The newest number, counted from the first.
    newest: u64,
}

impl Numbers {
    /// A number on the wire, counted from the flow's first. A flow of TCP is shorter than 4 GB;
    /// RTP's numbers come round.
    fn count(&mut self, seq: u32) -> u64 {
        let since = seq.wrapping_sub(self.first);
        if self.is_tcp {
            return since.into();
        }
        let step = (since as u16).wrapping_sub(self.newest as u16) as i16;
        self.newest = self.newest.saturating_add_signed(step.into());
        self.newest
    }
}

/// The packets of data in a capture, by their sender. `flows` gets the numbers of new flows.
fn data(
    capture: &[u8],
    flows: &mut BTreeMap<Endpoint, Numbers>,
) -> Result<BTreeMap<Endpoint, Vec<Sent>>, CaptureError> {
    let mut data: BTreeMap<Endpoint, Vec<Sent>> = BTreeMap::new();
    let mut frames = Frames::open(capture)?;
    while let Some(frame) = frames.next_frame() {
        let Parsed::Packet(packet) = Parsed::of(&frame) else { continue };
        let (is_tcp, seq, count) = match packet.transport {
            Transport::Tcp(tcp) if tcp.payload_bytes > 0 => (true, tcp.seq, tcp.payload_bytes),
            Transport::Udp { payload, .. } => match Rtp::parse(payload) {
                Some(rtp) => (false, rtp.seq.into(), 1),
                None => continue,
            },
            _ => continue,
        };
        let numbers = flows.entry(packet.src).or_insert(Numbers { is_tcp, first: seq, newest: 0 });
        let first = numbers.count(seq);
        let sent = Sent {
            at: frame.time,
            seq,
            first,
            end: first + u64::from(count),
            fate: Fate::Underway,
        };
        data.entry(packet.src).or_default().push(sent);
    }
    Ok(data)
}

/// The packets with what became of them. Of several with the same number the first arrives first.
fn with_fates(
    mut sent: Vec<Sent>,
    arrived: &[Sent],
    lost: &[LostPacket],
    begun: Time,
) -> Vec<Sent> {
    for (number, lost) in lost.iter().enumerate() {
        let at = begun + Span::from_secs_f64_rounded(lost.sent_s);
        let from = sent.partition_point(|packet| packet.at < at);
        let same = sent[from..].iter_mut().take_while(|packet| packet.at == at);
        for packet in same.filter(|packet| packet.seq == lost.seq) {
            packet.fate = Fate::Lost(number);
        }
    }
    let mut left: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, packet) in sent.iter().enumerate().rev() {
        if packet.fate == Fate::Underway {
            left.entry(packet.first).or_default().push(place);
        }
    }
    for packet in arrived {
        if let Some(place) = left.get_mut(&packet.first).and_then(Vec::pop) {
            sent[place].fate = Fate::Arrived(packet.at);
        }
    }
    sent
}

/// When a capture begins.
///
/// # Errors
/// It is no capture, or empty.
pub(super) fn first_time(capture: &[u8]) -> Result<Time, CaptureError> {
    let first = Frames::open(capture)?.next_frame().map(|frame| frame.time);
    Ok(first.unwrap_or(Time::ZERO))
}

#[cfg(test)]
mod tests {
    use losscause_sim::truth::Cause;

    use super::*;

    fn at_ms(ms: i64) -> Time {
        Time::from_nanos(1_700_000_000_000_000_000) + Span::from_millis(ms)
    }

    /// A packet of 100 bytes: when it was sent and when it arrived, milliseconds.
    fn sent(first: u64, ms: i64, arrived: Option<i64>) -> Sent {
        let fate = arrived.map_or(Fate::Lost(0), |ms| Fate::Arrived(at_ms(ms)));
        Sent { at: at_ms(ms), seq: first as u32, first, end: first + 100, fate }
    }

    fn show(sent: &[Sent], place: usize, until_ms: i64) -> [bool; 2] {
        showing(sent, place, true, at_ms(until_ms))
    }

    #[test]
    fn a_receiver_sees_a_loss_if_a_later_packet_precedes_the_resend() {
        // 1 is revealed by 2; its lost retransmission and 3 are revealed by nothing before their
        // repair, 3 not even by the retransmission of 1 that is sent later.
        let packets = [
            sent(100, 0, None),
            sent(200, 1, Some(11)),
            sent(100, 20, None),
            sent(300, 30, None),
            sent(100, 40, Some(50)),
            sent(300, 90, Some(100)),
        ];
        assert_eq!(show(&packets, 0, 1000), [true, true]);
        assert_eq!(show(&packets, 2, 1000), [true, false], "how often it was lost is not seen");
        assert_eq!(show(&packets, 3, 1000), [true, false]);
        assert_eq!(show(&packets, 3, 80), [false, false], "it is sent again after the end");
        assert!(!showing(&packets, 0, false, at_ms(1000))[1], "nothing of the stream came before");
    }

    #[test]
    fn a_loss_shows_by_what_came_after_it() {
        let packets = [
            sent(0, 0, Some(20)),
            sent(100, 1, None),
            sent(200, 2, Some(22)),
            sent(100, 45, None),
            sent(300, 46, None),
            sent(100, 90, Some(110)),
            sent(300, 300, Some(320)),
            sent(400, 9_000, Some(9_020)),
        ];
        // The retransmission of 100 is no first transmission. 300 comes again before anything
        // behind it.
        assert_eq!(show(&packets, 1, 7_000), [true, true]);
        assert_eq!(show(&packets, 3, 7_000), [true, false]);
        assert_eq!(show(&packets, 4, 7_000), [true, false]);
    }

    #[test]
    fn what_only_the_tail_repairs_need_not_show() {
        let packets = [
            sent(0, 0, Some(20)),
            sent(100, 1, None),
            sent(200, 500, Some(520)),
            sent(100, 2_400, Some(2_420)),
        ];
        assert_eq!(show(&packets, 1, 400), [false, false], "revealed at 520");
    }

    #[test]
    fn numbers_wrap_and_copies_arrive_in_their_order() {
        let mut tcp = Numbers { is_tcp: true, first: u32::MAX - 99, newest: 0 };
        assert_eq!([u32::MAX - 99, 0, 100].map(|seq| tcp.count(seq)), [0, 100, 200]);
        let mut rtp = Numbers { is_tcp: false, first: 65_534, newest: 0 };
        assert_eq!([65_534, 65_535, 0, 65_535, 2].map(|seq| rtp.count(seq)), [0, 1, 2, 1, 4]);
        let on_the_way = |first, ms| Sent { fate: Fate::Underway, ..sent(first, ms, None) };
        let packets =
            vec![on_the_way(0, 0), on_the_way(100, 1), on_the_way(0, 30), on_the_way(0, 60)];
        let arrived = [on_the_way(100, 21), on_the_way(0, 50), on_the_way(0, 80)];
        let lost = LostPacket { seq: 0, sent_s: 0.0, lost_s: 0.01, cause: Cause::Wireless };
        let fates = with_fates(packets, &arrived, &[lost], at_ms(0));
        let fates: Vec<Fate> = fates.iter().map(|packet| packet.fate).collect();
        let at = |ms| Fate::Arrived(at_ms(ms));
        assert_eq!(fates, [Fate::Lost(0), at(21), at(50), at(80)]);
    }
}
