//! Times in which a sender got no answer although it tried again and again.
//!
//! A lost packet is repeated once, and seldom twice. If a timer repeats it three times and nothing comes back, not this packet
//! was lost but the way: a link that is cut, a handover, a host that is gone. A queue is no reason for that.

use losscause::{Span, Time};

/// A time without an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outage {
    /// The last answer before, or the first try if there was none.
    pub(crate) from: Time,
    /// The answer that ended it, or the last try if there was none.
    pub(crate) to: Time,
    pub(crate) is_answered: bool,
}

/// The outages of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    pub(crate) found: Vec<Outage>,
    heard: Option<Time>,
    /// The first and the last of the tries since then, and how many there were.
    tries: Option<(Time, Time, u64)>,
}

/// So many tries without an answer: the timer has backed off twice.
const TRIES: u64 = 3;
/// What a timer sends at once is one try. No timer is faster (RFC 8985, section 7.2).
const ONE_TRY: Span = Span::from_millis(10);
/// A flow keeps so many at most.
const MAX_KEPT: usize = 1_000;

impl Outages {
    /// Whether the other end was ever heard.
    pub(super) fn has_heard(&self) -> bool {
        self.heard.is_some()
    }

    /// A timer sent something.
    pub(super) fn on_try(&mut self, now: Time) {
        self.tries = Some(match self.tries {
            None => (now, now, 1),
            Some((first, last, count)) if now - last < ONE_TRY => (first, last, count),
            Some((first, _, count)) => (first, now, count + 1),
        });
    }

    /// The other end was heard.
    #[inline]
    pub(super) fn on_answer(&mut self, now: Time) {
        if self.tries.is_some() {
            self.close(now, true);
        }
        self.heard = Some(now);
    }

    /// All of them, at the end of the flow.
    pub(super) fn finish(mut self) -> Vec<Outage> {
        if let Some((_, last, _)) = self.tries {
            self.close(last, false);
        }
        self.found
    }

    fn close(&mut self, to: Time, is_answered: bool) {
        if let Some((first, _, count)) = self.tries.take()
            && count >= TRIES
            && self.found.len() < MAX_KEPT
        {
            self.found.push(Outage { from: self.heard.unwrap_or(first), to, is_answered });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn three_tries_without_an_answer_are_an_outage_and_two_are_none() {
        let mut outages = Outages::default();
        outages.on_answer(at(0));
        [200, 600].into_iter().for_each(|ms| outages.on_try(at(ms)));
        outages.on_answer(at(700));
        [1_000, 1_400, 2_200].into_iter().for_each(|ms| outages.on_try(at(ms)));
        outages.on_answer(at(2_500));
        [3_000, 3_001, 3_002].into_iter().for_each(|ms| outages.on_try(at(ms)));
        let found = outages.finish();
        assert_eq!(found, [Outage { from: at(700), to: at(2_500), is_answered: true }]);
    }

    #[test]
    fn an_outage_that_nothing_ended_lasts_until_the_last_try() {
        let mut outages = Outages::default();
        [200, 800, 2_000].into_iter().for_each(|ms| outages.on_try(at(ms)));
        assert_eq!(outages.finish(), [Outage { from: at(200), to: at(2_000), is_answered: false }]);
    }
}
