//! A histogram of spans of time with the same relative accuracy everywhere: each power of two is
//! divided into 32 equal buckets, so a quantile is at most 1/32 too high.

use losscause::Span;
use serde::Serialize;

/// Counts of spans.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    worst_ns: u64,
}

/// Buckets per power of two.
const STEPS: u64 = 32;

impl Histogram {
    /// Adds a span; a negative one counts as zero.
    pub fn add(&mut self, span: Span) {
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(0);
        let bucket = bucket_of(nanos);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.worst_ns = self.worst_ns.max(nanos);
    }

    /// Adds the spans of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, others) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += others;
        }
        self.count += other.count;
        self.worst_ns = self.worst_ns.max(other.worst_ns);
    }

    /// How many spans it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least span that a share of all spans, 0 to 1, does not exceed; none without spans.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let needed = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= needed
        })?;
        Some(Span::from_nanos(last_of(bucket).min(self.worst_ns) as i64))
    }

    /// The longest span; none without spans.
    pub fn worst(&self) -> Option<Span> {
        (self.count > 0).then_some(Span::from_nanos(self.worst_ns as i64))
    }

    /// The usual quantiles.
    pub fn quantiles(&self) -> Quantiles {
        let ms = |span: Option<Span>| span.map(|span| span.as_nanos() as f64 / 1e6);
        Quantiles {
            count: self.count,
            p50_ms: ms(self.quantile(0.5)),
            p95_ms: ms(self.quantile(0.95)),
            p99_ms: ms(self.quantile(0.99)),
            worst_ms: ms(self.worst()),
        }
    }
}

/// Quantiles of spans, milliseconds; none without spans.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many spans there are.
    pub count: u64,
    /// Half of them take at most this long.
    pub p50_ms: Option<f64>,
    /// 95 % of them take at most this long.
    pub p95_ms: Option<f64>,
    /// 99 % of them take at most this long.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub worst_ms: Option<f64>,
}

/// The first 32 buckets hold a nanosecond each.
fn bucket_of(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - STEPS.ilog2();
    (u64::from(shift) * STEPS + (nanos >> shift)) as usize
}

/// The longest span of a bucket, nanoseconds.
fn last_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    ((bucket % STEPS + STEPS + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: impl IntoIterator<Item = i64>) -> Histogram {
        let mut histogram = Histogram::default();
        nanos.into_iter().for_each(|nanos| histogram.add(Span::from_nanos(nanos)));
        histogram
    }

    #[test]
    fn every_span_is_in_a_bucket_that_ends_within_a_32nd_above_it() {
        for nanos in (0..200).chain([1_000, 4_095, 4_096, 123_456_789, u64::MAX / 2]) {
            let last = last_of(bucket_of(nanos));
            assert!(last >= nanos && last - nanos <= nanos / 32, "{nanos}: {last}");
            assert!(
                bucket_of(last) == bucket_of(nanos) && bucket_of(last + 1) == bucket_of(nanos) + 1,
                "{nanos}"
            );
        }
    }

    #[test]
    fn quantiles_are_spans_that_a_share_does_not_exceed() {
        let histogram = of(1..=20);
        let at = |share| histogram.quantile(share).map(Span::as_nanos);
        assert_eq!([0.0, 0.5, 0.95, 1.0].map(at), [1, 10, 19, 20].map(Some));
        assert_eq!(histogram.worst(), Some(Span::from_nanos(20)));
        // 1 ms lies between 999,424 and 1,015,807 ns; nothing is above the worst.
        let histogram = of([1_000_000, 1_000_000, 1_000_000, 3_000_000]);
        assert_eq!(histogram.quantile(0.5), Some(Span::from_nanos(1_015_807)));
        assert_eq!(histogram.quantile(0.99), Some(Span::from_nanos(3_000_000)));
    }

    #[test]
    fn merged_histograms_hold_the_spans_of_both() {
        for (own, others) in [(1..=10, 11..=20), (11..=20, 1..=10)] {
            let mut merged = of(own);
            merged.merge(&of(others));
            assert_eq!(merged.quantiles(), of(1..=20).quantiles());
        }
    }

    #[test]
    fn no_spans_have_no_quantiles_and_a_negative_span_is_zero() {
        assert_eq!((of([]).quantile(0.5), of([]).worst()), (None, None));
        assert_eq!(of([-5]).quantile(0.5), Some(Span::ZERO));
    }
}
