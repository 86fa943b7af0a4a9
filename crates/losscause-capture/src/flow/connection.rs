//! A TCP connection: two directions, each with data and with acknowledgements of the other's.

use losscause::{Span, Time};

use super::copies::{Copies, MERGED, Mark};
use super::ends::{Acked, Closing, SYN_AGAIN, Syn};
use super::loss::{Losses, Repeat, RepeatKind, State};
use super::path::{Course, Path};
use super::receiver::ReceiverView;
use super::sender::SenderView;
use super::shown::{Ack, Data, OUT_OF_ORDER};
use super::unwrap::Unwrap;
use super::vantage::{Delays, Passed, Vantage};
use super::{Carried, FlowCounts, FlowResult, Protocol, Rules, Tries};
use crate::frames::Direction;
use crate::judge::{AtReceiver, AtSender, SenderClock};
use crate::over_time::Transfer;
use crate::packet::{Endpoint, Packet, Tcp, flag};

/// Both directions of a connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Index 0 is the data of the lower endpoint.
    halves: [Half; 2],
    handshake: Handshake,
    /// Ends of directions that were seen.
    ended: [bool; 2],
    /// Packets of each end that the capturing host sent, and that it received, by its own word.
    passed: [Passed; 2],
    last: Time,
}

/// One direction's data.
#[derive(Debug, Default)]
struct Half {
    is_observed: bool,
    path: Path,
    course: Course,
    /// The flow's number, from its first data on.
    number: u64,
    unwrap: Option<Unwrap>,
    /// The first data, until more follow: most connections of a capture have a direction with one
    /// segment only.
    first: Option<(Time, Data)>,
    /// Time, number and window of the last acknowledgement until then.
    last_ack: Option<(Time, u64, u16)>,
    views: Option<Box<Views>>,
    copies: Copies,
    /// Whether the capturing host sent its first packet or received it, by its own word if it says.
    direction: Option<Option<Direction>>,
    delays: Delays,
    /// From the SYN of the data's receiver.
    mss: Option<u16>,
    /// The scale of their receiver's windows, from the handshake (RFC 7323, section 2).
    scale: Option<u8>,
    has_timestamps: bool,
    syn: Option<Syn>,
    /// SYNs and FINs that passed again.
    tries: Vec<Repeat>,
    /// The first byte behind the SYN, unwrapped.
    begin: Option<u64>,
    closing: Option<Closing>,
    largest: u64,
    merged: bool,
    /// How often its numbers began anew without a word.
    restarts: u64,
    packets: u64,
    /// As many packets are they on the wire, without copies.
    wire_packets: u64,
    /// When its last data passed.
    last_data: Time,
    bytes: u64,
    /// What was acknowledged before any data were captured.
    acked_uncaptured: Acked,
    marked: u64,
    over_time: Option<Box<Transfer>>,
}

#[derive(Debug)]
struct Views {
    sender: SenderView,
    receiver: ReceiverView,
}

impl Views {
    /// Whether most losses happened before: what fills a hole was sent again farther ahead.
    fn are_behind_losses(&self) -> bool {
        let filled = self.receiver.losses.count(|state| state == State::Repaired);
        filled > self.sender.losses.count(State::is_loss)
    }
}

/// The times of the handshake, each at its first sight.
#[derive(Clone, Copy, Debug, Default)]
enum Handshake {
    #[default]
    None,
    /// A SYN of this direction.
    Syn(usize, Time),
    /// The SYN+ACK of this direction.
    SynAck(usize, Time),
    Done,
}

/// Segments above this are merged ones, whatever the maximum segment size: no Ethernet carries
/// them.
const LARGEST_PACKET: u64 = 8_960;
/// The size of packets whose maximum was not seen and whose segments are merged.
const USUAL_PACKET: u64 = 1_448;
/// A smaller maximum segment size is an attack, not a path's.
const SMALLEST_MSS: u16 = 88;
/// Packets of several interfaces and queues are in less disorder: time that goes back farther is
/// another capture's.
const BACK: Span = Span::from_secs(10);
/// No host tries more often to open a connection (Linux, MAX_TCP_SYNCNT).
const MAX_TRIES: usize = 127;
/// Sequence numbers farther from the newest belong to no window: the largest has 2^30 bytes (RFC
/// 7323, section 2.3).
pub(super) const MAX_JUMP: u64 = 1 << 30;

