//! The papers, as data: what they publish, which of it is measured, and the scenarios that measure it. All of it is
//! part of the program, so that it reproduces the papers wherever it is run.

use std::path::Path;
use std::sync::LazyLock;

use losscause::registry::Registry;

use crate::error::nearest;
use crate::papers::claims::{self, Predicate};
use crate::{InputError, Scenario};

mod item;
mod items;
mod parameters;
mod patterns;
mod plot;
mod published;

use patterns::Fading;

pub(crate) use item::is_tiny;
pub use item::{ClaimOutcome, Item, Status};
pub use items::{
    Calibration, ItemKind, ItemSpec, Items, NetworkOf, OneOrMany, Over, ParameterSetting, QuotientOf, Read, Shown,
};
pub use parameters::{Parameters, Value};
pub use patterns::{KnownPattern, pattern};
pub use plot::{CurveSpec, EventsSpec, Happening, PhaseSpec, PlotSpec, Track};
pub use published::{Claim, Kind, Metric, Number, Published, Role, System};

/// A paper whose results can be reproduced.
#[derive(Debug)]
pub struct Paper {
    published: Published,
    items: Items,
    scenarios: &'static [ScenarioText],
    fading: Option<Fading>,
    predicates: &'static [&'static [(&'static str, Predicate)]],
}

/// A scenario of a paper, as it stands in its file.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioText {
    /// Its name in the paper: "WLH".
    pub name: &'static str,
    /// The file, in TOML.
    pub text: &'static str,
}

macro_rules! paper_file {
    ($path:literal) => {
        include_str!(concat!("../../../papers/", $path))
    };
}

static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    vec![
        Paper::parse(
            paper_file!("barman2002/published.toml"),
            paper_file!("barman2002/items.toml"),
            &[
                ScenarioText { name: "config1", text: paper_file!("barman2002/scenarios/config1.toml") },
                ScenarioText { name: "config2", text: paper_file!("barman2002/scenarios/config2.toml") },
            ],
            None,
            claims::barman2002::PREDICATES,
        ),
        Paper::parse(
            paper_file!("cen2003/published.toml"),
            paper_file!("cen2003/items.toml"),
            &[
                ScenarioText { name: "WLH", text: paper_file!("cen2003/scenarios/WLH.toml") },
                ScenarioText { name: "WB", text: paper_file!("cen2003/scenarios/WB.toml") },
            ],
            Some(Fading {
                channel: paper_file!("cen2003/channel.toml"),
                patterns: &[
                    ("high", paper_file!("cen2003/patterns/high.txt")),
                    ("medium", paper_file!("cen2003/patterns/medium.txt")),
                    ("low", paper_file!("cen2003/patterns/low.txt")),
                ],
            }),
            claims::cen2003::PREDICATES,
        ),
        Paper::parse(
            paper_file!("biaz1999/published.toml"),
            paper_file!("biaz1999/items.toml"),
            &[
                ScenarioText { name: "accuracy", text: paper_file!("biaz1999/scenarios/accuracy.toml") },
                ScenarioText { name: "throughput", text: paper_file!("biaz1999/scenarios/throughput.toml") },
            ],
            None,
            claims::biaz1999::PREDICATES,
        ),
        Paper::parse(
            paper_file!("koo2007/published.toml"),
            paper_file!("koo2007/items.toml"),
            &[
                ScenarioText { name: "single", text: paper_file!("koo2007/scenarios/single.toml") },
                ScenarioText { name: "background", text: paper_file!("koo2007/scenarios/background.toml") },
                ScenarioText { name: "fairness", text: paper_file!("koo2007/scenarios/fairness.toml") },
            ],
            None,
            claims::koo2007::PREDICATES,
        ),
        Paper::parse(
            paper_file!("dalwadi/published.toml"),
            paper_file!("dalwadi/items.toml"),
            &[
                ScenarioText { name: "star", text: paper_file!("dalwadi/scenarios/star.toml") },
                ScenarioText { name: "line", text: paper_file!("dalwadi/scenarios/line.toml") },
            ],
            None,
            claims::dalwadi::PREDICATES,
        ),
        // No paper: runs of our own, in the scenarios of Cen 2003.
        Paper::parse(paper_file!("extra/systems.toml"), paper_file!("extra/items.toml"), &[], None, &[]),
    ]
});

