//! The receiver: which losses count, and when to report (RFC 5348, sections 5 and 6).
//!
//! Readings and deviations, of [`Config::rfc5348`]:
//! - A new loss event is reported at once, as section 6 has it, even where p did not rise since the last report
//!   (section 6.1, step 4, would wait).
//! - A packet that arrives after its loss was declared stays lost. Sections 5.1 and 6.1 allow the history to be rewritten.
//! - A mark starts a loss event by itself, even where a packet before it is missing and not yet declared lost; section 5.1
//!   would let the event begin with that one. It joins the event when it is declared.
//! - A gap before the first packet that arrives is not seen, so the null interval of section 6.3.1 does not occur.
//! - Section 6.3.1 takes the largest receive rate so far; the one measured at the moment of the loss is among them.
//! - Until a packet brings a round-trip time, reports after the first say one packet per second, the rate at which the
//!   sender sends without one. The RFC does not say.
//! - A report answers the packet with the highest number, not the one that arrived last.
//! - A round-trip time below 10 µs counts as 10 µs: a timer by a forged one of a nanosecond would keep the machine busy. The
//!   RFC sets no limit; section 8.3 knows clocks of 10 ms.
//! - A feedback timer that found nothing to report stops. The next packet is reported at once in any case.

use losscause::observe::Differentiator;
use losscause::{Arrival, Lda, Observed, Packet, Span, Time, Witness};

use super::arrivals::Arrivals;
use super::config::{FirstInterval, LossEventRule, Reports};
use super::loss_history::LossHistory;
use super::missing::{Lost, Missing};
use super::{Config, Data, Feedback, NEVER};
use crate::Ecn;

/// A TFRC receiver that asks an LDA about every lost packet. A loss called wireless is treated as received in the
/// loss history, not in the receive rate.
///
/// What every packet touches comes first, side by side; what only losses and reports touch comes last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver<L> {
    /// When to report at the latest, or [`NEVER`]: then, under the RFC's rule, the next packet is reported at once.
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
    /// A report is to be sent.
    report_due: bool,
    /// The packet with the highest sequence number so far. Before the first nobody asks for it: losses and reports follow
    /// packets.
    newest: Newest,
    differentiator: Differentiator<L>,
    history: LossHistory,
    /// When the current loss event began and in which of the sender's rounds.
    event: Option<(Time, u32)>,
    /// The largest receive rate so far, bytes per second.
    largest_receive_rate: f64,
    /// What the last report says.
    receive_rate: f64,
    loss_event_rate: f64,
    config: Config,
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
    /// Highest sequence number then.
    newest: u64,
    /// That packet's round-trip time (R_(m-1)).
    rtt: Option<Span>,
}

/// How near the equation must come to the receive rate (RFC 5348, section 6.3.1).
const TOLERANCE: f64 = 0.05;

/// No path is shorter than this, and no clock that drives a receiver much finer.
const SHORTEST_RTT: Span = Span::from_micros(10);

impl<L: Lda> Receiver<L> {
    /// A receiver that puts every lost packet to `lda`; one that always answers congestion gives plain TFRC.
    pub fn new(config: &Config, lda: L) -> Self {
        Self {
            reports: config.reports,
            loss_event: config.loss_event,
            ecn: config.ecn,
            differentiator: Differentiator::new(lda),
            newest: Newest::default(),
            missing: Missing::new(config.loss_after_pkts),
            history: LossHistory::new(config.weights, config.few_intervals, config.discounting),
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
            config: config.clone(),
        }
    }

