//! Both ends of a stream over the simulator's links, in virtual time: the sessions that a socket
//! drives, driven here by [`LivePath`].
//!
//! The driver jumps from instant to instant: an arrival or a loss on the path, a timer of an end,
//! the start of the stream.

use std::net::SocketAddr;

use losscause::{Span, Time};
use losscause_media::wire::{self, rtp};
use losscause_media::{
    ConfigError, End, Event, Key, Media, Receiver, ReceiverConfig, Sender, SenderConfig, Transmit,
};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered, Passed};
use losscause_sim::truth::Cause;
use losscause_sim::{FlowId, Network, Oracle};
use losscause_study::InputError;

use super::stack::refused;
use super::truths::{TruthObserver, Truths};
use crate::live::counters::Counters;

/// A stream that always has media to send.
pub(super) struct Stream {
    sender: Sender,
    receiver: Receiver,
    truths: Truths,
    path: LivePath<Datagram>,
    now: Time,
    start: Time,
    has_started: bool,
    /// Bytes of a datagram on the links before its own.
    header_bytes: u32,
    counts: Counters,
    heard: Heard,
}

/// What the receiving application heard, besides packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// Packets in gaps.
    pub(super) missing_pkts: u64,
    /// Those of them that the algorithm calls wireless.
    pub(super) wireless_pkts: u64,
    pub(super) ended: Option<End>,
}

/// The settings of both ends.
pub(super) struct Ends {
    pub(super) sender: SenderConfig,
    pub(super) receiver: ReceiverConfig,
    /// Takes down the losses and the verdicts, and answers for an oracle.
    pub(super) truths: Truths,
    /// Bytes of IP and UDP on the links.
    pub(super) header_bytes: u32,
}

/// What travels over the path.
#[derive(Clone)]
struct Datagram {
    bytes: Vec<u8>,
    /// The sequence number, of data.
    seq: Option<u64>,
}

/// Where the sender is, as the receiver sees it.
const SENDER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 5004);

impl Stream {
    /// A stream over the path of `flow`, which starts when the simulator's flow would.
    ///
    /// # Errors
    /// The network is not valid, or a setting is out of range.
    pub(super) fn new(
        network: &Network,
        flow: FlowId,
        seed: u64,
        ends: Ends,
    ) -> Result<Self, InputError> {
        let config = |error: ConfigError| refused(error.to_string());
        let key = Key::from_bytes([7; 32]);
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&seed.to_le_bytes());
        Ok(Self {
            sender: Sender::new(&ends.sender, &key, nonce).map_err(config)?,
            receiver: Receiver::new(&ends.receiver, &key, &[9; 32]).map_err(config)?,
            truths: ends.truths,
            path: LivePath::new(network, flow, seed).map_err(|error| refused(error.to_string()))?,
            now: Time::ZERO,
            start: network.flows[flow.0 as usize].starts_at(seed),
            has_started: false,
            header_bytes: ends.header_bytes,
            counts: Counters::default(),
            heard: Heard::default(),
        })
    }

    /// Runs until everything up to `until` has happened.
    pub(super) fn run_until(&mut self, until: Time) {
        while let Some(next) = self.next_event().filter(|at| *at <= until) {
            self.now = self.now.max(next);
            while let Some(passed) = self.path.poll(self.now) {
                self.on_passed(passed);
            }
            if !self.has_started && self.start <= self.now {
                self.has_started = true;
                self.sender.start(self.now);
            }
            self.sender.on_timeout(self.now);
            self.receiver.on_timeout(self.now);
            self.transmit();
        }
        self.now = self.now.max(until);
    }

    /// What happened to the data packets so far.
    pub(super) fn outcome(&self) -> Counters {
        Counters { verdicts: self.truths.tally(), ..self.counts }
    }

    /// How the stream ended; none while it goes on.
    pub(super) fn ended(&self) -> Option<End> {
        self.sender.end().or(self.heard.ended)
    }

    /// What the receiving application heard so far.
    #[cfg(test)]
    pub(super) fn heard(&self) -> Heard {
        self.heard
    }

    /// Both ends.
    #[cfg(test)]
    pub(super) fn ends(&mut self) -> (&mut Sender, &mut Receiver) {
        (&mut self.sender, &mut self.receiver)
    }

    fn next_event(&self) -> Option<Time> {
        let start = (!self.has_started).then_some(self.start);
        let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout(), start];
        timers.into_iter().flatten().chain(self.path.next_event()).min()
    }

    /// A packet has left the path.
    fn on_passed(&mut self, passed: Passed<Datagram>) {
        let Passed { content: Datagram { bytes, seq }, direction, fate, .. } = passed;
        match (fate, direction) {
            (Fate::Delivered { queued, .. }, Direction::Forward) => {
                if seq.is_some() {
                    self.counts.delivered_pkts += 1;
                    self.counts.queued += queued;
                }
                let oracle = self.receiver.lda().downcast_ref::<Oracle>().copied();
                let mut observer = TruthObserver { truths: &self.truths, oracle };
                self.receiver.on_datagram_observed(self.now, SENDER, &bytes, &mut observer);
            }
            (Fate::Delivered { .. }, Direction::Back) => self.sender.on_datagram(self.now, &bytes),
            (Fate::Lost { cause, .. }, _) => {
                let Some(seq) = seq else { return };
                match cause {
                    Cause::Congestion => self.counts.queue_drops += 1,
                    Cause::Wireless => self.counts.wireless_losses += 1,
                }
                self.truths.lost(seq, cause);
            }
        }
    }

    /// Hands media to the sender as long as it takes it, and what both ends send to the path.
    fn transmit(&mut self) {
        let now = self.now;
        while self.sender.end().is_none() && self.sender.has_room() {
            let payload = vec![0; self.sender.config().media_bytes()];
            if self.sender.push(now, Media { payload, ..Media::default() }).is_err() {
                break;
            }
        }
        while let Some(bytes) = self.sender.poll_transmit(now) {
            let seq = seq(&bytes);
            self.counts.sent_pkts += u64::from(seq.is_some());
            self.enter(Direction::Forward, Datagram { bytes, seq });
        }
        while let Some(Transmit { bytes, .. }) = self.receiver.poll_transmit(now) {
            self.enter(Direction::Back, Datagram { bytes, seq: None });
        }
        while let Some(event) = self.receiver.poll_event() {
            match event {
                Event::Gap(gap) => {
                    self.heard.missing_pkts += gap.packets;
                    self.heard.wireless_pkts += gap.wireless;
                }
                Event::Ended(end) => self.heard.ended = Some(end),
                Event::Started { .. } | Event::Packet(_) => {}
            }
        }
    }

    fn enter(&mut self, direction: Direction, content: Datagram) {
        let wire_bytes = content.bytes.len() as u32 + self.header_bytes;
        let offered =
            Offered { content, wire_bytes, flow: 0, ecn: Ecn::NotCapable, wireless_immune: false };
        self.path.enter(self.now, direction, offered);
    }
}

/// The sequence number of a data packet; none of a control packet.
fn seq(bytes: &[u8]) -> Option<u64> {
    let without_tag = bytes.get(..bytes.len().checked_sub(wire::TAG_BYTES)?)?;
    (wire::kind(bytes)? == wire::Kind::Data)
        .then(|| rtp::parse(without_tag))?
        .map(|(header, _)| header.seq)
}

/// So often a run looks whether it should stop.
pub(super) const STEP: Span = Span::from_secs(1);
