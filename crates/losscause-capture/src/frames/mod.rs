//! From the bytes of a file to frames: pcap and pcapng, plain or compressed, one frame at a time.
//!
//! The file is read in one direction and never held as a whole, so a pipe works as well as a file.
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_capture::frames::{Direction, Frame, Frames, LinkType, Truncation};
//! use losscause_capture::packet::{Radio, Unread, UnreadCounts};
//! use losscause_capture::write::PcapngWriter;
//! use losscause_capture::{Options, RadioFrames, analyze};
//!
//! // Data of IEEE 802.11 without a content that is read; the second frame repeats the first.
//! let mut file = PcapngWriter::new(Vec::new())?;
//! let interface = file.interface(LinkType::IEEE802_11, 0)?;
//! for (number, flags) in [(1, 0x01), (2, 0x09)] {
//!     let mut data = vec![0x08, flags];
//!     data.resize(60, 0);
//!     let time = Time::ZERO + Span::from_secs(number as i64);
//!     let link = LinkType::IEEE802_11;
//!     let direction = Some(Direction::Sent);
//!     let original_bytes = 60;
//!     file.write(
//!         interface,
//!         &Frame { number, time, link, data: &data, original_bytes, direction },
//!         Some("by hand"),
//!     )?;
//! }
//! let mut bytes = file.into_inner();
//! let analysis = analyze(&bytes[..], "air.pcapng", &Options::all())?;
//! assert!(matches!(analysis.radio, Some(RadioFrames { data_frames: 2, retries: 1, .. })));
//! let unread: &UnreadCounts = &analysis.unread;
//! assert_eq!(unread.of(Unread::Llc), 2);
//!
//! // The last frame is cut.
//! bytes.truncate(bytes.len() - 5);
//! let mut frames = Frames::open(&bytes[..])?;
//! let first = frames.next_frame().expect("it is whole");
//! assert!(matches!(first.link.radio(first.data), Some(Radio { is_retry: false, .. })));
//! assert_eq!(frames.next_frame(), None);
//! assert!(
//!     matches!(frames.truncation(), Some(Truncation { problem, .. }) if problem == "ends inside a packet")
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "compressed")]
mod compressed;
mod pcap;
mod pcapng;
mod window;

use std::io::{self, Read};
use std::ops::Range;

use losscause::Time;

use crate::CaptureError;
pub use crate::link_type::{Direction, LinkType};
#[cfg(feature = "compressed")]
pub use compressed::decompressed;
use pcap::Pcap;
use pcapng::Pcapng;
pub(crate) use pcapng::RawBlock;
use window::Window;

/// A frame as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The frame's place in the file, from 1 on.
    pub number: u64,
    /// When, in nanoseconds since 1970.
    pub time: Time,
    /// What the frame begins with.
    pub link: LinkType,
    /// The bytes that were kept.
    pub data: &'a [u8],
    /// The frame's length on the link, bytes; more than `data` holds if the capture had a snap
    /// length.
    pub original_bytes: u32,
    /// Whether the capturing host sent or received it, if the file says so.
    pub direction: Option<Direction>,
}

/// The frames of a capture, in the file's order.
pub struct Frames<'a> {
    window: Window<Box<dyn Read + 'a>>,
    format: Format,
    delivered: u64,
    ended: bool,
    truncation: Option<Truncation>,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Where and why the frames of a file ended early. Every whole frame before it was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// The first byte of the record that is not whole, from the beginning of the decompressed file.
    pub offset: u64,
    /// What is wrong, as the end of a sentence that begins with the file: "ends inside a packet".
    pub problem: String,
}

/// A frame that the window holds.
struct Framed {
    time: Time,
    link: LinkType,
    original: u32,
    packet: Range<usize>,
    total: usize,
    direction: Option<Direction>,
}

/// Why there is no further frame.
enum Ends {
    AtTheEnd,
    Cut { offset: u64 },
    Damaged { offset: u64, problem: &'static str },
    Unreadable(io::Error),
}

impl Ends {
    fn after<R: Read>(window: &Window<R>) -> Self {
        if window.data().is_empty() {
            Ends::AtTheEnd
        } else {
            Ends::Cut { offset: window.position() }
        }
    }
}

impl From<io::Error> for Ends {
    fn from(error: io::Error) -> Self {
        Ends::Unreadable(error)
    }
}

/// No record of an IP packet is larger.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// The stream's bytes as they are: what is compressed is no capture then.
#[cfg(not(feature = "compressed"))]
pub(crate) fn decompressed<'a>(source: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    Ok(source)
}

