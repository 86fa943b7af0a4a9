//! The header of a TCP segment (RFC 9293) with the options of RFC 7323 and RFC 2018.

use super::checksum::Checksum;

/// Most SACK blocks of a segment: with timestamps, three fit into 40 bytes of options (RFC 2018,
/// section 3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// Bytes of a header without options.
const PLAIN_BYTES: usize = 20;

/// The header of a segment. Options are written in the order in which Linux writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number of the first byte, or of the SYN.
    pub sequence: u32,
    /// Next sequence number expected from the other end; only with [`TcpFlags::ack`].
    pub acknowledgement: u32,
    /// The flags.
    pub flags: TcpFlags,
    /// Receive window as it is in the header: shifted right by the sender's scale, except in a SYN.
    pub window: u16,
    /// Largest segment that the sender takes; in a SYN only.
    pub max_segment_bytes: Option<u16>,
    /// Whether the sender takes SACK blocks; in a SYN only.
    pub sack_permitted: bool,
    /// Bits by which the sender's windows are shifted; in a SYN only.
    pub window_scale: Option<u8>,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// First and last sequence number plus one of each block; unused if both are equal.
    pub sack: [(u32, u32); MAX_SACK_BLOCKS],
}

/// The flags of a TCP header that a simulation sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags {
    /// SYN.
    pub syn: bool,
    /// ACK.
    pub ack: bool,
    /// ECE (RFC 3168).
    pub ece: bool,
    /// CWR (RFC 3168).
    pub cwr: bool,
    /// The first of the reserved bits.
    pub reserved: bool,
}

impl TcpFlags {
    /// The lower twelve bits of the header's fourth word.
    fn bits(self) -> u16 {
        let bit = |flag, place: u32| u16::from(flag) << place;
        bit(self.syn, 1)
            | bit(self.ack, 4)
            | bit(self.ece, 6)
            | bit(self.cwr, 7)
            | bit(self.reserved, 11)
    }
}

impl Tcp {
    /// The blocks that are used.
    fn blocks(&self) -> impl Iterator<Item = &(u32, u32)> + Clone {
        self.sack.iter().filter(|(start, end)| start != end)
    }

    /// Bytes of the header.
    pub(super) fn header_bytes(&self) -> usize {
        let blocks = self.blocks().count();
        let option = |present, bytes| if present { bytes } else { 0 };
        PLAIN_BYTES
            + option(self.max_segment_bytes.is_some(), 4)
            + option(self.sack_permitted, 4)
            + option(self.timestamps.is_some(), 12)
            + option(self.window_scale.is_some(), 4)
            + option(blocks > 0, 4 + 8 * blocks)
    }

    /// Writes the header with its checksum to `out`, which has its length.
    pub(super) fn write(&self, ports: [u16; 2], pseudo: Checksum, out: &mut [u8]) {
        let words = (out.len() / 4) as u16;
        let mut writer = Writer { out: &mut *out, at: 0 };
        writer.put(&ports[0].to_be_bytes());
        writer.put(&ports[1].to_be_bytes());
        writer.put(&self.sequence.to_be_bytes());
        writer.put(&self.acknowledgement.to_be_bytes());
        writer.put(&(words << 12 | self.flags.bits()).to_be_bytes());
        writer.put(&self.window.to_be_bytes());
        // The checksum, which comes last, and the urgent pointer.
        writer.put(&[0; 4]);
        self.write_options(&mut writer);
        let checksum = pseudo.add(out).finish();
        out[16..18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Kind and length of each option, padded to whole words by "no operation" (kind 1).
    fn write_options(&self, out: &mut Writer<'_>) {
        const NO_OPERATION: u8 = 1;
        if let Some(bytes) = self.max_segment_bytes {
            out.put(&[2, 4]);
            out.put(&bytes.to_be_bytes());
        }
        if self.sack_permitted {
            out.put(&[NO_OPERATION, NO_OPERATION, 4, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            out.put(&[NO_OPERATION, NO_OPERATION, 8, 10]);
            out.put(&value.to_be_bytes());
            out.put(&echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            out.put(&[NO_OPERATION, 3, 3, shift]);
        }
        let blocks = self.blocks();
        let count = blocks.clone().count() as u8;
        if count > 0 {
            out.put(&[NO_OPERATION, NO_OPERATION, 5, 2 + 8 * count]);
        }
        for (start, end) in blocks {
            out.put(&start.to_be_bytes());
            out.put(&end.to_be_bytes());
        }
    }
}

/// Writes one field after the other.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}
