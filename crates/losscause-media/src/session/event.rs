//! What a receiver tells its driver: packets to send, and what the application hears.

use std::net::SocketAddr;

use losscause::Judgement;

use super::end::End;

/// A packet to send, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The address.
    pub to: SocketAddr,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// What the application hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A sender has proved its key and its address.
    Started {
        /// The sender's address.
        peer: SocketAddr,
        /// The most media in a packet, bytes.
        media_bytes: usize,
    },
    /// Packets are missing before the packet that comes next. They may still come late.
    Gap(Box<Gap>),
    /// A packet, in order of arrival.
    Packet(Packet),
    /// The stream ended.
    Ended(End),
}

/// Consecutive missing packets, with the LDA's verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Sequence number of the first.
    pub first: u64,
    /// How many.
    pub packets: u64,
    /// How many of them the LDA calls wireless.
    pub wireless: u64,
    /// The LDA's answer about the first missing packet, with the reason.
    pub judgement: Judgement,
}

/// A received packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sequence number; the first of a stream is 0.
    pub seq: u64,
    /// The content.
    pub payload: Vec<u8>,
    /// RTP's payload type.
    pub payload_type: u8,
    /// RTP's marker.
    pub marker: bool,
    /// RTP's timestamp.
    pub media_time: u32,
    /// Whether a later packet came before it.
    pub is_late: bool,
}