impl<'a> Frames<'a> {
    /// Begins to read a capture.
    ///
    /// # Errors
    /// If the source is empty, unreadable or no capture, or a pcap file has a link type that
    /// [`LinkType::is_known`] rejects.
    pub fn open(source: impl Read + 'a) -> Result<Self, CaptureError> {
        Self::of(decompressed(Box::new(source))?)
    }

    /// As [`Self::open`], of a source that is decompressed.
    pub(crate) fn of(source: Box<dyn Read + 'a>) -> Result<Self, CaptureError> {
        let mut window = Window::new(source);
        window.hold(4)?;
        let first = window.data();
        let format = if first.is_empty() {
            return Err(CaptureError::Empty);
        } else if Pcap::recognises(first) {
            Format::Pcap(Pcap::begin(&mut window)?)
        } else if Pcapng::recognises(first) {
            if !window.hold(28)? {
                return Err(CaptureError::HeaderCut { bytes: window.data().len() as u64 });
            }
            Format::Pcapng(Pcapng::begin())
        } else {
            return Err(CaptureError::NotACapture { begins: first[..first.len().min(4)].to_vec() });
        };
        if let Format::Pcap(pcap) = &format
            && !pcap.link().is_known()
        {
            return Err(CaptureError::LinkType { link: pcap.link() });
        }
        Ok(Self { window, format, delivered: 0, ended: false, truncation: None })
    }

    /// The next frame; none at the end, be it the file's or a damaged place's
    /// ([`Self::truncation`]).
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.ended {
            return None;
        }
        let framed = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.window),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.window),
        };
        match framed {
            Ok(framed) => Some(self.deliver(framed)),
            Err(ends) => {
                self.end(ends);
                None
            }
        }
    }

    #[inline]
    fn deliver(&mut self, framed: Framed) -> Frame<'_> {
        let Framed { time, link, original, packet, total, direction } = framed;
        // Consuming moves a position only: the bytes stay until the window is refilled for the next
        // frame.
        let position = total;
        self.window.consume(position);
        self.delivered += 1;
        let data = self.window.consumed(position, packet);
        Frame { number: self.delivered, time, link, data, original_bytes: original, direction }
    }

    #[cold]
    fn end(&mut self, ends: Ends) {
        self.ended = true;
        let (offset, problem) = match ends {
            Ends::AtTheEnd => return,
            Ends::Cut { offset } => (offset, "ends inside a packet".to_owned()),
            Ends::Damaged { offset, problem } => (offset, format!("is damaged: {problem}")),
            Ends::Unreadable(error) => {
                (self.window.position(), format!("cannot be read further ({error})"))
            }
        };
        self.truncation = Some(Truncation { offset, problem });
    }

    /// The next block of a pcapng file; none at the end, and none in a pcap file.
    pub(crate) fn next_block(&mut self) -> Option<RawBlock<'_>> {
        let Format::Pcapng(pcapng) = &mut self.format else { return None };
        if self.ended {
            return None;
        }
        match pcapng.next_block(&mut self.window) {
            Ok((kind, total)) => {
                let is_big_endian = pcapng.is_big_endian();
                self.window.consume(total);
                Some(RawBlock { kind, is_big_endian, bytes: self.window.consumed(total, 0..total) })
            }
            Err(ends) => {
                self.end(ends);
                None
            }
        }
    }

    /// The link type and the snap length of a pcap file; none of a pcapng file, which has them by
    /// interface.
    pub(crate) fn only_interface(&self) -> Option<(LinkType, u32)> {
        match &self.format {
            Format::Pcap(pcap) => Some((pcap.link(), pcap.snap_bytes())),
            Format::Pcapng(_) => None,
        }
    }

    /// Where the frames ended early, once [`Self::next_frame`] has returned none.
    pub fn truncation(&self) -> Option<&Truncation> {
        self.truncation.as_ref()
    }

    /// Packets that the file itself says were dropped before they were written, as far as it was
    /// read; none if it does not say. Only pcapng can.
    pub fn dropped(&self) -> Option<u64> {
        match &self.format {
            Format::Pcap(_) => None,
            Format::Pcapng(pcapng) => pcapng.dropped(),
        }
    }
}
