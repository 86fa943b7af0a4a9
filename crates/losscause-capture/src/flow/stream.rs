//! Streams of datagrams that their sender numbers: RTP, WireGuard, ESP and SRT, without
//! wrap-around.
//!
//! A capture cannot know which UDP packets are such. A stream proves itself with packets whose
//! numbers follow each other (RFC 3550, appendix A.1, asks for two; here four, as any UDP port is
//! tried). What a later packet reveals as missing is a loss, unless it arrives late. Two kinds of
//! gaps are none:
//!
//! - a pause: nothing comes for a second or more, and about as many numbers are missing as the
//!   stream has packets in that time. The call was on hold, its packets went elsewhere, or the way
//!   was gone: whether they were sent, nobody can tell;
//! - new numbers: more are missing than can have been sent. The sender began anew. One that
//!   encrypts never does (WireGuard, section 5.4.6; RFC 4303, section 3.3.3): its next session is
//!   another stream.
//!
//! A gap shows only behind the place of the loss. So a stream without gaps was captured at its
//! receiver and lost nothing, or before the place where it did: the capture does not tell, unless
//! it says which way its packets passed.

use losscause::{Span, Time};

use super::loss::{Evidence, Found, Losses, Repeat, RepeatKind, State};
use super::vantage::{Passed, Vantage};
use super::{FlowCounts, FlowResult, Rules};
use crate::judge::{AtReceiver, Departure, Opinions, SenderClock};
use crate::over_time::Transfer;
use crate::packet::{Endpoint, Numbered, Packet, Protocol};

/// What may be a stream, and one that has proved itself.
#[derive(Debug)]
pub(super) enum Stream {
    /// Packets that followed each other, the last ones, and their bytes.
    Candidate { in_order: usize, first: Held, is_observed: bool },
    /// A stream.
    Proven(Box<Proven>),
}

/// The first packets of a stream, and their bytes.
pub(super) type Held = [Option<(Time, Numbered, u32)>; 4];

/// Far jumps begin a stream of RTP anew (RFC 3550, appendix A.1, MAX_DROPOUT).
const MAX_DROPOUT: i64 = 3_000;
/// More numbers are not lost at once: a tenth of a second at 10 million packets a second.
const FARTHEST: i64 = 1 << 20;
/// One gap lists so many losses at most; further ones are counted. A few packets of a hostile
/// capture take no more memory.
const MAX_LISTED_OF_GAP: u64 = 4_096;
/// A stream is not silent for so long, be it paced by frames: nothing was sent, or the way was
/// gone.
const PAUSE: Span = Span::from_secs(1);
/// A stream keeps so many pauses at most.
const MAX_PAUSES: usize = 1_000;
/// A jump of so many packets may be a burst that was lost, whatever the stream's rate was before.
const BURST_PKTS: u64 = 64;
/// The rate of a stream varies, as that of video does: it may be so many times as high as before,
/// and half as high.
const FASTER: u64 = 4;
const SLOWER: u64 = 2;
/// More than an algorithm takes for a gap; the lower half of a number stays.
const BEYOND: u64 = 1 << 32;
/// Losses that a late packet can still undo.
const LOOK_BACK: usize = 1_024;

/// A time without a packet, behind which as many numbers were missing as it has packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pause {
    /// The last packet before.
    pub(crate) from: Time,
    /// The first packet behind it.
    pub(crate) to: Time,
    /// Numbers that were skipped.
    pub(crate) skipped: u64,
}

/// Why numbers are missing.
enum Gap {
    Losses,
    Pause,
    NewNumbers,
}

/// A stream whose packets follow each other.
#[derive(Debug, Default)]
pub(crate) struct Proven {
    number: u64,
    protocol: Protocol,
    /// Which one of its sender: SRT's may change.
    stream: u32,
    /// The newest number, without wrap-around; none before the first packet.
    newest: Option<u64>,
    /// What algorithms see beyond that number: they begin anew behind a jump, and take no gap for
    /// losses.
    offset: u64,
    judge: AtReceiver,
    losses: Losses,
    /// SRT: packets that were sent again although the capture has them. At the sender, these were
    /// lost.
    resent: Losses,
    /// SRT: packets that say that they were sent again.
    sent_again: u64,
    counts: FlowCounts,
    /// Packets that the capturing host sent, and that it received, by its own word.
    passed: Passed,
    /// The time of the stream's last packet.
    last: Time,
    /// The time without pauses, and how many numbers it has.
    active: (Span, u64),
    pauses: Vec<Pause>,
    packets: u64,
    bytes: u64,
    over_time: Option<Transfer>,
}

