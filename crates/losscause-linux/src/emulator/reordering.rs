//! Packets that are held back behind the path, so that later ones overtake them.
//!
//! The simulator's links keep the order of packets, so no scenario asks for this; real paths do not
//! always, and a test of what looks at real traffic needs a path that does not.

use std::collections::BTreeMap;

use losscause::{Span, Time};
use losscause_sim::rng::Stream;

/// Which packets are held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// The share of packets, 0 to 1, each independently.
    pub share: f64,
    /// Each of them is held back for a uniform time below this.
    pub at_most: Span,
}

/// Packets of one direction that are held back.
#[derive(Debug)]
pub(super) struct HeldBack<T> {
    rule: Reordering,
    stream: Stream,
    /// By the instant of their delivery, and the order in which they came.
    packets: BTreeMap<(Time, u64), T>,
    count: u64,
}

impl<T> HeldBack<T> {
    pub(super) fn new(rule: Reordering, seed: u64) -> Self {
        Self {
            rule,
            stream: Stream::new(seed, "emulator/order"),
            packets: BTreeMap::new(),
            count: 0,
        }
    }

    /// A packet is at the end of the path: returns it, unless it is held back.
    pub(super) fn pass(&mut self, at: Time, packet: T) -> Option<T> {
        if self.stream.uniform() >= self.rule.share {
            return Some(packet);
        }
        self.count += 1;
        self.packets.insert((at + self.stream.span_below(self.rule.at_most), self.count), packet);
        None
    }

    /// When the next one is delivered.
    pub(super) fn next(&self) -> Option<Time> {
        self.packets.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes out the next one that is delivered by `now`, with the instant.
    pub(super) fn take(&mut self, now: Time) -> Option<(Time, T)> {
        let first = self.packets.first_entry().filter(|first| first.key().0 <= now)?;
        let ((at, _), packet) = first.remove_entry();
        Some((at, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_packets_is_held_back_for_less_than_the_limit() {
        let rule = Reordering { share: 0.01, at_most: Span::from_millis(10) };
        let mut held = HeldBack::new(rule, 7);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let passed = (0..20_000).filter(|&ms| held.pass(at(ms), ms).is_some()).count();
        // Of 200, within three standard deviations of 14.
        assert!((158..=242).contains(&held.packets.len()), "{}", held.packets.len());
        assert_eq!(passed + held.packets.len(), 20_000);
        let mut last = Time::ZERO;
        while let Some((until, ms)) = held.take(Time::MAX) {
            assert!(until >= at(ms) && until < at(ms + 10) && until >= last, "{ms}: {until}");
            last = until;
        }
        assert_eq!((held.next(), held.packets.len()), (None, 0));
    }

    #[test]
    fn nothing_is_delivered_before_its_time() {
        let mut held = HeldBack::new(Reordering { share: 1.0, at_most: Span::from_millis(1) }, 1);
        assert_eq!(held.pass(Time::ZERO, "packet"), None);
        let at = held.next().unwrap();
        assert_eq!(held.take(at - Span::from_nanos(1)), None);
        assert_eq!(held.take(at), Some((at, "packet")));
    }
}
