//! A capture's headers without who it was: to report a wrong answer, for example.
//!
//! Kept are times, lengths, how many packets the capture dropped, and the headers of the link, of
//! IP, of TCP, UDP or ESP, and of numbered streams (RTP, WireGuard, SRT); no payload. Addresses and
//! ports become others, drawn anew for every file; the same one always becomes the same. What
//! identifies in other ways is taken out: VLAN tags, flow labels, the content of IP options and
//! extension headers, TCP options that the analysis does not read. Checksums of TCP and UDP are
//! zero, since they tell of the payload.
//!
//! Every frame is read again before it is written. One that does not say the same, such as a packet
//! in a tunnel, is left out.

mod numbers;

use std::collections::HashSet;
use std::io::{Read, Write};

use losscause::Time;

use crate::RewriteError;
use crate::analysis::{Analysis, Options};
use crate::annotate::frames_of;
use crate::answer::plural;
use crate::frames::{Frame, LinkType};
use crate::packet::{ESP_IN_UDP, Endpoint, Numbered, Packet, Parsed, Protocol, Transport};
use crate::write::PcapngWriter;
use crate::write::checksum::Checksum;
use numbers::Numbers;

/// What became of the frames of a capture that is shared.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{
///     CaptureError, Options, RewriteError, Shared, analyze, annotate, share,
/// };
///
/// let options = Options { notes: true, ..Options::all() };
/// let analysis =
///     analyze(File::open("tests/captures/sender.pcap.gz")?, "sender.pcap.gz", &options)?;
/// let mut headers = Vec::new();
/// let key = 7; // From a secure random source.
/// let Shared { written, left_out, .. } = share(
///     File::open("tests/captures/sender.pcap.gz")?,
///     &analysis,
///     &options,
///     key,
///     &mut headers,
/// )?;
/// assert_eq!((written, left_out), (analysis.packets, 0));
/// // With comments for Wireshark, of another capture by mistake.
/// let refused = annotate(&b"none"[..], &analysis, Vec::new());
/// assert!(matches!(refused, Err(RewriteError::Capture(CaptureError::NotACapture { .. }))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shared {
    /// Frames that were written.
    pub written: u64,
    /// Frames that were left out: fragments, other protocols, tunnels, links that are not
    /// understood.
    pub left_out: u64,
}

impl Shared {
    /// How many frames there are, as the end of a sentence that begins with the file.
    pub fn told(&self) -> String {
        let written = plural(self.written, "packet");
        match self.left_out {
            0 => written,
            some => format!(
                "{written}; {} left out, as fragments, other protocols and tunnels cannot be made anonymous",
                plural(some, "other")
            ),
        }
    }
}

/// Writes the headers of the capture `source` as pcapng to `out`, with other addresses and ports,
/// which `key` draws. The headers of numbered packets are kept of the streams that `analysis` has;
/// the packets are those that `options` select.
///
/// # Errors
/// If `source` is no capture that can be read, or `out` cannot be written.
pub fn share(
    source: impl Read,
    analysis: &Analysis,
    options: &Options,
    key: u64,
    out: impl Write,
) -> Result<Shared, RewriteError> {
    let mut frames = frames_of(Box::new(source))?;
    let mut writer = PcapngWriter::new(out).map_err(RewriteError::Write)?;
    let mut interfaces: Vec<LinkType> = Vec::new();
    let mut sharing = Sharing::new(analysis, key);
    let mut shared = Shared::default();
    let mut begun = None;
    let mut last = Time::ZERO;
    while let Some(frame) = frames.next_frame() {
        let begun = *begun.get_or_insert(frame.time);
        last = frame.time;
        if !options.select(begun, frame.time) {
            continue;
        }
        let Parsed::Packet(packet) = Parsed::of(&frame) else {
            shared.left_out += 1;
            continue;
        };
        if !options.select_ends(&packet) {
            continue;
        }
        let Some(frame) = sharing.header_of(&frame, &packet) else {
            shared.left_out += 1;
            continue;
        };
        let interface = match interfaces.iter().position(|link| *link == frame.link) {
            Some(place) => place as u32,
            None => {
                interfaces.push(frame.link);
                writer.interface(frame.link, 0).map_err(RewriteError::Write)?
            }
        };
        writer.write(interface, &frame, None).map_err(RewriteError::Write)?;
        shared.written += 1;
    }
    // Over all interfaces: which of them dropped the packets does not matter.
    if let Some(dropped) = frames.dropped().filter(|_| !interfaces.is_empty()) {
        writer.statistics(0, last, dropped).map_err(RewriteError::Write)?;
    }
    Ok(shared)
}

