//! The sender: packets spaced at the allowed rate (RFC 5348, section 4).

use losscause::{Span, Time};

use super::config::Spacing;
use super::data_limited::NotLimited;
use super::rate::{Next, Rate, Report, Silence};
use super::rtt::RttEstimator;
use super::{Config, Data, Feedback, NEVER};
use crate::Ecn;

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Backlog {
    /// There is always more to send.
    #[default]
    Unlimited,
    /// Only so many packets are left; sending takes from them.
    Packets(u64),
}

impl Backlog {
    fn is_empty(self) -> bool {
        self == Backlog::Packets(0)
    }
}

/// A TFRC sender. Fields that every packet touches come first; those that only reports touch come
/// last.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// When to send the next packet, and when the no-feedback timer expires; may be [`NEVER`].
    send_at: Time,
    no_feedback_at: Time,
    /// Nominal time of the last packet: the next one's counts from it.
    last_send: Time,
    /// Spacing of the next packet.
    interval: Span,
    /// No two packets are spaced closer: [`Config::max_rate_bps`].
    shortest_interval: Span,
    backlog: Backlog,
    /// The next packet, without its time. Its number is the count of packets sent.
    next: Data,
    /// Packets to hand out now.
    due_pkts: u32,
    phase: Phase,
    /// Whether a packet was sent since the no-feedback timer was set.
    sent_since_timer: bool,
    spacing: Spacing,
    not_limited: NotLimited,
    rate: Rate,
    rtt: RttEstimator,
    started: Time,
    no_feedback_expirations: u64,
    /// Whether any report told of a loss event.
    has_lost: bool,
    config: Config,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started, or stopped.
    Closed,
    /// Sending at the allowed rate.
    Sending,
    /// A packet was due and the application had none (data-limited).
    WaitingForData,
}

/// What the packet to send waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    /// The rate did not allow it earlier.
    ForItsTime,
    /// The application had none.
    ForData,
}

impl Sender {
    /// A sender that has not started. See [`Config::validate`] for the range of the settings.
    pub fn new(config: &Config) -> Self {
        Self {
            next: Data {
                seq: 0,
                sent_at: Time::ZERO,
                times: None,
                round: 0,
                urgent: true,
                ecn: if config.ecn { Ecn::Capable } else { Ecn::NotCapable },
                payload_bytes: config.payload_bytes,
                wire_bytes: config.payload_bytes.saturating_add(config.header_bytes),
            },
            spacing: config.spacing,
            phase: Phase::Closed,
            backlog: Backlog::Unlimited,
            rtt: RttEstimator::new(config.quirks.rtt_weight, config.quirks.rto),
            rate: Rate::new(config),
            due_pkts: 0,
            last_send: Time::ZERO,
            interval: Span::ZERO,
            shortest_interval: shortest_interval(config),
            send_at: NEVER,
            no_feedback_at: NEVER,
            no_feedback_expirations: 0,
            has_lost: false,
            started: Time::ZERO,
            not_limited: NotLimited::default(),
            sent_since_timer: false,
            config: config.clone(),
        }
    }

    /// Starts sending.
    pub fn start(&mut self, now: Time) {
        self.phase = Phase::Sending;
        self.started = now;
        self.last_send = now;
        self.send(now, Waited::ForItsTime);
        self.set_no_feedback_timer(
            now,
            self.config.quirks.no_feedback_timer.first().unwrap_or_else(|| self.two_packets()),
        );
    }

    /// Stops sending for good.
    pub fn stop(&mut self, _now: Time) {
        self.phase = Phase::Closed;
        self.due_pkts = 0;
        self.send_at = NEVER;
        self.no_feedback_at = NEVER;
    }

    /// Sets what the application has to send from now on; unlimited by default.
    pub fn set_backlog(&mut self, now: Time, backlog: Backlog) {
        self.backlog = backlog;
        if self.phase != Phase::WaitingForData || backlog.is_empty() {
            return;
        }
        self.rate.on_data_after_none(now);
        self.phase = Phase::Sending;
        // The nominal time has passed: no credit is kept for the time without data.
        self.last_send = now;
        self.send(now, Waited::ForData);
    }

