//! How a direction of a connection begins and ends: its SYN, its FIN, and acknowledgements of data
//! that were not captured.

use losscause::{Span, Time};

use super::Tries;
use super::connection::MAX_JUMP;
use super::loss::{Repeat, RepeatKind};
use crate::packet::{Tcp, flag};

/// A host waits a second before it opens a connection once more (RFC 6298, section 2); half of that
/// is the limit.
pub(super) const SYN_AGAIN: Span = Span::from_millis(500);

/// The first segment of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syn {
    pub(super) time: Time,
    pub(super) seq: u32,
    pub(super) tsval: Option<u32>,
    /// When and in which frame it was sent last, and how often again.
    pub(super) last: Time,
    pub(super) frame: u64,
    pub(super) repeats: u64,
    /// Whether the segment answers the other end's SYN, and when it was acknowledged.
    pub(super) is_reply: bool,
    pub(super) accepted: Option<Time>,
}

impl Syn {
    pub(super) fn new(now: Time, tcp: &Tcp, frame: u64) -> Self {
        let tsval = tcp.options.timestamps.map(|(tsval, _)| tsval);
        let is_reply = tcp.has(flag::ACK);
        Self {
            time: now,
            seq: tcp.seq,
            tsval,
            last: now,
            frame,
            repeats: 0,
            is_reply,
            accepted: None,
        }
    }

    pub(super) fn on_repeat(&mut self, now: Time, frame: u64) -> Repeat {
        let mut repeat = Repeat { frame, earlier: Some(self.frame), kind: RepeatKind::Copy };
        // A copy of the capture is none.
        if now - self.last >= SYN_AGAIN {
            (self.last, self.frame, self.repeats) = (now, frame, self.repeats + 1);
            repeat.kind = RepeatKind::Syn;
        }
        repeat
    }
}

/// The last segment of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    /// The FIN's own sequence number, unwrapped.
    pub(super) fin: u64,
    pub(super) ip_id: u16,
    pub(super) frame: u64,
    /// When it was sent first and last, and how often again.
    pub(super) first: Time,
    pub(super) last: Time,
    pub(super) repeats: u64,
    pub(super) is_answered: bool,
}

impl Closing {
    pub(super) fn tries(&self) -> Option<Tries> {
        let Self { repeats, is_answered, .. } = *self;
        (repeats > 0).then_some(Tries {
            repeats,
            waited: self.last - self.first,
            is_answered,
            is_reply: false,
        })
    }
}

/// Acknowledgements of data that were not captured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acked {
    pub(super) first: Option<u32>,
    pub(super) newest: u32,
}

impl Acked {
    pub(super) fn on_ack(&mut self, tcp: &Tcp) {
        let first = *self.first.get_or_insert(tcp.ack);
        if self.newest == 0 || (tcp.ack.wrapping_sub(self.newest) as i32) > 0 {
            self.newest = tcp.ack;
        }
        // Another connection.
        if tcp.ack.wrapping_sub(first) as i32 <= -(MAX_JUMP as i32) {
            (self.first, self.newest) = (Some(tcp.ack), tcp.ack);
        }
    }

    /// How many bytes they moved over; none if it may have been the FIN alone, which takes one
    /// number.
    pub(super) fn bytes(self) -> u64 {
        let numbers = self.first.map_or(0, |first| u64::from(self.newest.wrapping_sub(first)));
        if numbers > 1 { numbers } else { 0 }
    }
}
