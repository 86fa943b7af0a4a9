//! The sender: packet numbers, timer and transmission. Recovery and response are plugged in.

use losscause::ack::{Numbers, Recovery as EndedRecovery};
use losscause::truth::SenderWitness;
use losscause::{AckSample, DeclaredLoss, SenderLda, Signal, Time, Verdict};

use super::arrivals::Arrivals;
use super::config::{Config, ConfigError};
use super::ecn::Reaction;
use super::loss_event::{Answer, LossEvent};
use super::quirks::{BackoffEnds, Halving};
use super::recovery::{Progress, Recovery};
use super::response::{Acked, Growth, Response};
use super::rto::Rto;
use super::segment::{Ack, Segment};
use super::stream::Stream;
use super::window::Window;

/// The sender of a connection that always has data to send. `L` judges why packets were lost; with `()` every loss is
/// congestion.
#[derive(Clone, Debug)]
pub struct Sender<L = ()> {
    config: Config,
    opened: Option<Time>,
    stream: Stream,
    /// The cwnd set when the SYN is acknowledged.
    initial_window_pkts: u32,
    /// Packet `una` when the retransmission timer last expired.
    timed_out: Option<u64>,
    /// The one segment whose round-trip time is being measured (Karn).
    timed: Option<Timed>,
    deadline: Option<Time>,
    window: Window,
    recovery: Recovery,
    arrivals: Arrivals,
    lda: L,
    /// The recovery since the last detected loss, until it ends.
    recovering: Option<Recovering>,
    response: Response,
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
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, including retransmissions and the SYN.
    pub segments_sent: u64,
    /// Segments that had been sent before.
    pub retransmissions: u64,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Window reductions caused by ECN marks.
    pub ecn_reductions: u64,
    /// ACKs of new data.
    pub new_acks: u64,
    /// ACKs of new data that arrived while the receiver's window was full and cwnd was no smaller.
    pub window_limited_acks: u64,
}

impl Sender {
    /// A closed connection that treats every loss as congestion.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Self::with_lda(config, ())
    }
}

