//! What carries a flow.

/// What carries a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// One direction of a TCP connection.
    #[default]
    Tcp,
    /// An RTP stream.
    Rtp,
    /// One direction of a QUIC connection.
    Quic,
    /// The data messages of one WireGuard session, in one direction.
    WireGuard,
    /// The packets of one IPsec security association (ESP).
    Esp,
    /// One direction of an SRT connection.
    Srt,
}

impl Protocol {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Rtp => "RTP",
            Self::Quic => "QUIC",
            Self::WireGuard => "WireGuard",
            Self::Esp => "ESP",
            Self::Srt => "SRT",
        }
    }

    /// Whether every packet has the next number, in clear: a stream of which a gap shows losses.
    pub(crate) fn is_numbered(self) -> bool {
        matches!(self, Self::Rtp | Self::WireGuard | Self::Esp | Self::Srt)
    }

    /// How many numbers there are before they begin again; none if no flow has so many packets.
    pub(crate) fn wrap(self) -> Option<u64> {
        match self {
            Self::Rtp => Some(1 << 16),
            Self::Srt => Some(1 << 31),
            Self::Tcp | Self::Esp => Some(1 << 32),
            Self::WireGuard | Self::Quic => None,
        }
    }

    /// A number without wrap-around as it is in the packet.
    pub(crate) fn on_wire(self, number: u64) -> u64 {
        self.wrap().map_or(number, |wrap| number % wrap)
    }

    /// How far `number` is ahead of `newest`, which is without wrap-around: negative if it is
    /// older.
    pub(crate) fn ahead(self, number: u64, newest: u64) -> i64 {
        match self.wrap() {
            None => number.wrapping_sub(newest) as i64,
            Some(wrap) => {
                let ahead = number.wrapping_sub(newest) % wrap;
                if ahead >= wrap / 2 { ahead as i64 - wrap as i64 } else { ahead as i64 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_nearest_to_the_newest_one() {
        for (protocol, wrap) in
            [(Protocol::Rtp, 1_u64 << 16), (Protocol::Srt, 1 << 31), (Protocol::Esp, 1 << 32)]
        {
            let newest = 5 * wrap - 2;
            assert_eq!(protocol.ahead(1, newest), 3, "{protocol:?}");
            assert_eq!(protocol.ahead(wrap - 4, newest), -2, "{protocol:?}");
            assert_eq!(protocol.on_wire(newest), wrap - 2);
        }
        assert_eq!(Protocol::WireGuard.ahead(7, 9), -2);
        assert_eq!(Protocol::WireGuard.on_wire(1 << 40), 1 << 40);
    }
}