impl Options {
    fn select_ends(&self, packet: &Packet<'_>) -> bool {
        self.flows.is_all() || self.flows.has([&packet.src.to_string(), &packet.dst.to_string()])
    }
}

/// The names that were given, and the frame that is made.
struct Sharing {
    /// Streams: source, destination, and which one of the source's.
    streams: HashSet<(Endpoint, Endpoint, Protocol, u32)>,
    macs: Numbers<[u8; 6]>,
    v4: Numbers<[u8; 4]>,
    v6: Numbers<[u8; 16]>,
    ports: Numbers<u16>,
    bytes: Vec<u8>,
}

impl Sharing {
    fn new(analysis: &Analysis, key: u64) -> Self {
        let streams = analysis.flows.iter().filter_map(|flow| {
            Some((
                flow.src.parse().ok()?,
                flow.dst.parse().ok()?,
                flow.protocol,
                flow.stream_of_sender()?,
            ))
        });
        Self {
            streams: streams.collect(),
            macs: Numbers::new(24, key),
            v4: Numbers::new(24, key.rotate_left(16)),
            v6: Numbers::new(24, key.rotate_left(32)),
            ports: Numbers::new(16, key.rotate_left(48)),
            bytes: Vec::new(),
        }
    }

    /// The frame with its headers only, and with other names. None if it is not understood.
    fn header_of(&mut self, frame: &Frame<'_>, packet: &Packet<'_>) -> Option<Frame<'_>> {
        let (header, network) = frame.data.split_at_checked(network_at(frame.link, frame.data)?)?;
        let mut out = std::mem::take(&mut self.bytes);
        out.clear();
        out.extend(header);
        let is_whole = self
            .mask_link(frame.link, &mut out)
            .and_then(|()| self.add_ip(network, packet, &mut out))
            .is_some();
        self.bytes = out;
        let Frame { number, time, link, original_bytes, direction, .. } = *frame;
        let made = Frame { number, time, link, data: &self.bytes, original_bytes, direction };
        (is_whole && says_the_same(packet, &Parsed::of(&made))).then_some(made)
    }

    /// Makes a link's header anonymous.
    fn mask_link(&mut self, link: LinkType, header: &mut [u8]) -> Option<()> {
        match link {
            LinkType::ETHERNET => {
                self.mask_mac(&mut header[..6])?;
                self.mask_mac(&mut header[6..12])?;
                mask_tags(&mut header[14..]);
            }
            LinkType::LINUX_SLL => {
                self.mask_cooked(header, 4..6, 6..14)?;
                mask_tags(&mut header[16..]);
            }
            LinkType::LINUX_SLL2 => {
                self.mask_cooked(header, 11..12, 12..20)?;
                mask_tags(&mut header[20..]);
            }
            _ => {}
        }
        Some(())
    }

    fn mask_mac(&mut self, address: &mut [u8]) -> Option<()> {
        let number = self.macs.of(*address.first_chunk()?)?;
        // Locally administered; whether it is a group's address stays.
        let first = 2 | (address[0] & 1);
        let [_, a, b, c] = number.to_be_bytes();
        address.copy_from_slice(&[first, 0, 0, a, b, c]);
        Some(())
    }

    /// The address of a cooked capture: as many bytes as the length says, of eight.
    fn mask_cooked(
        &mut self,
        header: &mut [u8],
        length: std::ops::Range<usize>,
        address: std::ops::Range<usize>,
    ) -> Option<()> {
        let is_mac = header.get(length)?.ends_with(&[6]);
        let address = header.get_mut(address)?;
        let (first, rest) = address.split_at_mut(6);
        rest.fill(0);
        if is_mac {
            self.mask_mac(first)
        } else {
            first.fill(0);
            Some(())
        }
    }

    /// Appends the headers of an IP packet and of what it carries. None if they are not those of
    /// `packet`.
    fn add_ip(&mut self, network: &[u8], packet: &Packet<'_>, out: &mut Vec<u8>) -> Option<()> {
        let at = out.len();
        let transport = match network.first()? >> 4 {
            4 => {
                let bytes = usize::from(network[0] & 15) * 4;
                out.extend(network.get(..bytes)?);
                let header = &mut out[at..];
                let src = *header.get(12..16)?.first_chunk()?;
                let dst = *header.get(16..20)?.first_chunk()?;
                header[12..16].copy_from_slice(&self.address_v4(src)?);
                header[16..20].copy_from_slice(&self.address_v4(dst)?);
                header[20..].fill(NO_OPERATION);
                header[10..12].fill(0);
                let checksum = Checksum::default().add(header).finish();
                header[10..12].copy_from_slice(&checksum.to_be_bytes());
                network.get(bytes..)?
            }
            6 => {
                let bytes = extended_v6(network)?;
                out.extend(network.get(..bytes)?);
                let header = &mut out[at..];
                let src = *header.get(8..24)?.first_chunk()?;
                let dst = *header.get(24..40)?.first_chunk()?;
                header[8..24].copy_from_slice(&self.address_v6(src)?);
                header[24..40].copy_from_slice(&self.address_v6(dst)?);
                // The flow label.
                header[1] &= 0xf0;
                header[2..4].fill(0);
                mask_extensions(header);
                network.get(bytes..)?
            }
            _ => return None,
        };
        let ports = [self.port(packet.src.port)?, self.port(packet.dst.port)?];
        let at = out.len();
        let numbered = Numbered::of(packet).filter(|numbered| {
            self.streams.contains(&(packet.src, packet.dst, numbered.protocol, numbered.stream))
        });
        match packet.transport {
            Transport::Tcp(_) => {
                let bytes = usize::from(transport.get(12)? >> 4) * 4;
                out.extend(&transport[..bytes.min(transport.len())]);
                let header = out.get_mut(at..).filter(|header| header.len() >= 20)?;
                // The checksum and the urgent pointer.
                header[16..20].fill(0);
                mask_options(&mut header[20..]);
            }
            Transport::Udp { payload, .. } => {
                out.extend(transport.get(..8)?);
                out[at + 6..].fill(0);
                if let Some(numbered) = numbered {
                    out.extend(payload.get(..numbered.header_bytes())?);
                }
            }
            Transport::Esp { payload, .. } => {
                out.extend(payload.get(..numbered?.header_bytes())?);
                return Some(());
            }
        }
        out[at..at + 2].copy_from_slice(&ports[0].to_be_bytes());
        out[at + 2..at + 4].copy_from_slice(&ports[1].to_be_bytes());
        Some(())
    }

    /// In 10.0.0.0/8.
    fn address_v4(&mut self, address: [u8; 4]) -> Option<[u8; 4]> {
        let [_, a, b, c] = self.v4.of(address)?.to_be_bytes();
        Some([10, a, b, c])
    }

    /// In fd00::/8.
    fn address_v6(&mut self, address: [u8; 16]) -> Option<[u8; 16]> {
        let mut made = [0; 16];
        made[0] = 0xfd;
        made[12..].copy_from_slice(&self.v6.of(address)?.to_be_bytes());
        Some(made)
    }

    fn port(&mut self, port: u16) -> Option<u16> {
        match port {
            // Zero is no port. That of ESP says what the datagram is.
            0 | ESP_IN_UDP => Some(port),
            port => Some(self.ports.of(port)? as u16),
        }
    }
}