impl Connection {
    /// `is_observed` says whether its observations are handed on; the paths are those of both
    /// directions.
    pub(super) fn new(is_observed: bool, paths: [Path; 2]) -> Self {
        let halves = paths.map(|path| Half::new(is_observed, path));
        Self { halves, ..Self::default() }
    }

    /// Whether both directions have ended.
    pub(super) fn is_over(&self) -> bool {
        self.ended == [true; 2]
    }

    /// What the connection keeps beside its fixed size, in entries.
    pub(super) fn size(&self) -> usize {
        let of_views = |views: &Views| views.sender.size() + views.receiver.size();
        let size = |half: &Half| half.copies.size() + half.views.as_deref().map_or(0, of_views);
        self.halves.iter().map(size).sum()
    }

    /// A segment of the direction `from` passed.
    pub(super) fn on_segment(
        &mut self,
        now: Time,
        from: usize,
        tcp: &Tcp,
        packet: &Packet<'_>,
        rules: &Rules,
    ) {
        let to = 1 - from;
        self.last = now;
        self.passed[from].count(packet.direction);
        if packet.direction != *self.halves[from].direction.get_or_insert(packet.direction) {
            self.halves[from].on_forwarded(tcp, packet.frame);
            return;
        }
        if tcp.has(flag::SYN) {
            self.on_syn(now, from, tcp, packet.frame);
        } else {
            self.finish_handshake(now, from);
        }
        if tcp.flags & (flag::FIN | flag::RST) != 0 {
            self.ended[from] = true;
            self.ended[to] |= tcp.has(flag::RST);
        }
        if tcp.payload_bytes > 0 {
            let half = &mut self.halves[from];
            half.marked += u64::from(packet.congestion_experienced);
            half.on_data(now, tcp, packet, rules);
        }
        if tcp.has(flag::FIN) {
            self.halves[from].on_fin(now, tcp, packet);
        }
        if tcp.payload_bytes == 0 && tcp.flags & (flag::SYN | flag::FIN | flag::RST) == 0 {
            self.halves[from].on_bare(now, tcp);
        }
        match tcp.has(flag::RST) {
            true => {
                self.halves[to].closing.iter_mut().for_each(|closing| closing.is_answered = true);
            }
            false if tcp.has(flag::ACK) => self.halves[to].on_ack(now, tcp),
            false => {}
        }
    }

    /// Whether a segment of the direction `from` is of another connection with the same ports: time
    /// goes back, or numbers begin although data had passed.
    #[inline]
    pub(super) fn is_ended_by(&self, now: Time, from: usize, tcp: &Tcp) -> bool {
        self.last - now > BACK || tcp.has(flag::SYN) && self.is_opened_again(now, from, tcp)
    }

    #[cold]
    fn is_opened_again(&self, now: Time, from: usize, tcp: &Tcp) -> bool {
        let half = &self.halves[from];
        // A reply is sent again until the other end's data come, and the first SYN before any.
        let is_reply = tcp.has(flag::ACK);
        let had_data = half.packets > 0 || !is_reply && self.halves[1 - from].packets > 0;
        let begin = tcp.seq.wrapping_add(1);
        had_data
            && match (&half.syn, &half.unwrap) {
                (Some(syn), _) if syn.seq == tcp.seq => {
                    syn.accepted.is_some() && now - syn.last >= SYN_AGAIN
                }
                (Some(_), _) | (None, None) => true,
                // The capture has the SYN behind the data.
                (None, Some(data)) => data.unwrap(begin) + half.bytes != data.newest(),
            }
    }

