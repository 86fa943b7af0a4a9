use std::collections::BTreeSet;

use super::*;
use crate::papers::record::{self, Status};
use crate::papers::reproduce::{
    Plan, RecordedCurve, Recording, Repetitions, Reproduction, Selection, Sheet, Variation, conclude,
};

/// The published values of an item as if they had been measured in `runs` runs, but for the first, which is 20.
fn of_published_values(item: &str, runs: u32) -> (Reproduction, Vec<Sheet>) {
    let selection = Selection::parse(&[item]).unwrap();
    let plan = Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap();
    let mut items = plan.items().to_vec();
    for item in &mut items {
        let numbers = &record::find(&item.paper).unwrap().published().number;
        item.measured = numbers.iter().find(|n| n.id == item.id).map(|n| n.value);
        item.ci95 = Some(0.5);
        item.runs = runs;
    }
    items[0].measured = Some(20.0);
    (conclude(&items, 1), plan.sheets().to_vec())
}

/// The values of an attribute, in order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn the_report_needs_nothing_from_elsewhere() {
    let (reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let html = html(&reproduction, &sheets);
    assert!(!html.contains("http"), "an address of something outside");
    assert!(!html.contains("src=") && !html.contains("@import") && !html.contains("url("));
    assert!(html.contains("<svg"));
}

