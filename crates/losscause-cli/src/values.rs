//! Values of options. Each wrong one is refused with what was expected, before anything else is done.

use losscause_study::{Jobs, Limits};

/// A number of threads.
pub(crate) fn jobs(text: &str) -> Result<Jobs, String> {
    let jobs = text.parse().ok().and_then(|count| Jobs::new(count).ok());
    jobs.ok_or_else(|| "expected 1 or more threads".to_owned())
}

/// A number of runs.
pub(crate) fn runs(text: &str) -> Result<u32, String> {
    let runs = text.parse().ok().filter(|runs| (1..=Limits::RUNS).contains(runs));
    runs.ok_or_else(|| format!("expected a whole number from 1 to {}", Limits::RUNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_threads_and_no_runs_are_refused() {
        assert_eq!(jobs("2"), Ok(Jobs::new(2).unwrap()));
        assert_eq!(runs("1"), Ok(1));
        for wrong in ["0", "-1", "abc", "1.5", ""] {
            assert!(jobs(wrong).is_err() && runs(wrong).is_err(), "{wrong}");
        }
    }
}