impl<L: SenderLda> Sender<L> {
    /// A closed connection that asks `lda` about each loss that duplicate ACKs reveal.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn with_lda(config: &Config, lda: L) -> Result<Self, ConfigError> {
        config.validate()?;
        let syn = u64::from(config.quirks.syn_bytes.is_some());
        let mut window = Window::new(config);
        if syn == 1 {
            window.restart(1);
        }
        Ok(Self {
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
            deadline: None,
            window,
            recovery: Recovery::new(config),
            arrivals: Arrivals::new(config.sack_bytes().is_some()),
            lda,
            recovering: None,
            response: Response::new(config),
            rto: Rto::new(config),
            ecn: Reaction::new(config.ecn),
            stats: Stats::default(),
        })
    }

    /// Opens the connection: from now on [`Sender::poll_transmit`] has segments.
    pub fn start(&mut self, now: Time) {
        self.opened.get_or_insert(now);
    }

    /// An ACK arrived. An ACK of something never sent, or older than the newest, changes nothing.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, witness: &mut impl SenderWitness) {
        if (self.stream.una..=self.stream.sent).contains(&ack.next) && self.ecn.is_due(ack) {
            self.on_echo(now);
        }
        if ack.next > self.stream.una && ack.next <= self.stream.sent {
            self.on_new_ack(now, ack);
        } else if ack.next == self.stream.una && self.stream.una < self.stream.sent {
            self.on_dup_ack(now, ack, witness);
        }
    }

    /// An echoed mark is certain congestion, so no algorithm is asked.
    fn on_echo(&mut self, now: Time) {
        let flight_pkts = self.stream.flight_pkts();
        let loss = LossEvent { at: now, flight_pkts, verdict: Verdict::Congestion, sending: None };
        self.response.on_mark(&mut self.window, &loss);
        self.ecn.on_echo(self.stream.sent);
        self.stats.ecn_reductions += 1;
        let mut mark = self.declared(now, Signal::EcnMark);
        mark.lost_pkts = 0;
        self.lda.on_loss(&mark);
    }

    fn on_new_ack(&mut self, now: Time, ack: &Ack) {
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
        let progress = self.recovery.on_new_ack(now, ack, newly_acked_pkts, &self.stream, &mut self.window);
        if !matches!(progress, Progress::Partial { restart_timer: false, .. }) {
            // RFC 6298, 5.2 and 5.3. A cwnd below 1 (Vegas in ns-2) opens only after a timeout.
            let waits = self.stream.una < self.stream.sent || self.window.cwnd < 1.0 && !self.is_finished();
            self.deadline = waits.then(|| now + self.rto.current());
        }
        if let Progress::Partial { clear_backoff: true, .. } = progress {
            self.rto.clear_backoff();
        }
        let mut sample = self.sample(now, ack, self.window.cwnd);
        self.lda.on_ack(&sample);
        // The response counts by the cumulative ACK, with SACK too.
        sample.newly_acked_pkts = newly_acked_pkts;
        if progress == Progress::Recovered {
            self.on_recovered(now);
        }
        let growth = match progress {
            // RFC 3168, section 6.1.2: an echo never opens the window.
            _ if opening || ack.ece && self.config.ecn => Growth::Repairing,
            Progress::Open if filled => Growth::Due,
            Progress::Open => Growth::Unused,
            Progress::Recovered if self.config.grows_on_recovery_exit() => Growth::Due,
            Progress::Recovered | Progress::Partial { .. } => Growth::Repairing,
        };
        let acked = Acked { sample: &sample, stream: &self.stream, srtt: self.rto.srtt(), growth };
        self.response.on_ack(&mut self.window, &acked);
        if opening {
            self.response.on_open(&mut self.window, self.initial_window_pkts);
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

    /// Whether cwnd, rather than the receiver's window or the end of the data, limits what is in flight. ns-2 does not
    /// check.
    #[inline]
    fn fills_window(&self) -> bool {
        self.config.quirks.halving != Halving::FlightSize
            || self.window.cwnd < f64::from(self.window.max_pkts)
                && self.stream.flight_pkts() >= self.window.cwnd as u64
    }

    fn on_dup_ack(&mut self, now: Time, ack: &Ack, witness: &mut impl SenderWitness) {
        self.response.on_dup_ack(now);
        let cwnd = self.window.cwnd;
        let found = self.recovery.on_dup_ack(now, ack, &self.stream, &mut self.window);
        let sample = self.sample(now, ack, cwnd);
        self.lda.on_ack(&sample);
        let Some(found) = found else { return };
        let verdict = self.judge(now, ack, witness);
        let uncut = self.window.clone();
        let mut answer = Answer::Kept;
        if !self.ecn.covers(self.stream.una) {
            answer = self.response.on_fast_retransmit(&mut self.window, &LossEvent::new(now, &found, verdict));
            if answer == Answer::Cut {
                self.ecn.on_loss(self.stream.sent);
            }
        }
        self.recovery.on_answer(answer, &self.stream, &mut self.window);
        let retransmissions = self.stats.retransmissions;
        let uncut = (answer == Answer::Cut).then_some(uncut);
        self.recovering = Some(Recovering { began: now, retransmissions, uncut });
        self.timed = None;
        if found.back_off {
            self.rto.back_off();
        }
        if self.config.quirks.fast_retransmit_restarts_timer {
            self.deadline = Some(now + self.rto.current());
        }
        self.stats.fast_retransmits += 1;
    }

    /// The losses are repaired. If the algorithm now calls the loss wireless, the cut is undone.
    fn on_recovered(&mut self, now: Time) {
        let Some(recovering) = self.recovering.take() else { return };
        let lost_pkts = self.stats.retransmissions - recovering.retransmissions;
        let revised = self.lda.on_recovery_end(&EndedRecovery::new(recovering.began, now, lost_pkts));
        if let (Some(judgement), Some(uncut)) = (revised, recovering.uncut)
            && judgement.verdict.is_wireless()
        {
            self.window.cwnd = self.window.cwnd.max(uncut.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(uncut.ssthresh);
        }
    }

    /// The sample for the algorithm. Stream and recovery must already include this ACK.
    #[inline]
    fn sample(&mut self, now: Time, ack: &Ack, cwnd_pkts: f64) -> AckSample {
        let rtt = self.recovery.rtt(now, ack);
        let mut sample = self.arrivals.on_ack(now, rtt, &self.stream, self.recovery.scoreboard());
        sample.cwnd_pkts = Some(cwnd_pkts);
        sample
    }

    /// The loss of packet `una`.
    fn declared(&self, now: Time, signal: Signal) -> DeclaredLoss {
        let mut loss = DeclaredLoss::new(now, signal);
        loss.numbers = Some(Numbers::one(self.stream.una));
        loss.in_flight_pkts = self.stream.flight_pkts();
        loss.cwnd_pkts = Some(self.window.cwnd);
        loss
    }

    /// Asks why packet `una` was lost.
    fn judge(&mut self, now: Time, ack: &Ack, witness: &mut impl SenderWitness) -> Verdict {
        let mut loss = self.declared(now, Signal::Gap);
        loss.label = ack.wireless.then_some(Verdict::Wireless);
        loss.truth = witness.truth(self.stream.una..self.stream.sent);
        self.lda.on_loss(&loss);
        let judgement = self.lda.judge(&loss);
        witness.judged(&loss, &judgement);
        judgement.verdict
    }

    /// Handles a deadline of [`Sender::poll_timeout`]; has no effect before it.
    pub fn on_timeout(&mut self, now: Time, witness: &mut impl SenderWitness) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        let una = self.stream.una;
        if una == 0 && self.config.quirks.syn_bytes.is_some() {
            // RFC 5681, section 3.1: a lost SYN leaves an initial window of one segment.
            self.initial_window_pkts = 1;
        }
        let again = self.timed_out == Some(una);
        let spared = self.spares_timeout(now, witness);
        self.recovery.on_timeout(now, &self.stream, &mut self.window);
        if !spared {
            self.response.on_timeout(&mut self.window, now, self.stream.flight_pkts(), again);
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
        witness.timed_out();
    }

    /// Whether a timeout leaves the window unchanged: only if the algorithm judges timeouts and calls this one
    /// wireless.
    fn spares_timeout(&mut self, now: Time, witness: &mut impl SenderWitness) -> bool {
        let mut loss = self.declared(now, Signal::Timeout);
        let asked = self.lda.judges_timeouts();
        if asked {
            loss.truth = witness.truth(self.stream.una..self.stream.sent);
        }
        self.lda.on_loss(&loss);
        asked && self.lda.judge(&loss).verdict.is_wireless()
    }

    /// When to call [`Sender::on_timeout`]; `None` means never.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The next segment to send at `now`. Call it until it returns `None` after each of the other calls.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
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
        Segment { seq, transmission, sent_at: now, retransmission, ecn, cwr, payload_bytes, wire_bytes }
    }

    /// How many packets may be unacknowledged: cwnd plus what recovery adds, at most the receiver's window.
    pub fn window_pkts(&self) -> u32 {
        self.recovery.window_pkts(&self.stream, &self.window)
    }

    /// The congestion window, packets, without fast recovery's inflation (as ns-2 traces it). At least 1, except with
    /// [`super::VegasRules::Ns2`].
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// The slow start threshold, packets.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Packets known to have arrived, including the SYN: everything below this number is acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.stream.una
    }

    /// Whether all data is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.stream.una >= self.stream.end
    }

    /// Counts since the start.
    pub fn stats(&self) -> Stats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use losscause::{AsTold, Span};

    use super::super::segment::SackBlocks;
    use super::super::{LimitedTransmit, Quirks};
    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Without a SYN, packet numbers are data packets.
    fn plain(config: Config) -> Config {
        Config { quirks: Quirks { syn_bytes: None, ..config.quirks }, ..config }
    }

    fn started(config: &Config) -> Sender {
        let mut sender = Sender::new(config).unwrap();
        sender.start(at(0));
        sender
    }

    fn sent(sender: &mut Sender, ms: i64) -> Vec<u64> {
        std::iter::from_fn(|| sender.poll_transmit(at(ms))).map(|segment| segment.seq).collect()
    }

    fn ack(sender: &mut Sender, ms: i64, next: u64) -> Vec<u64> {
        sender.on_ack(at(ms), &ack_of(next), &mut ());
        sent(sender, ms)
    }

    fn ack_of(next: u64) -> Ack {
        let (echo, echo_of_retransmission, sack) = (at(0), false, SackBlocks::NONE);
        Ack { next, echo, echo_of_retransmission, ece: false, wireless: false, wire_bytes: 40, sack }
    }

    fn time_out(sender: &mut Sender) -> (i64, Vec<u64>) {
        let now = sender.poll_timeout().unwrap();
        sender.on_timeout(now, &mut ());
        let ms = now.as_nanos() / 1_000_000;
        (ms, sent(sender, ms))
    }

    /// A sender with ten packets in flight, of which `una` is the first, and ssthresh at the receiver's window.
    fn ten_in_flight(config: &Config) -> Sender {
        let mut sender = started(&Config { initial_window_pkts: 10, ..*config });
        assert_eq!(sent(&mut sender, 0).len(), 10);
        sender
    }

    #[test]
    fn nothing_is_sent_before_the_start() {
        let mut sender = Sender::new(&Config::rfc()).unwrap();
        assert_eq!(sender.poll_transmit(at(0)), None);
        assert_eq!(sender.poll_timeout(), None);
    }

    #[test]
    fn slow_start_doubles_the_window_every_round_trip() {
        let mut sender = started(&plain(Config { initial_window_pkts: 1, ..Config::rfc() }));
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(ack(&mut sender, 100, 1), [1, 2]);
        assert_eq!(ack(&mut sender, 200, 2), [3, 4]);
        assert_eq!(ack(&mut sender, 200, 3), [5, 6]);
        assert_eq!(sender.cwnd(), 4.0);
    }

    #[test]
    fn the_receivers_window_bounds_what_is_in_flight() {
        let mut sender = started(&plain(Config { max_window_pkts: 3, initial_window_pkts: 10, ..Config::rfc() }));
        assert_eq!(sent(&mut sender, 0), [0, 1, 2]);
        assert_eq!(ack(&mut sender, 100, 1), [3]);
    }

    #[test]
    fn a_cap_on_cwnd_leaves_what_duplicate_acks_let_out_and_the_receivers_window_does_not() {
        let quirks = Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC };
        let config = plain(Config { initial_window_pkts: 4, quirks, ..Config::rfc() });
        let third_duplicate = |config: Config| {
            let mut sender = started(&config);
            assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
            // cwnd would be 5.
            assert_eq!(ack(&mut sender, 100, 1), [4]);
            (0..3).map(|_| ack(&mut sender, 110, 1)).last()
        };
        // cwnd is half of 4; three duplicates inflate it to 5, and 4 are in flight.
        assert_eq!(
            third_duplicate(Config { quirks: Quirks { max_cwnd_pkts: Some(4), ..quirks }, ..config }),
            Some(vec![1, 5])
        );
        assert_eq!(third_duplicate(Config { max_window_pkts: 4, ..config }), Some(vec![1]));
    }

    #[test]
    fn the_syn_takes_packet_number_0_and_the_window_opens_with_its_ack() {
        let mut sender = started(&Config::ns2());
        let syn = sender.poll_transmit(at(0)).unwrap();
        assert_eq!((syn.seq, syn.payload_bytes, syn.wire_bytes), (0, 0, 40));
        assert_eq!(sender.poll_transmit(at(0)), None);
        sender.on_ack(
            at(50),
            &Ack {
                next: 1,
                echo: at(0),
                echo_of_retransmission: false,
                ece: false,
                wireless: false,
                wire_bytes: 40,
                sack: SackBlocks::NONE,
            },
            &mut (),
        );
        let data = sender.poll_transmit(at(50)).unwrap();
        assert_eq!((data.seq, data.payload_bytes, data.wire_bytes), (1, 1000, 1040));
        assert_eq!(sent(&mut sender, 50), [2]);
    }

    #[test]
    fn a_lost_syn_leaves_an_initial_window_of_one_packet() {
        let mut sender = started(&Config::ns2());
        sent(&mut sender, 0);
        assert_eq!(time_out(&mut sender), (3_000, vec![0]));
        assert_eq!(ack(&mut sender, 3_050, 1), [1]);
    }

    #[test]
    fn after_a_lost_syn_the_timer_of_data_starts_at_three_seconds() {
        let quirks = Quirks { syn_bytes: Some(40), ..Quirks::RFC };
        let mut sender = started(&Config { quirks, ..Config::rfc() });
        sent(&mut sender, 0);
        assert_eq!(time_out(&mut sender), (1_000, vec![0]));
        assert_eq!(ack(&mut sender, 1_050, 1), [1]);
        assert_eq!(sender.poll_timeout(), Some(at(4_050)), "RFC 6298, 5.7; the back-off alone would say 3,050");
    }

    #[test]
    fn a_window_that_the_receiver_does_not_let_the_sender_use_does_not_grow_but_in_ns2() {
        let after = |config| {
            let mut sender = started(&plain(Config { max_window_pkts: 4, initial_window_pkts: 2, ..config }));
            sent(&mut sender, 0);
            for next in 1..=20 {
                ack(&mut sender, 100, next);
            }
            (sender.cwnd(), sender.stats().new_acks, sender.stats().window_limited_acks)
        };
        // Two ACKs open the window from 2 to 4.
        assert_eq!(after(Config::rfc()), (4.0, 20, 18));
        let (cwnd, new_acks, limited) = after(Config::ns2());
        assert!(cwnd > 6.0 && (new_acks, limited) == (20, 18));
    }

    #[test]
    fn what_was_sent_above_a_hole_does_not_make_the_threshold_of_the_next_loss_larger() {
        let config = Config { initial_window_pkts: 10, initial_ssthresh_pkts: Some(10), ..Config::rfc() };
        let config = Config { max_window_pkts: 100, ..config };
        let mut sender = started(&plain(config));
        sent(&mut sender, 0);
        // Packet 0 is lost. 40 duplicates: ten in flight, two by limited transmit, then one for each above the cut
        // window.
        for _ in 0..40 {
            ack(&mut sender, 100, 0);
        }
        assert_eq!((sender.ssthresh(), sender.stream.flight_pkts()), (5.0, 45));
        time_out(&mut sender);
        assert_eq!(sender.ssthresh(), 2.5, "half of the window of 5, not of 45 packets");
    }

    #[test]
    fn the_third_duplicate_ack_halves_the_window_and_resends_the_first_packet() {
        let quirks = Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC };
        let config = Config { quirks, ..Config::rfc() };
        let mut sender = ten_in_flight(&config);
        assert_eq!(ack(&mut sender, 100, 1), [10, 11]);
        // 11 packets in flight, 1 to 11. Packet 1 is lost.
        for expected in [vec![], vec![], vec![1]] {
            assert_eq!(ack(&mut sender, 110, 1), expected);
        }
        assert_eq!((sender.cwnd(), sender.ssthresh(), sender.window_pkts()), (5.5, 5.5, 8));
        // Duplicates 4 to 6 fill the window up to 11; 7 to 9 release three more.
        for expected in [vec![], vec![], vec![], vec![12], vec![13], vec![14]] {
            assert_eq!(ack(&mut sender, 120, 1), expected);
        }
        // The ACK of the retransmission covers everything below packet 12: back to 5.5.
        assert_eq!(ack(&mut sender, 200, 12), [15, 16]);
        assert_eq!(sender.cwnd(), 5.5);
        let stats = sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts, stats.retransmissions), (1, 0, 1));
    }

    #[test]
    fn ns2_lets_the_ack_that_ends_recovery_open_the_window() {
        let mut sender = ten_in_flight(&plain(Config::ns2()));
        ack(&mut sender, 100, 1);
        for _ in 0..3 {
            ack(&mut sender, 110, 1);
        }
        // Half of 11; ssthresh is rounded down to 5.
        assert_eq!((sender.cwnd(), sender.ssthresh()), (5.5, 5.0));
        ack(&mut sender, 200, 11);
        assert_eq!(sender.cwnd(), 5.5 + 1.0 / 5.5);
    }

    #[test]
    fn limited_transmit_sends_two_new_packets_and_leaves_them_out_of_the_half() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        assert_eq!(ack(&mut sender, 100, 1), [10, 11]);
        assert_eq!(ack(&mut sender, 110, 1), [12]);
        assert_eq!(ack(&mut sender, 120, 1), [13]);
        assert_eq!(ack(&mut sender, 130, 1), [1]);
        assert_eq!(sender.ssthresh(), 5.5);
    }

    #[test]
    fn limited_transmit_after_a_timeout_differs() {
        let after_timeout = |config| {
            let mut sender = ten_in_flight(&plain(config));
            assert_eq!(time_out(&mut sender).1, [0]);
            // Packet 0 is acknowledged and cwnd is 2: packets 1 and 2 are sent again, then a duplicate arrives.
            assert_eq!(ack(&mut sender, 10_000, 1), [1, 2]);
            ack(&mut sender, 10_010, 1)
        };
        assert_eq!(after_timeout(Config::rfc()), []);
        assert_eq!(after_timeout(Config::ns2()), [3]);
    }

    #[test]
    fn a_timeout_starts_over_from_the_first_unacknowledged_packet() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        assert_eq!(ack(&mut sender, 100, 2).len(), 3);
        // 100 ms measured: the floor of 1 s counts from the last new ACK.
        assert_eq!(time_out(&mut sender), (1_100, vec![2]));
        assert_eq!(sender.cwnd(), 1.0);
        assert_eq!(ack(&mut sender, 1_200, 3), [3, 4]);
        // A later packet had arrived before, so it is not sent again.
        assert_eq!(ack(&mut sender, 1_300, 13), [13, 14, 15]);
        assert_eq!(sender.stats().timeouts, 1);
        assert_eq!(sender.stats().retransmissions, 3);
    }

    #[test]
    fn the_timer_doubles_while_the_same_packet_is_lost() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        let times: Vec<i64> = (0..7).map(|_| time_out(&mut sender).0).collect();
        assert_eq!(times, [1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000]);
        assert_eq!(sender.ssthresh(), 5.0, "held");
    }

    #[test]
    fn a_timeout_of_another_packet_halves_what_was_sent_since_the_first() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        time_out(&mut sender);
        assert_eq!(sender.ssthresh(), 5.0);
        // Slow start up to 5: packets 1 and 2, 3 and 4, 5 and 6, 7 and 8.
        for next in 1..5 {
            assert_eq!(ack(&mut sender, 1_100, next).len(), 2);
        }
        time_out(&mut sender);
        assert_eq!(sender.ssthresh(), 2.5, "half of packets 4 to 8, not of 4 to 9");
    }

    /// Without timestamps.
    fn karn() -> Config {
        let quirks = Quirks { backoff_ends: BackoffEnds::TimedSegment, ..Quirks::RFC };
        plain(Config { quirks, ..Config::rfc() })
    }

    #[test]
    fn without_timestamps_retransmissions_are_not_measured() {
        let mut sender = started(&Config { initial_window_pkts: 1, ..karn() });
        sent(&mut sender, 0);
        assert_eq!(time_out(&mut sender), (1_000, vec![0]));
        // This ACK could be of either transmission: the back-off stays, 2 s from now.
        assert_eq!(ack(&mut sender, 1_010, 1), [1, 2]);
        assert_eq!(sender.poll_timeout(), Some(at(3_010)));
        // Packet 1 was sent once: 500 ms, so 500 + 4 * 250, and no back-off.
        assert_eq!(ack(&mut sender, 1_510, 2), [3]);
        assert_eq!(sender.poll_timeout(), Some(at(3_010)));
        assert_eq!(ack(&mut sender, 1_511, 3), [4]);
        assert_eq!(sender.poll_timeout(), Some(at(3_011)));
    }

    #[test]
    fn a_fast_retransmit_ends_the_measurement_too() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        for _ in 0..3 {
            ack(&mut sender, 10, 0);
        }
        ack(&mut sender, 700, 12);
        assert_eq!(sender.poll_timeout(), Some(at(1_700)), "still the 1 s from before any measurement");
    }

    #[test]
    fn an_ack_of_a_retransmission_ends_the_back_off_only_with_timestamps() {
        let timer = |config| {
            let mut sender = ten_in_flight(&config);
            time_out(&mut sender);
            sender.on_ack(at(1_100), &Ack { echo: at(1_000), ..ack_of(1) }, &mut ());
            sender.poll_timeout()
        };
        assert_eq!(timer(karn()), Some(at(3_100)), "1.1 s and twice the initial 1 s");
        assert_eq!(timer(plain(Config::rfc())), Some(at(2_100)), "100 ms measured, so the smallest timeout of 1 s");
    }

    #[test]
    fn fast_retransmit_restarts_the_timer_in_ns2_only() {
        let timer = |config| {
            let mut sender = ten_in_flight(&plain(Config { initial_rto: Span::from_secs(1), ..config }));
            ack(&mut sender, 10, 1);
            let before = sender.poll_timeout();
            for _ in 0..3 {
                ack(&mut sender, 100, 1);
            }
            (before, sender.poll_timeout())
        };
        assert_eq!(timer(Config::rfc()), (Some(at(1_010)), Some(at(1_010))));
        assert_eq!(timer(Config::ns2()), (Some(at(210)), Some(at(300))));
    }

    #[test]
    fn a_limited_stream_ends_and_stops_its_timer() {
        let mut sender = started(&Config { limit_pkts: Some(3), ..Config::ns2() });
        assert_eq!(sent(&mut sender, 0), [0]);
        assert_eq!(ack(&mut sender, 10, 1), [1, 2]);
        assert_eq!(ack(&mut sender, 20, 2), [3]);
        assert!(!sender.is_finished());
        assert_eq!(ack(&mut sender, 30, 4), []);
        assert!(sender.is_finished());
        assert_eq!(sender.poll_timeout(), None);
        assert_eq!(sender.stats().segments_sent, 4);
    }

    #[test]
    fn old_acks_and_acks_of_unsent_packets_change_nothing() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        ack(&mut sender, 10, 5);
        let before = format!("{sender:?}");
        assert_eq!(ack(&mut sender, 20, 4), []);
        assert_eq!(ack(&mut sender, 20, 1_000), []);
        assert_eq!(format!("{sender:?}"), before);
    }

    #[test]
    fn a_loss_that_the_receiver_calls_wireless_is_repaired_at_the_same_window_and_a_timeout_is_congestion() {
        let config =
            plain(Config { initial_window_pkts: 10, initial_ssthresh_pkts: Some(10), ..Config::ns2_classic() });
        let after_three = |wireless: [bool; 3]| {
            let mut sender = Sender::with_lda(&config, AsTold).unwrap();
            sender.start(at(0));
            while sender.poll_transmit(at(0)).is_some() {}
            let ack = |next, wireless| {
                let (echo, echo_of_retransmission, sack) = (at(0), false, SackBlocks::NONE);
                Ack { next, echo, echo_of_retransmission, ece: false, wireless, wire_bytes: 40, sack }
            };
            // Packet 0 arrived, packet 1 did not.
            sender.on_ack(at(100), &ack(1, false), &mut ());
            for label in wireless {
                sender.on_ack(at(101), &ack(1, label), &mut ());
            }
            let again = sender.poll_transmit(at(101)).unwrap();
            assert!(again.retransmission && again.seq == 1);
            sender
        };
        let mut told = after_three([true; 3]);
        assert_eq!((told.cwnd(), told.ssthresh()), (10.1, 10.0));
        assert_eq!(after_three([false; 3]).cwnd(), 5.0);
        assert_eq!(after_three([false, false, true]).cwnd(), 10.1, "the acknowledgement that declares the loss counts");
        told.on_timeout(told.poll_timeout().unwrap(), &mut ());
        assert_eq!((told.cwnd(), told.ssthresh()), (1.0, 5.0));
    }

    /// Calls every loss congestion, but wireless at the end of a recovery that repaired only one packet.
    #[derive(Default)]
    struct SecondThoughts(Vec<(Signal, u64)>);

    impl SenderLda for SecondThoughts {
        fn name(&self) -> &'static str {
            "second thoughts"
        }
        fn needs(&self) -> losscause::ack::SenderInputs {
            losscause::ack::SenderInputs::NONE
        }
        fn on_ack(&mut self, _: &AckSample) {}
        fn on_loss(&mut self, loss: &DeclaredLoss) {
            self.0.push((loss.signal, loss.numbers.unwrap().first));
        }
        fn judge(&self, loss: &DeclaredLoss) -> losscause::Judgement {
            ().judge(loss)
        }
        fn on_recovery_end(&mut self, recovery: &EndedRecovery) -> Option<losscause::Judgement> {
            let judgement = losscause::Judgement { verdict: Verdict::Wireless, reason: losscause::Reason::Labelled };
            (recovery.lost_pkts == 1).then_some(judgement)
        }
    }

    #[test]
    fn a_verdict_that_is_revised_when_the_recovery_ends_undoes_the_cut() {
        // Packet 1 is lost; or 1 and 4, so that a partial ACK asks for 4.
        let after = |partial_acks: &[u64]| {
            let ssthresh = Some(10);
            let config = Config { initial_window_pkts: 10, initial_ssthresh_pkts: ssthresh, ..Config::rfc() };
            let config = plain(config).with_variant(super::super::Variant::NewReno);
            let mut sender = Sender::with_lda(&config, SecondThoughts::default()).unwrap();
            sender.start(at(0));
            while sender.poll_transmit(at(0)).is_some() {}
            let acks = [1, 1, 1, 1].iter().chain(partial_acks).chain(&[13]);
            for (ms, next) in (100..).zip(acks) {
                sender.on_ack(at(ms), &ack_of(*next), &mut ());
                while sender.poll_transmit(at(ms)).is_some() {}
            }
            assert_eq!(sender.lda.0, [(Signal::Gap, 1)]);
            (sender.cwnd() > 10.0, sender.ssthresh())
        };
        assert_eq!(after(&[]), (true, 10.0));
        let (whole, ssthresh) = after(&[4]);
        assert!(!whole && ssthresh < 10.0, "two packets were lost: {ssthresh}");
    }

    #[test]
    fn every_transmission_has_its_own_number() {
        let mut sender = ten_in_flight(&plain(Config::rfc()));
        sender.on_timeout(sender.poll_timeout().unwrap(), &mut ());
        let again = sender.poll_transmit(at(1_000)).unwrap();
        assert_eq!((again.seq, again.transmission, again.retransmission), (0, 10, true));
    }
}
