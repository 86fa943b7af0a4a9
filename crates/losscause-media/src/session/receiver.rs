//! The receiver: proof of the sender's address, then reports and verdicts.
//!
//! [`losscause_transport::tfrc::Receiver`] measures, asks the LDA about every lost packet, and says
//! when to report. A driver calls the same four methods as at the [`Sender`](super::Sender), and
//! reads [`Receiver::poll_event`] until none after each.
//!
//! What holds against packets from anybody:
//!
//! - Without the key nothing is answered and nothing changes but a counter.
//! - Before the sender has proved its address, an answer is no longer than the packet it answers,
//!   and nothing is kept.
//! - One stream at a time, from one address; a copy of a packet counts once.
//! - Memory: the state of one stream, whose parts have bounds of their own, and what the driver has
//!   not fetched.

use std::collections::VecDeque;
use std::net::SocketAddr;

use losscause::{AnyAlgorithm, Judgement, Loss, Observer, Time, Verdict};
use losscause_transport::Ecn;
use losscause_transport::tfrc::{self, Data, Times};

use super::config::{ConfigError, ReceiverConfig, check_packet_bytes, tfrc_config};
use super::cookie::{Cookies, Request};
use super::end::End;
use super::event::{Event, Gap, Packet, Transmit};
use super::replay::ReplayWindow;
use super::stats::ReceiverStats;
use crate::auth::{Key, StreamKeys, Tagger};
use crate::wire::control::{Control, Cookie, Nonce, Reason};
use crate::wire::feedback::{Feedback, short_micros, time};
use crate::wire::{self, Kind, rtp};

/// The receiving end of a stream.
pub struct Receiver {
    config: ReceiverConfig,
    /// The algorithm in its initial state.
    lda: AnyAlgorithm,
    key: Key,
    handshake: Tagger,
    cookies: Cookies,
    stream: Option<Stream>,
    out: VecDeque<Transmit>,
    events: VecDeque<Event>,
    stats: ReceiverStats,
}

/// The state of one stream.
struct Stream {
    peer: SocketAddr,
    nonce: Nonce,
    cookie: Cookie,
    ssrc: u32,
    keys: StreamKeys,
    packet_bytes: u16,
    tfrc: tfrc::Receiver<AnyAlgorithm>,
    seen: ReplayWindow,
    /// Send timestamp of the packet with the highest sequence number, as it came.
    newest_us: u64,
    /// Number of the last control packet sent, and of the last received.
    number: u64,
    peer_number: u64,
    last_heard: Time,
    /// Only Bye is answered now.
    has_ended: bool,
}

