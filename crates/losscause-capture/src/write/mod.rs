//! Writes capture files: packets of a simulation as a real network would carry them.
//!
//! [`Packet`] holds the fields of an IPv4 packet with TCP, RTP or RTCP in it; [`PcapWriter`] writes
//! a nanosecond pcap file of such packets. Lengths and checksums are those of the whole packet. Its
//! payload is zeros, and only the first [`PcapWriter::snap_bytes`] bytes are in the file, as with
//! `tcpdump -s`. [`PcapngWriter`] writes frames that were captured, with comments.
//!
//! Nothing here allocates memory per packet.
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddrV4};
//!
//! use losscause::{Span, Time};
//! use losscause_capture::write::{Packet, PcapWriter, RtcpReport, Rtp, Transport};
//! use losscause_capture::{Options, Pause, Protocol, analyze};
//!
//! let [source, destination] =
//!     [1, 2].map(|host| SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, host), 5_004));
//! let mut file = PcapWriter::new(Vec::new(), 96)?;
//! let mut write = |number: u16, transport, payload_bytes| {
//!     let packet = Packet {
//!         source,
//!         destination,
//!         id: number,
//!         time_to_live: 64,
//!         ecn: 0,
//!         transport,
//!         payload_bytes,
//!     };
//!     file.write(Time::ZERO + Span::from_millis(i64::from(number) * 20), &packet)
//! };
//! // A packet every 20 ms; packet 150 is lost, and for two seconds nothing comes.
//! for sequence in (0..500).filter(|number| *number != 150 && !(300..400).contains(number)) {
//!     let rtp =
//!         Rtp { sequence, timestamp: u32::from(sequence) * 160, source: 7, payload_type: 0 };
//!     write(sequence, Transport::Rtp(rtp), 160)?;
//! }
//! let report =
//!     RtcpReport { source: 8, echo: 79_840, hold_us: 0, receive_rate: 8_000, loss_event_rate: 0 };
//! write(500, Transport::Rtcp(report), 0)?;
//!
//! let analysis = analyze(&file.into_inner()[..], "call.pcap", &Options::all())?;
//! let call = &analysis.flows[0];
//! assert_eq!((call.protocol, call.losses[0].seq), (Protocol::Rtp, 150));
//! assert!(matches!(call.pauses[..], [Pause { skipped: 100, .. }]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A connection that opens at the third try, and whose second packet is sent four times:
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddrV4};
//!
//! use losscause::{Span, Time};
//! use losscause_capture::write::{Packet, PcapWriter, Tcp, TcpFlags, Transport};
//! use losscause_capture::{Flow, Options, Outage, Shift, Tries, analyze};
//!
//! /// What happened to a flow beside losses.
//! fn events(flow: &Flow) -> Vec<String> {
//!     let opening =
//!         flow.opening.map(|Tries { repeats, .. }| format!("{repeats} more tries to open it"));
//!     let outages = flow
//!         .outages
//!         .iter()
//!         .map(|Outage { from_s, to_s, .. }| format!("no answer from {from_s} to {to_s} s"));
//!     let shifts = flow
//!         .shifts
//!         .iter()
//!         .map(|Shift { at_s, by_ms, .. }| format!("{by_ms} ms longer from {at_s} s on"));
//!     opening.into_iter().chain(outages).chain(shifts).collect()
//! }
//!
//! let ends = [1, 2].map(|host| SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, host), 5_001));
//! let mut file = PcapWriter::new(Vec::new(), 96)?;
//! let mut write = |ms, from: usize, syn, sequence, acknowledgement, payload_bytes| {
//!     let flags = TcpFlags { syn, ack: acknowledgement > 0, ..TcpFlags::default() };
//!     let tcp = Tcp { sequence, acknowledgement, flags, window: 60_000, ..Tcp::default() };
//!     let source = ends[from];
//!     let destination = ends[1 - from];
//!     let transport = Transport::Tcp(tcp);
//!     let packet = Packet {
//!         source,
//!         destination,
//!         id: 0,
//!         time_to_live: 64,
//!         ecn: 0,
//!         transport,
//!         payload_bytes,
//!     };
//!     file.write(Time::ZERO + Span::from_millis(ms), &packet)
//! };
//! [0, 1_000, 3_000].into_iter().try_for_each(|ms| write(ms, 0, true, 0, 0, 0))?;
//! write(3_040, 1, true, 0, 1, 0)?;
//! write(3_040, 0, false, 1, 1, 1_000)?;
//! write(3_080, 1, false, 1, 1_001, 0)?;
//! [4_000, 4_300, 4_900, 6_100]
//!     .into_iter()
//!     .try_for_each(|ms| write(ms, 0, false, 1_001, 1, 1_000))?;
//! write(6_140, 1, false, 1, 2_001, 0)?;
//! let analysis = analyze(&file.into_inner()[..], "slow.pcap", &Options::all())?;
//! assert_eq!(
//!     events(&analysis.flows[0]),
//!     ["2 more tries to open it", "no answer from 4 to 6.14 s"]
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
