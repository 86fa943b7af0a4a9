//! The TCP header and the options that losses are found with (RFC 9293, 7323, 2018).

/// What a TCP segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// The first byte's sequence number.
    pub seq: u32,
    /// The next byte that the other direction expects, if the flag ACK is set.
    pub ack: u32,
    /// The flags, from FIN (1) to CWR (128).
    pub flags: u8,
    /// The receive window as it stands in the header: not scaled.
    pub window: u16,
    /// Bytes of payload on the link, whether they were captured or not.
    pub payload_bytes: u32,
    /// The options.
    pub options: Options,
}

/// A range of sequence numbers, the end not included.
pub type Block = (u32, u32);

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, bytes; only in a SYN.
    pub mss: Option<u16>,
    /// Bits by which later windows are shifted; only in a SYN.
    pub window_scale: Option<u8>,
    /// Whether selective acknowledgements are permitted; only in a SYN.
    pub sack_permitted: bool,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// The blocks of a selective acknowledgement.
    blocks: [Block; 4],
    block_count: u8,
    /// The options were not captured as a whole.
    pub cut: bool,
}

impl Options {
    /// The blocks of a selective acknowledgement, in the order in which they stand.
    #[inline]
    pub fn sack_blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.block_count)]
    }

    /// Reads options. An unknown one is skipped by its length; a wrong length ends the walk.
    #[inline]
    fn parse(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        // The layout that nearly every segment has: two bytes of padding, then the timestamps.
        if let [1, 1, 8, 10, rest @ ..] = bytes
            && let Some((stamps, rest)) = rest.split_first_chunk::<8>()
        {
            options.timestamps = Some(pair(stamps));
            bytes = rest;
        }
        while let [kind, after @ ..] = bytes {
            match *kind {
                END => break,
                PADDING => {
                    bytes = after;
                    continue;
                }
                _ => {}
            }
            let Some(length) =
                after.first().map(|&length| usize::from(length)).filter(|&length| length >= 2)
            else {
                break;
            };
            let Some((option, rest)) = bytes.split_at_checked(length) else {
                options.cut = true;
                break;
            };
            options.take(*kind, &option[2..]);
            bytes = rest;
        }
        options
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            // RFC 7323, section 2.3: a shift above 14 is taken for 14.
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(14)),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, value) => {
                self.timestamps = value.first_chunk::<8>().map(pair).or(self.timestamps);
            }
            (SACK, value) => {
                for block in value.chunks_exact(8).take(4) {
                    if let Some(block) = block.first_chunk::<8>() {
                        self.blocks[usize::from(self.block_count).min(3)] = pair(block);
                        self.block_count = (self.block_count + 1).min(4);
                    }
                }
            }
            _ => {}
        }
    }
}

const END: u8 = 0;
const PADDING: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

fn pair(bytes: &[u8; 8]) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = *bytes;
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

/// Bits of [`Tcp::flags`].
pub mod flag {
    /// No more data follow.
    pub const FIN: u8 = 1;
    /// The first segment of a direction.
    pub const SYN: u8 = 2;
    /// The connection is broken off.
    pub const RST: u8 = 4;
    /// [`Tcp::ack`](super::Tcp::ack) counts.
    pub const ACK: u8 = 16;
}

impl Tcp {
    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Reads a header. `segment` is what was captured of header and payload, `original_bytes` what
    /// there was.
    #[inline]
    pub(super) fn parse(segment: &[u8], original_bytes: u32) -> Option<(u16, u16, Self)> {
        let header = segment.first_chunk::<20>()?;
        let be32 = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let be16 = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let header_bytes = usize::from(header[12] >> 4) * 4;
        if header_bytes < 20 || header_bytes as u32 > original_bytes {
            return None;
        }
        let (bytes, cut) = match segment.get(20..header_bytes) {
            Some(bytes) => (bytes, false),
            None => (&segment[20..], true),
        };
        let mut options = Options::parse(bytes);
        options.cut |= cut;
        let tcp = Self {
            seq: be32(4),
            ack: be32(8),
            flags: header[13],
            window: be16(14),
            payload_bytes: original_bytes - header_bytes as u32,
            options,
        };
        Some((be16(0), be16(2), tcp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_does_not_hide_those_behind_it() {
        // Kind 253 (experimental, 4 bytes), padding, timestamps 1 and 2, a block from 3 to 4.
        let bytes =
            [253, 4, 9, 9, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4];
        let options = Options::parse(&bytes);
        assert_eq!((options.timestamps, options.sack_blocks()), (Some((1, 2)), &[(3, 4)][..]));
        assert!(!options.cut);
    }

    #[test]
    fn a_snap_length_inside_the_options_keeps_what_is_whole() {
        let bytes = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 18, 0, 0, 0, 3, 0, 0];
        let options = Options::parse(&bytes);
        assert_eq!(
            (options.timestamps, options.sack_blocks().len(), options.cut),
            (Some((1, 2)), 0, true)
        );
    }

    #[test]
    fn a_length_below_two_ends_the_walk() {
        assert_eq!(Options::parse(&[77, 0, 4, 2]), Options::default());
        assert_eq!(Options::parse(&[77, 1, 4, 2]), Options::default());
    }
}