    /// A data packet arrived.
    #[inline]
    pub fn on_data(&mut self, now: Time, data: &Data, witness: &mut impl Witness) {
        let packet = Packet { seq: data.seq, at: now, sent: Some(data.sent_at) };
        match self.differentiator.observe(packet, witness) {
            Observed::Duplicate => {}
            Observed::Late => {
                self.missing.on_late(data.seq);
                self.take_in(now, data, true);
            }
            Observed::InOrder(arrival) => {
                if arrival.lost() > 0 {
                    self.on_gap(&arrival, data, witness);
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
            // Section 6.1: the timer found nothing to report when it expired, or could not be set without a round-trip
            // time (section 6.3).
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

    /// The report to send now, if one is due; call until none.
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

    /// Distinct packets received.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered
    }

    /// The loss differentiation algorithm.
    pub fn lda(&self) -> &L {
        self.differentiator.lda()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The arrival of `data` reveals a gap: the LDA judges the packets in it.
    #[inline(never)]
    fn on_gap(&mut self, arrival: &Arrival, data: &Data, witness: &mut impl Witness) {
        let (before, from, to) = match self.loss_event {
            LossEventRule::ArrivalTime => (self.newest.data.seq, self.newest.arrived, arrival.at),
            LossEventRule::SendTimeAndRound => (self.newest.data.seq, self.newest.data.sent_at, data.sent_at),
        };
        let missing = &mut self.missing;
        self.differentiator.judge_gap(arrival, witness, |seq, judgement| {
            let at = interpolate(from, to, seq - before, data.seq - before);
            missing.push(Lost { seq, at, wireless: judgement.verdict.is_wireless() });
        });
    }

    /// Takes in the losses that the arrival of `data` declares, and its mark. Returns whether a loss event began.
    #[inline(never)]
    fn on_losses(&mut self, now: Time, data: &Data) -> Option<NewEvent> {
        let at = match self.loss_event {
            LossEventRule::ArrivalTime => now,
            LossEventRule::SendTimeAndRound => data.sent_at,
        };
        let mut marked = self.is_marked(data).then_some(Lost { seq: data.seq, at, wireless: false });
        let mut event = None;
        while let Some(lost) = self.missing.pop_declared().or_else(|| marked.take()) {
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

    /// A marked packet counts as a congestion loss from its arrival on (RFC 5348, section 5.1). It did arrive, so no
    /// algorithm is asked about it.
    #[inline]
    fn is_marked(&self, data: &Data) -> bool {
        data.ecn == Ecn::Marked && self.ecn
    }

    /// The first congestion loss: the interval before it is made from the receive rate (RFC 5348, section 6.3.1).
    fn first_loss(&mut self, now: Time, lost: &Lost) -> NewEvent {
        let data = self.newest.data;
        let rtt = rtt_of(&data).unwrap_or(Span::ZERO);
        let rto = data.times.map_or(Span::ZERO, |times| times.rto.max(Span::ZERO));
        let receive_rate = self.measured_receive_rate(now);
        let p_for = |rate| self.config.equation.loss_event_rate(rate, rtt, rto, data.payload_bytes, TOLERANCE);
        match self.config.first_interval {
            FirstInterval::LargestReceiveRate => {
                let half_a_packet = 0.5 * f64::from(data.payload_bytes) / rtt.as_secs_f64().max(1e-9);
                let p = p_for(receive_rate.max(self.largest_receive_rate).max(half_a_packet));
                self.history.first_event(1.0 / p, lost.seq);
                self.event = Some((lost.at, data.round));
                NewEvent { loss_event_rate: None }
            }
            FirstInterval::Ns2 => {
                let p = p_for(receive_rate);
                let open_from = self.last_report.map_or(0, |r| r.newest.saturating_add(1));
                self.history.first_event((1.0 / p).floor(), open_from);
                self.event = Some((data.sent_at, data.round));
                NewEvent { loss_event_rate: Some(p) }
            }
        }
    }

    /// A congestion loss after the first. Returns whether it starts a new loss event (RFC 5348, section 5.2).
    fn further_loss(&mut self, lost: &Lost) -> bool {
        let Some((start, round)) = self.event else { return false };
        let data = &self.newest.data;
        let past_rtt = lost.at - start > rtt_of(data).unwrap_or(Span::ZERO);
        // The interval counts from the lost packet on (section 5.3), in ns-2.35 from the one after it.
        let (new, open_from) = match self.loss_event {
            LossEventRule::ArrivalTime => (past_rtt, lost.seq),
            LossEventRule::SendTimeAndRound => (past_rtt && data.round > round, lost.seq + 1),
        };
        if new {
            self.history.next_event(open_from);
            self.event = Some((lost.at, data.round));
        }
        new
    }

    fn round_trip_since_report(&self, now: Time) -> bool {
        rtt_of(&self.newest.data).is_some_and(|rtt| self.last_report.is_none_or(|last| now - last.at >= rtt))
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

    /// Packets in the last R_(m-1), the round-trip time known at the last report (RFC 5348, section 6.2, step 2); none
    /// without one.
    fn received_over_last_rtt(&self, now: Time) -> Option<(u64, Span)> {
        let last = self.last_report?;
        let rtt = last.rtt.or_else(|| rtt_of(&self.newest.data))?;
        // The usual case: the timer ran its course.
        if now - last.at == rtt {
            return Some((self.since_report, rtt));
        }
        Some((self.arrivals.after(now - rtt).max(1), rtt))
    }

    /// Packets since the last report if that is a round-trip time ago, else in the last round-trip time before the
    /// newest; none if there are none or the round-trip time is unknown.
    fn received_since_report_or_over_rtt(&self, now: Time) -> Option<(u64, Span)> {
        let rtt = rtt_of(&self.newest.data)?;
        let elapsed = self.last_report.map_or(Span::MAX, |last| now - last.at);
        let received = if elapsed >= rtt { (self.since_report, elapsed) } else { (self.arrivals.within(rtt), rtt) };
        (received.0 > 0).then_some(received)
    }

    /// Sends a report and sets the timer for the next. `p` overrules the history's loss event rate.
    fn report(&mut self, now: Time, p: Option<f64>) {
        let Newest { arrived, data: Data { seq, .. } } = self.newest;
        let rtt = rtt_of(&self.newest.data);
        match self.reports {
            // Section 6.2, step 4.
            Reports::Rfc5348 => self.timer = rtt.map_or(NEVER, |rtt| now + rtt),
            Reports::Ns2 => {
                if let Some(rtt) = rtt {
                    self.timer = now + rtt * 3 / 2;
                }
                // A report at the instant of the arrival does not count as one after it, so a flow that falls
                // silent is reported twice.
                if self.last_report.is_some_and(|last| arrived < last.at) {
                    return;
                }
            }
        }
        self.loss_event_rate = p.unwrap_or_else(|| self.history.loss_event_rate(seq));
        self.receive_rate = self.measured_receive_rate(now);
        if rtt.is_some() {
            self.largest_receive_rate = self.largest_receive_rate.max(self.receive_rate);
        }
        self.report_due = true;
        self.last_report = Some(LastReport { at: now, newest: seq, rtt });
        self.since_report = 0;
    }
}

/// R as a packet has it. A time that is not above zero is none.
#[inline]
fn rtt_of(data: &Data) -> Option<Span> {
    data.times.map(|times| times.rtt).filter(|rtt| *rtt > Span::ZERO).map(|rtt| rtt.max(SHORTEST_RTT))
}

/// The instant `part` of `whole` equal steps from `from` to `to`; the steps are packets of a gap, which are not many.
fn interpolate(from: Time, to: Time, part: u64, whole: u64) -> Time {
    let (span, part, whole) = ((to - from).as_nanos(), part as i64, whole as i64);
    // Whole steps and the rest, so that nothing overflows.
    from + Span::from_nanos(span / whole * part + span % whole * part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfrc::Times;
    use losscause::lda::{Constant, Needs};
    use losscause::{Judgement, Loss, Reason, Verdict};
    use proptest::prelude::*;

    const RTT: Span = Span::from_millis(100);
    const PAYLOAD: u32 = 1000;

    fn at(ms: i64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn times(rtt: Span) -> Option<Times> {
        Some(Times { rtt, rto: rtt * 4 })
    }

    fn data(seq: u64, sent_ms: i64, round: u32) -> Data {
        Data {
            seq,
            sent_at: at(sent_ms),
            times: times(RTT),
            round,
            urgent: false,
            ecn: Ecn::NotCapable,
            payload_bytes: PAYLOAD,
            wire_bytes: PAYLOAD + 32,
        }
    }

    /// Calls the losses it is given wireless, by sequence number.
    struct Wireless(&'static [u64]);

    impl Lda for Wireless {
        fn name(&self) -> &'static str {
            "test"
        }
        fn needs(&self) -> Needs {
            Needs::default()
        }
        fn on_arrival(&mut self, _: &Arrival) {}
        fn judge(&self, loss: &Loss) -> Judgement {
            let wireless = self.0.contains(&loss.seq);
            let verdict = if wireless { Verdict::Wireless } else { Verdict::Congestion };
            Judgement { verdict, reason: Reason::Unconditional }
        }
    }

    /// A receiver fed with one packet every 10 ms, packet n at 10 n ms after 50 ms on the way; rounds count 100 ms.
    struct Flow<L> {
        receiver: Receiver<L>,
        reports: Vec<(i64, Feedback)>,
    }

    impl<L: Lda> Flow<L> {
        fn new(config: &Config, lda: L) -> Self {
            Self { receiver: Receiver::new(config, lda), reports: Vec::new() }
        }

        fn collect(&mut self, now: Time) {
            while let Some(report) = self.receiver.poll_transmit(now) {
                self.reports.push((now.as_nanos() / 1_000_000, report));
            }
        }

        fn arrive(&mut self, ms: i64, data: &Data) {
            self.timers(ms);
            self.receiver.on_data(at(ms), data, &mut ());
            self.collect(at(ms));
        }

        fn timers(&mut self, until_ms: i64) {
            while let Some(next) = self.receiver.poll_timeout().filter(|t| *t <= at(until_ms)) {
                self.receiver.on_timeout(next);
                self.collect(next);
            }
        }

        fn run(&mut self, seqs: std::ops::Range<u64>, lost: &[u64]) {
            for seq in seqs.filter(|seq| !lost.contains(seq)) {
                let sent = 10 * seq as i64;
                self.arrive(sent + 50, &data(seq, sent, seq as u32 / 10));
            }
        }

        fn p(&mut self) -> f64 {
            let newest = self.receiver.newest.data.seq;
            self.receiver.history.loss_event_rate(newest)
        }
    }

    fn plain() -> Constant {
        Constant::new(Verdict::Congestion)
    }

    fn rfc() -> Config {
        Config { discounting: None, ..Config::rfc5348() }
    }

    fn ns2() -> Config {
        Config { discounting: None, ..Config::ns2() }
    }

    #[test]
    fn the_first_packet_is_reported_at_once_then_every_round_trip() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..40, &[]);
        let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
        assert_eq!(times, [50, 150, 250, 350]);
        let (_, last) = flow.reports[3];
        // At 350 ms the timer comes before the packet that arrives then: the newest was sent at 290 ms.
        assert_eq!((last.echo, last.hold), (at(290), Span::from_millis(10)));
        assert_eq!(last.receive_rate, 100_000.0, "a packet of 1000 bytes every 10 ms");
        assert_eq!((last.loss_event_rate, last.wire_bytes), (0.0, 40));
    }

    #[test]
    fn the_first_report_has_measured_no_rate() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..21, &[]);
        let rates: Vec<f64> = flow.reports.iter().map(|r| r.1.receive_rate).collect();
        // At 150 ms the first packet was reported already and the eleventh comes just after the timer.
        assert_eq!(rates, [0.0, 90_000.0, 100_000.0]);
    }

    #[test]
    fn the_receive_rate_is_that_of_the_last_round_trip_known_at_the_report_before() {
        // Lost is 20, reported with 23 at 280 ms; the last report was at 250 ms.
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..24, &[20]);
        let (time, report) = flow.reports[3];
        assert_eq!((time, report.receive_rate), (280, 90_000.0), "nine in the 100 ms before");
        // A longer round-trip time holds from the next report on.
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..20, &[]);
        for seq in 20..60 {
            let packet = Data { times: times(RTT * 2), ..data(seq, 10 * seq as i64, 2) };
            flow.arrive(10 * seq as i64 + 50, &packet);
        }
        let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
        assert_eq!(times, [50, 150, 250, 350, 550]);
        assert!(flow.reports[2..].iter().all(|r| r.1.receive_rate == 100_000.0));
    }

    #[test]
    fn a_packet_after_silence_is_one_per_round_trip() {
        // Rule 2 of section 6.2 gives that as the least rate there is.
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..2, &[]);
        flow.arrive(1000, &data(2, 950, 1));
        assert_eq!(flow.reports[2].1.receive_rate, 10_000.0);
        let mut flow = Flow::new(&ns2(), plain());
        flow.run(0..2, &[]);
        flow.arrive(1000, &data(2, 950, 1));
        assert!(flow.reports.last().unwrap().1.receive_rate < 2_000.0, "ns-2 takes all the time since its report");
    }

    #[test]
    fn a_late_packet_was_received_like_any_other() {
        let mut flow = Flow::new(&rfc(), plain());
        // In (220, 320] came 18, 19, 21, 20, 22, 23, 25, 26 and 27, which declares the loss of 24.
        flow.run(0..22, &[20]);
        flow.arrive(265, &data(20, 200, 2));
        flow.run(22..28, &[24]);
        let (time, report) = flow.reports.last().unwrap();
        assert_eq!((*time, report.receive_rate), (320, 90_000.0));
    }

    #[test]
    fn a_forged_round_trip_time_of_a_nanosecond_does_not_keep_the_timer_busy() {
        for config in [rfc(), ns2()] {
            let mut flow = Flow::new(&config, plain());
            for seq in 0..20 {
                flow.arrive(0, &Data { times: times(Span::from_nanos(1)), ..data(seq, 0, 0) });
                let timer = flow.receiver.poll_timeout();
                assert!(timer.is_none_or(|timer| timer >= at(0) + SHORTEST_RTT), "{timer:?}");
            }
            let rates = flow.reports.iter().map(|(_, report)| report.receive_rate);
            assert!(rates.clone().all(|rate| rate <= 20.0 * 1000.0 / 10e-6), "{:?}", rates.collect::<Vec<_>>());
        }
    }

    #[test]
    fn without_a_round_trip_time_every_packet_is_reported() {
        let mut flow = Flow::new(&rfc(), plain());
        for seq in 0..3 {
            flow.arrive(1000 * seq, &Data { times: None, ..data(seq as u64, 0, 0) });
        }
        assert_eq!(flow.reports.len(), 3);
        assert_eq!(flow.receiver.poll_timeout(), None);
    }

    #[test]
    fn a_round_trip_time_that_is_not_above_zero_counts_as_none() {
        for config in [rfc(), ns2()] {
            let mut flow = Flow::new(&config, plain());
            flow.arrive(0, &data(0, 0, 0));
            for rtt in [Span::ZERO, -RTT] {
                for seq in [1, 5, 6, 7, 8] {
                    flow.arrive(10, &Data { times: times(rtt), urgent: true, ..data(seq, 0, 0) });
                }
            }
            let rates = flow.reports.iter().map(|(_, report)| report.receive_rate);
            assert!(flow.reports.len() > 1 && rates.clone().all(f64::is_finite), "{:?}", rates.collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_a_silent_round_trip_the_next_packet_is_reported_at_once() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..2, &[]);
        flow.arrive(1000, &data(2, 950, 1));
        let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
        assert_eq!(times, [50, 150, 1000]);
    }

    #[test]
    fn a_loss_is_declared_after_three_later_packets_and_reported_at_once() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..23, &[20]);
        assert!(flow.receiver.history.is_empty());
        flow.run(23..24, &[]);
        assert_eq!(flow.reports.last().unwrap().0, 280);
        assert!(flow.receiver.loss_event_rate() > 0.0);
    }

    #[test]
    fn a_packet_that_comes_late_was_never_lost() {
        for (config, lost) in [(rfc(), false), (ns2(), true)] {
            let mut flow = Flow::new(&config, plain());
            flow.run(0..22, &[20]);
            flow.arrive(265, &data(20, 200, 2));
            flow.run(22..40, &[]);
            assert_eq!(!flow.receiver.history.is_empty(), lost, "ns-2 does not wait");
            assert_eq!(flow.receiver.delivered_packets(), 40);
        }
    }

    #[test]
    fn a_duplicate_changes_nothing() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..22, &[]);
        flow.arrive(261, &data(20, 200, 2));
        assert_eq!(flow.receiver.delivered_packets(), 22);
        assert_eq!(flow.receiver.since_report, 2);
    }

    #[test]
    fn the_interval_before_the_first_loss_is_what_the_equation_needs_for_the_receive_rate() {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..24, &[20]);
        // 100 kB/s at 0.1 s and 0.4 s: 3/256, as worked in equation.rs.
        assert_eq!(flow.receiver.loss_event_rate(), 3.0 / 256.0);

        // ns-2 reports p as found, and keeps the interval in whole packets. At 260 ms, 110 ms after the last report,
        // ten packets have arrived since: 90.9 kB/s.
        let mut flow = Flow::new(&ns2(), plain());
        flow.run(0..22, &[20]);
        let p = flow.receiver.loss_event_rate();
        let rate = config_rate(p);
        assert!((rate / 90_909.0 - 1.0).abs() < 0.05, "{rate}");
        assert_eq!(1.0 / flow.p(), (1.0 / p).floor());
    }

    fn config_rate(p: f64) -> f64 {
        Config::ns2().equation.rate(p, RTT, RTT * 4, PAYLOAD)
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event_and_later_ones_another() {
        for config in [rfc(), ns2()] {
            // 50 and 59 are 90 ms apart; 62 is 120 ms after 50.
            let mut flow = Flow::new(&config, plain());
            flow.run(0..40, &[20]);
            let open = |flow: &Flow<Constant>| flow.receiver.event.unwrap().0;
            flow.run(40..61, &[50, 59]);
            let first = open(&flow);
            flow.run(61..70, &[62]);
            assert_eq!(open(&flow) - first, Span::from_millis(120));
        }
    }

    #[test]
    fn ns2_also_waits_for_a_round_after_the_last_event() {
        let mut flow = Flow::new(&ns2(), plain());
        flow.run(0..40, &[20]);
        let event = flow.receiver.event;
        let same_round = event.unwrap().1;
        for seq in (40..80).filter(|seq| *seq != 60) {
            flow.arrive(10 * seq as i64 + 50, &data(seq, 10 * seq as i64, same_round));
        }
        assert_eq!(flow.receiver.event, event);
    }

    #[test]
    fn loss_intervals_are_counted_from_loss_to_loss() {
        // Newest first: 110 - 60 = 50 and 60 - 20 = 40. ns-2 counts the one after the first loss from its last report:
        // packet 20 would have been reported at 250 ms, so that was packet 10.
        for (config, after_first) in [(rfc(), 40.0), (ns2(), 50.0)] {
            let mut flow = Flow::new(&config, plain());
            flow.run(0..200, &[20, 60, 110]);
            let lengths: Vec<f64> = flow.receiver.history.closed_lengths().collect();
            assert_eq!(lengths[..2], [50.0, after_first]);
            assert_eq!(lengths.len(), 3);
        }
    }

    #[test]
    fn each_packet_of_a_gap_has_its_own_verdict() {
        let mut flow = Flow::new(&rfc(), Wireless(&[20, 21]));
        flow.run(0..40, &[20, 21]);
        assert!(flow.receiver.history.is_empty());
        let mut flow = Flow::new(&rfc(), Wireless(&[20]));
        flow.run(0..40, &[20, 21]);
        let sent_21 = at(210 + 50);
        assert_eq!(flow.receiver.event.unwrap().0, sent_21, "the event begins with the congestion loss");
    }

    #[test]
    fn a_wireless_loss_is_missing_from_the_receive_rate() {
        let mut flow = Flow::new(&rfc(), Wireless(&[20, 21]));
        flow.run(0..40, &[20, 21]);
        let (time, report) = flow.reports[3];
        assert_eq!((time, report.receive_rate, report.loss_event_rate), (350, 80_000.0, 0.0));
    }

    #[test]
    fn ns2_reports_with_the_first_packet_after_a_round_trip() {
        let mut flow = Flow::new(&ns2(), plain());
        flow.arrive(50, &Data { urgent: true, ..data(0, 0, 0) });
        for seq in 1..20 {
            flow.arrive(50 + 30 * seq, &data(seq as u64, 30 * seq, 1));
        }
        let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
        assert_eq!(times, [50, 170, 290, 410, 530]);
        assert!((flow.reports[1].1.receive_rate - 4000.0 / 0.12).abs() < 1e-6);
    }

    #[test]
    fn ns2_reports_every_packet_that_asks_for_it() {
        let mut flow = Flow::new(&ns2(), plain());
        for seq in 0..5 {
            flow.arrive(50 + 10 * seq, &Data { urgent: true, ..data(seq as u64, 10 * seq, 0) });
        }
        assert_eq!(flow.reports.len(), 5);
    }

    #[test]
    fn ns2_reports_a_silent_flow_once_more_at_one_packet_per_second() {
        let mut flow = Flow::new(&ns2(), plain());
        flow.arrive(50, &data(0, 0, 0));
        flow.timers(5000);
        let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
        assert_eq!(times, [50, 200]);
        assert_eq!(flow.reports[1].1.receive_rate, 1000.0);
    }

    proptest! {
        #[test]
        fn any_order_of_packets_leaves_a_loss_event_rate_between_zero_and_one(
            packets in prop::collection::vec((0..300u64, 0..80_000i64, prop::option::of(0..300i64), any::<bool>()), 1..200),
            wireless in any::<bool>(),
            ns2 in any::<bool>(),
        ) {
            let config = if ns2 { Config::ns2() } else { Config::rfc5348() };
            let verdict = if wireless { Verdict::Wireless } else { Verdict::Congestion };
            let mut receiver = Receiver::new(&config, Constant::new(verdict));
            let mut now = at(0);
            let mut seen = std::collections::HashSet::new();
            for (i, (seq, wait_us, rtt_ms, urgent)) in packets.into_iter().enumerate() {
                // Numbers drift upwards with much reordering.
                let seq = seq + 2 * i as u64;
                now += Span::from_micros(wait_us);
                while let Some(next) = receiver.poll_timeout().filter(|t| *t <= now) {
                    receiver.on_timeout(next);
                    if let Some(report) = receiver.poll_transmit(next) {
                        prop_assert!(report.hold >= Span::ZERO && report.receive_rate >= 0.0);
                    }
                }
                let packet = Data {
                    times: rtt_ms.map(Span::from_millis).and_then(times),
                    urgent,
                    round: i as u32 / 7,
                    sent_at: now - Span::from_micros(wait_us * 2),
                    ..data(seq, 0, 0)
                };
                seen.insert(seq);
                receiver.on_data(now, &packet, &mut ());
                if let Some(report) = receiver.poll_transmit(now) {
                    prop_assert!((0.0..=1.0).contains(&report.loss_event_rate));
                    prop_assert!(report.receive_rate.is_finite() && report.receive_rate >= 0.0);
                }
                prop_assert!((0.0..=1.0).contains(&receiver.loss_event_rate()));
                if wireless {
                    prop_assert_eq!(receiver.loss_event_rate(), 0.0);
                }
                prop_assert!(receiver.poll_timeout().is_none_or(|t| t >= now));
            }
            prop_assert!(receiver.delivered_packets() >= seen.len() as u64);
        }
    }
}
