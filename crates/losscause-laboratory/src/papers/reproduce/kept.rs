//! The finished runs and calibrations of a plan, in a directory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::calibrate::Tried;
use super::execute::Values;
use super::recording::Recorded;
use super::{Plan, Repetitions};
use crate::stack::Stack;
use crate::store::{self, Kind, Origin, Store, fnv1a, program};
use losscause_study::RunError;

/// A store with the finished runs and calibrations of one plan.
pub(super) struct Kept {
    parts: store::Kept<Done>,
    /// The first run of every configuration, by its number. Calibrations come after all runs.
    firsts: Vec<usize>,
    runs: usize,
}

/// What an earlier, interrupted execution has kept.
#[derive(Default)]
pub(super) struct Found {
    pub(super) runs: BTreeMap<(usize, u32), Made>,
    pub(super) searches: BTreeMap<usize, Tried>,
}

/// What was made of a run: the values of the configuration's metrics, none of a run that is left
/// out, and what its plots show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) values: Values,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) recorded: Vec<Recorded>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Done {
    Run(Made),
    Calibration(Tried),
}

impl Kept {
    /// Opens the store for a plan that these stacks execute.
    ///
    /// # Errors
    /// It cannot be written, or holds another experiment.
    pub(super) fn open(
        plan: &Plan,
        stacks: &[Box<dyn Stack>],
        store: &Store,
    ) -> Result<(Self, Found), RunError> {
        let mut firsts = Vec::new();
        let mut names = Vec::new();
        let mut runs = Vec::new();
        for (c, configuration) in plan.configurations.iter().enumerate() {
            firsts.push(names.len());
            for k in 0..configuration.runs {
                runs.push((c, k));
                let seed = plan.seed.wrapping_add(u64::from(k));
                names.push(format!("{}: {configuration}, seed {seed}", configuration.place));
            }
        }
        names.extend(plan.searches.iter().map(ToString::to_string));
        let mut found = Found::default();
        let (parts, earlier) = store::Kept::open(store, &plan.origin(stacks), names)?;
        for (number, done) in earlier {
            match (runs.get(number), done) {
                (Some(&run), Done::Run(made)) => _ = found.runs.insert(run, made),
                (None, Done::Calibration(tried)) => {
                    found.searches.insert(number - runs.len(), tried);
                }
                // It is made again.
                _ => {}
            }
        }
        Ok((Self { parts, firsts, runs: runs.len() }, found))
    }

    /// Keeps repetition `k` of a configuration. Any thread may call it. A value that is not finite
    /// has no JSON: its run is made again after an interruption.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep_run(&self, (c, k): (usize, u32), made: &Made) -> Result<(), RunError> {
        let is_finite = made.values.iter().flatten().all(|value| value.is_finite())
            && made.recorded.iter().all(Recorded::is_finite);
        if !is_finite {
            return Ok(());
        }
        self.parts.keep(self.firsts[c] + k as usize, Done::Run(made.clone()))
    }

    /// Keeps a calibration that is over, by its number.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep_calibration(&self, search: usize, tried: &Tried) -> Result<(), RunError> {
        self.parts.keep(self.runs + search, Done::Calibration(tried.clone()))
    }
}

impl Plan {
    /// Everything that determines the results.
    fn origin(&self, stacks: &[Box<dyn Stack>]) -> Origin {
        let hash = |text: String| format!("{:016x}", fnv1a(text.as_bytes()));
        let of = self.selection.in_words();
        let scenarios = self.configurations.iter().map(|c| (&c.metrics, c.scenario.text()));
        let scenarios = format!("{:?}", scenarios.collect::<Vec<_>>());
        let record = format!("{:x} {:?} {}", self.selection.content(), self.variation, self.draws);
        let mut identities: Vec<String> = stacks.iter().map(|stack| stack.identity()).collect();
        identities.sort();
        identities.dedup();
        let stack = (!stacks.is_empty()).then(|| ("stack".to_owned(), identities.join(", ")));
        Origin {
            program: program(),
            experiment: Kind::Reproduction,
            runs: match self.repetitions {
                Repetitions::AsPublished => None,
                Repetitions::Exactly(runs) => Some(runs),
            },
            seed: self.seed,
            set: self.variation.settings.iter().map(ToString::to_string).collect(),
            cells: None,
            stacks: stack.into_iter().collect(),
            files: [
                (format!("the record of {of}"), hash(record)),
                ("a scenario".to_owned(), hash(scenarios)),
            ]
            .into(),
            of,
        }
    }
}
