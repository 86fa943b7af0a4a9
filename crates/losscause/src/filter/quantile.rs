//! A running quantile in constant memory: the P² algorithm.
//!
//! Five markers hold the smallest and largest value, the quantile q, and the quantiles halfway
//! between. Each value advances each marker's desired rank. A marker at least one rank off moves by
//! one rank: along the parabola through its neighbours' heights, or along a straight line if the
//! parabola would break their order.
//!
//! Source: Jain & Chlamtac 1985, "The P² algorithm for dynamic calculation of quantiles and
//! histograms without storing observations", Communications of the ACM 28(10), boxes 1 and 2.
//!
//! Deviations: none. Until there are five values, the result is the smallest one.

use crate::Span;

/// A quantile of the positive spans seen so far.
#[derive(Clone, Copy, Debug)]
pub struct Quantile {
    q: f64,
    count: u32,
    /// Heights of the markers, nanoseconds; before the fifth value, the sorted values.
    heights: [f64; MARKERS],
    /// Ranks of the markers, from 1.
    ranks: [f64; MARKERS],
    /// The desired ranks.
    wanted: [f64; MARKERS],
}

const MARKERS: usize = 5;

impl Quantile {
    /// The quantile `q`, above 0 and below 1.
    pub fn new(q: f64) -> Self {
        Self {
            q,
            count: 0,
            heights: [0.0; MARKERS],
            ranks: [1.0, 2.0, 3.0, 4.0, 5.0],
            wanted: [1.0, 1.0 + 2.0 * q, 1.0 + 4.0 * q, 3.0 + 2.0 * q, 5.0],
        }
    }

    /// Observes a span. Ignores spans that are not positive.
    pub fn observe(&mut self, span: Span) {
        if span <= Span::ZERO {
            return;
        }
        let value = span.as_nanos() as f64;
        if (self.count as usize) < MARKERS {
            let count = self.count as usize;
            let at =
                self.heights[..count].iter().position(|height| value < *height).unwrap_or(count);
            self.heights.copy_within(at..count, at + 1);
            self.heights[at] = value;
            self.count += 1;
            return;
        }
        self.count = self.count.saturating_add(1);
        // The cell of the value; a new extreme moves the outer marker.
        let [lowest, .., highest] = &mut self.heights;
        *lowest = lowest.min(value);
        *highest = highest.max(value);
        let cell = (1..MARKERS - 1).find(|&i| value < self.heights[i]).unwrap_or(MARKERS - 1);
        self.ranks[cell..].iter_mut().for_each(|rank| *rank += 1.0);
        let steps = [0.0, self.q / 2.0, self.q, (1.0 + self.q) / 2.0, 1.0];
        self.wanted.iter_mut().zip(steps).for_each(|(wanted, step)| *wanted += step);
        for i in 1..MARKERS - 1 {
            self.adjust(i);
        }
    }

    /// Moves marker `i` by one rank if it is at least one off and has room.
    fn adjust(&mut self, i: usize) {
        let off = self.wanted[i] - self.ranks[i];
        let below = self.ranks[i - 1] - self.ranks[i];
        let above = self.ranks[i + 1] - self.ranks[i];
        let step = if off >= 1.0 && above > 1.0 {
            1.0
        } else if off <= -1.0 && below < -1.0 {
            -1.0
        } else {
            return;
        };
        // Box 2: the piecewise-parabolic formula, and the linear one where it would break the
        // order.
        let h = &self.heights;
        let n = &self.ranks;
        let parabolic = h[i]
            + step / (n[i + 1] - n[i - 1])
                * ((n[i] - n[i - 1] + step) * (h[i + 1] - h[i]) / (n[i + 1] - n[i])
                    + (n[i + 1] - n[i] - step) * (h[i] - h[i - 1]) / (n[i] - n[i - 1]));
        self.heights[i] = if h[i - 1] < parabolic && parabolic < h[i + 1] {
            parabolic
        } else {
            let neighbour = if step > 0.0 { i + 1 } else { i - 1 };
            h[i] + step * (h[neighbour] - h[i]) / (n[neighbour] - n[i])
        };
        self.ranks[i] += step;
    }

    /// The quantile; `None` before the first value.
    pub fn get(&self) -> Option<Span> {
        let height = match self.count as usize {
            0 => return None,
            1..MARKERS => self.heights[0],
            _ => self.heights[2],
        };
        Some(Span::from_nanos(height as i64).max(Span::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_comes_out() {
        // Jain & Chlamtac 1985, table I: the estimate of the median after these 20 values is 4.44.
        let values = [
            0.02, 0.15, 0.74, 3.39, 0.83, 22.37, 10.15, 15.43, 38.62, 15.92, 34.60, 10.28, 1.47,
            0.40, 0.05, 11.39, 0.27, 0.42, 0.09, 11.37,
        ];
        let mut median = Quantile::new(0.5);
        values.iter().for_each(|value| median.observe(Span::from_secs_f64_rounded(*value)));
        let seconds = median.get().expect("fed").as_secs_f64();
        assert!((seconds - 4.44).abs() < 0.005, "{seconds}");
    }

    /// Evenly spread values from 10 to 20 ms; every `batch`-th is a microsecond.
    fn fed(q: f64, batch: u32) -> f64 {
        let mut quantile = Quantile::new(q);
        let mut state = 7_u64;
        for i in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let draw = Span::from_micros(10_000 + (((state >> 32) * 10_000) >> 32) as i64);
            quantile.observe(if i % batch == 0 { Span::from_micros(1) } else { draw });
        }
        quantile.get().expect("fed").as_millis_f64()
    }

    #[test]
    fn a_low_quantile_passes_over_the_few_intervals_that_collapsed() {
        // 1 % collapsed: the fifth hundredth lies 4/99 of the way from 10 to 20 ms.
        assert!((fed(0.05, 100) - 10.404).abs() < 0.1, "{}", fed(0.05, 100));
        // A tenth collapsed: more than a twentieth, so the quantile collapses too.
        assert!(fed(0.05, 10) < 1.0, "{}", fed(0.05, 10));
    }

    #[test]
    fn first_values_give_the_smallest_and_only_positive_ones_count() {
        let mut quantile = Quantile::new(0.1);
        assert_eq!(quantile.get(), None);
        for (ms, smallest) in
            [(0, None), (30, Some(30)), (20, Some(20)), (-5, Some(20)), (40, Some(20))]
        {
            quantile.observe(Span::from_millis(ms));
            assert_eq!(quantile.get(), smallest.map(Span::from_millis));
        }
    }
}
