//! What a congestion control is told about acknowledgements and timeouts.

use losscause::{Span, Time};

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub at: Time,
    /// Packets that it acknowledges for the first time. By the cumulative ACK number they are at
    /// least 1; Linux's machine counts what is acknowledged or reported for the first time, which
    /// may be none.
    pub newly_acked_pkts: u64,
    /// The round-trip time that it measures, if it measures one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time (RFC 6298); `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Every packet below is acknowledged (SND.UNA).
    pub una: u64,
    /// The next packet in sequence (SND.NXT); a timeout moves it back, but for Linux's machine.
    pub next: u64,
    /// Whether the window may grow.
    pub growth: Growth,
}

impl AckEvent {
    /// Packets sent and not acknowledged (RFC 5681's FlightSize).
    #[inline]
    pub fn flight_pkts(&self) -> u64 {
        self.next - self.una
    }
}

/// Whether an ACK of new data may open the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The window may grow.
    Due,
    /// No growth: a loss is under repair, or the ACK echoes a mark or acknowledges the SYN.
    Repairing,
    /// No growth: the receiver's window or the end of the data limits the sender, so cwnd was not
    /// used (RFC 9438, section 5.8).
    Unused,
}

impl Growth {
    /// Whether the window may grow.
    #[inline]
    pub fn is_due(self) -> bool {
        self == Self::Due
    }
}

/// A measured round-trip time.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// When the ACK arrived.
    pub at: Time,
    /// The round-trip time of the newest packet, above zero.
    pub rtt: Span,
    /// Every packet below is acknowledged.
    pub una: u64,
    /// Every packet below was sent.
    pub next: u64,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutEvent {
    /// When.
    pub at: Time,
    /// Packets in flight; [`Window::in_network`](crate::tcp::Window::in_network) limits how many
    /// count.
    pub flight_pkts: u64,
    /// Whether it follows another one for the same data, so that ssthresh stays (RFC 5681, section
    /// 3.1).
    pub again: bool,
}
