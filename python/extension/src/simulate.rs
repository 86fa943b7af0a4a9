//! `simulate`: the runs and the JSON of `losscause simulate`.

use arrow_array::RecordBatch;
use losscause::{Span, Time};
use losscause_sim::{Event, Recorder};
use losscause_study::run::{Series, SimulationResult, Trace, TraceRow, repeat};
use losscause_study::trace_file::{self, Filter};
use losscause_study::{Experiment, Jobs, Limits, Run, RunError, Scenario, Setting, Workers};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::{self, Failures};
use crate::arrow::Table;
use crate::error::{Failure, about, caught, sentence};
use crate::input;
use crate::work::{self, Watch};

/// Runs a scenario. Returns the JSON that `losscause simulate --format json` prints, the answer in
/// sentences, and the events of the kinds that `trace` names (all if it is empty, none if it is
/// None).
#[pyfunction]
#[pyo3(signature = (scenario, seed, settings, algorithms, *, runs, jobs=None, interval=None, trace=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    seed: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyDict>,
    algorithms: &Bound<'_, PyDict>,
    runs: &Bound<'_, PyAny>,
    jobs: Option<&Bound<'_, PyAny>>,
    interval: Option<&Bound<'_, PyAny>>,
    trace: Option<Vec<String>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>, Option<Table>)> {
    caught(|| {
        let failures = Failures::default();
        let registry = algorithms::added(losscause_study::registry(), algorithms, &failures)?;
        let settings = input::settings(settings)?;
        let scenario = input::scenario(scenario, &settings, &registry)?;
        let experiment = scenario.experiment_with_delays().map_err(Failure::from)?;
        let seed = input::whole(seed, "seed")?;
        let runs = input::count(runs, "runs")?;
        let workers = workers(jobs, &failures)?;
        if runs > 1 && (trace.is_some() || interval.is_some()) {
            let key = if trace.is_some() { "trace" } else { "interval" };
            let problem = format!("{key}: shows one run, expected no runs={runs} beside it");
            return Err(about(problem, None, Some(key)));
        }
        let (result, table) = if runs > 1 {
            (
                several(
                    py,
                    &scenario,
                    &settings,
                    &experiment,
                    Several { seed, runs, workers, progress },
                    &failures,
                )?,
                None,
            )
        } else {
            let filter = trace.map(|kinds| kept(&kinds)).transpose()?;
            let interval = interval.map(span).transpose()?;
            let mut one =
                One { run: Run::new(&experiment, seed).map_err(Failure::from)?, interval, filter };
            one.make(py, &scenario, &settings, &failures, progress, !algorithms.is_empty())?
        };
        Ok((result.json(), result.answer(), table))
    })
}

/// `value` as the command line writes it.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| sentence(error.to_string()))?;
    Ok(text + "\n")
}

/// What a trace keeps: all events, or those of some kinds.
fn kept(kinds: &[String]) -> Result<Filter, Failure> {
    if kinds.is_empty() {
        Ok(Filter::default())
    } else {
        Ok(Filter::default().kinds(kinds, "trace")?)
    }
}

fn span(seconds: &Bound<'_, PyAny>) -> PyResult<Span> {
    let span = Limits::interval(seconds.extract().unwrap_or(f64::NAN));
    span.map_err(|expected| {
        about(format!("interval: is {seconds}, {expected}"), None, Some("interval"))
    })
}

/// One run, on the calling thread.
struct One {
    run: Run,
    interval: Option<Span>,
    /// What its trace keeps, if there is one.
    filter: Option<Filter>,
}

