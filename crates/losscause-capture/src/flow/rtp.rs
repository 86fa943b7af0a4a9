//! RTP streams: by source, with unwrapped sequence numbers.
//!
//! A capture cannot know which UDP packets are RTP. A stream proves itself with packets whose sequence numbers follow
//! each other (RFC 3550, appendix A.1, asks for two; here four, as any UDP port is tried). What a later packet reveals
//! as missing is a loss, unless it arrives late. Two kinds of gaps are none:
//!
//! - a pause: nothing comes for a second or more, and about as many numbers are missing as the stream has packets in that
//!   time. The call was on hold, its packets went elsewhere, or the way was gone: whether they were sent, nobody can tell;
//! - new numbers: more are missing than can have been sent. The sender began anew.

use losscause::{Span, Time};

use super::loss::{Evidence, Found, Losses, Repeat, RepeatKind, State};
use super::path::Passage;
use super::vantage::Vantage;
use super::{FlowCounts, FlowResult, Protocol, Rules};
use crate::judge::{AtReceiver, SenderClock};
use crate::over_time::Transfer;
use crate::packet::{Endpoint, Packet, Rtp};

/// What may be a stream, and one that has proved itself.
#[derive(Debug)]
pub(super) enum Stream {
    /// The last sequence number, packets that followed each other, and their bytes.
    Candidate { seq: u16, in_order: u32, first: Held, is_observed: bool },
    /// A stream.
    Proven(Box<Proven>),
}

/// The first packets of a stream.
pub(super) type Held = [Option<(Time, Rtp)>; 4];

/// Packets that must follow each other.
const PROBATION_PKTS: u32 = 4;
/// Far jumps begin the stream anew (RFC 3550, appendix A.1, MAX_DROPOUT).
const MAX_DROPOUT: i16 = 3_000;
/// A stream is not silent for so long, be it paced by frames: nothing was sent, or the way was gone.
const PAUSE: Span = Span::from_secs(1);
/// A stream keeps so many pauses at most.
const MAX_PAUSES: usize = 1_000;
/// A jump of so many packets may be a burst that was lost, whatever the stream's rate was before.
const BURST_PKTS: u64 = 64;
/// The rate of a stream varies, as that of video does: it may be so many times as high as before, and half as high.
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

/// A stream of RTP packets.
#[derive(Debug)]
pub(super) struct Proven {
    number: u64,
    /// The newest sequence number, unwrapped.
    newest: u64,
    /// What algorithms see beyond that number: they begin anew behind a jump, and take no gap for losses.
    offset: u64,
    judge: AtReceiver,
    losses: Losses,
    counts: FlowCounts,
    /// Its last packet.
    last: Time,
    /// The time without pauses, and how many numbers it has.
    active: (Span, u64),
    pauses: Vec<Pause>,
    packets: u64,
    bytes: u64,
    over_time: Option<Transfer>,
}

impl Stream {
    /// `is_observed` says whether its observations are handed on.
    pub(super) fn new(is_observed: bool) -> Self {
        Stream::Candidate { seq: 0, in_order: 0, first: [None; 4], is_observed }
    }

