//! Names of hosts, as far as a capture has them: from DNS answers (RFC 1035, RFC 3596), and from
//! the server name that a TLS client asks for in clear (RFC 6066, section 3).
//!
//! Only letters, digits, hyphens, underscores and dots are taken for a name, so that it may be
//! shown.

use std::collections::{BTreeMap, HashMap};

use crate::Flow;
use crate::packet::{Endpoint, Packet, Transport};

/// The names in a capture.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Of an address, by DNS.
    hosts: HashMap<u128, Box<str>>,
    /// Of a server, by what the client asked for: client, then server.
    servers: HashMap<[Endpoint; 2], Box<str>>,
    /// Handshakes whose second packet is still to come.
    begun: Vec<Begun>,
}

/// The first packet of a ClientHello that has more.
#[derive(Debug)]
struct Begun {
    ends: [Endpoint; 2],
    /// The sequence number behind it.
    next: u32,
    bytes: Vec<u8>,
}

/// So many names of each kind are kept; later ones are not.
const MAX_NAMES: usize = 16_384;
/// So many handshakes are followed at once.
const MAX_BEGUN: usize = 64;
/// A longer first packet is no packet of a handshake.
const MAX_FIRST_BYTES: usize = 16_384;
/// Records of an answer that are looked at.
const MAX_RECORDS: u16 = 64;
/// Pointers of a name that are followed.
const MAX_POINTERS: usize = 16;
/// The longest name (RFC 1035, section 2.3.4), without the last dot.
const MAX_NAME_BYTES: usize = 253;

impl Names {
    /// Looks for a name in a packet.
    #[inline]
    pub(crate) fn on_packet(&mut self, packet: &Packet<'_>) {
        match (&packet.transport, packet.payload) {
            (Transport::Tcp(tcp), &[0x16, 3, ..]) => {
                self.on_handshake(packet, tcp.seq, tcp.payload_bytes);
            }
            (Transport::Tcp(tcp), &[_, ..]) if !self.begun.is_empty() => {
                self.on_more(packet, tcp.seq);
            }
            (Transport::Udp { .. }, message) if packet.is_dns() => self.on_dns(message),
            _ => {}
        }
    }

    /// The names of a flow's sender and receiver.
    pub(crate) fn of(&self, [src, dst]: [Endpoint; 2]) -> [Option<&str>; 2] {
        let name = |client: Endpoint, server: Endpoint| {
            let by_client = self.servers.get(&[client, server]);
            by_client.or_else(|| self.hosts.get(&server.address)).map(Box::as_ref)
        };
        [name(dst, src), name(src, dst)]
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.servers.is_empty()
    }

    #[cold]
    fn on_handshake(&mut self, packet: &Packet<'_>, seq: u32, payload_bytes: u32) {
        let bytes = packet.payload;
        let ends = [packet.src, packet.dst];
        match server_name(bytes) {
            Hello::Names(name) => self.name_server(ends, name),
            // What the snap length cut does not come later.
            Hello::Cut if bytes.len() as u32 == payload_bytes && bytes.len() <= MAX_FIRST_BYTES => {
                if self.begun.len() == MAX_BEGUN {
                    self.begun.remove(0);
                }
                self.begun.push(Begun {
                    ends,
                    next: seq.wrapping_add(payload_bytes),
                    bytes: bytes.to_vec(),
                });
            }
            Hello::Cut | Hello::NamesNone => {}
        }
    }

    #[cold]
    fn on_more(&mut self, packet: &Packet<'_>, seq: u32) {
        let ends = [packet.src, packet.dst];
        let Some(place) =
            self.begun.iter().position(|begun| begun.ends == ends && begun.next == seq)
        else {
            return;
        };
        let mut bytes = self.begun.remove(place).bytes;
        bytes.extend(packet.payload.iter().take(MAX_FIRST_BYTES));
        if let Hello::Names(name) = server_name(&bytes) {
            self.name_server(ends, name);
        }
    }

