//! The sender: what an ACK, a timer and the room in the network make it do. The parts decide; this file calls them in
//! the kernel's order (net/ipv4/tcp_input.c, `tcp_ack`).
//!
//! The entry points are never inlined: a caller's loop over packets of other senders would become slower.

use losscause::ack::{Numbers, Recovery as EndedRecovery};
use losscause::truth::SenderWitness;
use losscause::{AckSample, DeclaredLoss, SenderLda, Signal, Span, Time, Verdict};

use super::super::arrivals::Arrivals;
use super::super::config::Config;
use super::super::ecn::Reaction;
use super::super::recovery::Scoreboard;
use super::super::segment::{Ack, Segment};
use super::super::sender::Stats;
use super::super::stream::Stream;
use super::clock::Clock;
use super::congestion::Congestion;
use super::cwnd::Cwnd;
use super::frto::{AfterTimeout, Frto, Next};
use super::packets::{Packet, Packets};
use super::probe::{Probe, ProbeAck};
use super::prr::{Delivery, Prr};
use super::rack::Rack;
use super::receive_window;
use super::rtt::Rtt;
use super::undo::Undo;

/// The sender of a Linux connection that always has data to send. `L` judges why packets were lost.
#[derive(Clone, Debug)]
pub(in super::super) struct Linux<L> {
    config: Config,
    clock: Clock,
    opened: bool,
    /// Timeouts of the SYN.
    syn_timeouts: u32,
    stream: Stream,
    /// One above the last packet that the receiver's window allows.
    room_end: u64,
    packets: Packets,
    board: Scoreboard,
    arrivals: Arrivals,
    state: State,
    /// Everything below was sent when the state was entered (the kernel's `high_seq`).
    high: u64,
    cwnd: Cwnd,
    congestion: Congestion,
    prr: Prr,
    rtt: Rtt,
    rack: Rack,
    probe: Probe,
    frto: Frto,
    undo: Undo,
    timer: Option<Timer>,
    /// Timeouts since SND.UNA moved.
    timeouts: u32,
    due: Due,
    /// Whether something was sent since the last event.
    sent_some: bool,
    /// The timestamp of the newest ACK, which segments echo.
    echo_us: u32,
    /// The label of the newest ACK ([`Ack::wireless`]).
    labelled: bool,
    lda: L,
    recovering: Option<Recovering>,
    ecn: Reaction,
    stats: Stats,
}

/// The kernel's congestion states, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    /// Nothing is wrong.
    Open,
    /// Something was reported beyond a gap.
    Disorder,
    /// The window falls because of a mark.
    Reduced,
    /// Losses are repaired, and the window falls.
    Recovery,
    /// The timer expired; losses are repaired in slow start.
    Loss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerKind {
    Retransmit,
    Probe,
    Reorder,
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    kind: TimerKind,
    at: Time,
}

/// What leaves next, beside new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    /// Lost packets.
    Lost,
    /// New data; if there is none to send, lost packets.
    NewThenLost,
    /// The first packet, whatever the window is, then lost ones.
    First,
    /// A tail loss probe, whatever the window is.
    Probe,
}

/// A recovery that has not ended.
#[derive(Clone, Copy, Debug)]
struct Recovering {
    began: Time,
    retransmissions: u64,
    /// cwnd and ssthresh before the cut, if there was one.
    uncut: Option<(u32, u32)>,
}

/// What an ACK brings.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    advances: bool,
    reports: bool,
    duplicate: Option<u64>,
    /// A packet sent once before [`Linux::high`] was set.
    original: bool,
    /// A packet that had been sent more than once was acknowledged.
    acked_resent: bool,
    /// Times at which packets sent once were sent: acknowledged, first and last; reported, first and last.
    acked: Option<(Time, Time)>,
    reported: Option<(Time, Time)>,
    ece: bool,
}

impl Brought {
    /// Whether it is the last ACK once more, without any news.
    fn is_plain_duplicate(&self) -> bool {
        !self.advances && !self.reports && self.duplicate.is_none()
    }
}