    fn on_syn(&mut self, now: Time, from: usize, tcp: &Tcp, frame: u64) {
        let to = 1 - from;
        let begins_anew = match self.halves[from].syn {
            Some(syn) => syn.seq != tcp.seq,
            None => self.halves[from].unwrap.is_some(),
        };
        if begins_anew {
            self.halves[from].restart(tcp.seq.wrapping_add(1));
        }
        let half = &mut self.halves[from];
        let unwrap = half.unwrap.get_or_insert(Unwrap::begin(tcp.seq.wrapping_add(1)));
        half.begin = Some(unwrap.unwrap(tcp.seq.wrapping_add(1)));
        match &mut half.syn {
            Some(syn) if syn.seq == tcp.seq => {
                let repeat = syn.on_repeat(now, frame);
                if half.tries.len() < MAX_TRIES {
                    half.tries.push(repeat);
                }
                if repeat.kind == RepeatKind::Copy {
                    return;
                }
            }
            _ => half.syn = Some(Syn::new(now, tcp, frame)),
        }
        half.has_timestamps = tcp.options.timestamps.is_some();
        self.halves[to].mss = tcp.options.mss.map(|mss| mss.max(SMALLEST_MSS));
        self.halves[to].scale = (!tcp.options.cut).then(|| tcp.options.window_scale.unwrap_or(0));
        // One end alone scales nothing.
        if tcp.has(flag::ACK) && !tcp.options.cut && tcp.options.window_scale.is_none() {
            self.halves[from].scale = Some(0);
        }
        self.handshake = match (self.handshake, tcp.has(flag::ACK)) {
            (Handshake::None, false) => Handshake::Syn(from, now),
            (Handshake::Syn(other, at), true) if other == to => {
                self.halves[to].delays.on_ack_delay(now - at);
                self.halves[from].delays.on_data_delay(now - at);
                Handshake::SynAck(from, now)
            }
            // Sent again: its delays are ambiguous.
            (Handshake::Syn(other, _), false) if other == from => Handshake::Done,
            (state, _) => state,
        };
    }

    fn finish_handshake(&mut self, now: Time, from: usize) {
        if let Some(syn) = &mut self.halves[1 - from].syn {
            syn.accepted.get_or_insert(now);
        }
        if let Handshake::SynAck(other, at) = self.handshake
            && other != from
        {
            self.halves[1 - from].delays.on_ack_delay(now - at);
            self.halves[from].delays.on_data_delay(now - at);
            self.handshake = Handshake::Done;
        }
    }

    /// The vantage point for each direction's data, by what the connection itself tells.
    pub(super) fn vantages(&self) -> [Vantage; 2] {
        let is_at = |end: usize| {
            let own = self.passed[end];
            let other = self.passed[1 - end];
            Passed::are_nearly_all(own.sent, own.received) && other.received >= 9 * other.sent
        };
        let [low, high] = &self.halves;
        match [is_at(0), is_at(1)] {
            [true, false] => [Vantage::Sender, Vantage::Receiver],
            [false, true] => [Vantage::Receiver, Vantage::Sender],
            _ => match [low.delays.vantage(&high.delays), high.delays.vantage(&low.delays)] {
                // One place is the sender of one direction only.
                [Vantage::Sender, Vantage::Unknown] => [Vantage::Sender, Vantage::Receiver],
                [Vantage::Unknown, Vantage::Sender] => [Vantage::Receiver, Vantage::Sender],
                told => told,
            },
        }
    }

    /// How many directions have data, and their losses so far.
    pub(super) fn glance(&self) -> (u64, u64) {
        let with_data =
            self.halves.iter().zip(self.vantages()).filter(|(half, _)| half.packets > 0);
        with_data.fold((0, 0), |(flows, lost), (half, vantage)| {
            let seen = half.views.as_ref().map_or(0, |views| match vantage {
                Vantage::Sender => views.sender.losses.count(State::is_loss),
                _ => views.receiver.losses.count(State::is_loss),
            });
            (flows + 1, lost + seen)
        })
    }

