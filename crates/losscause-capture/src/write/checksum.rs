//! The Internet checksum (RFC 1071): the complement of the one's complement sum of all 16-bit
//! words.

/// A sum under way. Zeros do not change it, so a payload of zeros need not be added.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// Adds bytes. An odd last byte is the upper half of a word, so only the last call may have
    /// one.
    pub(crate) fn add(mut self, bytes: &[u8]) -> Self {
        for word in bytes.chunks(2) {
            let low = word.get(1).copied().unwrap_or_default();
            self.0 += u64::from(u16::from_be_bytes([word[0], low]));
        }
        self
    }

    /// Adds one word.
    pub(crate) fn add_word(mut self, word: u16) -> Self {
        self.0 += u64::from(word);
        self
    }

    /// The checksum.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: the sum of these words is ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::default().add(&bytes).finish(), !0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_if_a_zero_followed() {
        let even = Checksum::default().add(&[1, 2, 3, 0]).finish();
        assert_eq!(Checksum::default().add(&[1, 2, 3]).finish(), even);
    }
}
