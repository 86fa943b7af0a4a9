//! What the tests share: packets by hand, and a small generator of even random numbers.
#![allow(dead_code)] // Each test file uses its own part.

use losscause::Differentiator;
use losscause::{Algorithm, Judgement, Packet, Span, Time, Verdict, on_judged};

/// Even random numbers from a linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// A whole number from 0 up to `below`, exclusive.
    pub(crate) fn below(&mut self, below: u64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * below) >> 32) as i64
    }
}

/// A packet that arrives `at` and took `rott` on the way, in nanoseconds.
pub(crate) fn packet(seq: u64, at: i64, rott: i64) -> Packet {
    let at = Time::from_nanos(at);
    Packet { seq, at, sent: Some(Time::from_nanos(at.as_nanos().wrapping_sub(rott))) }
}

/// Feeds packets to an LDA and collects its judgements.
pub(crate) fn judgements(
    lda: impl Algorithm,
    packets: impl IntoIterator<Item = Packet>,
) -> Vec<(u64, Judgement)> {
    let mut all = Vec::new();
    let mut differentiator = Differentiator::new(lda);
    for packet in packets {
        let mut collect = on_judged(|loss, judgement| {
            let seq = loss.numbers.expect("numbered").first;
            all.push((seq, *judgement));
        });
        differentiator.on_packet(packet, &mut collect);
    }
    all
}

/// The same, verdicts only.
pub(crate) fn verdicts(
    lda: impl Algorithm,
    packets: impl IntoIterator<Item = Packet>,
) -> Vec<Verdict> {
    judgements(lda, packets).into_iter().map(|(_, j)| j.verdict).collect()
}

/// Share of wireless verdicts.
pub(crate) fn wireless_share(verdicts: &[Verdict]) -> f64 {
    verdicts.iter().filter(|v| v.is_wireless()).count() as f64 / verdicts.len() as f64
}

/// A saturated link that nobody shares: every packet leaves `t` after the one before, lost or not.
/// ROTTs stand still at `rott` but for the first packet, which meets an empty queue.
pub(crate) fn saturated(
    t: Span,
    rott: Span,
    arrive: impl Fn(u64) -> bool,
    count: u64,
) -> Vec<Packet> {
    (0..count)
        .filter(|&seq| arrive(seq))
        .map(|seq| {
            packet(seq, t.as_nanos() * seq as i64, if seq == 0 { 0 } else { rott.as_nanos() })
        })
        .collect()
}