/// Whether a packet that was made says what the other one says, beside the names.
fn says_the_same(packet: &Packet<'_>, made: &Parsed<'_>) -> bool {
    let Parsed::Packet(made) = made else { return false };
    let carries_the_same = match (&packet.transport, &made.transport) {
        (Transport::Tcp(tcp), Transport::Tcp(own)) => tcp == own,
        (Transport::Udp { payload_bytes, .. }, Transport::Udp { payload_bytes: own, .. })
        | (Transport::Esp { payload_bytes, .. }, Transport::Esp { payload_bytes: own, .. }) => {
            payload_bytes == own
        }
        _ => false,
    };
    carries_the_same
        && (packet.ip_id, packet.congestion_experienced, packet.direction)
            == (made.ip_id, made.congestion_experienced, made.direction)
        && (packet.src == packet.dst) == (made.src == made.dst)
}

/// Where the header of IP begins, behind a link's header and any VLAN tags; none for other links,
/// and for what is not IP.
fn network_at(link: LinkType, data: &[u8]) -> Option<usize> {
    let (kind, mut at) = match link {
        LinkType::ETHERNET => (12, 14),
        LinkType::LINUX_SLL => (14, 16),
        LinkType::LINUX_SLL2 => (0, 20),
        LinkType::NULL | LinkType::LOOP => return Some(4),
        // The numbers of raw IP in files of several systems.
        LinkType::RAW | LinkType(12 | 14 | 228 | 229) => return Some(0),
        _ => return None,
    };
    let mut kind = data.get(kind..kind + 2)?;
    while let [0x81 | 0x91, 0] | [0x88, 0xa8] = kind {
        kind = data.get(at + 2..at + 4)?;
        at += 4;
    }
    matches!(kind, [0x08, 0] | [0x86, 0xdd]).then_some(at)
}

