//! The SACK recovery of ns-2.35's `Agent/TCP/Sack1`, older and simpler than RFC 6675.
//!
//! ```text
//! third duplicate ACK:  retransmit;  pipe = packets in flight - 3
//! any ACK:              pipe -= 1, and 1 more for a partial ACK;
//!                       then packets are sent while pipe < cwnd, pipe += 1 each:
//!                       the first hole below the highest reported packet not yet retransmitted, else unsent data
//! ```
//!
//! A hole counts as lost at once. The third duplicate releases only the retransmission; outside
//! recovery, later duplicates release nothing. Each ACK of new data outside recovery clears the
//! reports. After a timeout, duplicates are ignored until the first ACK of new data.
//!
//! Deviations from ns-2: an ACK older than the newest has no effect (in ns-2 it lowers pipe).
//! `partial_ack_`, `oldCode_`, `LimTransmitFix_` and the response to ECN are left out.

use super::Progress;
use super::scoreboard::Scoreboard;
use crate::tcp::config::Config;
use crate::tcp::loss_event::Found;
use crate::tcp::quirks::{FastRetransmit, LimitedTransmit};
use crate::tcp::segment::Ack;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(crate) struct Sack1 {
    threshold: u32,
    fast_retransmit: FastRetransmit,
    limited_transmit: LimitedTransmit,
    board: Scoreboard,
    phase: Phase,
    /// One above the highest packet sent when the last loss was detected; 0 once it is repaired.
    recover: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open {
        dup_acks: u32,
    },
    /// The timer expired, and nothing was acknowledged since.
    TimedOut,
    Recovering {
        /// An estimate; may fall below zero.
        pipe: i64,
        /// Everything below was retransmitted or reported.
        resent: u64,
        /// Whether this ACK may release only the first unacknowledged packet or, once that is sent,
        /// nothing more.
        first: First,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Due,
    Sent,
    Past,
}

impl Sack1 {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold: config.dup_ack_threshold,
            fast_retransmit: config.quirks.fast_retransmit.unwrap_or(FastRetransmit::OncePerWindow),
            limited_transmit: config.quirks.limited_transmit,
            board: Scoreboard::new(),
            phase: Phase::Open { dup_acks: 0 },
            recover: 0,
        }
    }

    pub(super) fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    pub(super) fn on_dup_ack(&mut self, ack: &Ack, stream: &Stream) -> Option<Found> {
        if self.phase == Phase::TimedOut {
            return None;
        }
        let reports = self.board.update(stream.una, stream.sent, &ack.sack);
        match &mut self.phase {
            Phase::TimedOut => None,
            Phase::Recovering { pipe, first, .. } => {
                *pipe -= 1;
                *first = First::Past;
                None
            }
            Phase::Open { dup_acks } => {
                *dup_acks = dup_acks.saturating_add(u32::from(reports));
                let found = reports
                    && *dup_acks == self.threshold
                    && self.fast_retransmit.allows(stream.una, self.recover);
                found.then(|| {
                    let pipe = (stream.sent - stream.una) as i64 - i64::from(self.threshold);
                    self.recover = stream.sent;
                    self.phase =
                        Phase::Recovering { pipe, resent: stream.una + 1, first: First::Due };
                    Found::with(stream.flight_pkts())
                })
            }
        }
    }

    #[inline]
    pub(super) fn on_new_ack(&mut self, ack: &Ack, stream: &Stream) -> Progress {
        if let Phase::Recovering { pipe, first, .. } = &mut self.phase {
            if stream.una < self.recover {
                *pipe -= 2;
                *first = First::Past;
                self.board.update(stream.una, stream.sent, &ack.sack);
                return Progress::Partial { restart_timer: true, clear_backoff: true };
            }
            self.recover = 0;
        }
        let recovering = matches!(self.phase, Phase::Recovering { .. });
        self.phase = Phase::Open { dup_acks: 0 };
        self.board.clear(stream.una);
        if recovering { Progress::Recovered } else { Progress::Open }
    }

    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        self.recover = stream.sent;
        self.phase = Phase::TimedOut;
        self.board.clear(stream.una);
    }

    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        match &mut self.phase {
            Phase::Open { dup_acks } if *dup_acks >= self.threshold => None,
            Phase::Open { .. } | Phase::TimedOut => {
                stream.take_next(self.window_pkts(stream, window))
            }
            Phase::Recovering { first: first @ First::Due, .. } => {
                *first = First::Sent;
                Some(stream.una)
            }
            Phase::Recovering { first: First::Sent, .. } => None,
            Phase::Recovering { pipe, resent, .. } => {
                if *pipe >= i64::from(window.pkts(0)) {
                    return None;
                }
                let seq = match self.board.next_hole(*resent) {
                    Some(hole) => {
                        *resent = hole + 1;
                        stream.next = stream.next.max(hole + 1);
                        hole
                    }
                    None => stream.take_next(window.max_pkts)?,
                };
                *pipe += 1;
                Some(seq)
            }
        }
    }

    /// cwnd plus limited transmit.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        window.pkts(match self.phase {
            Phase::Open { dup_acks } if dup_acks < self.threshold => {
                self.limited_transmit.releases(dup_acks, stream.next == stream.sent)
            }
            _ => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use losscause::Time;

    use super::*;
    use crate::tcp::segment::SackBlocks;

    const WINDOW: Window = Window { cwnd: 5.0, ssthresh: 5.0, max_pkts: 20 };

    fn ack(next: u64, blocks: [(u64, u64); 3]) -> Ack {
        Ack { sack: SackBlocks::of(next, blocks), ..Ack::new(next, Time::ZERO) }
    }

    #[test]
    fn packets_go_out_while_pipe_is_below_cwnd_and_holes_go_first() {
        let mut sack = Sack1::new(&Config::ns2());
        // 10 to 19 are in flight; 10 and 12 are lost.
        let mut stream = Stream { una: 10, next: 20, sent: 20, end: u64::MAX };
        let reports = [11..12, 11..12, 13..14, 13..15, 13..16, 13..17, 13..18, 13..19, 13..20];
        let mut sent = vec![];
        for report in reports {
            let above = if report.start > 11 { (report.start, report.end) } else { (0, 0) };
            sack.on_dup_ack(&ack(10, [above, (11, 12), (0, 0)]), &stream);
            sent.push(Vec::from_iter(std::iter::from_fn(|| {
                sack.poll_transmit(&mut stream, &WINDOW)
            })));
            stream.sent = stream.sent.max(stream.next);
        }
        // The second reports nothing new. The fourth is the third duplicate: pipe is 10 - 3, and
        // only 10 is retransmitted. Then pipe is 6, 5 and 4: hole 12 is retransmitted. Then pipe is
        // 4 twice: unsent data.
        assert_eq!(
            sent,
            [vec![], vec![], vec![], vec![10], vec![], vec![], vec![12], vec![20], vec![21]]
        );
    }

    #[test]
    fn a_partial_ack_makes_room_for_two_and_ends_the_back_off() {
        let mut sack = Sack1::new(&Config::ns2());
        sack.recover = 20;
        sack.phase = Phase::Recovering { pipe: 5, resent: 11, first: First::Past };
        let mut stream = Stream { una: 12, next: 20, sent: 20, end: u64::MAX };
        let partial = Progress::Partial { restart_timer: true, clear_backoff: true };
        assert_eq!(sack.on_new_ack(&ack(12, [(13, 16), (0, 0), (0, 0)]), &stream), partial);
        let sent: Vec<u64> =
            std::iter::from_fn(|| sack.poll_transmit(&mut stream, &WINDOW)).collect();
        assert_eq!(sent, [12, 20]);
    }

    #[test]
    fn duplicates_are_ignored_from_a_timeout_to_the_next_new_ack() {
        let mut sack = Sack1::new(&Config::ns2());
        let stream = Stream { una: 10, next: 20, sent: 20, end: u64::MAX };
        sack.on_timeout(&stream);
        for end in 12..18 {
            assert_eq!(sack.on_dup_ack(&ack(10, [(11, end), (0, 0), (0, 0)]), &stream), None);
        }
        assert_eq!(sack.on_new_ack(&ack(11, [(0, 0); 3]), &stream), Progress::Open);
    }
}
