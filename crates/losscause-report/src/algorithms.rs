//! A section per algorithm: its idea, its equation, its parameters in this run, how often it was
//! right, and its decision boundary over the run's samples.

use losscause::registry::{Info, Value as Setting};
use losscause::{LdaConfig, Verdict};
use losscause_sim::truth::Cause;
use minijinja::{Value, context};

use super::axis::short;
use super::{boundary, losses, pages};
use losscause_study::run::{LostPacket, RunRecord};
use losscause_study::tools::figures::sentence;
use losscause_study::tools::table::{Cell, Table};

/// The sections of the algorithms of a run; `of` names the variant, `anchor` begins their
/// identifiers. The idea of those in `told` is left out; the others are added there.
pub(super) fn views<'a>(
    record: &'a RunRecord,
    of: &str,
    anchor: &str,
    told: &mut Vec<&'a str>,
) -> Vec<Value> {
    let judges = |config: &&LdaConfig| config.info().name != losscause_study::scenario::NO_LDA;
    let mut all = Vec::new();
    for config in record.algorithms.iter().filter(judges) {
        let name = config.info().name;
        let is_told = told.contains(&name);
        told.push(name);
        all.push(view(config, record, of, anchor, is_told));
    }
    all
}

fn view(config: &LdaConfig, record: &RunRecord, of: &str, anchor: &str, is_told: bool) -> Value {
    let info = config.info();
    let name = info.name;
    let idea = match is_told {
        true => pages::Idea::default(),
        false => pages::idea(name).unwrap_or_else(|| pages::Idea {
            text: sentence(info.summary),
            ..pages::Idea::default()
        }),
    };
    let flows = record.flows.iter().filter(|flow| flow.algorithm == Some(name));
    let flows: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
    let drawings = flows.first().map(|flow| boundary::drawings(record, flow)).unwrap_or_default();
    let mine: Vec<&LostPacket> =
        record.losses.iter().filter(|loss| flows.first() == Some(&loss.flow.as_str())).collect();
    let of_base = |(prefix, base): &(&'static str, &'static Info)| {
        base.settings
            .iter()
            .map(|setting| (format!("{prefix}.{}", setting.key), setting.meaning))
            .collect::<Vec<_>>()
    };
    let own = info.settings.iter().map(|setting| (setting.key.to_owned(), setting.meaning));
    context! {
        anchor => format!("{anchor}{}", name.replace(' ', "-")),
        name,
        of,
        idea => idea.text,
        equation => idea.equation,
        symbols => idea.symbols,
        source => match info.section {
            "none" => info.paper.to_owned(),
            section => format!("{}, section {section}", info.paper),
        },
        parameters => parameters(config, own.chain(info.bases.iter().flat_map(of_base))),
        judged => judged(record, &flows),
        legend => losses::legend(&mine),
        drawings,
    }
}

/// Settings and their values: where one differs from the published value, with that below it.
fn parameters(
    config: &LdaConfig,
    settings: impl Iterator<Item = (String, &'static str)>,
) -> String {
    let text = |value: Setting<'_>| match value {
        Setting::Number(number) => short(number),
        Setting::Text(text) => text.to_owned(),
        Setting::Flag(flag) => flag.to_string(),
        _ => String::new(),
    };
    let published = losscause::BuiltIn::from_name(config.info().name);
    let published = published.map(losscause::BuiltIn::config);
    let row = |(key, meaning): (String, &'static str)| {
        let value = text(config.get(&key)?);
        let published = published.as_ref().and_then(|published| published.get(&key)).map(text);
        let below = published.filter(|published| *published != value);
        let below = below.map_or_else(String::new, |published| format!("published: {published}"));
        Some([Cell::from(key), Cell::from(value).below(below), Cell::from(meaning)])
    };
    Table::new(["", "", ""]).numbers(1..2).with_rows(settings.filter_map(row)).html()
}

/// How the losses of flows were called, by their true cause.
fn judged(record: &RunRecord, flows: &[&str]) -> String {
    let heads = ["true cause", "called congestion", "called wireless", "undecided", "no verdict"];
    let mut table = Table::new(heads).numbers(1..);
    for flow in flows {
        for (cause, name, right) in [
            (Cause::Congestion, "congestion", Verdict::Congestion),
            (Cause::Wireless, "wireless", Verdict::Wireless),
        ] {
            let losses = || {
                record.losses.iter().filter(|loss| loss.flow == *flow && loss.cause == Some(cause))
            };
            let called = |verdict| {
                let count = losses().filter(|loss| loss.verdict() == Some(verdict)).count();
                Cell::from(count.to_string()).class(if verdict == right { "right" } else { "" })
            };
            let unjudged = losses().filter(|loss| loss.verdict().is_none()).count();
            table.row([
                Cell::from(name).below(*flow),
                called(Verdict::Congestion),
                called(Verdict::Wireless),
                called(Verdict::Undecided),
                unjudged.to_string().into(),
            ]);
        }
    }
    table.html()
}
