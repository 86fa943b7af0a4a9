//! Authentication: HMAC-SHA-256 (RFC 2104), cut to 16 bytes, with keys for each stream and
//! direction.
//!
//! ```text
//! K_handshake = HMAC(K, "losscause media 1 handshake")
//! K_forward   = HMAC(K, "losscause media 1 forward" | nonce | cookie)      data, and the sender's control packets
//! K_back      = HMAC(K, "losscause media 1 back"    | nonce | cookie)      reports, and the receiver's others
//! tag         = first 16 bytes of HMAC(K_…, all bytes of the packet before the tag)
//! ```
//!
//! The nonce is the sender's random choice and the cookie the receiver's, so neither end can be
//! made to use the keys of an earlier stream. A packet that is sent back, or into another stream,
//! has the wrong key. The cut is that of RFC 4868 (HMAC-SHA-256-128); SRTP (RFC 3711) cuts to 10
//! bytes.
//!
//! Why not SRTP: `webrtc-srtp`, the implementation in Rust that is kept up, belongs to a WebRTC
//! stack, brings that stack's runtime and network layer, and estimates the upper bits of sequence
//! numbers. A key that both ends hold, an HMAC, and a window against replays is what SRTP with its
//! null cipher would be here. Packets are not encrypted.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

use crate::wire::TAG_BYTES;
use crate::wire::control::{Cookie, Nonce};

/// The key that both ends of a stream hold: 32 bytes, written as 64 hexadecimal digits. `Debug`
/// does not show it.
///
/// ```
/// use losscause_media::{Key, KeyError};
///
/// let key = Key::from_bytes([7; 32]); // From a secure random source.
/// assert_eq!(Key::parse(&key.to_hex()), Ok(key.clone()));
/// assert_eq!(Key::parse("secret"), Err(KeyError));
/// assert_eq!(format!("{key:?}"), "Key(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// A text is no key. It is not quoted, because it might be one with a typing error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no key, expected 64 hexadecimal digits as `losscause stream key` prints them")]
pub struct KeyError;

impl Key {
    /// The key of these bytes, which must come from a secure random source.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads a key; blanks around it do not matter.
    ///
    /// # Errors
    /// The text has not 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim().as_bytes();
        let mut key = [0; 32];
        if text.len() != 2 * key.len() {
            return Err(KeyError);
        }
        for (byte, digits) in key.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |at: usize| char::from(digits[at]).to_digit(16).ok_or(KeyError);
            *byte = (digit(0)? << 4 | digit(1)?) as u8;
        }
        Ok(Self(key))
    }

    /// The key as 64 hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn handshake(&self) -> Tagger {
        self.derive("handshake", &[])
    }

    pub(crate) fn stream(&self, nonce: &Nonce, cookie: &Cookie) -> StreamKeys {
        StreamKeys {
            forward: self.derive("forward", &[nonce, cookie]),
            back: self.derive("back", &[nonce, cookie]),
        }
    }

    fn derive(&self, purpose: &str, parts: &[&[u8]]) -> Tagger {
        let root = Tagger::new(&self.0);
        let label = format!("losscause media 1 {purpose}");
        let parts: Vec<&[u8]> =
            std::iter::once(label.as_bytes()).chain(parts.iter().copied()).collect();
        Tagger::new(&root.digest(&parts))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The keys of one stream.
#[derive(Clone)]
pub(crate) struct StreamKeys {
    pub(crate) forward: Tagger,
    pub(crate) back: Tagger,
}

/// Tags packets, and checks tags.
#[derive(Clone)]
pub(crate) struct Tagger(Hmac<Sha256>);

impl Tagger {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// HMAC over `parts`, one after the other.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hmac = self.0.clone();
        parts.iter().for_each(|part| hmac.update(part));
        hmac.finalize().into_bytes().into()
    }

    /// Appends the tag of `packet`.
    pub(crate) fn seal(&self, packet: &mut Vec<u8>) {
        let tag = self.digest(&[packet]);
        packet.extend(&tag[..TAG_BYTES]);
    }

    /// The packet without its tag; none if the tag is wrong. Takes the same time for every wrong
    /// tag.
    pub(crate) fn open<'a>(&self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let (content, tag) = packet.split_last_chunk::<TAG_BYTES>()?;
        let mut hmac = self.0.clone();
        hmac.update(content);
        hmac.verify_truncated_left(tag).ok().map(|()| content)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn the_tag_is_the_first_half_of_a_published_test_vector() {
        // RFC 4231, test case 1, with its 20-byte key filled up with zeros, which HMAC does as
        // well.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let mut packet = b"Hi There".to_vec();
        Tagger::new(&key).seal(&mut packet);
        let tag = [
            0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b,
            0xf1, 0x2b,
        ];
        assert_eq!(packet[8..], tag);
        assert_eq!(Tagger::new(&key).open(&packet), Some(&b"Hi There"[..]));
    }

    #[test]
    fn one_flipped_bit_a_cut_packet_or_another_key_is_refused() {
        let key = Key::from_bytes([1; 32]);
        let keys = key.stream(&[2; 16], &[3; 24]);
        let mut packet = b"data".to_vec();
        keys.forward.seal(&mut packet);
        assert!(keys.forward.open(&packet).is_some());
        for bit in 0..8 * packet.len() {
            let mut forged = packet.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(keys.forward.open(&forged), None);
        }
        assert_eq!(keys.forward.open(&packet[..packet.len() - 1]), None);
        assert_eq!(keys.forward.open(&packet[..3]), None);
        assert_eq!(keys.back.open(&packet), None, "sent back");
        assert_eq!(key.handshake().open(&packet), None);
        assert_eq!(key.stream(&[4; 16], &[3; 24]).forward.open(&packet), None, "another stream");
        assert_eq!(key.stream(&[2; 16], &[4; 24]).forward.open(&packet), None, "another stream");
        assert_eq!(Key::from_bytes([9; 32]).stream(&[2; 16], &[3; 24]).forward.open(&packet), None);
    }

    #[test]
    fn the_key_of_the_way_back_is_that_of_one_nonce_and_one_cookie() {
        let key = Key::from_bytes([1; 32]);
        let mut report = b"report".to_vec();
        key.stream(&[2; 16], &[3; 24]).back.seal(&mut report);
        assert!(key.stream(&[2; 16], &[3; 24]).back.open(&report).is_some());
        for (nonce, cookie) in [([4; 16], [3; 24]), ([2; 16], [4; 24])] {
            let other = key.stream(&nonce, &cookie);
            assert_eq!((other.back.open(&report), other.forward.open(&report)), (None, None));
        }
    }

    #[test]
    fn a_key_is_64_digits_and_is_never_shown() {
        let text = "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100";
        let key = Key::parse(&format!("{text}\n")).unwrap();
        assert_eq!(key.to_hex(), text.to_lowercase());
        assert_eq!(format!("{key:?}"), "Key(…)");
        for bad in ["", &text[1..], &format!("{text}0"), &text.replace('9', "g"), &"é".repeat(32)]
        {
            assert_eq!(Key::parse(bad), Err(KeyError), "{bad}");
        }
    }
}
