//! What a capture shows of a direction's data and of their acknowledgements, unwrapped.

use losscause::{Span, Time};

/// A segment with data, unwrapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) frame: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) tsval: Option<u32>,
    pub(super) ip_id: u16,
    /// What had passed between its hosts before, bytes.
    pub(super) path_bytes: u64,
}

/// An acknowledgement, unwrapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    pub(super) ack: u64,
    pub(super) blocks: &'a [(u64, u64)],
    pub(super) tsval: Option<u32>,
    pub(super) tsecr: Option<u32>,
    /// The acknowledgement carries no data.
    pub(super) pure: bool,
    pub(super) window: u16,
    /// Bits by which the window is shifted; none if the handshake was not captured.
    pub(super) scale: Option<u8>,
}

/// What one acknowledgement told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) newly_acked: u64,
    pub(super) acked_bytes: u64,
    /// When the first of them was sent.
    pub(super) first_sent: Option<Time>,
    /// Segments beyond those covered before that it acknowledges cumulatively.
    pub(super) spanned: u32,
    /// The newest segment that it acknowledges for the first time.
    pub(super) newest: Option<(u64, u64)>,
    /// The time since that segment was sent, if it was sent once.
    pub(super) rtt: Option<Span>,
}

/// A capture records packets so much out of order at most.
pub(super) const OUT_OF_ORDER: Span = Span::from_millis(10);

/// Data whose acknowledgement the capture has in front of them: several queues of a card, or
/// processors, recorded them out of order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    /// What was acknowledged last without having been captured, and when.
    newest: Option<(Time, [u64; 2])>,
}

impl Ahead {
    pub(super) fn on_ack(&mut self, now: Time, [from, to]: [u64; 2]) {
        let before =
            self.newest.filter(|(time, range)| now - *time < OUT_OF_ORDER && range[1] == from);
        self.newest = Some((now, [before.map_or(from, |(_, range)| range[0]), to]));
    }

    /// Whether these data come a little late.
    pub(super) fn has_late(&self, now: Time, [start, end]: [u64; 2]) -> bool {
        self.newest.is_some_and(|(time, [from, to])| {
            now - time < OUT_OF_ORDER && from <= start && end <= to
        })
    }
}