impl Receiver {
    /// A receiver that waits for a sender. `secret` is random and new.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(config: &ReceiverConfig, key: &Key, secret: &[u8; 32]) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            lda: config.lda.build(losscause::End::Receiver).map_err(ConfigError::Algorithm)?,
            key: key.clone(),
            handshake: key.handshake(),
            cookies: Cookies::new(secret),
            stream: None,
            out: VecDeque::new(),
            events: VecDeque::new(),
            stats: ReceiverStats::default(),
            config: config.clone(),
        })
    }

    /// Ends the stream now.
    pub fn stop(&mut self, _now: Time) {
        if let Some(stream) = self.stream.as_mut().filter(|stream| !stream.has_ended) {
            stream.has_ended = true;
            self.out
                .push_back(stream.control(Control::Bye { packets: 0, reason: Reason::Stopped }));
            self.events.push_back(Event::Ended(End::Stopped));
        }
    }

    /// A packet arrived from `from`.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        self.on_datagram_observed(now, from, bytes, &mut ());
    }

    /// [`Self::on_datagram`] before the eyes of `observer`, which sees what the algorithm sees and
    /// says.
    pub fn on_datagram_observed(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        observer: &mut impl Observer,
    ) {
        let used = match wire::kind(bytes) {
            Some(Kind::Data) => self.on_data(now, from, bytes, observer),
            Some(Kind::Control) => self.on_control(now, from, bytes),
            None => None,
        };
        if used.is_none() {
            self.stats.foreign_pkts += 1;
        }
    }

    /// The time that [`Self::poll_timeout`] returned has come.
    pub fn on_timeout(&mut self, now: Time) {
        let Some(stream) = self.stream.as_mut().filter(|stream| !stream.has_ended) else { return };
        if now - stream.last_heard >= self.config.patience {
            stream.has_ended = true;
            self.events.push_back(Event::Ended(End::PeerGone));
            return;
        }
        stream.tfrc.on_timeout(now);
        self.report(now);
    }

    /// When to call [`Self::on_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let stream = self.stream.as_ref().filter(|stream| !stream.has_ended)?;
        let silence = stream.last_heard + self.config.patience;
        Some(stream.tfrc.poll_timeout().map_or(silence, |at| at.min(silence)))
    }

    /// The next packet to send now; call until none.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmit> {
        self.out.pop_front()
    }

    /// What happened next; call until none.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What happened so far.
    pub fn stats(&self) -> ReceiverStats {
        let Some(stream) = &self.stream else { return self.stats };
        let declared = stream.tfrc.declared();
        ReceiverStats {
            received_pkts: stream.tfrc.delivered_packets(),
            lost_congestion_pkts: declared.congestion,
            lost_wireless_pkts: declared.wireless,
            ..self.stats
        }
    }

    /// The algorithm at work: that of the stream, or the one that the next stream begins with.
    pub fn lda(&self) -> &AnyAlgorithm {
        self.stream.as_ref().map_or(&self.lda, |stream| stream.tfrc.lda())
    }

    /// Uses a data packet; none if it is not of this stream, or not authentic. A replay was used.
    fn on_data(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        observer: &mut impl Observer,
    ) -> Option<()> {
        let stream =
            self.stream.as_mut().filter(|stream| stream.peer == from && !stream.has_ended)?;
        let (header, _) = rtp::parse(bytes.get(..bytes.len().checked_sub(wire::TAG_BYTES)?)?)?;
        let fits = bytes.len() <= usize::from(stream.packet_bytes) && header.ssrc == stream.ssrc;
        fits.then_some(())?;
        if !stream.seen.is_new(header.seq) {
            self.stats.replayed_pkts += 1;
            return Some(());
        }
        let content = stream.keys.forward.open(bytes)?;
        let (header, payload) = rtp::parse(content)?;
        let is_late = stream.seen.highest().is_some_and(|highest| header.seq < highest);
        stream.seen.insert(header.seq);
        if !is_late {
            stream.newest_us = header.sent_us;
        }
        stream.last_heard = now;
        let rtt = time(u64::from(header.rtt_us)) - Time::ZERO;
        let times = (header.rtt_us > 0).then(|| Times { rtt, rto: rtt * 4 });
        let data = Data {
            payload_bytes: u32::from(stream.packet_bytes),
            wire_bytes: bytes.len() as u32,
            sent_at: time(header.sent_us),
            seq: header.seq,
            times,
            round: 0,
            urgent: false,
            ecn: Ecn::NotCapable,
        };
        let mut gap = Judged(None);
        stream.tfrc.on_data(now, &data, &mut (observer, &mut gap));
        self.stats.received_media_bytes += payload.len() as u64;
        self.stats.late_pkts += u64::from(is_late);
        self.stats.rtt = times.map(|times| times.rtt).or(self.stats.rtt);
        self.events.extend(gap.0.map(|gap| Event::Gap(Box::new(gap))));
        self.events.push_back(Event::Packet(Packet {
            seq: header.seq,
            payload: payload.to_vec(),
            payload_type: header.payload_type,
            marker: header.marker,
            media_time: header.media_time,
            is_late,
        }));
        self.report(now);
        Some(())
    }

    /// Sends the report that is due, if any.
    fn report(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        while let Some(due) = stream.tfrc.poll_transmit(now) {
            let mut report = stream.totals();
            report.hold_us = short_micros(due.hold);
            report.set_receive_rate(due.receive_rate);
            report.set_loss_event_rate(due.loss_event_rate);
            self.out.push_back(stream.control(Control::Feedback(report)));
            self.stats.reports += 1;
        }
    }

    /// Uses a control packet; none if it is not authentic, or has no place here. A replay was used.
    fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<()> {
        let (ssrc, number, control) =
            Control::parse(bytes.get(..bytes.len().checked_sub(wire::TAG_BYTES)?)?)?;
        match control {
            Control::Hello { packet_bytes, nonce } => {
                self.handshake.open(bytes)?;
                let cookie = self.cookies.issue(now, Request { from, nonce: &nonce, packet_bytes });
                let mut answer = Vec::new();
                Control::Challenge { nonce, cookie }.write(ssrc, 0, &mut answer);
                self.handshake.seal(&mut answer);
                self.out.push_back(Transmit { to: from, bytes: answer });
                Some(())
            }
            Control::Start { packet_bytes, nonce, cookie } => {
                self.handshake.open(bytes)?;
                self.on_start(now, from, ssrc, packet_bytes, nonce, cookie)
            }
            _ => self.on_stream_control(now, from, bytes, number, control),
        }
    }

    /// A sender that returns a cookie gets the stream, unless another has it.
    fn on_start(
        &mut self,
        now: Time,
        from: SocketAddr,
        ssrc: u32,
        packet_bytes: u16,
        nonce: Nonce,
        cookie: Cookie,
    ) -> Option<()> {
        check_packet_bytes(packet_bytes).ok()?;
        if let Some(stream) = self.stream.as_mut().filter(|stream| !stream.has_ended) {
            // The answer to the first Start was lost.
            let again = (stream.peer, stream.nonce, stream.cookie) == (from, nonce, cookie);
            again.then(|| self.out.push_back(stream.control(Control::Accept)))?;
            return Some(());
        }
        self.cookies
            .redeem(now, Request { from, nonce: &nonce, packet_bytes }, &cookie)
            .then_some(())?;
        let mut stream = Stream {
            peer: from,
            keys: self.key.stream(&nonce, &cookie),
            nonce,
            cookie,
            ssrc,
            packet_bytes,
            tfrc: tfrc::Receiver::new(&tfrc_config(packet_bytes), self.lda.clone()),
            seen: ReplayWindow::default(),
            newest_us: 0,
            number: 0,
            peer_number: 0,
            last_heard: now,
            has_ended: false,
        };
        self.out.push_back(stream.control(Control::Accept));
        self.stream = Some(stream);
        self.stats =
            ReceiverStats { foreign_pkts: self.stats.foreign_pkts, ..ReceiverStats::default() };
        let media_bytes = usize::from(packet_bytes) - rtp::HEADER_BYTES - wire::TAG_BYTES;
        self.events.push_back(Event::Started { peer: from, media_bytes });
        Some(())
    }

    fn on_stream_control(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        number: u64,
        control: Control,
    ) -> Option<()> {
        let stream = self.stream.as_mut().filter(|stream| stream.peer == from)?;
        stream.keys.forward.open(bytes)?;
        if number <= stream.peer_number {
            self.stats.replayed_pkts += 1;
            return Some(());
        }
        stream.peer_number = number;
        match control {
            Control::Bye { packets, reason } => {
                if !stream.has_ended {
                    stream.has_ended = true;
                    stream.last_heard = now;
                    self.stats.sent_pkts = Some(packets);
                    // Nothing is sent any more, so only the totals matter.
                    let totals = stream.totals();
                    self.out.push_back(stream.control(Control::Feedback(totals)));
                    let end =
                        if reason == Reason::Finished { End::Finished } else { End::PeerStopped };
                    self.events.push_back(Event::Ended(end));
                }
                self.out.push_back(stream.control(Control::Bye { packets: 0, reason }));
            }
            Control::Alive if !stream.has_ended => {
                stream.last_heard = now;
                self.out.push_back(stream.control(Control::Alive));
            }
            _ => {}
        }
        Some(())
    }
}

