//! What the program knows by name: the JSON of `losscause list --format json`. docs/json.md
//! describes it for readers.

use losscause::registry::{Info, Origin};
use losscause_study::Registry;
use serde::{Deserialize, Serialize};

use crate::papers::record;
use losscause_study::{Context, InputError, Scenario, scenario};

/// The lists of the catalogue. A list that was not requested is none, and absent from the JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Loss differentiation algorithms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithms: Option<Vec<Algorithm>>,
    /// What a flow can run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocols: Option<Vec<Protocol>>,
    /// The papers' scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<Vec<PaperScenario>>,
    /// The papers with their tables and figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub papers: Option<Vec<Paper>>,
    /// Experiments on real stacks with their tables: records of the same form as papers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiments: Option<Vec<Paper>>,
}

/// A loss differentiation algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    /// The name that a flow's `lda` takes.
    pub name: String,
    /// What it does, in a few words.
    pub summary: String,
    /// The paper that describes it, or the stack that it is the rule of.
    pub paper: String,
    /// Where in the paper.
    pub section: String,
    /// Whether it is a known rule of another stack, to compare with.
    #[serde(default)]
    pub yardstick: bool,
    /// What its section `[lda.NAME]` in a scenario can set.
    pub settings: Vec<AlgorithmSetting>,
}

/// A setting of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmSetting {
    /// The setting's key, as scenario files write it.
    pub key: String,
    /// What it means, with its unit.
    pub meaning: String,
}

/// A protocol, or a variant of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The name that a flow's `protocol` takes.
    pub name: String,
    /// The name that its `variant` takes; none for the protocol itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What it does, in a few words.
    pub summary: String,
}

/// A scenario of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperScenario {
    /// PAPER/SCENARIO.
    pub name: String,
    /// The scenario's title.
    pub title: String,
    /// Where it comes from.
    pub source: Option<String>,
}

/// A paper, or an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name that `reproduce` takes.
    pub name: String,
    /// The paper's title.
    pub title: String,
    /// Where it appeared; of an experiment, what it is measured with.
    pub venue: String,
    /// When it appeared.
    pub year: Option<u16>,
    /// Runs behind each of its numbers.
    pub repetitions: u32,
    /// The paper's tables and figures.
    pub items: Vec<PaperItem>,
}

/// A table or figure of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperItem {
    /// PAPER/ITEM.
    pub name: String,
    /// What the paper calls it: "Table II".
    pub source: String,
    /// The title of the table or figure.
    pub title: String,
}

/// The algorithms of `registry`.
pub fn algorithms(registry: &Registry) -> Vec<Algorithm> {
    let entry = |info: &'static Info| Algorithm {
        name: info.name.to_owned(),
        summary: info.summary.to_owned(),
        paper: info.paper.to_owned(),
        section: info.section.to_owned(),
        yardstick: info.origin == Origin::Yardstick,
        settings: (info.settings.iter())
            .map(|setting| AlgorithmSetting {
                key: setting.key.to_owned(),
                meaning: setting.meaning.to_owned(),
            })
            .collect(),
    };
    registry.infos().map(entry).collect()
}

/// The protocols as the scenario's schema describes them; TCP is followed by those of `registry`.
pub fn protocols(registry: &Registry) -> Vec<Protocol> {
    let schema: serde_json::Value =
        serde_json::from_str(scenario::SCHEMA).expect("a test reads the schema");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let choices = |of: &str| {
        let choices = schema["$defs"][of]["oneOf"].as_array().cloned().unwrap_or_default();
        choices.into_iter().map(|choice| (text(&choice["const"]), text(&choice["description"])))
    };
    let mut protocols = Vec::new();
    for (name, summary) in choices("Protocol") {
        let is_tcp = name == "tcp";
        protocols.push(Protocol { name: name.clone(), variant: None, summary });
        if is_tcp {
            protocols.extend(registry.tcps().iter().map(|tcp| Protocol {
                name: name.clone(),
                variant: Some(tcp.name().to_owned()),
                summary: tcp.summary().to_owned(),
            }));
        }
    }
    protocols
}

/// The papers' scenarios.
///
/// # Errors
/// None, as long as the scenarios that are part of the program can be read.
pub fn scenarios() -> Result<Vec<PaperScenario>, InputError> {
    let mut scenarios = Vec::new();
    for paper in record::all() {
        for text in paper.scenarios() {
            let name = format!("{}/{}", paper.key(), text.name);
            let scenario = Scenario::parse(text.text, &name, &Context::default())?;
            let document = scenario.document();
            let title = document.title.clone();
            let source = document.source.clone();
            scenarios.push(PaperScenario { name, title, source });
        }
    }
    Ok(scenarios)
}

/// The papers.
pub fn papers() -> Vec<Paper> {
    entries(record::all())
}

/// Experiments by their records.
pub fn experiments<'a>(records: impl IntoIterator<Item = &'a record::Paper>) -> Vec<Paper> {
    let of = |paper: Paper, record: &record::Paper| Paper {
        venue: record.published().simulator.clone(),
        ..paper
    };
    let records: Vec<&record::Paper> = records.into_iter().collect();
    entries(records.iter().copied())
        .into_iter()
        .zip(records)
        .map(|(paper, record)| of(paper, record))
        .collect()
}

fn entries<'a>(records: impl IntoIterator<Item = &'a record::Paper>) -> Vec<Paper> {
    let entry = |paper: &record::Paper| {
        let published = paper.published();
        let items = paper.items().item.iter().map(|item| PaperItem {
            name: format!("{}/{}", published.key, item.id),
            source: item.source.clone(),
            title: item.title.clone(),
        });
        Paper {
            name: published.key.clone(),
            title: published.title.clone(),
            venue: published.venue.clone(),
            year: published.year,
            repetitions: published.repetitions,
            items: items.collect(),
        }
    };
    records.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_names_what_it_should() {
        let protocols = protocols(&losscause_study::registry());
        assert!(protocols.iter().any(|p| p.name == "tfrc" && !p.summary.is_empty()));
        let newreno = Some("newreno".to_owned());
        assert!(
            protocols
                .iter()
                .any(|p| p.name == "tcp" && p.variant == newreno && !p.summary.is_empty())
        );
        let algorithms = algorithms(&losscause_study::registry());
        assert!(algorithms.iter().any(|a| a.name == "ZBS" && a.section == "VII-A"));
        assert!(algorithms.iter().any(|a| a.name == "omniscient"));
        let yardsticks: Vec<&str> =
            algorithms.iter().filter(|a| a.yardstick).map(|a| a.name.as_str()).collect();
        assert_eq!(
            yardsticks,
            ["Veno", "CDG tolerance", "fqRTT", "n-th loss", "drop rate", "roll-back"]
        );
        assert!(scenarios().unwrap().iter().any(|s| s.name == "cen2003/WLH"));
        assert!(papers().iter().any(|p| p.items.iter().any(|i| i.name == "cen2003/table2")));
    }

    #[test]
    fn its_json_is_read_back_as_it_was() {
        let all = Catalogue {
            algorithms: Some(algorithms(&losscause_study::registry())),
            protocols: Some(protocols(&losscause_study::registry())),
            scenarios: None,
            papers: Some(papers()),
            experiments: Some(experiments(&record::all()[..1])),
        };
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Catalogue>(&json).unwrap(), all);
        assert!(!json.contains("\"scenarios\""), "a list that was not asked for is absent");
    }
}