    /// A packet passed.
    pub(super) fn on_packet(&mut self, now: Time, rtp: Rtp, bytes: u32, packet: &Packet<'_>, rules: &Rules) {
        match self {
            Stream::Candidate { seq, in_order, first, is_observed } => {
                let follows = *in_order > 0 && rtp.seq == seq.wrapping_add(1);
                if !follows {
                    (*in_order, *first) = (0, [None; 4]);
                }
                first[*in_order as usize] = Some((now, rtp));
                (*seq, *in_order) = (rtp.seq, *in_order + 1);
                if *in_order == PROBATION_PKTS {
                    let mut proven = Box::new(Proven::new(rules, *is_observed));
                    // These four lost none: their frames are not needed.
                    first
                        .iter()
                        .flatten()
                        .for_each(|&(now, rtp)| proven.on_packet(now, rtp, bytes, false, packet.frame));
                    *self = Stream::Proven(proven);
                }
            }
            Stream::Proven(proven) => {
                proven.on_packet(now, rtp, bytes, packet.congestion_experienced, packet.frame);
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
        let mut result =
            FlowResult::new(proven.number, src.to_string(), dst.to_string(), Protocol::Rtp, Vantage::Receiver);
        (result.packets, result.bytes) = (proven.packets, proven.bytes);
        result.unmet = (0..rules.chosen.iter().count()).map(|index| proven.judge.unmet_need(index, false)).collect();
        result.drift = proven.judge.drift();
        result.delays = proven.judge.delays().into();
        result.counts = FlowCounts { joined: proven.judge.joined(), ..proven.counts };
        (result.losses, result.pauses) = (proven.losses, proven.pauses);
        (result.at_receiver, result.over_time) = (Some(proven.judge.into_trips()), proven.over_time);
        Some(result)
    }
}

impl Proven {
    fn new(rules: &Rules, is_observed: bool) -> Self {
        let number = rules.watch.number();
        let mut judge = AtReceiver::new(&rules.chosen, SenderClock::rtp(), rules.keep_skew, rules.budget.as_ref());
        if is_observed {
            judge.observe_with(rules.watch.log(number, Vantage::Receiver));
        }
        Self {
            number,
            newest: 0,
            offset: 0,
            judge,
            losses: Losses::default(),
            counts: FlowCounts::default(),
            last: Time::ZERO,
            active: (Span::ZERO, 0),
            pauses: Vec::new(),
            packets: 0,
            bytes: 0,
            over_time: rules.budget.as_ref().map(Transfer::new),
        }
    }

    fn on_packet(&mut self, now: Time, rtp: Rtp, bytes: u32, marked: bool, frame: u64) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.counts.marked += u64::from(marked);
        if self.newest == 0 {
            self.newest = (1 << 32) | u64::from(rtp.seq);
            self.judge.on_packet(self.newest, now, Some(rtp.timestamp));
        } else {
            let step = rtp.seq.wrapping_sub(self.newest as u16) as i16;
            if step <= 0 && step > -MAX_DROPOUT {
                self.on_old(step, frame);
            } else {
                self.on_new(now, frame, rtp, u64::from(step as u16));
            }
        }
        self.draw(now, bytes);
        self.last = now;
    }

    /// A packet whose number is `ahead` of the newest one.
    fn on_new(&mut self, now: Time, frame: u64, rtp: Rtp, ahead: u64) {
        let (before, silent) = (self.newest, now - self.last);
        self.newest += ahead;
        let gap = if ahead == 1 { Gap::Losses } else { self.gap(silent, ahead) };
        match gap {
            Gap::Losses if silent < PAUSE => self.active = (self.active.0 + silent, self.active.1 + ahead),
            Gap::Losses => {}
            Gap::Pause => {
                self.offset += BEYOND;
                if self.pauses.len() < MAX_PAUSES {
                    self.pauses.push(Pause { from: self.last, to: now, skipped: ahead - 1 });
                }
            }
            Gap::NewNumbers => {
                self.offset += BEYOND;
                self.counts.renumbered += 1;
                self.judge.begin_anew();
            }
        }
        let opinions = self.judge.on_packet(self.newest + self.offset, now, Some(rtp.timestamp));
        if let (Gap::Losses, Some(opinions)) = (gap, opinions) {
            for seq in before + 1..self.newest {
                self.losses.push(Found {
                    time: now,
                    start: seq,
                    end: seq + 1,
                    frame: Some(frame),
                    frame_again: None,
                    evidence: Evidence::Gap,
                    passage: Passage::at(now),
                    opinions: opinions.clone(),
                    state: State::Lost,
                });
            }
        }
    }

    /// Why the numbers went on by `ahead` while nothing came.
    fn gap(&self, silent: Span, ahead: u64) -> Gap {
        let (time, packets) = self.active;
        let per_packet = (time.as_nanos().max(0) as u64 / packets.max(1)).max(1);
        let usual = silent.as_nanos().max(0) as u64 / per_packet;
        let may_be_sent = ahead <= usual.saturating_mul(FASTER);
        if silent >= PAUSE && may_be_sent && ahead.saturating_mul(SLOWER) >= usual {
            Gap::Pause
        } else if ahead > MAX_DROPOUT as u64 || (ahead > BURST_PKTS && !may_be_sent) {
            Gap::NewNumbers
        } else {
            Gap::Losses
        }
    }

    /// Keeps the packet for a drawing, if one is asked for; late packets count at the newest sequence number.
    fn draw(&mut self, now: Time, bytes: u32) {
        if let Some(over_time) = &mut self.over_time {
            over_time.take(now, self.newest, u64::from(bytes));
        }
    }

    fn on_old(&mut self, step: i16, frame: u64) {
        let seq = self.newest.wrapping_add_signed(i64::from(step));
        let late = self.losses.found.iter_mut().rev().take(LOOK_BACK).find(|found| found.start == seq);
        match late.filter(|found| found.state == State::Lost) {
            Some(found) => {
                (found.state, found.frame_again) = (State::Reordered, Some(frame));
                self.counts.reordered += 1;
            }
            None => {
                self.counts.duplicates += 1;
                self.losses.push_repeat(Repeat { frame, earlier: None, kind: RepeatKind::Unknown });
            }
        }
    }
}
