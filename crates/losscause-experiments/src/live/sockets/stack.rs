//! Makes runs over real sockets, one at a time: each needs the machine for itself.

use std::fs;

use losscause::Span;
use losscause_laboratory::papers::record::Value;
use losscause_laboratory::papers::reproduce::Configuration;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_linux::emulator::{Host, SENDER};
use losscause_study::{Experiment, InputError, Metric, RunError, Stop};

use super::SOCKETS;
use super::transfer::{self, Transferred};
use crate::live::emulated::disturbance;
use crate::live::quic::{QuicStack, System};
use crate::live::{LiveError, Values};

/// Two hosts with real sockets and the emulator's link between them.
pub(crate) struct SocketStack {
    sends: Sends,
    /// Whether a loop runs on every core meanwhile.
    is_busy: bool,
}

/// What the connection runs.
enum Sends {
    System(System),
    /// What the scenario's flow says.
    FlowOf(QuicStack),
}

impl SocketStack {
    /// The stack of a cell of the experiment.
    ///
    /// # Errors
    /// The machine or the names do not allow the runs.
    pub(super) fn of(cell: &Configuration) -> Result<Self, RunError> {
        let is_busy = cell.parameters.get("machine") == Some(&Value::from("busy"));
        Self::new(Sends::System(System::parse(&cell.system)?), is_busy)
    }

    /// The stack of sweeps.
    ///
    /// # Errors
    /// The machine does not allow the runs.
    pub(crate) fn open(implementation: QuicStack) -> Result<Self, RunError> {
        Self::new(Sends::FlowOf(implementation), false)
    }

    fn new(sends: Sends, is_busy: bool) -> Result<Self, RunError> {
        drop(Host::new(SENDER, &[]).map_err(LiveError::from)?);
        Ok(Self { sends, is_busy })
    }

    fn system(&self, experiment: &Experiment) -> Result<System, InputError> {
        match &self.sends {
            Sends::System(system) => Ok(system.clone()),
            Sends::FlowOf(implementation) => match &implementation.systems(experiment)?[..] {
                [(system, _)] => Ok(system.clone()),
                _ => Err(InputError::option("scenario", "has several flows, expected one")),
            },
        }
    }
}

impl Stack for SocketStack {
    fn identity(&self) -> String {
        concat!("sockets of losscause ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        self.system(experiment)?;
        Ok(SOCKETS.metrics(&Values::new()))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let system = self.system(experiment)?;
        let load = load_average();
        let transferred = transfer::run(experiment, &system, self.is_busy, seed, stop)?;
        let late = &transferred.crossed.late;
        if let Some(why) = disturbance(transferred.device_drops, late) {
            return Ok(Attempt::Spoiled(why));
        }
        let mut values = values(&transferred);
        values.extend(load.map(|load| ("load_average", load)));
        Ok(Attempt::Made(SOCKETS.metrics(&values)))
    }

    fn is_alone(&self) -> bool {
        true
    }
}

fn values(transferred: &Transferred) -> Values {
    let Transferred { goodput_kbps, crossed, judged, .. } = transferred;
    let mut values = Values::from([("goodput", *goodput_kbps), ("goodput_least", *goodput_kbps)]);
    let percent = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
    let ms = |span: Option<Span>| span.map(Span::as_millis_f64);
    let all = judged.wireless + judged.congestion + judged.undecided;
    let further = [
        ("queue_drops", percent(crossed.queue_drops, crossed.came)),
        ("queueing_p50", ms(crossed.waited.quantile(0.5))),
        ("called_wireless", percent(judged.wireless, all)),
        ("late_worst", ms(crossed.late.greatest())),
    ];
    values.extend(further.into_iter().filter_map(|(name, value)| Some((name, value?))));
    values
}

/// The kernel's load average over a minute.
fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
