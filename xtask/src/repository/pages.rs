//! The pages in `docs/` show what the crates take, compute and measure. A package does not hold
//! these pages, so the tests that read them are here.

use std::collections::BTreeSet;
use std::path::Path;

use super::workspace::{files, read, tenth, texts};
use crate::site::pictures::page_of;
use crate::site::sources::resolved;
use losscause::BuiltIn;
use losscause_laboratory::papers::record;
use losscause_laboratory::sweep::Sweep;
use losscause_study::{Context, Experiment, Scenario, Setting, run};

fn worked_example(page: &str) -> &str {
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_worked_example_is_as_shipped_and_gives_the_numbers() {
    let page = read("docs/scenario.md");
    let parse = |text: &str| Scenario::parse(text, "x.toml", &Context::default()).unwrap();
    let example = parse(worked_example(&page));
    let shipped = parse(&read("scenarios/last-hop-video.toml"));
    for lda in ["always congestion", "ZigZag", "ZBS"] {
        let measured = |scenario: &Scenario| {
            let setting = Setting::new("flow.video.lda", lda);
            run(&scenario.with(&[setting]).unwrap().experiment().unwrap(), 1).unwrap()
        };
        let run = measured(&example);
        assert_eq!(run, measured(&shipped));
        let row = page.lines().find(|line| line.starts_with("| `") && line.contains(lda)).unwrap();
        let numbers = row.split(['|', '%', ' ']).filter_map(|word| word.parse::<f64>().ok());
        let printed: Vec<f64> = numbers.collect();
        let measured = ["thput", "M_w", "goodput"].map(|name| run.metric(name).unwrap());
        // A page is read, not recomputed: it may lag behind a better model by this much, no more.
        for (printed, measured) in printed.iter().zip(measured) {
            let is_near = (printed - measured).abs() <= 3.0 + 0.05 * measured;
            assert!(is_near, "{row} should be about {measured}");
        }
        assert_eq!(printed.len(), 3, "{row}");
    }
}

/// The scores of the papers stand on each paper's page, in the table of all papers and, summed, in
/// the README: a score that is renewed in one place only is noticed.
#[test]
fn scores_are_the_same_on_every_page() {
    let scores = |text: &str| -> Vec<(usize, usize)> {
        let words: Vec<&str> = text.split([' ', '\n', '*']).filter(|word| *word != "the").collect();
        let triples = words.windows(3).filter(|three| three[1] == "of");
        triples.filter_map(|three| three[0].parse().ok().zip(three[2].parse().ok())).collect()
    };
    let (mut numbers, mut claims) = ((0, 0), (0, 0));
    let add = |sum: &mut (usize, usize), score: (usize, usize)| {
        *sum = (sum.0 + score.0, sum.1 + score.1);
    };
    for row in read("docs/papers.md").lines().filter(|line| line.starts_with("| [")) {
        let (_, link) = row.split_once("](").unwrap();
        let page = read(&format!("docs/{}", link.split_once(')').unwrap().0));
        let (section, _) = page.split_once("\n## Readings").unwrap_or((&page, ""));
        let of_page = scores(section);
        let of_row = scores(row);
        match of_row[..] {
            [claim] => add(&mut claims, claim),
            [number, claim] => {
                add(&mut numbers, number);
                add(&mut claims, claim);
            }
            _ => panic!("{row}: one score or two"),
        }
        let all_hold = |score: &(usize, usize)| {
            score.0 == score.1 && section.contains(&format!("all {} claims", score.0))
        };
        let is_said = |score: &(usize, usize)| of_page.contains(score) || all_hold(score);
        assert!(of_row.iter().all(is_said), "{row}\n{of_page:?}");
    }
    for page in ["README.md", "CHANGELOG.md"] {
        let said = scores(&read(page));
        assert!(
            said.contains(&numbers) && said.contains(&claims),
            "{page}: {numbers:?}, {claims:?}"
        );
    }
}

#[test]
fn every_metric_of_a_run_is_explained() {
    let page = read("docs/scenario.md");
    let scenario =
        Scenario::parse(worked_example(&page), "docs/scenario.md", &Context::default()).unwrap();
    let sized =
        [Setting::new("flow.download.bytes", 1e5), Setting::new("flow.download.measured", true)];
    let experiment = scenario.with(&sized).unwrap().experiment().unwrap();
    let run = run(&Experiment { delays: true, ..experiment }, 1).unwrap();
    assert!(run.metric("rtt_p95").is_some() && run.metric("completion_time").is_some());
    for metric in &run.metrics {
        let name = &metric.metric;
        let name = name.split_once('.').map_or(name.clone(), |(name, _)| format!("{name}.X"));
        assert!(page.contains(&format!("`{name}`")), "{name} is not explained");
    }
    assert!(page.contains("`norm_thput.X`"), "for several groups");
}

#[test]
fn the_schemas_in_docs_are_the_ones_that_the_types_make() {
    let committed =
        |file: &str| -> serde_json::Value { serde_json::from_str(&read(file)).unwrap() };
    assert!(
        committed("docs/scenario.schema.json") == losscause_study::scenario::generated_schema(),
        "renew it: cargo run -p losscause-study --features schema --example schema scenario > docs/scenario.schema.json"
    );
    assert!(
        committed("docs/simulate.schema.json")
            == losscause_study::run::SimulationResult::generated_schema(),
        "renew it: cargo run -p losscause-study --features schema --example schema result > docs/simulate.schema.json"
    );
}

/// The pages in `docs/` and the README.
fn pages() -> Vec<(String, String)> {
    texts(&["README.md", "docs/*.md"])
}

/// The blocks of a page that begin with "```" and this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_toml_block_runs_or_is_marked_as_a_fragment() {
    let mut scenarios = 0;
    let mut sweeps = 0;
    let mut fragments = 0;
    for (name, page) in pages() {
        for example in blocks(&page, "toml") {
            let table: toml::Table = toml::from_str(example).unwrap();
            if table.contains_key("link") {
                // A tenth of the budget is enough.
                Scenario::parse(example, &name, &tenth()).unwrap().experiment().unwrap();
                scenarios += 1;
            } else {
                let sweep = Sweep::parse(example, Path::new(&name), &Context::default()).unwrap();
                sweep.cells().iter().for_each(|cell| sweep.check(cell).unwrap());
                sweeps += 1;
            }
        }
        for fragment in blocks(&page, "toml fragment") {
            toml::from_str::<toml::Table>(fragment)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{fragment}"));
            fragments += 1;
        }
        let marked = blocks(&page, "toml").len() + blocks(&page, "toml fragment").len();
        let all = page.matches("```toml").count();
        assert_eq!(all, marked, "{name}: another mark than `toml` or `toml fragment`");
    }
    assert!(scenarios >= 1 && sweeps >= 2 && fragments >= 7, "{scenarios}, {sweeps}, {fragments}");
}

