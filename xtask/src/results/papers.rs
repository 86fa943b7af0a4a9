//! `papers/<paper>`: every scored number and every claim of a paper, from `validation/record`, the
//! paper's `published.toml` and its `explanations.toml`.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use losscause_laboratory::papers::record::{self, Item, Paper, Parameters, Status, Value};
use losscause_laboratory::papers::score::{lookup_number, within};

use super::{Origin, Page};
use crate::record::{CLAIMS_FILE, PAPERS, RUNS, VALUES_FILE, recorded};

/// A page per paper.
pub(super) fn pages() -> Result<Vec<Page>> {
    let values = recorded(VALUES_FILE)?;
    let claims = recorded(CLAIMS_FILE)?;
    PAPERS.iter().map(|key| page(key, &values, &claims)).collect()
}

fn page(key: &str, values: &[Vec<String>], claims: &[Vec<String>]) -> Result<Page> {
    let paper = record::find(key).with_context(|| format!("no paper {key}"))?;
    let of_paper = |line: &&Vec<String>| line.first().is_some_and(|name| name == key);
    let items = values
        .iter()
        .filter(of_paper)
        .map(|line| item(paper, line))
        .collect::<Result<Vec<Item>>>()?;
    let holds: BTreeMap<&str, &str> = claims
        .iter()
        .filter(of_paper)
        .filter_map(|line| Some((line.get(1)?.as_str(), line.get(2)?.as_str())))
        .collect();
    let mut reasons = Reasons::default();
    let numbers = numbers(paper, &items, &mut reasons);
    let claims = self::claims(paper, &holds, &mut reasons);
    Ok(Page {
        name: format!("papers/{key}"),
        title: format!("{}: numbers and claims", title(paper)),
        command: format!(
            "`cargo xtask record --update` measures with {RUNS} runs, `cargo xtask results papers/{key}` writes this page"
        ),
        origin: Origin::Data(&["validation/record"]),
        body: format!("{numbers}{claims}{}", reasons.list()),
    })
}

/// Author and year: "Cen et al. 2003".
fn title(paper: &Paper) -> String {
    let published = paper.published();
    let last = |name: &String| name.split(' ').next_back().unwrap_or_default().to_owned();
    let authors: Vec<String> = published.authors.iter().map(last).collect();
    let authors = match authors.as_slice() {
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        all => format!("{} et al.", all.first().map_or("", String::as_str)),
    };
    published.year.map_or_else(|| authors.clone(), |year| format!("{authors} {year}"))
}

/// A line of `validation/record/values.csv` as what it was.
fn item(paper: &Paper, line: &[String]) -> Result<Item> {
    let [key, id, system, scenario, parameters, metric, measured] = line else {
        anyhow::bail!("{VALUES_FILE}: {line:?} has not seven columns");
    };
    let measured = match measured.as_str() {
        "" => None,
        value => Some(value.parse().with_context(|| format!("{VALUES_FILE}: {id}"))?),
    };
    Ok(Item {
        id: id.clone(),
        paper: key.clone(),
        source: String::new(),
        system: system.clone(),
        scenario: scenario.clone(),
        parameters: parameters.split(' ').filter_map(parameter).collect::<Parameters>(),
        metric: metric.clone(),
        unit: paper.metric(metric).map(|metric| metric.unit.clone()).unwrap_or_default(),
        published: None,
        measured,
        ci95: None,
        median_ci95: None,
        runs: RUNS,
        calibrated: BTreeMap::new(),
        status: Status::NoPublishedValue,
        within: None,
        impossible: false,
    })
}

fn parameter(text: &str) -> Option<(String, Value)> {
    let (name, value) = text.split_once('=')?;
    let value = if let Ok(flag) = value.parse() {
        Value::Flag(flag)
    } else if let Ok(count) = value.parse() {
        Value::Integer(count)
    } else if let Ok(number) = value.parse() {
        Value::Number(number)
    } else {
        Value::Text(value.to_owned())
    };
    Some((name.to_owned(), value))
}

