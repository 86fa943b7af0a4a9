//! The receiver: which losses count, and when to report (RFC 5348, sections 5 and 6).
//!
//! Loss intervals are counted by positions, not by sequence numbers: see `position.rs`.
//!
//! Readings and deviations of [`Config::rfc5348`]:
//! - A new loss event is reported at once, as section 6 says, even where p did not rise since the
//!   last report (section 6.1, step 4, would wait).
//! - A packet that arrives after its loss was declared stays lost. Sections 5.1 and 6.1 allow the
//!   history to be rewritten.
//! - A mark starts a loss event by itself, even where a packet before it is missing and not yet
//!   declared lost. Section 5.1 would let the event begin with that packet. The packet joins the
//!   event when it is declared.
//! - A gap before the first packet that arrives is not seen, so the null interval of section 6.3.1
//!   does not occur.
//! - Section 6.3.1 takes the largest receive rate so far. The rate measured at the loss is one of
//!   them.
//! - Until a packet brings a round-trip time, reports after the first say one packet per second,
//!   the rate at which the sender sends without one. The RFC gives no value.
//! - A report answers the packet with the highest number, not the one that arrived last.
//! - A round-trip time below 10 µs counts as 10 µs, because a forged one of a nanosecond would keep
//!   the timer busy. The RFC sets no limit; section 8.3 speaks of clocks of 10 ms.
//! - A feedback timer that expires with nothing to report stops. The next packet is then reported
//!   at once.

use losscause::{
    Algorithm, Differentiator, Observation, Observed, Observer, Packet, Span, Time, on_judged,
};

use super::arrivals::Arrivals;
use super::loss_history::LossHistory;
use super::missing::{Lost, Missing};
use super::position::Stream;
use super::quirks::{FirstInterval, LossEventRule, Reports};
use super::{Config, Data, Feedback, NEVER};
use crate::Ecn;

/// A TFRC receiver that asks an LDA about every lost packet. A loss called wireless is treated as
/// received in the loss history, not in the receive rate.
///
/// Fields that every packet touches come first; those that only losses and reports touch come last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver<L> {
    /// When to report at the latest. If it is [`NEVER`], the RFC's rule reports the next packet at
    /// once.
    timer: Time,
    last_report: Option<LastReport>,
    delivered: u64,
    /// Packets since the last report.
    since_report: u64,
    arrivals: Arrivals,
    missing: Missing,
    reports: Reports,
    loss_event: LossEventRule,
    ecn: bool,
    /// Whether a report is to be sent.
    report_due: bool,
    /// The packet with the highest sequence number so far. It is not read before the first packet.
    newest: Newest,
    differentiator: Differentiator<L>,
    stream: Stream,
    history: LossHistory,
    /// When the current loss event began and in which of the sender's rounds.
    event: Option<(Time, u32)>,
    /// The largest receive rate so far, bytes per second.
    largest_receive_rate: f64,
    /// What the last report says.
    receive_rate: f64,
    loss_event_rate: f64,
    declared: Declared,
    config: Config,
}

/// Losses that were declared so far, packets of each kind. A packet that was only reordered is in
/// neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The LDA called them congestion, or could not tell.
    pub congestion: u64,
    /// The LDA called them wireless.
    pub wireless: u64,
}

/// A packet, and when it arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    arrived: Time,
    data: Data,
}

/// A loss event began.
#[derive(Clone, Copy, Debug)]
struct NewEvent {
    /// The loss event rate to report, if it is not the history's.
    loss_event_rate: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct LastReport {
    at: Time,
    /// Position of the newest packet then.
    newest: u64,
    /// The newest packet's round-trip time (R_(m-1)).
    rtt: Option<Span>,
}

/// How near the equation must come to the receive rate (RFC 5348, section 6.3.1).
const TOLERANCE: f64 = 0.05;

/// No path is shorter than this, and no clock that drives a receiver much finer.
const SHORTEST_RTT: Span = Span::from_micros(10);

impl<L: Algorithm> Receiver<L> {
    /// A receiver that puts every lost packet to `lda`; one that always answers congestion gives
    /// plain TFRC.
    pub fn new(config: &Config, lda: L) -> Self {
        Self {
            reports: config.quirks.reports,
            loss_event: config.quirks.loss_event,
            ecn: config.ecn,
            differentiator: Differentiator::new(lda),
            newest: Newest::default(),
            stream: Stream::default(),
            missing: Missing::new(config.loss_after_pkts),
            history: LossHistory::new(config.quirks.few_intervals, config.quirks.discounting),
            event: None,
            arrivals: Arrivals::new(),
            largest_receive_rate: 0.0,
            loss_event_rate: 0.0,
            delivered: 0,
            since_report: 0,
            last_report: None,
            timer: NEVER,
            report_due: false,
            receive_rate: 0.0,
            declared: Declared::default(),
            config: config.clone(),
        }
    }

