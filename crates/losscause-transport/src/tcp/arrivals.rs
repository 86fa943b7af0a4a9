//! What acknowledgements tell about arrivals, for a loss differentiation algorithm at the sender.
//!
//! With SACK the scoreboard shows every gap in its true size. Without, duplicate ACKs show one missing packet per gap
//! ([`DuplicateAcks`]).

use losscause::ack::Numbers;
use losscause::{AckSample, DuplicateAcks, Span, Time};

use super::recovery::Scoreboard;
use super::stream::Stream;

/// Makes [`AckSample`]s.
#[derive(Clone, Debug)]
pub(super) enum Arrivals {
    /// By the numbers of cumulative ACKs.
    Duplicates(DuplicateAcks),
    /// By what the receiver reports.
    Reported(Reported),
}

impl Arrivals {
    pub(super) fn new(sack: bool) -> Self {
        if sack { Self::Reported(Reported::default()) } else { Self::Duplicates(DuplicateAcks::default()) }
    }

    /// An ACK arrived that `stream` and `board` have taken in already.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        at: Time,
        rtt: Option<Span>,
        stream: &Stream,
        board: Option<&Scoreboard>,
    ) -> AckSample {
        let mut sample = match (self, board) {
            (Self::Reported(reported), Some(board)) => reported.on_ack(at, rtt, stream.una, board),
            (Self::Reported(_), None) => AckSample::new(at),
            (Self::Duplicates(duplicates), _) => duplicates.on_ack(at, rtt, stream.una, stream.sent),
        };
        sample.in_flight_pkts = stream.flight_pkts();
        sample
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        if let Self::Duplicates(duplicates) = self {
            duplicates.on_timeout(stream.sent);
        }
    }
}

/// How far the receiver's reports have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// Packets below arrived or are missing.
    covered: u64,
    /// Packets that are known to have arrived.
    arrived: u64,
}

impl Reported {
    fn on_ack(&mut self, at: Time, rtt: Option<Span>, una: u64, board: &Scoreboard) -> AckSample {
        let mut sample = AckSample::new(at);
        let arrived = una + board.sacked();
        // After a timeout the reports are forgotten and come again.
        sample.newly_acked_pkts = arrived.saturating_sub(self.arrived);
        self.arrived = arrived;
        let end = board.end().max(una);
        sample.spanned_pkts = pkts(end.saturating_sub(self.covered));
        if sample.spanned_pkts == 0 {
            return sample;
        }
        sample.rtt = rtt;
        let from = self.covered.max(una);
        let missing = end - from - board.count(from, end);
        if missing > 0 {
            sample.newly_missing_pkts = pkts(missing);
            let last = (from..end).rev().find(|&seq| !board.is_sacked(seq));
            sample.newly_missing = board.next_hole(from).zip(last).map(|(first, last)| Numbers { first, last });
        }
        self.covered = end;
        sample
    }
}

fn pkts(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::segment::SackBlocks;
    use super::*;

    #[test]
    fn reports_show_gaps_of_their_true_size_and_filled_ones_span_nothing() {
        let (mut reported, mut board) = (Reported::default(), Scoreboard::new());
        let mut ack = |una, blocks: [(u64, u64); 3]| {
            board.update(una, 40, &SackBlocks::of(una, blocks));
            let sample = reported.on_ack(Time::ZERO, None, una, &board);
            (sample.newly_acked_pkts, sample.spanned_pkts, sample.newly_missing_pkts, sample.newly_missing)
        };
        const NO: (u64, u64) = (0, 0);
        assert_eq!(ack(2, [NO; 3]), (2, 2, 0, None));
        // 2 to 4 are missing, then 7 and 8 as well.
        assert_eq!(ack(2, [(5, 7), NO, NO]), (2, 5, 3, Some(Numbers { first: 2, last: 4 })));
        assert_eq!(ack(2, [(9, 10), (5, 7), NO]), (1, 3, 2, Some(Numbers { first: 7, last: 8 })));
        // 2 to 4 are repaired: nothing newer arrived.
        assert_eq!(ack(7, [(9, 10), NO, NO]), (3, 0, 0, None));
        assert_eq!(ack(12, [NO; 3]), (4, 2, 0, None));
    }
}
