//! A request that is repeated until it is answered: after 250 ms, then after twice as long each
//! time, up to 2 s.

use losscause::{Span, Time};

const FIRST: Span = Span::from_millis(250);
const LONGEST: Span = Span::from_secs(2);

/// When to repeat a request, and when to give up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    pub(crate) at: Time,
    wait: Span,
    give_up: Time,
}

/// What to do at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Repeat,
    GiveUp,
}

impl Retry {
    /// The request was made at `now`; it is given up after `patience`.
    pub(crate) fn new(now: Time, patience: Span) -> Self {
        Self { at: now + FIRST, wait: FIRST, give_up: now + patience }
    }

    /// Asks at `now`, and counts the repetition that it asks for as made.
    pub(crate) fn due(&mut self, now: Time) -> Due {
        if now >= self.give_up {
            return Due::GiveUp;
        }
        if now < self.at {
            return Due::Nothing;
        }
        self.wait = (self.wait * 2).min(LONGEST);
        self.at = (now + self.wait).min(self.give_up);
        Due::Repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_repeated_ever_more_seldom_and_given_up_on_time() {
        let mut retry = Retry::new(Time::ZERO, Span::from_secs(10));
        let mut repeated = Vec::new();
        loop {
            let at = retry.at;
            match retry.due(at) {
                Due::Repeat => repeated.push(at.as_nanos() / 1_000_000),
                Due::GiveUp => break assert_eq!(at, Time::ZERO + Span::from_secs(10)),
                Due::Nothing => panic!("asked on time"),
            }
        }
        assert_eq!(repeated, [250, 750, 1750, 3750, 5750, 7750, 9750]);
        assert_eq!(
            Retry::new(Time::ZERO, Span::from_secs(10)).due(Time::from_nanos(1)),
            Due::Nothing
        );
    }
}
