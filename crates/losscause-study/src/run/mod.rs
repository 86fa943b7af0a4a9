//! One experiment and one seed give one set of measurements: at once ([`run()`]) or step by step
//! ([`Run`]).
//!
//! A run is a pure function: the same experiment and seed give the same measurements, however often
//! it is stopped and measured on the way.

use std::ops::ControlFlow;

use losscause::{End, Span, Time};
use losscause_sim::{
    Counters, Detail, Event, FlowId, FlowReport, LinkSpec, Recorder, Seen, Simulation,
};

use crate::parallel::{Stop, Stopped};
use crate::{Experiment, RunError};

mod answer;
mod measure;
mod misjudged;
mod record;
#[cfg(feature = "estimates")]
mod repeat;
mod result;
mod series;
mod tables;
mod trace;
mod warnings;

pub use measure::{
    ApplicationMeasurements, CompletionTime, FlowMeasurements, LinkMeasurements, Measurements,
    Metric, Percentiles, group, is_of_delays,
};
use measure::{CwndAverages, Delays, State, Window};
pub use misjudged::{Misjudged, UNKNOWN};
pub use record::{
    Boundary, FlowRecord, LossLog, LossRow, LostPacket, MOST_FLOWS, RunRecord, RunRecorder,
    Series as RecordSeries, algorithm_of, bottleneck,
};
#[cfg(feature = "estimates")]
pub use repeat::repeat;
pub use result::{JUDGED_BY, MetricEstimate, RunMetrics, SimulationResult};
pub use series::{Series, SeriesRow};
pub use trace::{EVENT_NAMES, Trace, TraceRow, event_name};
#[cfg(feature = "capture-files")]
pub(crate) use trace::{cause_name, packet_name};
pub use warnings::{Warning, WarningKind, are_one_run, covers_window, warnings, windows_differ};

/// Runs `experiment` to its end with `seed`. Repetition `k` of an item, counted from 0, uses the
/// user's seed plus `k`.
///
/// # Errors
/// The network was changed since [`Scenario::experiment`](crate::Scenario::experiment) made it, and
/// is not valid.
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
    recorder: &mut dyn Recorder,
) -> Result<Measurements, RunError> {
    let mut run = Run::new(experiment, seed)?;
    run.finish(recorder);
    run.check()?;
    Ok(run.measurements())
}

/// [`run()`], which ends early once `stop` is requested: within some milliseconds.
///
/// # Errors
/// As [`run()`], or [`RunError::Stopped`].
pub fn run_stopping_at(
    experiment: &Experiment,
    seed: u64,
    stop: &Stop,
) -> Result<Measurements, RunError> {
    run_recorded_stopping_at(experiment, seed, &mut (), stop)
}

/// [`run_recorded()`], which ends early once `stop` is requested: within some milliseconds.
///
/// # Errors
/// As [`run()`], or [`RunError::Stopped`].
pub fn run_recorded_stopping_at<R: Recorder>(
    experiment: &Experiment,
    seed: u64,
    recorder: &mut R,
    stop: &Stop,
) -> Result<Measurements, RunError> {
    let mut run = Run::new(experiment, seed)?;
    let watch = |_: &Run, _: &mut R| {
        if stop.is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match run.advance(Time::MAX, recorder, watch) {
        ControlFlow::Continue(()) => {
            run.check()?;
            Ok(run.measurements())
        }
        ControlFlow::Break(()) => Err(Stopped.into()),
    }
}

/// A run under way: advanced to a time, stopped, measured, and advanced again.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use losscause_study::{Context, Run, Scenario};
///
/// let scenario = Scenario::parse(
///     r#"
///         title = "one TCP flow"
///         duration_s = 30
///         measure = { bottleneck = "line" }
///         link = [{ name = "line", rate_bps = 1e6, delay_ms = 20, queue_packets = 10 }]
///         flow = [{ name = "transfer", protocol = "tcp", path = ["line"] }]
///     "#,
///     "one-flow.toml",
///     &Context::default(),
/// )?;
/// let mut run = Run::new(&scenario.experiment()?, 1)?;
/// while !run.is_finished() {
///     let next = run.now() + losscause::Span::from_secs(10);
///     let _ = run.advance(next, &mut (), |_, ()| ControlFlow::Continue(()));
///     println!("{} s: {:?} % of the link", run.now().as_secs_f64(), run.measurements().metric("thput"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    experiment: Experiment,
    seed: u64,
    simulation: Simulation,
    /// If the experiment measures congestion windows.
    cwnd: Option<CwndAverages>,
    /// If the experiment measures delays.
    delays: Option<Delays>,
    /// The counters at the start of the window, once it is reached.
    before: Option<Counters>,
    /// The window, once it is over.
    window: Option<Window>,
}

impl Run {
    /// A run at time zero, before its first event.
    ///
    /// # Errors
    /// The flows are QUIC; or the network was changed since
    /// [`Scenario::experiment`](crate::Scenario::experiment) made it, and is not valid.
    pub fn new(experiment: &Experiment, seed: u64) -> Result<Self, RunError> {
        experiment.refuse_quic()?;
        Ok(Self {
            simulation: Simulation::new(&experiment.network, seed)?,
            cwnd: experiment.cwnd.then(|| CwndAverages::new(&experiment.network)),
            delays: experiment.delays.then(|| Delays::new(&experiment.network)),
            experiment: experiment.clone(),
            seed,
            before: None,
            window: None,
        })
    }

