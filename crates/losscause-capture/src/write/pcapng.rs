//! The file: pcapng with nanoseconds, little-endian, of one section (draft-ietf-opsawg-pcapng).

use std::io::{self, Write};

use pcap_parser::{EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, SHB_MAGIC};

use losscause::Time;

use crate::frames::Frame;
use crate::frames::{Direction, LinkType};

/// Writes frames to a pcapng file.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    interfaces: u32,
}

impl<W: Write> PcapngWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self { out, interfaces: 0 };
        // The order of bytes, version 1.0, and a section whose length is not known.
        let [a, b, c, d] = 0x1a2b_3c4d_u32.to_le_bytes();
        writer.block(SHB_MAGIC, &[&[a, b, c, d, 1, 0, 0, 0], &[0xff; 8]])?;
        Ok(writer)
    }

    /// Adds an interface whose packets have at most `snap_bytes` bytes in the file, 0 for no limit,
    /// and returns its number.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn interface(&mut self, link: LinkType, snap_bytes: u32) -> io::Result<u32> {
        let resolution = option(TIME_RESOLUTION, &[NANOSECONDS], false);
        let [low, high, ..] = link.0.to_le_bytes();
        self.block(
            IDB_MAGIC,
            &[&[low, high, 0, 0], &snap_bytes.to_le_bytes(), &resolution, &END_OF_OPTIONS],
        )?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Appends a frame of an interface. Its time counts from the start of 1970 and is not negative.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(
        &mut self,
        interface: u32,
        frame: &Frame<'_>,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let time = frame.time.as_nanos().max(0) as u64;
        let captured = frame.data.len() as u32;
        let mut head = [0; 20];
        let words = [interface, (time >> 32) as u32, time as u32, captured, frame.original_bytes];
        for (place, word) in head.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut options = Vec::new();
        if let Some(direction) = frame.direction {
            let flags: u32 = match direction {
                Direction::Received => 1,
                Direction::Sent => 2,
            };
            options.extend(option(PACKET_FLAGS, &flags.to_le_bytes(), false));
        }
        if let Some(comment) = comment {
            options.extend(option(COMMENT, comment.as_bytes(), false));
        }
        if !options.is_empty() {
            options.extend(END_OF_OPTIONS);
        }
        self.block(EPB_MAGIC, &[&head, frame.data, &[0; 3][..padding(frame.data.len())], &options])
    }

    /// Appends the statistics of an interface at `time`: how many packets were dropped before they
    /// were written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn statistics(&mut self, interface: u32, time: Time, dropped: u64) -> io::Result<()> {
        let time = time.as_nanos().max(0) as u64;
        let mut head = [0; 12];
        for (place, word) in
            head.chunks_exact_mut(4).zip([interface, (time >> 32) as u32, time as u32])
        {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.block(
            ISB_MAGIC,
            &[&head, &option(DROPPED, &dropped.to_le_bytes(), false), &END_OF_OPTIONS],
        )
    }

    /// The file.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// A block of these parts, which are a multiple of four bytes together.
    fn block(&mut self, kind: u32, parts: &[&[u8]]) -> io::Result<()> {
        let bytes = 12 + parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&bytes.to_le_bytes())?;
        parts.iter().try_for_each(|part| self.out.write_all(part))?;
        self.out.write_all(&bytes.to_le_bytes())
    }
}

/// Bytes that fill up the last of the words that `bytes` bytes take.
pub(crate) fn padding(bytes: usize) -> usize {
    bytes.wrapping_neg() % 4
}

/// An option. A value that is too long for one is cut.
pub(crate) fn option(code: u16, value: &[u8], is_big_endian: bool) -> Vec<u8> {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    let number = |value: u16| if is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut option = [number(code), number(value.len() as u16)].concat();
    option.extend(value);
    option.resize(option.len() + padding(value.len()), 0);
    option
}

/// The option `opt_comment`.
pub(crate) const COMMENT: u16 = 1;
/// The options' end, `opt_endofopt`.
pub(crate) const END_OF_OPTIONS: [u8; 4] = [0; 4];
/// The option `epb_flags`: 1 in its lowest bits for a packet that was received, 2 for one that was
/// sent.
const PACKET_FLAGS: u16 = 2;
/// The option `isb_ifdrop`: packets that the interface dropped.
const DROPPED: u16 = 5;
/// The option `if_tsresol`: how many digits of a second times have.
const TIME_RESOLUTION: u16 = 9;
const NANOSECONDS: u8 = 9;
