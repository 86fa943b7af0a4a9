//! Values over time, thinned to as many steps as a drawing can show. Of a step with several values
//! the first, the smallest, the largest and the last are kept, so that no peak is lost.

use losscause::Time;

/// Values over time in steps of equal length.
#[derive(Clone, Debug)]
pub struct Series {
    step_s: f64,
    steps: Vec<Option<Step>>,
}

/// The values within one step.
#[derive(Clone, Copy, Debug)]
struct Step {
    first: (Time, f64),
    last: (Time, f64),
    least: f64,
    most: f64,
}

impl Series {
    /// An empty series from zero to `end` in `steps` steps.
    pub(super) fn new(end: Time, steps: usize) -> Self {
        let steps = steps.max(1);
        Self { step_s: (end.as_secs_f64() / steps as f64).max(1e-9), steps: vec![None; steps] }
    }

    /// Adds a value. Values may come in any order; of simultaneous ones the one that comes later is
    /// later.
    pub(super) fn take(&mut self, at: Time, value: f64) {
        let place = ((at.as_secs_f64() / self.step_s) as usize).min(self.steps.len() - 1);
        let here = (at, value);
        let step = self.steps[place].get_or_insert(Step {
            first: here,
            last: here,
            least: value,
            most: value,
        });
        if at < step.first.0 {
            step.first = here;
        }
        if at >= step.last.0 {
            step.last = here;
        }
        step.least = step.least.min(value);
        step.most = step.most.max(value);
    }

    /// Whether it has no value.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(Option::is_none)
    }

    /// Pairs of time, in seconds, and value, in order of time. A step with a single value has it at
    /// its own time; one with more has its first, smallest, largest and last value in its middle.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        for (place, step) in self.steps.iter().enumerate() {
            let Some(step) = step else { continue };
            if step.first.0 == step.last.0 && step.least == step.most {
                points.push((step.first.0.as_secs_f64(), step.first.1));
                continue;
            }
            let middle = (place as f64 + 0.5) * self.step_s;
            let mut values = vec![step.first.1, step.least, step.most, step.last.1];
            values.dedup();
            points.extend(values.into_iter().map(|value| (middle, value)));
        }
        points
    }
}

/// The rate of packets, in intervals of several steps.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    interval_s: f64,
    bits: Vec<f64>,
    end: Time,
}

/// Steps per interval: a rate needs a few packets.
const STEPS_PER_INTERVAL: usize = 6;

impl Rate {
    pub(super) fn new(end: Time, steps: usize) -> Self {
        let intervals = (steps / STEPS_PER_INTERVAL).max(1);
        Self { interval_s: end.as_secs_f64() / intervals as f64, bits: vec![0.0; intervals], end }
    }

    pub(super) fn take(&mut self, at: Time, bytes: u32) {
        let place = ((at.as_secs_f64() / self.interval_s) as usize).min(self.bits.len() - 1);
        self.bits[place] += f64::from(bytes) * 8.0;
    }

    /// The rate in kb/s at the beginning of every interval, where it holds.
    pub(super) fn finish(self) -> Series {
        let mut series = Series::new(self.end, self.bits.len());
        for (place, bits) in self.bits.iter().enumerate() {
            let begin =
                losscause::Span::from_secs_f64_rounded((place as f64 + 0.01) * self.interval_s);
            series.take(Time::ZERO + begin, bits / self.interval_s / 1e3);
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64_rounded(seconds)
    }

    #[test]
    fn a_step_keeps_first_smallest_largest_and_last_in_any_order() {
        let mut series = Series::new(at(10.0), 5);
        for (seconds, value) in
            [(2.5, 4.0), (3.9, 6.0), (2.1, 5.0), (3.0, 9.0), (3.2, 1.0), (8.5, 7.0)]
        {
            series.take(at(seconds), value);
        }
        assert_eq!(series.points(), [(3.0, 5.0), (3.0, 1.0), (3.0, 9.0), (3.0, 6.0), (8.5, 7.0)]);
        assert!(!series.is_empty() && Series::new(at(1.0), 3).is_empty());
    }

    #[test]
    fn what_happens_at_the_end_belongs_to_the_last_step() {
        let mut series = Series::new(at(10.0), 5);
        series.take(at(10.0), 3.0);
        assert_eq!(series.points(), [(10.0, 3.0)]);
    }

    #[test]
    fn a_rate_is_bits_over_an_interval() {
        // Two intervals of 5 s; 1250 bytes in the first are 10 000 bits in 5 s, 2 kb/s.
        let mut rate = Rate::new(at(10.0), 12);
        rate.take(at(1.0), 1000);
        rate.take(at(4.0), 250);
        let values: Vec<f64> = rate.finish().points().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [2.0, 0.0]);
    }
}