impl Paper {
    /// A paper that is not the program's, without scenarios of its own.
    #[cfg(test)]
    pub(crate) fn of_texts(published: &str, items: &str) -> &'static Self {
        Box::leak(Box::new(Self::parse(published, items, &[], None, &[])))
    }

    fn parse(
        published: &str,
        items: &str,
        scenarios: &'static [ScenarioText],
        fading: Option<Fading>,
        predicates: &'static [&'static [(&'static str, Predicate)]],
    ) -> Self {
        // The whole error would print the whole file.
        let brief = |error: toml::de::Error| error.message().to_owned();
        Self {
            published: toml::from_str(published).map_err(brief).expect("a test reads what every paper publishes"),
            items: toml::from_str(items).map_err(brief).expect("a test reads the items of every paper"),
            scenarios,
            fading,
            predicates,
        }
    }

    /// Short name: "cen2003".
    pub fn key(&self) -> &str {
        &self.published.key
    }

    /// What the paper publishes.
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// Whether any number is published. What has none is measured only where it is named, and never scored.
    pub fn is_published(&self) -> bool {
        !self.published.number.is_empty()
    }

    /// Which of it is measured.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// Its scenarios.
    pub fn scenarios(&self) -> &'static [ScenarioText] {
        self.scenarios
    }

    /// The file of its fading channel, if it has one.
    pub fn channel(&self) -> Option<&'static str> {
        self.fading.map(|fading| fading.channel)
    }

    /// What it publishes about the pattern of that name.
    pub fn published_of_pattern(&self, metric: &str, pattern: &str) -> Option<f64> {
        let named =
            |n: &&Number| n.metric == metric && n.parameters.get("loss").is_some_and(|v| v.to_string() == pattern);
        self.published.number.iter().find(named).map(|n| n.value)
    }

    /// One predicate per checkable claim.
    pub fn predicates(&self) -> &'static [&'static [(&'static str, Predicate)]] {
        self.predicates
    }

    /// The table or figure of that name.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub fn item(&self, id: &str) -> Result<&ItemSpec, InputError> {
        let named = |i: &&ItemSpec| i.id.eq_ignore_ascii_case(id);
        let known = || self.items.item.iter().map(|i| i.id.as_str());
        self.items.item.iter().find(named).ok_or_else(|| unknown("item", &format!("{}/{id}", self.key()), id, known()))
    }

    /// The table or figure of that name and all its parts: `figure13` stands for `figure13-WLH` and `figure13-WB`.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub fn items_called(&self, id: &str) -> Result<Vec<&ItemSpec>, InputError> {
        let whole = |i: &&ItemSpec| {
            let part = i.id.split_once('-').is_some_and(|(whole, _)| whole.eq_ignore_ascii_case(id));
            part || i.id.eq_ignore_ascii_case(id)
        };
        let parts: Vec<&ItemSpec> = self.items.item.iter().filter(whole).collect();
        if parts.is_empty() { Ok(vec![self.item(id)?]) } else { Ok(parts) }
    }

    /// The system of that name.
    pub fn system(&self, name: &str) -> Option<&System> {
        self.published.system.iter().find(|s| s.name == name)
    }

    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.published.metric.iter().find(|m| m.name == name)
    }
}

/// Every paper.
pub fn all() -> &'static [Paper] {
    &PAPERS
}