/// A packet of a stream, as it passes the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    pub(crate) numbered: Numbered,
    pub(crate) departure: Departure,
    pub(crate) bytes: u32,
    pub(crate) is_marked: bool,
    pub(crate) frame: Option<u64>,
}

impl Stream {
    /// `is_observed` says whether its observations are handed on.
    pub(super) fn new(is_observed: bool) -> Self {
        Stream::Candidate { in_order: 0, first: [None; 4], is_observed }
    }

    /// A packet passed.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        numbered: Numbered,
        packet: &Packet<'_>,
        rules: &Rules,
    ) {
        let bytes = packet.transport.payload_bytes();
        match self {
            Stream::Candidate { in_order, first, is_observed } => {
                let last = in_order.checked_sub(1).and_then(|last| first[last]);
                // Captured twice, it proves nothing.
                if last.is_some_and(|(_, last, _)| numbered == last) {
                    return;
                }
                if !last.is_some_and(|(_, last, _)| numbered.follows(&last)) {
                    (*in_order, *first) = (0, [None; 4]);
                }
                first[*in_order] = Some((now, numbered, bytes));
                *in_order += 1;
                if *in_order == first.len() {
                    let number = rules.watch.number();
                    let mut proven = Box::new(Proven::new(number, &numbered, rules, *is_observed));
                    // These four lost none: their frames are not needed.
                    for &(at, numbered, bytes) in first.iter().flatten() {
                        let departure = numbered.stamp.into();
                        proven.on_packet(Arrival {
                            at,
                            numbered,
                            departure,
                            bytes,
                            is_marked: false,
                            frame: None,
                        });
                    }
                    *self = Stream::Proven(proven);
                }
            }
            Stream::Proven(proven) => {
                proven.passed.count(packet.direction);
                proven.on_packet(Arrival {
                    at: now,
                    numbered,
                    departure: numbered.stamp.into(),
                    bytes,
                    is_marked: packet.congestion_experienced,
                    frame: Some(packet.frame),
                });
            }
        }
    }

    /// Whether it is a stream, and its losses so far.
    pub(super) fn glance(&self) -> (u64, u64) {
        match self {
            Self::Candidate { .. } => (0, 0),
            Self::Proven(proven) => (1, proven.losses.count(State::is_loss)),
        }
    }

    /// What was found about the stream, if it is one.
    pub(super) fn finish(self, [src, dst]: [Endpoint; 2], rules: &Rules) -> Option<FlowResult> {
        let Stream::Proven(proven) = self else { return None };
        Some(proven.finish([src.to_string(), dst.to_string()], rules))
    }
}

impl Proven {
    /// The flow `number`, a stream of which `first` is a packet.
    pub(crate) fn new(number: u64, first: &Numbered, rules: &Rules, is_observed: bool) -> Self {
        let protocol = first.protocol;
        let clock = match protocol {
            Protocol::Rtp => SenderClock::rtp(),
            Protocol::Srt => SenderClock::srt(),
            // Packets of others have no timestamp for it.
            _ => SenderClock::tcp(),
        };
        let mut judge = AtReceiver::new(rules, clock);
        if is_observed {
            judge.observe_with(rules.watch.log(number, Vantage::Receiver));
        }
        Self {
            number,
            protocol,
            stream: first.stream,
            judge,
            over_time: rules.budget.as_ref().map(Transfer::new),
            ..Self::default()
        }
    }

