//! Reads captures with parsers of others: pcap-parser for files, etherparse for packets.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{LegacyPcapReader, PcapBlockOwned, PcapError};

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Since 1970, nanoseconds.
    pub(crate) at: i64,
    pub(crate) src: SocketAddrV4,
    pub(crate) dst: SocketAddrV4,
    pub(crate) id: u16,
    pub(crate) time_to_live: u8,
    pub(crate) is_marked: bool,
    /// Bytes of the whole packet.
    pub(crate) bytes: u32,
    pub(crate) transport: Transport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp {
        seq: u32,
        ack: u32,
        syn: bool,
        ece: bool,
        payload: u32,
        stamps: (u32, u32),
        blocks: Vec<(u32, u32)>,
    },
    Udp {
        rtp_seq: u16,
        payload: usize,
    },
}

impl Seen {
    pub(crate) fn is_syn(&self) -> bool {
        matches!(self.transport, Transport::Tcp { syn: true, .. })
    }

    /// Senders are in 10.0.0.0/9.
    pub(crate) fn is_forward(&self) -> bool {
        self.src.ip().octets()[1] < 128
    }
}

/// The packets of a file that has every byte of them. Panics if a length or checksum is wrong.
pub(crate) fn packets(file: &Path) -> Vec<Seen> {
    let bytes = std::fs::read(file).unwrap();
    let mut reader = LegacyPcapReader::new(1 << 20, bytes.as_slice()).unwrap();
    let mut packets = Vec::new();
    loop {
        match reader.next() {
            Ok((read, block)) => {
                if let PcapBlockOwned::Legacy(record) = block {
                    assert_eq!(record.caplen, record.origlen);
                    let at = i64::from(record.ts_sec) * 1_000_000_000 + i64::from(record.ts_usec);
                    packets.push(packet(at, record.data));
                }
                reader.consume(read);
            }
            Err(PcapError::Eof) => return packets,
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn packet(at: i64, bytes: &[u8]) -> Seen {
    let sliced = SlicedPacket::from_ip(bytes).unwrap();
    let Some(NetSlice::Ipv4(ip)) = &sliced.net else { panic!("not IPv4") };
    let ip = ip.header();
    assert_eq!(usize::from(ip.total_len()), bytes.len());
    assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
    let (ports, transport) = match sliced.transport.unwrap() {
        TransportSlice::Tcp(tcp) => {
            assert_eq!(
                tcp.checksum(),
                tcp.calc_checksum_ipv4(ip.source(), ip.destination()).unwrap()
            );
            let mut stamps = (0, 0);
            let mut blocks = Vec::new();
            for option in tcp.options_iterator().map(Result::unwrap) {
                match option {
                    TcpOptionElement::Timestamp(value, echo) => stamps = (value, echo),
                    TcpOptionElement::SelectiveAcknowledgement(first, others) => {
                        blocks.extend([Some(first)].into_iter().chain(others).flatten());
                    }
                    _ => {}
                }
            }
            let transport = Transport::Tcp {
                seq: tcp.sequence_number(),
                ack: tcp.acknowledgment_number(),
                syn: tcp.syn(),
                ece: tcp.ece(),
                payload: tcp.payload().len() as u32,
                stamps,
                blocks,
            };
            ([tcp.source_port(), tcp.destination_port()], transport)
        }
        TransportSlice::Udp(udp) => {
            let source = ip.source();
            let destination = ip.destination();
            let checksum =
                udp.to_header().calc_checksum_ipv4_raw(source, destination, udp.payload()).unwrap();
            assert_eq!(udp.checksum(), if checksum == 0 { 0xffff } else { checksum });
            let payload = udp.payload();
            let transport = Transport::Udp {
                rtp_seq: u16::from_be_bytes([payload[2], payload[3]]),
                payload: payload.len(),
            };
            ([udp.source_port(), udp.destination_port()], transport)
        }
        other => panic!("{other:?}"),
    };
    Seen {
        at,
        src: SocketAddrV4::new(Ipv4Addr::from(ip.source()), ports[0]),
        dst: SocketAddrV4::new(Ipv4Addr::from(ip.destination()), ports[1]),
        id: ip.identification(),
        time_to_live: ip.ttl(),
        is_marked: ip.ecn().value() == 3,
        bytes: u32::from(ip.total_len()),
        transport,
    }
}
