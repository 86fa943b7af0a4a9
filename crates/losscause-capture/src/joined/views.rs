//! What a single capture found of the losses that two captures show.
//!
//! A sender's capture shows a loss by the next transmission of the packet, a receiver's by the
//! first arrival of something that was sent later.

use std::collections::BTreeMap;

use losscause::verdict::Input;
use losscause::{Judgement, Span, Time};

use super::matching::Lost;
use crate::alone::Tally;
use crate::analysis::{Flow, Loss};
use crate::flow::{Evidence, Protocol};
use crate::judge::trust::{Expected, Situation};

/// One capture's analysis of a flow.
pub(super) struct View<'a> {
    pub(super) flows: Vec<&'a Flow>,
    losses: Vec<&'a Loss>,
    taken: Vec<bool>,
    /// Losses by their sequence number.
    by_seq: BTreeMap<u32, Vec<usize>>,
    /// What carries a stream of numbered packets; none of TCP.
    numbered: Option<Protocol>,
    end: End,
    pub(super) tally: Tally,
}

/// At which end a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

/// No packet of a capture has more bytes.
const LARGEST: u32 = 65_535;

impl<'a> View<'a> {
    /// The view of `flows`, which have the same ends.
    pub(super) fn new(flows: Vec<&'a Flow>, end: End) -> Self {
        // A gap at the sender's side was made before its capture; a retransmission at the
        // receiver's side behind it.
        let shows = |loss: &&Loss| (loss.evidence == Evidence::Gap) == (end == End::Receiver);
        let losses: Vec<&Loss> = flows.iter().flat_map(|flow| &flow.losses).filter(shows).collect();
        let mut by_seq: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, loss) in losses.iter().enumerate() {
            by_seq.entry(loss.seq as u32).or_default().push(index);
        }
        let taken = vec![false; losses.len()];
        let numbered =
            flows.first().map(|flow| flow.protocol).filter(|protocol| *protocol != Protocol::Tcp);
        Self { flows, losses, taken, by_seq, numbered, end, tally: Tally::default() }
    }

    /// What the view says about a known loss; none if it missed it.
    pub(super) fn find(&mut self, lost: &Lost) -> Option<&'a Loss> {
        let found = self.position(lost);
        match found {
            Some(index) => {
                self.taken[index] = true;
                self.tally.found += 1;
            }
            None => self.tally.missed += 1,
        }
        found.map(|index| self.losses[index])
    }

    /// Ends the count.
    pub(super) fn finish(&mut self) {
        self.tally.others = self.taken.iter().filter(|taken| !**taken).count() as u64;
    }

    fn position(&self, lost: &Lost) -> Option<usize> {
        let showed = match self.end {
            // QUIC sends no packet again: its numbers are enough.
            End::Sender if self.numbered == Some(Protocol::Quic) => None,
            End::Sender => Some(lost.resent?.at),
            End::Receiver => Some(lost.revealed?.at),
        };
        let (seq, bytes) =
            self.numbered.map_or((lost.start as u32, lost.end - lost.start), |protocol| {
                (protocol.on_wire(lost.start) as u32, 1)
            });
        let mut best: Option<((u32, Span), usize)> = None;
        for index in self.near(seq, bytes as u32) {
            let loss = self.losses[index];
            let distance = (loss.seq as u32).wrapping_sub(seq) as i32;
            let overlaps = i64::from(distance) < bytes as i64
                && i64::from(distance) + self.numbered.map_or(loss.bytes.max(1) as i64, |_| 1) > 0;
            let in_time =
                self.end == End::Receiver || showed.is_none_or(|showed| loss.time == showed);
            let nearness = (
                distance.unsigned_abs(),
                showed.map_or(Span::ZERO, |showed| nearness(loss.time, showed)),
            );
            if overlaps
                && in_time
                && !self.taken[index]
                && best.is_none_or(|(best, _)| nearness < best)
            {
                best = Some((nearness, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Losses that may overlap the packet at `seq`.
    fn near(&self, seq: u32, bytes: u32) -> impl Iterator<Item = usize> + '_ {
        let before = if self.numbered.is_some() { 0 } else { LARGEST };
        let from = seq.wrapping_sub(before);
        let to = seq.wrapping_add(bytes);
        // Sequence numbers wrap.
        let (first, second) =
            if from <= to { (from..=to, None) } else { (from..=u32::MAX, Some(0..=to)) };
        let ranges = std::iter::once(first).chain(second);
        ranges.flat_map(|range| {
            self.by_seq.range(range).flat_map(|(_, indices)| indices.iter().copied())
        })
    }

    /// The recommended algorithm of the capture alone.
    pub(super) fn recommended(&self) -> Option<String> {
        self.flows.iter().find_map(|flow| flow.recommended.as_ref()).map(|name| self.end.key(name))
    }

    /// The situation of the capture alone.
    pub(super) fn situation(&self) -> Option<Situation> {
        self.flows.first().map(|flow| flow.situation)
    }

    /// What to expect of its algorithms.
    pub(super) fn expected(&self) -> impl Iterator<Item = (String, Expected)> + '_ {
        let expected = self.flows.iter().flat_map(|flow| &flow.expected);
        expected.map(|(name, expected)| (self.end.key(name), *expected))
    }

    /// The algorithms' names with this end's name behind them; none in the place of one that cannot
    /// judge the flow.
    pub(super) fn names(&self, chosen: &[String]) -> Vec<Option<String>> {
        let usable = |name: &String| self.flows.iter().any(|flow| flow.summary.contains_key(name));
        chosen.iter().map(|name| usable(name).then(|| self.end.key(name))).collect()
    }
}

impl End {
    /// The key of an algorithm at this end.
    pub(super) fn key(self, name: &str) -> String {
        match self {
            End::Sender => format!("{name}@sender"),
            End::Receiver => format!("{name}@receiver"),
        }
    }
}

/// What a view says about a loss that it missed.
pub(super) fn none_of(count: usize) -> Vec<Judgement> {
    let input = Input::Other("a sight of the loss in this end's capture");
    vec![Judgement::without(input); count]
}

fn nearness(a: Time, b: Time) -> Span {
    (a - b).abs()
}
