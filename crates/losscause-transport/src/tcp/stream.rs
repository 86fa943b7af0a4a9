//! The state of a sender's stream, in packet numbers.

/// The packet numbers that all parts of a sender share.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// Everything below was acknowledged (SND.UNA).
    pub(super) una: u64,
    /// The next packet in sequence; a timeout moves it back (SND.NXT).
    pub(super) next: u64,
    /// Everything below was sent at least once.
    pub(super) sent: u64,
    /// The stream ends before this packet.
    pub(super) end: u64,
}

impl Stream {
    /// Packets sent and not acknowledged (RFC 5681's FlightSize). After a timeout, only packets
    /// sent since; earlier ones are presumed lost.
    #[inline]
    pub(super) fn flight_pkts(&self) -> u64 {
        self.next - self.una
    }

    /// The next packet in sequence, if the window has room for it.
    #[inline]
    pub(super) fn take_next(&mut self, window_pkts: u32) -> Option<u64> {
        let takes = self.next < self.end && self.next < self.una + u64::from(window_pkts);
        takes.then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}