    /// A data packet arrived.
    #[inline]
    pub fn on_data(&mut self, now: Time, data: &Data, observer: &mut impl Observer) {
        let packet = Packet { seq: data.seq, at: now, sent: Some(data.sent_at) };
        match self.differentiator.observe(packet, observer) {
            Observed::Duplicate => {}
            Observed::Late => {
                self.missing.on_late(self.stream.position(data.seq));
                self.take_in(now, data, true);
            }
            Observed::InOrder(arrival) => {
                if arrival.since_last.is_none() {
                    self.begin_stream(data.seq);
                }
                if arrival.reveals_gap() {
                    self.on_gap(&arrival, data, observer);
                }
                if !self.missing.is_empty() {
                    self.missing.on_newest();
                }
                self.newest = Newest { arrived: now, data: *data };
                self.take_in(now, data, false);
            }
        }
    }

    /// Takes in a packet that was not seen before.
    #[inline(always)] // Once for late packets, once for all others.
    fn take_in(&mut self, now: Time, data: &Data, late: bool) {
        // ns-2.35 leaves late packets out of the receive rate.
        if !late || self.reports == Reports::Rfc5348 {
            self.arrivals.push(now, || rtt_of(data).unwrap_or(Span::ZERO));
        }
        self.delivered += 1;
        self.since_report += 1;

        let lost = !self.missing.is_empty() || self.is_marked(data);
        let event = if lost { self.on_losses(now, data) } else { None };
        let due = match self.reports {
            // Section 6.1: the timer found nothing to report when it expired, or could not be set
            // without a round-trip time (section 6.3).
            Reports::Rfc5348 => self.timer == NEVER,
            Reports::Ns2 => !late && (data.urgent || self.round_trip_since_report(now)),
        };
        if due || event.is_some() {
            self.report(now, event.and_then(|event| event.loss_event_rate));
        }
    }

    /// The instant that [`Self::poll_timeout`] named has come.
    #[inline]
    pub fn on_timeout(&mut self, now: Time) {
        if self.timer <= now {
            self.timer = NEVER;
            match self.reports {
                Reports::Rfc5348 if self.since_report == 0 => {}
                _ => self.report(now, None),
            }
        }
    }

    /// When to call [`Self::on_timeout`] next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.timer).filter(|at| *at < NEVER)
    }

