//! One experiment, one seed, one set of measurements.

use crate::{Experiment, Measurements, RunError};

/// Runs `experiment` with `seed`. A pure function: the same arguments give the same measurements. Repetition `k` of an
/// item, counted from 0, uses the user's seed plus `k`.
///
/// # Errors
/// None of the simulation itself today; the type leaves room for it.
pub fn run(experiment: &Experiment, seed: u64) -> Result<Measurements, RunError> {
    let _ = (experiment, seed);
    unimplemented!()
}