impl Stream {
    /// A report with the totals and the last loss event rate.
    fn totals(&self) -> Feedback {
        let declared = self.tfrc.declared();
        let mut report = Feedback {
            highest: self.seen.highest().unwrap_or(0),
            echo_us: self.newest_us,
            received: self.tfrc.delivered_packets(),
            lost_congestion: declared.congestion,
            lost_wireless: declared.wireless,
            ..Feedback::default()
        };
        report.set_loss_event_rate(self.tfrc.loss_event_rate());
        report
    }

    /// A control packet of this stream.
    fn control(&mut self, control: Control) -> Transmit {
        self.number += 1;
        let mut bytes = Vec::new();
        control.write(self.ssrc, self.number, &mut bytes);
        self.keys.back.seal(&mut bytes);
        Transmit { to: self.peer, bytes }
    }
}

/// Takes down the gap that a packet reveals.
struct Judged(Option<Gap>);

impl Observer for Judged {
    fn on_judged(&mut self, loss: &Loss, judgement: &Judgement) {
        let first = loss.seq().unwrap_or_default();
        let gap =
            self.0.get_or_insert(Gap { first, packets: 0, wireless: 0, judgement: *judgement });
        gap.packets += 1;
        gap.wireless += u64::from(judgement.verdict == Verdict::Wireless);
    }
}
