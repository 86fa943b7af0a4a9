//! From a document to a network: evaluates formulas, lays out groups of flows and per-flow links,
//! resolves paths.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_sim::{FlowSpec, LinkId, LinkSpec, Network, Traffic};

use super::arrivals::{self, Life};
use super::expression::{Names, Quantity};
use super::format::{Bottleneck, Document, Flow, Link, Protocol};
use super::link;
use super::protocol::{self, Settings};
use super::reader::{Range, Reader};
use crate::InputError;
use crate::error::unknown;
use crate::limits::{self, Limits};

/// A network ready to run, with the window in which it is measured.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The network.
    pub network: Network,
    /// End of the run.
    pub duration: Time,
    /// Start and end of the window for throughput and congestion loss.
    pub window: (Time, Time),
    /// The bottleneck: one link, or all copies of a per-flow link; empty if the scenario names
    /// none.
    pub bottleneck: Vec<LinkId>,
    /// Whether TCP's congestion window is measured.
    pub cwnd: bool,
    /// Whether delays are measured: round-trip times, one-way and queueing delays, jitter. By
    /// default they are not; see
    /// [`Scenario::experiment_with_delays`](super::Scenario::experiment_with_delays).
    pub delays: bool,
    /// Whether its flows, which the network has as TCP, are QUIC. Then a stack of QUIC runs it, and
    /// the simulator refuses it.
    pub quic: bool,
    /// The parameters and their values, by name. A value with a unit is in the unit in which the
    /// scenario writes it; if a formula gives it, in seconds, bits per second or bytes.
    pub parameters: BTreeMap<String, f64>,
}

impl Experiment {
    /// # Errors
    /// The flows are QUIC, and a stack without QUIC is asked to run it.
    pub fn refuse_quic(&self) -> Result<(), InputError> {
        if !self.quic {
            return Ok(());
        }
        let problem = "only QUIC runs it, expected `losscause simulate`, or `stacks = [\"quinn\"]` in a sweep";
        Err(InputError::option("protocol = \"quic\"", problem))
    }
}

/// Evaluates `document`, whose values `reader` reads.
pub(super) fn build(document: &Document, reader: &Reader) -> Result<Experiment, InputError> {
    let (parameters, names) = parameters(document, reader)?;

    unique(reader, "link", document.link.iter().map(|link| link.name.as_str()))?;
    unique(reader, "flow", document.flow.iter().map(|flow| flow.name.as_str()))?;
    let duration =
        Time::ZERO + reader.positive_seconds("duration_s", &document.duration_s, &names)?;

    let settings = Settings::of(document, reader, &names)?;

    let mut members = Vec::new();
    let mut hops = 0;
    for flow in &document.flow {
        members.extend(Member::of(flow, document, reader, &names, &mut hops)?);
    }
    let quic = is_quic(document, reader)?;
    let layout = Layout::new(document, &mut members);
    let links = layout.links(document, reader, &names)?;
    let flows = members
        .iter()
        .enumerate()
        .map(|(index, member)| member.spec(index, &settings, (&layout, &links), reader, &names))
        .collect::<Result<_, InputError>>()?;
    let network = Network { links, flows };
    // The checks above refuse what the simulator would refuse, with the user's names in the error.
    network.validate().map_err(|error| reader.error("network", error.to_string()))?;
    check_budget(document, &network, duration, (&layout, &members), reader, &names)?;

    let from =
        reader.instant("measure.from_s", document.measure.from_s.as_ref(), &names, Time::ZERO)?;
    let to = reader.instant("measure.to_s", document.measure.to_s.as_ref(), &names, duration)?;
    if from >= to || to > duration {
        let from = from.as_secs_f64();
        let to = to.as_secs_f64();
        let end = duration.as_secs_f64();
        let problem = format!(
            "the window is {from} to {to}, expected one that is not empty and ends by duration_s, {end}"
        );
        return Err(reader.error("measure.to_s", problem));
    }
    let bottleneck = bottleneck(document, &layout, reader, &names)?;
    let cwnd = document.measure.cwnd;
    let delays = document.measure.delays == Some(true);
    let window = (from, to);
    Ok(Experiment { network, duration, window, bottleneck, cwnd, delays, quic, parameters })
}

