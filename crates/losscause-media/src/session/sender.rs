//! The sender: handshake, then RTP packets at TFRC's rate, then a farewell.
//!
//! [`losscause_transport::tfrc::Sender`] decides when a packet is due; here it gets its bytes. A
//! driver calls the four methods of every state machine of this project, with its clock's time:
//!
//! ```text
//! on_datagram(now, bytes)      a packet arrived from the receiver's address
//! on_timeout(now)              the time that poll_timeout returned has come
//! poll_timeout()               when to call on_timeout
//! poll_transmit(now)           the next packet to send; call until None after each on_…, push and finish
//! ```
//!
//! A driver that wakes late, because its timer is coarse, may send at once what has become due
//! meanwhile: up to 10 ms worth, as RFC 5348 (section 8.3) allows for the granularity of an
//! operating system. Timestamps are the times of the call, so they stay true.

use std::collections::VecDeque;

use losscause::{Span, Time};
use losscause_transport::tfrc::{self, Backlog};

use super::config::{ConfigError, SenderConfig};
use super::end::End;
use super::media::{Media, PushError};
use super::retry::{Due, Retry};
use super::stats::{Recent, SenderStats};
use super::vetting::Vetting;
use crate::auth::{Key, StreamKeys, Tagger};
use crate::wire::control::{Control, Nonce, Reason};
use crate::wire::feedback::{Feedback, micros, short_micros};
use crate::wire::rtp::{self, Header};
use crate::wire::{self, Kind};

/// The sending end of a stream.
pub struct Sender {
    config: SenderConfig,
    key: Key,
    handshake: Tagger,
    nonce: Nonce,
    ssrc: u32,
    phase: Phase,
    keys: Option<StreamKeys>,
    tfrc: tfrc::Sender,
    queue: VecDeque<Media>,
    /// The application has no more to send.
    finishing: bool,
    /// Packets to hand out.
    out: VecDeque<Vec<u8>>,
    vetting: Vetting,
    recent: Recent,
    /// Number of the last control packet sent, and of the last received.
    number: u64,
    peer_number: u64,
    last_sent: Time,
    last_heard: Time,
    /// When the handshake's last request was made, and its shortest round trip so far.
    asked: Time,
    handshake_rtt: Span,
    stats: SenderStats,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Not started.
    Idle,
    /// Hello is not answered yet.
    Greeting(Retry),
    /// Start is not answered yet.
    Starting(Retry, Control),
    Streaming,
    /// Bye is not answered yet.
    Closing(Retry, Reason),
    Closed(End),
}

/// A driver may be so late without slowing the flow down (RFC 5348, section 8.3, speaks of 10 ms).
const GRANULARITY: Span = Span::from_millis(10);
/// A sender that has nothing to send says so often that it is there.
const ALIVE_EVERY: Span = Span::from_secs(1);
/// How long Bye is repeated.
const FAREWELL: Span = Span::from_secs(3);
/// The first dynamic payload type (RFC 3551, section 6).
const DYNAMIC: u8 = 96;

