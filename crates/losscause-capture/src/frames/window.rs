//! A window that slides over a stream of bytes and grows with the records that it must hold.

use std::io::{self, Read};
use std::ops::Range;

/// The bytes of a stream between two positions.
pub(super) struct Window<R> {
    source: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the stream before the window.
    passed: u64,
    ended: bool,
}

/// Bytes read at once.
const CHUNK: usize = 1 << 19;

impl<R: Read> Window<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, bytes: vec![0; CHUNK], start: 0, end: 0, passed: 0, ended: false }
    }

    /// The bytes that were read and not consumed.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The stream's position at the window's start, bytes.
    pub(super) fn position(&self) -> u64 {
        self.passed + self.start as u64
    }

    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    /// Bytes of the last `bytes` that were consumed, which stay until the next [`Self::hold`].
    #[inline]
    pub(super) fn consumed(&self, bytes: usize, part: Range<usize>) -> &[u8] {
        let from = self.start - bytes;
        &self.bytes[from + part.start..from + part.end]
    }

    /// Tries to hold at least `bytes`; false if the stream ends before.
    ///
    /// # Errors
    /// If the stream cannot be read. What was read before remains.
    #[inline]
    pub(super) fn hold(&mut self, bytes: usize) -> io::Result<bool> {
        if self.end - self.start >= bytes { Ok(true) } else { self.refill(bytes) }
    }

    #[cold]
    fn refill(&mut self, wanted: usize) -> io::Result<bool> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.passed += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        while self.end < wanted && !self.ended {
            if self.end == self.bytes.len() {
                // Doubles only with bytes that are there: a record's claimed length alone reserves
                // nothing.
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
            match self.source.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(self.end >= wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_larger_than_the_window_is_held_whole() {
        let bytes: Vec<u8> = (0..3 * CHUNK).map(|i| i as u8).collect();
        let mut window = Window::new(bytes.as_slice());
        assert!(window.hold(10).unwrap());
        window.consume(10);
        assert!(window.hold(2 * CHUNK).unwrap());
        assert_eq!((window.data()[0], window.position()), (10, 10));
        assert!(!window.hold(3 * CHUNK).unwrap(), "ten bytes are gone");
        assert_eq!(window.data(), &bytes[10..]);
    }
}