    fn name_server(&mut self, ends: [Endpoint; 2], name: &str) {
        if self.servers.len() < MAX_NAMES {
            self.servers.insert(ends, name.to_lowercase().into());
        }
    }

    #[cold]
    fn on_dns(&mut self, message: &[u8]) {
        for (address, name) in answers(message) {
            if self.hosts.len() < MAX_NAMES {
                self.hosts.insert(address, name);
            }
        }
    }
}

/// An end with its name: `192.0.2.1:443 (example.org)`.
pub(crate) fn behind(end: &str, name: Option<&str>) -> String {
    name.map_or_else(|| end.to_owned(), |name| format!("{end} ({name})"))
}

/// A text with the names of the ends of `flows` in it, each once.
pub(crate) fn within(text: &str, flows: &[Flow]) -> String {
    let ends =
        flows.iter().flat_map(|flow| [(&flow.src, &flow.src_name), (&flow.dst, &flow.dst_name)]);
    let named: BTreeMap<&String, &String> =
        ends.filter_map(|(end, name)| Some((end, name.as_ref()?))).collect();
    let mut text = text.to_owned();
    for (end, name) in named {
        let mut places = text.match_indices(end.as_str()).map(|(at, _)| [at, at + end.len()]);
        let place = places.find(|[from, to]| is_end(&text[..*from], &text[*to..]));
        if let Some([_, to]) = place {
            text.insert_str(to, &format!(" ({name})"));
        }
    }
    text
}

/// Whether what stands between these texts is no part of a longer end.
fn is_end(before: &str, behind: &str) -> bool {
    let goes_on = behind.strip_prefix(':').unwrap_or(behind);
    !before.ends_with(|last: char| last.is_ascii_alphanumeric())
        && !goes_on.starts_with(|next: char| next.is_ascii_digit())
}

/// Whether a text is a host's name that may be shown.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_part)
}

/// Bytes that are read from front to back.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(head)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    /// What stands behind its own length, which has so many bytes.
    fn counted(&mut self, length_bytes: usize) -> Option<Self> {
        let bytes = self.number(length_bytes)?;
        self.take(bytes).map(Reader)
    }
}

/// What the beginning of a connection says.
enum Hello<'a> {
    Names(&'a str),
    NamesNone,
    /// The beginning goes on behind these bytes.
    Cut,
}

/// The server name in a ClientHello (RFC 8446, section 4.1.2; RFC 6066, section 3).
fn server_name(bytes: &[u8]) -> Hello<'_> {
    const CLIENT_HELLO: usize = 1;
    let mut record = Reader(bytes);
    // The record's kind, version and length; the message's kind and length.
    let head =
        (record.number(1), record.number(2), record.number(2), record.number(1), record.number(3));
    let (Some(0x16), Some(0x0300..=0x0304), Some(_), Some(CLIENT_HELLO), Some(_)) = head else {
        return Hello::NamesNone;
    };
    match extensions(record) {
        None => Hello::Cut,
        Some(name) => name.map_or(Hello::NamesNone, Hello::Names),
    }
}

/// Walks through a ClientHello to its extensions, and through these. The outer option is none where
/// the bytes end too early.
fn extensions(mut hello: Reader<'_>) -> Option<Option<&str>> {
    const SERVER_NAME: usize = 0;
    // Version and random; session; cipher suites; compression.
    hello.take(34)?;
    hello.counted(1)?;
    hello.counted(2)?;
    hello.counted(1)?;
    let mut left = hello.number(2)?;
    while left >= 4 {
        let kind = hello.number(2)?;
        let length = hello.number(2)?;
        let extension = hello.take(length)?;
        if kind == SERVER_NAME {
            return Some(first_host(Reader(extension)));
        }
        left = left.saturating_sub(4 + length);
    }
    Some(None)
}

