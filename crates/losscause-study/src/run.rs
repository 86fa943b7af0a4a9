//! One experiment, one seed, one set of measurements.

use losscause::Time;
use losscause_sim::{Event, Recorder, Simulation};

use crate::measure::{Window, Windows};
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
    run_watched(experiment, seed, recorder, |_, _| ())
}

/// [`run_recorded`], with the simulated time and the recorder handed to `watch` a hundred times on the way. By then the
/// recorder has all events up to that time, and gets no more of them.
///
/// # Errors
/// As [`run()`].
pub fn run_watched<R: Recorder>(
    experiment: &Experiment,
    seed: u64,
    recorder: &mut R,
    mut watch: impl FnMut(Time, &mut R),
) -> Result<Measurements, RunError> {
    if !experiment.cwnd {
        return simulate(experiment, seed, recorder, watch, |_| None);
    }
    let windows = Windows::new(&experiment.network);
    let mut both = WithWindows { windows, recorder };
    simulate(experiment, seed, &mut both, |now, both| watch(now, both.recorder), |both| Some(&both.windows))
}

/// A recorder beside which TCP's windows are measured.
struct WithWindows<'a, R> {
    windows: Windows,
    recorder: &'a mut R,
}

impl<R: Recorder> Recorder for WithWindows<'_, R> {
    const ON: bool = R::ON;
    const WINDOWS: bool = true;

    fn record(&mut self, event: &Event) {
        self.windows.take(event);
        if R::ON {
            self.recorder.record(event);
        }
    }
}

fn simulate<R: Recorder>(
    experiment: &Experiment,
    seed: u64,
    recorder: &mut R,
    mut watch: impl FnMut(Time, &mut R),
    windows: impl Fn(&R) -> Option<&Windows>,
) -> Result<Measurements, RunError> {
    let mut simulation = Simulation::new(&experiment.network, seed)?;
    let mut advance = |simulation: &mut Simulation, to: Time| {
        let from = simulation.now();
        // Stopping on the way changes nothing: the simulation goes on where it was.
        for step in 1..=STEPS {
            simulation.run_until(from + (to - from) / STEPS * step, recorder);
            watch(simulation.now(), recorder);
        }
        simulation.run_until(to, recorder);
    };
    let (from, to) = experiment.window;
    advance(&mut simulation, from);
    let before = simulation.counters().clone();
    advance(&mut simulation, to);
    let window = Window { from, to, counters: simulation.counters() - &before };
    advance(&mut simulation, experiment.duration);
    Ok(Measurements::of(experiment, &simulation, &window, windows(recorder)))
}

/// Times that a watcher is called in each of the three parts of a run: before, within and after the window.
const STEPS: i64 = 33;