/// Whether all flows are QUIC; if not, none is.
fn is_quic(document: &Document, reader: &Reader) -> Result<bool, InputError> {
    let is_quic = |flow: &&Flow| flow.protocol == Protocol::Quic;
    let other = document.flow.iter().find(|flow| !is_quic(flow));
    match (document.flow.iter().find(is_quic), other) {
        (Some(quic), Some(other)) => {
            let problem = format!(
                "is quic, and the flow {} is not, expected one or the other in a scenario",
                other.name
            );
            Err(reader.error(&format!("flow.{}.protocol", quic.name), problem))
        }
        (quic, _) => Ok(quic.is_some()),
    }
}

/// Refuses a network whose run may need too much memory or too many events.
fn check_budget(
    document: &Document,
    network: &Network,
    duration: Time,
    (layout, members): (&Layout, &[Member]),
    reader: &Reader,
    names: &Names,
) -> Result<(), InputError> {
    let limits = reader.context.limits();
    let budget = match &document.budget {
        None => 1.0,
        Some(budget) => {
            reader.number("budget", budget, names, Range::Positive(limits.largest_budget))?
        }
    };
    let names = limits::Names {
        links: layout.order.iter().map(|(place, ..)| document.link[*place].name.as_str()).collect(),
        flows: members.iter().map(|member| member.flow.name.as_str()).collect(),
    };
    limits
        .check_budget(budget, network, duration, &names)
        .map_err(|(key, problem)| reader.error(&key, problem))
}

/// The parameters by name, and what formulas know of them. A parameter that is a formula may use
/// those that are numbers. The suffix of a name gives its unit, as that of a key does.
fn parameters(
    document: &Document,
    reader: &Reader,
) -> Result<(BTreeMap<String, f64>, Names), InputError> {
    let mut values = BTreeMap::new();
    let mut names = Names::default();
    let mut numbers = Names::default();
    let is_formula = |quantity: &&Quantity| !quantity.is_constant();
    let formula_in = |quantity: &Quantity| {
        let mut formulas = document.parameters.iter().filter(|(_, other)| is_formula(other));
        formulas.find(|(other, _)| quantity.takes(other)).map(|(other, _)| other)
    };
    // What is at fault itself is named before what takes it.
    let mut ordered: Vec<_> = document.parameters.iter().collect();
    ordered.sort_by_key(|(_, quantity)| (is_formula(quantity), formula_in(quantity).is_some()));
    for (name, quantity) in ordered {
        let key = format!("parameters.{name}");
        if !is_name(name, "_") || name.starts_with(|c: char| c.is_ascii_digit()) {
            let problem =
                "is no name that a formula can use, expected letters, digits and _, a letter first";
            return Err(reader.error(&key, problem));
        }
        if let Some(other) = formula_in(quantity) {
            let problem =
                format!("takes \"{other}\", a formula, expected parameters that are numbers");
            return Err(reader.error(&key, problem));
        }
        let problem = |problem: String| reader.error(&key, problem);
        let amount = quantity.parameter(name, &numbers).map_err(problem)?;
        if quantity.is_constant() {
            numbers = numbers.with_amount(name, amount);
        }
        names = names.with_amount(name, amount);
        let unit = quantity.unit().unwrap_or(amount.base_unit());
        values.insert(name.clone(), amount.in_unit(unit).map_err(problem)?);
    }
    Ok((values, names))
}

fn is_name(name: &str, besides: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || besides.contains(c))
}

fn unique<'a>(
    reader: &Reader,
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), InputError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        let key = format!("{what}.{name}.name");
        if !is_name(name, "-_") {
            return Err(
                reader.error(&key, format!("is \"{name}\", expected letters, digits, - and _"))
            );
        }
        if !seen.insert(name) {
            return Err(
                reader.error(&key, format!("two {what}s have this name, expected every name once"))
            );
        }
    }
    Ok(())
}

/// One flow of a group.
struct Member<'a> {
    flow: &'a Flow,
    name: String,
    /// The flow's index in the group, counted from 0.
    number: usize,
    /// Path and return path as indices into `document.link`.
    path: Vec<usize>,
    return_path: Option<Vec<usize>>,
    /// The flow's own copy of each per-flow link, by the link's index in `document.link`.
    copies: BTreeMap<usize, u32>,
}

