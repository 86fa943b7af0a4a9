//! What a page has to know of a run before it shows it.

use losscause::Time;
use losscause_sim::{ChannelSpec, FlowSpec, Limit, LinkId, LinkSpec, Network, RateSpec, Traffic};
use losscause_study::run::{MOST_FLOWS, algorithm_of, bottleneck};
use losscause_study::scenario::format::Flow;
use losscause_study::{Experiment, Scenario};
use serde::Serialize;

/// A run before it begins.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Title of the scenario.
    pub title: String,
    /// End of the run, seconds.
    pub duration_s: f64,
    /// Length of a step of the curves, seconds.
    pub step_s: f64,
    /// The measuring window, seconds.
    pub window_s: (f64, f64),
    /// All flows, in the order of their numbers.
    pub flows: Vec<FlowInfo>,
    /// The flows that have curves, by their numbers.
    pub drawn: Vec<usize>,
    /// The link whose packets are shown.
    pub bottleneck: String,
    /// Links whose values can change while the run goes on.
    pub links: Vec<Adjustable>,
    /// The algorithms that judge losses, each once.
    pub algorithms: Vec<&'static str>,
    /// Parameters of the scenario and their values.
    pub parameters: Vec<(String, f64)>,
    /// About how many times a packet crosses a link: what the run costs.
    pub packet_hops: f64,
}

/// A flow of a run.
#[derive(Clone, Debug, Serialize)]
pub struct FlowInfo {
    /// The flow's name.
    pub name: String,
    /// The name that settings use: without the number of a member of a group.
    pub group: String,
    /// "tcp", "tfrc", "cbr", "on-off".
    pub protocol: &'static str,
    /// The algorithm that judges its losses, if any.
    pub algorithm: Option<&'static str>,
    /// Whether metrics include it.
    pub measured: bool,
    /// When it starts, seconds; a random part may come on top.
    pub start_s: f64,
    /// When it stops, seconds, if before the end.
    pub stop_s: Option<f64>,
}

/// The values of a link that can change, and the settings that change them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adjustable {
    /// The link's name in the scenario.
    pub name: String,
    /// Bits per second; none if the rate varies by itself.
    pub rate_bps: Option<u64>,
    /// Propagation delay, milliseconds.
    pub delay_ms: f64,
    /// Packets that may wait; none if the limit is in bytes.
    pub queue_packets: Option<u32>,
    /// Share of packets that the channel corrupts; none for a recorded pattern.
    pub loss: Option<f64>,
    /// The setting of the loss, before its value; what stands behind the value.
    pub loss_setting: (String, &'static str),
    /// A TCP flow over the path of the first flow that crosses the link: the value of `flow.NAME`.
    pub new_flow: String,
}

impl Info {
    pub(crate) fn of(
        scenario: &Scenario,
        experiment: &Experiment,
        LinkId(shown): LinkId,
        step_s: f64,
    ) -> Self {
        let network = &experiment.network;
        let mut algorithms: Vec<&'static str> = Vec::new();
        for name in network.flows.iter().filter_map(|flow| algorithm_of(&flow.traffic)) {
            if !algorithms.contains(&name) {
                algorithms.push(name);
            }
        }
        Self {
            title: scenario.document().title.clone(),
            duration_s: experiment.duration.as_secs_f64(),
            step_s,
            window_s: (experiment.window.0.as_secs_f64(), experiment.window.1.as_secs_f64()),
            flows: flows(network),
            drawn: drawn(network),
            bottleneck: network.links[shown as usize].name.clone(),
            links: adjustable(scenario, network),
            algorithms,
            parameters: experiment
                .parameters
                .iter()
                .map(|(name, value)| (name.clone(), *value))
                .collect(),
            packet_hops: packet_hops(experiment),
        }
    }
}

/// All flows of a network.
pub(crate) fn flows(network: &Network) -> Vec<FlowInfo> {
    let flow = |spec: &FlowSpec| FlowInfo {
        name: spec.name.clone(),
        group: group(&spec.name).to_owned(),
        protocol: match spec.traffic {
            Traffic::Tcp { .. } => "tcp",
            Traffic::Tfrc { .. } => "tfrc",
            Traffic::Cbr { .. } => "cbr",
            Traffic::OnOff { .. } => "on-off",
            Traffic::Poisson { .. } => "poisson",
        },
        algorithm: algorithm_of(&spec.traffic),
        measured: spec.measured,
        start_s: spec.start.as_secs_f64(),
        stop_s: spec.stop.map(Time::as_secs_f64),
    };
    network.flows.iter().map(flow).collect()
}

