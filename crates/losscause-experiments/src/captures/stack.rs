//! Captures with known causes as stacks of sweeps: how much of the truth `losscause analyze` finds.
//!
//! | metric | |
//! |---|---|
//! | `sender.shown`, `sender.found` | losses that the senders' capture shows; of these, those that were found |
//! | `sender.reported`, `sender.false` | losses that the analysis reports; of these, those that are none |
//! | `sender.found_share`, `sender.false_share` | the same in percent |
//! | `sender.M_c.NAME`, `sender.M_w.NAME` | an algorithm's errors, percent, mean over the flows with such losses; NAME may be `recommended` |
//! | `sender.congestion.NAME`, `sender.congestion_wrong.NAME` | judged losses to congestion of all flows, and those called wireless |
//! | `sender.wireless.NAME`, `sender.wireless_wrong.NAME` | judged wireless losses, and those not called wireless |
//! | `receiver.…`, `link.…` | the same in the receivers' capture, and by the links' own times |
//! | `right`, `wrong`, `untold` | in the senders' capture: flows whose named cause dropped most of their packets, or did not; whose cause is not told; percent of the flows that lost packets |
//! | `policer`, `policer_clear`, `policer_rate` | those that are called policed; clearly; with the rate within 15 % |
//! | `published_policer`, `published_rate` | the same by the published test ([`policing`](super::policing)) |
//!
//! A scenario's parameter `timestamp_ms` is the tick of TCP's timestamps (default 1).

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use losscause::registry::Registry;
use losscause::{End, Span, Time};
use losscause_capture::judge::Chosen;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_sim::QueueSpec;
use losscause_study::capture_files::{CaptureSettings, KnownCaptures, MemoryCaptures};
use losscause_study::statistics::mean;
use losscause_study::{Experiment, InputError, Metric, Run, RunError, Stop, Stopped};

use super::said::{Said, Share, Told};
use super::score::{Found, JudgedFlow, RECOMMENDED, Scored};
use crate::abroad::diagnosed::queue_class;
use crate::drawn::score::Tally;

/// Makes the captures of a run; or says why it was disturbed and is to be made again.
type Make = dyn Fn(&Experiment, u64, &Stop) -> Result<Result<KnownCaptures, String>, RunError>
    + Send
    + Sync;

/// Is told every run, its seed, its captures and what was found in them.
type Tell = dyn Fn(&Experiment, u64, &KnownCaptures, &Scored) + Send + Sync;

/// Captures whose causes of loss are known, and their analysis.
///
/// ```
/// use losscause_experiments::captures::CaptureStack;
/// use losscause_laboratory::stack::Stack;
///
/// assert!(CaptureStack::simulated().identity().starts_with("losscause "));
/// ```
pub struct CaptureStack {
    identity: String,
    make: Box<Make>,
    tell: Box<Tell>,
    chosen: Chosen,
}

/// The parameter of a scenario that is the tick of TCP's timestamps, milliseconds; 0 for none, in the
/// kernel.
pub(crate) const TIMESTAMP_MS: &str = "timestamp_ms";

impl CaptureStack {
    /// Captures of simulated runs.
    pub fn simulated() -> Self {
        let identity = concat!("losscause ", env!("CARGO_PKG_VERSION")).to_owned();
        Self::new(identity, |experiment, seed, stop| simulate(experiment, seed, stop).map(Ok))
    }

    /// Captures that `make` makes.
    pub(crate) fn new(
        identity: String,
        make: impl Fn(&Experiment, u64, &Stop) -> Result<Result<KnownCaptures, String>, RunError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let chosen = Chosen::all_of(&Registry::built_in());
        Self { identity, make: Box::new(make), tell: Box::new(|_, _, _, _| ()), chosen }
    }

    /// The same; `tell` gets every run, its seed, its captures and what was found in them.
    #[must_use]
    pub fn telling(
        self,
        tell: impl Fn(&Experiment, u64, &KnownCaptures, &Scored) + Send + Sync + 'static,
    ) -> Self {
        Self { tell: Box::new(tell), ..self }
    }

