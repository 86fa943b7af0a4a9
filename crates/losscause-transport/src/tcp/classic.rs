//! The sender of the RFCs and of ns-2: packet numbers, timer and transmission. Recovery and control
//! are plugged in.

use losscause::Recovery as EndedRecovery;
use losscause::{
    Algorithm, Loss, Numbers, Observation, Observer, Signal, Time, Verdict, ask, tell,
};

use super::arrivals::Arrivals;
use super::config::Config;
use super::control::{AckEvent, Cloneable, Growth, TimeoutEvent};
use super::ecn::Reaction;
use super::loss_event::{Answer, Found, LossEvent};
use super::quirks::{BackoffEnds, Halving};
use super::recovery::{Progress, Recovery};
use super::rto::Rto;
use super::segment::{Ack, Segment};
use super::stats::Stats;
use super::stream::Stream;
use super::window::Window;

/// The sender of a connection that always has data to send. `L` judges why packets were lost; with
/// `()` every loss is congestion.
#[derive(Clone, Debug)]
pub(super) struct Classic<L> {
    config: Config,
    opened: Option<Time>,
    stream: Stream,
    /// The cwnd set when the SYN is acknowledged.
    initial_window_pkts: u32,
    /// Packet `una` when the retransmission timer last expired.
    timed_out: Option<u64>,
    /// The one segment whose round-trip time is being measured (Karn).
    timed: Option<Timed>,
    /// When the last segment was sent.
    last_sent: Option<Time>,
    deadline: Option<Time>,
    window: Window,
    recovery: Recovery,
    arrivals: Arrivals,
    lda: L,
    /// The recovery since the last detected loss, until it ends.
    recovering: Option<Recovering>,
    control: Box<dyn Cloneable>,
    rto: Rto,
    ecn: Reaction,
    stats: Stats,
}

#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u64,
    sent_at: Time,
}

/// A recovery that has not ended.
#[derive(Clone, Debug)]
struct Recovering {
    began: Time,
    /// Count of retransmissions before this recovery.
    retransmissions: u64,
    /// The window before the cut, if it was cut.
    uncut: Option<Window>,
    /// Whether every loss so far was called wireless.
    spared: bool,
    /// One above the last packet that was declared lost.
    declared: u64,
}

impl<L: Algorithm> Classic<L> {
    /// A closed connection. `config` is valid.
    pub(super) fn new(config: &Config, lda: L) -> Self {
        let syn = u64::from(config.quirks.syn_bytes.is_some());
        let mut window = Window::new(config);
        if syn == 1 {
            window.restart(1);
        }
        Self {
            config: *config,
            opened: None,
            stream: Stream {
                una: 0,
                next: 0,
                sent: 0,
                end: config.limit_pkts.map_or(u64::MAX, |pkts| pkts.saturating_add(syn)),
            },
            initial_window_pkts: config.initial_window_pkts,
            timed_out: None,
            timed: None,
            last_sent: None,
            deadline: None,
            window,
            recovery: Recovery::new(config),
            arrivals: Arrivals::new(config.sack_bytes().is_some()),
            lda,
            recovering: None,
            control: config.response.build(config),
            rto: Rto::new(config),
            ecn: Reaction::new(config.ecn),
            stats: Stats::default(),
        }
    }

    /// Opens the connection: from now on [`Sender::poll_transmit`] has segments.
    pub(super) fn start(&mut self, now: Time) {
        self.opened.get_or_insert(now);
    }

    /// The application hands over more data.
    pub(super) fn hand_over(&mut self, now: Time, pkts: u64) {
        // RFC 5681, section 4.1.
        if self.stream.una == self.stream.sent
            && self.last_sent.is_some_and(|sent| now - sent > self.rto.current())
        {
            let restart = f64::from(self.initial_window_pkts);
            self.window.cwnd = self.window.cwnd.min(restart);
        }
        self.stream.end = self.stream.end.saturating_add(pkts);
    }