    /// How the connection was opened from the end `from`.
    fn opening(&self, from: usize) -> Option<Tries> {
        let syn = self.halves[from].syn.filter(|syn| syn.repeats > 0)?;
        let other = self.halves[1 - from].syn.map(|other| other.time);
        let answer = if syn.is_reply { syn.accepted } else { other };
        let until = answer.map_or(self.last, |answer| answer.max(syn.last));
        let Syn { repeats, is_reply, .. } = syn;
        Some(Tries { repeats, waited: until - syn.time, is_answered: answer.is_some(), is_reply })
    }

    /// What was found about the directions that carried data, and about those that were opened in
    /// vain.
    pub(super) fn finish(
        self,
        ends: [Endpoint; 2],
        vantages: [Vantage; 2],
        rules: &Rules,
    ) -> impl Iterator<Item = FlowResult> {
        let openings = [0, 1].map(|from| self.opening(from));
        let last = self.last;
        let [low, high] = self.halves;
        let results = [
            low.finish([ends[0], ends[1]], vantages[0], openings[0], last, rules),
            high.finish([ends[1], ends[0]], vantages[1], openings[1], last, rules),
        ];
        results.into_iter().flatten()
    }
}

impl Half {
    fn new(is_observed: bool, path: Path) -> Self {
        Self { is_observed, path, ..Self::default() }
    }

    fn on_data(&mut self, now: Time, tcp: &Tcp, packet: &Packet<'_>, rules: &Rules) {
        self.packets += 1;
        self.last_data = now;
        if self.number == 0 {
            self.number = rules.watch.number();
        }
        let unwrap = self.unwrap.get_or_insert(Unwrap::begin(tcp.seq));
        let seq = tcp.seq.wrapping_add(u32::from(tcp.has(flag::SYN)));
        if unwrap.unwrap(seq).abs_diff(unwrap.newest()) > MAX_JUMP {
            self.restarts += 1;
            self.restart(seq);
        }
        let unwrap = self.unwrap.get_or_insert(Unwrap::begin(seq));
        let start = unwrap.unwrap(seq);
        let newest = unwrap.newest();
        let end = start + u64::from(tcp.payload_bytes);
        let mark = Mark::new(tcp, packet.ip_id);
        if end <= newest
            && let Some(earlier) = self.copy_of(now, [start, end], &mark)
        {
            self.copies.count(packet.frame, Some(earlier));
            return;
        }
        if let Some(unwrap) = &mut self.unwrap {
            unwrap.advance(end);
        }
        self.bytes += end.saturating_sub(start.max(newest));
        let (tsval, tsecr) = tcp.options.timestamps.unzip();
        self.has_timestamps |= tsval.is_some();
        self.note_size(u64::from(tcp.payload_bytes));
        self.wire_packets += packets_of(end - start, self.packet_bytes());
        self.delays.on_data(now, tsecr.filter(|_| tcp.has(flag::ACK)), end > newest);
        if let Some(budget) = &rules.budget {
            let over_time = self.over_time.get_or_insert_with(|| Box::new(Transfer::new(budget)));
            over_time.take(now, start, end - start);
        }
        let path_bytes = self.path.pass(self.wire_bytes(end - start));
        let data = Data { frame: packet.frame, start, end, tsval, ip_id: packet.ip_id, path_bytes };
        match (&mut self.views, self.first.take()) {
            (Some(_), _) => self.show(now, data),
            (None, None) => self.first = Some((now, data)),
            (None, Some((first_time, first))) => {
                self.views = Some(Box::new(self.open_views(&first, rules)));
                self.show(first_time, first);
                self.repeat_last_ack();
                self.show(now, data);
            }
        }
        // Last: what these write is seldom in the processor's caches, and nothing waits for it here.
        self.copies.keep(now, packet.frame, mark);
        self.course.on_packet(now, path_bytes);
    }

    /// The capturing host sends on what it received, as a router does, or receives what it sent, as
    /// on a loopback: the same packet twice, however it is cut.
    fn on_forwarded(&mut self, tcp: &Tcp, frame: u64) {
        if tcp.payload_bytes > 0 {
            self.packets += 1;
            self.copies.count(frame, None);
        }
    }

