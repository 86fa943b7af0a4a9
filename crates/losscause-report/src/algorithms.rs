//! A section per algorithm: its idea, its equation, its parameters in this run, how often it was
//! right, and its decision boundary over the run's samples.

use losscause::registry::{Info, Value};
use losscause::{LdaConfig, Verdict};
use losscause_sim::truth::Cause;
use serde::Serialize;

use super::axis::short;
use super::chart::{Figure, Legend};
use super::{boundary, losses, pages};
use losscause_study::run::{LostPacket, RunRecord};
use losscause_study::tools::figures::sentence;

#[derive(Serialize)]
pub(super) struct AlgorithmView {
    anchor: String,
    name: String,
    /// Which variant runs it, in a comparison.
    of: String,
    idea: String,
    equation: String,
    symbols: Vec<String>,
    source: String,
    /// The algorithm's own settings, then those of its base schemes.
    parameters: Vec<ParameterView>,
    of_bases: Vec<ParameterView>,
    judged: Vec<JudgedView>,
    drawings: Vec<Figure>,
    /// What marks mean, once for all drawings.
    legend: Legend,
}

#[derive(Serialize)]
struct ParameterView {
    key: String,
    value: String,
    meaning: &'static str,
    /// The published value, if this one differs.
    published: Option<String>,
}

/// How a flow's losses of one cause were called.
#[derive(Serialize)]
struct JudgedView {
    flow: String,
    cause: &'static str,
    congestion: usize,
    wireless: usize,
    undecided: usize,
    unjudged: usize,
}

impl AlgorithmView {
    /// Whether both are of the same algorithm.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// The same without what an earlier section says.
    pub(super) fn without_idea(self) -> Self {
        Self { idea: String::new(), equation: String::new(), symbols: Vec::new(), ..self }
    }
}

/// The sections of the algorithms of a run; `of` names the variant, `anchor` begins their
/// identifiers.
pub(super) fn views(record: &RunRecord, of: &str, anchor: &str) -> Vec<AlgorithmView> {
    let judges = |config: &&LdaConfig| config.info().name != losscause_study::scenario::NO_LDA;
    record.algorithms.iter().filter(judges).map(|config| view(config, record, of, anchor)).collect()
}

fn view(config: &LdaConfig, record: &RunRecord, of: &str, anchor: &str) -> AlgorithmView {
    let info = config.info();
    let name = info.name;
    let idea = pages::idea(name)
        .unwrap_or_else(|| pages::Idea { text: sentence(info.summary), ..pages::Idea::default() });
    let flows = record.flows.iter().filter(|flow| flow.algorithm == Some(name));
    let flows: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
    let drawn = flows.first().map(|flow| boundary::drawings(record, flow)).unwrap_or_default();
    let mine: Vec<&LostPacket> =
        record.losses.iter().filter(|loss| flows.first() == Some(&loss.flow.as_str())).collect();
    let legend = if drawn.is_empty() { vec![] } else { losses::legend(&mine) };
    let of_base = |(prefix, base): &(&'static str, &'static Info)| {
        base.settings
            .iter()
            .map(|setting| (format!("{prefix}.{}", setting.key), setting.meaning))
            .collect::<Vec<_>>()
    };
    let own = info.settings.iter().map(|setting| (setting.key.to_owned(), setting.meaning));
    AlgorithmView {
        anchor: format!("{anchor}{}", name.replace(' ', "-")),
        name: name.to_owned(),
        of: of.to_owned(),
        idea: idea.text,
        equation: idea.equation,
        symbols: idea.symbols,
        source: if info.section == "none" {
            info.paper.to_owned()
        } else {
            format!("{}, section {}", info.paper, info.section)
        },
        parameters: own.filter_map(|(key, meaning)| parameter(config, key, meaning)).collect(),
        of_bases: info
            .bases
            .iter()
            .flat_map(of_base)
            .filter_map(|(key, meaning)| parameter(config, key, meaning))
            .collect(),
        judged: flows.iter().flat_map(|flow| judged(record, flow)).collect(),
        drawings: drawn,
        legend,
    }
}

fn parameter(config: &LdaConfig, key: String, meaning: &'static str) -> Option<ParameterView> {
    let text = |value: Value<'_>| match value {
        Value::Number(number) => short(number),
        Value::Text(text) => text.to_owned(),
        Value::Flag(flag) => flag.to_string(),
        _ => String::new(),
    };
    let value = text(config.get(&key)?);
    let published = losscause::BuiltIn::from_name(config.info().name)
        .and_then(|algorithm| algorithm.config().get(&key));
    let published = published.map(text).filter(|published| *published != value);
    Some(ParameterView { key, value, meaning, published })
}

/// How the losses of a flow were called, by their true cause.
fn judged(record: &RunRecord, flow: &str) -> Vec<JudgedView> {
    let of = |(cause, name): (Cause, &'static str)| {
        let losses =
            || record.losses.iter().filter(|loss| loss.flow == flow && loss.cause == Some(cause));
        let called = |verdict| losses().filter(|loss| loss.verdict() == Some(verdict)).count();
        JudgedView {
            flow: flow.to_owned(),
            cause: name,
            congestion: called(Verdict::Congestion),
            wireless: called(Verdict::Wireless),
            undecided: called(Verdict::Undecided),
            unjudged: losses().filter(|loss| loss.verdict().is_none()).count(),
        }
    };
    [(Cause::Congestion, "congestion"), (Cause::Wireless, "wireless")].map(of).into()
}
