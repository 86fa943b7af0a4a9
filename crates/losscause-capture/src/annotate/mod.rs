//! A capture with comments on its frames: what was lost, sent again or captured twice, and why.
//!
//! Comments stand where Wireshark shows them (`opt_comment` of a packet). Everything else stays as
//! it is: of a pcapng file every block, in its own byte order and with its own clocks; a pcap file
//! becomes a section with one interface and times in nanoseconds.
//!
//! The comments are sorted by frame, and the capture is read a second time beside them, so it is
//! never held as a whole.

mod notes;

use std::io::{Read, Write};

use pcap_parser::{EPB_MAGIC, IDB_MAGIC, SHB_MAGIC, SPB_MAGIC};

pub(crate) use notes::Note;

use crate::analysis::Analysis;
use crate::frames::{Frames, RawBlock, decompressed};
use crate::write::PcapngWriter;
use crate::write::pcapng::{COMMENT, END_OF_OPTIONS, option, padding};
use crate::{CaptureError, RewriteError, qlog};
use notes::Comments;

/// Writes the capture `source`, of which `analysis` tells, as pcapng to `out`, with a comment on
/// every frame that was lost, sent again or captured twice. Frames that were not lost have comments
/// if the analysis was made with [`Options::notes`](crate::Options::notes). Returns how many frames
/// have a comment. A capture that ends early is written as far as it goes.
///
/// # Errors
/// If `source` is no capture that can be read, or `out` cannot be written.
pub fn annotate(
    source: impl Read,
    analysis: &Analysis,
    mut out: impl Write,
) -> Result<u64, RewriteError> {
    let mut frames = frames_of(Box::new(source))?;
    let mut comments = Comments::of(analysis);
    match frames.only_interface() {
        Some((link, snap_bytes)) => {
            let mut writer = PcapngWriter::new(out).map_err(RewriteError::Write)?;
            let interface = writer.interface(link, snap_bytes).map_err(RewriteError::Write)?;
            while let Some(frame) = frames.next_frame() {
                let comment = comments.on(frame.number);
                writer.write(interface, &frame, comment.as_deref()).map_err(RewriteError::Write)?;
            }
        }
        None => {
            let mut number = 0;
            let mut first_snap_bytes = None;
            while let Some(block) = frames.next_block() {
                let changed = match block.kind {
                    SHB_MAGIC => {
                        first_snap_bytes = None;
                        of_unknown_length(&block)
                    }
                    IDB_MAGIC => {
                        first_snap_bytes = first_snap_bytes.or(block.word(12));
                        None
                    }
                    EPB_MAGIC | SPB_MAGIC => {
                        number += 1;
                        comments
                            .on(number)
                            .and_then(|comment| commented(&block, &comment, first_snap_bytes))
                    }
                    _ => None,
                };
                out.write_all(changed.as_deref().unwrap_or(block.bytes))
                    .map_err(RewriteError::Write)?;
            }
        }
    }
    Ok(comments.written())
}

/// The frames of a capture. A qlog has none.
pub(crate) fn frames_of<'a>(source: Box<dyn Read + 'a>) -> Result<Frames<'a>, CaptureError> {
    let (is_qlog, source) = qlog::recognised(decompressed(source)?)?;
    if is_qlog {
        return Err(CaptureError::NoFrames);
    }
    Frames::of(source)
}

impl RawBlock<'_> {
    /// The word at byte `at`.
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn bytes_of(&self, word: u32) -> [u8; 4] {
        if self.is_big_endian { word.to_be_bytes() } else { word.to_le_bytes() }
    }
}

/// A section's header without the section's length, which comments change.
fn of_unknown_length(block: &RawBlock<'_>) -> Option<Vec<u8>> {
    let mut bytes = block.bytes.to_vec();
    bytes.get_mut(16..24)?.fill(0xff);
    Some(bytes)
}

/// A packet's block with a comment. A simple one, which can have none, becomes an enhanced one of
/// the first interface, whose snap length it has.
fn commented(
    block: &RawBlock<'_>,
    comment: &str,
    first_snap_bytes: Option<u32>,
) -> Option<Vec<u8>> {
    let is_simple = block.kind == SPB_MAGIC;
    let end = block.bytes.len() - 4;
    let (head, packet, options) = if is_simple {
        let original = block.word(8)?;
        let kept = first_snap_bytes
            .filter(|bytes| *bytes > 0)
            .map_or(original, |bytes| original.min(bytes));
        let packet = block.bytes.get(12..end)?;
        let kept = kept.min(packet.len() as u32);
        let words = [0, 0, 0, kept, original].map(|word| block.bytes_of(word)).concat();
        (words, packet.get(..kept as usize)?, &[][..])
    } else {
        let captured = block.word(20)? as usize;
        let options = 28 + captured + padding(captured);
        (
            block.bytes.get(8..28)?.to_vec(),
            block.bytes.get(28..28 + captured)?,
            block.bytes.get(options..end)?,
        )
    };
    let mut body = head;
    body.extend(packet);
    body.resize(body.len() + padding(packet.len()), 0);
    body.extend(option(COMMENT, comment.as_bytes(), block.is_big_endian));
    body.extend(if options.is_empty() { &END_OF_OPTIONS } else { options });
    let length = block.bytes_of(body.len() as u32 + 12);
    Some([&block.bytes_of(EPB_MAGIC)[..], &length, &body, &length].concat())
}