/// The paper of that short name.
///
/// # Errors
/// There is none; the error names the nearest.
pub fn find(key: &str) -> Result<&'static Paper, InputError> {
    let known = || all().iter().map(Paper::key);
    let named = |p: &&Paper| p.key().eq_ignore_ascii_case(key);
    all().iter().find(named).ok_or_else(|| unknown("paper", key, key, known()))
}

/// The text of a paper's scenario, by the names of paper and scenario: `scenario("cen2003", "WLH")`.
pub fn scenario(paper: &str, name: &str) -> Option<&'static str> {
    let paper = all().iter().find(|p| p.key() == paper)?;
    paper.scenarios.iter().find(|s| s.name == name).map(|s| s.text)
}

/// The text of the scenario that `name` stands for, PAPER/SCENARIO.
///
/// # Errors
/// There is no such paper or scenario; the error names the nearest.
pub fn scenario_text(name: &str) -> Result<&'static str, InputError> {
    named_scenario(name).map(|(_, scenario)| scenario.text)
}

/// Reads the scenario that `name` stands for, PAPER/SCENARIO.
///
/// # Errors
/// As [`scenario_text`].
pub fn load_scenario(name: &str) -> Result<Scenario, InputError> {
    load_scenario_with(name, &crate::registry())
}

/// [`load_scenario`] for flows that may run the algorithms of `registry`.
///
/// # Errors
/// As [`scenario_text`].
pub fn load_scenario_with(name: &str, registry: &Registry) -> Result<Scenario, InputError> {
    let (paper, scenario) = named_scenario(name)?;
    Scenario::parse_with(scenario.text, &format!("{}/{}", paper.key(), scenario.name), registry)
}

/// Reads a scenario file, `name` in `directory`; or, if there is no such file, the paper's scenario of that name.
///
/// # Errors
/// As [`Scenario::load`], and as [`load_scenario`] where `name` begins with a paper's name.
pub fn open_scenario(name: &Path, directory: &Path) -> Result<Scenario, InputError> {
    open_scenario_with(name, directory, &crate::registry())
}

/// [`open_scenario`] for flows that may run the algorithms of `registry`.
///
/// # Errors
/// As [`open_scenario`].
pub fn open_scenario_with(name: &Path, directory: &Path, registry: &Registry) -> Result<Scenario, InputError> {
    let file = directory.join(name);
    match name.to_str().and_then(|text| Some((text, text.split_once('/')?.0))) {
        Some((text, paper)) if !file.exists() && find(paper).is_ok() => load_scenario_with(text, registry),
        _ => Scenario::load_with(&file, registry),
    }
}

fn named_scenario(name: &str) -> Result<(&'static Paper, &'static ScenarioText), InputError> {
    let (paper, scenario) = name.split_once('/').unwrap_or((name, ""));
    let paper = find(paper)?;
    let known = || paper.scenarios.iter().map(|s| s.name);
    let found = paper.scenarios.iter().find(|s| s.name.eq_ignore_ascii_case(scenario));
    found.map(|found| (paper, found)).ok_or_else(|| unknown("scenario", name, scenario, known()))
}

