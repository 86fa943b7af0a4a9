//! Loss intervals and their weighted average (RFC 5348, sections 5.3 to 5.5).
//!
//! A loss interval is the number of packets from the first packet of one loss event up to the first
//! of the next. The open interval I_0 reaches from the last event to the newest packet. With
//! weights w and discounts d
//!
//! ```text
//! w   = 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2                                 newest first
//! A_0 = sum(i = 0..k-1) w_i f_i I_i / sum(w_i f_i)     f_0 = 1, f_i = D d_i: open interval included
//! A_1 = sum(i = 1..k) w_(i-1) d_i I_i / sum(w_(i-1) d_i)               open interval left out
//! p   = 1 / max(A_0, A_1)
//! ```
//!
//! k is the number of closed intervals, at most 8. A_0 leaves the oldest out, so that after the
//! first loss event the open interval is compared with the one before it. ns-2.35 leaves the oldest
//! out only when there are eight ([`FewIntervals`]).
//!
//! While I_0 > 2 A_1 the discount D is 2 A_1 / I_0, but not below its floor ([`Discounting`]). When
//! the interval closes, the intervals older than it keep D.
//!
//! Readings and deviations:
//! - Section 5.5 lets its sums run over n intervals, section 5.4 over those there are. Section 5.5
//!   is read like 5.4.
//! - The RFC computes D with every packet. Here D is computed for each report and when the interval
//!   closes, then for the interval's final length. The RFC's last D before the close includes the
//!   packets that revealed the loss, three more by default.
//! - p is at most 1.

use super::quirks::{Discounting, FewIntervals};

/// w_0 to w_7 (RFC 5348, section 5.4; the same in ns-2.35).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The last eight closed loss intervals and the open one.
#[derive(Clone, Debug)]
pub(super) struct LossHistory {
    few_intervals: FewIntervals,
    discounting: Discounting,
    /// Closed intervals, newest first; `closed[0]` is I_1.
    closed: [Closed; 8],
    /// The number of closed intervals; zero before the first loss event.
    len: usize,
    /// Position of the first packet of the open interval.
    open_from: u64,
    /// D for the open interval.
    discount: f64,
    /// A_1, which changes only when the open interval closes.
    closed_average: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Closed {
    /// Packets.
    length: f64,
    /// d_i.
    discount: f64,
}

impl LossHistory {
    /// An empty history; see [`super::Quirks`] for the settings.
    pub(super) fn new(few_intervals: FewIntervals, discounting: Discounting) -> Self {
        Self {
            few_intervals,
            discounting,
            closed: [Closed::default(); 8],
            len: 0,
            open_from: 0,
            discount: 1.0,
            closed_average: 0.0,
        }
    }

    /// Whether there was no loss event yet.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first loss event. The interval before it is given as `before` packets, at least 1, and
    /// not counted (RFC 5348, section 6.3.1). The open interval begins at position `open_from`.
    pub(super) fn first_event(&mut self, before: f64, open_from: u64) {
        self.closed[0] = Closed { length: before, discount: 1.0 };
        self.len = 1;
        self.open(open_from);
    }

    /// A further loss event closes the open interval; the new one begins at position `open_from`.
    pub(super) fn next_event(&mut self, open_from: u64) {
        if self.discounting.at_loss() {
            self.update_discount(self.open_length(open_from.saturating_sub(1)));
        }
        // The closed interval keeps its full weight; the older ones keep the discount it caused.
        for closed in &mut self.closed[..self.len] {
            closed.discount *= self.discount;
        }
        self.closed.copy_within(..7, 1);
        self.closed[0] =
            Closed { length: open_from.saturating_sub(self.open_from) as f64, discount: 1.0 };
        self.len = (self.len + 1).min(8);
        self.open(open_from);
    }

    /// An interval was closed, and the next one begins at position `open_from`.
    fn open(&mut self, open_from: u64) {
        self.open_from = open_from;
        self.discount = 1.0;
        self.closed_average = self.average(None);
    }

