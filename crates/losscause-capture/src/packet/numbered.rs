//! Datagrams whose sender numbers them in clear: RTP (RFC 3550), WireGuard, ESP (RFC 4303) and SRT.
//!
//! Only RTP and SRT also say when a packet was sent. One packet proves nothing, as any UDP port may
//! carry anything: a stream is one whose packets follow each other ([`Numbered::follows`]).

use super::{Packet, Protocol, Rtp, Transport, Unread};

/// What a numbered packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) protocol: Protocol,
    /// Which stream of its sender: RTP's source, WireGuard's receiver index, ESP's SPI, SRT's
    /// destination socket.
    pub(crate) stream: u32,
    /// One more with every packet, as it is in the packet.
    pub(crate) number: u64,
    /// The sender's timestamp: RTP's or SRT's.
    pub(crate) stamp: Option<u32>,
    /// SRT: whether it was sent before.
    pub(crate) is_again: bool,
    /// SRT: the number of its message, and whether that begins and ends with it.
    message: Option<(u32, bool, bool)>,
}

/// Bytes of the header of a data message of WireGuard: type, receiver index, counter ("WireGuard:
/// Next Generation Kernel Network Tunnel", section 5.4.6).
const WIREGUARD_BYTES: usize = 16;
/// Bytes of ESP's header (RFC 4303, section 2).
const ESP_BYTES: usize = 8;
/// Bytes of SRT's header (draft-sharabayko-srt-01, section 3).
const SRT_BYTES: usize = 16;
/// Bytes of RTP's header without sources.
const RTP_BYTES: usize = 12;
/// The port of ESP in UDP (RFC 3948).
pub(crate) const ESP_IN_UDP: u16 = 4500;
/// Smaller SPIs are reserved (RFC 4303, section 2.1).
const FIRST_SPI: u32 = 256;
/// Packets of SRT that follow each other were sent within such a time, microseconds: a source that
/// pauses longer is recognised by later packets.
const SRT_APART_US: i32 = 10_000_000;
/// SRT's message numbers have 26 bits.
const MESSAGES: u32 = 1 << 26;

impl Numbered {
    /// What a packet says; none if it cannot be of such a stream.
    #[inline]
    pub(crate) fn of(packet: &Packet<'_>) -> Option<Self> {
        match packet.transport {
            Transport::Tcp(_) => None,
            Transport::Esp { payload, .. } => Self::esp(payload),
            Transport::Udp { payload, payload_bytes } => {
                if [packet.src.port, packet.dst.port].contains(&ESP_IN_UDP) {
                    return Self::esp(payload);
                }
                match payload.first()? {
                    0x80..=0xbf => Self::rtp(payload),
                    4 if payload_bytes % 16 == 0 => Self::wireguard(payload, payload_bytes)
                        .or_else(|| Self::srt(payload, packet)),
                    0..=0x7f => Self::srt(payload, packet),
                    _ => None,
                }
            }
        }
    }

    fn rtp(payload: &[u8]) -> Option<Self> {
        let Rtp { seq, timestamp, ssrc, .. } = Rtp::parse(payload)?;
        let plain = Self::plain(Protocol::Rtp, ssrc, seq.into());
        Some(Self { stamp: Some(timestamp), ..plain })
    }

    fn wireguard(payload: &[u8], payload_bytes: u32) -> Option<Self> {
        let &[4, 0, 0, 0, a, b, c, d, ref counter @ ..] =
            payload.first_chunk::<WIREGUARD_BYTES>()?
        else {
            return None;
        };
        // The header and the tag of an empty packet, which keeps a session alive.
        (payload_bytes >= 32).then_some(())?;
        let counter = u64::from_le_bytes(*counter.first_chunk()?);
        // A session ends long before (section 6.1, Reject-After-Messages).
        let is_counter = counter < 1 << 62;
        is_counter
            .then(|| Self::plain(Protocol::WireGuard, u32::from_le_bytes([a, b, c, d]), counter))
    }

    fn esp(payload: &[u8]) -> Option<Self> {
        let &[a, b, c, d, e, f, g, h] = payload.first_chunk::<ESP_BYTES>()?;
        let spi = u32::from_be_bytes([a, b, c, d]);
        (spi >= FIRST_SPI)
            .then(|| Self::plain(Protocol::Esp, spi, u32::from_be_bytes([e, f, g, h]).into()))
    }

    /// A data packet of SRT: its first bit is clear.
    fn srt(payload: &[u8], packet: &Packet<'_>) -> Option<Self> {
        let header = payload.first_chunk::<SRT_BYTES>()?;
        let word = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let number = word(0);
        let flags = word(4);
        let stamp = word(8);
        let socket = word(12);
        let message = flags % MESSAGES;
        // What another protocol's own port or structure announces is not tried. No message has the
        // number 0.
        if number >> 31 == 1
            || socket == 0
            || message == 0
            || Unread::datagram(packet) != Unread::Udp
        {
            return None;
        }
        Some(Self {
            stamp: Some(stamp),
            is_again: flags >> 26 & 1 == 1,
            message: Some((message, flags >> 31 == 1, flags >> 30 & 1 == 1)),
            ..Self::plain(Protocol::Srt, socket, number.into())
        })
    }

