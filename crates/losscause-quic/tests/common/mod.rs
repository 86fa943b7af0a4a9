//! A base that halves, and a connection whose packets are sent, acknowledged and lost by hand.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part, and may stop at a surprise"
)]

mod scripted;

use losscause::ack::Growing;
use losscause::{AnyAlgorithm, Needs, SenderDifferentiator, Signal, Span, Time};
use losscause_quic::{Ack, Base, Choice, Event, Losses, Response, Transport};
pub use scripted::{NO_CAPS, Scripted};

pub const PACKET: u16 = 1000;

pub const TRANSPORT: Transport =
    Transport { name: "a test", provided: Needs::NONE.with_acks().with_delay().with_gap_size() };

/// Halves its window down to 1000 bytes, and counts how often it was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Halving {
    pub window: u64,
    pub told: u32,
    /// Whether it can be put back.
    pub can_restore: bool,
}

impl Base for Halving {
    fn window(&self) -> u64 {
        self.window
    }

    fn kept_1024(&self) -> Option<u32> {
        Some(512)
    }

    fn rewound(&self, before: Self) -> Option<Self> {
        self.can_restore.then_some(before)
    }

    fn without_reduction(&self, before: Self) -> Option<Self> {
        self.can_restore.then_some(before)
    }
}

impl Scripted {
    pub fn choice(&self) -> Choice {
        Choice::new(AnyAlgorithm::boxed(self.clone()), &TRANSPORT)
            .unwrap()
            .with_caps(NO_CAPS)
            .unwrap()
    }
}

/// A connection with a window of 64 packets. Packets are sent 1 ms apart from time 0 on, the first
/// at 0 ms.
pub struct Connection {
    pub sender: SenderDifferentiator<AnyAlgorithm, Growing>,
    pub losses: Losses<Halving>,
    pub base: Halving,
    sent: u64,
}

pub fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

impl Connection {
    pub fn new(choice: &Choice) -> Self {
        let (sender, losses) = choice.build();
        let base = Halving { window: 64_000, told: 0, can_restore: true };
        Self { sender, losses, base, sent: 0 }
    }

    /// With packets 0 to 99 sent, and 0 to 9 acknowledged at 59 ms: the round-trip time is 50 ms.
    pub fn with_ten_acked(choice: &Choice) -> Self {
        let mut connection = Self::new(choice);
        connection.send(100);
        connection.ack(59, 0..10);
        connection
    }

    pub fn send(&mut self, pkts: u64) {
        for _ in 0..pkts {
            self.sender.on_sent(self.sent, at(self.sent as i64));
            self.sent += 1;
        }
    }

    /// Returns whether a reduction was undone.
    pub fn ack(&mut self, ms: i64, numbers: impl IntoIterator<Item = u64>) -> bool {
        let mut pkts = 0;
        for number in numbers {
            self.sender.on_acked(number);
            pkts += 1;
        }
        self.losses.end_of_ack(
            &mut self.sender,
            &mut self.base,
            Ack { at: at(ms), pkts, largest: None },
        )
    }

    pub fn lose(&mut self, ms: i64, numbers: impl IntoIterator<Item = u64>) -> Response {
        let mut pkts = 0;
        for number in numbers {
            self.sender.on_lost(number);
            pkts += 1;
        }
        self.declare(ms, Signal::Gap, pkts * u64::from(PACKET))
    }

    pub fn declare(&mut self, ms: i64, signal: Signal, lost_bytes: u64) -> Response {
        let event = Event { at: at(ms), signal, lost_bytes, packet_bytes: PACKET };
        self.losses.declare(&mut self.sender, &mut self.base, event, |base| {
            base.window = (base.window / 2).max(1000);
            base.told += 1;
        })
    }
}