    /// The frame that had this packet before, if the capture made it twice.
    #[cold]
    fn copy_of(&self, now: Time, [start, end]: [u64; 2], mark: &Mark) -> Option<u64> {
        let near = self.copies.earlier(now, mark, self.delays.round_trip());
        let far = || {
            let sent = self.views.as_ref()?.sender.last_sent([start, end])?;
            let is_same = (sent.tsval, sent.ip_id) == (mark.tsval, mark.ip_id);
            (is_same && self.copies.tells_apart(mark.ip_id) && now - sent.sent < MERGED)
                .then_some(sent.frame)
        };
        near.or_else(far)
    }

    fn open_views(&self, first: &Data, rules: &Rules) -> Views {
        let mut at_receiver = AtReceiver::new(rules, SenderClock::tcp());
        let log = |end| if self.is_observed { rules.watch.log(self.number, end) } else { None };
        at_receiver.observe_with(log(Vantage::Receiver));
        if let Some(Syn { time, tsval: Some(tsval), .. }) = self.syn {
            at_receiver.on_timestamp(time, tsval);
        }
        let mut at_sender = AtSender::new(rules);
        at_sender.observe_with(log(Vantage::Sender));
        // Behind the SYN, if it was seen: the first data may be lost.
        let begin = self.begin.filter(|begin| *begin < first.start).unwrap_or(first.start);
        Views {
            sender: SenderView::new(first.start, at_sender, false),
            receiver: ReceiverView::new(begin, at_receiver),
        }
    }

    fn show(&mut self, now: Time, data: Data) {
        let packet_bytes = self.packet_bytes();
        let rtt = self.delays.data_delay();
        if let Some(views) = &mut self.views {
            views.sender.on_data(now, data, packet_bytes);
            views.receiver.on_data(now, data, packet_bytes, rtt);
        }
    }

    /// Learns the size of packets, and whether segments are larger than packets.
    fn note_size(&mut self, bytes: u64) {
        let most = self.mss.map_or(LARGEST_PACKET, u64::from);
        self.merged |= bytes > most;
        self.largest = self.largest.max(bytes);
    }

    /// What so many bytes of data take on the wire: the headers of IP and TCP come with every
    /// packet.
    fn wire_bytes(&self, payload_bytes: u64) -> u64 {
        let headers = if self.has_timestamps { 52 } else { 40 };
        payload_bytes + headers * packets_of(payload_bytes, self.packet_bytes())
    }

    /// The payload of a full packet.
    fn packet_bytes(&self) -> u64 {
        match self.mss {
            // Options take their bytes from the maximum segment size (RFC 6691).
            Some(mss) if self.merged => u64::from(mss) - if self.has_timestamps { 12 } else { 0 },
            None if self.merged => USUAL_PACKET,
            _ => self.largest,
        }
    }

    /// The headers of a packet with data from `src`, from IP on.
    fn header_bytes(&self, src: Endpoint) -> u64 {
        let network = if src.ip().is_ipv4() { 20 } else { 40 };
        // TCP with timestamps has 12 bytes more (RFC 7323, appendix A).
        network + if self.has_timestamps { 32 } else { 20 }
    }

    /// A FIN counts as one byte behind the data. One with data is sent again with them, which their
    /// loss tells.
    fn on_fin(&mut self, now: Time, tcp: &Tcp, packet: &Packet<'_>) {
        let end = tcp.seq.wrapping_add(tcp.payload_bytes);
        let Some(fin) = self.unwrap.as_ref().map(|unwrap| unwrap.unwrap(end)) else { return };
        let ip_id = packet.ip_id;
        let frame = packet.frame;
        match &mut self.closing {
            Some(closing) if closing.fin == fin => {
                let within = if self.copies.tells_apart(ip_id) { MERGED } else { OUT_OF_ORDER };
                let is_copy = closing.ip_id == ip_id && now - closing.last < within;
                if tcp.payload_bytes == 0 && self.tries.len() < MAX_TRIES {
                    let kind = if is_copy { RepeatKind::Copy } else { RepeatKind::Fin };
                    self.tries.push(Repeat { frame, earlier: Some(closing.frame), kind });
                }
                if tcp.payload_bytes == 0 && !closing.is_answered && !is_copy {
                    closing.repeats += 1;
                    (closing.last, closing.ip_id, closing.frame) = (now, ip_id, frame);
                }
            }
            _ => {
                let first = now;
                let last = now;
                self.closing = Some(Closing {
                    fin,
                    ip_id,
                    frame,
                    first,
                    last,
                    repeats: 0,
                    is_answered: false,
                });
            }
        }
    }

