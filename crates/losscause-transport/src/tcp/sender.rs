//! The sending end: numbers, timer and transmission, around whatever recovery and response are plugged in.

use losscause::Time;

use super::config::{BackoffCleared, Config, ConfigError};
use super::reno::Reno;
use super::rto::Rto;
use super::segment::{Ack, Segment};
use super::window::Window;

/// The sending end of a connection that always has data to send.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    opened: Option<Time>,
    /// Everything below was acknowledged (SND.UNA).
    una: u64,
    /// The next packet in line; a timeout takes it back (SND.NXT).
    next: u64,
    /// Everything below was sent at least once.
    sent: u64,
    /// The stream ends before this packet.
    end: u64,
    /// Packet `una` is to be sent out of line.
    retransmit: bool,
    /// The cwnd that the SYN's acknowledgement opens.
    initial_window_pkts: u32,
    /// Packet `una` when the retransmission timer last expired.
    timed_out: Option<u64>,
    /// The one segment whose round-trip time is being measured.
    timed: Option<Timed>,
    deadline: Option<Time>,
    window: Window,
    recovery: Reno,
    rto: Rto,
    stats: Stats,
}

#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u64,
    sent_at: Time,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, retransmissions and the SYN included.
    pub segments_sent: u64,
    /// Segments sent that had been sent before.
    pub retransmissions: u64,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
}

impl Sender {
    /// A closed connection.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let syn = u64::from(config.syn_bytes.is_some());
        let mut window = Window::new(config);
        if syn == 1 {
            window.restart(1);
        }
        Ok(Self {
            config: *config,
            opened: None,
            una: 0,
            next: 0,
            sent: 0,
            end: config.limit_pkts.map_or(u64::MAX, |pkts| pkts.saturating_add(syn)),
            retransmit: false,
            initial_window_pkts: config.initial_window_pkts,
            timed_out: None,
            timed: None,
            deadline: None,
            window,
            recovery: Reno::new(config),
            rto: Rto::new(config),
            stats: Stats::default(),
        })
    }

    /// Opens the connection: from now on [`Sender::poll_transmit`] has segments.
    pub fn start(&mut self, now: Time) {
        self.opened.get_or_insert(now);
    }

    /// An acknowledgement arrived. One of something never sent, or older than the newest, changes nothing.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        if ack.next > self.una && ack.next <= self.sent {
            self.on_new_ack(now, ack.next);
        } else if ack.next == self.una && self.una < self.sent {
            self.on_dup_ack(now);
        }
    }

    fn on_new_ack(&mut self, now: Time, next: u64) {
        let opening = self.una == 0 && self.config.syn_bytes.is_some();
        self.una = next;
        self.next = self.next.max(next);
        self.retransmit = false;
        // Karn's rule: a retransmission ends the measurement, see `on_dup_ack` and `on_timeout`.
        if let Some(timed) = self.timed.take_if(|timed| timed.seq < next) {
            self.rto.on_sample(timed.sent_at, now);
        } else if self.config.backoff_cleared == BackoffCleared::ByNewAck {
            self.rto.clear_backoff();
        }
        // RFC 6298, 5.2 and 5.3.
        self.deadline = (self.una < self.sent).then(|| now + self.rto.current());
        let recovered = self.recovery.on_new_ack();
        if opening {
            self.window.restart(self.initial_window_pkts);
        } else if !recovered || self.config.grow_on_recovery_exit {
            self.window.on_new_ack();
        }
    }

    fn on_dup_ack(&mut self, now: Time) {
        let limited = self.limited_transmit_pkts();
        if self.recovery.on_dup_ack(self.una, self.sent) {
            // RFC 5681, section 3.2, step 2: what limited transmit sent does not count.
            self.window.on_fast_retransmit(self.sent - self.una - limited);
            self.timed = None;
            if self.config.fast_retransmit_restarts_timer {
                self.deadline = Some(now + self.rto.current());
            }
            self.retransmit = true;
            self.stats.fast_retransmits += 1;
        }
    }

    /// The instant named by [`Sender::poll_timeout`] has come; earlier calls change nothing.
    pub fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if self.una == 0 && self.config.syn_bytes.is_some() {
            // RFC 5681, section 3.1: a lost SYN leaves an initial window of one segment.
            self.initial_window_pkts = 1;
        }
        self.window.on_timeout(self.sent - self.una, self.timed_out == Some(self.una));
        self.recovery.on_timeout(self.sent);
        self.rto.back_off();
        self.deadline = Some(now + self.rto.current());
        self.timed_out = Some(self.una);
        self.timed = None;
        self.next = self.una;
        self.retransmit = false;
        self.stats.timeouts += 1;
    }

    /// When to call [`Sender::on_timeout`]; never if `None`.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The next segment to send at this instant. Call it until it returns `None` after each of the other calls.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.opened?;
        let seq = if self.retransmit {
            self.retransmit = false;
            self.una
        } else if self.next < self.end && self.next < self.una + u64::from(self.window_pkts()) {
            self.next += 1;
            self.next - 1
        } else {
            return None;
        };
        Some(self.transmit(now, seq))
    }

    fn transmit(&mut self, now: Time, seq: u64) -> Segment {
        let idle = self.una == self.sent;
        let retransmission = seq < self.sent;
        if retransmission {
            self.stats.retransmissions += 1;
        } else {
            self.sent = seq + 1;
            self.timed.get_or_insert(Timed { seq, sent_at: now });
        }
        // RFC 6298, 5.1.
        if idle || self.deadline.is_none() {
            self.deadline = Some(now + self.rto.current());
        }
        let transmission = self.stats.segments_sent;
        self.stats.segments_sent += 1;
        let (payload_bytes, wire_bytes) = match self.config.syn_bytes {
            Some(syn_bytes) if seq == 0 => (0, syn_bytes),
            _ => (self.config.payload_bytes, self.config.wire_bytes()),
        };
        Segment { seq, transmission, sent_at: now, retransmission, payload_bytes, wire_bytes }
    }

    /// Packets that may be unacknowledged: cwnd with fast recovery's inflation and limited transmit, no more than
    /// the receiver's window.
    pub fn window_pkts(&self) -> u32 {
        let extra = self.recovery.inflation().max(self.recovery.limited_transmit(self.next == self.sent));
        (self.window.cwnd() as u32).saturating_add(extra).min(self.config.max_window_pkts)
    }

    /// The congestion window, packets, without fast recovery's inflation (as ns-2 traces it). At least 1.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    /// The slow start threshold, packets.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    /// Packets known to have arrived, the SYN included: everything below this number was acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }

    /// Whether everything that was to be sent was acknowledged.
    pub fn is_finished(&self) -> bool {
        self.una >= self.end
    }

    /// Counts since the start.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Packets now in flight because of limited transmit.
    fn limited_transmit_pkts(&self) -> u64 {
        let usual = self.una + u64::from((self.window.cwnd() as u32).min(self.config.max_window_pkts));
        let limited = u64::from(self.recovery.limited_transmit(true));
        self.sent.saturating_sub(usual).min(limited)
    }
}