impl Sender {
    /// A sender that has not started. `nonce` is random and new.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(config: &SenderConfig, key: &Key, nonce: Nonce) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut tfrc = tfrc::Sender::new(&config.tfrc());
        tfrc.set_backlog(Time::ZERO, Backlog::Packets(0));
        Ok(Self {
            key: key.clone(),
            handshake: key.handshake(),
            ssrc: u32::from_be_bytes([nonce[0], nonce[1], nonce[2], nonce[3]]),
            nonce,
            phase: Phase::Idle,
            keys: None,
            tfrc,
            queue: VecDeque::new(),
            finishing: false,
            out: VecDeque::new(),
            vetting: Vetting::new(config.packet_bytes),
            recent: Recent::default(),
            number: 0,
            peer_number: 0,
            last_sent: Time::ZERO,
            last_heard: Time::ZERO,
            asked: Time::ZERO,
            handshake_rtt: Span::MAX,
            stats: SenderStats { in_slow_start: true, ..SenderStats::default() },
            config: config.clone(),
        })
    }

    /// Begins the handshake.
    pub fn start(&mut self, now: Time) {
        if matches!(self.phase, Phase::Idle) {
            self.phase = Phase::Greeting(Retry::new(now, self.config.patience));
            self.send_handshake(now, self.hello());
        }
    }

    /// Takes a packet to send when its time has come. Packets may be handed in before the handshake
    /// is complete.
    ///
    /// # Errors
    /// The packet is too large, too many wait, or the stream ends.
    pub fn push(&mut self, now: Time, media: Media) -> Result<(), PushError> {
        let most = self.config.media_bytes();
        if media.payload.len() > most {
            return Err(PushError::TooLarge { bytes: media.payload.len(), most });
        }
        if self.finishing || matches!(self.phase, Phase::Closing(..) | Phase::Closed(_)) {
            return Err(PushError::Closed);
        }
        if !self.has_room() {
            return Err(PushError::Full);
        }
        self.queue.push_back(media);
        self.tell_backlog(now);
        Ok(())
    }

    /// Whether [`Self::push`] takes a packet now.
    pub fn has_room(&self) -> bool {
        self.queue.len() < self.config.queue_pkts
    }

    /// The application has no more to send: once the queue is empty, the stream ends.
    pub fn finish(&mut self, now: Time) {
        self.finishing = true;
        self.close_if_done(now);
    }

    /// Ends the stream now; what waits is not sent.
    pub fn stop(&mut self, now: Time) {
        self.queue.clear();
        match self.phase {
            Phase::Streaming => self.close(now, Reason::Stopped),
            Phase::Closing(..) | Phase::Closed(_) => {}
            Phase::Idle | Phase::Greeting(_) | Phase::Starting(..) => {
                self.phase = Phase::Closed(End::Stopped);
            }
        }
    }

    /// A packet arrived from the receiver's address.
    pub fn on_datagram(&mut self, now: Time, bytes: &[u8]) {
        let used =
            wire::kind(bytes) == Some(Kind::Control) && self.on_control(now, bytes).is_some();
        if !used {
            self.stats.foreign_pkts += 1;
        }
    }

    /// The time that [`Self::poll_timeout`] returned has come.
    pub fn on_timeout(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Idle | Phase::Closed(_) => {}
            Phase::Greeting(retry) => match retry.due(now) {
                Due::Nothing => {}
                Due::Repeat => self.send_handshake(now, self.hello()),
                Due::GiveUp => self.phase = Phase::Closed(End::NoAnswer),
            },
            Phase::Starting(retry, start) => match retry.due(now) {
                Due::Nothing => {}
                Due::Repeat => {
                    let start = *start;
                    self.send_handshake(now, start);
                }
                Due::GiveUp => self.phase = Phase::Closed(End::NoAnswer),
            },
            Phase::Streaming => self.on_streaming_timeout(now),
            Phase::Closing(retry, reason) => {
                let reason = *reason;
                match (retry.due(now), reason) {
                    (Due::Nothing, _) => {}
                    (Due::Repeat, _) => self.send_bye(reason),
                    (Due::GiveUp, Reason::Finished) => self.phase = Phase::Closed(End::PeerGone),
                    (Due::GiveUp, Reason::Stopped) => self.phase = Phase::Closed(End::Stopped),
                }
            }
        }
    }

    /// When to call [`Self::on_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        match &self.phase {
            Phase::Idle | Phase::Closed(_) => None,
            Phase::Greeting(retry) | Phase::Starting(retry, _) | Phase::Closing(retry, _) => {
                Some(retry.at)
            }
            Phase::Streaming => {
                let own =
                    (self.last_sent + ALIVE_EVERY).min(self.last_heard + self.config.patience);
                Some(self.tfrc.poll_timeout().map_or(own, |at| at.min(own)))
            }
        }
    }

    /// The next packet to send now; call until none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        let packet = self.out.pop_front()?;
        self.last_sent = now;
        Some(packet)
    }

    /// Whether data may be sent: the handshake is complete and the stream has not ended.
    pub fn is_streaming(&self) -> bool {
        matches!(self.phase, Phase::Streaming)
    }

    /// How the stream ended; none before.
    pub fn end(&self) -> Option<End> {
        match self.phase {
            Phase::Closed(end) => Some(end),
            _ => None,
        }
    }

    /// What happened so far.
    pub fn stats(&self) -> SenderStats {
        let rate_bps = 8.0 * self.tfrc.rate();
        let share = self.config.media_bytes() as f64 / f64::from(self.config.packet_bytes);
        SenderStats {
            sent_pkts: self.tfrc.sent(),
            rate_bps,
            media_rate_bps: rate_bps * share,
            in_slow_start: self.tfrc.in_slow_start(),
            rtt: self.tfrc.rtt(),
            ..self.stats
        }
    }

    /// Packets that wait.
    pub fn waiting_pkts(&self) -> usize {
        self.queue.len()
    }

    /// The settings.
    pub fn config(&self) -> &SenderConfig {
        &self.config
    }

    fn hello(&self) -> Control {
        Control::Hello { packet_bytes: self.config.packet_bytes, nonce: self.nonce }
    }

    /// Uses a control packet; none if it is not for this stream, or not authentic. A replay was
    /// used.
    fn on_control(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let (_, number, control) =
            Control::parse(bytes.get(..bytes.len().checked_sub(wire::TAG_BYTES)?)?)?;
        if let Control::Challenge { nonce, cookie } = control {
            self.handshake.open(bytes)?;
            let expected = matches!(self.phase, Phase::Greeting(_)) && nonce == self.nonce;
            expected.then_some(())?;
            let start = Control::Start { packet_bytes: self.config.packet_bytes, nonce, cookie };
            self.keys = Some(self.key.stream(&nonce, &cookie));
            self.handshake_rtt = now - self.asked;
            self.phase = Phase::Starting(Retry::new(now, self.config.patience), start);
            self.send_handshake(now, start);
            return Some(());
        }
        self.keys.as_ref()?.back.open(bytes)?;
        if number <= self.peer_number {
            self.stats.replayed_pkts += 1;
            return Some(());
        }
        self.peer_number = number;
        self.last_heard = now;
        match (control, self.phase) {
            (Control::Accept, Phase::Starting(..)) => {
                self.phase = Phase::Streaming;
                self.vetting.set_handshake(self.handshake_rtt.min(now - self.asked));
                self.last_sent = now;
                self.tfrc.start(now);
                self.emit(now);
                self.close_if_done(now);
            }
            (Control::Feedback(report), Phase::Streaming) => self.on_feedback(now, &report),
            // The receiver's last report comes with its Bye.
            (Control::Feedback(report), Phase::Closing(..)) => self.note(now, &report),
            (Control::Bye { .. }, Phase::Closing(_, reason)) => {
                let stopped = reason == Reason::Stopped;
                self.phase = Phase::Closed(if stopped { End::Stopped } else { End::Finished });
            }
            (Control::Bye { .. }, Phase::Streaming) => {
                self.send_bye(Reason::Stopped);
                self.tfrc.stop(now);
                self.phase = Phase::Closed(End::PeerStopped);
            }
            _ => {}
        }
        Some(())
    }

    fn on_feedback(&mut self, now: Time, report: &Feedback) {
        let Some(vetted) = self.vetting.vet(now, self.tfrc.rtt(), report) else {
            self.stats.contradicting_reports += 1;
            return;
        };
        self.stats.capped_reports += u64::from(vetted.capped);
        self.take_down(now, report);
        self.tfrc.on_feedback(now, &vetted.feedback);
        self.emit(now);
        self.close_if_done(now);
    }

    /// Takes in the totals of a report after which nothing is sent.
    fn note(&mut self, now: Time, report: &Feedback) {
        match self.vetting.vet(now, self.tfrc.rtt(), report) {
            Some(_) => self.take_down(now, report),
            None => self.stats.contradicting_reports += 1,
        }
    }

    fn take_down(&mut self, now: Time, report: &Feedback) {
        self.stats.reports += 1;
        self.stats.loss_event_rate = report.loss_event_rate();
        self.stats.received_pkts = report.received;
        self.stats.lost_congestion_pkts = report.lost_congestion;
        self.stats.lost_wireless_pkts = report.lost_wireless;
        self.stats.recent = self.recent.on_report(now, report);
    }

    fn on_streaming_timeout(&mut self, now: Time) {
        if now - self.last_heard >= self.config.patience {
            self.tfrc.stop(now);
            self.phase = Phase::Closed(End::PeerGone);
            return;
        }
        while let Some(at) = self.tfrc.poll_timeout().filter(|at| *at <= now) {
            self.tfrc.on_timeout(if now - at <= GRANULARITY { at } else { now });
            self.emit(now);
        }
        if self.out.is_empty() && now - self.last_sent >= ALIVE_EVERY {
            self.send_control(Control::Alive);
        }
        self.close_if_done(now);
    }

    /// Makes packets of what is due.
    fn emit(&mut self, now: Time) {
        while let Some(data) = self.tfrc.poll_transmit(now) {
            // TFRC knows how many packets wait and asks for no more.
            let Some(media) = self.queue.pop_front() else { return };
            let Some(keys) = &self.keys else { return };
            let header = Header {
                marker: media.marker,
                payload_type: if media.payload_type == 0 { DYNAMIC } else { media.payload_type },
                seq: data.seq,
                media_time: media.media_time.unwrap_or_else(|| (micros(now) * 9 / 100) as u32),
                ssrc: self.ssrc,
                sent_us: micros(now),
                rtt_us: data.times.map_or(0, |times| short_micros(times.rtt).max(1)),
            };
            let mut packet = Vec::with_capacity(usize::from(self.config.packet_bytes));
            header.write(&mut packet);
            packet.extend(&media.payload);
            keys.forward.seal(&mut packet);
            self.vetting.on_sent(now);
            self.stats.sent_media_bytes += media.payload.len() as u64;
            self.out.push_back(packet);
        }
    }

    fn tell_backlog(&mut self, now: Time) {
        self.tfrc.set_backlog(now, Backlog::Packets(self.queue.len() as u64));
        if self.is_streaming() {
            self.emit(now);
        }
    }

    fn close_if_done(&mut self, now: Time) {
        if self.finishing && self.queue.is_empty() && self.is_streaming() {
            self.close(now, Reason::Finished);
        }
    }

    fn close(&mut self, now: Time, reason: Reason) {
        self.tfrc.stop(now);
        self.send_bye(reason);
        self.phase = Phase::Closing(Retry::new(now, FAREWELL), reason);
    }

    fn send_bye(&mut self, reason: Reason) {
        self.send_control(Control::Bye { packets: self.tfrc.sent(), reason });
    }

    fn send_handshake(&mut self, now: Time, control: Control) {
        self.asked = now;
        let mut packet = Vec::new();
        control.write(self.ssrc, 0, &mut packet);
        self.handshake.seal(&mut packet);
        self.out.push_back(packet);
    }

    fn send_control(&mut self, control: Control) {
        let Some(keys) = &self.keys else { return };
        self.number += 1;
        let mut packet = Vec::new();
        control.write(self.ssrc, self.number, &mut packet);
        keys.forward.seal(&mut packet);
        self.out.push_back(packet);
    }
}

const _: () = assert!(rtp::HEADER_BYTES + wire::TAG_BYTES < 128, "the smallest packet holds media");
