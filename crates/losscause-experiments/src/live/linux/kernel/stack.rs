//! The running kernel as a stack of sweeps: each flow of a scenario is a connection with the kernel's
//! congestion control of the same variant and algorithm. The kernel has one way to detect and repair
//! losses; a scenario's `mode` says what the simulator imitates, and is not read here.
//!
//! A program is loaded before the first run that needs it and unloaded when the stack is dropped. It
//! has the parameters of `losscause kernel`; a scenario whose algorithm has others is refused.

use std::sync::{Mutex, PoisonError};

use losscause::{AnyAlgorithm, End, Span, Time};
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_linux::emulator::{Host, SENDER};
use losscause_linux::kernel::Algorithm;
use losscause_sim::truth::Cause;
use losscause_sim::{FlowSpec, Limit, LinkSpec, QueueSpec, TcpLda, Traffic, VerdictTally};
use losscause_study::{Experiment, InputError, Metric, RunError, Stop};
use losscause_transport::tcp::{ResponseScheme, WestwoodVtParameters};

use super::ends;
use super::programs::Programs;
use super::transfer::{self, Transferred};
use crate::live::LiveError;
use crate::live::counters::{m_c, m_w};

/// The running kernel, with the programs that were needed so far.
pub(crate) struct KernelStack {
    programs: Mutex<Vec<(&'static str, Programs)>>,
}

/// A full packet of the emulated link, whose MTU is that of Ethernet.
const WIRE_BYTES: u32 = 1_500;

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    /// Built in, or a module.
    Own(&'static str),
    /// One of `losscause kernel`.
    Loaded(&'static Algorithm),
}

impl Control {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own(name) => name,
            Self::Loaded(algorithm) => algorithm.name,
        }
    }
}

impl KernelStack {
    /// Looks whether this machine allows the runs.
    ///
    /// # Errors
    /// It lacks root or TUN.
    pub(crate) fn open() -> Result<Self, RunError> {
        drop(Host::new(SENDER, &[]).map_err(LiveError::from)?);
        Ok(Self { programs: Mutex::default() })
    }

    /// Loads the program, unless it is.
    fn load(&self, algorithm: &'static Algorithm) -> Result<(), LiveError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if !programs.iter().any(|(name, _)| *name == algorithm.name) {
            programs.push((algorithm.name, Programs::load(&[algorithm])?));
        }
        Ok(())
    }

    /// The verdicts on the losses of the measured connections.
    fn verdicts(
        &self,
        controls: &[Control],
        made: &Transferred,
    ) -> Result<VerdictTally, LiveError> {
        let mut records = Vec::new();
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, programs) in programs.iter() {
            if controls.iter().any(|control| control.name() == *name) {
                records.extend(programs.verdicts(name, made.netns)?);
            }
        }
        records.sort_by_key(|record| record.time);
        Ok(made.verdicts(&records))
    }
}

impl Stack for KernelStack {
    fn identity(&self) -> String {
        release()
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        let controls = controls(experiment)?;
        for control in &controls {
            if let Control::Own(name) = control {
                ends::with_control(name)?;
            }
        }
        let judged = controls.iter().any(|control| matches!(control, Control::Loaded(_)));
        Ok(metrics([None; 5], judged.then_some([None; 2])))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        Ok(self.attempt(experiment, seed, stop)?)
    }

    fn is_alone(&self) -> bool {
        true
    }
}

