//! Plain, gzip, xz and zstd streams behind one reader.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

/// The stream's bytes, decompressed if it begins with the magic bytes of gzip, xz or zstd.
///
/// # Errors
/// If the first bytes cannot be read.
pub fn decompressed<'a>(mut source: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = Vec::new();
    source.by_ref().take(4).read_to_end(&mut head)?;
    let magic: [u8; 4] = std::array::from_fn(|i| head.get(i).copied().unwrap_or(0));
    let whole = BufReader::with_capacity(1 << 18, Cursor::new(head).chain(source));
    Ok(match magic {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X'] => Box::new(XzReader::new_mem_limit(whole, true, XZ_MEMORY_KIB)),
        // A frame of data, or one to be skipped, with which a stream may begin too.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Box::new(Zstd::new(whole)),
        _ => Box::new(whole),
    })
}

/// A stream that claims a larger dictionary is not decompressed: `xz -9` takes 64 MiB, and a little
/// for the decoder.
const XZ_MEMORY_KIB: u32 = 65 << 10;

/// A zstd stream of any number of frames (RFC 8878, section 3: frames follow each other, some of
/// them to be skipped).
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::BlockDecodingStrategy::UptoBytes;
        loop {
            if self.inside {
                while self.decoder.can_collect() < out.len() && !self.decoder.is_finished() {
                    let missing = out.len() - self.decoder.can_collect();
                    self.decoder
                        .decode_blocks(&mut self.source, UptoBytes(missing))
                        .map_err(invalid)?;
                }
                let read = self.decoder.read(out)?;
                if read > 0 || out.is_empty() {
                    return Ok(read);
                }
                self.inside = false;
            }
            if !self.begin()? {
                return Ok(0);
            }
        }
    }
}
