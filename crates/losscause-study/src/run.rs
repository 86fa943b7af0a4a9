//! One experiment, one seed, one set of measurements.

use losscause_sim::{Recorder, Simulation};

use crate::measure::Window;
use crate::{Experiment, Measurements, RunError};

/// Runs `experiment` with `seed`. A pure function: the same arguments give the same measurements. Repetition `k` of an
/// item, counted from 0, uses the user's seed plus `k`.
///
/// # Errors
/// The network was changed since [`Scenario::experiment`](crate::Scenario::experiment) made it, and is not valid.
pub fn run(experiment: &Experiment, seed: u64) -> Result<Measurements, RunError> {
    run_recorded(experiment, seed, &mut ())
}

/// [`run()`], with every event handed to `recorder`; the measurements are the same.
///
/// # Errors
/// As [`run()`].
pub fn run_recorded(
    experiment: &Experiment,
    seed: u64,
    recorder: &mut impl Recorder,
) -> Result<Measurements, RunError> {
    let mut simulation = Simulation::new(&experiment.network, seed)?;
    let (from, to) = experiment.window;
    simulation.run_until(from, recorder);
    let before = simulation.counters().clone();
    simulation.run_until(to, recorder);
    let window = Window { from, to, counters: simulation.counters() - &before };
    simulation.run_until(experiment.duration, recorder);
    Ok(Measurements::of(experiment, &simulation, &window))
}