impl KernelStack {
    fn attempt(
        &self,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Attempt, LiveError> {
        let controls = controls(experiment)?;
        for control in &controls {
            if let Control::Loaded(algorithm) = control {
                self.load(algorithm)?;
            }
        }
        let flows = &experiment.network.flows;
        let names: Vec<&str> = controls.iter().map(|control| control.name()).collect();
        let starts: Vec<Time> = flows.iter().map(|flow| flow.starts_at(seed)).collect();
        let tested = flows.iter().map(|flow| flow.measured).collect();
        // As in the simulator, goodput is counted from the first start to the end.
        let first = starts.iter().min().copied().unwrap_or(Time::ZERO);
        let layout = Experiment { window: (first, experiment.duration), ..experiment.clone() };
        let made = transfer::run(&layout, tested, seed, (&names, &starts), &[], stop, |_, _| ())?;
        if let Some(why) = made.disturbance().or_else(|| too_late(&made, drain_ms(&layout))) {
            return Ok(Attempt::Spoiled(why));
        }
        let measured = flows.iter().zip(&made.goodput_kbps).filter(|(flow, _)| flow.measured);
        let goodput: f64 = measured.map(|(_, goodput)| goodput).sum();
        let losses = made.crossing.losses.iter().filter(|loss| made.is_under_test(loss.port));
        let count = |cause| losses.clone().filter(|loss| loss.cause == cause).count() as f64;
        let waited = made.crossing.waited.quantile(0.5).map(Span::as_millis_f64);
        let again = made.crossing.retransmissions(|port| made.is_under_test(port)) as f64;
        let values = [
            Some(goodput),
            Some(count(Cause::Congestion)),
            Some(count(Cause::Wireless)),
            Some(again),
            waited,
        ];
        let judged = controls.iter().any(|control| matches!(control, Control::Loaded(_)));
        let judged = if judged { Some(self.verdicts(&controls, &made)?) } else { None };
        Ok(Attempt::Made(metrics(values, judged.map(|judged| [m_c(&judged), m_w(&judged)]))))
    }
}

/// What the runs depend on.
pub(super) fn release() -> String {
    let release = nix::sys::utsname::uname().map(|name| name.release().to_owned());
    format!("Linux {}", release.unwrap_or_default().to_string_lossy())
}

/// The emulator may be late by this much in half of the packets, and in 99 % of them.
const LATE: [(f64, Span); 2] = [(0.5, Span::from_micros(200)), (0.99, Span::from_millis(1))];

/// The hosts may stand still for this share of the time in which a full queue drains: afterwards
/// they send a burst, which can overflow it.
const STALL_SHARE: f64 = 0.25;

/// Why the transfers did not cross the link that the scenario describes. Its queue drains in
/// `drain_ms`.
fn too_late(made: &Transferred, drain_ms: f64) -> Option<String> {
    for (share, most) in LATE {
        if let Some(late) = made.crossing.late.quantile(share).filter(|late| *late > most) {
            return Some(format!(
                "the emulator was late by up to {:.2} ms in {:.0} % of the packets, expected at most {:.1} ms",
                late.as_millis_f64(),
                100.0 * share,
                most.as_millis_f64()
            ));
        }
    }
    let stall_ms = made.host_stall_ms;
    (stall_ms > STALL_SHARE * drain_ms).then(|| {
        format!("a host stood still for {stall_ms:.1} ms, and the queue drains in {drain_ms:.1} ms")
    })
}

/// In how many milliseconds the full queue of a link on the flows' path drains, the least of them;
/// infinite if no packet waits. A policer lets none wait.
fn drain_ms(layout: &Experiment) -> f64 {
    let links = layout.network.flows.iter().take(1).flat_map(|flow| &flow.path);
    let links = links.map(|link| &layout.network.links[link.0 as usize]);
    let waiting = links.filter(|link| !matches!(link.queue, QueueSpec::Policer(_)));
    let drain = |link: &LinkSpec| {
        let bytes = match link.queue.limit() {
            Limit::Packets(packets) => u64::from(packets) * u64::from(WIRE_BYTES),
            Limit::Bytes(bytes) => bytes,
        };
        bytes as f64 * 8e3 / link.rate_bps as f64
    };
    waiting.map(drain).filter(|ms| *ms > 0.0).fold(f64::INFINITY, f64::min)
}

/// The metrics of a run, named as the simulator names them, and the retransmissions.
fn metrics(values: [Option<f64>; 5], errors: Option<[Option<f64>; 2]>) -> Vec<Metric> {
    let names = [
        ("goodput", "kb/s"),
        ("queue_drops", "packets"),
        ("wireless_drops", "packets"),
        ("retransmissions", "packets"),
        ("queueing_p50", "ms"),
    ];
    let errors = errors
        .into_iter()
        .flat_map(|errors| [("M_c", "percent"), ("M_w", "percent")].into_iter().zip(errors));
    let all = names.into_iter().zip(values).chain(errors);
    all.map(|((name, unit), value)| Metric::new(name, unit, value)).collect()
}

/// The congestion control of every flow.
pub(super) fn controls(experiment: &Experiment) -> Result<Vec<Control>, InputError> {
    let flows = &experiment.network.flows;
    let refuse = |flow: &FlowSpec, problem: String| {
        InputError::option(format!("flow {}", flow.name), problem)
    };
    let control = |flow: &FlowSpec| {
        let same =
            |other: &FlowSpec| other.path == flow.path && other.return_path == flow.return_path;
        if !flows.first().is_some_and(same) {
            return Err(refuse(flow, "takes another path, expected one for all flows".to_owned()));
        }
        if flow.application.is_some() || flow.stop.is_some() || flow.turnover.is_some() {
            let problem = "has an application or ends, expected endless data".to_owned();
            return Err(refuse(flow, problem));
        }
        control(flow).map_err(|problem| refuse(flow, problem))
    };
    flows.iter().map(control).collect()
}

/// The kernel's congestion control of the same variant and algorithm.
fn control(flow: &FlowSpec) -> Result<Control, String> {
    let Traffic::Tcp { config, lda } = &flow.traffic else {
        return Err("is no TCP, which is what the kernel sends".to_owned());
    };
    let bytes = config.wire_bytes();
    if bytes != WIRE_BYTES {
        return Err(format!("sends packets of {bytes} bytes, and the kernel of {WIRE_BYTES}"));
    }
    if config.limit_pkts.is_some() {
        return Err("has a size, expected endless data".to_owned());
    }
    let lda = match lda {
        TcpLda::None => None,
        TcpLda::Sender(lda) => Some(lda),
        TcpLda::Receiver { .. } => {
            return Err("is judged at the receiver, and the kernel judges at the sender".to_owned());
        }
    };
    let response = config.response.name();
    match (config.response, lda) {
        (ResponseScheme::Aimd, None) => Ok(Control::Own("reno")),
        (ResponseScheme::Cubic, None) => Ok(Control::Own("cubic")),
        (ResponseScheme::Bbr, None) => Ok(Control::Own("bbr")),
        (ResponseScheme::Westwood, None) => Ok(Control::Own("westwood")),
        (ResponseScheme::WestwoodVt(WestwoodVtParameters::PUBLISHED), None) => {
            find("lc_westwood_vt", response)
        }
        (ResponseScheme::Veno, None) => find("lc_veno", response),
        (ResponseScheme::Aimd, Some(lda)) => judged("lc_", lda),
        (ResponseScheme::Cubic, Some(lda)) => judged("lc_cubic_", lda),
        _ => Err(format!("{response}: the kernel has no such congestion control")),
    }
}

fn find(name: &str, what: &str) -> Result<Control, String> {
    let found = Algorithm::find(name).map(Control::Loaded);
    found.map_err(|_| format!("{what}: `losscause kernel` has no such program"))
}

/// The program that judges by `lda`, if it has the same parameters.
fn judged(prefix: &str, lda: &AnyAlgorithm) -> Result<Control, String> {
    let name = losscause::Algorithm::name(lda);
    let of = match name {
        "FlipFlop" | "FF" => "newreno_ff".to_owned(),
        other => other.to_lowercase(),
    };
    let control = find(&format!("{prefix}{of}"), name)?;
    if let Control::Loaded(algorithm) = control {
        let own = algorithm.settings().lda().build(End::Sender);
        if !own.is_ok_and(|own| format!("{own:?}") == format!("{lda:?}")) {
            return Err(format!(
                "{name} has other parameters than the kernel's {}, expected those (`losscause kernel` lists them)",
                algorithm.name
            ));
        }
    }
    Ok(control)
}

#[cfg(test)]
mod tests {
    use losscause_study::{Context, Scenario};