    /// Where the capture was taken.
    fn vantage(&self) -> Vantage {
        let any_gap = !self.losses.found.is_empty();
        match self.passed.place() {
            // What is missing was lost before: the host passes on what others sent.
            Some(Vantage::Sender) if any_gap => Vantage::Middle,
            Some(place) => place,
            None if any_gap => Vantage::Receiver,
            None if !self.resent.found.is_empty() => Vantage::Sender,
            None if self.protocol == Protocol::Rtp => Vantage::Receiver,
            None => Vantage::Unknown,
        }
    }

    /// What was found about the stream.
    pub(crate) fn finish(self, [src, dst]: [String; 2], rules: &Rules) -> FlowResult {
        let vantage = self.vantage();
        let mut result = FlowResult::new(self.number, src, dst, self.protocol, vantage);
        result.stream = Some(self.stream);
        (result.packets, result.bytes) = (self.packets, self.bytes);
        let algorithms = 0..rules.chosen.iter().count();
        result.unmet = algorithms.map(|index| self.judge.unmet_need(index, false)).collect();
        result.drift = self.judge.drift();
        result.delays = self.judge.delays().into();
        result.counts = FlowCounts { joined: self.judge.joined(), ..self.counts };
        (result.losses, result.pauses) = (self.losses, self.pauses);
        result.sent_again = self.sent_again;
        if vantage == Vantage::Sender {
            result.losses = self.resent;
            let reason = "it needs the packets as they arrive, and the capture was taken where they are sent";
            result.unmet = vec![Some(reason.to_owned()); result.unmet.len()];
        } else {
            result.counts.duplicates += self.resent.found.len() as u64;
        }
        (result.at_receiver, result.over_time) = (Some(self.judge.into_trips()), self.over_time);
        result
    }

    /// A packet passed.
    pub(crate) fn on_packet(&mut self, arrival: Arrival) {
        self.packets += 1;
        self.bytes += u64::from(arrival.bytes);
        self.counts.marked += u64::from(arrival.is_marked);
        match self.newest {
            None => self.begin(&arrival),
            // SRT's next connection between the same ends.
            Some(_) if arrival.numbered.stream != self.stream => {
                self.stream = arrival.numbered.stream;
                self.begin_anew(&arrival);
            }
            Some(newest) => {
                let ahead = self.protocol.ahead(arrival.numbered.number, newest);
                if ahead > 0 {
                    self.on_new(newest, &arrival, ahead as u64);
                } else if ahead > -self.farthest() {
                    self.on_old(newest, ahead, &arrival);
                } else if let Some(wrap) = self.protocol.wrap() {
                    self.on_new(newest, &arrival, ahead.wrapping_add_unsigned(wrap) as u64);
                } else {
                    self.begin_anew(&arrival);
                }
            }
        }
        if let Some(over_time) = &mut self.over_time {
            // Late packets count at the newest number.
            over_time.take(arrival.at, self.newest.unwrap_or(0), u64::from(arrival.bytes));
        }
        self.last = arrival.at;
    }
    /// Takes the packet for the first one of its numbers.
    fn begin(&mut self, arrival: &Arrival) {
        let number = arrival.numbered.number;
        let placed = match (self.protocol.wrap(), self.newest) {
            (None, _) => number,
            // Older numbers have room below.
            (Some(_), None) => (1 << 32) | number,
            (Some(wrap), Some(newest)) => newest + number.wrapping_sub(newest) % wrap,
        };
        let seen = self
            .newest
            .map_or(0, |newest| newest.saturating_add(self.offset).saturating_add(BEYOND));
        self.offset = seen.saturating_sub(placed);
        self.newest = Some(placed);
        self.judge.on_packet(placed.saturating_add(self.offset), arrival.at, arrival.departure);
    }

    /// The sender began anew.
    fn begin_anew(&mut self, arrival: &Arrival) {
        self.counts.renumbered += 1;
        self.judge.begin_anew();
        self.begin(arrival);
    }

    /// How many numbers a packet may be from the newest one.
    fn farthest(&self) -> i64 {
        if self.protocol == Protocol::Rtp { MAX_DROPOUT } else { FARTHEST }
    }

