//! FINs that passed again.

use losscause::{Span, Time};

use super::loss::{Repeat, RepeatKind};
use crate::packet::{Tcp, flag};

/// The FINs without data of one direction.
#[derive(Debug, Default)]
pub(super) struct Fins {
    /// Where the last one stands, when it passed, and in which frame.
    last: Option<(u32, Time, u64)>,
    repeats: Vec<Repeat>,
}

/// Copies of one packet in a capture lie closer together.
const SAME_PACKET: Span = Span::from_millis(10);
/// No host tries more often.
const MAX_REPEATS: usize = 127;

impl Fins {
    /// A segment passed. One with data is told with these.
    pub(super) fn on_segment(&mut self, now: Time, tcp: &Tcp, frame: u64) {
        if !tcp.has(flag::FIN) || tcp.payload_bytes > 0 {
            return;
        }
        if let Some((seq, at, earlier)) = self.last
            && seq == tcp.seq
            && self.repeats.len() < MAX_REPEATS
        {
            let kind = if now - at < SAME_PACKET { RepeatKind::Copy } else { RepeatKind::Fin };
            self.repeats.push(Repeat { frame, earlier: Some(earlier), kind });
        }
        self.last = Some((tcp.seq, now, frame));
    }

    /// Those that passed again.
    pub(super) fn into_repeats(self) -> Vec<Repeat> {
        self.repeats
    }
}
