//! Writes capture files: packets of a simulation as a real network would carry them.
//!
//! [`Packet`] holds the fields of an IPv4 packet with TCP, RTP or RTCP in it; [`PcapWriter`] writes a nanosecond pcap
//! file of such packets. Lengths and checksums are those of the whole packet. Its payload is zeros, and only the first
//! [`PcapWriter::snap_bytes`] bytes are in the file, as with `tcpdump -s`. [`PcapngWriter`] writes frames that were
//! captured, with comments.
//!
//! Nothing here allocates memory per packet.

pub(crate) mod checksum;
mod packet;
mod pcap;
pub(crate) mod pcapng;
mod rtp;
mod tcp;

pub use packet::{LARGEST_HEADERS, Packet, Transport};
pub use pcap::PcapWriter;
pub use pcapng::PcapngWriter;
pub use rtp::{RtcpReport, Rtp};
pub use tcp::{MAX_SACK_BLOCKS, Tcp, TcpFlags};
