//! The file: pcap with nanoseconds, little-endian, of raw IP packets (draft-ietf-opsawg-pcap).

use std::io::{self, Write};

use losscause::Time;

use super::packet::{LARGEST_HEADERS, Packet};

/// Writes packets to a pcap file.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    snap_bytes: u32,
}

impl<W: Write> PcapWriter<W> {
    /// Starts a file that has at most the first `snap_bytes` bytes of each packet.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(mut out: W, snap_bytes: u32) -> io::Result<Self> {
        let snap_bytes = snap_bytes.min(LARGEST_PACKET);
        out.write_all(&NANOSECONDS.to_le_bytes())?;
        // Version 2.4.
        out.write_all(&[2, 0, 4, 0])?;
        // Time zone and accuracy, which are always zero.
        out.write_all(&[0; 8])?;
        out.write_all(&snap_bytes.to_le_bytes())?;
        out.write_all(&RAW_IP.to_le_bytes())?;
        Ok(Self { out, snap_bytes })
    }

    /// Most bytes of a packet that the file has.
    pub fn snap_bytes(&self) -> u32 {
        self.snap_bytes
    }

    /// Appends a packet that was seen at `at`, which counts from the start of 1970 and is not
    /// negative.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, at: Time, packet: &Packet) -> io::Result<()> {
        let mut headers = [0; LARGEST_HEADERS];
        let header_bytes = packet.write_headers(&mut headers) as u32;
        let bytes = u32::from(packet.bytes());
        let captured = bytes.min(self.snap_bytes);
        self.write_lengths(at, captured, bytes)?;
        self.out.write_all(&headers[..header_bytes.min(captured) as usize])?;
        let mut zeros = captured.saturating_sub(header_bytes) as usize;
        while zeros > 0 {
            let part = zeros.min(ZEROS.len());
            self.out.write_all(&ZEROS[..part])?;
            zeros -= part;
        }
        Ok(())
    }

    /// Appends a packet of `bytes` bytes that was seen at `at` on a real network. `head` holds its
    /// first bytes, or all; they begin with the header of IP.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_bytes(&mut self, at: Time, head: &[u8], bytes: u32) -> io::Result<()> {
        let captured =
            bytes.min(self.snap_bytes).min(u32::try_from(head.len()).unwrap_or(u32::MAX));
        self.write_lengths(at, captured, bytes)?;
        self.out.write_all(&head[..captured as usize])
    }

    /// The record in front of a packet.
    fn write_lengths(&mut self, at: Time, captured: u32, bytes: u32) -> io::Result<()> {
        let nanos = at.as_nanos().max(0);
        let seconds = (nanos / NANOS_PER_SECOND) as u32;
        for field in [seconds, (nanos % NANOS_PER_SECOND) as u32, captured, bytes] {
            self.out.write_all(&field.to_le_bytes())?;
        }
        Ok(())
    }

    /// The file.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// The file, to flush.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// The file, to look at.
    pub fn get_ref(&self) -> &W {
        &self.out
    }
}

/// The first word of a pcap file whose times are in nanoseconds.
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// The link type LINKTYPE_RAW: packets begin with the header of IP.
const RAW_IP: u32 = 101;

/// The largest IPv4 packet, bytes.
const LARGEST_PACKET: u32 = 65_535;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Payload, a part at a time.
const ZEROS: [u8; 256] = [0; 256];