    /// The same; these algorithms judge.
    #[must_use]
    pub fn judged_by(self, chosen: Chosen) -> Self {
        Self { chosen, ..self }
    }

    /// The metrics of a run, in order; without values if there is none.
    pub(crate) fn metrics_of(&self, made: Option<(&Experiment, &Scored)>) -> Vec<Metric> {
        let scored = made.map(|(_, scored)| scored);
        let mut metrics = Vec::new();
        for (source, end, found) in [
            ("sender", End::Sender, scored.map(|scored| &scored.sender)),
            ("receiver", End::Receiver, scored.map(|scored| &scored.receiver)),
        ] {
            metrics.extend(of_detection(source, found));
            let flows = found.map(|found| &found.flows[..]).unwrap_or_default();
            let recommended = flows.iter().filter_map(JudgedFlow::recommended).collect::<Vec<_>>();
            metrics.extend(of_verdicts(source, RECOMMENDED, &recommended));
            let errors = || flows.iter().map(|flow| &flow.errors);
            self.names_at(end).for_each(|name| metrics.extend(of_all(source, &name, errors())));
        }
        let link = scored.map(|scored| &scored.link[..]).unwrap_or_default();
        let names = self.names_at(End::Receiver);
        names.for_each(|name| metrics.extend(of_all("link", &name, link.iter())));
        let said = made.map_or_else(Vec::new, |(experiment, scored)| {
            scored.sender.diagnoses.iter().map(|told| said(experiment, told)).collect()
        });
        metrics.extend(of_diagnoses("", &said));
        metrics
    }

    /// Makes and analyses the captures of a run; or says why it was disturbed.
    pub(crate) fn attempt(
        &self,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Result<Scored, String>, RunError> {
        Ok((self.make)(experiment, seed, stop)?.map(|captures| {
            let scored = Scored::of(&captures, &self.chosen);
            let scored = scored.expect("what was written as a capture is one");
            (self.tell)(experiment, seed, &captures, &scored);
            scored
        }))
    }

    /// The algorithms that run at this end.
    fn names_at(&self, end: End) -> impl Iterator<Item = String> {
        let all = self.chosen.keys().zip(self.chosen.iter());
        all.filter(move |(_, config)| config.build(end).is_ok()).map(|(name, _)| name)
    }
}

impl Stack for CaptureStack {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
        Ok(self.metrics_of(None))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        Ok(match self.attempt(experiment, seed, stop)? {
            Ok(scored) => Attempt::Made(self.metrics_of(Some((experiment, &scored)))),
            Err(why) => Attempt::Spoiled(why),
        })
    }
}

