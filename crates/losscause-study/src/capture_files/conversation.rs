//! What both kinds of flows have in common: a conversation turns the header of a simulated packet into that of a real
//! one, and remembers what later headers repeat.

use losscause::Time;
use losscause_capture::write::Packet;
use losscause_sim::Header;
use losscause_sim::rng::Stream;

use super::drops::Direction;
use super::media::Media;
use super::tcp::Tcp;

/// IPv4's ECN field (RFC 3168, section 5) of a packet that a queue has marked.
pub(super) const CONGESTION_EXPERIENCED: u8 = 3;

/// The two ends of a flow as a capture shows them.
#[derive(Clone, Debug)]
pub(super) enum Conversation {
    Tcp(Box<Tcp>),
    Media(Media),
}

impl Conversation {
    /// The packet of this header, which is sent at `at`. None if the header is not of the flow's protocol.
    pub(super) fn send(&mut self, at: Time, header: &Header) -> Option<Packet> {
        match (self, header) {
            (Self::Tcp(tcp), Header::Segment(segment)) => Some(tcp.segment(at, segment)),
            (Self::Tcp(tcp), Header::Ack(ack)) => Some(tcp.acknowledge(at, ack)),
            (Self::Media(media), Header::Data(data)) => Some(media.data(at, data.seq, data.wire_bytes, data.ecn)),
            (Self::Media(media), Header::Feedback(feedback)) => Some(media.report(feedback)),
            (Self::Media(media), Header::Datagram { seq, wire_bytes }) => {
                Some(media.data(at, *seq, *wire_bytes, losscause_transport::Ecn::NotCapable))
            }
            _ => None,
        }
    }

    /// The other end received this packet.
    pub(super) fn receive(&mut self, direction: Direction, packet: &Packet) {
        if let Self::Tcp(tcp) = self {
            tcp.receive(direction, packet);
        }
    }
}

/// The ECN field of a packet that is sent.
pub(super) fn ecn_field(ecn: losscause_transport::Ecn) -> u8 {
    match ecn {
        losscause_transport::Ecn::NotCapable => 0,
        // ECT(0).
        losscause_transport::Ecn::Capable => 2,
        losscause_transport::Ecn::Marked => CONGESTION_EXPERIENCED,
    }
}

/// The identifications of one end's packets: consecutive, from a random one on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identification(u16);

impl Identification {
    pub(super) fn new(stream: &mut Stream) -> Self {
        Self(stream.below(1 << 16) as u16)
    }

    pub(super) fn next(&mut self) -> u16 {
        let next = self.0;
        self.0 = next.wrapping_add(1);
        next
    }
}

/// Routers count a packet's time to live down from here.
pub(super) const TIME_TO_LIVE: u8 = 64;