fn unknown<'a>(what: &str, option: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> InputError {
    let hint = nearest(name, known.clone()).map(|n| format!(" (did you mean \"{n}\"?)")).unwrap_or_default();
    let list = known.collect::<Vec<_>>().join(", ");
    InputError::Option { option: option.to_owned(), problem: format!("is no {what}{hint}, expected one of {list}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_every_paper_is_read() {
        assert!(!all().is_empty());
        for paper in all() {
            assert!(!paper.is_published() || paper.published().number.len() > 10, "{}", paper.key());
            assert!(!paper.items().item.is_empty(), "{}", paper.key());
        }
    }

    #[test]
    fn items_name_only_systems_metrics_and_scenarios_that_exist() {
        for paper in all() {
            for item in &paper.items().item {
                let of_no_system = item.kind == ItemKind::Pattern;
                let known = |s: &String| paper.system(s).is_some() || of_no_system && s == "all";
                item.systems.iter().for_each(|s| assert!(known(s), "{}: {s}", item.id));
                item.metrics.iter().for_each(|m| assert!(paper.metric(m).is_some(), "{}: {m}", item.id));
                let known = scenario(paper.key(), &item.scenario).is_some()
                    || paper.items().network.iter().any(|n| n.scenario == item.scenario);
                assert!(
                    known || matches!(item.kind, ItemKind::Operations | ItemKind::Pattern | ItemKind::Model),
                    "{}: {}",
                    item.id,
                    item.scenario
                );
            }
        }
    }

    #[test]
    fn no_two_numbers_of_a_paper_answer_to_the_same_name_or_place() {
        for paper in all() {
            let numbers = &paper.published().number;
            let ids: BTreeSet<&str> = numbers.iter().map(|n| n.id.as_str()).collect();
            assert_eq!(ids.len(), numbers.len());
            let place = |n: &Number| format!("{} {} {} {:?}", n.metric, n.system, n.scenario, n.parameters);
            let scored: Vec<String> = numbers.iter().filter(|n| n.kind == Kind::Result).map(place).collect();
            assert_eq!(scored.iter().collect::<BTreeSet<_>>().len(), scored.len());
        }
    }

    #[test]
    fn an_unknown_paper_or_item_is_told_the_nearest() {
        assert_eq!(
            find("cen2030").unwrap_err().to_string(),
            "cen2030: is no paper (did you mean \"cen2003\"?), expected one of barman2002, cen2003, biaz1999, koo2007, dalwadi, extra"
        );
        let error = find("cen2003").unwrap().item("tabel2").unwrap_err().to_string();
        assert!(error.starts_with("cen2003/tabel2: is no item (did you mean \"table2\"?)"), "{error}");
    }

    #[test]
    fn a_figure_s_name_stands_for_itself_and_its_parts() {
        let called = |paper: &str, id: &str| -> Vec<&str> {
            find(paper).unwrap().items_called(id).unwrap().iter().map(|item| item.id.as_str()).collect()
        };
        assert_eq!(
            called("cen2003", "figure13"),
            ["figure13-WLH", "figure13-WB", "figure13-WLH-mean", "figure13-WB-mean"]
        );
        assert_eq!(called("barman2002", "figure9"), ["figure9", "figure9-FF", "figure9-ten"]);
        assert_eq!(called("barman2002", "figure9-ten"), ["figure9-ten"]);
    }

    #[test]
    fn tables_two_and_three_hold_the_values_printed_in_the_paper() {
        let published = find("cen2003").unwrap().published();
        let row = |scenario: &str, metric: &str| -> Vec<f64> {
            ["TCP", "TFRC", "Omni", "Biaz", "mBiaz", "Spike", "ZigZag"]
                .iter()
                .map(|s| format!("{scenario}.N1.{s}.{metric}"))
                .map(|id| published.number.iter().find(|n| n.id == id).unwrap().value)
                .collect()
        };
        assert_eq!(row("WLH", "thput"), [55.0, 84.0, 99.0, 99.0, 99.0, 99.0, 98.0]);
        assert_eq!(row("WLH", "cong"), [0.8, 0.2, 2.3, 2.3, 2.3, 0.4, 0.3]);
        assert_eq!(row("WLH", "M_w"), [100.0, 100.0, 0.0, 6.3, 6.6, 58.0, 66.0]);
        assert_eq!(row("WB", "thput"), [23.0, 37.0, 99.0, 97.0, 91.0, 99.0, 53.0]);
        assert_eq!(row("WB", "cong"), [0.1, 0.0, 0.4, 0.4, 0.4, 0.0, 0.0]);
        assert_eq!(row("WB", "M_w"), [100.0, 100.0, 0.0, 2.4, 7.0, 20.0, 60.0]);
    }
}
