//! `reproduce`: the runs and the JSON of `losscause reproduce`.

use losscause_cli::Drawn;
use losscause_laboratory::papers::reproduce::{
    Event, Plan, Repetitions, Selection, Variation, answer_in_words,
};
use losscause_study::{Context, InputError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::{self, Failures};
use crate::error::{Failure, about, caught};
use crate::input;
use crate::simulate::{finished, json, workers};
use crate::work;

/// Measures papers, or their tables and figures, again; without any a fixed choice of every paper.
/// The algorithms `also` run beside the papers'. Returns the JSON that `losscause reproduce
/// --format json` prints, and the answer in a sentence.
#[pyfunction]
#[pyo3(signature = (items, also, algorithms, *, runs=None, seed, jobs=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn reproduce(
    py: Python<'_>,
    items: Vec<String>,
    also: Vec<String>,
    algorithms: &Bound<'_, PyDict>,
    runs: Option<&Bound<'_, PyAny>>,
    seed: &Bound<'_, PyAny>,
    jobs: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    caught(|| {
        let selection =
            if items.is_empty() { Selection::first_look() } else { Selection::parse(&items) };
        let selection = selection.map_err(Failure::from)?.beside(&also);
        let repetitions = match runs {
            Some(runs) => {
                Repetitions::exactly(input::count(runs, "runs")?).map_err(Failure::from)?
            }
            None => Repetitions::AsPublished,
        };
        let failures = Failures::default();
        let seed = input::whole(seed, "seed")?;
        let registry = algorithms::added(losscause_study::registry(), algorithms, &failures)?;
        let plan = Plan::new(
            &Context::new(registry),
            &selection,
            repetitions,
            seed,
            &Variation::default(),
        );
        // A result contains the drawings of its figures.
        let plan = plan.map_err(of_argument)?.drawing();
        let workers = workers(jobs, &failures)?;
        let cost = plan.cost() as usize;
        let made = work::elsewhere(py, failures.stop(), progress, |progress| {
            plan.execute(workers, |event| {
                if let Event::Progress(done) = event {
                    progress.set(done.cost as usize, cost);
                }
            })
        })?;
        let reproduction = finished(py, made, &failures, "")?;
        Ok((json(&reproduction)?, answer_in_words(&reproduction.scorecards())))
    })
}

/// Runs drawn networks, as `losscause reproduce abroad` does; none if the items are others. Returns
/// what [`reproduce`] does.
#[pyfunction]
#[pyo3(signature = (items, algorithms, own, *, options, seed, jobs=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn drawn(
    py: Python<'_>,
    items: Vec<String>,
    algorithms: Vec<String>,
    own: &Bound<'_, PyDict>,
    options: Vec<(String, String)>,
    seed: &Bound<'_, PyAny>,
    jobs: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(String, String)>> {
    if !losscause_cli::is_drawn(&items) {
        return Ok(None);
    }
    caught(|| {
        let failures = Failures::default();
        let registry = algorithms::added(losscause_study::registry(), own, &failures)?;
        let seed = ("seed".to_owned(), input::whole(seed, "seed")?.to_string());
        let names = Some(("algorithms".to_owned(), algorithms.join(",")));
        let names = names.filter(|(_, names)| !names.is_empty());
        let options = options.into_iter().chain([seed]).chain(names);
        let options = options.map(|(name, value)| format!("--{name}={value}"));
        let words: Vec<String> = items.into_iter().chain(options).collect();
        let workers = workers(jobs, &failures)?;
        let made = work::elsewhere(py, failures.stop(), progress, |progress| {
            losscause_cli::drawn(&words, &registry, &workers, |done, all| progress.set(done, all))
        })?;
        let Drawn { json, answer } = finished(py, made, &failures, "")?;
        Ok(Some((json, answer)))
    })
}

/// An error of the command line's option, as one of the argument.
fn of_argument(error: InputError) -> Failure {
    match &error {
        InputError::Option { option, problem } if option.starts_with("--also ") => {
            let algorithm = option.trim_start_matches("--also ");
            Failure::Python(about(
                format!("algorithms: {algorithm}: {problem}"),
                None,
                Some("algorithms"),
            ))
        }
        _ => Failure::from(error),
    }
}
