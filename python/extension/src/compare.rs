//! `compare`: the runs and the JSON of `losscause compare`.

use losscause_laboratory::compare::{Plan, Variant};
use losscause_laboratory::store::RunList;
use losscause_study::InputError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::{self, Failures};
use crate::error::{Failure, about, caught};
use crate::input;
use crate::simulate::{finished, json, workers};
use crate::work;

/// Compares algorithms, and settings by their names, over the same seeds. Returns the JSON that
/// `losscause compare --format json` prints, and its warnings.
#[pyfunction]
#[pyo3(signature = (scenario, ldas, variants, seed, runs, settings, algorithms, *, jobs=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn compare(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    ldas: Vec<String>,
    variants: &Bound<'_, PyDict>,
    seed: &Bound<'_, PyAny>,
    runs: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyDict>,
    algorithms: &Bound<'_, PyDict>,
    jobs: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    caught(|| {
        let failures = Failures::default();
        let registry = algorithms::added(losscause_study::registry(), algorithms, &failures)?;
        let scenario = input::scenario(scenario, &input::settings(settings)?, &registry)?;
        let of_lda = |lda: &String| Variant::of_lda(&scenario, lda).map_err(of_algorithms);
        let mut compared: Vec<Variant> = ldas.iter().map(of_lda).collect::<Result<_, _>>()?;
        let mut own = Vec::new();
        for (name, settings) in variants {
            let Ok(settings) = settings.cast::<PyDict>() else {
                let problem = format!(
                    "variants: {name} is {}, expected a dictionary of settings",
                    input::kind(&settings)
                );
                return Err(about(problem, None, Some("variants")));
            };
            own.push(Variant { name: name.extract()?, settings: input::settings(settings)? });
        }
        if compared.is_empty() && !own.is_empty() {
            compared = Variant::beside_unchanged(own);
        } else {
            compared.extend(own);
        }
        if compared.len() < 2 {
            let problem = "algorithms: there is only one variant, expected two or more, such as [\"none\", \"ZBS\"]";
            return Err(about(problem.to_owned(), None, Some("algorithms")));
        }
        let plan = Plan::new(
            &scenario,
            compared,
            input::whole(seed, "seed")?,
            input::count(runs, "runs")?,
        );
        let plan = plan.map_err(Failure::from)?;
        let workers = workers(jobs, &failures)?;
        let made = work::elsewhere(py, failures.stop(), progress, |progress| {
            plan.measure(&workers, None, |done, runs| progress.set(done, runs))
        })?;
        let comparison = finished(py, made, &failures, scenario.file())?;
        Ok((json(&comparison)?, comparison.warnings(&comparison.all_metrics())))
    })
}

/// The command line's `--lda` is the argument `algorithms` here.
fn of_algorithms(error: InputError) -> Failure {
    match error {
        InputError::Option { option, problem } => {
            InputError::option(option.replacen("--lda", "--algorithms", 1), problem).into()
        }
        other => other.into(),
    }
}
