//! Trip times from acknowledgements that name no ranges.
//!
//! Such an acknowledgement tells what has arrived in order, not which packet caused it. Two kinds
//! of them tell no trip time:
//!
//! - A duplicate. Packets behind the first hole may be lost too, so the n-th duplicate is not the
//!   n-th packet behind it; taken for it, every further loss would look like a longer queue. The
//!   duplicate that reveals a hole gets the newest trip time that is known: that of the last packet
//!   before the hole.
//! - An acknowledgement of a single packet right before a hole. The receiver may have waited for a
//!   second packet before it acknowledged the first (RFC 5681, section 4.2: for up to 500 ms), and
//!   the second is the one that was lost.
//!
//! Whether a hole follows, only the next acknowledgement tells. Until then the sample of a single
//! packet waits.

use losscause::{Observation, Span};

/// What is known between two acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cumulative {
    /// The sample of an acknowledgement of a single packet.
    waiting: Option<Observation>,
    /// The newest trip time.
    newest: Option<Span>,
}

impl Cumulative {
    /// Takes in the sample of an acknowledgement; without a trip time if it moved over a hole.
    /// Returns the samples that are complete now, in order.
    #[inline]
    pub(crate) fn on_ack(&mut self, mut sample: Observation) -> [Option<Observation>; 2] {
        let advances = sample.newly_acked_pkts() > 0;
        let waited = self.end_wait(advances);
        if sample.newly_acked_pkts() == 1 && sample.delay.is_some() {
            self.waiting = Some(sample);
            return [waited, None];
        }
        if advances {
            self.newest = sample.delay.or(self.newest);
        } else {
            sample.delay = self.newest.filter(|_| sample.missing > 0);
        }
        [waited, Some(sample)]
    }

    /// The sample that waited, if any, now that the next acknowledgement tells whether no hole
    /// follows.
    #[inline]
    pub(crate) fn end_wait(&mut self, no_hole: bool) -> Option<Observation> {
        let mut waited = self.waiting.take()?;
        if no_hole {
            self.newest = waited.delay;
        } else {
            waited.delay = None;
        }
        Some(waited)
    }
}

#[cfg(test)]
mod tests {
    use losscause::{DuplicateAcks, Time};

    use super::*;

    /// Trip times in milliseconds that the algorithms get from acknowledgements at these times, for
    /// the next packet named, with these round-trip times.
    fn told<const N: usize>(acks: [(i64, u64, Option<i64>); N]) -> Vec<(i64, Option<i64>)> {
        let mut duplicates = DuplicateAcks::default();
        let mut cumulative = Cumulative::default();
        let ms = |span: Span| span.as_nanos() / 1_000_000;
        let mut told = Vec::new();
        for (at, next, rtt) in acks {
            let at = Time::ZERO + Span::from_millis(at);
            let sample = duplicates.on_ack(at, rtt.map(Span::from_millis), next, 20);
            let samples = cumulative.on_ack(sample).into_iter().flatten();
            told.extend(samples.map(|sample| (ms(sample.at - Time::ZERO), sample.delay.map(ms))));
        }
        told
    }

    #[test]
    fn a_hole_is_judged_by_the_packet_before_it() {
        let acks = [(50, 2, Some(41)), (52, 4, Some(43)), (60, 4, None), (61, 4, None)];
        assert_eq!(told(acks), [(50, Some(41)), (52, Some(43)), (60, Some(43)), (61, None)]);
    }

    #[test]
    fn a_single_packet_before_a_hole_tells_no_trip_time() {
        // Packet 2 is acknowledged 40 ms late, because 3 did not come.
        let acks = [(50, 2, Some(41)), (95, 3, Some(81)), (97, 3, None)];
        assert_eq!(told(acks), [(50, Some(41)), (95, None), (97, Some(41))]);
        // If 3 came, 2 did not wait for it.
        let acks = [(50, 2, Some(41)), (95, 3, Some(81)), (97, 5, Some(82)), (98, 5, None)];
        assert_eq!(told(acks), [(50, Some(41)), (95, Some(81)), (97, Some(82)), (98, Some(82))]);
    }

    #[test]
    fn an_acknowledgement_over_a_hole_keeps_the_known_trip_time() {
        let acks = [(50, 2, Some(41)), (55, 2, None), (95, 6, None), (99, 6, None)];
        assert_eq!(told(acks), [(50, Some(41)), (55, Some(41)), (95, None), (99, Some(41))]);
    }
}