    /// A packet of which only the number is known.
    pub(crate) fn plain(protocol: Protocol, stream: u32, number: u64) -> Self {
        Self { protocol, stream, number, stamp: None, is_again: false, message: None }
    }

    /// Whether it is the packet behind `before`, of the same stream.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        let is_next = (self.protocol, self.stream) == (before.protocol, before.stream)
            && self.protocol.ahead(self.number, before.number) == 1;
        is_next && self.continues(before)
    }

    /// SRT: whether its message and its time may be those behind `before`.
    fn continues(&self, before: &Self) -> bool {
        let (Some((message, begins, _)), Some((earlier, _, ended))) =
            (self.message, before.message)
        else {
            return true;
        };
        let is_next = message == earlier % (MESSAGES - 1) + 1;
        let is_in_place = if ended { begins && is_next } else { !begins && message == earlier };
        let apart = self.stamp.unwrap_or(0).wrapping_sub(before.stamp.unwrap_or(0)) as i32;
        is_in_place && (0..SRT_APART_US).contains(&apart)
    }

    /// Bytes of the header that says this.
    pub(crate) fn header_bytes(&self) -> usize {
        match self.protocol {
            Protocol::Rtp => RTP_BYTES,
            Protocol::Esp => ESP_BYTES,
            Protocol::WireGuard => WIREGUARD_BYTES,
            Protocol::Srt => SRT_BYTES,
            Protocol::Tcp | Protocol::Quic => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Endpoint;

    fn udp(port: u16, payload: &[u8]) -> Option<Numbered> {
        let payload_bytes = payload.len() as u32;
        of(port, Transport::Udp { payload, payload_bytes })
    }

    fn of(port: u16, transport: Transport<'_>) -> Option<Numbered> {
        let end = |port| Endpoint { address: 1, port };
        let congestion_experienced = false;
        let direction = None;
        let radio = None;
        let src = end(5_000);
        let dst = end(port);
        Numbered::of(&Packet {
            frame: 1,
            src,
            dst,
            ip_id: 0,
            congestion_experienced,
            direction,
            radio,
            transport,
            payload: &[],
        })
    }

    fn wireguard(index: u32, counter: u64, bytes: usize) -> Vec<u8> {
        let mut payload = vec![4, 0, 0, 0];
        payload.extend(index.to_le_bytes());
        payload.extend(counter.to_le_bytes());
        payload.resize(bytes, 0xa5);
        payload
    }

    fn srt(number: u32, flags: u32, stamp: u32, socket: u32) -> Vec<u8> {
        let mut payload: Vec<u8> =
            [number, flags, stamp, socket].iter().flat_map(|word| word.to_be_bytes()).collect();
        payload.resize(1_332, 0x47);
        payload
    }

    #[test]
    fn a_data_message_of_wireguard_has_an_index_and_a_counter() {
        assert_eq!(
            udp(51_820, &wireguard(7, 9, 96)),
            Some(Numbered::plain(Protocol::WireGuard, 7, 9))
        );
        assert_eq!(
            udp(51_820, &wireguard(7, u64::MAX, 96)),
            None,
            "no session has so many packets"
        );
        let handshake = [[1, 0, 0, 0].to_vec(), vec![3; 144]].concat();
        assert_eq!(udp(51_820, &handshake), None);
    }

    #[test]
    fn esp_has_an_spi_and_a_number_over_ip_and_udp() {
        let payload = [0, 0, 1, 0, 0, 0, 0, 5, 1, 2, 3, 4];
        let expected = Some(Numbered::plain(Protocol::Esp, 256, 5));
        assert_eq!(of(0, Transport::Esp { payload: &payload, payload_bytes: 12 }), expected);
        assert_eq!(udp(4_500, &payload), expected);
        assert_eq!(udp(4_500, &[0; 40]), None, "a key exchange");
        assert_eq!(udp(4_500, &[0xff]), None, "a keep-alive");
        assert_eq!(udp(4_501, &payload), None);
    }

    #[test]
    fn packets_of_srt_follow_each_other_by_number_message_and_time() {
        const SOLO: u32 = 0b11 << 30;
        let first = udp(9_000, &srt(1_000, SOLO | 7, 500, 42)).unwrap();
        assert_eq!(
            (first.number, first.stream, first.stamp, first.is_again),
            (1_000, 42, Some(500), false)
        );
        let second =
            |number, flags, stamp, socket| udp(9_000, &srt(number, flags, stamp, socket)).unwrap();
        assert!(second(1_001, SOLO | 8, 1_500, 42).follows(&first));
        for (what, other) in [
            ("a number is missing", second(1_002, SOLO | 8, 1_500, 42)),
            ("the same message begins twice", second(1_001, SOLO | 7, 1_500, 42)),
            ("it was sent before", second(1_001, SOLO | 8, 400, 42)),
            ("another socket", second(1_001, SOLO | 8, 1_500, 43)),
        ] {
            assert!(!other.follows(&first), "{what}");
        }
        assert!(second(1_001, SOLO | 8 | 1 << 26, 1_500, 42).is_again);
        let control = udp(9_000, &srt(1 << 31, SOLO | 7, 500, 42));
        assert!(control.is_none_or(|packet| packet.protocol != Protocol::Srt));
        assert_eq!(
            udp(9_000, &srt(5, SOLO | 7, 500, 0)),
            None,
            "no socket: iperf's datagrams, for example"
        );
    }
}
