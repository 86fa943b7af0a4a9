//! `reproduce`: the runs and the JSON of `losscause reproduce`.

use losscause_study::papers::reproduce::{Event, Plan, Repetitions, Selection, Variation, answer_in_words};
use pyo3::prelude::*;

use crate::algorithms::Failures;
use crate::error::Failure;
use crate::input;
use crate::simulate::{finished, json, workers};
use crate::work;

/// Measures papers, or their tables and figures, again; without any a fixed choice of every paper. Returns the JSON that
/// `losscause reproduce --format json` prints, and the answer in a sentence.
#[pyfunction]
#[pyo3(signature = (items, *, runs=None, seed, jobs=None, progress=None))]
pub(crate) fn reproduce(
    py: Python<'_>,
    items: Vec<String>,
    runs: Option<&Bound<'_, PyAny>>,
    seed: &Bound<'_, PyAny>,
    jobs: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let selection = if items.is_empty() { Selection::first_look() } else { Selection::parse(&items) };
    let selection = selection.map_err(Failure::from)?;
    let repetitions = match runs {
        Some(runs) => Repetitions::exactly(input::count(runs, "runs")?).map_err(Failure::from)?,
        None => Repetitions::AsPublished,
    };
    let (registry, seed) = (losscause_study::registry(), input::whole(seed, "seed")?);
    let plan = Plan::new_with(&registry, &selection, repetitions, seed, &Variation::default());
    // A result contains the drawings of its figures.
    let plan = plan.map_err(Failure::from)?.drawing();
    let failures = Failures::default();
    let (workers, cost) = (workers(jobs, &failures)?, plan.cost() as usize);
    let made = work::elsewhere(py, failures.stop(), progress, |progress| {
        plan.execute(workers, |event| {
            if let Event::Progress(done) = event {
                progress.set(done.cost as usize, cost);
            }
        })
    })?;
    let reproduction = finished(py, made, &failures, "")?;
    Ok((json(&reproduction)?, answer_in_words(&reproduction.scorecards())))
}