/// The first name of kind "host" in a list.
fn first_host(mut extension: Reader<'_>) -> Option<&str> {
    let mut list = extension.counted(2)?;
    while let Some(kind) = list.number(1) {
        let name = list.counted(2)?;
        if kind == 0 {
            return std::str::from_utf8(name.0).ok().filter(|name| is_name(name));
        }
    }
    None
}

/// The addresses in a DNS answer, each with the name that was asked for, or else its own.
fn answers(message: &[u8]) -> Vec<(u128, Box<str>)> {
    addresses(message).unwrap_or_default()
}

/// None if the message ends too early, or is no good answer.
fn addresses(message: &[u8]) -> Option<Vec<(u128, Box<str>)>> {
    const IS_ANSWER: u8 = 0x80;
    const ERROR: u8 = 0x0f;
    const INTERNET: usize = 1;
    let &[_, _, flags, more_flags, a, b, c, d, ..] = message.first_chunk::<12>()?;
    let questions = u16::from_be_bytes([a, b]);
    let records = u16::from_be_bytes([c, d]);
    if flags & IS_ANSWER == 0 || more_flags & ERROR != 0 || questions > 1 {
        return None;
    }
    let mut at = 12;
    let mut asked = None;
    if questions == 1 {
        asked = Some(name_at(message, at)?);
        at = behind_name(message, at)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..records.min(MAX_RECORDS) {
        let own = at;
        at = behind_name(message, at)?;
        let mut record = Reader(message.get(at..)?);
        let kind = record.number(2)?;
        let class = record.number(2)?;
        record.take(4)?;
        let length = record.number(2)?;
        // What a snap length cut off is not needed.
        let Some(data) = record.take(length) else { break };
        at += 10 + length;
        // In multicast DNS the highest bit says more (RFC 6762, section 10.2).
        let address = match (kind, data) {
            _ if class & 0x7fff != INTERNET => continue,
            (1, &[a, b, c, d]) => 0xffff_0000_0000 | u128::from(u32::from_be_bytes([a, b, c, d])),
            (28, data) => u128::from_be_bytes(*data.first_chunk()?),
            _ => continue,
        };
        if let Some(name) = asked.clone().or_else(|| name_at(message, own)) {
            found.push((address, name));
        }
    }
    Some(found)
}

/// The place behind the name at `at`.
fn behind_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            label @ 1..=63 => at += 1 + usize::from(label),
            0xc0..=0xff => return Some(at + 2),
            _ => return None,
        }
    }
}

/// The name at `at`, with what its pointers point to (RFC 1035, section 4.1.4); none if it is no
/// host's.
fn name_at(message: &[u8], mut at: usize) -> Option<Box<str>> {
    let mut name = String::new();
    let mut pointers = 0;
    loop {
        match *message.get(at)? {
            0 => break,
            length @ 1..=63 => {
                let label = message.get(at + 1..at + 1 + usize::from(length))?;
                let label = std::str::from_utf8(label)
                    .ok()
                    .filter(|label| is_name(label) && !label.contains('.'))?;
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(label);
                if name.len() > MAX_NAME_BYTES {
                    return None;
                }
                at += 1 + usize::from(length);
            }
            high @ 0xc0..=0xff if pointers < MAX_POINTERS => {
                pointers += 1;
                at = usize::from(high & 0x3f) << 8 | usize::from(*message.get(at + 1)?);
            }
            _ => return None,
        }
    }
    is_name(&name).then(|| name.to_lowercase().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_no_part_of_another_one() {
        for (before, behind, is_whole) in [
            ("from ", " to", true),
            ("", ": 3 SYNs", true),
            ("from 1", " to", false),
            ("", "3 to", false),
            ("", ":443 to", false),
            ("to ", ".", true),
        ] {
            assert_eq!(is_end(before, behind), is_whole, "{before:?}, {behind:?}");
        }
    }
}