impl<'a> Member<'a> {
    /// The members of a group. Adds the links of their paths to `hops`.
    fn of(
        flow: &'a Flow,
        document: &Document,
        reader: &Reader,
        names: &Names,
        hops: &mut usize,
    ) -> Result<Vec<Self>, InputError> {
        let key = |field: &str| format!("flow.{}.{field}", flow.name);
        let path = resolve(&flow.path, &key("path"), document, reader)?;
        let return_path = match &flow.return_path {
            Some(_) if !flow.protocol.is_acknowledged() => {
                let problem = "only valid for tfrc, tcp and quic flows; remove it";
                return Err(reader.error(&key("return_path"), problem));
            }
            Some(links) => Some(resolve(links, &key("return_path"), document, reader)?),
            None => None,
        };
        if let Some(group) = &flow.links_of {
            let groups = document.flow.iter().map(|flow| flow.name.as_str());
            let earlier: Vec<&str> = groups.take_while(|name| *name != flow.name).collect();
            if !earlier.contains(&group.as_str()) {
                let problem = format!("the earlier flow {}", unknown(group, &earlier));
                return Err(reader.error(&key("links_of"), problem));
            }
        }
        let member = |name: String, number: usize| Self {
            flow,
            name,
            number,
            path: path.clone(),
            return_path: return_path.clone(),
            copies: BTreeMap::new(),
        };
        let count = arrivals::count(flow, reader, names)?;
        let there_and_back = path.len() + return_path.as_ref().unwrap_or(&path).len();
        *hops += count.unwrap_or(1) as usize * there_and_back;
        if *hops > Limits::HOPS {
            let problem = format!(
                "brings the links on all paths to {hops}, there and back, expected at most {}",
                Limits::HOPS
            );
            return Err(reader.error(&key("path"), problem));
        }
        let Some(count) = count else { return Ok(vec![member(flow.name.clone(), 0)]) };
        Ok((0..count as usize)
            .map(|number| member(format!("{}.{}", flow.name, number + 1), number))
            .collect())
    }

    fn is_measured(&self) -> bool {
        self.flow.is_measured()
    }

    /// The flow in the simulator's types; it is flow `index` of the network.
    fn spec(
        &self,
        index: usize,
        settings: &Settings,
        (layout, links): (&Layout, &[LinkSpec]),
        reader: &Reader,
        names: &Names,
    ) -> Result<FlowSpec, InputError> {
        let flow = self.flow;
        let traffic = protocol::traffic(flow, settings, reader, names)?;
        let place = |link: usize, way: Way| layout.id(link, self.copies.get(&link).copied(), way);
        let return_path = match (&traffic, &self.return_path) {
            (Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. }, _) => {
                Vec::new()
            }
            (_, Some(links)) => links.iter().map(|&link| place(link, Way::There)).collect(),
            (_, None) => self.path.iter().rev().map(|&link| place(link, Way::Back)).collect(),
        };
        let Life { start, start_spread, stop, turnover } =
            arrivals::life(flow, self.number, index, reader, names)?;
        let path: Vec<LinkId> = self.path.iter().map(|&link| place(link, Way::There)).collect();
        let slowest_bps = path.iter().map(|link| links[link.0 as usize].rate_bps).min();
        let send_jitter =
            protocol::send_jitter(flow, &traffic, slowest_bps, settings, reader, names)?;
        let application = protocol::application(flow, &traffic, reader, names)?;
        Ok(FlowSpec {
            name: self.name.clone(),
            path,
            return_path,
            traffic,
            application,
            start,
            start_spread,
            stop,
            send_jitter,
            turnover,
            wireless_immune: flow.wireless_immune,
            measured: self.is_measured(),
        })
    }
}

/// The indices of a path's links in `document.link`.
fn resolve(
    path: &[String],
    key: &str,
    document: &Document,
    reader: &Reader,
) -> Result<Vec<usize>, InputError> {
    if path.is_empty() {
        return Err(reader.error(key, "is empty, expected the names of one or more links"));
    }
    let mut places = Vec::with_capacity(path.len());
    for name in path {
        let Some(place) = document.link.iter().position(|link| link.name == *name) else {
            let known: Vec<&str> = document.link.iter().map(|link| link.name.as_str()).collect();
            return Err(reader.error(key, format!("the link {}", unknown(name, &known))));
        };
        if places.contains(&place) {
            return Err(
                reader.error(key, format!("takes the link \"{name}\" twice, expected no cycle"))
            );
        }
        places.push(place);
    }
    Ok(places)
}

