//! Stacks: what makes the runs of a cell.
//!
//! The simulator is one. The crate `losscause-experiments` has others, such as the TCP of the
//! running kernel over an emulated link. A sweep names its stacks; every cell then runs on each, with
//! the same scenario and the same seeds.

use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use losscause_study::error::unknown;
use losscause_study::run::run_stopping_at;
use losscause_study::{Experiment, Measurements, Metric, Run, RunError, Stop, Stopped, Workers};

/// Makes runs of scenarios.
///
/// ```
/// use losscause_laboratory::stack::{Attempt, Stack};
/// use losscause_study::{Experiment, Metric, RunError, Stop};
///
/// /// Carries as many kb/s as the seed says.
/// struct Toy;
///
/// impl Toy {
///     fn goodput(value: Option<f64>) -> Vec<Metric> {
///         vec![Metric::new("goodput", "kb/s", value)]
///     }
/// }
///
/// impl Stack for Toy {
///     fn identity(&self) -> String {
///         "toy 1".to_owned()
///     }
///     fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
///         Ok(Self::goodput(None))
///     }
///     fn run(&self, _: &Experiment, seed: u64, _: &Stop) -> Result<Attempt, RunError> {
///         Ok(Attempt::Made(Self::goodput(Some(seed as f64))))
///     }
/// }
/// assert!(!Toy.identity().is_empty());
/// ```
pub trait Stack: Send + Sync {
    /// What its results depend on beside the scenario and the seed: "Linux 6.18.0".
    fn identity(&self) -> String;

    /// The metrics of a run of this experiment, without values.
    ///
    /// # Errors
    /// It cannot run this experiment; the sentence says why.
    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError>;

    /// Makes one run. It looks at `stop` often, and ends with [`RunError::Stopped`] if that is
    /// requested.
    ///
    /// # Errors
    /// The run cannot be made, now or later. What may succeed later is [`Attempt::Spoiled`].
    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError>;

    /// Whether a run needs the machine for itself, because it is measured in real time.
    fn is_alone(&self) -> bool {
        false
    }

    /// Whether it runs scenarios whose flows are QUIC.
    fn runs_quic(&self) -> bool {
        false
    }
}

/// [`Stack::metrics`], of an experiment that may be QUIC.
///
/// # Errors
/// As [`Stack::metrics`]; or the flows are QUIC, and the stack does not run it.
pub(crate) fn metrics(stack: &dyn Stack, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
    if !stack.runs_quic() {
        experiment.refuse_quic()?;
    }
    stack.metrics(experiment)
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// The run was made as the experiment says.
    Made(Vec<Metric>),
    /// The run was disturbed, and is to be made again; why.
    Spoiled(String),
}

/// Attempts at a run before it is left out.
const ATTEMPTS: u32 = 4;

/// The stacks that a sweep can name.
///
/// ```
/// use losscause_laboratory::stack::Stacks;
///
/// let stacks = Stacks::default();
/// assert!(stacks.find("simulator").is_ok());
/// assert_eq!(stacks.find("simulater").unwrap_err(), "\"simulater\" is unknown (did you mean \"simulator\"?), expected \"simulator\"");
/// ```
#[derive(Clone, Debug)]
pub struct Stacks(Vec<Named>);

/// Opens a stack on this machine.
type Open = dyn Fn() -> Result<Box<dyn Stack>, RunError> + Send + Sync;

/// A stack by name. It is opened when its first run is planned, and closed with its last copy.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    open: Arc<Open>,
    opened: Arc<OnceLock<Box<dyn Stack>>>,
}

/// The stack of sweeps that name none.
pub const SIMULATOR: &str = "simulator";

impl Default for Stacks {
    /// The simulator alone.
    fn default() -> Self {
        Self(vec![Named::new(SIMULATOR, || Ok(Box::new(Simulator)))])
    }
}

