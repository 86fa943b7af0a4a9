//! A flow over time, thinned while it is read to as many steps as a drawing can show.
//!
//! A step keeps the extremes of its values, so that no peak is lost. The first packets make steps
//! of a millisecond; when time goes beyond the last step, steps become twice as long and every two
//! of them one. So a flow of any length has at most [`MOST_STEPS`] of them, and only those in which
//! something happened take memory. All flows together share a [`Budget`]: once it is spent, a flow
//! that wants another step makes its own longer instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use losscause::{Span, Time};

/// Steps of one series: about the width of a drawing, pixels.
const MOST_STEPS: u64 = 1_024;
/// Steps that a series may always have.
const FEWEST_STEPS: usize = 32;
/// Steps of all series together, about 40 MB.
const MOST_TOGETHER: usize = 2_000_000;
/// The length of the first steps is 2 to this power, nanoseconds.
const FIRST_SHIFT: u32 = 20;

/// The steps that all series of an analysis may have together.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    used: Arc<AtomicUsize>,
    most: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { used: Arc::default(), most: MOST_TOGETHER }
    }
}

impl Budget {
    fn is_spent(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.most
    }

    fn take(&self, steps: usize) {
        self.used.fetch_add(steps, Ordering::Relaxed);
    }

    fn give_back(&self, steps: usize) {
        self.used.fetch_sub(steps, Ordering::Relaxed);
    }
}

/// Values that several steps have become one of.
pub(crate) trait Merge: Copy {
    fn merge(&mut self, other: Self);
}

/// Values over time.
#[derive(Debug)]
pub(crate) struct Steps<T> {
    budget: Budget,
    begun: Option<Time>,
    /// The length of a step is 2 to this power, nanoseconds.
    shift: u32,
    /// By the number of the step, in order.
    steps: Vec<(u32, T)>,
}

impl<T: Merge> Steps<T> {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), begun: None, shift: FIRST_SHIFT, steps: Vec::new() }
    }

    /// Adds a value. What is before the first value belongs to the first step.
    pub(crate) fn take(&mut self, at: Time, value: T) {
        let begun = *self.begun.get_or_insert(at);
        let after = (at - begun).as_nanos().max(0).unsigned_abs();
        while after >> self.shift >= MOST_STEPS {
            self.double();
        }
        let is_new = |steps: &Self| {
            steps.steps.last().is_none_or(|last| u64::from(last.0) < after >> steps.shift)
        };
        while is_new(self) && self.steps.len() >= FEWEST_STEPS && self.budget.is_spent() {
            self.double();
        }
        // Fits: it is below MOST_STEPS.
        let number = (after >> self.shift) as u32;
        match self.steps.last_mut() {
            Some((last, own)) if *last == number => own.merge(value),
            Some((last, _)) if *last > number => self.take_early(number, value),
            _ => self.insert(self.steps.len(), number, value),
        }
    }

    /// A value that comes behind a later one.
    #[cold]
    fn take_early(&mut self, number: u32, value: T) {
        match self.steps.binary_search_by_key(&number, |step| step.0) {
            Ok(place) => self.steps[place].1.merge(value),
            Err(place) => self.insert(place, number, value),
        }
    }

    fn insert(&mut self, place: usize, number: u32, value: T) {
        self.budget.take(1);
        self.steps.insert(place, (number, value));
    }

    /// Makes steps twice as long.
    #[cold]
    fn double(&mut self) {
        self.shift += 1;
        let before = self.steps.len();
        self.steps.iter_mut().for_each(|step| step.0 /= 2);
        self.steps.dedup_by(|later, earlier| {
            let is_one = later.0 == earlier.0;
            if is_one {
                earlier.1.merge(later.1);
            }
            is_one
        });
        self.budget.give_back(before - self.steps.len());
    }

    /// The length of a step.
    pub(crate) fn length(&self) -> Span {
        Span::from_nanos(1_i64.checked_shl(self.shift).unwrap_or(i64::MAX))
    }

    /// The beginning of every step in which something happened, and its values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, T)> + '_ {
        let begun = self.begun.unwrap_or(Time::ZERO);
        self.steps
            .iter()
            .map(move |&(number, value)| (begun + self.length() * i64::from(number), value))
    }
}

