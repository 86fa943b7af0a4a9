//! Percentiles of times in bounded memory.

use losscause::Span;

/// Counts of times in log-linear bins: 128 bins of equal width per power of two. A bin is at most
/// 1/128 of its times wide, and times are taken as evenly spread within its part between the least
/// and the greatest, so that a percentile differs from the exact one by at most 1/128 = 0.8 % of
/// it. Times below 256 ns are exact, and so is one time for all.
///
/// ```
/// use losscause::Span;
/// use losscause_sim::Histogram;
///
/// let mut trips = Histogram::default();
/// [40, 40, 40, 90].into_iter().for_each(|ms| trips.record(Span::from_millis(ms)));
/// assert_eq!((trips.count(), trips.greatest()), (4, Some(Span::from_millis(90))));
/// let median_ms = trips.quantile_ms(0.5).unwrap();
/// assert!((median_ms - 40.0).abs() < 40.0 / 128.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The number of the first bin in `counts`. Only the range in use is kept.
    first: usize,
    counts: Vec<u64>,
    total: u64,
    sum_nanos: i128,
    /// The least and the greatest time, ns.
    range: Option<(u64, u64)>,
}

/// Bins per power of two, as a power of two.
const BITS: u32 = 7;

impl Histogram {
    /// Counts a time; a negative one counts as zero.
    pub fn record(&mut self, time: Span) {
        let nanos = time.as_nanos().max(0).cast_unsigned();
        self.add(bin(nanos), 1);
        self.sum_nanos += i128::from(nanos);
        self.widen((nanos, nanos));
    }

    /// Counts everything that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        for (place, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add(other.first + place, *count);
        }
        self.sum_nanos += other.sum_nanos;
        if let Some(range) = other.range {
            self.widen(range);
        }
    }

    fn widen(&mut self, (least, greatest): (u64, u64)) {
        let (from, to) = self.range.unwrap_or((least, greatest));
        self.range = Some((from.min(least), to.max(greatest)));
    }

    fn add(&mut self, bin: usize, count: u64) {
        if self.counts.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - bin));
            self.first = bin;
        }
        let place = bin - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += count;
        self.total += count;
    }

    /// The time, ms, that this share (0 to 1) of the counted times does not exceed (nearest rank);
    /// none of nothing.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.total as f64).ceil() as u64).max(1);
        let mut up_to = 0;
        let (place, count) = self.counts.iter().enumerate().find(|(_, count)| {
            up_to += **count;
            up_to >= rank
        })?;
        let (lower, width) = bounds(self.first + place);
        let (least, greatest) = self.range?;
        let from = lower.max(least);
        let to = (lower + width - 1).min(greatest);
        let within = (rank - (up_to - count)) as f64 - 0.5;
        Some((from as f64 + (to - from) as f64 * within / *count as f64) / 1e6)
    }

    /// The same as a time.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        self.quantile_ms(share).map(|ms| Span::from_nanos((ms * 1e6).round() as i64))
    }

    /// The greatest time; none of nothing.
    pub fn greatest(&self) -> Option<Span> {
        self.range.map(|(_, greatest)| Span::from_nanos(greatest.cast_signed()))
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The sum of the counted times, ns.
    pub fn sum_nanos(&self) -> i128 {
        self.sum_nanos
    }
}

/// The number of the bin of a time, ns.
fn bin(nanos: u64) -> usize {
    // From 128 on: the exponent, then the 7 bits after the leading one. Below, the time itself.
    let shift = nanos.max(1).ilog2().saturating_sub(BITS);
    ((u64::from(shift) << BITS) + (nanos >> shift)) as usize
}

/// The lowest time of a bin and how many it holds, ns.
fn bounds(bin: usize) -> (u64, u64) {
    let shift = (bin >> BITS).saturating_sub(1) as u32;
    let mantissa = bin as u64 - (u64::from(shift) << BITS);
    (mantissa << shift, 1 << shift)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nearest_ranks_of_small_times_are_exact() {
        let mut histogram = Histogram::default();
        for nanos in [50, 10, 30, 20, 40] {
            histogram.record(Span::from_nanos(nanos));
        }
        let at = |share| histogram.quantile_ms(share).unwrap() * 1e6;
        // Ranks 1, 3, 5 and 5 of five.
        assert_eq!([0.0, 0.5, 0.95, 1.0].map(|share| at(share).round()), [10.0, 30.0, 50.0, 50.0]);
        assert_eq!((histogram.count(), histogram.sum_nanos()), (5, 150));
        assert_eq!(histogram.greatest(), Some(Span::from_nanos(50)));
        assert_eq!(histogram.quantile(0.5), Some(Span::from_nanos(30)));
        let empty = Histogram::default();
        assert_eq!((empty.quantile(0.5), empty.greatest()), (None, None));
    }

    #[test]
    fn merged_times_have_one_sum() {
        let [mut histogram, mut other] = [Histogram::default(), Histogram::default()];
        histogram.record(Span::from_nanos(50));
        other.record(Span::from_nanos(10));
        histogram.merge(&other);
        assert_eq!((histogram.count(), histogram.sum_nanos()), (2, 60));
    }

    #[test]
    fn a_negative_time_counts_as_zero() {
        let mut histogram = Histogram::default();
        histogram.record(Span::from_nanos(-5));
        assert_eq!(histogram.quantile(0.5), Some(Span::ZERO));
    }

    #[test]
    fn one_time_for_all_is_exact() {
        let mut histogram = Histogram::default();
        (0..5).for_each(|_| histogram.record(Span::from_nanos(10_800_000)));
        assert_eq!([0.0, 0.5, 0.95].map(|share| histogram.quantile_ms(share)), [Some(10.8); 3]);
    }

    proptest! {
        #[test]
        fn a_percentile_is_within_1_128th_of_the_exact_one(
            mut nanos in prop::collection::vec(prop_oneof![0..1000_i64, 0..10_000_000_000_i64], 1..200),
            share in 0.0..1.0_f64,
        ) {
            let mut histogram = Histogram::default();
            let mut other = Histogram::default();
            for (place, nanos) in nanos.iter().enumerate() {
                if place % 3 == 0 { &mut other } else { &mut histogram }.record(Span::from_nanos(*nanos));
            }
            histogram.merge(&other);
            nanos.sort_unstable();
            let rank = ((share * nanos.len() as f64).ceil() as usize).max(1);
            let exact = nanos[rank - 1] as f64;
            let found = histogram.quantile_ms(share).unwrap() * 1e6;
            prop_assert!((found - exact).abs() <= exact / 128.0 + 1e-6, "{found} for {exact}");
            prop_assert!(nanos[0] as f64 - 1e-6 <= found && found <= nanos[nanos.len() - 1] as f64 + 1e-6);
            prop_assert!(histogram.counts.len() < 64 * 128);
        }
    }
}