impl Stacks {
    /// The same and one more.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        open: impl Fn() -> Result<Box<dyn Stack>, RunError> + Send + Sync + 'static,
    ) -> Self {
        self.0.push(Named::new(name, open));
        self
    }

    /// The stack of that name.
    ///
    /// # Errors
    /// There is none; the text says what is like it.
    pub fn find(&self, name: &str) -> Result<&'static str, String> {
        self.named(name).map(|found| found.name)
    }

    /// What `runs` runs with the seeds `seed`, `seed + 1`, … measure on the stack of that name.
    /// `done` gets the number of runs made.
    ///
    /// # Errors
    /// There is no such stack, it cannot run this experiment, a run failed or was disturbed at every
    /// attempt, or the workers were stopped.
    pub fn repeat(
        &self,
        name: &str,
        experiment: &Experiment,
        seed: u64,
        runs: u32,
        workers: &Workers,
        done: impl FnMut(usize),
    ) -> Result<Vec<Measurements>, RunError> {
        let failed = |problem| RunError::Stack { problem, is_bad_input: false };
        let named = self.named(name).map_err(failed)?;
        let stack = named.stack()?;
        metrics(stack, experiment)?;
        let turns = Turns::default();
        let one = |seed: &u64| {
            let made = turns.run(stack, experiment, *seed, workers.stop(), |_| ())?;
            let metrics = made.map_err(failed)?;
            Ok(Measurements { metrics, ..Measurements::default() })
        };
        let seeds: Vec<u64> = (0..u64::from(runs)).map(|run| seed.wrapping_add(run)).collect();
        workers.map(&seeds, one, done)?.into_iter().collect()
    }

    pub(crate) fn named(&self, name: &str) -> Result<&Named, String> {
        let names: Vec<&str> = self.0.iter().map(|named| named.name).collect();
        self.0.iter().find(|named| named.name == name).ok_or_else(|| unknown(name, &names))
    }
}

impl Named {
    fn new(
        name: &'static str,
        open: impl Fn() -> Result<Box<dyn Stack>, RunError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, open: Arc::new(open), opened: Arc::default() }
    }

    /// The stack, opened.
    ///
    /// # Errors
    /// This machine or this program cannot run it.
    pub(crate) fn stack(&self) -> Result<&dyn Stack, RunError> {
        if self.opened.get().is_none() {
            // If two threads open it, the first one's is kept.
            let _ = self.opened.set((self.open)()?);
        }
        Ok(self.opened.get().expect("it was opened").as_ref())
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

/// Lets runs that need the machine for themselves wait for the others, and the others for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Arc<RwLock<()>>);

impl Turns {
    /// Makes one run. If it is disturbed, tells `again` why and makes it again, now without others
    /// beside it. The metrics, or why the last attempt does not count.
    ///
    /// # Errors
    /// As [`Stack::run`].
    pub(crate) fn run(
        &self,
        stack: &dyn Stack,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
        again: impl Fn(&str),
    ) -> Result<Result<Vec<Metric>, String>, RunError> {
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                again(&why);
            }
            let (_alone, _beside);
            if stack.is_alone() || attempt > 0 {
                _alone = self.0.write().unwrap_or_else(PoisonError::into_inner);
            } else {
                _beside = self.0.read().unwrap_or_else(PoisonError::into_inner);
            }
            if stop.is_requested() {
                return Err(Stopped.into());
            }
            match stack.run(experiment, seed, stop)? {
                Attempt::Made(metrics) => return Ok(Ok(metrics)),
                Attempt::Spoiled(reason) => why = reason,
            }
        }
        Ok(Err(why))
    }
}

/// The discrete-event simulator of `losscause-sim`.
#[derive(Debug)]
struct Simulator;

impl Stack for Simulator {
    fn identity(&self) -> String {
        concat!("losscause ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        // A run has the names of its metrics from the beginning.
        Ok(Run::new(experiment, 0)?.measurements().metrics)
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        Ok(Attempt::Made(run_stopping_at(experiment, seed, stop)?.metrics))
    }
}
