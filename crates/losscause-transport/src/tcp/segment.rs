//! What travels between the two ends.

use losscause::Time;

pub use super::sack_blocks::SackBlocks;
use crate::Ecn;

/// A data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // Sizes first, in all messages: who handles them asks for nothing else.
pub struct Segment {
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u32,
    /// Packet number in the stream.
    pub seq: u64,
    /// Counts every transmission of the connection, so that a segment lost twice is two losses.
    pub transmission: u64,
    /// The sender's timestamp.
    pub sent_at: Time,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Whether it may be marked, or was.
    pub ecn: Ecn,
    /// The window was reduced (CWR): the receiver may stop echoing marks.
    pub cwr: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // As above.
pub struct Ack {
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// The next packet number expected: everything below was received.
    pub next: u64,
    /// Timestamp of the segment that caused it.
    pub echo: Time,
    /// Whether that segment was a retransmission (Karn's rule).
    pub echo_of_retransmission: bool,
    /// A segment was marked (ECE).
    pub ece: bool,
    /// Packet `next` is missing, and the receiver judged that the air corrupted it: one bit of the header, clear where it
    /// thinks otherwise or does not judge (see [`super::Receiver`]).
    pub wireless: bool,
    /// What was received beyond, if the receiver reports it.
    pub sack: SackBlocks,
}