/// The flows that have curves: the first few that are measured.
pub(crate) fn drawn(network: &Network) -> Vec<usize> {
    let measured = network.flows.iter().enumerate().filter(|(_, flow)| flow.measured);
    measured.map(|(place, _)| place).take(MOST_FLOWS).collect()
}

/// The link whose packets are shown. A network has one: every flow crosses a link.
pub(crate) fn watched(experiment: &Experiment) -> LinkId {
    bottleneck(experiment, &drawn(&experiment.network)).first().copied().unwrap_or(LinkId(0))
}

pub(crate) fn adjustable(scenario: &Scenario, network: &Network) -> Vec<Adjustable> {
    let of = |name: &str| {
        let LinkId(place) = link_of(name, network)?;
        Some(Adjustable::of(
            name,
            &network.links[place as usize],
            new_flow(name, &scenario.document().flow),
        ))
    };
    scenario.document().link.iter().filter_map(|link| of(&link.name)).collect()
}

/// The link of this name in the scenario, or its copy for the first flow that has one.
pub(crate) fn link_of(name: &str, network: &Network) -> Option<LinkId> {
    let is_copy =
        |link: &LinkSpec| link.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let exact = network.links.iter().position(|link| link.name == name);
    let place = exact.or_else(|| network.links.iter().position(is_copy))?;
    Some(LinkId(place as u32))
}

/// A TCP flow over `link`, in TOML. The names of links need no escapes.
fn new_flow(link: &str, flows: &[Flow]) -> String {
    let names = |path: &[String]| {
        path.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    };
    let crossing = flows.iter().find(|flow| flow.path.iter().any(|name| name == link));
    let path = crossing.map_or_else(|| format!("\"{link}\""), |flow| names(&flow.path));
    let back = crossing.and_then(|flow| flow.return_path.as_ref());
    let back = back.map_or_else(String::new, |path| format!(", return_path = [{}]", names(path)));
    format!("{{ protocol = \"tcp\", path = [{path}]{back} }}")
}

impl Adjustable {
    fn of(name: &str, spec: &LinkSpec, new_flow: String) -> Self {
        let key = format!("link.{name}.channel");
        let (loss, loss_setting) = match &spec.channel {
            ChannelSpec::Perfect => {
                (Some(0.0), (format!("{key}={{ kind = \"bernoulli\", loss = "), " }"))
            }
            ChannelSpec::Bernoulli { loss } | ChannelSpec::GilbertElliott { loss, .. } => {
                (Some(*loss), (format!("{key}.loss="), ""))
            }
            ChannelSpec::Load { .. } | ChannelSpec::Trace { .. } => (None, (String::new(), "")),
        };
        Self {
            name: name.to_owned(),
            rate_bps: matches!(spec.rate, RateSpec::Constant).then_some(spec.rate_bps),
            delay_ms: spec.delay.as_millis_f64(),
            queue_packets: match spec.queue.limit() {
                Limit::Packets(packets) => Some(packets),
                Limit::Bytes(_) => None,
            },
            loss,
            loss_setting,
            new_flow,
        }
    }
}

/// The name without the number of a member: "test" of "test.1".
pub(crate) fn group(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((group, number)) if number.bytes().all(|b| b.is_ascii_digit()) => group,
        _ => name,
    }
}

/// Every flow sends as fast as the slowest link of its path lets all flows there, in packets of
/// 1000 bytes, and most are answered.
fn packet_hops(experiment: &Experiment) -> f64 {
    let network = &experiment.network;
    let link = |id: &LinkId| &network.links[id.0 as usize];
    let mut users = vec![0_u32; network.links.len()];
    for id in network.flows.iter().flat_map(|flow| &flow.path) {
        users[id.0 as usize] += 1;
    }
    let seconds = (experiment.duration - Time::ZERO).as_secs_f64();
    let hops = network.flows.iter().map(|flow| {
        let share_bps =
            |id: &LinkId| link(id).rate_bps as f64 / f64::from(users[id.0 as usize].max(1));
        let slowest_bps = flow.path.iter().map(share_bps).fold(f64::INFINITY, f64::min);
        let offered_bps = match flow.traffic {
            Traffic::Cbr { rate_bps, .. }
            | Traffic::OnOff { rate_bps, .. }
            | Traffic::Poisson { rate_bps, .. } => rate_bps as f64,
            Traffic::Tcp { .. } | Traffic::Tfrc { .. } => f64::INFINITY,
        };
        slowest_bps.min(offered_bps) * seconds / 8e3
            * (flow.path.len() + flow.return_path.len()) as f64
    });
    hops.sum()
}