    /// An ACK arrived. An ACK of something never sent, or older than the newest, changes nothing.
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        if (self.stream.una..=self.stream.sent).contains(&ack.next) && self.ecn.is_due(ack) {
            self.on_echo(now, observer);
        }
        if ack.next > self.stream.una && ack.next <= self.stream.sent {
            self.on_new_ack(now, ack, observer);
        } else if ack.next == self.stream.una && self.stream.una < self.stream.sent {
            self.on_dup_ack(now, ack, observer);
        }
    }

    /// An echoed mark is certain congestion, so no algorithm is asked.
    fn on_echo(&mut self, now: Time, observer: &mut impl Observer) {
        let flight_pkts = self.stream.flight_pkts();
        let loss = LossEvent { at: now, flight_pkts, verdict: Verdict::Congestion, sending: None };
        self.control.on_mark(&mut self.window, &loss);
        self.ecn.on_echo(self.stream.sent);
        self.stats.ecn_reductions += 1;
        let mut mark = self.declared(now, Signal::EcnMark);
        mark.lost_pkts = 0;
        tell(&mut self.lda, &mark, observer);
    }

    fn on_new_ack(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        let opening = self.stream.una == 0 && self.config.quirks.syn_bytes.is_some();
        let newly_acked_pkts = ack.next - self.stream.una;
        let filled = self.fills_window();
        self.stats.new_acks += 1;
        self.stats.window_limited_acks += u64::from(self.is_window_limited());
        self.stream.una = ack.next;
        self.stream.next = self.stream.next.max(ack.next);
        // Karn's rule: a retransmission cancels the measurement, see `on_dup_ack` and `on_timeout`.
        if let Some(timed) = self.timed.take_if(|timed| timed.seq < ack.next) {
            self.rto.on_sample(timed.sent_at, now);
        } else if self.rto.is_backed_off()
            && self.config.quirks.backoff_ends == BackoffEnds::Timestamp
            && self.opened.is_some_and(|opened| opened <= ack.echo && ack.echo < now)
        {
            // An echo from before the connection, or from the future, is forged.
            self.rto.on_sample(ack.echo, now);
        }
        if opening && self.timed_out.is_some() {
            self.rto.on_late_syn();
        }
        let progress =
            self.recovery.on_new_ack(now, ack, newly_acked_pkts, &self.stream, &mut self.window);
        if !matches!(progress, Progress::Partial { restart_timer: false, .. }) {
            // RFC 6298, 5.2 and 5.3. A cwnd below 1 (Vegas in ns-2) opens only after a timeout.
            let waits =
                self.stream.una < self.stream.sent || self.window.cwnd < 1.0 && !self.is_finished();
            self.deadline = waits.then(|| now + self.rto.current());
        }
        if let Progress::Partial { clear_backoff: true, .. } = progress {
            self.rto.clear_backoff();
        }
        let sample = self.sample(now, ack, self.window.cwnd);
        self.lda.observe(&sample);
        observer.on_observation(&sample, self.lda.scheme());
        match progress {
            Progress::Recovered => self.on_recovered(now, observer),
            Progress::Partial { .. } => self.judge_further_losses(now, observer),
            Progress::Open => {}
        }
        let growth = match progress {
            // RFC 3168, section 6.1.2: an echo never opens the window.
            _ if opening || ack.ece && self.config.ecn => Growth::Repairing,
            Progress::Open if filled => Growth::Due,
            Progress::Open => Growth::Unused,
            Progress::Recovered if self.config.grows_on_recovery_exit() => Growth::Due,
            Progress::Recovered | Progress::Partial { .. } => Growth::Repairing,
        };
        let acked = AckEvent {
            at: now,
            newly_acked_pkts,
            rtt: sample.delay,
            srtt: self.rto.srtt(),
            una: self.stream.una,
            next: self.stream.next,
            growth,
        };
        self.control.on_ack(&mut self.window, &acked);
        if opening {
            self.control.on_open(&mut self.window, self.initial_window_pkts);
        } else if let Some(most_pkts) = self.config.quirks.max_cwnd_pkts {
            self.window.cap(most_pkts);
        }
    }

    /// Whether the receiver's window, rather than cwnd, limits the sender.
    #[inline]
    fn is_window_limited(&self) -> bool {
        let Window { cwnd, max_pkts, .. } = self.window;
        cwnd >= f64::from(max_pkts) && self.stream.flight_pkts() >= u64::from(max_pkts)
    }

    /// Whether cwnd, rather than the receiver's window or the end of the data, limits what is in
    /// flight. ns-2 does not check.
    #[inline]
    fn fills_window(&self) -> bool {
        self.config.quirks.halving != Halving::FlightSize
            || self.window.cwnd < f64::from(self.window.max_pkts)
                && self.stream.flight_pkts() >= self.window.cwnd as u64
    }

    fn on_dup_ack(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        self.control.on_dup_ack(now);
        let cwnd = self.window.cwnd;
        let found = self.recovery.on_dup_ack(now, ack, &self.stream, &mut self.window);
        let sample = self.sample(now, ack, cwnd);
        self.lda.observe(&sample);
        observer.on_observation(&sample, self.lda.scheme());
        let Some(found) = found else {
            self.judge_further_losses(now, observer);
            return;
        };
        let (verdict, declared) = self.judge(now, ack, observer);
        let uncut = self.window.clone();
        let mut answer = Answer::Kept;
        if !self.ecn.covers(self.stream.una) {
            answer = self.control.on_loss(&mut self.window, &LossEvent::new(now, &found, verdict));
            if answer == Answer::Cut {
                self.ecn.on_loss(self.stream.sent);
            }
        }
        self.recovery.on_answer(answer, &self.stream, &mut self.window);
        let retransmissions = self.stats.retransmissions;
        let uncut = (answer == Answer::Cut).then_some(uncut);
        let spared = verdict.is_wireless();
        self.recovering = Some(Recovering { began: now, retransmissions, uncut, spared, declared });
        self.timed = None;
        if found.back_off {
            self.rto.back_off();
        }
        if self.config.quirks.fast_retransmit_restarts_timer {
            self.deadline = Some(now + self.rto.current());
        }
        self.stats.fast_retransmits += 1;
    }

    /// Further packets of a recovery are lost. If the window was spared so far, the algorithm may
    /// call for the cut now. The first verdict stands for the whole event in the observer's counts.
    fn judge_further_losses(&mut self, now: Time, observer: &mut impl Observer) {
        if !self.lda.scope().observes_every_loss && !observer.wants_every_loss() {
            return;
        }
        let mut loss = self.declared(now, Signal::Gap);
        let Some(recovering) = &mut self.recovering else { return };
        let Some(lost) =
            self.recovery.lost(recovering.declared, self.config.dup_ack_threshold, &self.stream)
        else {
            return;
        };
        recovering.declared = lost.numbers.last + 1;
        (loss.numbers, loss.lost_pkts, loss.is_further) = (Some(lost.numbers), lost.pkts, true);
        let loss = tell(&mut self.lda, &loss, observer);
        if !recovering.spared || !self.lda.scope().judges_every_loss {
            return;
        }
        let judgement = ask(&self.lda, &loss, observer);
        if judgement.verdict.is_wireless() {
            return;
        }
        let uncut = self.window.clone();
        let event = LossEvent::new(now, &Found::with(self.stream.flight_pkts()), judgement.verdict);
        let answer = self.control.on_loss(&mut self.window, &event);
        recovering.spared = false;
        if answer == Answer::Cut {
            recovering.uncut = Some(uncut);
            self.ecn.on_loss(self.stream.sent);
        }
        self.recovery.on_answer(answer, &self.stream, &mut self.window);
    }

    /// The losses are repaired. If the algorithm now calls the loss wireless, the cut is undone.
    fn on_recovered(&mut self, now: Time, observer: &mut impl Observer) {
        let Some(recovering) = self.recovering.take() else { return };
        let lost_pkts = self.stats.retransmissions - recovering.retransmissions;
        let ended = EndedRecovery::new(recovering.began, now, lost_pkts);
        observer.on_recovered(&ended);
        let revised = self.lda.on_recovered(&ended);
        if let (Some(judgement), Some(uncut)) = (revised, recovering.uncut)
            && judgement.verdict.is_wireless()
            && uncut.cwnd >= uncut.ssthresh
        {
            self.window.cwnd = self.window.cwnd.max(uncut.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(uncut.ssthresh);
        }
    }

    /// The sample for the algorithm. Stream and recovery must already include this ACK.
    #[inline]
    fn sample(&mut self, now: Time, ack: &Ack, cwnd_pkts: f64) -> Observation {
        let rtt = self.recovery.rtt(now, ack);
        self.arrivals.on_ack(now, rtt, cwnd_pkts, &self.stream, self.recovery.scoreboard())
    }

    /// The loss of packet `una`.
    fn declared(&self, now: Time, signal: Signal) -> Loss {
        let mut loss = Loss::new(now, signal);
        loss.numbers = Some(Numbers::one(self.stream.una));
        loss.in_flight_pkts = self.stream.flight_pkts();
        loss.cwnd_pkts = Some(self.window.cwnd);
        loss
    }

    /// Asks why packet `una` was lost. Returns the verdict, and the number above the last packet
    /// that is lost.
    fn judge(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) -> (Verdict, u64) {
        let mut loss = self.declared(now, Signal::Gap);
        let mut declared = self.stream.una + 1;
        if let Some(lost) =
            self.recovery.lost(self.stream.una, self.config.dup_ack_threshold, &self.stream)
        {
            (loss.numbers, loss.lost_pkts) = (Some(lost.numbers), lost.pkts);
            declared = lost.numbers.last + 1;
        }
        loss.label = ack.wireless.then_some(Verdict::Wireless);
        let loss = tell(&mut self.lda, &loss, observer);
        (ask(&self.lda, &loss, observer).verdict, declared)
    }

    /// Handles a deadline of [`Sender::poll_timeout`]; has no effect before it.
    pub(super) fn on_timeout(&mut self, now: Time, observer: &mut impl Observer) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        let una = self.stream.una;
        if una == 0 && self.config.quirks.syn_bytes.is_some() {
            // RFC 5681, section 3.1: a lost SYN leaves an initial window of one segment.
            self.initial_window_pkts = 1;
        }
        let again = self.timed_out == Some(una);
        let spared = self.spares_timeout(now, observer);
        self.recovery.on_timeout(now, &self.stream, &mut self.window);
        if !spared {
            let timeout = TimeoutEvent {
                at: now,
                flight_pkts: self.stream.flight_pkts(),
                again,
                lost_pkts: 0,
            };
            self.control.on_timeout(&mut self.window, &timeout);
        }
        self.arrivals.on_timeout(&self.stream);
        self.recovering = None;
        self.ecn.on_loss(self.stream.sent);
        self.rto.back_off();
        self.deadline = Some(now + self.rto.current());
        self.timed_out = Some(una);
        self.timed = None;
        self.stream.next = una;
        self.stats.timeouts += 1;
        observer.on_timeout();
    }

    /// Whether a timeout leaves the window unchanged: only if the algorithm judges timeouts and
    /// calls this one wireless.
    fn spares_timeout(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let loss = self.declared(now, Signal::Timeout);
        let loss = tell(&mut self.lda, &loss, observer);
        if !self.lda.scope().judges_timeouts {
            return false;
        }
        observer.overrule(&loss).unwrap_or_else(|| self.lda.judge(&loss)).verdict.is_wireless()
    }

    /// When to call [`Sender::on_timeout`]; `None` means never.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The next segment to send at `now`. Call it until it returns `None` after each of the other
    /// calls.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.opened?;
        let seq = self.recovery.poll_transmit(now, &mut self.stream, &self.window)?;
        Some(self.transmit(now, seq))
    }

    fn transmit(&mut self, now: Time, seq: u64) -> Segment {
        let idle = self.stream.una == self.stream.sent;
        let retransmission = seq < self.stream.sent;
        if retransmission {
            self.stats.retransmissions += 1;
        } else {
            self.stream.sent = seq + 1;
            self.timed.get_or_insert(Timed { seq, sent_at: now });
        }
        self.last_sent = Some(now);
        // RFC 6298, 5.1.
        if idle || self.deadline.is_none() {
            self.deadline = Some(now + self.rto.current());
        }
        let transmission = self.stats.segments_sent;
        self.stats.segments_sent += 1;
        let (payload_bytes, wire_bytes) = match self.config.syn_bytes() {
            Some(syn_bytes) if seq == 0 => (0, syn_bytes),
            _ => (self.config.payload_bytes, self.config.wire_bytes()),
        };
        let (ecn, cwr) = self.ecn.stamp(!retransmission && payload_bytes > 0);
        Segment {
            seq,
            transmission,
            sent_at: now,
            retransmission,
            ecn,
            cwr,
            echo_us: 0,
            payload_bytes,
            wire_bytes,
        }
    }

    /// How many packets may be unacknowledged: cwnd plus what recovery adds, at most the receiver's
    /// window.
    pub(super) fn window_pkts(&self) -> u32 {
        self.recovery.window_pkts(&self.stream, &self.window)
    }

    /// The congestion window, packets, without fast recovery's inflation (as ns-2 traces it). At
    /// least 1, except with [`super::VegasRules::Ns2`].
    pub(super) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// The slow start threshold, packets.
    pub(super) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Packets known to have arrived, including the SYN: everything below this number is
    /// acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.stream.una
    }

    /// Whether all data is acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.stream.una >= self.stream.end
    }

    /// Counts since the start.
    pub(super) fn stats(&self) -> Stats {
        self.stats
    }
}

#[cfg(test)]
mod tests;
