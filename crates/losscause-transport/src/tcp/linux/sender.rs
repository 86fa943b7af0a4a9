//! The sender: what an ACK, a timer and the room in the network make it do. The parts decide; this
//! file calls them in the kernel's order (net/ipv4/tcp_input.c, `tcp_ack`).
//!
//! ```text
//! intake      what an ACK acknowledges, reports and measures
//! alert       the congestion states, and how an ACK moves between them
//! reduction   a loss, the algorithm's verdict, the window that falls
//! undoing     cuts that no loss justified
//! timeout     the retransmission timeout, and the ACKs after it
//! timers      the one timer, and what it waits for
//! transmit    what leaves
//! ```
//!
//! The entry points are never inlined: a caller's loop over packets of other senders would become
//! slower.

mod alert;
mod intake;
mod reduction;
mod timeout;
mod timers;
mod transmit;
mod undoing;

use losscause::safeguard::Watch;
use losscause::{Algorithm, Numbers, Observer, Safeguards, Signal, Time, Verdict, ask, tell};

use super::clock::Clock;
use super::cwnd::Cwnd;
use super::frto::Frto;
use super::pacing::Pacer;
use super::packets::Packets;
use super::probe::{Probe, ProbeAck};
use super::prr::Prr;
use super::rack::Rack;
use super::rate::RateSampler;
use super::receive_window;
use super::rtt::Rtt;
use super::undo::Undo;
use crate::tcp::arrivals::Arrivals;
use crate::tcp::config::Config;
use crate::tcp::control::Cloneable;
use crate::tcp::ecn::Reaction;
use crate::tcp::recovery::Scoreboard;
use crate::tcp::segment::{Ack, Segment};
use crate::tcp::stats::Stats;
use crate::tcp::stream::Stream;
use alert::State;
use intake::Brought;
use reduction::{News, Recovering};
use timers::{Timer, TimerKind};
use transmit::Due;

/// The sender of a Linux connection. `L` judges why packets were lost.
#[derive(Clone, Debug)]
pub(crate) struct Linux<L> {
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
    control: Box<dyn Cloneable>,
    prr: Prr,
    /// `None` if the sender is not paced.
    pacer: Option<Pacer>,
    /// `None` if the control does not follow delivery rates.
    rates: Option<RateSampler>,
    /// Whether the sender had nothing to send when it could have.
    starved: bool,
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
    /// When the last segment was sent, or the connection opened (the kernel's `lsndtime`).
    last_sent: Time,
    /// The timestamp of the newest ACK, which segments echo.
    echo_us: u32,
    /// The label of the newest ACK ([`Ack::wireless`]).
    labelled: bool,
    lda: L,
    /// None if the algorithm alone decides.
    watch: Option<Watch>,
    /// When the last arrival that was news became known.
    newest_arrival_at: Option<Time>,
    recovering: Option<Recovering>,
    /// The losses since the last cut that the algorithm was told of.
    told: Vec<Numbers>,
    /// Packets that the receiver reported as duplicates.
    duplicates: u64,
    ecn: Reaction,
    stats: Stats,
}

