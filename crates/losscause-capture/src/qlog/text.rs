//! JSON texts, one after the other, whatever stands between them, without holding the file.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Begins every text of a JSON text sequence (RFC 7464, section 2.2).
pub(super) const RECORD_SEPARATOR: u8 = 0x1e;
/// A larger value is no event of a log.
const MAX_VALUE_BYTES: u64 = 16 << 20;
/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// The bytes of the log, with the separators of records as blanks: a parser that takes one value
/// after the other then reads JSON, JSON text sequences and lines of JSON alike.
pub(super) struct Text<R> {
    source: R,
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    place: Rc<Place>,
}

/// How far the text was read.
#[derive(Debug, Default)]
pub(super) struct Place {
    read: Cell<u64>,
    whole: Cell<u64>,
}

impl Place {
    /// A value ended here: so far the text is whole.
    pub(super) fn on_whole(&self) {
        self.whole.set(self.read.get());
    }

    /// The end of the last whole value, bytes.
    pub(super) fn whole(&self) -> u64 {
        self.whole.get()
    }
}

impl<R: Read> Text<R> {
    pub(super) fn new(source: R) -> (Self, Rc<Place>) {
        let place = Rc::new(Place::default());
        (
            Self { source, chunk: vec![0; CHUNK].into(), start: 0, end: 0, place: place.clone() },
            place,
        )
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, self.source.read(&mut self.chunk)?);
        }
        let read = out.len().min(self.end - self.start);
        for (to, from) in out.iter_mut().zip(&self.chunk[self.start..self.start + read]) {
            *to = if *from == RECORD_SEPARATOR { b' ' } else { *from };
        }
        self.start += read;
        let Place { read: so_far, whole } = &*self.place;
        so_far.set(so_far.get() + read as u64);
        if so_far.get() - whole.get() > MAX_VALUE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a value has more than 16 MiB"));
        }
        Ok(read)
    }
}
