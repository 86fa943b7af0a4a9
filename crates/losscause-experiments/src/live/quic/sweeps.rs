//! quinn and noq as stacks of sweeps: each flow of a scenario is a connection in virtual time, with
//! the implementation's own controller of the same name and the scenario's algorithm in front of it.

use losscause::Time;
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_sim::{FlowSpec, TcpLda, Traffic};
use losscause_study::{Experiment, InputError, Metric, RunError, Stop};

use super::run::run_each;
use super::system::{Implementation, System, build};
use super::values::{goodput_kbps, total};
use crate::live::counters::{m_c, m_w};

/// An implementation of QUIC over the simulator's links.
pub(crate) struct QuicStack(Implementation);

impl QuicStack {
    /// quinn.
    pub(crate) const QUINN: Self = Self(Implementation::Quinn);
    /// noq.
    pub(crate) const NOQ: Self = Self(Implementation::Noq);

    fn name(&self) -> &'static str {
        match self.0 {
            Implementation::Quinn => "quinn",
            Implementation::Noq => "noq",
        }
    }

    /// The system of every flow, and whether it is measured.
    pub(in crate::live) fn systems(
        &self,
        experiment: &Experiment,
    ) -> Result<Vec<(System, bool)>, InputError> {
        let flows = &experiment.network.flows;
        let system = |flow: &FlowSpec| {
            let refuse =
                |problem: String| InputError::option(format!("flow {}", flow.name), problem);
            if flows.first().is_none_or(|first| first.path != flow.path) {
                let problem = "takes another path, expected one for all flows".to_owned();
                return Err(refuse(problem));
            }
            if flow.application.is_some() || flow.stop.is_some() || flow.turnover.is_some() {
                return Err(refuse("has an application or stops, expected neither".to_owned()));
            }
            Ok((self.system(flow).map_err(refuse)?, flow.measured))
        };
        flows.iter().map(system).collect()
    }

    /// The controller of the flow's variant, with its algorithm.
    fn system(&self, flow: &FlowSpec) -> Result<System, String> {
        let Traffic::Tcp { config, lda } = &flow.traffic else {
            return Err(format!(
                "is neither TCP nor QUIC, expected one whose controller {} has",
                self.name()
            ));
        };
        let controller = match (config.response.name(), self.0) {
            ("aimd", _) => "newreno",
            ("cubic", _) => "cubic",
            ("bbr", Implementation::Quinn) => "bbr",
            ("bbr", Implementation::Noq) => "bbr3",
            (other, _) => return Err(format!("{}: has no controller {other}", self.name())),
        };
        let judge = match lda {
            TcpLda::None => String::new(),
            TcpLda::Sender(lda) => {
                let name = losscause::Algorithm::name(lda);
                let own = build(name)?;
                if format!("{own:?}") != format!("{lda:?}") {
                    return Err(format!("{name} has parameters of its own, expected the defaults"));
                }
                format!("+{name}")
            }
            TcpLda::Receiver { .. } => {
                return Err("is judged at the receiver, and QUIC judges at the sender".to_owned());
            }
        };
        System::parse(&format!("{}-{controller}{judge}", self.name()))
            .map_err(|error| error.to_string())
    }
}

impl Stack for QuicStack {
    fn identity(&self) -> String {
        format!("{} of losscause {}", self.name(), env!("CARGO_PKG_VERSION"))
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        self.systems(experiment)?;
        Ok(metrics([None; 5]))
    }

    fn runs_quic(&self) -> bool {
        true
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        // As in the simulator, goodput is counted from the first start to the end.
        let starts = experiment.network.flows.iter().map(|flow| flow.starts_at(seed));
        let window = (starts.min().unwrap_or(Time::ZERO), experiment.duration);
        let layout = Experiment { window, ..experiment.clone() };
        let made = run_each(&layout, &self.systems(experiment)?, seed, stop)?;
        let counters = total(&made.tested);
        Ok(Attempt::Made(metrics([
            Some(goodput_kbps(&made.tested, made.seconds)),
            Some(counters.queue_drops as f64),
            Some(counters.wireless_losses as f64),
            m_c(&counters.verdicts),
            m_w(&counters.verdicts),
        ])))
    }
}

/// The metrics of a run, named as the simulator names them.
fn metrics(values: [Option<f64>; 5]) -> Vec<Metric> {
    let names = [
        ("goodput", "kb/s"),
        ("queue_drops", "packets"),
        ("wireless_drops", "packets"),
        ("M_c", "percent"),
        ("M_w", "percent"),
    ];
    let all = names.into_iter().zip(values);
    all.map(|((name, unit), value)| Metric::new(name, unit, value)).collect()
}
