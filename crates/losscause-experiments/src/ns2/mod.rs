//! ns-2 as a stack of sweeps: each cell is a dumbbell, whose flows are ns-2's own TCP and TFRC.
//!
//! `experiments/ns2/dumbbell.tcl` makes a run; [`dumbbell`] finds its options in the scenario. Flows
//! start when the simulator's do, and the bottleneck corrupts the packets that the simulator's
//! does, counted in the order of transmission.

mod dumbbell;

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use losscause_laboratory::stack::{Attempt, Stack};
use losscause_study::{Experiment, Metric, RunError, Stop, Stopped};

use dumbbell::Dumbbell;

/// ns-2 on this machine.
pub(crate) struct Ns2Stack {
    version: String,
    errors: Errors,
}

/// Where the errors of ns-2's channel come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// It corrupts the packets that the simulator's channel corrupts.
    Simulators,
    /// It draws its own, with the same probability.
    Own,
}

const SCRIPT: &str = include_str!("../../experiments/ns2/dumbbell.tcl");

/// How often it is looked whether ns-2 has ended.
const PAUSE: Duration = Duration::from_millis(2);

impl Ns2Stack {
    /// Looks for ns-2.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn open(errors: Errors) -> Result<Self, RunError> {
        let version = ns("puts [ns-version]", &[], &Stop::new())?;
        Ok(Self { version: version.trim().to_owned(), errors })
    }
}

impl Stack for Ns2Stack {
    fn identity(&self) -> String {
        format!("ns-{}", self.version)
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        Dumbbell::of(experiment, self.errors)?;
        Ok(metrics([None; 3]))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let dumbbell = Dumbbell::of(experiment, self.errors)?;
        let printed = ns(SCRIPT, &dumbbell.options(seed), stop)?;
        let counted = |name: &str| {
            counts(&printed, name).ok_or_else(|| failed(&format!("ns-2 printed no {name}")))
        };
        let kilobits = counted("delivered")? * f64::from(dumbbell.payload_bytes()) * 8e-3;
        let goodput = kilobits / dumbbell.seconds(seed);
        let timeouts = dumbbell.is_tcp().then(|| counted("timeouts")).transpose()?;
        Ok(Attempt::Made(metrics([Some(goodput), Some(counted("queue_drops")?), timeouts])))
    }
}

/// The metrics of a run, named as the simulator names them.
fn metrics(values: [Option<f64>; 3]) -> Vec<Metric> {
    let names = [("goodput", "kb/s"), ("queue_drops", "packets"), ("timeouts", "count")];
    let all = names.into_iter().zip(values);
    all.map(|((name, unit), value)| Metric::new(name, unit, value)).collect()
}

/// The sum of the whole numbers in the line of that name; none if there is no such line.
fn counts(printed: &str, name: &str) -> Option<f64> {
    let mut lines = printed.lines().filter_map(|line| line.split_once(' '));
    let (_, values) = lines.find(|(first, _)| *first == name)?;
    let counts: Result<Vec<u64>, _> = values.split_whitespace().map(str::parse).collect();
    Some(counts.ok()?.into_iter().sum::<u64>() as f64)
}

/// What ns-2 prints when it runs a script.
///
/// # Errors
/// ns-2 cannot be started or fails, or it is stopped.
fn ns(script: &str, options: &[String], stop: &Stop) -> Result<String, RunError> {
    let mut command = Command::new("ns");
    command.arg("/dev/stdin").args(options);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| RunError::Stack {
        problem: format!("ns-2 is missing: `ns` cannot be started ({error})"),
        is_bad_input: true,
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes()).map_err(|error| failed(&error.to_string()))?;
    }
    if !ended(&mut child, stop).map_err(|error| failed(&error.to_string()))? {
        return Err(Stopped.into());
    }
    let output = child.wait_with_output().map_err(|error| failed(&error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(&format!("ns-2 ended with {}: {}", output.status, said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Waits for the end, or kills ns-2 if a stop is requested; whether it ended by itself.
fn ended(child: &mut Child, stop: &Stop) -> io::Result<bool> {
    while child.try_wait()?.is_none() {
        if stop.is_requested() {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
    Ok(true)
}

fn failed(problem: &str) -> RunError {
    RunError::Stack { problem: problem.to_owned(), is_bad_input: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_a_line_are_added_up() {
        let printed = "delivered 4 8\ntimeouts \nqueue_drops 3\nsent many\n";
        let names = ["delivered", "timeouts", "queue_drops", "sent", "drops"];
        assert_eq!(
            names.map(|name| counts(printed, name)),
            [Some(12.0), Some(0.0), Some(3.0), None, None]
        );
    }
}
