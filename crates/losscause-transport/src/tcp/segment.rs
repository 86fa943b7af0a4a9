//! The messages between sender and receiver.

use losscause::Time;

pub use super::sack_blocks::SackBlocks;
use crate::Ecn;

/// A data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // Sizes first in all messages: code that forwards them reads nothing else.
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
    /// Whether it is a retransmission.
    pub retransmission: bool,
    /// The segment's ECN field: whether a queue may mark it, or has marked it.
    pub ecn: Ecn,
    /// The sender reduced its window (CWR): the receiver stops echoing the mark.
    pub cwr: bool,
    /// The timestamp of the newest ACK ([`Ack::sent_us`]), with which the receiver of Linux
    /// measures the round-trip time; 0 from other senders and before the first ACK.
    pub echo_us: u32,
}

impl Segment {
    /// Packet `seq`, sent for the first time at `sent_at`, with headers of 40 bytes and without ECN.
    pub const fn new(seq: u64, sent_at: Time, payload_bytes: u32) -> Self {
        Self {
            payload_bytes,
            wire_bytes: payload_bytes + 40,
            seq,
            transmission: seq,
            sent_at,
            retransmission: false,
            ecn: Ecn::NotCapable,
            cwr: false,
            echo_us: 0,
        }
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)] // As above.
pub struct Ack {
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// The receive window, packets from `next` on. Only the sender of Linux reads it.
    pub window_pkts: u32,
    /// The next packet number expected: everything below was received.
    pub next: u64,
    /// Timestamp of the segment that triggered this ACK. Linux's receiver: of the first segment in
    /// sequence that the last ACK did not cover (RFC 7323, section 4.3).
    pub echo: Time,
    /// Whether that segment was a retransmission (Karn's rule).
    pub echo_of_retransmission: bool,
    /// ECN echo (ECE): a segment was marked.
    pub ece: bool,
    /// Packet `next` is missing, and the receiver judged its loss wireless. One bit of the header;
    /// clear for any other verdict, or if the receiver does not judge (see [`super::Receiver`]).
    pub wireless: bool,
    /// When it was sent, microseconds modulo 2^32; 0 from receivers other than Linux's.
    pub sent_us: u32,
    /// SACK blocks, if the receiver reports them.
    pub sack: SackBlocks,
}

impl Ack {
    /// 40 bytes that ask for packet `next`: no mark, verdict, SACK, window or time of their own.
    pub const fn new(next: u64, echo: Time) -> Self {
        Self {
            wire_bytes: 40,
            window_pkts: 0,
            next,
            echo,
            echo_of_retransmission: false,
            ece: false,
            wireless: false,
            sent_us: 0,
            sack: SackBlocks::NONE,
        }
    }
}
