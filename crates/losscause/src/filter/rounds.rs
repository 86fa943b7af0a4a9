//! The smallest and the largest round-trip time of each round.
//!
//! A round lasts until a packet that was sent after its start is acknowledged. An ACK that arrived
//! at `at` and measured `rtt` acknowledges a packet sent at `at - rtt`, so packet numbers are not
//! needed:
//!
//! ```text
//! a round that began at b ends with the first ACK with  at - rtt >= b
//! ```
//!
//! The ACK that ends a round is its last; the next round begins at that instant.

use crate::{Span, Time};

/// Cuts a sequence of ACKs into rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    began: Option<Time>,
    present: Option<Round>,
}

/// The round-trip times of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The smallest.
    pub min: Span,
    /// The largest.
    pub max: Span,
    /// How many there were.
    pub samples: u32,
}

impl Rounds {
    /// Adds a round-trip time to the present round.
    #[inline]
    pub fn observe(&mut self, rtt: Span) {
        self.present = Some(match self.present {
            None => Round { min: rtt, max: rtt, samples: 1 },
            Some(Round { min, max, samples }) => {
                Round { min: min.min(rtt), max: max.max(rtt), samples: samples.saturating_add(1) }
            }
        });
    }

    /// Adds a round-trip time that may only lower the minimum. Has no effect at the start of a
    /// round.
    #[inline]
    pub fn lower(&mut self, rtt: Span) {
        if let Some(round) = &mut self.present {
            round.min = round.min.min(rtt);
        }
    }

    /// An ACK arrived at `at` and measured `rtt`. If it ends the round, returns the round and
    /// starts the next one. A round without a round-trip time goes on.
    #[inline]
    pub fn turn(&mut self, at: Time, rtt: Span) -> Option<Round> {
        let began = *self.began.get_or_insert(at);
        if at - began < rtt {
            return None;
        }
        let round = self.present.take()?;
        self.began = Some(at);
        Some(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn a_round_ends_with_the_ack_of_a_packet_sent_after_its_start() {
        let mut rounds = Rounds::default();
        // Sent at 0, 10, 39 and 40 ms; the round began at 40 ms, with the first ACK.
        let mut turned = [(40, 40), (55, 45), (89, 50), (92, 52), (93, 53)].map(|(at, rtt)| {
            rounds.observe(ms(rtt));
            rounds.turn(Time::ZERO + ms(at), ms(rtt))
        });
        assert_eq!(turned[3].take(), Some(Round { min: ms(40), max: ms(52), samples: 4 }));
        assert_eq!(turned, [None; 5], "one round");
    }

    #[test]
    fn a_time_that_only_lowers_changes_no_maximum_and_no_round() {
        let mut rounds = Rounds::default();
        rounds.lower(ms(1));
        rounds.observe(ms(40));
        assert_eq!(rounds.turn(Time::ZERO, ms(40)), None);
        [90, 30].iter().for_each(|&rtt| rounds.lower(ms(rtt)));
        assert_eq!(
            rounds.turn(Time::ZERO + ms(50), ms(40)),
            Some(Round { min: ms(30), max: ms(40), samples: 1 })
        );
        assert_eq!(rounds.turn(Time::ZERO + ms(99), ms(40)), None, "an empty round goes on");
    }
}
