//! qlog: the log that a QUIC endpoint wrote of its own connections.
//!
//! The way of an event:
//!
//! ```text
//! text        the file's bytes    → one JSON value after the other, in bounded memory
//! trace       values              → traces with their meaning: units, fields, names of the ends
//! event       a value             → a packet sent or received, a loss, the congestion window
//! connection  the events of one   → two flows, seen at this end
//! sender      what was sent       → losses that the stack declared, or those of RFC 9002
//! receiver    what arrived        → gaps in packet numbers
//! ```
//!
//! All drafts are read: events as arrays whose columns `event_fields` names
//! (draft-marx-qlog-main-schema-00 and -01), as objects (from -02 on), in one JSON text, as JSON
//! text sequences (RFC 7464) or with a line per event. Packets of the application data space are
//! judged; those of the handshake are counted.

mod connection;
mod course;
mod event;
mod receiver;
mod rtt;
mod sender;
mod text;
mod trace;

use std::io::{self, Cursor, Read};

pub(crate) use trace::read;

/// Blanks in front of the first value, at most.
const MAX_BLANKS: u64 = 1 << 16;

/// Whether the source begins like JSON or a JSON text sequence, and the source with all its bytes.
///
/// # Errors
/// If the first bytes cannot be read.
pub(crate) fn recognised<'a>(
    mut source: Box<dyn Read + 'a>,
) -> io::Result<(bool, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    let first = loop {
        if source.by_ref().take(1).read_to_end(&mut head)? == 0 || head.len() as u64 > MAX_BLANKS {
            break None;
        }
        match head.last() {
            Some(b' ' | b'\t' | b'\n' | b'\r') => {}
            first => break first.copied(),
        }
    };
    Ok((
        matches!(first, Some(b'{' | text::RECORD_SEPARATOR)),
        Box::new(Cursor::new(head).chain(source)),
    ))
}
