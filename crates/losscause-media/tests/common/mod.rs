//! Both ends of a stream over the simulator's links, in virtual time: the sessions that a socket drives, driven here by
//! [`LivePath`].
#![allow(dead_code)] // Each test uses a part.

use std::net::SocketAddr;

use losscause::truth::Cause;
use losscause::{Span, Time};
use losscause_media::{End, Event, Gap, Key, Media, Receiver, ReceiverConfig, Sender, SenderConfig};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered};
use losscause_sim::{FlowId, Network};

/// A stream that always has data to send.
pub(crate) struct Stream {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    path: LivePath<Vec<u8>>,
    now: Time,
    /// Bytes that a packet has on the links besides its own.
    header_bytes: u32,
    pub(crate) counts: Counts,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) ended: Option<End>,
}

/// Data packets since the last [`Stream::count_from_here`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) delivered: u64,
    pub(crate) queue_drops: u64,
    pub(crate) corrupted: u64,
}

pub(crate) fn secs(secs: i64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

fn address(host: u8) -> SocketAddr {
    ([10, 0, 0, host], 5004).into()
}

impl Stream {
    pub(crate) fn new(
        network: &Network,
        seed: u64,
        (sender, receiver): (&SenderConfig, &ReceiverConfig),
        header_bytes: u32,
    ) -> Self {
        let key = Key::from_bytes([7; 32]);
        let mut sender = Sender::new(sender, &key, [seed as u8; 16]).unwrap();
        sender.start(Time::ZERO);
        Self {
            sender,
            receiver: Receiver::new(receiver, &key, &[9; 32]).unwrap(),
            path: LivePath::new(network, FlowId(0), seed).unwrap(),
            now: Time::ZERO,
            header_bytes,
            counts: Counts::default(),
            gaps: Vec::new(),
            ended: None,
        }
    }

    pub(crate) fn count_from_here(&mut self) {
        self.counts = Counts::default();
    }

    /// Runs both ends and the links up to and including `until`.
    pub(crate) fn run_until(&mut self, until: Time) {
        loop {
            self.transmit();
            let deadlines = [self.path.next_event(), self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let Some(next) = deadlines.into_iter().flatten().min().filter(|at| *at <= until) else { break };
            self.now = self.now.max(next);
            let now = self.now;
            while let Some(passed) = self.path.poll(now) {
                let is_data = passed.content[1] < 192;
                match (passed.fate, passed.direction) {
                    (Fate::Delivered { .. }, Direction::Forward) => {
                        self.counts.delivered += u64::from(is_data);
                        self.receiver.on_datagram(now, address(1), &passed.content);
                    }
                    (Fate::Delivered { .. }, Direction::Back) => self.sender.on_datagram(now, &passed.content),
                    (Fate::Lost { cause: Cause::Congestion, .. }, _) => self.counts.queue_drops += u64::from(is_data),
                    (Fate::Lost { cause: Cause::Wireless, .. }, _) => self.counts.corrupted += u64::from(is_data),
                }
            }
            self.sender.on_timeout(now);
            self.receiver.on_timeout(now);
        }
        self.now = self.now.max(until);
    }

    fn transmit(&mut self) {
        let now = self.now;
        while self.sender.end().is_none() && self.sender.has_room() {
            let payload = vec![0; self.sender.config().media_bytes()];
            if self.sender.push(now, Media { payload, ..Media::default() }).is_err() {
                break;
            }
        }
        while let Some(bytes) = self.sender.poll_transmit(now) {
            self.enter(Direction::Forward, bytes);
        }
        while let Some(transmit) = self.receiver.poll_transmit(now) {
            assert_eq!(transmit.to, address(1));
            self.enter(Direction::Back, transmit.bytes);
        }
        while let Some(event) = self.receiver.poll_event() {
            match event {
                Event::Gap(gap) => self.gaps.push(gap),
                Event::Ended(end) => self.ended = Some(end),
                Event::Started { .. } | Event::Packet(_) => {}
            }
        }
    }

    fn enter(&mut self, direction: Direction, content: Vec<u8>) {
        let wire_bytes = content.len() as u32 + self.header_bytes;
        self.path.enter(
            self.now,
            direction,
            Offered { content, wire_bytes, flow: 0, ecn: Ecn::NotCapable, wireless_immune: false },
        );
    }
}
