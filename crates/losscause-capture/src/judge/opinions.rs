//! What the algorithms say about a gap, small enough to be kept of every loss.
//!
//! Most of a judgement is words, the same about thousands of losses, so that losses share them and
//! each has only its numbers: a tenth of the memory.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use losscause::diagnosis::QueueSeen;
use losscause::{Amount, Judgement, Reason, Span};

/// What the algorithms say about a gap, in the order of [`Chosen::iter`](super::Chosen::iter).
/// Losses of one gap share it.
#[derive(Clone, Debug)]
pub(crate) struct Opinions(Arc<Said>);

#[derive(Debug)]
struct Said {
    /// Each algorithm's judgement, with zeros for its numbers.
    words: Box<[Arc<Judgement>]>,
    /// The numbers of all judgements, as [`exchange`] meets them.
    numbers: Box<[u64]>,
    trip: Option<Span>,
    trip_before: Option<Span>,
    queue: Option<QueueSeen>,
}

/// The words of the last judgements about a capture's losses, by algorithm, the newest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(Rc<RefCell<Vec<VecDeque<Arc<Judgement>>>>>);

/// Words that are looked for, of an algorithm.
const RECENT: usize = 32;
/// Judgements seldom have more.
const USUAL_NUMBERS: usize = 6;

impl Words {
    /// The opinions about a gap: what each algorithm says, the newest trip time then and that of the
    /// packet before the lost one, and the queue.
    pub(crate) fn opinions(
        &self,
        judgements: impl Iterator<Item = Judgement>,
        [trip, trip_before]: [Option<Span>; 2],
        queue: Option<QueueSeen>,
    ) -> Opinions {
        let mut known = self.0.borrow_mut();
        let mut numbers = Vec::with_capacity(USUAL_NUMBERS * known.len());
        let mut words = Vec::with_capacity(known.len());
        for (place, mut judgement) in judgements.enumerate() {
            exchange(&mut judgement, |number| {
                numbers.push(number);
                0
            });
            if place == known.len() {
                known.push(VecDeque::new());
            }
            words.push(shared(&mut known[place], judgement));
        }
        let (words, numbers) = (words.into(), numbers.into());
        Opinions(Arc::new(Said { words, numbers, trip, trip_before, queue }))
    }
}

/// The same words, shared with earlier ones if there are such.
fn shared(recent: &mut VecDeque<Arc<Judgement>>, words: Judgement) -> Arc<Judgement> {
    if let Some(same) = recent.iter().find(|recent| ***recent == words) {
        return same.clone();
    }
    let words = Arc::new(words);
    recent.truncate(RECENT - 1);
    recent.push_front(words.clone());
    words
}

impl Opinions {
    /// What each algorithm says, and why.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Judgement> + '_ {
        let mut numbers = self.0.numbers.iter();
        self.0.words.iter().map(move |words| {
            let mut judgement = **words;
            exchange(&mut judgement, |_| numbers.next().copied().unwrap_or_default());
            judgement
        })
    }

    /// The same with zeros for all numbers: enough for verdicts, and for what was missing.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Judgement> {
        self.0.words.iter().map(Arc::as_ref)
    }

    /// The trip time at the gap.
    pub(crate) fn trip(&self) -> Option<Span> {
        self.0.trip
    }

    /// The trip time of the packet before the lost one, or of the one behind it if that left closer
    /// to it.
    pub(crate) fn trip_before(&self) -> Option<Span> {
        self.0.trip_before
    }

    /// The queue at the gap; none if the delays are not known.
    pub(crate) fn queue(&self) -> Option<QueueSeen> {
        self.0.queue
    }
}

/// Replaces each number of a judgement by what `with` gives for it, in one order.
fn exchange(judgement: &mut Judgement, mut with: impl FnMut(u64) -> u64) {
    let mut number = |number: &mut f64| *number = f64::from_bits(with(number.to_bits()));
    judgement.probability.iter_mut().for_each(&mut number);
    let Reason::Measured(evidence) = &mut judgement.reason else { return };
    evidence.clues.iter_mut().flatten().for_each(|clue| number(&mut clue.reading));
    let limits = evidence.limits.iter_mut().flatten().map(|limit| &mut limit.at);
    for amount in limits.chain([&mut evidence.value]) {
        match amount {
            Amount::Time(span) => {
                *span = Span::from_nanos(with(span.as_nanos().cast_unsigned()).cast_signed());
            }
            Amount::Number(of_unit, _) => *of_unit = f64::from_bits(with(of_unit.to_bits())),
            // Of a kind that is not known here, the number stays among the words.
            _ => {}
        }
    }
    if let Some(lost) = &mut evidence.lost {
        *lost = with((*lost).into()) as u32;
    }
}

#[cfg(test)]
mod tests {
    use losscause::verdict::{Clue, Input};
    use losscause::{Evidence, Signal, Verdict};

    use super::*;

    /// Of each kind, with numbers that depend on `k`.
    fn judgements(k: i64) -> Vec<Judgement> {
        let clue = Clue { what: "jitter of", reading: -0.5 * k as f64, unit: " ms" };
        let spacing = Evidence::new("mBiaz", "inter-arrival time", Span::from_nanos(-k))
            .held_against("wireless from", Span::from_nanos(i64::MAX - k))
            .held_against("wireless below", Amount::packets(k as f64))
            .for_gap_of(u32::MAX - k as u32)
            .beside([Some(clue), None]);
        let mut likely = Judgement::measured(Verdict::Wireless, spacing);
        likely.probability = Some(1.0 / (k + 3) as f64);
        vec![
            likely,
            Judgement::without(Input::Delay),
            Judgement::stated(Verdict::Congestion, "mine", "no reason given"),
            Judgement::signalled(Signal::Timeout),
        ]
    }

    #[test]
    fn what_was_said_comes_back_whole_and_its_words_are_there_once() {
        let words = Words::default();
        let said: Vec<Opinions> =
            (0..50).map(|k| words.opinions(judgements(k).into_iter(), [None; 2], None)).collect();
        for (k, opinions) in said.iter().enumerate() {
            let expected = judgements(k as i64);
            assert!(opinions.iter().eq(expected.iter().copied()), "{k}");
            assert!(
                opinions.words().zip(expected).all(|(words, one)| words.verdict == one.verdict)
            );
            assert!(Arc::ptr_eq(&opinions.0.words[0], &said[0].0.words[0]), "{k}");
            assert_eq!(opinions.0.numbers.len(), 6, "probability, clue, limits, value, lost");
        }
    }
}