impl<T> Drop for Steps<T> {
    fn drop(&mut self) {
        self.budget.give_back(self.steps.len());
    }
}

/// The smallest and the largest of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) least: f32,
    pub(crate) most: f32,
}

impl From<f64> for Extremes {
    fn from(value: f64) -> Self {
        Self { least: value as f32, most: value as f32 }
    }
}

impl Merge for Extremes {
    fn merge(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }
}

/// Data that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passed {
    pub(crate) bytes: f32,
    /// Sequence numbers, from the flow's first one on.
    pub(crate) seq: Extremes,
}

impl Merge for Passed {
    fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.seq.merge(other.seq);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP_NS: i64 = 1 << FIRST_SHIFT;

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn pairs(steps: &Steps<Extremes>) -> Vec<(i64, f32, f32)> {
        steps.iter().map(|(at, value)| (at.as_nanos(), value.least, value.most)).collect()
    }

    #[test]
    fn a_step_keeps_its_extremes_and_silence_takes_no_memory() {
        let mut steps = Steps::new(&Budget::default());
        for (nanos, value) in [(500, 3.0), (600, 1.0), (STEP_NS, 7.0), (40 * STEP_NS + 500, 5.0)] {
            steps.take(at(nanos), Extremes::from(value));
        }
        // The first value begins the first step; the third is 500 ns short of the second step.
        assert_eq!(pairs(&steps), [(500, 1.0, 7.0), (500 + 40 * STEP_NS, 5.0, 5.0)]);
    }

    #[test]
    fn steps_double_when_time_goes_beyond_the_last_one() {
        let mut steps = Steps::new(&Budget::default());
        (0..1_024).for_each(|k| steps.take(at(k * STEP_NS), Extremes::from(k as f64)));
        assert_eq!(steps.steps.len(), 1_024);
        steps.take(at(1_024 * STEP_NS), Extremes::from(-1.0));
        assert_eq!((steps.steps.len(), steps.length().as_nanos()), (513, 2 * STEP_NS));
        assert_eq!(pairs(&steps)[..2], [(0, 0.0, 1.0), (2 * STEP_NS, 2.0, 3.0)]);
        assert_eq!(pairs(&steps)[512], (1_024 * STEP_NS, -1.0, -1.0));
    }

    #[test]
    fn flows_that_have_spent_the_budget_make_their_steps_longer() {
        let budget = Budget { most: 100, ..Budget::default() };
        let mut flows: Vec<Steps<Extremes>> = (0..20).map(|_| Steps::new(&budget)).collect();
        for k in 0..1_000 {
            flows.iter_mut().for_each(|flow| flow.take(at(k * STEP_NS), Extremes::from(1.0)));
        }
        assert!(flows.iter().all(|flow| flow.steps.len() <= FEWEST_STEPS.max(100)));
        drop(flows);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }

    proptest! {
        #[test]
        fn steps_stay_few_and_hold_every_byte_in_any_order(
            times in proptest::collection::vec(any::<i64>(), 1..300),
        ) {
            let budget = Budget::default();
            let mut steps = Steps::new(&budget);
            let passed = Passed { bytes: 1.0, seq: Extremes::from(0.0) };
            // Half of the range: farther apart no two times of a capture are.
            times.iter().for_each(|&nanos| steps.take(at(nanos / 2), passed));
            prop_assert!(steps.steps.len() as u64 <= MOST_STEPS && steps.steps.is_sorted_by(|a, b| a.0 < b.0));
            let bytes: f32 = steps.iter().map(|(_, passed)| passed.bytes).sum();
            prop_assert_eq!(bytes, times.len() as f32);
            prop_assert_eq!(budget.used.load(Ordering::Relaxed), steps.steps.len());
        }
    }
}
