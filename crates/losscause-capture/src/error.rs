//! Why a capture cannot be read.

use std::io;

use crate::link_type::LinkType;

/// Why a capture cannot be analysed. `Display` is the end of a sentence that begins with the file's
/// name: "is empty, expected a pcap, pcapng or qlog file".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file has no byte.
    #[error("is empty, expected {EXPECTED}")]
    Empty,
    /// The file begins with something else.
    #[error("is no capture (it begins with {}), expected {EXPECTED}", Begins(.begins))]
    NotACapture {
        /// The first bytes, up to four.
        begins: Vec<u8>,
    },
    /// The file is JSON, but no log of QUIC.
    #[error("is no qlog ({problem}), expected {EXPECTED}")]
    NotQlog {
        /// What it is or lacks.
        problem: String,
    },
    /// The file is a qlog, and its packets shall be written again.
    #[error("is a qlog, which has no packets to write again, expected a pcap or pcapng file")]
    NoFrames,
    /// The file ends inside its header.
    #[error("ends after {bytes} bytes, inside the header of a capture, expected {EXPECTED}")]
    HeaderCut {
        /// How many bytes there are.
        bytes: u64,
    },
    /// The frames have a link type that the crate does not read.
    #[error(
        "has link type {link}, expected Ethernet, IEEE 802.11, PPP, Linux cooked (v1, v2), NFLOG, raw IP or loopback"
    )]
    LinkType {
        /// The file's link type.
        link: LinkType,
    },
    /// The file's structure is wrong before its first packet.
    #[error("is damaged at byte {offset}: {problem}")]
    Damaged {
        /// Where, bytes from the beginning of the (decompressed) file.
        offset: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot be read ({0})")]
    Read(#[from] io::Error),
}

/// Why a capture cannot be written anew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The capture cannot be used.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The new file cannot be written.
    #[error("cannot be written ({0})")]
    Write(io::Error),
}

/// What a capture may be.
pub const EXPECTED: &str = "a pcap, pcapng or qlog file, plain or compressed with gzip, xz or zstd";

/// The first bytes of a file: printable ASCII in quotes, anything else in hexadecimal.
struct Begins<'a>(&'a [u8]);

impl std::fmt::Display for Begins<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Ok(text) = std::str::from_utf8(self.0)
            && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        {
            return write!(f, "\"{text}\"");
        }
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}
