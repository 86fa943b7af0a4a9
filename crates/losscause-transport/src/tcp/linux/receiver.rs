//! What Linux's receiver adds to the receiver of RFC 5681: when it acknowledges, and the window
//! that it offers.

use losscause::Time;

use super::acks::{Acks, Arrived, Place};
use super::clock::Clock;
use super::receive_window::{ReceiveWindow, timestamp_us};
use crate::tcp::config::Config;
use crate::tcp::segment::{Ack, Segment};

#[derive(Clone, Debug)]
pub(crate) struct LinuxReceiver {
    acks: Acks,
    window: ReceiveWindow,
    /// Everything below was acknowledged.
    acked: u64,
    /// An ACK to send before that of the newest packet, and when that one is due.
    early: Option<(Ack, Time)>,
}

/// What a segment changed at the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// The next packet expected, before and now.
    pub(crate) next: (u64, u64),
    /// Packets held beyond a gap, before and now.
    pub(crate) held: (u64, u64),
    /// One above the highest packet received.
    pub(crate) end: u64,
}

impl LinuxReceiver {
    pub(crate) fn new(config: &Config) -> Self {
        let clock = Clock::new(config.quirks.tick, config.quirks.tick_offset);
        let least_ato = config.delayed_ack.unwrap_or(clock.tick());
        Self {
            acks: Acks::new(clock, least_ato, config.min_rto),
            window: ReceiveWindow::new(config),
            acked: 0,
            early: None,
        }
    }

    /// Whether an ACK of packets beyond a gap waits for more of them.
    pub(crate) fn compresses(&self) -> bool {
        self.acks.compresses()
    }

    /// `ack` is to be sent before that of the newest packet, which is due at `due`.
    pub(crate) fn keep_early(&mut self, ack: Ack, due: Time) {
        self.early = Some((ack, due));
    }

    /// What [`Self::keep_early`] kept.
    pub(crate) fn take_early(&mut self) -> Option<(Ack, Time)> {
        self.early.take()
    }

    /// Whether an ACK echoes this segment's timestamp: only if the last ACK asked for it or a later
    /// one (RFC 7323, section 4.3).
    pub(crate) fn echoes(&self, segment: &Segment) -> bool {
        segment.seq <= self.acked
    }

    /// A segment arrived. Returns when to acknowledge it at the latest; `pending` is that of
    /// earlier ones.
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        change: &Change,
        pending: Option<Time>,
    ) -> Time {
        let (before, next) = change.next;
        let (held_before, held) = change.held;
        let place = if segment.seq < before {
            Place::Old
        } else if next == before {
            Place::BeyondGap
        } else if held_before > 0 && held == 0 {
            Place::ClosesGap
        } else {
            Place::InSequence
        };
        if segment.payload_bytes == 0 {
            return now;
        }
        let grows =
            place != Place::Old && self.window.on_packet(now, segment.echo_us, next, change.end);
        let arrived = Arrived { place, next, gap: held > 0, grows, rtt: self.window.rtt() };
        self.acks.on_packet(now, &arrived, pending)
    }

    /// An ACK of everything below `next` is sent, with `held` packets beyond a gap. Returns its
    /// window in packets and its timestamp.
    pub(crate) fn on_ack(&mut self, now: Time, next: u64, held: u64) -> (u32, u32) {
        self.acked = next;
        self.acks.on_ack(next);
        (self.window.offer(next, held), timestamp_us(now))
    }
}
