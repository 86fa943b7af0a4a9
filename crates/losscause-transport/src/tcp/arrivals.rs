//! Derives arrivals from ACKs, for a loss differentiation algorithm at the sender.
//!
//! With SACK the scoreboard shows the true size of each gap. Without SACK, duplicate ACKs show one
//! missing packet per gap ([`DuplicateAcks`]).

use losscause::observe::Newest;
use losscause::{Acked, DuplicateAcks, Numbers, Observation, Span, Time};

use super::recovery::Scoreboard;
use super::stream::Stream;

/// Turns ACKs into [`Observation`]s.
#[derive(Clone, Debug)]
pub(super) enum Arrivals {
    /// From cumulative ACK numbers.
    Duplicates(DuplicateAcks),
    /// From SACK reports.
    Reported(Reported),
}

impl Arrivals {
    pub(super) fn new(sack: bool) -> Self {
        if sack {
            Self::Reported(Reported::default())
        } else {
            Self::Duplicates(DuplicateAcks::default())
        }
    }

    /// Handles an ACK. `stream` and `board` must already include it; `cwnd_pkts` is the window
    /// before it.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        at: Time,
        rtt: Option<Span>,
        cwnd_pkts: f64,
        stream: &Stream,
        board: Option<&Scoreboard>,
    ) -> Observation {
        let mut observation = match (self, board) {
            (Self::Reported(reported), Some(board)) => reported.on_ack(at, rtt, stream.una, board),
            (Self::Reported(_), None) => Observation::first(0, at).with_acked(Acked::new(1)),
            (Self::Duplicates(duplicates), _) => {
                duplicates.on_ack(at, rtt, stream.una, stream.sent)
            }
        };
        if let Some(acked) = &mut observation.acked {
            acked.in_flight_pkts = stream.flight_pkts();
            acked.cwnd_pkts = Some(cwnd_pkts);
        }
        observation
    }

    /// The round-trip time of the newest arrival is none of the path's.
    pub(super) fn forget_delay(&mut self) {
        match self {
            Self::Duplicates(duplicates) => duplicates.forget_delay(),
            Self::Reported(reported) => reported.newest.forget_delay(),
        }
    }

    /// The retransmission timer expired.
    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        if let Self::Duplicates(duplicates) = self {
            duplicates.on_timeout(stream.sent);
        }
    }
}

/// How far the receiver's SACK reports reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// Every packet below is known to have arrived or to be missing.
    covered: u64,
    /// Number of packets known to have arrived.
    arrived: u64,
    newest: Newest,
}

impl Reported {
    fn on_ack(&mut self, at: Time, rtt: Option<Span>, una: u64, board: &Scoreboard) -> Observation {
        let arrived = una + board.sacked();
        // A timeout clears the reports; the receiver repeats them.
        let mut acked = Acked::new(arrived.saturating_sub(self.arrived));
        self.arrived = arrived;
        let end = board.end().max(una);
        let mut spans = [pkts(end.saturating_sub(self.covered)), 0];
        if spans[0] > 0 {
            let from = self.covered.max(una);
            let missing = end - from - board.count(from, end);
            if missing > 0 {
                spans[1] = pkts(missing);
                let last = (from..end).rev().find(|&seq| !board.is_sacked(seq));
                acked.missing =
                    board.next_hole(from).zip(last).map(|(first, last)| Numbers { first, last });
            }
            self.covered = end;
        }
        self.newest.advance(at, rtt, spans).with_acked(acked)
    }
}

fn pkts(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::segment::SackBlocks;

    #[test]
    fn reports_show_gaps_in_true_size_and_filled_ones_as_none() {
        let mut reported = Reported::default();
        let mut board = Scoreboard::new();
        let mut ack = |una, blocks: [(u64, u64); 3]| {
            board.update(una, 40, &SackBlocks::of(una, blocks));
            let sample = reported.on_ack(Time::ZERO, None, una, &board);
            (
                sample.newly_acked_pkts(),
                sample.spanned,
                sample.missing,
                sample.acked.and_then(|acked| acked.missing),
            )
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
