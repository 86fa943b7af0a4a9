//! From a frame to what its headers say.
//!
//! Every length is checked; a header that is cut or contradicts itself gives [`Parsed::Unread`],
//! never a guess.
//!
//! ```
//! use std::fs::File;
//!
//! use losscause_capture::frames::Frames;
//! use losscause_capture::packet::{Block, Endpoint, Packet, Parsed, Rtp, Tcp, Transport, flag};
//!
//! let mut frames = Frames::open(File::open("tests/captures/sender.pcap.gz")?)?;
//! let mut holes: Vec<(Endpoint, Block)> = Vec::new();
//! while let Some(frame) = frames.next_frame() {
//!     match Parsed::of(&frame) {
//!         Parsed::Packet(Packet { src, transport: Transport::Tcp(tcp), .. }) => {
//!             let Tcp { ack, options, .. } = tcp;
//!             assert!(tcp.has(flag::ACK) || tcp.has(flag::SYN));
//!             holes.extend(options.sack_blocks().first().map(|(start, _)| (src, (ack, *start))));
//!         }
//!         Parsed::Packet(packet) => {
//!             println!("from {}: {:?}", packet.src, Rtp::parse(packet.payload))
//!         }
//!         Parsed::Unread(kind) => println!("not read: {kind}"),
//!     }
//! }
//! assert!(holes.len() > 100 && holes[0].0.port == 5_001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ip;
mod link;
mod numbered;
mod protocol;
mod rest;
pub(crate) mod rtcp;
mod rtp;
mod tcp;
mod tunnel;
mod unread;
mod wifi;

use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::frames::{Direction, Frame};
use ip::Ip;
use rest::{Rest, be16};

pub(crate) use numbered::{ESP_IN_UDP, Numbered};
pub use protocol::Protocol;
pub use rtp::Rtp;
pub use tcp::{Block, Options, Tcp, flag};
pub use unread::{Unread, UnreadCounts};
pub use wifi::Radio;

/// An address and a port; port 0 stands for none, as ESP has none. IPv4 addresses are kept as
/// mapped ones (RFC 4291, section 2.5.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address.
    pub address: u128,
    /// The port.
    pub port: u16,
}

/// A packet with what its headers say; inside tunnels, the innermost headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The number of its frame in the file, from 1 on.
    pub frame: u64,
    /// Who sent it.
    pub src: Endpoint,
    /// Who shall get it.
    pub dst: Endpoint,
    /// IPv4's identification; 0 in IPv6.
    pub ip_id: u16,
    /// Whether a queue marked it (ECN CE, RFC 3168), or a tunnel around it.
    pub congestion_experienced: bool,
    /// Whether the capturing host sent or received it, if the capture says so.
    pub direction: Option<Direction>,
    /// What the radio says of the frame around it, in a capture of IEEE 802.11.
    pub radio: Option<Radio>,
    /// What it carries.
    pub transport: Transport<'a>,
    /// What was captured of the payload behind the header of TCP, UDP or ESP.
    pub payload: &'a [u8],
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport<'a> {
    /// A TCP segment.
    Tcp(Tcp),
    /// A UDP datagram.
    Udp {
        /// What was captured of its payload.
        payload: &'a [u8],
        /// The payload's length on the link, bytes.
        payload_bytes: u32,
    },
    /// A packet of ESP (RFC 4303), which has no ports.
    Esp {
        /// What was captured of it, from its header on.
        payload: &'a [u8],
        /// The packet's length on the link, bytes.
        payload_bytes: u32,
    },
}

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // Lives for one call.
pub enum Parsed<'a> {
    /// A TCP segment, a UDP datagram or a packet of ESP.
    Packet(Packet<'a>),
    /// Anything else.
    Unread(Unread),
}

impl<'a> Parsed<'a> {
    /// Reads the headers of a frame.
    #[inline]
    pub fn of(frame: &Frame<'a>) -> Self {
        match frame.link.innermost(Rest::of(frame)) {
            Ok(ip) => Self::of_ip(frame, &ip),
            Err(unread) => Parsed::Unread(unread),
        }
    }

    #[inline]
    fn of_ip(frame: &Frame<'a>, ip: &Ip<'a>) -> Self {
        let payload = ip.payload();
        let (src_port, dst_port, transport, behind) = if ip.protocol == ip::TCP {
            match Tcp::parse(payload.bytes, payload.original) {
                Some((src, dst, tcp)) => {
                    let header_bytes = (payload.original - tcp.payload_bytes) as usize;
                    (
                        src,
                        dst,
                        Transport::Tcp(tcp),
                        payload.bytes.get(header_bytes..).unwrap_or_default(),
                    )
                }
                None => {
                    return Parsed::Unread(
                        payload.first::<20>().err().unwrap_or(Unread::Malformed),
                    );
                }
            }
        } else if ip.protocol == ip::ESP {
            match payload.first::<8>() {
                Ok(_) => {
                    let transport =
                        Transport::Esp { payload: payload.bytes, payload_bytes: payload.original };
                    (0, 0, transport, &payload.bytes[8..])
                }
                Err(unread) => return Parsed::Unread(unread),
            }
        } else {
            match payload.split::<8>() {
                Ok((&[a, b, c, d, ..], data)) => {
                    let transport =
                        Transport::Udp { payload: data.bytes, payload_bytes: data.original };
                    (be16(a, b), be16(c, d), transport, data.bytes)
                }
                Err(unread) => return Parsed::Unread(unread),
            }
        };
        Parsed::Packet(Packet {
            frame: frame.number,
            src: Endpoint { address: ip.src, port: src_port },
            dst: Endpoint { address: ip.dst, port: dst_port },
            ip_id: ip.ip_id,
            congestion_experienced: ip.is_marked,
            direction: frame.direction.or_else(|| frame.link.direction(frame.data)),
            radio: frame.link.radio(frame.data),
            transport,
            payload: behind,
        })
    }
}

impl Transport<'_> {
    /// The payload's length on the link, bytes; of ESP with its header.
    pub(crate) fn payload_bytes(&self) -> u32 {
        match *self {
            Self::Tcp(Tcp { payload_bytes, .. })
            | Self::Udp { payload_bytes, .. }
            | Self::Esp { payload_bytes, .. } => payload_bytes,
        }
    }
}

impl Packet<'_> {
    /// Whether it is a datagram from or to a port of DNS.
    pub(crate) fn is_dns(&self) -> bool {
        matches!(self.transport, Transport::Udp { .. })
            && [self.src.port, self.dst.port].iter().any(|port| [53, 5353].contains(port))
    }
}

impl std::fmt::Display for Endpoint {
    /// `10.0.0.1:443`, `[2001:db8::1]:443`; without a port `10.0.0.1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            0 => self.ip().fmt(f),
            port => SocketAddr::new(self.ip(), port).fmt(f),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(end: SocketAddr) -> Self {
        let address = match end.ip() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        Self { address: address.into(), port: end.port() }
    }
}

impl std::str::FromStr for Endpoint {
    type Err = AddrParseError;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let end = text
            .parse()
            .or_else(|_| text.parse().map(|address: IpAddr| SocketAddr::new(address, 0)))?;
        Ok(SocketAddr::into(end))
    }
}

impl Endpoint {
    /// The address as the standard library has it.
    pub fn ip(&self) -> IpAddr {
        let v6 = Ipv6Addr::from(self.address);
        v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), |v4: Ipv4Addr| IpAddr::V4(v4))
    }
}