/// Takes the numbers out of VLAN tags, each of which is followed by the kind of the next header.
fn mask_tags(tags: &mut [u8]) {
    tags.chunks_mut(4).filter_map(|tag| tag.get_mut(..2)).for_each(|number| number.fill(0));
}

/// Bytes of an IPv6 header with its extension headers.
fn extended_v6(network: &[u8]) -> Option<usize> {
    let mut next = *network.get(6)?;
    let mut at = V6_BYTES;
    while let Some(bytes) = extension_bytes(next, network.get(at..)?) {
        (next, at) = (*network.get(at)?, at + bytes);
    }
    Some(at)
}

/// Bytes of an extension header of this kind; none if it is none.
fn extension_bytes(kind: u8, header: &[u8]) -> Option<usize> {
    let length = usize::from(*header.get(1)?);
    match kind {
        // Options, a route.
        0 | 43 | 60 => Some((length + 1) * 8),
        // A whole packet that calls itself a fragment.
        44 => Some(8),
        // Authentication.
        51 => Some((length + 2) * 4),
        _ => None,
    }
}

/// Empties extension headers: zeros are padding (RFC 8200, section 4.2).
fn mask_extensions(header: &mut [u8]) {
    let mut next = header[6];
    let mut at = V6_BYTES;
    while let Some(bytes) = header.get(at..).and_then(|rest| extension_bytes(next, rest)) {
        let following = header[at];
        // That of a fragment has its fields there.
        if let Some(content) = header.get_mut(at + 2..at + bytes).filter(|_| next != 44) {
            content.fill(0);
        }
        (next, at) = (following, at + bytes);
    }
}

/// Replaces what the analysis does not read of TCP's options.
fn mask_options(options: &mut [u8]) {
    let mut at = 0;
    while let Some(&kind) = options.get(at) {
        let length = match kind {
            NO_OPERATION => 1,
            0 => break,
            _ => usize::from(options.get(at + 1).copied().unwrap_or_default()),
        };
        if length == 0 || (length == 1 && kind != NO_OPERATION) {
            break;
        }
        let is_read =
            matches!((kind, length), (2, 4) | (3, 3) | (4, 2) | (5, 10 | 18 | 26 | 34) | (8, 10));
        let Some(option) = options.get_mut(at..at + length) else {
            // It is cut. That it is there tells the analysis so.
            options[at + 2..].fill(0);
            return;
        };
        if !is_read {
            option.fill(NO_OPERATION);
        }
        at += length;
    }
    if let Some(rest) = options.get_mut(at..) {
        rest.fill(0);
    }
}

/// Bytes of an IPv6 header.
const V6_BYTES: usize = 40;
/// The option that fills up, of IPv4 and of TCP.
const NO_OPERATION: u8 = 1;
