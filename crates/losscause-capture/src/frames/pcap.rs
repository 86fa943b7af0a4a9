//! The older format: a header, then records.

use std::io::Read;

use losscause::Time;
use pcap_parser::{PcapHeader, parse_pcap_header};

use super::window::Window;
use super::{Ends, Framed, LinkType, MAX_RECORD_BYTES};
use crate::CaptureError;

/// Reads the records of a pcap file.
pub(super) struct Pcap {
    link: LinkType,
    snap_bytes: u32,
    big_endian: bool,
    /// Bytes of a record before its packet: 16, or 24 in Kuznetzov's variant.
    header: usize,
    nanoseconds_per_tick: i64,
}

/// The first four bytes of the variants: microseconds, nanoseconds, Kuznetzov's; in both byte
/// orders.
const MAGICS: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x34, 0xcd, 0xb2, 0xa1],
];

impl Pcap {
    pub(super) fn recognises(first: &[u8]) -> bool {
        MAGICS.iter().any(|magic| first.starts_with(magic))
    }

    pub(super) fn begin<R: Read>(window: &mut Window<R>) -> Result<Self, CaptureError> {
        let bytes = PcapHeader::new().size();
        if !window.hold(bytes)? {
            return Err(CaptureError::HeaderCut { bytes: window.data().len() as u64 });
        }
        let problem =
            CaptureError::Damaged { offset: 0, problem: "the header of a pcap file is wrong" };
        let Ok((_, header)) = parse_pcap_header(window.data()) else { return Err(problem) };
        window.consume(bytes);
        Ok(Self {
            // The upper bits hold the length of a frame check sequence.
            link: LinkType(header.network.0 as u32 & 0x0fff_ffff),
            snap_bytes: header.snaplen,
            big_endian: header.is_bigendian(),
            header: if header.is_modified_format() { 24 } else { 16 },
            nanoseconds_per_tick: if header.is_nanosecond_precision() { 1 } else { 1_000 },
        })
    }

    pub(super) fn link(&self) -> LinkType {
        self.link
    }

    /// Bytes of a packet that are kept.
    pub(super) fn snap_bytes(&self) -> u32 {
        self.snap_bytes
    }

    #[inline]
    pub(super) fn next<R: Read>(&mut self, window: &mut Window<R>) -> Result<Framed, Ends> {
        if !window.hold(self.header)? {
            return Err(Ends::after(window));
        }
        let Some(header) = window.data().first_chunk::<16>() else {
            return Err(Ends::after(window));
        };
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let [seconds, ticks, captured, original] = [0, 4, 8, 12].map(word);
        let captured = captured as usize;
        if captured > MAX_RECORD_BYTES {
            return Err(Ends::Damaged {
                offset: window.position(),
                problem: "a record claims more than 16 MiB",
            });
        }
        let total = self.header + captured;
        if !window.hold(total)? {
            return Err(Ends::after(window));
        }
        let nanos =
            i64::from(seconds) * 1_000_000_000 + i64::from(ticks) * self.nanoseconds_per_tick;
        Ok(Framed {
            time: Time::from_nanos(nanos),
            link: self.link,
            original,
            packet: self.header..total,
            total,
            direction: None,
        })
    }
}
