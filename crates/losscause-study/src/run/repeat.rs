//! The same experiment with several seeds.

use super::run_stopping_at;
use crate::parallel::Workers;
use crate::{Experiment, Limits, Measurements, RunError};

/// Runs `experiment` with the seeds `seed`, `seed + 1`, …, and returns the measurements in that
/// order, for any number of threads. `done(n)` is called after the n-th run. If the workers are
/// told to stop, the runs under way end early.
///
/// # Errors
/// As [`run()`](super::run()); there are too many runs ([`Limits::RUNS`]); or the workers were
/// stopped.
pub fn repeat(
    experiment: &Experiment,
    seed: u64,
    runs: u32,
    jobs: impl Into<Workers>,
    done: impl FnMut(usize),
) -> Result<Vec<Measurements>, RunError> {
    Limits::check_runs(runs)?;
    let workers = jobs.into();
    let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| seed.wrapping_add(run)).collect();
    workers
        .map(&seeds, |seed| run_stopping_at(experiment, *seed, workers.stop()), done)?
        .into_iter()
        .collect()
}