    /// The loss event rate p, 0 to 1, with `newest` the position of the newest packet; 0 before the
    /// first loss event.
    pub(super) fn loss_event_rate(&mut self, newest: u64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let open = self.open_length(newest);
        self.update_discount(open);
        let with_open = self.average(Some(open));
        1.0 / with_open.max(self.closed_average).max(1.0)
    }

    /// The closed intervals, newest first, in packets.
    #[cfg(test)]
    pub(super) fn closed_lengths(&self) -> impl Iterator<Item = f64> {
        self.closed[..self.len].iter().map(|closed| closed.length)
    }

    fn open_length(&self, newest: u64) -> f64 {
        newest.saturating_add(1).saturating_sub(self.open_from) as f64
    }

    /// A_0 if `open` is I_0, else A_1.
    fn average(&self, open: Option<f64>) -> f64 {
        let mut total = 0.0;
        let mut weight = 0.0;
        let mut add = |w: f64, interval: f64| {
            total += w * interval;
            weight += w;
        };
        let (skip, discount, count) = match open {
            Some(open) => {
                add(WEIGHTS[0], open);
                let left_out = usize::from(self.few_intervals == FewIntervals::WithoutOldest);
                (1, self.discount, self.len - left_out)
            }
            None => (0, 1.0, self.len),
        };
        for (closed, w) in self.closed[..count].iter().zip(&WEIGHTS[skip..]) {
            add(w * discount * closed.discount, closed.length);
        }
        total / weight
    }