    /// A packet whose number is `ahead` of the newest one.
    fn on_new(&mut self, before: u64, arrival: &Arrival, ahead: u64) {
        let silent = arrival.at - self.last;
        let gap = if ahead == 1 { Gap::Losses } else { self.gap(silent, ahead) };
        match gap {
            Gap::Losses if silent < PAUSE => {
                self.active = (self.active.0 + silent, self.active.1 + ahead);
            }
            Gap::Losses => {}
            Gap::Pause => {
                self.offset = self.offset.saturating_add(BEYOND);
                if self.pauses.len() < MAX_PAUSES {
                    self.pauses.push(Pause { from: self.last, to: arrival.at, skipped: ahead - 1 });
                }
            }
            Gap::NewNumbers => return self.begin_anew(arrival),
        }
        let newest = before + ahead;
        self.newest = Some(newest);
        // The time in a packet that is sent again is that of the first try.
        let is_again = arrival.numbered.is_again;
        let departure = if is_again { Departure::Unknown } else { arrival.departure };
        let opinions =
            self.judge.on_packet(newest.saturating_add(self.offset), arrival.at, departure);
        if matches!(gap, Gap::Pause) || (ahead == 1 && !is_again) {
            return;
        }
        let opinions = opinions.unwrap_or_else(|| self.judge.no_opinions());
        let listed = newest.min(before + 1 + MAX_LISTED_OF_GAP);
        for number in before + 1..listed {
            self.losses.push(lost(number, arrival, Evidence::Gap, opinions.clone()));
        }
        self.losses.unlisted += newest - listed.max(before + 1);
        if is_again {
            let found = lost(newest, arrival, Evidence::Gap, opinions);
            self.losses.push(Found { state: State::Repaired, frame_again: arrival.frame, ..found });
        }
    }

    /// Why the numbers went on by `ahead` while nothing came.
    fn gap(&self, silent: Span, ahead: u64) -> Gap {
        let (time, packets) = self.active;
        let per_packet = (time.as_nanos().max(0) as u64 / packets.max(1)).max(1);
        let usual = silent.as_nanos().max(0) as u64 / per_packet;
        let may_be_sent = ahead <= usual.saturating_mul(FASTER);
        // What encrypts counts on, be it in bursts of any rate.
        let may_begin_anew = matches!(self.protocol, Protocol::Rtp | Protocol::Srt);
        if silent >= PAUSE && may_be_sent && ahead.saturating_mul(SLOWER) >= usual {
            Gap::Pause
        } else if ahead > self.farthest() as u64
            || (may_begin_anew && ahead > BURST_PKTS && !may_be_sent)
        {
            Gap::NewNumbers
        } else {
            Gap::Losses
        }
    }

    /// A packet whose number is not newer than the newest one.
    fn on_old(&mut self, newest: u64, ahead: i64, arrival: &Arrival) {
        let number = newest.wrapping_add_signed(ahead);
        let is_again = arrival.numbered.is_again;
        let missing =
            self.losses.found.iter_mut().rev().take(LOOK_BACK).find(|found| found.start == number);
        match missing.filter(|found| found.state == State::Lost) {
            Some(found) => {
                found.frame_again = arrival.frame;
                found.state = if is_again { State::Repaired } else { State::Reordered };
                self.counts.reordered += u64::from(!is_again);
            }
            None if is_again => {
                let is_known = self
                    .resent
                    .found
                    .iter()
                    .rev()
                    .take(LOOK_BACK)
                    .any(|found| found.start == number);
                if !is_known {
                    let opinions = self.judge.no_opinions();
                    let found = lost(number, arrival, Evidence::FastRetransmit, opinions);
                    self.resent.push(Found { frame: None, frame_again: arrival.frame, ..found });
                }
            }
            None => {
                self.counts.duplicates += 1;
                if let Some(frame) = arrival.frame {
                    self.losses.push_repeat(Repeat {
                        frame,
                        earlier: None,
                        kind: RepeatKind::Unknown,
                    });
                }
            }
        }
        self.sent_again += u64::from(is_again);
    }
}

/// The packet `number`, which `arrival` shows to be lost.
fn lost(number: u64, arrival: &Arrival, evidence: Evidence, opinions: Opinions) -> Found {
    let found = Found::lost(arrival.at, [number, number + 1], evidence, opinions);
    Found { frame: arrival.frame, ..found }
}