    use super::*;

    /// 40 packets of 1500 bytes at 12 Mb/s.
    const DRAIN_MS: f64 = 40.0;

    fn stalled(host_stall_ms: f64, late: Span) -> Option<String> {
        let mut made = Transferred { host_stall_ms, ..Transferred::default() };
        made.crossing.late.record(late);
        too_late(&made, DRAIN_MS)
    }

    #[test]
    fn a_queue_of_200_packets_drains_in_50_ms_at_48_mbps() {
        let text = r#"
            title = "t"
            duration_s = 1
            [[link]]
            name = "link"
            rate_bps = 48e6
            delay_ms = 5
            queue_packets = 200
            [[flow]]
            name = "flow"
            protocol = "tcp"
            path = ["link"]
        "#;
        let drain_ms = |text: &str| {
            let scenario = Scenario::parse(text, "s.toml", &Context::default()).unwrap();
            drain_ms(&scenario.experiment().unwrap())
        };
        assert_eq!(drain_ms(text), 50.0);
        assert_eq!(drain_ms(&text.replace("200", "0")), f64::INFINITY, "no queue");
    }

    #[test]
    fn a_stall_of_more_than_a_quarter_of_the_queue_or_a_late_link_spoils_a_run() {
        assert_eq!(stalled(10.0, Span::from_micros(100)), None);
        assert!(stalled(10.1, Span::from_micros(100)).unwrap().contains("stood still for 10.1 ms"));
        assert!(stalled(0.0, Span::from_micros(400)).unwrap().contains("in 50 % of the packets"));
    }
}
