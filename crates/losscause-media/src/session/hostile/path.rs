//! Both ends over a path of constant delay, in virtual time. A test sees every packet and says what
//! arrives instead.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use losscause::{Span, Time};

use crate::Key;
use crate::session::*;

pub(super) const DELAY: Span = Span::from_millis(20);
pub(super) const PACKET_BYTES: u16 = 1000;

pub(super) fn at(ms: i64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

pub(super) fn sender_address() -> SocketAddr {
    ([192, 0, 2, 1], 40_000).into()
}

pub(super) fn elsewhere() -> SocketAddr {
    ([198, 51, 100, 7], 40_000).into()
}

pub(super) fn key() -> Key {
    Key::from_bytes([7; 32])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Receiver,
    Sender,
}

/// What the path does with a packet: the packets that arrive instead.
type Meddling<'a> = Box<dyn FnMut(Time, To, Vec<u8>) -> Vec<Vec<u8>> + 'a>;

pub(super) struct Path<'a> {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) now: Time,
    under_way: BTreeMap<(Time, u64), (To, SocketAddr, Vec<u8>)>,
    next: u64,
    pushed: u64,
    meddling: Meddling<'a>,
    pub(super) events: Vec<Event>,
    /// When each data packet was sent.
    pub(super) sent: Vec<Time>,
}

impl<'a> Path<'a> {
    pub(super) fn new(
        max_rate_bps: u64,
        meddling: impl FnMut(Time, To, Vec<u8>) -> Vec<Vec<u8>> + 'a,
    ) -> Self {
        Self::with_keys(max_rate_bps, &key(), &key(), meddling)
    }

    pub(super) fn with_keys(
        max_rate_bps: u64,
        senders: &Key,
        receivers: &Key,
        meddling: impl FnMut(Time, To, Vec<u8>) -> Vec<Vec<u8>> + 'a,
    ) -> Self {
        let config =
            SenderConfig { packet_bytes: PACKET_BYTES, max_rate_bps, ..SenderConfig::default() };
        let mut sender = Sender::new(&config, senders, [3; 16]).unwrap();
        sender.start(Time::ZERO);
        Self {
            sender,
            receiver: Receiver::new(&ReceiverConfig::default(), receivers, &[5; 32]).unwrap(),
            now: Time::ZERO,
            under_way: BTreeMap::new(),
            next: 0,
            pushed: 0,
            meddling: Box::new(meddling),
            events: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn enter(&mut self, to: To, from: SocketAddr, bytes: Vec<u8>) {
        self.under_way.insert((self.now + DELAY, self.next), (to, from, bytes));
        self.next += 1;
    }

    pub(super) fn run_until(&mut self, until: Time) {
        loop {
            self.transmit();
            let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
            let deadlines = [arrival, self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let Some(next) = deadlines.into_iter().flatten().min().filter(|at| *at <= until) else {
                break;
            };
            self.now = self.now.max(next);
            while let Some(entry) =
                self.under_way.first_entry().filter(|entry| entry.key().0 <= self.now)
            {
                match entry.remove() {
                    (To::Receiver, from, bytes) => {
                        self.receiver.on_datagram(self.now, from, &bytes);
                    }
                    (To::Sender, _, bytes) => self.sender.on_datagram(self.now, &bytes),
                }
            }
            self.sender.on_timeout(self.now);
            self.receiver.on_timeout(self.now);
        }
        self.now = until;
    }

    fn transmit(&mut self) {
        while self.sender.end().is_none() && self.sender.has_room() {
            let payload = self.pushed.to_be_bytes().to_vec();
            self.pushed += 1;
            if self.sender.push(self.now, Media { payload, ..Media::default() }).is_err() {
                break;
            }
        }
        while let Some(bytes) = self.sender.poll_transmit(self.now) {
            if bytes[1] < 192 {
                self.sent.push(self.now);
            }
            for bytes in (self.meddling)(self.now, To::Receiver, bytes) {
                self.enter(To::Receiver, sender_address(), bytes);
            }
        }
        while let Some(transmit) = self.receiver.poll_transmit(self.now) {
            // What goes elsewhere does not reach the sender.
            if transmit.to == sender_address() {
                for bytes in (self.meddling)(self.now, To::Sender, transmit.bytes) {
                    self.enter(To::Sender, sender_address(), bytes);
                }
            }
        }
        self.events.extend(std::iter::from_fn(|| self.receiver.poll_event()));
    }

    pub(super) fn into_receiver(self) -> Receiver {
        self.receiver
    }

    /// The most packets sent in any second.
    pub(super) fn most_in_a_second(&self) -> usize {
        let before = |time: Time| self.sent.partition_point(|at| *at < time);
        let within = |from: &Time| before(*from + Span::from_secs(1)) - before(*from);
        self.sent.iter().map(within).max().unwrap_or(0)
    }

    pub(super) fn packets(&self) -> Vec<&Packet> {
        let packet = |event: &'_ Event| matches!(event, Event::Packet(_));
        let packets = self.events.iter().filter(|event| packet(event));
        packets
            .filter_map(|event| if let Event::Packet(packet) = event { Some(packet) } else { None })
            .collect()
    }
}

pub(super) fn honest(_: Time, _: To, bytes: Vec<u8>) -> Vec<Vec<u8>> {
    vec![bytes]
}
