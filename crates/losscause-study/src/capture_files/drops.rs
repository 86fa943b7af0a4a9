//! The true cause of every drop.

use std::net::SocketAddrV4;

use losscause::Time;
use losscause_capture::write::{Packet, Transport};
use losscause_sim::truth::Cause;
use losscause_sim::{PacketInfo, PacketKind};
use serde::Serialize;

use super::EPOCH;
use crate::run::{cause_name, packet_name};

/// The directions of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Data, from the sender to the receiver.
    Forward,
    /// Acknowledgements and reports.
    Back,
}

impl Direction {
    /// The direction of packets of this kind.
    pub fn of(kind: PacketKind) -> Self {
        match kind {
            PacketKind::Data | PacketKind::Retransmission => Self::Forward,
            PacketKind::Ack | PacketKind::Feedback => Self::Back,
        }
    }
}

/// A row of `drops.csv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DropRow<'a> {
    /// When the packet was dropped, by the captures' clock: seconds with nine decimals.
    pub time_s: String,
    /// Name of the link.
    pub link: &'a str,
    /// Name of the flow.
    pub flow: &'a str,
    /// Address and port of the packet's sender.
    pub src: SocketAddrV4,
    /// Address and port of the other end.
    pub dst: SocketAddrV4,
    /// Kind of the packet: `data`, `retransmission`, `ack`, `feedback`.
    pub packet: &'static str,
    /// The simulator's number of the packet, as in a trace.
    pub number: u64,
    /// The number in the packet's header: of TCP data the sequence number of the first byte, of an
    /// acknowledgement the next byte expected, of RTP the sequence number; none for reports.
    pub seq: Option<u32>,
    /// Bytes of payload behind TCP's or RTP's header.
    pub bytes: u16,
    /// IPv4's identification.
    pub ip_id: u16,
    /// The true cause: `congestion` (a queue dropped it), `wireless` (the channel corrupted it).
    pub cause: &'static str,
}

/// A packet that was dropped or corrupted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped<'a> {
    pub(super) at: Time,
    /// The names of the link and of the flow.
    pub(super) link: &'a str,
    pub(super) flow: &'a str,
    pub(super) info: PacketInfo,
    pub(super) packet: Packet,
    pub(super) cause: Cause,
}

impl<'a> DropRow<'a> {
    pub(super) fn of(dropped: &Dropped<'a>) -> Self {
        let Dropped { at, link, flow, info, packet, cause } = *dropped;
        let nanos = EPOCH.as_nanos() + at.as_nanos();
        Self {
            time_s: format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000),
            link,
            flow,
            src: packet.source,
            dst: packet.destination,
            packet: packet_name(info.kind),
            number: info.seq,
            seq: match packet.transport {
                Transport::Tcp(tcp) if info.kind == PacketKind::Ack => Some(tcp.acknowledgement),
                Transport::Tcp(tcp) => Some(tcp.sequence),
                Transport::Rtp(rtp) => Some(rtp.sequence.into()),
                Transport::Rtcp(_) => None,
            },
            bytes: packet.payload_bytes,
            ip_id: packet.id,
            cause: cause_name(cause),
        }
    }
}

/// The names of the columns, in order: the first line of the file.
pub(super) const COLUMNS: [&str; 11] =
    ["time_s", "link", "flow", "src", "dst", "packet", "number", "seq", "bytes", "ip_id", "cause"];

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use losscause_capture::write::Tcp;

    use super::*;

    #[test]
    fn a_row_has_the_numbers_of_the_header() {
        let source = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000);
        let packet = Packet {
            source,
            destination: SocketAddrV4::new(Ipv4Addr::new(10, 128, 0, 1), 9),
            id: 12,
            time_to_live: 64,
            ecn: 0,
            transport: Transport::Tcp(Tcp { sequence: u32::MAX, ..Tcp::default() }),
            payload_bytes: 948,
        };
        let info = PacketInfo {
            kind: PacketKind::Retransmission,
            seq: 77,
            wire_bytes: 1000,
            timing: None,
            answers: None,
        };
        let row = DropRow::of(&Dropped {
            at: Time::from_nanos(1_000_000_020),
            link: "air",
            flow: "video",
            info,
            packet,
            cause: Cause::Wireless,
        });
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let line = "1000000001.000000020,air,video,10.0.0.1:40000,10.128.0.1:9,retransmission,77,4294967295,948,12,\
                    wireless\n";
        assert_eq!(text, format!("{}\n{line}", COLUMNS.join(",")));
    }
}
