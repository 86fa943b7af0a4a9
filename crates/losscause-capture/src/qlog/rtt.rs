//! Round-trip times and what follows from them (RFC 9002, sections 5 and 6.1).

use losscause::Span;

/// Round-trip times (RFC 9002, section 5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rtt {
    smallest: Option<Span>,
    latest: Span,
    smoothed: Option<Span>,
}

impl Rtt {
    /// A sample, and the peer's delay in it, which is taken off unless the rest were below the
    /// smallest round trip (RFC 9002, section 5.3).
    pub(super) fn on_sample(&mut self, whole: Span, delay: Option<Span>) -> Span {
        let smallest = self.smallest.map_or(whole, |smallest| smallest.min(whole));
        self.smallest = Some(smallest);
        let without = whole - delay.unwrap_or(Span::ZERO);
        let rtt = if without >= smallest { without } else { whole };
        self.latest = rtt;
        self.smoothed = Some(self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8));
        rtt
    }

    /// How long a packet may be behind a later one (RFC 9002, section 6.1.2; kGranularity is 1 ms).
    pub(super) fn time_threshold(&self) -> Span {
        let rtt = self.smoothed.map_or(self.latest, |smoothed| smoothed.max(self.latest));
        (rtt * 9 / 8).max(Span::from_millis(1))
    }
}