#[test]
fn every_json_block_is_json() {
    for (name, page) in pages() {
        for example in blocks(&page, "json") {
            serde_json::from_str::<serde_json::Value>(example)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn the_page_on_complexity_shows_the_counted_costs() {
    let page = read("docs/algorithms/complexity.md");
    for algorithm in BuiltIn::at_receivers() {
        let Some(o) = algorithm.info().operations else { continue };
        let row = format!(
            "| {algorithm} | {} | {} | {} | {} |",
            o.additions_per_arrival,
            o.additions_after_loss,
            o.multiplications_per_arrival,
            o.multiplications_after_loss
        );
        assert!(page.contains(&row), "docs/algorithms/complexity.md lacks the row: {row}");
    }
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor = |heading: &str| heading.trim_start_matches('#').trim().to_lowercase();
    let marks = |heading| anchor(heading).chars().filter(|c| kept(*c)).collect::<String>();
    headings.map(|heading| marks(heading).replace(' ', "-")).collect()
}

#[test]
fn the_anchor_of_a_heading_has_its_words_without_its_marks() {
    let page = "# One: `two`\ntext\n### What is missed, and why\n# A_c (Table V)\n";
    assert_eq!(anchors(page), ["one-two", "what-is-missed-and-why", "a_c-table-v"]);
}

#[test]
fn every_explanation_of_a_miss_leads_to_a_heading_of_its_page() {
    let mut checked = 0;
    for paper in record::all().iter().filter(|paper| paper.is_published()) {
        let file = format!("docs/reproduction/{}.md", paper.key());
        let anchors = anchors(&read(&file));
        for explanation in paper.explanations() {
            let section = &explanation.section;
            let has_it = anchors.contains(section);
            assert!(has_it, "{file} has no heading for \"{section}\", only {anchors:?}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} explanations");
}

#[test]
fn the_page_of_every_algorithm_names_each_of_its_settings() {
    let tables = read("docs/algorithms/README.md");
    let mut checked = 0;
    for algorithm in BuiltIn::ALL {
        for setting in algorithm.info().settings {
            let page = page_of(&tables, *algorithm).expect(setting.key);
            let page = read(&format!("docs/algorithms/{page}"));
            assert!(page.contains(&format!("| `{}`", setting.key)), "{algorithm}: {}", setting.key);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} settings");
}

/// The pages to which a page links, relative to the repository.
fn linked(page: &str) -> Vec<String> {
    let folder = Path::new(page).parent().unwrap();
    let text = read(page);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let place = |target: &str| resolved(folder, target).unwrap().to_str().unwrap().to_owned();
    let is_page = |target: &&str| target.ends_with(".md") && !target.contains("://");
    targets.filter(is_page).map(place).collect()
}

#[test]
fn the_readme_names_the_two_commands_of_a_fresh_machine() {
    let readme = read("README.md");
    assert!(readme.contains("cargo run --release -- reproduce"));
    assert!(readme.contains("cargo xtask test"));
}

#[test]
fn the_index_leads_to_every_page_within_two_links() {
    let index = linked("docs/README.md");
    for page in &index {
        assert_eq!(index.iter().filter(|other| *other == page).count(), 1, "{page} twice");
    }
    let pages = index.iter().filter(|page| page.starts_with("docs/"));
    let mut reached: BTreeSet<String> = pages.flat_map(|page| linked(page)).collect();
    reached.extend(index.iter().cloned().chain(["docs/README.md".to_owned()]));
    for page in files(&["docs/*.md", "results/*.md"]) {
        assert!(reached.contains(&page), "docs/README.md does not lead to {page}");
    }
}