    /// Advances to the time `to`, at most to the end of the run, and hands every event to
    /// `recorder`. A time that has passed is no error: nothing happens.
    ///
    /// On the way `watch` is called at every hundredth of the run's duration, and at least once in
    /// 16,384 events, which take some milliseconds; if it returns `Break`, the run stops there and
    /// `advance` returns `Break`. At each call the recorder has all events up to [`Run::now`], and
    /// it gets no earlier ones later. Neither the calls nor a stop change the measurements.
    pub fn advance<R: Recorder>(
        &mut self,
        to: Time,
        recorder: &mut R,
        mut watch: impl FnMut(&Self, &mut R) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let to = to.min(self.experiment.duration);
        let step = (self.experiment.duration - Time::ZERO).as_nanos() / STEPS;
        let step = step.max(1);
        loop {
            let steps = (self.now() - Time::ZERO).as_nanos() / step + 1;
            let next = Time::ZERO + Span::from_nanos(steps.saturating_mul(step));
            let arrived = self.step(to.min(next), EVENTS_PER_STEP, recorder);
            watch(self, recorder)?;
            if arrived && self.now() >= to {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Advances to the end of the run without a stop, and hands every event to `recorder`.
    pub fn finish(&mut self, recorder: &mut dyn Recorder) {
        while !(self.step(self.experiment.duration, u64::MAX, recorder) && self.is_finished()) {}
    }

    /// Checks that every packet so far is accounted for: a counter that wrapped, for example, is an
    /// error and no measurement. [`run()`] does this at its end.
    ///
    /// # Errors
    /// [`RunError::Conservation`].
    pub fn check(&self) -> Result<(), RunError> {
        Ok(self.simulation.check_conservation()?)
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// Whether the run has reached its end.
    pub fn is_finished(&self) -> bool {
        self.window.is_some() && self.now() >= self.experiment.duration
    }

    /// What runs.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The random seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// From now on the links are as `links` says: [`Simulation::change_links`]. The experiment's
    /// network has them then. The measurements cover the whole window, before and after.
    ///
    /// # Errors
    /// As there; then nothing has changed.
    pub fn change_links(&mut self, links: &[LinkSpec]) -> Result<(), RunError> {
        self.simulation.change_links(links)?;
        self.experiment.network.links.clone_from_slice(links);
        Ok(())
    }

    /// What `flow` achieved so far.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn flow(&self, flow: FlowId) -> FlowReport {
        self.simulation.flow(flow)
    }

    /// What is measured up to now. What is not defined yet, such as `thput` before the measuring
    /// window, is none; within the window, `thput` and its like cover the part of it that is over.
    /// The metrics and their order never change.
    pub fn measurements(&self) -> Measurements {
        let experiment = &self.experiment;
        let simulation = &self.simulation;
        let window = self.window.clone().unwrap_or_else(|| self.window_until(self.now()));
        Measurements::of(State {
            experiment,
            simulation,
            window: &window,
            cwnd: self.cwnd.as_ref(),
            delays: self.delays.as_ref(),
        })
    }

    /// Lets at most `at_most` events happen, and all others of the same instant as the last one, up
    /// to and including `until` or the next end of the window. Returns whether it came as far as
    /// that.
    fn step(&mut self, until: Time, at_most: u64, recorder: &mut dyn Recorder) -> bool {
        let (from, to) = self.experiment.window;
        let until = match (&self.before, &self.window) {
            (None, _) => until.min(from),
            (Some(_), None) => until.min(to),
            (Some(_), Some(_)) => until,
        };
        let detail = recorder.detail();
        let mut measuring =
            Measuring { delays: self.delays.as_mut(), cwnd: self.cwnd.as_mut(), recorder, detail };
        let arrived = self.simulation.run_events(until, at_most, &mut measuring);
        if !arrived {
            // Exact where it stops on the way.
            self.simulation.run_until(self.simulation.now(), &mut measuring);
        }
        if self.before.is_none() && self.now() >= from && arrived {
            self.before = Some(self.simulation.counters().clone());
        } else if self.before.is_some() && self.window.is_none() && self.now() >= to && arrived {
            self.window = Some(self.window_until(to));
        }
        arrived
    }

    /// The window, cut off at `end`: empty before it begins.
    fn window_until(&self, end: Time) -> Window {
        let from = self.experiment.window.0;
        let counters = self.simulation.counters();
        let before = self.before.as_ref().unwrap_or(counters);
        Window { from, to: end.max(from), counters: counters - before }
    }
}

/// A recorder beside which delays and TCP's windows are measured, if the experiment measures them.
struct Measuring<'a> {
    delays: Option<&'a mut Delays>,
    cwnd: Option<&'a mut CwndAverages>,
    recorder: &'a mut dyn Recorder,
    /// The events that `recorder` records.
    detail: Detail,
}

impl Recorder for Measuring<'_> {
    fn detail(&self) -> Detail {
        let delays = self.delays.as_ref().map_or(Detail::Nothing, |_| Detail::Arrivals);
        let cwnd = self.cwnd.as_ref().map_or(Detail::Nothing, |_| Detail::Windows);
        self.detail.max(delays).max(cwnd)
    }

    fn record(&mut self, event: &Event) {
        if let Some(delays) = &mut self.delays {
            delays.take(event);
        }
        if let Some(cwnd) = &mut self.cwnd {
            cwnd.take(event);
        }
        if self.detail.includes(&event.kind) {
            self.recorder.record(event);
        }
    }

    fn looks(&self) -> bool {
        self.recorder.looks()
    }

    fn see(&mut self, flow: FlowId, end: End, seen: Seen<'_>) {
        self.recorder.see(flow, end, seen);
    }
}

/// Steps of simulated time at which a watcher is called during a whole run.
const STEPS: i64 = 100;

/// Events after which a watcher is called at the latest.
const EVENTS_PER_STEP: u64 = 16_384;
