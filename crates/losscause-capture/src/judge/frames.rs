//! Which packets of a stream begin a frame.
//!
//! All packets of a video frame have the frame's timestamp (RFC 3550, section 5.1), and senders
//! spread them over the time until the next one. So only the first packet's trip is that of the
//! path; of the others it is longer by what the sender waited. They count as if they took as long
//! as the newest first one. If a frame's first packet is missing, so is its trip.

/// The frames of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    /// The number and the timestamp of the last packet.
    last: Option<(u64, u32)>,
    /// A frame had several packets.
    are_several: bool,
}

impl Frames {
    /// Whether packet `number` with this timestamp is the first one of a frame.
    #[inline]
    pub(super) fn begins(&mut self, number: u64, timestamp: u32) -> bool {
        let Some((before, same)) = self.last.replace((number, timestamp)) else { return true };
        let follows = number == before + 1;
        self.are_several |= follows && timestamp == same;
        timestamp != same && (follows || !self.are_several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins<const N: usize>(packets: [(u64, u32); N]) -> [bool; N] {
        let mut frames = Frames::default();
        packets.map(|(number, timestamp)| frames.begins(number, timestamp))
    }

    #[test]
    fn a_timestamps_first_packet_begins_a_frame_unless_one_is_lost() {
        let packets = [(1, 0), (2, 0), (4, 0), (5, 30), (6, 30), (8, 60), (9, 60), (10, 90)];
        assert_eq!(begins(packets), [true, false, false, true, false, false, false, true]);
    }

    #[test]
    fn every_packet_of_audio_is_a_frame() {
        assert_eq!(begins([(1, 0), (2, 20), (5, 80), (6, 100)]), [true; 4]);
    }
}
