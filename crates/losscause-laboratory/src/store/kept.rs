//! The finished parts of an experiment in a store, by their names; and experiments that are lists of
//! runs.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use losscause_study::files::watched::Hash;
use losscause_study::{RunError, Stop, Stopped, Workers};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Held, Journal, Kind, Origin, Outcome, Store, program};

/// A store with the finished parts of one experiment.
pub(crate) struct Kept<T> {
    journal: Journal,
    _held: Held,
    names: Vec<String>,
    part: PhantomData<fn() -> T>,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Line<T> {
    number: usize,
    name: String,
    done: T,
}

impl<T: Serialize + DeserializeOwned> Outcome for Line<T> {
    fn number(&self) -> usize {
        self.number
    }
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// Opens the store for an experiment whose parts have these names. Also returns what an earlier,
    /// interrupted one has kept, by number.
    ///
    /// # Errors
    /// It cannot be written, or holds another experiment.
    pub(crate) fn open(
        store: &Store,
        origin: &Origin,
        names: Vec<String>,
    ) -> Result<(Self, BTreeMap<usize, T>), RunError> {
        let held = store.open(origin, &[])?;
        let mut found = BTreeMap::new();
        let is_known = |line: &Line<T>| line.name == names[line.number];
        let take = |line: Line<T>| _ = found.insert(line.number, line.done);
        let journal = held.journal(names.len(), is_known, take)?;
        Ok((Self { journal, _held: held, names, part: PhantomData }, found))
    }

    /// Keeps a part that is finished. Any thread may call it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(&self, number: usize, done: T) -> Result<(), RunError> {
        self.journal.keep(&Line { number, name: self.names[number].clone(), done })
    }
}

/// A run to be made, of which `T` is kept.
pub struct Run<'a, T> {
    /// Its name, which no other run of its experiment has.
    pub name: String,
    scenario: Hash,
    make: Box<Make<'a, T>>,
}

type Make<'a, T> = dyn Fn(&Stop) -> Result<T, RunError> + Sync + 'a;

impl<'a, T> Run<'a, T> {
    /// A run that depends on its name and on the text of its scenario alone.
    pub fn new(
        name: String,
        scenario: &str,
        make: impl Fn(&Stop) -> Result<T, RunError> + Sync + 'a,
    ) -> Self {
        let mut hash = Hash::default();
        hash.take(scenario.as_bytes());
        Self { name, scenario: hash, make: Box::new(make) }
    }
}

/// An experiment that is a list of runs. What it finds depends on nothing but the experiment: not on
/// the number of threads, nor on which runs an earlier, interrupted one has made.
pub trait RunList {
    /// What kind of experiment it is.
    const KIND: Kind = Kind::Reproduction;
    /// What is kept of a run.
    type Made: Clone + Send + Serialize + DeserializeOwned;
    /// What all runs show.
    type Found;

    /// The experiment with its options, as the command takes them: `paths/loop --paths 3`.
    fn command(&self) -> String;

    /// Every run.
    fn runs(&self) -> Vec<Run<'_, Self::Made>>;

    /// What the runs show, in the order of [`RunList::runs`].
    fn found(&self, made: Vec<Self::Made>) -> Self::Found;

    /// Makes all runs, or with a store those that it does not have. `done(n, all)` is called when n
    /// of them are finished. The first failure ends the others.
    ///
    /// # Errors
    /// A run fails, the workers are stopped, or the store cannot be written or holds another
    /// experiment.
    fn measure(
        &self,
        workers: &Workers,
        store: Option<&Store>,
        mut done: impl FnMut(usize, usize),
    ) -> Result<Self::Found, RunError> {
        let runs = self.runs();
        let mut made = BTreeMap::new();
        let mut kept = None;
        if let Some(store) = store {
            let names = runs.iter().map(|run| run.name.clone()).collect();
            let (opened, earlier) =
                Kept::open(store, &origin(Self::KIND, self.command(), &runs), names)?;
            (kept, made) = (Some(opened), earlier);
        }
        done(made.len(), runs.len());
        let left: Vec<usize> = (0..runs.len()).filter(|run| !made.contains_key(run)).collect();
        let stop = workers.stop().for_a_part();
        let make = |&number: &usize| -> Result<Self::Made, RunError> {
            let of_run = (runs[number].make)(&stop)?;
            kept.iter().try_for_each(|kept| kept.keep(number, of_run.clone()))?;
            Ok(of_run)
        };
        let mut failure: Option<(usize, RunError)> = None;
        let workers = workers.clone().stopping_at(&stop);
        let ended = workers.each(&left, make, |index, outcome| match outcome {
            Ok(of_run) => {
                made.insert(left[index], of_run);
                done(made.len(), runs.len());
            }
            Err(RunError::Stopped(_)) => {}
            Err(error) => {
                stop.request();
                if failure.as_ref().is_none_or(|(first, _)| index < *first) {
                    failure = Some((index, error));
                }
            }
        });
        match (failure, ended) {
            (Some((_, error)), _) => Err(error),
            (None, Ok(())) if made.len() == runs.len() => {
                Ok(self.found(made.into_values().collect()))
            }
            // The last runs were under way when the stop was requested.
            (None, _) => Err(Stopped.into()),
        }
    }
}

/// Everything that determines what an experiment finds. The command has its seed.
fn origin<T>(experiment: Kind, command: String, runs: &[Run<'_, T>]) -> Origin {
    let mut all = Hash::default();
    runs.iter().for_each(|run| all.take(&run.scenario.0.to_le_bytes()));
    Origin {
        program: program(),
        experiment,
        of: command,
        runs: None,
        seed: 0,
        set: Vec::new(),
        cells: None,
        stacks: BTreeMap::new(),
        files: [("a scenario".to_owned(), format!("{:016x}", all.0))].into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::thread;
    use std::time::Duration;

    use losscause_study::Jobs;
    use losscause_study::tools::atomic::folder::Folder;

    use super::*;

    /// Two runs that fail, the first after the second.
    struct Failing;

    impl RunList for Failing {
        type Made = u32;
        type Found = ();

        fn command(&self) -> String {
            "failing".to_owned()
        }

        fn runs(&self) -> Vec<Run<'_, u32>> {
            let fails = |file: &str| {
                let file = file.to_owned();
                Err(RunError::Unwritable { file, reason: ErrorKind::StorageFull.into() })
            };
            let after = move |stop: &Stop| {
                for _ in 0..5000 {
                    if stop.is_requested() {
                        break;
                    }
                    thread::sleep(Duration::from_millis(1));
                }
                fails("first")
            };
            let at_once = move |_: &Stop| fails("second");
            vec![Run::new("a".to_owned(), "", after), Run::new("b".to_owned(), "", at_once)]
        }

        fn found(&self, _: Vec<u32>) {}
    }

    #[test]
    fn the_first_run_that_fails_is_told_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("o"), "x", &["result.json"]).unwrap();
        let workers = Workers::from(Jobs::new(2).unwrap());
        let store = Store::within(&folder);
        let error = Failing.measure(&workers, Some(&store), |_, _| ()).unwrap_err();
        assert!(error.to_string().starts_with("first: "), "{error}");
        assert!(!folder.directory().join("cells").exists());
    }
}
