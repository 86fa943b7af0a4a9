//! `losscause list`: what the program knows.

use clap::ValueEnum;
use losscause::registry::{Info, Registry};
use losscause_study::papers::record;
use losscause_study::{InputError, Scenario, scenario};
use serde::Serialize;

use crate::Failure;
use crate::output::{self, Format};

/// What `list` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to list [default: everything]
    #[arg(value_enum)]
    what: Option<What>,
    /// With `scenarios`: print this one, PAPER/SCENARIO, to be copied and changed:
    /// `losscause list scenarios cen2003/WLH > mine.toml`.
    #[arg(requires = "what")]
    name: Option<String>,
    /// What the list looks like.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Loss differentiation algorithms, by the names that a flow's `lda` takes.
    Algorithms,
    /// What a flow can run.
    Protocols,
    /// The papers' scenarios.
    Scenarios,
    /// The papers and their tables and figures.
    Papers,
}

/// Prints one list or all of them; or one scenario.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    if let Some(name) = &arguments.name {
        return print_scenario(arguments.what, name);
    }
    let wanted = |what: What| arguments.what.is_none_or(|wanted| wanted == what);
    let lists = Lists {
        algorithms: wanted(What::Algorithms).then(|| algorithms(registry)),
        protocols: wanted(What::Protocols).then(protocols),
        scenarios: wanted(What::Scenarios).then(scenarios).transpose()?,
        papers: wanted(What::Papers).then(papers),
    };
    match arguments.format {
        Format::Json => output::json(&lists)?,
        Format::Table => output::line(&tables(&lists))?,
    }
    Ok(())
}

fn print_scenario(what: Option<What>, name: &str) -> Result<(), Failure> {
    if what != Some(What::Scenarios) {
        let option = format!("losscause list … {name}");
        let problem = "is one name too many, expected it after `losscause list scenarios` only".to_owned();
        return Err(InputError::Option { option, problem }.into());
    }
    Ok(output::line(record::scenario_text(name)?.trim_end())?)
}

#[derive(Serialize)]
struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithms: Option<Vec<AlgorithmEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocols: Option<Vec<ProtocolEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenarios: Option<Vec<ScenarioEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    papers: Option<Vec<PaperEntry>>,
}

#[derive(Serialize)]
struct AlgorithmEntry {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    section: &'static str,
    settings: Vec<SettingEntry>,
}

#[derive(Serialize)]
struct SettingEntry {
    key: &'static str,
    meaning: &'static str,
}

#[derive(Serialize)]
struct ProtocolEntry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    summary: String,
}

#[derive(Serialize)]
struct ScenarioEntry {
    name: String,
    title: String,
    source: Option<String>,
}

#[derive(Serialize)]
struct PaperEntry {
    name: &'static str,
    title: &'static str,
    venue: &'static str,
    year: Option<u16>,
    repetitions: u32,
    items: Vec<ItemEntry>,
}

#[derive(Serialize)]
struct ItemEntry {
    name: String,
    source: &'static str,
    title: &'static str,
}

fn algorithms(registry: &Registry) -> Vec<AlgorithmEntry> {
    let entry = |info: &'static Info| {
        let settings = info.settings.iter().map(|s| SettingEntry { key: s.key, meaning: s.meaning });
        AlgorithmEntry {
            name: info.name,
            summary: info.summary,
            paper: info.paper,
            section: info.section,
            settings: settings.collect(),
        }
    };
    registry.infos().map(entry).collect()
}

/// The protocols as the scenario's schema describes them, TCP followed by its variants.
fn protocols() -> Vec<ProtocolEntry> {
    let schema = scenario::schema();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let choices = |of: &str| {
        let choices = schema["$defs"][of]["oneOf"].as_array().cloned().unwrap_or_default();
        choices.into_iter().map(|choice| (text(&choice["const"]), text(&choice["description"])))
    };
    let mut entries = Vec::new();
    for (name, summary) in choices("Protocol") {
        let is_tcp = name == "tcp";
        entries.push(ProtocolEntry { name: name.clone(), variant: None, summary });
        if is_tcp {
            let variants = choices("TcpVariant");
            entries.extend(variants.map(|(v, summary)| ProtocolEntry {
                name: name.clone(),
                variant: Some(v),
                summary,
            }));
        }
    }
    entries
}

fn scenarios() -> Result<Vec<ScenarioEntry>, InputError> {
    let mut entries = Vec::new();
    for paper in record::all() {
        for text in paper.scenarios() {
            let name = format!("{}/{}", paper.key(), text.name);
            let scenario = Scenario::parse(text.text, &name)?;
            let document = scenario.document();
            let (title, source) = (document.title.clone(), document.source.clone());
            entries.push(ScenarioEntry { name, title, source });
        }
    }
    Ok(entries)
}

fn papers() -> Vec<PaperEntry> {
    let entry = |paper: &'static record::Paper| {
        let published = paper.published();
        let items = paper.items().item.iter().map(|item| ItemEntry {
            name: format!("{}/{}", published.key, item.id),
            source: &item.source,
            title: &item.title,
        });
        PaperEntry {
            name: &published.key,
            title: &published.title,
            venue: &published.venue,
            year: published.year,
            repetitions: published.repetitions,
            items: items.collect(),
        }
    };
    record::all().iter().map(entry).collect()
}

fn tables(lists: &Lists) -> String {
    let mut parts = Vec::new();
    if let Some(entries) = &lists.algorithms {
        let mut table = output::table(&["algorithm", "what it does", "source"], &[]);
        for entry in entries {
            table.add_row([entry.name, entry.summary, &format!("{}, {}", entry.paper, entry.section)]);
        }
        parts.push(table);
    }
    if let Some(entries) = &lists.protocols {
        let mut table = output::table(&["protocol", "variant", "what it does"], &[]);
        for entry in entries {
            table.add_row([&entry.name, entry.variant.as_deref().unwrap_or(""), &entry.summary]);
        }
        parts.push(table);
    }
    if let Some(entries) = &lists.scenarios {
        let mut table = output::table(&["scenario", "title", "source"], &[]);
        for entry in entries {
            table.add_row([&entry.name, &entry.title, entry.source.as_deref().unwrap_or("–")]);
        }
        parts.push(table);
    }
    if let Some(entries) = &lists.papers {
        let mut table = output::table(&["paper or item", "in the paper", "title"], &[]);
        for entry in entries {
            table.add_row([entry.name, entry.venue, entry.title]);
            entry.items.iter().for_each(|item| _ = table.add_row([&item.name, item.source, item.title]));
        }
        parts.push(table);
    }
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_what_the_foundation_is_made_of() {
        assert!(protocols().iter().any(|p| p.name == "tfrc" && !p.summary.is_empty()));
        let newreno = Some("newreno".to_owned());
        assert!(protocols().iter().any(|p| p.name == "tcp" && p.variant == newreno && !p.summary.is_empty()));
        let algorithms = algorithms(&losscause_study::registry());
        assert!(algorithms.iter().any(|a| a.name == "ZBS" && a.section == "VII-A"));
        assert!(algorithms.iter().any(|a| a.name == "omniscient"));
        assert!(scenarios().unwrap().iter().any(|s| s.name == "cen2003/WLH"));
        assert!(papers().iter().any(|p| p.items.iter().any(|i| i.name == "cen2003/table2")));
    }
}