    /// A report arrived.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        // A report with a NaN is ignored.
        if self.phase == Phase::Closed
            || feedback.loss_event_rate.is_nan()
            || feedback.receive_rate.is_nan()
        {
            return;
        }
        // RFC 5348, section 4.3, steps 1 to 3.
        let times = self.rtt.update(now - feedback.echo - feedback.hold);
        let Some(rtt) = self.rtt.smoothed_secs() else { return };
        self.next.times = Some(times);
        self.next.round = self.next.round.wrapping_add(1);
        self.next.urgent = false;
        // The timer takes the rate from before this report, in both.
        let silence =
            (times.rtt * self.config.quirks.no_feedback_timer.rtts()).max(self.two_packets());
        self.set_no_feedback_timer(now, silence);
        let p = feedback.loss_event_rate.clamp(0.0, 1.0);
        self.has_lost |= p > 0.0;
        let data_limited = self.not_limited.on_report(now, feedback.echo, times.rtt);
        let report = Report {
            now,
            started: self.started,
            rtt,
            equation: self.config.quirks.equation.rate(
                p,
                times.rtt,
                times.rto,
                self.config.payload_bytes,
            ),
            loss_event_rate: p,
            receive_rate: feedback.receive_rate.max(0.0),
            // A receive rate of zero is the first report's, which has measured nothing (section
            // 4.3).
            data_limited: data_limited
                && self.backlog != Backlog::Unlimited
                && feedback.receive_rate > 0.0,
            nothing_to_send: self.phase == Phase::WaitingForData,
        };
        let next = self.rate.on_report(&report);
        self.obey(now, next);
    }

    /// The instant that [`Self::poll_timeout`] named has come.
    #[inline]
    pub fn on_timeout(&mut self, now: Time) {
        if self.send_at <= now {
            // Count the spacing from the nominal time, so that a late call does not slow the flow
            // down (RFC 5348, section 8.3), unless it is over a packet late.
            self.last_send = if now - self.send_at > self.interval { now } else { self.send_at };
            self.send(now, Waited::ForItsTime);
        }
        if self.no_feedback_at <= now {
            self.on_silence(now);
        }
    }

    /// When to call [`Self::on_timeout`] next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.send_at.min(self.no_feedback_at)).filter(|at| *at < NEVER)
    }

    /// The next packet to send now; call until none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Data> {
        if self.due_pkts == 0 {
            return None;
        }
        self.due_pkts -= 1;
        self.sent_since_timer = true;
        let mut data = self.next; // In one piece.
        data.sent_at = now;
        self.next.seq += 1;
        Some(data)
    }

    /// The allowed sending rate (X), payload bytes per second, at most [`Config::max_rate_bps`].
    pub fn rate(&self) -> f64 {
        let max = self.config.max_rate_bps.map_or(f64::INFINITY, |bps| bps as f64 / 8.0);
        self.rate.allowed().min(max)
    }

    /// The round-trip time estimate (R); none before the first feedback.
    pub fn rtt(&self) -> Option<Span> {
        self.next.times.map(|times| times.rtt)
    }

    /// Whether no report has told of a loss event yet, so that the rate doubles (RFC 5348, section
    /// 4.3, step 4).
    pub fn in_slow_start(&self) -> bool {
        !self.has_lost
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        self.next.seq
    }

    /// How often the no-feedback timer expired.
    pub fn no_feedback_expirations(&self) -> u64 {
        self.no_feedback_expirations
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Hands out a packet if the application has one, and sets the time of the next from
    /// `last_send`.
    fn send(&mut self, now: Time, waited: Waited) {
        match &mut self.backlog {
            Backlog::Unlimited => {}
            Backlog::Packets(0) => {
                self.phase = Phase::WaitingForData;
                self.send_at = NEVER;
                return;
            }
            Backlog::Packets(left) => *left -= 1,
        }
        self.due_pkts += 1;
        if waited == Waited::ForItsTime || !self.backlog.is_empty() {
            self.not_limited.on_all_sent(now);
        }
        self.interval = self.spacing();
        self.send_at = (self.last_send + self.interval).max(now);
    }

    fn on_silence(&mut self, now: Time) {
        self.no_feedback_expirations += 1;
        self.next.round = self.next.round.wrapping_add(1);
        self.next.urgent = true;
        let next = self.rate.on_silence(&Silence {
            now,
            rtt: self.rtt.smoothed_secs(),
            idle: !self.sent_since_timer,
            nothing_to_send: self.phase == Phase::WaitingForData,
        });
        let rtts = self.rtt().unwrap_or(Span::ZERO) * self.config.quirks.no_feedback_timer.rtts();
        self.set_no_feedback_timer(now, rtts.max(self.two_packets()));
        self.obey(now, next);
    }

    fn obey(&mut self, now: Time, next: Next) {
        if self.phase != Phase::Sending {
            return;
        }
        match next {
            Next::Keep => {}
            Next::SendNow => {
                self.last_send = now;
                self.send(now, Waited::ForItsTime);
            }
            Next::Reschedule => {
                self.interval = self.spacing();
                self.send_at = (self.last_send + self.interval).max(now);
            }
        }
    }

    fn spacing(&mut self) -> Span {
        let ratio = match self.spacing {
            Spacing::Even => 1.0,
            Spacing::SqrtRtt => self.rtt.sqrt_ratio(),
        };
        let seconds = f64::from(self.next.payload_bytes) / self.rate.spacing(ratio);
        Span::from_secs_f64_rounded(seconds).max(self.shortest_interval)
    }

    /// The time that two packets take at the allowed rate (2s/X).
    fn two_packets(&self) -> Span {
        Span::from_secs_f64_rounded(
            2.0 * f64::from(self.config.payload_bytes) / self.rate.allowed(),
        )
    }

    fn set_no_feedback_timer(&mut self, now: Time, span: Span) {
        self.no_feedback_at = now + span.max(SHORTEST_INTERVAL);
        self.sent_since_timer = false;
    }
}