#[test]
fn the_answer_comes_first_and_misses_are_told_by_more_than_a_colour() {
    let (reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let html = html(&reproduction, &sheets);
    let answer = html.find("21 of 22 published numbers come out within tolerance").expect("TCP's 20 is not 55");
    assert!(answer < html.find("What was missed, and why</h2>").unwrap());
    assert!(html.contains("20.0<span class=\"mark\">✗</span>"));
    assert!(html.contains("20.0 instead of 55"));
    assert!(!html.contains("of 72"), "the score of a part counts what was measured");
}

#[test]
fn the_state_of_every_scored_number_is_that_of_the_json() {
    for (runs, met, missed) in [(10, "met", "missed"), (2, "preview-met", "preview-missed")] {
        let (reproduction, sheets) = of_published_values("cen2003/table2", runs);
        let html = html(&reproduction, &sheets);
        let expected = |item: &record::Item| match (item.status, item.within) {
            (Status::Reproduced | Status::Preview, Some(true)) => Some(met),
            (Status::Missed | Status::Preview, Some(false)) => Some(missed),
            (Status::NotScored | Status::NoPublishedValue, _) => None,
            other => panic!("{}: {other:?}", item.id),
        };
        let scored: Vec<(&str, &str)> =
            reproduction.items.iter().filter_map(|item| Some((item.id.as_str(), expected(item)?))).collect();
        assert_eq!(scored.len(), 22);
        let squares = html.split("data-number=\"").skip(1).map(|rest| {
            let id = rest.split('"').next().unwrap();
            (id, values(rest, "data-state")[0])
        });
        let shown: BTreeSet<(&str, &str)> = squares.collect();
        assert_eq!(shown, scored.into_iter().collect());
    }
}

#[test]
fn every_link_leads_to_a_part_of_the_page_and_no_part_is_named_twice() {
    for item in ["cen2003/table2", "cen2003/figure8", "dalwadi", "koo2007"] {
        let (reproduction, sheets) = of_published_values(item, 10);
        let html = html(&reproduction, &sheets);
        let ids = values(&html, "id");
        let parts: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(parts.len(), ids.len(), "{item}: an id is given twice");
        let links: Vec<&str> = values(&html, "href").into_iter().filter_map(|link| link.strip_prefix('#')).collect();
        assert!(!links.is_empty());
        for link in links {
            assert!(parts.contains(link), "{item}: nothing is called {link}");
        }
    }
}

#[test]
fn a_miss_has_the_explanation_of_the_papers_record() {
    let (mut reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let is_explained = |item: &&mut record::Item| {
        item.status == Status::Reproduced && record::find("cen2003").unwrap().explanation_of(&item.id).is_some()
    };
    let item = reproduction.items.iter_mut().find(is_explained).expect("some number of table II has an explanation");
    item.status = Status::Missed;
    let why = &record::find("cen2003").unwrap().explanation_of(&item.id).unwrap().why;
    let html = html(&reproduction, &sheets);
    let beginning: String = why.chars().take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
    assert!(beginning.len() > 10 && html.contains(&beginning), "{beginning}");
    assert!(html.contains("Not explained yet."), "TCP's throughput of 20 has none");
}

#[test]
fn a_table_can_be_taken_as_comma_separated_values() {
    let (reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let html = html(&reproduction, &sheets);
    let csv = html.split("data:text/csv;charset=utf-8,").nth(1).unwrap().split('"').next().unwrap();
    assert!(
        csv.starts_with("system%2Cscenario%2CN%2Closs%2Cmetric%2Cunit%2Cpublished%2Cmeasured%2Cci95%2Cruns%2Cstate%0A")
    );
    assert!(csv.contains("Cthput%2Cpercent%2C55%2C20%2C0.5%2C10%2Cmissed%0A"), "{csv}");
}

#[test]
fn an_item_without_values_shows_its_runs_over_time_and_says_how_large_they_are() {
    let selection = Selection::parse(&["dalwadi/figure4.2"]).unwrap();
    let plan = Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap();
    assert!(plan.items().is_empty());
    let sheets = plan.sheets().to_vec();
    let points = vec![(0.0, 2.0), (25.0, 4.0)];
    let curve = RecordedCurve { name: "w<1>".into(), unit: "packets".into(), holds: true, points, mean: Some(3.0) };
    let recording = |item: &str| Recording {
        paper: "dalwadi".into(),
        item: item.into(),
        system: "NewReno".into(),
        parameters: sheets[0].spec.combinations()[0].clone(),
        seed: 7,
        from_s: 0.0,
        to_s: 50.0,
        curves: vec![curve.clone()],
        events: vec![],
    };
    let mut reproduction = conclude(&[], 7);
    reproduction.recordings = vec![recording("figure4.2"), recording("section3")];
    let html = html(&reproduction, &sheets);
    assert_eq!(html.matches("<figure class=\"recording\">").count(), 1, "of its own item only");
    assert!(html.contains("NewReno, error_rate 0.01, seed 7"));
    assert!(html.contains("w&lt;1&gt;, packets; mean 3.0") && !html.contains("w<1>"));
    assert!(!html.contains("<table"), "a table without rows");
}

#[cfg(feature = "compare")]
mod of_a_comparison {
    use std::collections::BTreeSet;

    use super::values;
    use crate::compare::{Plan, Variant};
    use crate::parallel::Jobs;
    use crate::{Scenario, report};

    fn html() -> String {
        let scenario = Scenario::load("scenarios/clean-link.toml".as_ref()).unwrap();
        let short = ["duration_s=6", "measure.to_s=6", "measure.from_s=1", "loss=0.01"];
        let settings: Vec<crate::Setting> = short.iter().map(|text| crate::Setting::parse(text).unwrap()).collect();
        let scenario = scenario.with(&settings).unwrap();
        let variants = vec![Variant::unchanged(), Variant::parse("slow & <small>: rate_bps=2e6").unwrap()];
        let plan = Plan::new(&scenario, variants, 1, 3).unwrap();
        report::comparison_html(&plan.execute(Jobs::default(), |_| ()).unwrap())
    }

    #[test]
    fn the_verdict_comes_first_and_names_cannot_break_the_page() {
        let html = html();
        let answer = html.find("<h1>Slow &amp; &lt;small&gt; against unchanged: goodput -").expect("a verdict");
        assert!(answer < html.find("<h2 id=\"drawings\">").unwrap());
        assert!(!html.contains("<small>:") && !html.contains("http") && !html.contains("NaN"));
    }

    #[test]
    fn every_run_is_drawn_every_link_resolves_and_the_bytes_are_the_same_each_time() {
        let html = html();
        assert_eq!(html, self::html());
        let goodput = html.split("<figure>").nth(1).unwrap();
        assert_eq!(goodput.matches("class=\"run ").count(), 6);
        let ids = values(&html, "id");
        let parts: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(parts.len(), ids.len());
        for link in values(&html, "href").into_iter().filter_map(|link| link.strip_prefix('#')) {
            assert!(parts.contains(link), "nothing is called {link}");
        }
    }
}