    /// The report to send now, if one is due; call until none. Its rates are those at the time when
    /// it became due; its times are those at `now`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Feedback> {
        if !self.report_due {
            return None;
        }
        self.report_due = false;
        Some(Feedback {
            echo: self.newest.data.sent_at,
            hold: now - self.newest.arrived,
            receive_rate: self.receive_rate,
            loss_event_rate: self.loss_event_rate,
            wire_bytes: self.config.feedback_bytes,
        })
    }

    /// The loss event rate (p), 0 to 1, as of the last report.
    pub fn loss_event_rate(&self) -> f64 {
        self.loss_event_rate
    }

    /// The losses declared so far. Of a gap of more than 4,096 packets only the first so many are
    /// counted.
    pub fn declared(&self) -> Declared {
        self.declared
    }

    /// Distinct packets received.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered
    }

    /// The loss differentiation algorithm.
    pub fn lda(&self) -> &L {
        self.differentiator.algorithm()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The stream begins with packet `seq`, for the first time or anew: positions go on.
    #[cold]
    fn begin_stream(&mut self, seq: u64) {
        let position = if self.delivered == 0 { 0 } else { self.newest_position() + 1 };
        self.stream = Stream::new(seq, position);
    }

    /// Position of the newest packet.
    fn newest_position(&self) -> u64 {
        self.stream.position(self.newest.data.seq)
    }

    /// The arrival of `data` reveals a gap: the LDA judges the packets in it.
    #[inline(never)]
    fn on_gap(&mut self, arrival: &Observation, data: &Data, observer: &mut impl Observer) {
        let (before, from, to) = match self.loss_event {
            LossEventRule::ArrivalTime => (self.newest.data.seq, self.newest.arrived, arrival.at),
            LossEventRule::SendTimeAndRound => {
                (self.newest.data.seq, self.newest.data.sent_at, data.sent_at)
            }
        };
        let missing = &mut self.missing;
        let stream = self.stream;
        let mut keep = on_judged(|loss, judgement| {
            let Some(seq) = loss.seq() else { return };
            let at = interpolate(from, to, seq - before, data.seq - before);
            let position = stream.position(seq);
            missing.push(Lost { position, at, wireless: judgement.verdict.is_wireless() });
        });
        self.differentiator.judge_gap(arrival, &mut (observer, &mut keep));
    }

    /// Takes in the losses that the arrival of `data` declares, and its mark. Returns whether a
    /// loss event began.
    #[inline(never)]
    fn on_losses(&mut self, now: Time, data: &Data) -> Option<NewEvent> {
        let at = match self.loss_event {
            LossEventRule::ArrivalTime => now,
            LossEventRule::SendTimeAndRound => data.sent_at,
        };
        let position = self.stream.position(data.seq);
        let mut marked = self.is_marked(data).then_some(Lost { position, at, wireless: false });
        let mut event = None;
        while let Some(lost) = self.pop_declared().or_else(|| marked.take()) {
            if lost.wireless {
                continue;
            }
            if self.history.is_empty() {
                event = Some(self.first_loss(now, &lost));
            } else if self.further_loss(&lost) {
                event = event.or(Some(NewEvent { loss_event_rate: None }));
            }
        }
        event
    }

    /// Takes out and counts the earliest loss that is to be declared.
    fn pop_declared(&mut self) -> Option<Lost> {
        let lost = self.missing.pop_declared()?;
        let count =
            if lost.wireless { &mut self.declared.wireless } else { &mut self.declared.congestion };
        *count += 1;
        Some(lost)
    }

    /// A marked packet counts as a congestion loss from its arrival on (RFC 5348, section 5.1). It
    /// did arrive, so no LDA judges it.
    #[inline]
    fn is_marked(&self, data: &Data) -> bool {
        data.ecn == Ecn::Marked && self.ecn
    }

    /// The first congestion loss: the interval before it is made from the receive rate (RFC 5348,
    /// section 6.3.1).
    fn first_loss(&mut self, now: Time, lost: &Lost) -> NewEvent {
        let data = self.newest.data;
        let rtt = rtt_of(&data).unwrap_or(Span::ZERO);
        let rto = data.times.map_or(Span::ZERO, |times| times.rto.max(Span::ZERO));
        let receive_rate = self.measured_receive_rate(now);
        let p_for = |rate| {
            self.config.quirks.equation.loss_event_rate(
                rate,
                rtt,
                rto,
                data.payload_bytes,
                TOLERANCE,
            )
        };
        match self.config.quirks.first_interval {
            FirstInterval::LargestReceiveRate => {
                let half_a_packet =
                    0.5 * f64::from(data.payload_bytes) / rtt.as_secs_f64().max(1e-9);
                let p = p_for(receive_rate.max(self.largest_receive_rate).max(half_a_packet));
                self.history.first_event(1.0 / p, lost.position);
                self.event = Some((lost.at, data.round));
                NewEvent { loss_event_rate: None }
            }
            FirstInterval::Ns2 => {
                let p = p_for(receive_rate);
                let open_from = self.last_report.map_or(0, |report| report.newest + 1);
                self.history.first_event((1.0 / p).floor(), open_from);
                self.event = Some((data.sent_at, data.round));
                NewEvent { loss_event_rate: Some(p) }
            }
        }
    }

    /// A congestion loss after the first. Returns whether it starts a new loss event (RFC 5348,
    /// section 5.2).
    fn further_loss(&mut self, lost: &Lost) -> bool {
        let Some((start, round)) = self.event else { return false };
        let data = &self.newest.data;
        let past_rtt = lost.at - start > rtt_of(data).unwrap_or(Span::ZERO);
        // The interval counts from the lost packet on (section 5.3), in ns-2.35 from the one after
        // it.
        let (new, open_from) = match self.loss_event {
            LossEventRule::ArrivalTime => (past_rtt, lost.position),
            LossEventRule::SendTimeAndRound => {
                (past_rtt && is_later_round(data.round, round), lost.position + 1)
            }
        };
        if new {
            self.history.next_event(open_from);
            self.event = Some((lost.at, data.round));
        }
        new
    }

    fn round_trip_since_report(&self, now: Time) -> bool {
        rtt_of(&self.newest.data)
            .is_some_and(|rtt| self.last_report.is_none_or(|last| now - last.at >= rtt))
    }

    /// X_recv in payload bytes per second.
    fn measured_receive_rate(&self, now: Time) -> f64 {
        let one_per_second = f64::from(self.newest.data.payload_bytes);
        let measured = match self.reports {
            Reports::Rfc5348 if self.last_report.is_none() => return 0.0,
            Reports::Rfc5348 => self.received_over_last_rtt(now),
            Reports::Ns2 => self.received_since_report_or_over_rtt(now),
        };
        let (packets, span) = measured.unwrap_or((1, Span::from_secs(1)));
        packets as f64 * one_per_second / span.as_secs_f64()
    }

    /// Packets in the last R_(m-1), the round-trip time known at the last report (RFC 5348, section
    /// 6.2, step 2); none without one.
    fn received_over_last_rtt(&self, now: Time) -> Option<(u64, Span)> {
        let last = self.last_report?;
        let rtt = last.rtt.or_else(|| rtt_of(&self.newest.data))?;
        // The usual case: the timer ran its course.
        if now - last.at == rtt {
            return Some((self.since_report, rtt));
        }
        Some((self.arrivals.after(now - rtt).max(1), rtt))
    }

    /// Packets since the last report if that is a round-trip time ago, else in the last round-trip
    /// time before the newest; none if there are none or the round-trip time is unknown.
    fn received_since_report_or_over_rtt(&self, now: Time) -> Option<(u64, Span)> {
        let rtt = rtt_of(&self.newest.data)?;
        let elapsed = self.last_report.map_or(Span::MAX, |last| now - last.at);
        let received = if elapsed >= rtt {
            (self.since_report, elapsed)
        } else {
            (self.arrivals.within(rtt), rtt)
        };
        (received.0 > 0).then_some(received)
    }

    /// Sends a report and sets the timer for the next. `p` overrules the history's loss event rate.
    fn report(&mut self, now: Time, p: Option<f64>) {
        let arrived = self.newest.arrived;
        let newest = self.newest_position();
        let rtt = rtt_of(&self.newest.data);
        match self.reports {
            // Section 6.2, step 4.
            Reports::Rfc5348 => self.timer = rtt.map_or(NEVER, |rtt| now + rtt),
            Reports::Ns2 => {
                if let Some(rtt) = rtt {
                    self.timer = now + rtt * 3 / 2;
                }
                // A report at the instant of the arrival does not count as one after it, so a flow
                // that falls silent is reported twice.
                if self.last_report.is_some_and(|last| arrived < last.at) {
                    return;
                }
            }
        }
        self.loss_event_rate = p.unwrap_or_else(|| self.history.loss_event_rate(newest));
        self.receive_rate = self.measured_receive_rate(now);
        if rtt.is_some() {
            self.largest_receive_rate = self.largest_receive_rate.max(self.receive_rate);
        }
        self.report_due = true;
        self.last_report = Some(LastReport { at: now, newest, rtt });
        self.since_report = 0;
    }
}

/// R as a packet has it. A time that is not above zero is none.
#[inline]
fn rtt_of(data: &Data) -> Option<Span> {
    data.times
        .map(|times| times.rtt)
        .filter(|rtt| *rtt > Span::ZERO)
        .map(|rtt| rtt.max(SHORTEST_RTT))
}

/// Whether round `a` came after round `b`. Rounds are counted modulo 2^32 and compared as TCP's
/// sequence numbers are.
fn is_later_round(a: u32, b: u32) -> bool {
    (1..1 << 31).contains(&a.wrapping_sub(b))
}

/// The instant `part` of `whole` equal steps from `from` to `to`; the steps are packets of a gap,
/// which are not many.
fn interpolate(from: Time, to: Time, part: u64, whole: u64) -> Time {
    let span = (to - from).as_nanos();
    let part = part as i64;
    let whole = whole as i64;
    // Whole steps and the rest, so that nothing overflows.
    from + Span::from_nanos(span / whole * part + span % whole * part / whole)
}

#[cfg(test)]
mod tests;
