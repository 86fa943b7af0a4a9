//! TCP-Friendly Rate Control (RFC 5348), with a loss differentiation algorithm at the receiver.

use losscause::{Span, Time};

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data {
    /// Sequence number, one per packet.
    pub seq: u64,
    /// The sender's timestamp.
    pub sent_at: Time,
    /// The sender's estimate of the round-trip time; none before the first feedback.
    pub rtt: Option<Span>,
    /// Counts feedback rounds at the sender (ns-2 delimits loss events by it, see `Config`).
    pub round: u32,
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u32,
}

/// A receiver's report (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Timestamp of the last data packet received (t_recvdata).
    pub echo: Time,
    /// Time between that packet's arrival and this report (t_delay).
    pub hold: Span,
    /// Receive rate since the last report, bytes per second (X_recv).
    pub receive_rate: f64,
    /// Loss event rate, 0 to 1 (p).
    pub loss_event_rate: f64,
    /// Bytes on the wire.
    pub wire_bytes: u32,
}
