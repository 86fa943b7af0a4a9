//! What both kinds of flows have in common: a conversation turns the header of a simulated packet
//! into that of a real one, and remembers what later headers repeat.

use losscause::Time;
use losscause_capture::write::Packet;
use losscause_sim::Header;

use super::drops::Direction;
use super::media::Media;
use super::tcp::Tcp;

/// The two ends of a flow as a capture shows them.
#[derive(Clone, Debug)]
pub(super) enum Conversation {
    Tcp(Box<Tcp>),
    Media(Media),
}

impl Conversation {
    /// The packet of this header, which is sent at `at`. None if the header is not of the flow's
    /// protocol.
    pub(super) fn send(&mut self, at: Time, header: &Header) -> Option<Packet> {
        match (self, header) {
            (Self::Tcp(tcp), Header::Segment(segment)) => Some(tcp.segment(at, segment)),
            (Self::Tcp(tcp), Header::Ack(ack)) => Some(tcp.acknowledge(at, ack)),
            (Self::Media(media), Header::Data(data)) => {
                Some(media.data(at, data.seq, data.wire_bytes, data.ecn))
            }
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