fn widen(times: &mut Option<(Time, Time)>, at: Time) {
    *times = Some(times.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
}

impl<L: SenderLda> Linux<L> {
    /// A closed connection. `config` is valid.
    pub(in super::super) fn new(config: &Config, lda: L) -> Self {
        let syn = u64::from(config.quirks.syn_bytes.is_some());
        let clock = Clock::new(config.quirks.tick, config.quirks.tick_offset);
        let end = config.limit_pkts.map_or(u64::MAX, |pkts| pkts.saturating_add(syn));
        let initial = if syn == 1 { 1 } else { config.initial_window_pkts };
        Self {
            config: *config,
            clock,
            opened: false,
            syn_timeouts: 0,
            stream: Stream { una: 0, next: 0, sent: 0, end },
            room_end: u64::from(receive_window::initial_pkts(config)),
            packets: Packets::new(),
            board: Scoreboard::new(),
            arrivals: Arrivals::new(true),
            state: State::Open,
            high: 0,
            cwnd: Cwnd::new(initial, config.initial_ssthresh_pkts),
            congestion: Congestion::new(config.response, clock),
            prr: Prr::default(),
            rtt: Rtt::new(config.min_rto, config.max_rto, config.initial_rto),
            rack: Rack::new(config.dup_ack_threshold),
            probe: Probe::default(),
            frto: Frto::Off,
            undo: Undo::default(),
            timer: None,
            timeouts: 0,
            due: Due::Nothing,
            sent_some: false,
            echo_us: 0,
            labelled: false,
            lda,
            recovering: None,
            ecn: Reaction::new(config.ecn),
            stats: Stats::default(),
        }
    }

    pub(in super::super) fn start(&mut self) {
        self.opened = true;
    }

    #[inline(never)]
    pub(in super::super) fn on_ack(&mut self, now: Time, ack: &Ack, witness: &mut impl SenderWitness) {
        if !(self.stream.una..=self.stream.sent).contains(&ack.next) {
            return;
        }
        self.due = Due::Nothing;
        self.room_end = self.room_end.max(ack.next.saturating_add(ack.window_pkts.into()));
        (self.echo_us, self.labelled) = (ack.sent_us, ack.wireless);
        if self.packets.outstanding() == 0 {
            return;
        }
        let before = (self.stream.una, self.packets.delivered(), self.packets.losses());
        let opening = before.0 == 0 && self.config.quirks.syn_bytes.is_some();
        let mut brought = self.take_in(now, ack);
        brought.ece = self.config.ecn && ack.ece;
        let rtt = self.measure(now, ack, &brought);
        let sample = self.sample(now, rtt);
        self.lda.on_ack(&sample);
        if opening {
            self.open(now);
            return;
        }
        self.rack.adapt(self.stream.una, self.stream.next);
        self.answer_probe(ack, &brought);
        let mut sets_timer = self.moves_timer(&brought);
        let calm = self.state == State::Open && !brought.reports && brought.duplicate.is_none() && !brought.ece;
        if !calm || !brought.advances {
            sets_timer &= self.alert(now, ack, &brought, witness);
        }
        if sets_timer {
            self.set_timer(now);
        }
        let (delivered, losses) = (self.packets.delivered() - before.1, self.packets.losses() - before.2);
        self.adjust_window(now, brought.advances, delivered, losses);
    }

    /// Records what `ack` acknowledges and reports.
    fn take_in(&mut self, now: Time, ack: &Ack) -> Brought {
        let mut brought = Brought { duplicate: ack.sack.duplicate(ack.next), ..Brought::default() };
        for (start, end) in ack.sack.ranges(ack.next) {
            self.take_reports(now, start.max(self.stream.una), end.min(self.stream.sent), &mut brought);
        }
        brought.advances = ack.next > self.stream.una;
        for seq in self.stream.una..ack.next {
            let Some(packet) = self.packets.pop() else { break };
            self.take_acked(now, seq, &packet, &mut brought);
        }
        self.board.update(ack.next, self.stream.sent, &ack.sack);
        self.stream.una = ack.next;
        self.packets.tidy();
        if brought.advances {
            self.timeouts = 0;
            self.stats.new_acks += 1;
            self.stats.window_limited_acks += u64::from(self.is_window_limited());
        }
        if let Some(seq) = brought.duplicate {
            self.rack.on_duplicate();
            self.undo.on_duplicate(seq);
        }
        brought
    }

    /// Records the packets of `start..end` that were not reported before.
    fn take_reports(&mut self, now: Time, start: u64, end: u64, brought: &mut Brought) {
        let mut seq = start;
        while seq < end {
            if seq < self.board.end() {
                let Some(hole) = self.board.next_hole(seq) else {
                    seq = self.board.end();
                    continue;
                };
                seq = hole;
                if seq >= end {
                    return;
                }
            }
            if let Some(packet) = self.packets.report(seq) {
                brought.reports = true;
                self.rack.on_delivered(now, seq, &packet, &self.rtt);
                if packet.sends == 1 {
                    brought.original |= seq < self.high;
                    widen(&mut brought.reported, packet.sent_at);
                }
            }
            seq += 1;
        }
    }

    fn take_acked(&mut self, now: Time, seq: u64, packet: &Packet, brought: &mut Brought) {
        if packet.sends > 1 {
            brought.acked_resent = true;
        } else if !packet.reported {
            brought.original |= seq < self.high;
            widen(&mut brought.acked, packet.sent_at);
        }
        if !packet.reported {
            self.rack.on_delivered(now, seq, packet, &self.rtt);
        }
    }

    /// Measures round-trip times. Returns that of the newest packet. An ACK of a packet sent more than once measures by
    /// its timestamp (RFC 7323, section 4.1).
    fn measure(&mut self, now: Time, ack: &Ack, brought: &Brought) -> Option<Span> {
        let acked = brought.acked.filter(|_| !brought.acked_resent);
        let echoed = (brought.advances && ack.echo < now).then_some((ack.echo, ack.echo));
        let (first, _) = acked.or(brought.reported).or(echoed)?;
        let (_, last) = brought.reported.or(acked).or(echoed)?;
        let newest = now - last;
        if newest <= Span::ZERO {
            return None;
        }
        self.rtt.on_newest(newest);
        let (una, next) = (self.stream.una, self.stream.next);
        self.rtt.on_sample(now - first, una, next);
        self.congestion.on_rtt(now, newest, una, next, &mut self.cwnd);
        Some(newest)
    }

    /// The SYN is acknowledged.
    fn open(&mut self, now: Time) {
        // net/ipv4/tcp_input.c, tcp_init_transfer: one lost SYN does not shrink the first window.
        self.cwnd.pkts = if self.syn_timeouts > 1 { 1 } else { self.config.initial_window_pkts };
        self.timer = None;
        self.undo.on_repaired();
        self.due = Due::Nothing;
        if self.packets.outstanding() > 0 {
            self.rearm(now);
        }
    }

    /// Whether this ACK moves the timer on. A report does if the first packet was sent after the reported one.
    fn moves_timer(&self, brought: &Brought) -> bool {
        let younger = |(first, _): (Time, Time)| self.packets.first().is_some_and(|head| head.sent_at > first);
        brought.advances || brought.reported.is_some_and(younger)
    }

    fn answer_probe(&mut self, ack: &Ack, brought: &Brought) {
        let probe_ack =
            ProbeAck { next: ack.next, duplicate: brought.duplicate, plain_duplicate: brought.is_plain_duplicate() };
        if self.probe.on_ack(&probe_ack) {
            self.cut(false);
            self.cwnd.pkts = self.prr.target_pkts();
            self.keep_open();
        }
    }

    /// Everything but a plain ACK in the state open (the kernel's `tcp_fastretrans_alert`). Returns whether the timer
    /// may still be set.
    fn alert(&mut self, now: Time, ack: &Ack, brought: &Brought, witness: &mut impl SenderWitness) -> bool {
        if brought.ece {
            self.undo.forbid();
        }
        self.leave_if_done(now, ack);
        if self.state == State::Recovery {
            if brought.advances && self.undoes_partly(ack) {
                return true;
            }
            if self.undo.by_duplicates() {
                self.undo_duplicated();
                self.try_to_open(now, brought);
            }
        } else if self.state == State::Loss {
            if self.after_timeout(ack, brought) {
                return true;
            }
            let resent = self.packets.resent();
            let sets_timer = self.find_losses(now);
            let lost_again = self.packets.resent() < resent;
            if self.state != State::Open && !lost_again {
                return sets_timer;
            }
            if self.packets.lost() == 0 {
                self.try_to_open(now, brought);
                return sets_timer;
            }
            // A retransmission was lost: a new recovery.
            self.recover(now, witness);
            self.due = Due::Lost;
            return sets_timer;
        } else if self.state <= State::Disorder && self.undo.by_duplicates() {
            self.undo_duplicated();
        }
        let sets_timer = self.find_losses(now);
        if self.state != State::Recovery {
            if self.packets.lost() == 0 {
                self.try_to_open(now, brought);
                return sets_timer;
            }
            self.recover(now, witness);
        }
        self.due = Due::Lost;
        sets_timer
    }

    /// Leaves a state whose packets are all acknowledged.
    fn leave_if_done(&mut self, now: Time, ack: &Ack) {
        match self.state {
            State::Open => self.undo.on_repaired(),
            State::Reduced if self.stream.una > self.high => {
                self.cwnd.pkts = self.prr.target_pkts();
                self.state = State::Open;
            }
            State::Recovery if self.stream.una >= self.high => self.end_recovery(now, ack),
            _ => {}
        }
    }

    fn end_recovery(&mut self, now: Time, ack: &Ack) {
        if !self.try_undo_at_end(ack) {
            self.cwnd.pkts = self.prr.target_pkts();
        }
        let Some(recovering) = self.recovering.take() else { return };
        let lost_pkts = self.stats.retransmissions - recovering.retransmissions;
        let revised = self.lda.on_recovery_end(&EndedRecovery::new(recovering.began, now, lost_pkts));
        if let (Some(judgement), Some((cwnd, ssthresh))) = (revised, recovering.uncut)
            && judgement.verdict.is_wireless()
        {
            self.cwnd.pkts = self.cwnd.pkts.max(cwnd);
            self.cwnd.ssthresh = self.cwnd.ssthresh.max(ssthresh);
        }
    }

    /// Everything sent before recovery or timeout is acknowledged. Returns whether the cut is undone.
    fn try_undo_at_end(&mut self, ack: &Ack) -> bool {
        let needless = self.is_needless(ack);
        if needless {
            self.restore(false);
        } else {
            self.rack.on_recovered();
        }
        self.state = State::Open;
        needless
    }

    /// Whether no loss justified the cut.
    fn is_needless(&self, ack: &Ack) -> bool {
        self.undo.by_duplicates() || self.undo.by_timestamp(ack.echo)
    }

    /// Undoes a recovery whose first retransmission was needless. Returns whether the ACK is dealt with.
    fn undoes_partly(&mut self, ack: &Ack) -> bool {
        if !self.undo.by_timestamp(ack.echo) {
            return false;
        }
        if self.packets.resent() > 0 {
            return true;
        }
        self.undo.on_repaired();
        self.restore(true);
        self.keep_open();
        false
    }

    fn undo_duplicated(&mut self) {
        self.rack.on_needless();
        self.restore(false);
    }

    /// Undoes the cut; with `unlose` nothing counts as lost any more.
    fn restore(&mut self, unlose: bool) {
        if unlose {
            self.packets.unlose();
        }
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.cwnd.pkts = self.cwnd.pkts.max(cwnd);
            self.cwnd.ssthresh = self.cwnd.ssthresh.max(ssthresh);
        }
        self.rack.on_undo();
    }

    /// An ACK in the state loss. Returns whether it is dealt with.
    fn after_timeout(&mut self, ack: &Ack, brought: &Brought) -> bool {
        let recovered = self.stream.una >= self.high;
        if brought.advances && self.is_needless(ack) {
            self.leave_loss();
            return true;
        }
        let news = AfterTimeout {
            original: brought.original,
            advances: brought.advances,
            duplicate: brought.reports || brought.is_plain_duplicate(),
            new_data_sent: self.stream.next > self.high,
            recovered,
            can_send: self.stream.next < self.stream.end.min(self.room_end),
        };
        match self.frto.on_ack(&news) {
            Next::Undo => {
                self.leave_loss();
                return true;
            }
            Next::SendNew => {
                self.high = self.stream.next;
                self.due = Due::NewThenLost;
            }
            Next::Repair if recovered => {
                self.try_undo_at_end(ack);
            }
            Next::Repair => self.due = Due::Lost,
        }
        false
    }

    /// The timeout was spurious.
    fn leave_loss(&mut self) {
        self.restore(true);
        self.frto = Frto::Off;
        self.state = State::Open;
    }

    /// Looks for losses, and sets the timer for packets that are too young to be lost. Returns whether another timer
    /// may be set.
    fn find_losses(&mut self, now: Time) -> bool {
        let recovering = self.state >= State::Recovery;
        let Some(wait) = self.rack.detect(now, &mut self.packets, &self.rtt, recovering) else { return true };
        self.arm(now, TimerKind::Reorder, wait + self.clock.tick() * 2);
        false
    }

    fn try_to_open(&mut self, now: Time, brought: &Brought) {
        if !self.has_resent() {
            self.undo.on_repaired();
        }
        if brought.ece {
            self.reduce_for_mark(now);
        }
        if self.state != State::Reduced {
            self.keep_open();
        }
    }

    /// An echoed mark is certain congestion, so no algorithm is asked.
    fn reduce_for_mark(&mut self, now: Time) {
        if self.state >= State::Reduced {
            return;
        }
        let mut mark = self.declared(now, Signal::EcnMark);
        mark.lost_pkts = 0;
        self.lda.on_loss(&mark);
        self.undo.clear();
        self.cut(false);
        self.state = State::Reduced;
        self.ecn.on_echo(self.stream.sent);
        self.stats.ecn_reductions += 1;
    }

    fn keep_open(&mut self) {
        let uneasy = self.packets.reported() + self.packets.lost() > 0 || self.has_resent();
        let state = if uneasy { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = self.stream.next;
        }
    }

    /// Whether a retransmission may be in flight.
    fn has_resent(&self) -> bool {
        self.packets.resent() > 0 || self.packets.first().is_some_and(|first| first.sends > 1)
    }

    /// A packet is lost: asks why, and repairs it.
    fn recover(&mut self, now: Time, witness: &mut impl SenderWitness) {
        let verdict = self.judge(now, witness);
        let retransmissions = self.stats.retransmissions;
        let mut uncut = None;
        let ssthresh = self.cwnd.current_ssthresh(self.state >= State::Reduced);
        self.undo.begin(self.stream.una, self.resent_and_probe(), self.cwnd.pkts, ssthresh);
        if self.state == State::Reduced {
            self.undo.forbid();
        } else {
            if !verdict.is_wireless() {
                uncut = Some((self.cwnd.pkts, self.cwnd.ssthresh));
                self.ecn.on_loss(self.stream.sent);
            }
            self.cut(verdict.is_wireless());
        }
        self.recovering = Some(Recovering { began: now, retransmissions, uncut });
        self.state = State::Recovery;
        self.stats.fast_retransmits += 1;
    }

    /// Retransmissions in flight, an outstanding probe included.
    fn resent_and_probe(&self) -> u64 {
        self.packets.resent() + u64::from(self.probe.is_outstanding() && self.probe.repeats())
    }

    /// Begins a reduction of the window; `spared` leaves it as it is.
    fn cut(&mut self, spared: bool) {
        let cwnd = self.cwnd.pkts;
        let target = if spared {
            cwnd
        } else {
            self.cwnd.ssthresh = self.congestion.on_loss(cwnd);
            self.cwnd.ssthresh
        };
        self.high = self.stream.next;
        self.cwnd.count = 0;
        self.prr = Prr::new(cwnd, target);
        self.probe.clear();
    }

    fn is_reducing(&self) -> bool {
        matches!(self.state, State::Reduced | State::Recovery)
    }

    fn adjust_window(&mut self, now: Time, advances: bool, delivered: u64, losses: u64) {
        if self.is_reducing() {
            let (safe, in_flight_pkts) = (advances && losses == 0, self.packets.in_flight());
            let delivery = Delivery { delivered_pkts: delivered, safe, in_flight_pkts };
            self.cwnd.pkts = self.prr.on_ack(&delivery).unwrap_or(self.cwnd.pkts);
        } else if advances {
            let delivered = u32::try_from(delivered).unwrap_or(u32::MAX);
            self.congestion.grow(now, &mut self.cwnd, delivered);
        }
    }

    /// The sample for the algorithm. Stream and scoreboard already include this ACK.
    fn sample(&mut self, now: Time, rtt: Option<Span>) -> AckSample {
        let mut sample = self.arrivals.on_ack(now, rtt, &self.stream, Some(&self.board));
        sample.cwnd_pkts = Some(f64::from(self.cwnd.pkts));
        sample
    }

    /// The loss of packet `una`.
    fn declared(&self, now: Time, signal: Signal) -> DeclaredLoss {
        let mut loss = DeclaredLoss::new(now, signal);
        loss.numbers = Some(Numbers::one(self.stream.una));
        loss.in_flight_pkts = self.stream.flight_pkts();
        loss.cwnd_pkts = Some(f64::from(self.cwnd.pkts));
        loss
    }

    fn judge(&mut self, now: Time, witness: &mut impl SenderWitness) -> Verdict {
        let mut loss = self.declared(now, Signal::Gap);
        loss.label = self.labelled.then_some(Verdict::Wireless);
        loss.truth = witness.truth(self.stream.una..self.stream.sent);
        self.lda.on_loss(&loss);
        let judgement = self.lda.judge(&loss);
        witness.judged(&loss, &judgement);
        judgement.verdict
    }

    #[inline(never)]
    pub(in super::super) fn on_timeout(&mut self, now: Time, witness: &mut impl SenderWitness) {
        let Some(timer) = self.timer.take_if(|timer| now >= timer.at) else { return };
        self.due = Due::Nothing;
        match timer.kind {
            TimerKind::Retransmit => self.on_retransmission_timeout(now, witness),
            TimerKind::Probe => self.on_probe_timeout(now),
            TimerKind::Reorder => self.on_reorder_timeout(now, witness),
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time, witness: &mut impl SenderWitness) {
        self.stats.timeouts += 1;
        self.due = Due::First;
        if self.stream.una == 0 && self.config.quirks.syn_bytes.is_some() {
            self.syn_timeouts += 1;
            // The first SYNs are sent a second apart (net.ipv4.tcp_syn_linear_timeouts = 4).
            if self.syn_timeouts > SYNS_WITHOUT_BACK_OFF {
                self.rtt.back_off();
            }
        } else {
            self.enter_loss(now, witness);
            self.timeouts += 1;
            self.rtt.back_off();
        }
        self.arm(now, TimerKind::Retransmit, self.rtt.rto());
        witness.timed_out();
    }

    fn enter_loss(&mut self, now: Time, witness: &mut impl SenderWitness) {
        let spared = self.spares_timeout(now, witness);
        let first = self.state < State::Recovery;
        self.lose_late(now);
        let uncut_yet = self.state <= State::Disorder
            || self.high <= self.stream.una
            || self.state == State::Loss && self.timeouts == 0;
        if !spared {
            if uncut_yet {
                let ssthresh = self.cwnd.current_ssthresh(self.is_reducing());
                self.undo.begin(self.stream.una, self.resent_and_probe(), self.cwnd.pkts, ssthresh);
                self.cwnd.ssthresh = self.congestion.on_loss(self.cwnd.pkts);
            }
            self.congestion.on_timeout();
            self.cwnd.pkts = u32::try_from(self.packets.in_flight() + 1).unwrap_or(u32::MAX);
            self.cwnd.count = 0;
        }
        self.state = State::Loss;
        self.high = self.stream.next;
        self.probe.clear();
        self.recovering = None;
        self.ecn.on_loss(self.stream.sent);
        self.arrivals.on_timeout(&self.stream);
        self.frto = if first || self.timeouts > 0 { Frto::Testing } else { Frto::Off };
    }

    /// The first packet counts as lost, and every other one that had time to arrive. A reported first packet means that
    /// the receiver dropped what it had reported (RFC 2018, section 8).
    fn lose_late(&mut self, now: Time) {
        if self.packets.first().is_some_and(|packet| packet.reported) {
            self.packets.forget_reports();
            self.board.clear(self.stream.una);
        }
        let una = self.stream.una;
        let late = |&(seq, packet): &(u64, &Packet)| {
            !packet.reported && (seq == una || self.rack.is_late(now, packet.sent_at))
        };
        let late: Vec<u64> = self.packets.iter().filter(late).map(|(seq, _)| seq).collect();
        late.into_iter().for_each(|seq| self.packets.lose(seq));
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

    fn on_probe_timeout(&mut self, now: Time) {
        if self.packets.outstanding() > 0 && !self.probe.is_outstanding() {
            self.due = Due::Probe;
        } else {
            self.rearm_from_first(now);
        }
    }

    fn on_reorder_timeout(&mut self, now: Time, witness: &mut impl SenderWitness) {
        let (in_flight, losses) = (self.packets.in_flight(), self.packets.losses());
        self.rack.on_timer();
        self.find_losses(now);
        if self.packets.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.recover(now, witness);
                let found = self.packets.losses() - losses;
                self.adjust_window(now, false, 1, found);
            }
            self.due = Due::Lost;
        }
        if self.timer.is_none_or(|timer| timer.kind != TimerKind::Retransmit) {
            self.rearm_from_first(now);
        }
    }

    pub(in super::super) fn poll_timeout(&self) -> Option<Time> {
        self.timer.map(|timer| timer.at)
    }

    /// The next segment to send.
    #[inline(never)]
    pub(in super::super) fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if !self.opened {
            return None;
        }
        let segment = match self.due {
            Due::First => {
                self.due = Due::Lost;
                let una = self.stream.una;
                (una < self.stream.sent).then(|| self.resend(now, una))
            }
            Due::Probe => {
                self.due = Due::Nothing;
                self.send_probe(now)
            }
            Due::Lost => self.resend_lost(now).or_else(|| self.send_new(now)),
            Due::NewThenLost => self.send_new_then_lost(now),
            Due::Nothing => self.send_new(now),
        };
        match &segment {
            Some(_) => self.sent_some = true,
            None => self.on_stop(),
        }
        segment
    }

    fn send_new_then_lost(&mut self, now: Time) -> Option<Segment> {
        let segment = self.send_new(now);
        if segment.is_some() {
            return segment;
        }
        self.due = Due::Nothing;
        if self.stream.next > self.high {
            return None;
        }
        (self.frto, self.due) = (Frto::Off, Due::Lost);
        self.resend_lost(now)
    }

    /// Nothing more may leave now.
    fn on_stop(&mut self) {
        let limited = self.packets.in_flight() >= u64::from(self.cwnd.pkts);
        if std::mem::take(&mut self.sent_some) || limited {
            let Stream { una, next, .. } = self.stream;
            self.cwnd.on_stop(limited, self.packets.outstanding(), una, next);
        }
    }

    fn has_room(&self) -> bool {
        self.packets.in_flight() < u64::from(self.cwnd.pkts)
    }

    fn resend_lost(&mut self, now: Time) -> Option<Segment> {
        if !self.has_room() {
            return None;
        }
        let seq = self.packets.next_lost()?;
        if self.is_reducing() {
            self.prr.on_send();
        }
        let segment = self.resend(now, seq);
        if seq == self.stream.una && self.timer.is_none_or(|timer| timer.kind != TimerKind::Reorder) {
            self.arm(now, TimerKind::Retransmit, self.rtt.rto());
        }
        Some(segment)
    }

    fn resend(&mut self, now: Time, seq: u64) -> Segment {
        self.undo.on_resend(now);
        self.stats.retransmissions += 1;
        self.transmit(now, seq, true)
    }

    fn send_new(&mut self, now: Time) -> Option<Segment> {
        if !self.has_room() || self.stream.next >= self.stream.end.min(self.room_end) {
            return None;
        }
        if self.is_reducing() {
            self.prr.on_send();
        }
        let segment = self.extend(now);
        self.schedule_probe(now, false);
        Some(segment)
    }

    /// Sends the next packet of the stream.
    fn extend(&mut self, now: Time) -> Segment {
        let first = self.packets.outstanding() == 0;
        let seq = self.stream.next;
        self.stream.next += 1;
        self.stream.sent = self.stream.next;
        let segment = self.transmit(now, seq, false);
        if first || self.timer.is_none_or(|timer| timer.kind == TimerKind::Probe) {
            self.rearm(now);
        }
        segment
    }

    /// New data if there is some and the receiver has room, else the last packet again.
    fn send_probe(&mut self, now: Time) -> Option<Segment> {
        let new = self.stream.next < self.stream.end.min(self.room_end);
        if !new && self.packets.outstanding() == 0 {
            return None;
        }
        let segment = if new { self.extend(now) } else { self.resend(now, self.stream.sent - 1) };
        self.probe.on_send(self.stream.next, !new);
        self.timer = None;
        self.rearm(now);
        Some(segment)
    }

    fn transmit(&mut self, now: Time, seq: u64, retransmission: bool) -> Segment {
        self.packets.on_send(now, seq);
        let transmission = self.stats.segments_sent;
        self.stats.segments_sent += 1;
        let (payload_bytes, wire_bytes) = match self.config.syn_bytes() {
            Some(syn_bytes) if seq == 0 => (0, syn_bytes),
            _ => (self.config.payload_bytes, self.config.wire_bytes()),
        };
        let (ecn, cwr) = self.ecn.stamp(!retransmission && payload_bytes > 0);
        let (sent_at, echo_us) = (now, self.echo_us);
        Segment { seq, transmission, sent_at, retransmission, ecn, cwr, echo_us, payload_bytes, wire_bytes }
    }

    fn arm(&mut self, now: Time, kind: TimerKind, wait: Span) {
        self.timer = Some(Timer { kind, at: self.clock.fires(now, wait) });
    }

    /// Arms the timer for a probe if one is due, else for the timeout.
    fn set_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm(now);
        }
    }

    /// Arms the timer for a probe, if nothing is wrong. `advances` if the timeout counts from now, else it counts from
    /// the first packet.
    fn schedule_probe(&mut self, now: Time, advances: bool) -> bool {
        let calm = matches!(self.state, State::Open | State::Reduced);
        let syn = self.stream.una == 0 && self.config.quirks.syn_bytes.is_some();
        let Some(first) = self.packets.first().filter(|_| calm && !syn) else { return false };
        let until_rto = if advances { self.rtt.rto() } else { first.sent_at + self.rtt.rto() - now };
        let tick = self.clock.tick();
        let wait = Probe::wait(&self.rtt, self.config.min_rto, tick, self.packets.outstanding(), until_rto);
        self.arm(now, TimerKind::Probe, wait);
        true
    }

    /// Arms the timer for the timeout (RFC 6298, section 5): from now on, or in place of another timer, from the first
    /// packet on.
    fn rearm(&mut self, now: Time) {
        if self.timer.is_some_and(|timer| timer.kind != TimerKind::Retransmit) {
            self.rearm_from_first(now);
        } else if self.packets.outstanding() > 0 {
            self.arm(now, TimerKind::Retransmit, self.rtt.rto());
        } else {
            self.timer = None;
        }
    }

    fn rearm_from_first(&mut self, now: Time) {
        match self.packets.first().map(|first| first.sent_at) {
            Some(sent_at) => self.arm(now, TimerKind::Retransmit, sent_at + self.rtt.rto() - now),
            None => self.timer = None,
        }
    }

    /// Whether the receiver's window, rather than cwnd, limits the sender.
    fn is_window_limited(&self) -> bool {
        self.has_room() && self.stream.next == self.room_end
    }

    pub(in super::super) fn window_pkts(&self) -> u32 {
        let room = u32::try_from(self.room_end - self.stream.una).unwrap_or(u32::MAX);
        let beyond = self.packets.outstanding() - self.packets.in_flight().min(self.packets.outstanding());
        self.cwnd.pkts.saturating_add(u32::try_from(beyond).unwrap_or(u32::MAX)).min(room)
    }

    pub(in super::super) fn cwnd(&self) -> f64 {
        f64::from(self.cwnd.pkts)
    }

    pub(in super::super) fn ssthresh(&self) -> f64 {
        f64::from(self.cwnd.ssthresh)
    }

    pub(in super::super) fn acknowledged(&self) -> u64 {
        self.stream.una
    }

    pub(in super::super) fn is_finished(&self) -> bool {
        self.stream.una >= self.stream.end
    }

    pub(in super::super) fn stats(&self) -> Stats {
        self.stats
    }
}

/// Timeouts of the SYN that do not double the next one.
const SYNS_WITHOUT_BACK_OFF: u32 = 4;

#[cfg(test)]
mod tests;