/// Every number that is scored.
fn numbers(paper: &Paper, items: &[Item], reasons: &mut Reasons) -> String {
    let published = paper.published();
    let scored: Vec<_> = published.number.iter().filter(|number| number.counts()).collect();
    if scored.is_empty() {
        return "## Numbers\n\nThe paper prints no number that is scored.\n\n".to_owned();
    }
    let mut rows = String::new();
    let mut met = 0;
    for number in &scored {
        let found = lookup_number(items, number).cloned();
        let found = found.map(|item| Item { published: Some(number.value), ..item });
        let is_met = found.as_ref().is_some_and(|i| within(number, i, published.repetitions));
        met += usize::from(is_met);
        let why = if is_met { String::new() } else { reasons.of(paper, &number.id) };
        let _ = writeln!(
            rows,
            "| {} | {} | {}{} | {} | {} | {why} |",
            number.id,
            number.source,
            number.value,
            if number.unit == "1" { String::new() } else { format!(" {}", number.unit) },
            found.as_ref().map_or_else(|| "–".to_owned(), Item::measured_text),
            match is_met {
                true => "yes",
                false if paper.is_impossible(&number.id) => "cannot be",
                false => "no",
            },
        );
    }
    format!(
        "## Numbers\n\n{met} of {} are within tolerance after {RUNS} of {} runs.\n\n\
         | number | source | published | measured | met? | why |\n|---|---|--:|--:|---|---|\n{rows}\n",
        scored.len(),
        published.repetitions
    )
}

/// Every claim, also those that no run can settle.
fn claims(paper: &Paper, holds: &BTreeMap<&str, &str>, reasons: &mut Reasons) -> String {
    let mut rows = String::new();
    let mut count = 0;
    for claim in &paper.published().claim {
        let result = match (claim.checkable, holds.get(claim.id.as_str())) {
            (false, _) => "not checked",
            (true, Some(&"yes")) => "holds",
            (true, Some(&"no")) => "does not hold",
            (true, _) => "not settled",
        };
        count += usize::from(result == "holds");
        let why = if result == "holds" { String::new() } else { reasons.of(paper, &claim.id) };
        let statement = claim.statement.replace('|', "\\|");
        let _ =
            writeln!(rows, "| {} | {} | {statement} | {result} | {why} |", claim.id, claim.source);
    }
    let checkable = paper.published().claim.iter().filter(|claim| claim.checkable).count();
    format!(
        "## Claims\n\n{count} of {checkable} that runs can settle hold.\n\n\
         | claim | source | statement | result | why |\n|---|---|---|---|---|\n{rows}\n"
    )
}

/// In the place of an explanation.
const UNEXPLAINED: &str = "few runs";

/// The explanations that the tables name, numbered in the order in which they are named.
#[derive(Default)]
struct Reasons {
    texts: Vec<String>,
}

impl Reasons {
    /// The number of the explanation of that number or claim; [`UNEXPLAINED`] without one.
    fn of(&mut self, paper: &Paper, id: &str) -> String {
        let Some(explanation) = paper.explanation_of(id) else { return UNEXPLAINED.to_owned() };
        let text = format!(
            "{} ([details](../../docs/reproduction/{}.md#{}))",
            explanation.why.split_whitespace().collect::<Vec<_>>().join(" "),
            paper.key(),
            explanation.section
        );
        let at = self.texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        format!("{}", at + 1)
    }

    fn list(&self) -> String {
        let mut list = format!(
            "## Why\n\n\"{UNEXPLAINED}\": missed after {RUNS} runs; explanations are of the misses at the paper's own number of runs.\n\n"
        );
        for (at, text) in self.texts.iter().enumerate() {
            let _ = writeln!(list, "{}. {text}", at + 1);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_parameter_gets_its_kind_back() {
        let read = |text| parameter(text).unwrap().1;
        assert_eq!(read("N=4"), Value::Integer(4));
        assert_eq!(read("p=0.1"), Value::Number(0.1));
        assert_eq!(read("loss=high"), Value::from("high"));
        assert_eq!(read("beside=true"), Value::Flag(true));
        assert_eq!(parameter(""), None);
    }

    #[test]
    fn the_page_of_a_paper_has_a_row_for_every_scored_number_and_every_claim() {
        for page in pages().unwrap() {
            let key = page.name.trim_start_matches("papers/");
            let published = record::find(key).unwrap().published();
            let scored = published.number.iter().filter(|number| number.counts());
            let ids = scored.map(|number| &number.id).chain(published.claim.iter().map(|c| &c.id));
            for id in ids {
                let rows = page.body.matches(&format!("\n| {id} | ")).count();
                assert_eq!(rows, 1, "{key}: {id}");
            }
        }
    }

    #[test]
    fn a_claim_that_does_not_hold_names_its_reason_and_one_that_holds_none() {
        let page = pages().unwrap().into_iter().find(|page| page.name == "papers/koo2007").unwrap();
        let row = |id: &str| {
            let start = format!("| {id} | ");
            page.body.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
        };
        assert!(row("bg-gain").ends_with("| does not hold | 5 |"), "{}", row("bg-gain"));
        assert!(row("bg-Reno-worst").ends_with("| holds |  |"), "{}", row("bg-Reno-worst"));
        assert!(page.body.contains("\n5. Acknowledgements that wait behind"), "{}", page.body);
    }
}
