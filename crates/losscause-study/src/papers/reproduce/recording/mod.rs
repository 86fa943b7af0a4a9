//! Records one run over time for an item's plot, from the events of the first repetition.

use losscause::{Span, Time};
use losscause_sim::{Event, FlowId, LinkId, Network, Recorder, Simulation, Traffic};
use serde::{Deserialize, Serialize};

use crate::error::unknown;
use crate::papers::record::{CurveSpec, Parameters, PlotSpec, Track};
use crate::run::group;
use crate::{Experiment, RunError};

mod curve;
mod instants;

use curve::Curve;
use instants::Instants;

/// A system's run over time, as in the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Short name of the paper.
    pub paper: String,
    /// The table or figure.
    pub item: String,
    /// The system that ran.
    pub system: String,
    /// The parameters of the run.
    pub parameters: Parameters,
    /// Seed of the run.
    pub seed: u64,
    /// Start of the recording, seconds.
    pub from_s: f64,
    /// End of the recording, seconds.
    pub to_s: f64,
    /// The curves.
    pub curves: Vec<RecordedCurve>,
    /// The events.
    pub events: Vec<RecordedEvents>,
}

/// A curve of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCurve {
    /// What it shows.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Whether a value holds until the next one. If not, the points are separate samples.
    pub holds: bool,
    /// Pairs of time, in seconds, and value, in order of time.
    pub points: Vec<(f64, f64)>,
    /// The mean over time from the first point on, if values hold.
    pub mean: Option<f64>,
}

/// The instants of one kind of event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvents {
    /// The kind of event.
    pub name: String,
    /// The times of the events, seconds, in rising order.
    pub times_s: Vec<f64>,
}

/// Checks that `plot` can be drawn from runs of `experiment`.
///
/// # Errors
/// The key of the plot that cannot be used, and why.
pub(super) fn check(plot: &PlotSpec, experiment: &Experiment) -> Result<(), (String, String)> {
    let end = experiment.duration.as_secs_f64();
    let refuse = |key: &str, problem: String| Err((format!("plot.{key}"), problem));
    if !(plot.from_s >= 0.0 && plot.from_s < plot.to_s && plot.to_s <= end) {
        let problem = format!("{} to {}, expected an interval within the run, 0 to {end}", plot.from_s, plot.to_s);
        return refuse("to_s", problem);
    }
    if plot.curves.is_empty() {
        return refuse("curves", "is empty, expected a curve or more".to_owned());
    }
    for curve in &plot.curves {
        let of = Of::curve(curve, &experiment.network)
            .map_err(|problem| (format!("plot.curves.{}", curve.name), problem))?;
        let has_window =
            |flow: &FlowId| matches!(experiment.network.flows[flow.0 as usize].traffic, Traffic::Tcp { .. });
        let takes_tcp = matches!(curve.show, Track::Cwnd | Track::Rtt);
        if let Of::Flows(flows) = of
            && takes_tcp
            && !flows.iter().all(has_window)
        {
            return refuse(
                &format!("curves.{}", curve.name),
                format!("{} is not TCP, expected a flow that is", curve.of),
            );
        }
    }
    for events in &plot.events {
        flows(&events.of, &experiment.network).map_err(|problem| (format!("plot.events.{}", events.name), problem))?;
    }
    Ok(())
}

/// Runs `experiment` with `seed` up to the end of the plot.
///
/// # Errors
/// The network was changed since it was made, and is not valid.
pub(super) fn record(
    plot: &PlotSpec,
    experiment: &Experiment,
    seed: u64,
) -> Result<(Vec<RecordedCurve>, Vec<RecordedEvents>), RunError> {
    let network = &experiment.network;
    let mut watch = Watch {
        curves: plot.curves.iter().filter_map(|curve| Curve::new(curve, network)).collect(),
        events: plot.events.iter().map(|events| Instants::new(events, network)).collect(),
    };
    let at = |seconds: f64| Time::ZERO + Span::from_nanos((seconds * 1e9).round() as i64);
    let mut simulation = Simulation::new(network, seed)?;
    simulation.run_until(at(plot.to_s), &mut watch);
    let window = (at(plot.from_s), at(plot.to_s));
    let curves = watch.curves.into_iter().zip(&plot.curves).map(|(curve, spec)| curve.finish(spec, window)).collect();
    let events = watch.events.into_iter().zip(&plot.events).map(|(events, spec)| events.finish(spec, window)).collect();
    Ok((curves, events))
}

/// The subject of a curve.
enum Of {
    Flows(Vec<FlowId>),
    Link(LinkId),
}

impl Of {
    fn curve(curve: &CurveSpec, network: &Network) -> Result<Self, String> {
        if curve.show != Track::Queue {
            return flows(&curve.of, network).map(Of::Flows);
        }
        let place = network.links.iter().position(|link| link.name == curve.of);
        let names = || network.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>();
        let id = |place: usize| Of::Link(LinkId(place as u32));
        place.map(id).ok_or_else(|| format!("the link {}", unknown(&curve.of, &names())))
    }
}

/// The flow or group of flows with this name.
fn flows(name: &str, network: &Network) -> Result<Vec<FlowId>, String> {
    let is_of = |flow: &str| flow == name || flow.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let found: Vec<FlowId> =
        (0..).map(FlowId).zip(&network.flows).filter(|(_, flow)| is_of(&flow.name)).map(|(id, _)| id).collect();
    if found.is_empty() {
        let mut groups: Vec<&str> = network.flows.iter().map(|flow| group(&flow.name)).collect();
        groups.dedup();
        return Err(format!("the flow {}, or a member of one", unknown(name, &groups)));
    }
    Ok(found)
}

/// Collects the events that the plot needs.
struct Watch {
    curves: Vec<Curve>,
    events: Vec<Instants>,
}

impl Recorder for Watch {
    fn record(&mut self, event: &Event) {
        self.curves.iter_mut().for_each(|curve| curve.take(event));
        self.events.iter_mut().for_each(|events| events.take(event));
    }
}
