//! Records a run over time for the plots of items, from the events of the first repetition.

use losscause::{Span, Time};
use losscause_sim::{Event, FlowId, LinkId, Network, Recorder, Traffic};
use serde::{Deserialize, Serialize};

use crate::papers::record::{CurveSpec, Parameters, PlotSpec, Track};
use losscause_study::Experiment;
use losscause_study::error::unknown;
use losscause_study::run::group;

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
        let problem = format!(
            "{} to {}, expected an interval within the run, 0 to {end}",
            plot.from_s, plot.to_s
        );
        return refuse("to_s", problem);
    }
    if plot.curves.is_empty() {
        return refuse("curves", "is empty, expected a curve or more".to_owned());
    }
    for curve in &plot.curves {
        let of = Of::curve(curve, &experiment.network)
            .map_err(|problem| (format!("plot.curves.{}", curve.name), problem))?;
        let has_window = |flow: &FlowId| {
            matches!(experiment.network.flows[flow.0 as usize].traffic, Traffic::Tcp { .. })
        };
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
        flows(&events.of, &experiment.network)
            .map_err(|problem| (format!("plot.events.{}", events.name), problem))?;
    }
    Ok(())
}

/// Plots of one run, which records them up to [`Recordings::end`].
pub(super) struct Recordings<'a>(Vec<(&'a PlotSpec, Watch)>);

impl<'a> Recordings<'a> {
    pub(super) fn new(plots: impl IntoIterator<Item = &'a PlotSpec>, network: &Network) -> Self {
        let watch = |plot: &PlotSpec| Watch {
            curves: plot.curves.iter().filter_map(|curve| Curve::new(curve, network)).collect(),
            events: plot.events.iter().map(|events| Instants::new(events, network)).collect(),
        };
        Self(plots.into_iter().map(|plot| (plot, watch(plot))).collect())
    }

    /// The end of the last plot.
    pub(super) fn end(&self) -> Time {
        self.0.iter().map(|(plot, _)| at(plot.to_s)).max().unwrap_or(Time::ZERO)
    }

    /// What each plot shows, in their order.
    pub(super) fn finish(self) -> Vec<Recorded> {
        self.0.into_iter().map(|(plot, watch)| watch.finish(plot)).collect()
    }
}

impl Recorder for Recordings<'_> {
    fn record(&mut self, event: &Event) {
        self.0.iter_mut().for_each(|(_, watch)| watch.record(event));
    }
}

/// What a plot shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Recorded {
    pub(super) curves: Vec<RecordedCurve>,
    pub(super) events: Vec<RecordedEvents>,
}

impl Recorded {
    /// Whether all of it has JSON.
    pub(super) fn is_finite(&self) -> bool {
        let curves = self.curves.iter().all(|curve| {
            let mut points = curve.points.iter();
            points.all(|(at, value)| at.is_finite() && value.is_finite())
                && curve.mean.is_none_or(f64::is_finite)
        });
        curves && self.events.iter().flat_map(|events| &events.times_s).all(|at| at.is_finite())
    }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_nanos((seconds * 1e9).round() as i64)
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
    let is_of = |flow: &str| {
        flow == name || flow.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
    };
    let found: Vec<FlowId> = (0..)
        .map(FlowId)
        .zip(&network.flows)
        .filter(|(_, flow)| is_of(&flow.name))
        .map(|(id, _)| id)
        .collect();
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

impl Watch {
    fn finish(self, plot: &PlotSpec) -> Recorded {
        let window = (at(plot.from_s), at(plot.to_s));
        let curves = self
            .curves
            .into_iter()
            .zip(&plot.curves)
            .map(|(curve, spec)| curve.finish(spec, window));
        let events = self
            .events
            .into_iter()
            .zip(&plot.events)
            .map(|(events, spec)| events.finish(spec, window));
        Recorded { curves: curves.collect(), events: events.collect() }
    }
}

impl Recorder for Watch {
    fn record(&mut self, event: &Event) {
        self.curves.iter_mut().for_each(|curve| curve.take(event));
        self.events.iter_mut().for_each(|events| events.take(event));
    }
}