/// The direction in which a link of the file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    There,
    /// A copy without the channel, for the return path.
    Back,
}

/// The network's links: which link of the file each one is a copy of.
struct Layout {
    /// (index in the file, direction, copy) in the order of the network's links.
    order: Vec<(usize, Way, Option<u32>)>,
    ids: BTreeMap<(usize, Way, Option<u32>), LinkId>,
}

impl Layout {
    /// Gives every member its copies of the per-flow links, and numbers the links that are used.
    fn new(document: &Document, members: &mut [Member]) -> Self {
        let mut copies = vec![0; document.link.len()];
        let mut ids = BTreeMap::new();
        for place in 0..members.len() {
            let (before, rest) = members.split_at_mut(place);
            let member = &mut rest[0];
            if let Some(group) = &member.flow.links_of {
                let mut earlier = before.iter().filter(|other| other.flow.name == *group);
                let same = earlier.find(|other| other.number == member.number);
                member.copies = same.map(|same| same.copies.clone()).unwrap_or_default();
            }
            let there = member.path.iter().chain(member.return_path.iter().flatten());
            for &link in there.clone() {
                if document.link[link].per_flow && !member.copies.contains_key(&link) {
                    copies[link] += 1;
                    member.copies.insert(link, copies[link]);
                }
            }
            for &link in there {
                ids.insert((link, Way::There, member.copies.get(&link).copied()), LinkId(0));
            }
            let responsive = member.flow.protocol.is_acknowledged();
            if responsive && member.return_path.is_none() {
                for &link in &member.path {
                    ids.insert((link, Way::Back, member.copies.get(&link).copied()), LinkId(0));
                }
            }
        }
        // In the order of the file, then there and back, then by copy.
        let order: Vec<_> = ids.keys().copied().collect();
        for (id, number) in ids.values_mut().zip(0..) {
            *id = LinkId(number);
        }
        Self { order, ids }
    }

    fn id(&self, link: usize, copy: Option<u32>, way: Way) -> LinkId {
        self.ids[&(link, way, copy)]
    }

    fn links(
        &self,
        document: &Document,
        reader: &Reader,
        names: &Names,
    ) -> Result<Vec<LinkSpec>, InputError> {
        // The values of unused links are checked too.
        let templates: Vec<LinkSpec> = document
            .link
            .iter()
            .map(|described: &Link| link::template(described, document, reader, names))
            .collect::<Result<_, _>>()?;
        Ok(self
            .order
            .iter()
            .map(|&(place, way, copy)| {
                let template = &templates[place];
                let copy = copy.map(|copy| format!(".{copy}")).unwrap_or_default();
                match way {
                    Way::There => {
                        LinkSpec { name: format!("{}{copy}", template.name), ..template.clone() }
                    }
                    Way::Back => template.mirrored(format!("{}{copy}.back", template.name)),
                }
            })
            .collect())
    }
}

fn bottleneck(
    document: &Document,
    layout: &Layout,
    reader: &Reader,
    names: &Names,
) -> Result<Vec<LinkId>, InputError> {
    let key = "measure.bottleneck";
    let name = match &document.measure.bottleneck {
        Bottleneck::Link(name) => Some(name),
        Bottleneck::Choices(choices) => {
            let mut chosen = None;
            for choice in choices {
                let holds = match &choice.when {
                    Some(condition) => {
                        condition.evaluate(names).map_err(|problem| reader.error(key, problem))?
                            != 0.0
                    }
                    None => true,
                };
                if holds {
                    chosen = Some(&choice.link);
                    break;
                }
            }
            chosen
        }
    };
    let Some(name) = name else { return Ok(Vec::new()) };
    let Some(place) = document.link.iter().position(|link| link.name == *name) else {
        let known: Vec<&str> = document.link.iter().map(|link| link.name.as_str()).collect();
        return Err(reader.error(key, format!("the link {}", unknown(name, &known))));
    };
    let links =
        layout.ids.iter().filter(|((link, way, _), _)| *link == place && *way == Way::There);
    let links: Vec<LinkId> = links.map(|(_, id)| *id).collect();
    if links.is_empty() {
        return Err(reader.error(
            key,
            format!("no flow takes the link \"{name}\", expected one that is on a path"),
        ));
    }
    Ok(links)
}
