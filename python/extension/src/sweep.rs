//! `sweep`: the measurements and the JSON of `losscause sweep`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use losscause_laboratory::compare::Variant;
use losscause_laboratory::store::Store;
use losscause_laboratory::sweep::{Overrides, Sweep};
use losscause_report as report;
use losscause_study::files::{Either, Memory};
use losscause_study::{Context, Registry, Setting};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use toml::Value;

use crate::algorithms::{self, Failures};
use crate::error::{Failure, about, caught};
use crate::input;
use crate::simulate::{finished, workers};
use crate::work;

/// What errors and results call a sweep that is a dictionary.
const DICTIONARY: &str = "sweep";

/// Reads a sweep file, or a dictionary with its keys, with the settings, algorithms, runs and seed
/// of a call. Returns its name too. In a dictionary, the scenario may be a dictionary too, and so
/// may a system's settings; a system may have the key `lda` instead, for the measured flows.
pub(crate) fn loaded(
    sweep: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyDict>,
    algorithms: &Bound<'_, PyDict>,
    (runs, seed): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>),
    failures: &Failures,
) -> Result<(String, Sweep), Failure> {
    let registry = algorithms::added(losscause_study::registry(), algorithms, failures)?;
    let overrides = Overrides {
        runs: runs.map(|runs| input::count(runs, "runs")).transpose()?,
        seed: seed.map(|seed| input::whole(seed, "seed")).transpose()?,
        set: input::settings(settings)?,
    };
    let context = Context::new(registry);
    let (file, sweep) = if sweep.cast::<PyMapping>().is_ok() {
        let (text, scenario) = written(sweep, context.registry())?;
        let context = match scenario {
            Some(scenario) => {
                let files = Memory::new().with(input::DICTIONARY, scenario);
                let others = Arc::clone(context.files());
                context.with_files(Either(files, others))
            }
            None => context,
        };
        (DICTIONARY.to_owned(), Sweep::parse(&text, Path::new(DICTIONARY), &context)?)
    } else {
        let file = input::path(sweep, "sweep")?;
        (file.display().to_string(), Sweep::load(&file, &context)?)
    };
    Ok((file, sweep.with(&overrides)?))
}

/// A dictionary as the text of a sweep file, and the text of its scenario if that is a dictionary.
fn written(
    sweep: &Bound<'_, PyAny>,
    registry: &Registry,
) -> Result<(String, Option<String>), Failure> {
    let mut table = input::table(sweep, "", 0)?;
    for system in table.get_mut("system").and_then(Value::as_array_mut).into_iter().flatten() {
        let Value::Table(system) = system else { continue };
        let settings = match (system.remove("lda"), system.get("set")) {
            (Some(Value::String(lda)), _) => {
                let scenario = input::scenario(&sweep.get_item("scenario")?, &[], registry)?;
                Variant::of_lda(&scenario, &lda)?.settings
            }
            (None, Some(Value::Table(settings))) => settings
                .iter()
                .map(|(key, value)| Setting::checked(key, value.clone()))
                .collect::<Result<_, _>>()?,
            _ => continue,
        };
        let texts = settings.iter().map(|setting| Value::String(setting.to_string()));
        system.insert("set".to_owned(), Value::Array(texts.collect()));
    }
    let scenario = match table.get("scenario") {
        Some(Value::Table(scenario)) => Some(scenario.to_string()),
        _ => None,
    };
    if scenario.is_some() {
        let name = Value::String(input::DICTIONARY.to_owned());
        table.insert("scenario".to_owned(), name);
    }
    Ok((table.to_string(), scenario))
}

/// The directory of a sweep, and what becomes of the finished cells in it.
pub(crate) fn store(out: &Path, resume: bool, restart: bool) -> PyResult<Store> {
    match (resume, restart) {
        (false, false) => Ok(Store::new(out)),
        (true, false) => Ok(Store::new(out).resuming()),
        (false, true) => Ok(Store::new(out).restarting()),
        (true, true) => {
            let problem = "restart: drops the cells that resume keeps; give one of them".to_owned();
            Err(about(problem, None, Some("restart")))
        }
    }
}

/// Measures every cell of a sweep file, and keeps finished cells in the folder `out` if there is
/// one. Returns the JSON that `losscause sweep --format json` prints; None if there are too many
/// cells for a document in memory.
#[pyfunction]
#[pyo3(signature = (sweep, settings, algorithms, *, runs=None, seed=None, jobs=None, out=None, resume=false, restart=false, progress=None))]
#[allow(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn sweep(
    py: Python<'_>,
    sweep: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyDict>,
    algorithms: &Bound<'_, PyDict>,
    runs: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
    jobs: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    resume: bool,
    restart: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    caught(|| {
        let failures = Failures::default();
        let (file, sweep) = loaded(sweep, settings, algorithms, (runs, seed), &failures)?;
        let store = out.as_deref().map(|out| store(out, resume, restart)).transpose()?;
        let workers = workers(jobs, &failures)?;
        let made = work::elsewhere(py, failures.stop(), progress, |progress| {
            sweep.execute(workers, store.as_ref(), |so_far| {
                progress.set(so_far.runs, so_far.all_runs);
                ControlFlow::Continue(())
            })
        })?;
        let outcome = finished(py, made, &failures, &file)?;
        if let (Some(out), false) = (out, outcome.is_stopped) {
            report::keep_sweep_html(&out, outcome.result.as_ref()).map_err(Failure::Run)?;
        }
        Ok(outcome.result.map(|result| result.json()))
    })
}
