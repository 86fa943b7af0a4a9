//! RTP streams: by source, with unwrapped sequence numbers.
//!
//! A capture cannot know which UDP packets are RTP. A stream proves itself with packets whose sequence numbers follow
//! each other (RFC 3550, appendix A.1, asks for two; here four, as any UDP port is tried). What a later packet reveals
//! as missing is a loss, unless it arrives late.

use losscause::{Span, Time};

use super::loss::{Evidence, Found, Losses, State};
use super::path::Passage;
use super::vantage::Vantage;
use super::{FlowCounts, FlowResult, Outage, Protocol, Rules};
use crate::judge::{AtReceiver, SenderClock};
use crate::over_time::Transfer;
use crate::packet::{Endpoint, Rtp};

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
/// A stream may get so many times faster.
const FASTER: i64 = 4;
/// Losses that a late packet can still undo.
const LOOK_BACK: usize = 1_024;

/// A stream of RTP packets.
#[derive(Debug)]
pub(super) struct Proven {
    number: u64,
    /// The newest sequence number, unwrapped.
    newest: u64,
    judge: AtReceiver,
    losses: Losses,
    counts: FlowCounts,
    /// Its first and its last packet.
    begun: Time,
    last: Time,
    /// Times without a packet, behind which numbers were missing.
    pauses: Vec<Outage>,
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
    pub(super) fn on_packet(&mut self, now: Time, rtp: Rtp, bytes: u32, marked: bool, rules: &Rules) {
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
                    first.iter().flatten().for_each(|&(now, rtp)| proven.on_packet(now, rtp, bytes, false));
                    *self = Stream::Proven(proven);
                }
            }
            Stream::Proven(proven) => proven.on_packet(now, rtp, bytes, marked),
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
        (result.losses, result.outages) = (proven.losses, proven.pauses);
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
            judge,
            losses: Losses::default(),
            counts: FlowCounts::default(),
            begun: Time::ZERO,
            last: Time::ZERO,
            pauses: Vec::new(),
            packets: 0,
            bytes: 0,
            over_time: rules.budget.as_ref().map(Transfer::new),
        }
    }

    fn on_packet(&mut self, now: Time, rtp: Rtp, bytes: u32, marked: bool) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.counts.marked += u64::from(marked);
        if self.newest == 0 {
            self.newest = (1 << 32) | u64::from(rtp.seq);
            (self.begun, self.last) = (now, now);
            self.draw(now, bytes);
            self.judge.on_packet(self.newest, now, Some(rtp.timestamp));
            return;
        }
        let step = rtp.seq.wrapping_sub(self.newest as u16) as i16;
        match step {
            ..=0 if step > -MAX_DROPOUT => self.on_old(step),
            1..=MAX_DROPOUT if !self.is_renumbered(now, step as u64) => {
                let before = self.newest;
                self.newest += step as u64;
                let opinions = self.judge.on_packet(self.newest, now, Some(rtp.timestamp));
                if step > 1 && now - self.last >= PAUSE && self.pauses.len() < MAX_PAUSES {
                    // Nobody can tell whether these packets were sent at all.
                    self.pauses.push(Outage { from: self.last, to: now, is_answered: true });
                } else if let Some(opinions) = opinions {
                    for seq in before + 1..self.newest {
                        let (evidence, state) = (Evidence::Gap, State::Lost);
                        let (opinions, passage) = (opinions.clone(), Passage::at(now));
                        self.losses.push(Found {
                            time: now,
                            start: seq,
                            end: seq + 1,
                            evidence,
                            passage,
                            opinions,
                            state,
                        });
                    }
                }
            }
            _ => {
                // A jump: beyond what an algorithm takes for a gap, so that it begins anew.
                self.newest += (1 << 32) + u64::from(step as u16);
                self.judge.on_packet(self.newest, now, Some(rtp.timestamp));
            }
        }
        self.draw(now, bytes);
        self.last = now;
    }

    /// Whether the numbers went on by more packets than can have been sent since the last one.
    fn is_renumbered(&self, now: Time, step: u64) -> bool {
        let per_packet = (self.last - self.begun) / ((self.packets.max(3) - 2) as i64);
        let sent_at_most = (now - self.last).as_nanos() * FASTER / per_packet.as_nanos().max(1);
        step > BURST_PKTS && step as i64 > sent_at_most
    }

    /// Keeps the packet for a drawing, if one is asked for; late packets count at the newest sequence number.
    fn draw(&mut self, now: Time, bytes: u32) {
        if let Some(over_time) = &mut self.over_time {
            over_time.take(now, self.newest, u64::from(bytes));
        }
    }

    fn on_old(&mut self, step: i16) {
        let seq = self.newest.wrapping_add_signed(i64::from(step));
        let late = self.losses.found.iter_mut().rev().take(LOOK_BACK).find(|found| found.start == seq);
        match late.filter(|found| found.state == State::Lost) {
            Some(found) => {
                found.state = State::Reordered;
                self.counts.reordered += 1;
            }
            None => self.counts.duplicates += 1,
        }
    }
}