    /// A segment without data that lies just before what was acknowledged asks whether the other
    /// end is there: a keep-alive, or a probe of a closed window.
    fn on_bare(&mut self, now: Time, tcp: &Tcp) {
        if let (Some(unwrap), Some(views)) = (&self.unwrap, &mut self.views)
            && tcp.seq.wrapping_add(1) == unwrap.newest() as u32
        {
            views.sender.on_bare_probe(now, unwrap.newest());
        }
    }

    /// Tells the views of the last acknowledgement that came before they were opened.
    fn repeat_last_ack(&mut self) {
        if let (Some((now, ack, window)), Some(views)) = (self.last_ack.take(), &mut self.views) {
            let ack = Ack {
                ack,
                blocks: &[],
                tsval: None,
                tsecr: None,
                pure: true,
                window,
                scale: self.scale,
            };
            views.sender.on_ack(now, &ack, self.largest, &mut self.delays);
        }
    }

    fn on_ack(&mut self, now: Time, tcp: &Tcp) {
        let Some(unwrap) = &self.unwrap else {
            self.acked_uncaptured.on_ack(tcp);
            return;
        };
        let ack = unwrap.unwrap(tcp.ack);
        let ack = match &mut self.closing {
            Some(closing) if ack == closing.fin + 1 => {
                closing.is_answered = true;
                ack - 1
            }
            _ => ack,
        };
        if ack.abs_diff(unwrap.newest()) > MAX_JUMP {
            return;
        }
        let packet_bytes = self.packet_bytes();
        let Some(views) = &mut self.views else {
            if let Some((sent, data)) = self.first {
                if data.end <= ack {
                    self.delays.on_ack_delay(now - sent);
                }
                self.last_ack = Some((now, ack.min(data.end), tcp.window));
            }
            return;
        };
        let mut blocks = [(0, 0); 4];
        let sack = tcp.options.sack_blocks();
        for (own, block) in blocks.iter_mut().zip(sack) {
            *own = (unwrap.unwrap(block.0), unwrap.unwrap(block.1));
        }
        let (tsval, tsecr) = tcp.options.timestamps.unzip();
        let ack = Ack {
            ack,
            blocks: &blocks[..sack.len()],
            tsval,
            tsecr,
            pure: tcp.payload_bytes == 0 && tcp.flags & (flag::SYN | flag::FIN) == 0,
            window: tcp.window,
            scale: if tcp.has(flag::SYN) { Some(0) } else { self.scale },
        };
        views.receiver.on_ack(now, ack.ack, packet_bytes);
        views.sender.on_ack(now, &ack, packet_bytes, &mut self.delays);
    }

    fn restart(&mut self, first: u32) {
        let unwrap = Unwrap::begin(first);
        let start = unwrap.newest();
        self.unwrap = Some(unwrap);
        (self.first, self.last_ack) = (None, None);
        if let Some(views) = &mut self.views {
            views.sender.restart(start);
            views.receiver.restart(start);
        }
    }

