//! Means, medians, deviations and confidence intervals; those of means with the feature
//! `estimates`.

#[cfg(feature = "estimates")]
mod estimate;
mod interval;
mod median;

#[cfg(feature = "estimates")]
pub use estimate::{Estimate, student_t_975};
pub use interval::Interval;
pub use median::{Median, median};

/// The arithmetic mean; none of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The smallest of the `sorted` values that at least this share (0 to 1) of them do not exceed; none
/// of nothing.
pub fn nearest_rank(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The sample standard deviation (over N - 1); none below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_ranks_of_ten_values() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        // Ranks 1, 5, 10 (9.5 rounded up) and 10.
        let found = [0.0, 0.5, 0.95, 1.0].map(|share| nearest_rank(&ten, share));
        assert_eq!(found, [Some(1.0), Some(5.0), Some(10.0), Some(10.0)]);
        assert_eq!(nearest_rank(&[], 0.5), None);
    }

    #[test]
    fn a_standard_deviation_worked_by_hand() {
        // 52, 55, 54, 57, 57: mean 55, squares 9 + 0 + 1 + 4 + 4 = 18, s = sqrt(18 / 4) = 2.1213.
        let values = [52.0, 55.0, 54.0, 57.0, 57.0];
        assert_eq!(mean(&values), Some(55.0));
        assert!((standard_deviation(&values).unwrap() - 2.1213).abs() < 0.0001);
        assert_eq!((mean(&[]), standard_deviation(&[1.0])), (None, None));
    }
}
