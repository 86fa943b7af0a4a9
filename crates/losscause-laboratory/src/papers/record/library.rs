//! Papers and their scenarios by name.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use losscause_study::files::{Either, Files};
use losscause_study::{Context, InputError, Scenario};

use super::embedded::{Embedded, PAPERS};
use super::paper::{Paper, unknown};

static LIBRARY: LazyLock<Vec<Paper>> = LazyLock::new(|| PAPERS.iter().map(Paper::of).collect());

/// Every paper.
pub fn all() -> &'static [Paper] {
    &LIBRARY
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

/// The text of a paper's scenario, by the names of paper and scenario: `scenario("cen2003",
/// "WLH")`.
pub fn scenario(paper: &str, name: &str) -> Option<&'static str> {
    let paper = all().iter().find(|p| p.key() == paper)?;
    paper.scenarios().iter().find(|s| s.name == name).map(|s| s.text)
}

/// The text of the scenario that `name` stands for, PAPER/SCENARIO.
///
/// # Errors
/// There is no such paper or scenario; the error names the nearest.
pub fn scenario_text(name: &str) -> Result<&'static str, InputError> {
    Ok(paper_of(name)?.scenario(name)?.text)
}

/// Reads the scenario that `name` stands for, PAPER/SCENARIO.
///
/// # Errors
/// As [`scenario_text`].
pub fn load_scenario(name: &str, context: &Context) -> Result<Scenario, InputError> {
    paper_of(name)?.load_scenario(name, context)
}

/// Reads a scenario file, `name` in `directory`, whose fading pattern may be a paper's; or, if
/// there is no such file, the paper's scenario of that name.
///
/// # Errors
/// As [`Scenario::load`], and as [`load_scenario`] where `name` begins with a paper's name.
pub fn open_scenario(
    name: &Path,
    directory: &Path,
    context: &Context,
) -> Result<Scenario, InputError> {
    let file = directory.join(name);
    match name.to_str().and_then(|text| Some((text, text.split_once('/')?.0))) {
        Some((text, paper)) if find(paper).is_ok() && is_missing(&file, context) => {
            load_scenario(text, context)
        }
        _ => Scenario::load(&file, &with_papers(context)),
    }
}

/// The same context, in which a file that is missing may be a paper's.
pub fn with_papers(context: &Context) -> Context {
    context.clone().with_files(Either(Arc::clone(context.files()), Embedded))
}

/// Whether there is no such file. A name below a file, which is no directory, is missing too.
fn is_missing(file: &Path, context: &Context) -> bool {
    context
        .files()
        .open(file)
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

fn paper_of(scenario: &str) -> Result<&'static Paper, InputError> {
    find(scenario.split_once('/').map_or(scenario, |(paper, _)| paper))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use losscause_study::files::Memory;

    use super::*;
    use crate::papers::record::{ItemKind, Kind, Number};

    #[test]
    fn a_file_of_the_context_comes_before_the_papers_scenario() {
        let own = "title = \"mine\"\nduration_s = 1";
        let title = |name: &str, context: &Context| {
            let scenario = open_scenario(Path::new(name), Path::new(""), context);
            scenario
                .map(|scenario| scenario.document().title.clone())
                .map_err(|error| error.to_string())
        };
        let context = Context::default().with_files(Memory::new().with("cen2003/WLH", own));
        assert_eq!(title("cen2003/WLH", &context).as_deref(), Ok("mine"));
        assert_eq!(title("cen2003/WB", &context), title("cen2003/WB", &Context::default()));
        let refused = title("cen2003/none", &context).unwrap_err();
        assert!(refused.starts_with("cen2003/none: is no scenario"), "{refused}");
    }

    #[test]
    fn every_file_of_every_paper_is_read() {
        assert!(!all().is_empty());
        for paper in all() {
            assert!(
                !paper.is_published() || paper.published().number.len() > 10,
                "{}",
                paper.key()
            );
            assert!(!paper.items().item.is_empty(), "{}", paper.key());
            assert_eq!(paper.published().key, paper.key());
            let _ = (paper.explanations(), paper.costs());
        }
    }

    #[test]
    fn items_name_only_systems_metrics_and_scenarios_that_exist() {
        for paper in all() {
            for item in &paper.items().item {
                let of_no_system = item.kind == ItemKind::Pattern;
                let known = |s: &String| paper.system(s).is_some() || of_no_system && s == "all";
                item.systems.iter().for_each(|s| assert!(known(s), "{}: {s}", item.id));
                item.metrics
                    .iter()
                    .for_each(|m| assert!(paper.metric(m).is_some(), "{}: {m}", item.id));
                let known = scenario(paper.key(), &item.scenario).is_some()
                    || paper.items().network.iter().any(|n| n.scenario == item.scenario);
                assert!(
                    known
                        || matches!(
                            item.kind,
                            ItemKind::Operations | ItemKind::Pattern | ItemKind::Model
                        ),
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
            let place =
                |n: &Number| format!("{} {} {} {:?}", n.metric, n.system, n.scenario, n.parameters);
            let scored: Vec<String> =
                numbers.iter().filter(|n| n.kind == Kind::Result).map(place).collect();
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
        assert!(
            error.starts_with("cen2003/tabel2: is no item (did you mean \"table2\"?)"),
            "{error}"
        );
    }

    #[test]
    fn a_figure_s_name_stands_for_itself_and_its_parts() {
        let called = |paper: &str, id: &str| -> Vec<&str> {
            find(paper)
                .unwrap()
                .items_called(id)
                .unwrap()
                .iter()
                .map(|item| item.id.as_str())
                .collect()
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