    /// Computes D for an open interval of `open` packets. D only falls until the interval closes.
    fn update_discount(&mut self, open: f64) {
        let twice = 2.0 * self.closed_average;
        if open > twice {
            self.discount = (twice / open).max(self.discounting.floor());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn history(discounting: Discounting) -> LossHistory {
        LossHistory::new(FewIntervals::WithoutOldest, discounting)
    }

    /// A history with these closed intervals, oldest first; the open one begins at packet 0.
    fn with(intervals: &[u64], discounting: Discounting) -> LossHistory {
        let mut history = history(discounting);
        let total: u64 = intervals.iter().sum();
        let mut at = intervals[0];
        history.first_event(intervals[0] as f64, at);
        for interval in &intervals[1..] {
            at += interval;
            history.next_event(at);
        }
        assert_eq!(at, total);
        history.open_from -= total;
        history
    }

    fn interval(p: f64) -> f64 {
        1.0 / p
    }

    fn assert_near(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn without_a_loss_event_nothing_is_lost() {
        assert_eq!(history(Discounting::Rfc5348).loss_event_rate(1_000_000), 0.0);
    }

    #[test]
    fn the_newest_four_of_eight_intervals_weigh_fully_others_less() {
        // Oldest first 80, 70, ..., 10. Sum of weights 6;
        // 10 + 20 + 30 + 40 + 0.8*50 + 0.6*60 + 0.4*70 + 0.2*80 = 220.
        let mut history = with(&[80, 70, 60, 50, 40, 30, 20, 10], Discounting::Off);
        assert_near(interval(history.loss_event_rate(0)), 220.0 / 6.0);
    }

    #[test]
    fn a_ninth_interval_pushes_the_oldest_out() {
        let mut history = with(&[100_000, 80, 70, 60, 50, 40, 30, 20, 10], Discounting::Off);
        assert_near(interval(history.loss_event_rate(0)), 220.0 / 6.0);
    }

    #[test]
    fn fewer_intervals_share_the_weights_they_have() {
        let mut history = with(&[30, 10], Discounting::Off);
        assert_near(interval(history.loss_event_rate(0)), 20.0);
    }

    #[test]
    fn the_open_interval_counts_only_where_it_raises_the_average() {
        // Newest first 10, 40. Packets 0..=69 are 70: (70 + 10) / 2 = 40 against (10 + 40) / 2 =
        // 25.
        let mut history = with(&[40, 10], Discounting::Off);
        assert_near(interval(history.loss_event_rate(9)), 25.0);
        assert_near(interval(history.loss_event_rate(39)), 25.0);
        assert_near(interval(history.loss_event_rate(69)), 40.0);
    }

    #[test]
    fn after_the_first_loss_event_the_longer_interval_rules() {
        let mut history = with(&[30], Discounting::Off);
        assert_near(interval(history.loss_event_rate(28)), 30.0);
        assert_near(interval(history.loss_event_rate(59)), 60.0);
    }

    #[test]
    fn ns2_leaves_the_oldest_interval_out_only_when_it_has_eight() {
        // (70 + 10 + 40) / 3 = 40; with eight of 10 and an open one of 58 both rules leave one out:
        // (58 + 10*(3 + 0.8 + 0.6 + 0.4 + 0.2)) / 6 = 18.
        let all = |intervals: &[u64]| {
            let mut history = with(intervals, Discounting::Off);
            history.few_intervals = FewIntervals::All;
            history
        };
        assert_near(interval(all(&[40, 10]).loss_event_rate(69)), 40.0);
        assert_near(interval(all(&[70, 10]).loss_event_rate(69)), 50.0);
        assert_near(interval(with(&[70, 10], Discounting::Off).loss_event_rate(69)), 40.0);
        assert_near(interval(all(&[10; 8]).loss_event_rate(57)), 18.0);
        assert_near(interval(with(&[10; 8], Discounting::Off).loss_event_rate(57)), 18.0);
    }

    #[test]
    fn an_open_interval_over_twice_the_average_discounts_the_others() {
        // Newest first 10, 30: average 20. Open 80: D = 2*20/80 = 0.5; (80 + 0.5*10) / (1 + 0.5).
        let mut history = with(&[30, 10], Discounting::Rfc5348);
        assert_near(interval(history.loss_event_rate(79)), 85.0 / 1.5);
        // Open 400: D = 0.1, held to 0.25: (400 + 0.25*10) / 1.25; held to 0.5: (400 + 0.5*10) /
        // 1.5.
        assert_near(interval(history.loss_event_rate(399)), 402.5 / 1.25);
        let mut ns2 = with(&[30, 10], Discounting::Ns2);
        assert_near(interval(ns2.loss_event_rate(399)), 270.0);
    }

    #[test]
    fn a_closed_long_interval_keeps_the_older_ones_discounted() {
        // As above; then a loss event at packet 80 closes 80 with D = 0.5: A_1 = (80 + 0.5*10 +
        // 0.5*30) / 2 = 50.
        let mut history = with(&[30, 10], Discounting::Rfc5348);
        history.loss_event_rate(79);
        history.next_event(80);
        assert_near(interval(history.loss_event_rate(80)), 50.0);
        // One more of 50: (50 + 80 + 0.5*10 + 0.5*30) / 3 = 50: the discount is not applied twice.
        history.next_event(130);
        assert_near(interval(history.loss_event_rate(130)), 50.0);
    }

    #[test]
    fn ns2_discounts_only_as_far_as_its_last_report_saw() {
        let mut unseen = with(&[30, 10], Discounting::Ns2);
        unseen.next_event(80);
        assert_near(interval(unseen.loss_event_rate(80)), (80.0 + 10.0 + 30.0) / 3.0);
        let mut seen = with(&[30, 10], Discounting::Rfc5348);
        seen.next_event(80);
        assert_near(interval(seen.loss_event_rate(80)), 50.0);
    }

    proptest! {
        #[test]
        fn the_loss_event_rate_is_in_zero_to_one_and_falls_without_loss(
            intervals in prop::collection::vec(0..10_000u64, 1..20),
            more in prop::collection::vec(0..5_000u64, 1..10),
            discounting in prop::sample::select(vec![Discounting::Off, Discounting::Rfc5348, Discounting::Ns2]),
        ) {
            let mut history = history(discounting);
            let mut at = 1;
            history.first_event(intervals[0].max(1) as f64, at);
            for interval in &intervals[1..] {
                at += interval;
                history.next_event(at);
            }
            let mut last = 1.0;
            for step in more {
                at += step;
                let p = history.loss_event_rate(at);
                prop_assert!(p > 0.0 && p <= 1.0, "{p}");
                prop_assert!(p <= last * (1.0 + 1e-9), "{p} after {last}");
                last = p;
            }
        }
    }
}
