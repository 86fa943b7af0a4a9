//! Means over runs with their confidence intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::mean;

/// What several runs say about one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean over the runs in which the metric exists; none if it exists in no run (M_c without a
    /// congestion loss).
    pub mean: Option<f64>,
    /// Half-width of Student's 95 % interval for the mean; none below two values.
    pub ci95: Option<f64>,
    /// Runs made, whether or not the metric exists in them.
    pub runs: u32,
}

impl Estimate {
    /// Estimates from one value per run, in any unit; the estimate is in the same unit.
    pub fn from_runs(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut runs = 0;
        let mut present = Vec::new();
        for value in values {
            runs += 1;
            present.extend(value);
        }
        let mean = mean(&present);
        let ci95 = mean.and_then(|mean| half_width_95(&present, mean));
        Self { mean, ci95, runs }
    }
}

impl Estimate {
    /// Estimates the quotient of two means from pairs (x, y) of the same run; runs in which one of
    /// them does not exist are left out. None over a mean of zero. The interval is that of the mean
    /// of x - q y, where q is the quotient, over the mean of y.
    pub fn of_quotient(pairs: impl IntoIterator<Item = (Option<f64>, Option<f64>)>) -> Self {
        let mut runs = 0;
        let mut present = Vec::new();
        for (x, y) in pairs {
            runs += 1;
            present.extend(x.zip(y));
        }
        let of = |part: fn(&(f64, f64)) -> f64| mean(&present.iter().map(part).collect::<Vec<_>>());
        let quotient = of(|pair| pair.0)
            .zip(of(|pair| pair.1))
            .filter(|(_, y)| *y != 0.0)
            .map(|(x, y)| (x / y, y));
        let ci95 = quotient.and_then(|(quotient, below)| {
            let rests: Vec<f64> = present.iter().map(|(x, y)| (x - quotient * y) / below).collect();
            half_width_95(&rests, mean(&rests)?)
        });
        Self { mean: quotient.map(|(quotient, _)| quotient), ci95, runs }
    }

    /// The same of `factor` x + `offset`.
    pub fn scaled(self, factor: f64, offset: f64) -> Self {
        let mean = self.mean.map(|mean| mean * factor + offset);
        Self { mean, ci95: self.ci95.map(|half_width| half_width * factor.abs()), ..self }
    }
}

fn half_width_95(values: &[f64], mean: f64) -> Option<f64> {
    let n = values.len() as f64;
    // Equal values have no spread; summing them may still leave a rounding error behind.
    if values.len() > 1 && values.iter().all(|&v| v == values[0]) {
        return Some(0.0);
    }
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    Some(student_t_975(values.len().checked_sub(1)?)? * error)
}

/// The 0.975 quantile of Student's t: the factor of a two-sided 95 % interval. None for no degree
/// of freedom.
pub fn student_t_975(degrees_of_freedom: usize) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom as f64).ok()?;
    Some(t.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_the_printed_t_table() {
        for (freedom, printed) in
            [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (19, 2.093), (199, 1.972)]
        {
            let t = student_t_975(freedom).unwrap();
            assert!((t - printed).abs() < 0.0005, "{freedom} degrees of freedom: {t}");
        }
        assert_eq!(student_t_975(0), None);
    }

    #[test]
    fn five_runs_worked_by_hand() {
        // 52, 55, 54, 57, 57: mean 55, squares 9 + 0 + 1 + 4 + 4 = 18, s = sqrt(18 / 4), 2.7764 * s
        // / sqrt(5).
        let estimate = Estimate::from_runs([52.0, 55.0, 54.0, 57.0, 57.0].map(Some));
        assert_eq!(estimate.mean, Some(55.0));
        assert!((estimate.ci95.unwrap() - 2.634).abs() < 0.001);
        assert_eq!(estimate.runs, 5);
    }

    #[test]
    fn a_quotient_of_means_worked_by_hand() {
        // Means 6 and 3: quotient 2. Rests (4 - 4) / 3, (8 - 6) / 3, (6 - 8) / 3 = 0, 2/3, -2/3: s
        // = 2/3, 4.3027 s / sqrt(3).
        let pairs = [(4.0, 2.0), (8.0, 3.0), (6.0, 4.0)].map(|(x, y)| (Some(x), Some(y)));
        let estimate = Estimate::of_quotient(pairs.into_iter().chain([(None, Some(7.0))]));
        assert_eq!((estimate.mean, estimate.runs), (Some(2.0), 4));
        assert!((estimate.ci95.unwrap() - 1.6561).abs() < 0.0001, "{estimate:?}");
        let gain = estimate.scaled(100.0, -100.0);
        assert_eq!(gain.mean, Some(100.0));
        assert!((gain.ci95.unwrap() - 165.61).abs() < 0.01);
        assert_eq!(Estimate::of_quotient([(Some(1.0), Some(0.0))]).mean, None);
        // Means 101 and 100; rests -4.9, 1, -1 and 4.9 of 100; Student's quantile for three degrees.
        let pairs = [(86.0, 90.0), (102.0, 100.0), (100.0, 100.0), (116.0, 110.0)];
        let estimate = Estimate::of_quotient(pairs.map(|(x, y)| (Some(x), Some(y))));
        let squares = 2.0 * (0.049_f64.powi(2) + 0.01_f64.powi(2));
        let expected = 3.182_446 * (squares / 3.0 / 4.0).sqrt();
        assert!((estimate.mean.unwrap() - 1.01).abs() < 1e-12);
        assert!((estimate.ci95.unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn pairs_in_one_proportion_leave_no_doubt_at_any_difference() {
        let pairs = [(110.0, 100.0), (220.0, 200.0), (1100.0, 1000.0)];
        let estimate = Estimate::of_quotient(pairs.map(|(x, y)| (Some(x), Some(y))));
        assert!((estimate.mean.unwrap() - 1.1).abs() < 1e-12 && estimate.ci95.unwrap() < 1e-12);
    }

    #[test]
    fn runs_without_a_value_count_as_runs_but_not_as_zeros() {
        let estimate = Estimate::from_runs([None, Some(4.0), None, Some(6.0)]);
        assert_eq!((estimate.mean, estimate.runs), (Some(5.0), 4));
        assert_eq!(Estimate::from_runs([None, None]), Estimate { mean: None, ci95: None, runs: 2 });
    }

    #[test]
    fn one_run_has_no_interval_and_equal_runs_have_a_zero_one() {
        assert_eq!(Estimate::from_runs([Some(0.1)]).ci95, None);
        assert_eq!(Estimate::from_runs([Some(0.1); 3]).ci95, Some(0.0));
    }
}