impl<L: Algorithm> Linux<L> {
    /// A closed connection. `config` is valid.
    pub(crate) fn new(config: &Config, lda: L) -> Self {
        let syn = u64::from(config.quirks.syn_bytes.is_some());
        let clock = Clock::new(config.quirks.tick, config.quirks.tick_offset);
        let end = config.limit_pkts.map_or(u64::MAX, |pkts| pkts.saturating_add(syn));
        let initial = if syn == 1 { 1 } else { config.initial_window_pkts };
        let control = config.response.build_linux(config);
        let is_paced = config.pacing || control.pacing().is_some();
        let safeguards = config.safeguards.above(lda.needs());
        let is_watched = safeguards != Safeguards::OFF && !control.follows_rate();
        Self {
            watch: is_watched.then(|| Watch::new(safeguards)),
            config: *config,
            clock,
            opened: false,
            syn_timeouts: 0,
            stream: Stream { una: 0, next: 0, sent: 0, end },
            room_end: u64::from(receive_window::initial_pkts(config)),
            packets: Packets::default(),
            board: Scoreboard::new(),
            arrivals: Arrivals::new(true),
            state: State::Open,
            high: 0,
            cwnd: Cwnd::new(initial, config.initial_ssthresh_pkts, config.max_window_pkts),
            prr: Prr::default(),
            pacer: is_paced.then(|| Pacer::new(config.payload_bytes, control.pacing())),
            rates: control.follows_rate().then(RateSampler::default),
            starved: true,
            control,
            rtt: Rtt::new(config.min_rto, config.max_rto, config.initial_rto),
            rack: Rack::new(config.dup_ack_threshold),
            probe: Probe::default(),
            frto: Frto::Off,
            undo: Undo::default(),
            timer: None,
            timeouts: 0,
            due: Due::Nothing,
            sent_some: false,
            last_sent: Time::ZERO,
            echo_us: 0,
            labelled: false,
            lda,
            newest_arrival_at: None,
            recovering: None,
            told: Vec::new(),
            duplicates: 0,
            ecn: Reaction::new(config.ecn),
            stats: Stats::default(),
        }
    }

    pub(crate) fn start(&mut self) {
        self.opened = true;
    }