/// No two packets, and no two timers, follow closer than this.
const SHORTEST_INTERVAL: Span = Span::from_nanos(100);

/// The spacing of packets at the largest rate.
fn shortest_interval(config: &Config) -> Span {
    let at_max =
        |bps: u64| Span::from_secs_f64_rounded(8.0 * f64::from(config.payload_bytes) / bps as f64);
    config.max_rate_bps.map_or(SHORTEST_INTERVAL, |bps| at_max(bps).max(SHORTEST_INTERVAL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tfrc::{Equation, Times};
    use proptest::prelude::*;

    fn report(echo: Time, loss_event_rate: f64, receive_rate: f64) -> Feedback {
        Feedback { echo, hold: Span::ZERO, receive_rate, loss_event_rate, wire_bytes: 40 }
    }

    fn rfc() -> Config {
        Config { payload_bytes: 1000, spacing: Spacing::Even, ..Config::rfc5348() }
    }

    /// Runs the sender by its own timers until `end`; returns the packets' times and numbers in
    /// milliseconds.
    fn run(sender: &mut Sender, from: Time, end: Time) -> Vec<(i64, u64)> {
        let mut packets = Vec::new();
        let mut now = from;
        loop {
            while let Some(data) = sender.poll_transmit(now) {
                assert_eq!(data.sent_at, now);
                packets.push((now.as_nanos() / 1_000_000, data.seq));
            }
            match sender.poll_timeout() {
                Some(next) if next <= end => now = next,
                _ => return packets,
            }
            sender.on_timeout(now);
        }
    }

    #[test]
    fn a_report_of_what_is_not_a_number_changes_nothing() {
        let mut sender = Sender::new(&rfc());
        sender.start(at(0));
        sender.on_feedback(at(100), &report(at(0), 0.01, 10_000.0));
        let before = (sender.rate(), sender.rtt(), sender.poll_timeout());
        sender.on_feedback(at(200), &report(at(0), f64::NAN, 10_000.0));
        sender.on_feedback(at(200), &report(at(0), 0.5, f64::NAN));
        assert_eq!((sender.rate(), sender.rtt(), sender.poll_timeout()), before);
    }

    #[test]
    fn rounds_begin_again_at_zero_after_the_last_number_there_is() {
        let mut sender = Sender::new(&Config::ns2());
        sender.start(at(0));
        run(&mut sender, at(0), at(0));
        sender.next.round = u32::MAX;
        sender.on_feedback(at(100), &report(at(0), 0.0, 1000.0));
        assert_eq!(sender.poll_transmit(at(100)).unwrap().round, 0);
        sender.next.round = u32::MAX;
        let silence = sender.no_feedback_at;
        sender.on_timeout(silence);
        assert_eq!(sender.next.round, 0);
    }

    #[test]
    fn one_packet_per_second_then_half_before_the_first_report() {
        let mut sender = Sender::new(&rfc());
        sender.start(at(0));
        // The no-feedback timer expires after 2 s and halves the rate; the next packet moves to 1 s
        // + 2 s.
        assert_eq!(run(&mut sender, at(0), at(3500)), [(0, 0), (1000, 1), (2000, 2)]);
        assert_eq!(sender.no_feedback_expirations(), 1);
        assert_eq!(sender.rate(), 500.0);
    }

    #[test]
    fn ns2_sends_every_third_second_and_halves_after_two_packets() {
        let mut sender = Sender::new(&Config::ns2());
        sender.start(at(0));
        let packets = run(&mut sender, at(0), at(10_000));
        // 1000/300 s apart; after 6.67 s the timer sends one more and doubles the spacing.
        assert_eq!(packets, [(0, 0), (3333, 1), (6666, 2), (6666, 3)]);
        assert_eq!(sender.rate(), 150.0);
    }

    #[test]
    fn the_first_report_gives_the_round_trip_and_initial_window() {
        let mut sender = Sender::new(&rfc());
        sender.start(at(0));
        run(&mut sender, at(0), at(0));
        let held = Feedback { hold: Span::from_millis(20), ..report(at(0), 0.0, 1000.0) };
        sender.on_feedback(at(120), &held);
        assert_eq!(sender.rtt(), Some(Span::from_millis(100)));
        assert_eq!(sender.rate(), 40e3);
        // 25 ms after the first packet has passed: at once, then every 25 ms.
        assert_eq!(run(&mut sender, at(120), at(170)), [(120, 1), (145, 2), (170, 3)]);
    }

    #[test]
    fn with_loss_packets_are_spaced_by_the_equation() {
        let mut sender = Sender::new(&rfc());
        sender.start(at(0));
        run(&mut sender, at(0), at(0));
        sender.on_feedback(at(100), &report(at(0), 0.0, 0.0));
        sender.on_feedback(at(100), &report(at(0), 0.01, 1e6));
        let rtt = Span::from_millis(100);
        assert_eq!(sender.rate(), Equation::Rfc5348.rate(0.01, rtt, rtt * 4, 1000));
        let data = {
            run(&mut sender, at(100), at(100));
            let next = sender.poll_timeout().unwrap();
            sender.on_timeout(next);
            sender.poll_transmit(next).unwrap()
        };
        assert_eq!(data.times, Some(Times { rtt, rto: rtt * 4 }));
        assert_eq!((data.payload_bytes, data.wire_bytes, data.urgent), (1000, 1040, false));
    }

    #[test]
    fn the_largest_rate_holds_whatever_the_reports_allow() {
        let mut sender = Sender::new(&Config { max_rate_bps: Some(400_000), ..rfc() });
        sender.start(at(0));
        run(&mut sender, at(0), at(0));
        sender.on_feedback(at(100), &report(at(0), 0.0, 1e9));
        sender.on_feedback(at(200), &report(at(100), 0.0, 1e9));
        // 80 kB/s by the reports; 400 kb/s are 50 kB/s, one packet of 1000 bytes every 20 ms.
        assert_eq!(sender.rate(), 50e3);
        let sent = run(&mut sender, at(200), at(240));
        assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [200, 220, 240]);
    }

    #[test]
    fn ns2_sends_at_once_on_every_report_of_slow_start() {
        let mut sender = Sender::new(&Config::ns2());
        sender.start(at(0));
        assert!(sender.poll_transmit(at(0)).unwrap().urgent, "no report yet");
        assert_eq!(sender.poll_transmit(at(0)), None);
        sender.on_feedback(at(100), &report(at(0), 0.0, 1000.0));
        assert!(!sender.poll_transmit(at(100)).unwrap().urgent);
        sender.on_feedback(at(110), &report(at(100), 0.0, 1000.0));
        assert_eq!(sender.poll_transmit(at(110)).unwrap().round, 2);
        sender.on_feedback(at(120), &report(at(100), 0.01, 1000.0));
        assert_eq!(sender.poll_transmit(at(120)), None, "slow start is over");
    }

    #[test]
    fn an_idle_application_is_served_at_once_and_earns_no_burst() {
        let mut sender = Sender::new(&rfc());
        sender.set_backlog(at(0), Backlog::Packets(1));
        sender.start(at(0));
        assert_eq!(run(&mut sender, at(0), at(1500)), [(0, 0)]);
        sender.set_backlog(at(1500), Backlog::Packets(2));
        assert_eq!(run(&mut sender, at(1500), at(1900)), [(1500, 1)]);
    }

    #[test]
    fn an_idle_sender_keeps_its_rate_over_silence() {
        let mut sender = Sender::new(&rfc());
        sender.set_backlog(at(0), Backlog::Packets(1));
        sender.start(at(0));
        run(&mut sender, at(0), at(0));
        sender.on_feedback(at(100), &report(at(0), 0.0, 1000.0));
        run(&mut sender, at(100), at(60_000));
        assert!(sender.no_feedback_expirations() > 10);
        assert_eq!(sender.rate(), 40e3);
    }

    /// Sends one packet every 50 ms from `from` on, less than the rate allows.
    fn run_with_little_data(sender: &mut Sender, from: i64, until: i64) {
        for ms in (from..until).step_by(50) {
            sender.set_backlog(at(ms), Backlog::Packets(1));
            run(sender, at(ms), at(ms + 49));
        }
    }

    #[test]
    fn an_application_below_its_rate_keeps_it_until_a_loss() {
        let started = || {
            let mut sender = Sender::new(&rfc());
            sender.start(at(0));
            run(&mut sender, at(0), at(0));
            sender.on_feedback(at(100), &report(at(0), 0.0, 0.0));
            run(&mut sender, at(100), at(200));
            sender.on_feedback(at(200), &report(at(100), 0.001, 20e3));
            sender
        };
        let mut busy = started();
        run(&mut busy, at(200), at(500));
        busy.on_feedback(at(500), &report(at(400), 0.001, 10e3));
        assert_eq!(busy.rate(), 20e3, "twice what arrived");

        let mut idle = started();
        idle.set_backlog(at(200), Backlog::Packets(0));
        run(&mut idle, at(200), at(249));
        run_with_little_data(&mut idle, 250, 500);
        idle.on_feedback(at(500), &report(at(450), 0.001, 10e3));
        assert_eq!(idle.rate(), 40e3, "twice the 20 kB/s from before");
        run_with_little_data(&mut idle, 500, 850);
        idle.on_feedback(at(850), &report(at(800), 0.002, 10e3));
        assert_eq!(idle.rate(), 10e3, "the larger of 20/2 and 0.85 * 10");
        // Two packets at once: the second waits for its time.
        idle.set_backlog(at(850), Backlog::Packets(2));
        run(&mut idle, at(850), at(1100));
        idle.on_feedback(at(1100), &report(at(950), 0.002, 4e3));
        assert_eq!(idle.rate(), 8e3);
    }

    #[test]
    fn a_first_report_is_never_taken_for_a_data_limited_one() {
        // Its receive rate of zero would push infinity out of the receive rates.
        let mut sender = Sender::new(&rfc());
        sender.set_backlog(at(0), Backlog::Packets(0));
        sender.start(at(0));
        sender.set_backlog(at(50), Backlog::Packets(1));
        run(&mut sender, at(50), at(50));
        sender.on_feedback(at(150), &report(at(50), 0.0, 0.0));
        sender.on_feedback(at(190), &report(at(50), 0.001, 0.0));
        assert!(sender.rate() > 100e3, "{}", sender.rate());
    }

    #[derive(Clone, Debug)]
    enum Op {
        Timeout,
        Feedback { echo_back_us: i64, hold_us: i64, receive_rate: f64, loss_event_rate: f64 },
        Backlog(Option<u64>),
        Wait { us: i64 },
        Stop,
        Start,
    }

    fn op() -> impl Strategy<Value = Op> {
        let rate =
            prop_oneof![Just(0.0), Just(f64::NAN), Just(-5.0), Just(f64::INFINITY), 0.0..1e9f64];
        let p = prop_oneof![Just(0.0), Just(1.0), Just(7.0), Just(f64::NAN), 0.0..1.0f64];
        prop_oneof![
            8 => Just(Op::Timeout),
            6 => (-1000..10_000_000i64, -1000..1_000_000i64, rate, p).prop_map(|(e, h, r, p)| Op::Feedback {
                echo_back_us: e,
                hold_us: h,
                receive_rate: r,
                loss_event_rate: p,
            }),
            2 => prop::option::of(0..20u64).prop_map(Op::Backlog),
            4 => (0..2_000_000i64).prop_map(|us| Op::Wait { us }),
            1 => Just(Op::Stop),
            1 => Just(Op::Start),
        ]
    }

    proptest! {
        #[test]
        fn no_sequence_of_events_panics_or_spoils_the_rate_or_timers(
            ops in prop::collection::vec(op(), 1..200),
            ns2 in any::<bool>(),
        ) {
            let config = if ns2 { Config::ns2() } else { Config::rfc5348() };
            let mut sender = Sender::new(&config);
            let mut now = at(0);
            sender.start(now);
            let mut next_seq = 0;
            for op in ops {
                match op {
                    Op::Timeout => {
                        let Some(next) = sender.poll_timeout() else { continue };
                        prop_assert!(next >= now);
                        now = next;
                        sender.on_timeout(now);
                    }
                    Op::Feedback { echo_back_us, hold_us, receive_rate, loss_event_rate } => {
                        let feedback = Feedback {
                            echo: now - Span::from_micros(echo_back_us),
                            hold: Span::from_micros(hold_us),
                            receive_rate,
                            loss_event_rate,
                            wire_bytes: 40,
                        };
                        sender.on_feedback(now, &feedback);
                    }
                    Op::Backlog(packets) => {
                        sender.set_backlog(now, packets.map_or(Backlog::Unlimited, Backlog::Packets));
                    }
                    Op::Wait { us } => {
                        // A driver calls on time.
                        let limit = sender.poll_timeout().unwrap_or(Time::MAX);
                        now = (now + Span::from_micros(us)).min(limit);
                    }
                    Op::Stop => sender.stop(now),
                    Op::Start => {
                        if sender.poll_timeout().is_none() {
                            sender.start(now);
                        }
                    }
                }
                while let Some(data) = sender.poll_transmit(now) {
                    prop_assert_eq!(data.seq, next_seq);
                    next_seq += 1;
                }
                prop_assert!(sender.rate() >= 0.0, "{}", sender.rate());
                prop_assert!(sender.poll_timeout().is_none_or(|at| at >= now));
            }
        }

        #[test]
        fn by_the_rfc_the_rate_keeps_within_twice_the_receive_rates(
            reports in prop::collection::vec((0.0..1e6f64, 0.0..0.5f64), 3..40),
        ) {
            let mut sender = Sender::new(&rfc());
            sender.start(at(0));
            let mut recent: Vec<f64> = Vec::new();
            for (i, (receive_rate, p)) in reports.into_iter().enumerate() {
                let now = at(100 + 100 * i as i64);
                sender.on_feedback(now, &report(now - Span::from_millis(100), p, receive_rate));
                recent.push(receive_rate);
                if i >= 3 && p > 0.0 {
                    let largest = recent[recent.len() - 3..].iter().fold(0.0, |a: f64, b| a.max(*b));
                    prop_assert!(sender.rate() <= (2.0 * largest).max(1000.0 / 64.0));
                }
            }
        }
    }
}