/// Simulates a run and captures it at both ends.
///
/// # Errors
/// The experiment cannot be simulated, `timestamp_ms` is 0, or `stop` is requested.
pub fn simulate(
    experiment: &Experiment,
    seed: u64,
    stop: &Stop,
) -> Result<KnownCaptures, RunError> {
    let tick_ms = experiment.parameters.get(TIMESTAMP_MS).copied().unwrap_or(1.0);
    let tick = Span::from_secs_f64_rounded(tick_ms / 1e3);
    if tick <= Span::ZERO {
        let problem = format!("is {tick_ms}, expected more: simulated ends have timestamps");
        return Err(InputError::option(TIMESTAMP_MS, problem).into());
    }
    let settings = CaptureSettings { tick, ..CaptureSettings::default() };
    let mut captures = MemoryCaptures::new(experiment, seed, settings)?;
    let mut run = Run::new(experiment, seed)?;
    let ended = run.advance(Time::MAX, &mut captures, |run, captures| {
        captures.write_until(run.now());
        if stop.is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if ended.is_break() {
        return Err(Stopped.into());
    }
    Ok(captures.finish())
}

/// What was found in a capture.
fn of_detection(source: &str, found: Option<&Found>) -> [Metric; 6] {
    let count = |name: &str, of: fn(&Found) -> u64| {
        Metric::new(format!("{source}.{name}"), "count", found.map(|found| of(found) as f64))
    };
    let share = |name: &str, of: fn(&Found) -> (u64, u64)| {
        let counts = found.map(of).filter(|(_, all)| *all > 0);
        let value = counts.map(|(part, all)| 100.0 * part as f64 / all as f64);
        Metric::new(format!("{source}.{name}"), "percent", value)
    };
    [
        count("shown", |found| found.shown),
        count("found", |found| found.shown_found),
        count("reported", |found| found.found),
        count("false", |found| found.found_false),
        share("found_share", |found| (found.shown_found, found.shown)),
        share("false_share", |found| (found.found_false, found.found)),
    ]
}

/// An algorithm's verdicts on these flows.
fn of_all<'a>(
    source: &str,
    name: &str,
    flows: impl Iterator<Item = &'a BTreeMap<String, Tally>>,
) -> [Metric; 6] {
    let own: Vec<Tally> = flows.filter_map(|errors| errors.get(name).copied()).collect();
    of_verdicts(source, name, &own)
}

fn of_verdicts(source: &str, name: &str, flows: &[Tally]) -> [Metric; 6] {
    let error = |error: &str, of: fn(&Tally) -> Option<f64>| {
        let shares: Vec<f64> = flows.iter().filter_map(of).collect();
        Metric::new(format!("{source}.{error}.{name}"), "percent", mean(&shares))
    };
    let count = |what: &str, of: fn(&Tally) -> u64| {
        let sum = flows.iter().map(of).sum::<u64>();
        Metric::new(format!("{source}.{what}.{name}"), "count", Some(sum as f64))
    };
    [
        error("M_c", |tally| tally.congestion.percent()),
        error("M_w", |tally| tally.wireless.percent()),
        count("congestion", |tally| tally.congestion.losses),
        count("congestion_wrong", |tally| tally.congestion.wrong),
        count("wireless", |tally| tally.wireless.losses),
        count("wireless_wrong", |tally| tally.wireless.wrong),
    ]
}

fn policer_bps(experiment: &Experiment) -> Option<f64> {
    experiment.network.links.iter().find_map(|link| match &link.queue {
        QueueSpec::Policer(policer) => Some(policer.rate_bps as f64),
        _ => None,
    })
}

/// What is said of a flow of this experiment.
pub(crate) fn said(experiment: &Experiment, told: &Told) -> Said {
    Said::of(told.truth(queue_class(experiment)), policer_bps(experiment), told)
}

/// How often named causes are right.
pub(crate) fn of_diagnoses(prefix: &str, said: &[Said]) -> Vec<Metric> {
    let of = |(name, is): Share| {
        let of_flow = |said: &Said| if is(said) { 100.0 } else { 0.0 };
        let value = mean(&said.iter().map(of_flow).collect::<Vec<f64>>());
        Metric::new(format!("{prefix}{name}"), "percent", value)
    };
    Said::SHARES.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use losscause_study::{Context, Scenario};

    use super::*;

    #[test]
    fn simulated_captures_without_timestamps_are_refused() {
        let text = r#"
            title = "a transfer"
            duration_s = 1
            packet_bytes = 1500
            parameters = { timestamp_ms = 0 }
            measure = { bottleneck = "link" }
            link = [{ name = "link", rate_bps = 1e6, delay_ms = 1, queue_packets = 5 }]
            flow = [{ name = "transfer", protocol = "tcp", path = ["link"] }]
            tcp = { mode = "linux", variant = "cubic" }
        "#;
        let scenario = Scenario::parse(text, "test", &Context::default()).expect("valid");
        let experiment = scenario.experiment().expect("valid");
        let error = simulate(&experiment, 1, &Stop::new()).expect_err("a clock needs ticks");
        let expected = "timestamp_ms: is 0, expected more: simulated ends have timestamps";
        assert_eq!(error.to_string(), expected);
    }
}