    /// The application hands over more data (net/ipv4/tcp.c, `tcp_sendmsg`).
    pub(crate) fn hand_over(&mut self, now: Time, pkts: u64) {
        // include/net/tcp.h, tcp_slow_start_after_idle_check.
        let idle = now - self.last_sent;
        if self.packets.outstanding() == 0 && self.stream.una > 0 {
            if idle > self.rtt.rto() && !self.control.follows_rate() {
                let initial_pkts = self.config.initial_window_pkts;
                self.cwnd.restart(initial_pkts, idle, self.rtt.rto());
            }
            self.control.on_idle(idle);
        }
        self.stream.end = self.stream.end.saturating_add(pkts);
    }

    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        if ack.next > self.stream.sent {
            return;
        }
        self.due = Due::Nothing;
        if ack.next < self.stream.una {
            self.take_in_late(now, ack, observer);
            return;
        }
        self.room_end = self.room_end.max(ack.next.saturating_add(ack.window_pkts.into()));
        (self.echo_us, self.labelled) = (ack.sent_us, ack.wireless);
        if self.packets.outstanding() == 0 {
            self.take_in_late(now, ack, observer);
            return;
        }
        let opening = self.stream.una == 0 && self.config.quirks.syn_bytes.is_some();
        let prior_in_flight_pkts = self.packets.in_flight();
        let delivered = self.packets.delivered();
        let losses = self.packets.losses();
        let mut brought = self.take_in(now, ack);
        brought.ece = self.config.ecn && ack.ece;
        let rtt = self.measure(now, ack, &brought);
        let sample = self.sample(now, rtt);
        self.lda.observe(&sample);
        if let Some(watch) = &mut self.watch {
            watch.on_ack(&sample);
        }
        observer.on_observation(&sample, self.lda.scheme());
        if opening {
            self.open(now);
            return;
        }
        self.rack.adapt(self.stream.una, self.stream.next);
        self.answer_probe(now, ack, &brought, observer);
        let mut sets_timer = self.moves_timer(&brought);
        let calm = self.state == State::Open
            && !brought.reports
            && brought.duplicate.is_none()
            && !brought.ece;
        if !calm || !brought.advances {
            sets_timer &= self.alert(now, ack, &brought, observer);
        }
        if sets_timer {
            self.set_timer(now);
        }
        let news = News {
            delivered: self.packets.delivered() - delivered,
            losses: self.packets.losses() - losses,
            rtt,
            prior_in_flight_pkts,
        };
        self.adjust_window(now, brought.advances, &news);
    }

    /// An ACK that later ones have overtaken, or that came when everything was acknowledged: only
    /// what it reports counts (net/ipv4/tcp_input.c, `tcp_ack`, `old_ack` and `no_queue`).
    fn take_in_late(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        let brought = self.take_in(now, ack);
        if brought.reports || brought.duplicate.is_some() {
            self.alert(now, ack, &brought, observer);
        }
    }

    /// The SYN is acknowledged.
    fn open(&mut self, now: Time) {
        // net/ipv4/tcp_input.c, tcp_init_transfer: one lost SYN does not shrink the first window.
        let initial_pkts = if self.syn_timeouts > 1 { 1 } else { self.config.initial_window_pkts };
        self.control.on_open(&mut self.cwnd.window, initial_pkts);
        self.measure_rate(now, 1);
        self.set_pacing();
        self.last_sent = now;
        self.timer = None;
        self.undo.on_repaired();
        self.due = Due::Nothing;
        if self.packets.outstanding() > 0 {
            self.rearm(now);
        }
    }

    /// The algorithm is asked about the loss that a probe repaired, as about any other.
    fn answer_probe(
        &mut self,
        now: Time,
        ack: &Ack,
        brought: &Brought,
        observer: &mut impl Observer,
    ) {
        let probe_ack = ProbeAck {
            next: ack.next,
            duplicate: brought.duplicate,
            plain_duplicate: brought.is_plain_duplicate(),
        };
        let Some(repaired) = self.probe.on_ack(&probe_ack) else { return };
        let mut loss = self.declared(now, Signal::Gap);
        loss.numbers = Some(Numbers::one(repaired));
        loss.label = self.labelled.then_some(Verdict::Wireless);
        let loss = tell(&mut self.lda, &loss, observer);
        let verdict = ask(&self.lda, &loss, observer).verdict;
        let response = self.safeguarded(&loss, verdict);
        self.reduce(now, response);
        self.end_reduction();
        self.keep_open();
    }

    #[inline(never)]
    pub(crate) fn on_timeout(&mut self, now: Time, observer: &mut impl Observer) {
        if self.pacer.as_mut().is_some_and(|pacer| pacer.take_due(now)) {
            // net/ipv4/tcp_output.c, tcp_tsq_write: lost packets first.
            self.due = Due::Lost;
        }
        let Some(timer) = self.timer.take_if(|timer| now >= timer.at) else { return };
        self.due = Due::Nothing;
        match timer.kind {
            TimerKind::Retransmit => self.on_retransmission_timeout(now, observer),
            TimerKind::Probe => self.on_probe_timeout(now),
            TimerKind::Reorder => self.on_reorder_timeout(now, observer),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        let departure = self.pacer.as_ref().and_then(Pacer::waits_until);
        let timer = self.timer.map(|timer| timer.at);
        departure.into_iter().chain(timer).min()
    }

    /// The next segment to send.
    #[inline(never)]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
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

    fn has_room(&self) -> bool {
        self.packets.in_flight() < u64::from(self.cwnd.pkts())
    }

    /// Whether the receiver's window, rather than cwnd, limits the sender.
    fn is_window_limited(&self) -> bool {
        self.has_room() && self.stream.next == self.room_end
    }

    pub(crate) fn window_pkts(&self) -> u32 {
        let room = u32::try_from(self.room_end - self.stream.una).unwrap_or(u32::MAX);
        let beyond =
            self.packets.outstanding() - self.packets.in_flight().min(self.packets.outstanding());
        self.cwnd.pkts().saturating_add(u32::try_from(beyond).unwrap_or(u32::MAX)).min(room)
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd.window.cwnd
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.cwnd.window.ssthresh
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.stream.una
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.stream.una >= self.stream.end
    }

    pub(crate) fn stats(&self) -> Stats {
        self.stats
    }
}

#[cfg(test)]
mod tests;
