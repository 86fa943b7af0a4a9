//! Times in which a sender got no answer although it tried again and again.
//!
//! A lost packet is repeated once, and seldom twice. If a timer repeats it three times and nothing
//! comes back, not this packet was lost but the way: a link that is cut, a handover, a host that is
//! gone. A queue is no reason for that.
//!
//! Behind a timeout a sender sends nothing else without an answer (RFC 5681, section 3.1). If it
//! goes on, it got one that was not captured.

use losscause::{Span, Time};

/// A time without an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outage {
    /// The last answer before, or the first try if there was none; later if nothing was asked then.
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
    /// Those since then.
    tries: Option<Tries>,
}

/// A packet that is sent again and again.
#[derive(Clone, Copy, Debug)]
struct Tries {
    /// When it was sent first.
    asked: Option<Time>,
    first: Time,
    last: Time,
    count: u64,
    /// The packet's first byte.
    start: u64,
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

    /// A timer sent the packet that begins at `start`, which had passed first at `asked`, if that
    /// is known.
    pub(super) fn on_try(&mut self, now: Time, start: u64, asked: Option<Time>) {
        match &mut self.tries {
            Some(tries) if now - tries.last < ONE_TRY => {}
            Some(tries) if tries.start == start => {
                (tries.last, tries.count) = (now, tries.count + 1);
            }
            _ => {
                self.on_progress(now);
                self.tries = Some(Tries { asked, first: now, last: now, count: 1, start });
            }
        }
    }

    /// The sender went on: it got an answer, whether that was captured or not.
    #[inline]
    pub(super) fn on_progress(&mut self, now: Time) {
        if self.tries.is_some() {
            self.close(now, true);
        }
    }

    /// The other end was heard.
    #[inline]
    pub(super) fn on_answer(&mut self, now: Time) {
        self.on_progress(now);
        self.heard = Some(now);
    }

    /// All of them, at the end of the flow.
    pub(super) fn finish(mut self) -> Vec<Outage> {
        if let Some(tries) = self.tries {
            self.close(tries.last, false);
        }
        self.found
    }

    fn close(&mut self, to: Time, is_answered: bool) {
        if let Some(Tries { asked, first, count, .. }) = self.tries.take()
            && count >= TRIES
            && self.found.len() < MAX_KEPT
        {
            self.found.push(Outage {
                from: self
                    .heard
                    .map_or(first, |heard| asked.map_or(heard, |asked| heard.max(asked))),
                to,
                is_answered,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn three_tries_without_an_answer_are_an_outage_and_two_are_none() {
        let mut outages = Outages::default();
        outages.on_answer(at(0));
        [200, 600].into_iter().for_each(|ms| outages.on_try(at(ms), 7, None));
        outages.on_answer(at(700));
        [1_000, 1_400, 2_200].into_iter().for_each(|ms| outages.on_try(at(ms), 7, None));
        outages.on_answer(at(2_500));
        [3_000, 3_001, 3_002].into_iter().for_each(|ms| outages.on_try(at(ms), 7, None));
        let found = outages.finish();
        assert_eq!(found, [Outage { from: at(700), to: at(2_500), is_answered: true }]);
    }

    #[test]
    fn nobody_owes_an_answer_before_something_was_sent() {
        let mut outages = Outages::default();
        outages.on_answer(at(0));
        [60_000, 61_000, 63_000].into_iter().for_each(|ms| outages.on_try(at(ms), 7, Some(at(ms))));
        assert_eq!(
            outages.finish(),
            [Outage { from: at(60_000), to: at(63_000), is_answered: false }]
        );
    }

    #[test]
    fn an_outage_that_nothing_ended_lasts_until_the_last_try() {
        let mut outages = Outages::default();
        [200, 800, 2_000].into_iter().for_each(|ms| outages.on_try(at(ms), 7, None));
        assert_eq!(outages.finish(), [Outage { from: at(200), to: at(2_000), is_answered: false }]);
    }

    #[test]
    fn a_sender_that_goes_on_got_an_answer() {
        let mut outages = Outages::default();
        // Another packet each time: a recovery of which one direction was captured.
        (0..5).for_each(|number| outages.on_try(at(80 * number as i64), 1_448 * number, None));
        [1_000, 1_400].into_iter().for_each(|ms| outages.on_try(at(ms), 7, None));
        outages.on_progress(at(1_500));
        outages.on_try(at(2_000), 7, None);
        assert_eq!(outages.finish(), []);
    }
}
