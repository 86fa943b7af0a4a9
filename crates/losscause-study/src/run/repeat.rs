//! The same experiment with several seeds.

use super::run;
use crate::parallel::{self, Jobs};
use crate::{Experiment, Measurements, RunError};

/// Runs `experiment` with the seeds `seed`, `seed + 1`, …, and returns the measurements in that order, for any number of
/// threads. `done(n)` is called after the n-th run.
///
/// # Errors
/// As [`run()`].
pub fn repeat(
    experiment: &Experiment,
    seed: u64,
    runs: u32,
    jobs: Jobs,
    done: impl FnMut(usize),
) -> Result<Vec<Measurements>, RunError> {
    let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| seed.wrapping_add(run)).collect();
    parallel::map(&seeds, jobs, |seed| run(experiment, *seed), done).into_iter().collect()
}