    fn finish(
        self,
        [src, dst]: [Endpoint; 2],
        vantage: Vantage,
        opening: Option<Tries>,
        last: Time,
        rules: &Rules,
    ) -> Option<FlowResult> {
        let acked = self.acked_uncaptured.bytes();
        let closing = self.closing.and_then(|closing| closing.tries());
        if self.packets == 0 && opening.is_none() && closing.is_none() && acked == 0 {
            return None;
        }
        let is_behind_losses = self.views.as_ref().is_some_and(|views| views.are_behind_losses());
        let vantage = match vantage {
            Vantage::Sender if is_behind_losses => Vantage::Middle,
            told => told,
        };
        let payload_bytes = self.packet_bytes();
        let header_bytes = self.header_bytes(src);
        let copies = self.copies.counted;
        let mut counts = FlowCounts {
            marked: self.marked,
            merged: self.merged,
            renumbered: self.restarts,
            copies,
            ..FlowCounts::default()
        };
        let number = if self.number == 0 { rules.watch.number() } else { self.number };
        let mut result =
            FlowResult::new(number, src.to_string(), dst.to_string(), Protocol::Tcp, vantage);
        (result.packets, result.bytes, result.wire_packets) =
            (self.packets, self.bytes, Some(self.wire_packets));
        (result.opening, result.closing, result.acked_uncaptured) = (opening, closing, acked);
        if let Some(views) = self.views {
            let Views { sender, mut receiver } = *views;
            receiver.end(self.wire_packets, payload_bytes);
            (result.drift, counts.joined) = (receiver.judge().drift(), receiver.judge().joined());
            let at_receiver = |index| receiver.judge().unmet_need(index, self.merged);
            let at_sender = |index| sender.unmet_need(index);
            let unmet: Vec<Option<String>> = (0..rules.chosen.iter().count())
                .map(|index| match vantage {
                    Vantage::Sender => at_sender(index),
                    Vantage::Receiver => at_receiver(index),
                    Vantage::Middle | Vantage::Both | Vantage::Unknown => {
                        at_receiver(index).or_else(|| at_sender(index))
                    }
                })
                .collect();
            counts.add(vantage, &sender, &receiver);
            counts.duplicates += copies;
            result.unmet = unmet;
            result.selective = sender.is_selective();
            if vantage == Vantage::Unknown
                && sender.losses.count(State::is_loss) > receiver.losses.count(State::is_loss)
            {
                result.judged_at = Vantage::Sender;
            }
            result.delays = match result.judged_at {
                Vantage::Sender => sender.delays().into(),
                _ => receiver.judge().delays().into(),
            };
            result.closed = sender.closed_until(last);
            result.is_one_way = !sender.outages.has_heard();
            result.pace = Some(sender.pace.clone());
            result.carried = Some(Carried {
                packets: sender.sent_first() + sender.sent_again(),
                payload_bytes,
                header_bytes,
                window_bytes: sender.window_bytes(),
                standing: sender.standing.clone().finish(),
            });
            result.sent_again = sender.sent_again();
            if vantage != Vantage::Receiver {
                result.outages = sender.outages.clone().finish();
            }
            let (found_by_receiver, at_receiver) = receiver.finish();
            let (found_by_sender, at_sender) = sender.finish();
            (result.at_receiver, result.at_sender) = (Some(at_receiver), Some(at_sender));
            result.losses = match vantage {
                Vantage::Sender => found_by_sender,
                Vantage::Receiver => found_by_receiver,
                // Upstream losses are gaps, downstream ones are retransmissions of what had passed.
                Vantage::Middle | Vantage::Both | Vantage::Unknown => {
                    joined(found_by_receiver, found_by_sender)
                }
            };
        }
        result.losses.repeats.extend(self.copies.listed);
        result.losses.repeats.extend(self.tries);
        (result.path, result.course) = (Some(self.path), self.course);
        (result.counts, result.over_time) = (counts, self.over_time.map(|transfer| *transfer));
        Some(result)
    }
}

/// Packets that carry so many bytes. Most segments are one, and a division takes its time.
pub(super) fn packets_of(bytes: u64, packet_bytes: u64) -> u64 {
    if bytes <= packet_bytes { u64::from(bytes > 0) } else { bytes.div_ceil(packet_bytes.max(1)) }
}

fn joined(mut first: Losses, second: Losses) -> Losses {
    first.unlisted += second.unlisted;
    first.found.extend(second.found);
    // The sender's view knows more of them.
    first.repeats.splice(0..0, second.repeats);
    first.found.sort_by_key(|found| found.time);
    first
}