impl One {
    fn make(
        &mut self,
        py: Python<'_>,
        scenario: &Scenario,
        settings: &[Setting],
        failures: &Failures,
        progress: Option<&Bound<'_, PyAny>>,
        holds_lock: bool,
    ) -> PyResult<(SimulationResult, Option<Table>)> {
        let mut watch = Watch::new(failures.stop(), progress);
        let run = &mut self.run;
        let interval = self.interval;
        let filter = self.filter.take();
        let advance = || match filter {
            Some(filter) => {
                let mut events = Events { filter, trace: Trace::default(), batches: Ok(vec![]) };
                let series = advance(run, interval, &mut events, &mut watch, Events::full);
                events.convert(Time::MAX, run);
                (series, Some(events.batches))
            }
            None => (advance(run, interval, &mut (), &mut watch, |(), _| {}), None),
        };
        // A run that calls Python for every packet keeps the lock, and so do its signals.
        let (series, batches) = if holds_lock { advance() } else { py.detach(advance) };
        watch.finish()?;
        let place = format!("seed {}, ", self.run.seed());
        failures.take(py, scenario.file(), &place).map_or(Ok(()), Err)?;
        let mut result = SimulationResult::of(scenario, settings, &self.run);
        result.series = series.into_rows();
        let table = batches.map(|batches| {
            batches.map_err(|error| sentence(error.to_string())).and_then(Table::of)
        });
        Ok((result, table.transpose()?))
    }
}

/// Makes the run, interval by interval. `full` looks at the recorder on the way.
fn advance<R: Recorder>(
    run: &mut Run,
    interval: Option<Span>,
    recorder: &mut R,
    watch: &mut Watch<'_>,
    full: impl Fn(&mut R, &Run),
) -> Series {
    let end = run.experiment().duration;
    let all = end.as_secs_f64().ceil() as usize;
    let mut series = Series::default();
    while !run.is_finished() {
        let next = interval.map_or(Time::MAX, |interval| run.now() + interval).min(end);
        let outcome = run.advance(next, recorder, |run, recorder| {
            full(recorder, run);
            watch.look(run.now().as_secs_f64() as usize, all)
        });
        if outcome.is_break() {
            break;
        }
        if interval.is_some() {
            series.take(run);
        }
    }
    series
}

/// Events on their way to columns.
struct Events {
    filter: Filter,
    trace: Trace,
    batches: Result<Vec<RecordBatch>, arrow_schema::ArrowError>,
}

/// Events that become columns together.
const BATCH: usize = 1 << 18;

impl Events {
    fn full(&mut self, run: &Run) {
        if self.trace.waiting() >= BATCH {
            self.convert(run.now(), run);
        }
    }

    /// Makes columns of the events up to `until`.
    fn convert(&mut self, until: Time, run: &Run) {
        let Ok(batches) = &mut self.batches else { return };
        let network = &run.experiment().network;
        match trace_file::batch(self.trace.take(until).map(|event| TraceRow::of(&event, network))) {
            Ok(batch) => batches.push(batch),
            Err(error) => self.batches = Err(error),
        }
    }
}

impl Recorder for Events {
    fn record(&mut self, event: &Event) {
        if self.filter.keeps(event) {
            self.trace.record(event);
        }
    }
}

/// What several runs need to know.
struct Several<'a, 'py> {
    seed: u64,
    runs: u32,
    workers: Workers,
    progress: Option<&'a Bound<'py, PyAny>>,
}

fn several(
    py: Python<'_>,
    scenario: &Scenario,
    settings: &[Setting],
    experiment: &Experiment,
    Several { seed, runs, workers, progress }: Several<'_, '_>,
    failures: &Failures,
) -> PyResult<SimulationResult> {
    let made = work::elsewhere(py, failures.stop(), progress, |progress| {
        repeat(experiment, seed, runs, workers, |done| progress.set(done, runs as usize))
    })?;
    let runs = finished(py, made, failures, scenario.file())?;
    Ok(SimulationResult::of_measurements(scenario, settings, experiment, seed, &runs))
}

/// Threads that stop when an algorithm raises.
pub(crate) fn workers(
    jobs: Option<&Bound<'_, PyAny>>,
    failures: &Failures,
) -> Result<Workers, Failure> {
    let jobs = match jobs {
        Some(jobs) => Jobs::new(input::count(jobs, "jobs")? as usize)?,
        None => Jobs::default(),
    };
    Ok(Workers::from(jobs).stopping_at(failures.stop()))
}

/// The result of work on other threads, or what an algorithm raised there.
pub(crate) fn finished<T>(
    py: Python<'_>,
    made: Result<T, RunError>,
    failures: &Failures,
    file: &str,
) -> PyResult<T> {
    let place = match &made {
        Err(RunError::StoppedIn { place }) => format!("{place}, "),
        _ => String::new(),
    };
    failures.take(py, file, &place).map_or(Ok(()), Err)?;
    Ok(made.map_err(Failure::from)?)
}
