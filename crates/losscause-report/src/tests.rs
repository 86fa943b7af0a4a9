use std::collections::BTreeSet;

use super::*;
use losscause_laboratory::papers::record::{self, Status};
use losscause_laboratory::papers::reproduce::{
    Plan, RecordedCurve, Recording, Repetitions, Reproduction, Selection, Sheet, Variation,
    conclude,
};
use losscause_study::{Context, Scenario, Setting};

/// The published values of an item as if they had been measured in `runs` runs, but for the first,
/// which is 20.
fn of_published_values(item: &str, runs: u32) -> (Reproduction, Vec<Sheet>) {
    let selection = Selection::parse(&[item]).unwrap();
    let plan = Plan::new(
        &Context::default(),
        &selection,
        Repetitions::AsPublished,
        1,
        &Variation::default(),
    )
    .unwrap();
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

/// Checks what holds for every page: nothing from elsewhere, every internal link resolves, no
/// identifier twice, no value that is no number, at most 3 MB.
fn check_page(html: &str) {
    assert!(!html.contains("http"), "an address of something outside");
    assert!(!html.contains("src=") && !html.contains("@import") && !html.contains("url("));
    assert!(!html.contains("NaN") && !html.contains("inf\"") && html.len() < 3_000_000);
    for class in values(html, "class").into_iter().flat_map(coloured) {
        assert!(html.contains(&class), "{class} has no colour");
    }
    let ids = values(html, "id");
    let parts: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(parts.len(), ids.len(), "an id is given twice");
    let links: Vec<&str> =
        values(html, "href").into_iter().filter_map(|link| link.strip_prefix('#')).collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(parts.contains(link), "nothing is called {link}");
    }
}

/// What a class is called in the style sheet, if it gives a sample of a legend, or a curve, its
/// colour.
fn coloured(class: &str) -> Vec<String> {
    let is_style =
        |name: &&str| name.strip_prefix(['s', 't']).is_some_and(|rest| rest.parse::<u32>().is_ok());
    let names: Vec<&str> = class.split_whitespace().collect();
    match names.split_first() {
        Some((&"swatch", kinds)) => kinds.iter().map(|kind| format!(".swatch.{kind} ")).collect(),
        _ => names.iter().copied().filter(is_style).map(|name| format!(".{name} ")).collect(),
    }
}

/// The values of an attribute, in order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_figure_draws_algorithms_beside_in_styles_of_their_own() {
    let selection = Selection::parse(&["cen2003/figure11"]).unwrap().beside(&["Spike", "Biaz"]);
    let variation = Variation::default();
    let plan =
        Plan::new(&Context::default(), &selection, Repetitions::Exactly(1), 1, &variation).unwrap();
    let measured = |items: &[record::Item]| -> Vec<record::Item> {
        items.iter().map(|item| record::Item { measured: Some(20.0), ..item.clone() }).collect()
    };
    let reproduction =
        Reproduction { beside: measured(plan.beside()), ..conclude(&measured(plan.items()), 1) };
    let html = html(&reproduction, plan.sheets());
    check_page(&html);
    let legend = html
        .split("<p class=\"legend\">")
        .nth(1)
        .and_then(|rest| rest.split("</p>").next())
        .unwrap();
    let entries: Vec<&str> = legend.split("<span>").skip(1).collect();
    assert_eq!(entries.len(), 4 + 2, "{legend}");
    let style = |entry: &str| values(entry, "class").join(" ");
    let styles: BTreeSet<String> = entries.iter().map(|entry| style(entry)).collect();
    assert_eq!(styles.len(), entries.len(), "{legend}");
    assert!(html.contains("also Biaz</span>") && html.contains("Their values are not scored."));
}

#[test]
fn the_answer_is_first_and_misses_show_by_more_than_a_colour() {
    let (reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let html = html(&reproduction, &sheets);
    let answer =
        html.find("21 of 22 published numbers are within tolerance").expect("TCP's 20 is not 55");
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
        let scored: Vec<(&str, &str)> = reproduction
            .items
            .iter()
            .filter_map(|item| Some((item.id.as_str(), expected(item)?)))
            .collect();
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
fn links_lead_to_parts_of_the_page_and_nothing_is_fetched() {
    for item in ["cen2003/table2", "cen2003/figure8", "dalwadi", "koo2007"] {
        let (reproduction, sheets) = of_published_values(item, 10);
        let html = html(&reproduction, &sheets);
        check_page(&html);
        assert!(html.contains("<svg"));
    }
}

#[test]
fn a_figure_has_the_axes_of_its_paper() {
    let (mut reproduction, sheets) = of_published_values("biaz1999/figure4", 10);
    for item in &mut reproduction.items {
        item.measured = Some(0.5);
    }
    let html = html(&reproduction, &sheets);
    assert!(html.contains("wired bandwidth bw1, kb/s</text>"), "the paper's name of the axis");
    let figure = html.split("class=\"chart lines\"").nth(1).unwrap();
    let ticks: Vec<&str> = figure
        .split("class=\"tick\"")
        .skip(1)
        .map(|rest| rest.split(['>', '<']).nth(1).unwrap())
        .collect();
    assert_eq!(
        ticks,
        ["0", "0.25", "0.5", "0.75", "1"],
        "accuracies reach to 1, whatever was measured"
    );
}

#[test]
fn a_miss_has_the_explanation_of_the_papers_record() {
    let (mut reproduction, sheets) = of_published_values("cen2003/table2", 10);
    let is_explained = |item: &&mut record::Item| {
        item.status == Status::Reproduced
            && record::find("cen2003").unwrap().explanation_of(&item.id).is_some()
    };
    let item = reproduction
        .items
        .iter_mut()
        .find(is_explained)
        .expect("some number of table II has an explanation");
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
fn an_item_without_values_shows_its_runs_over_time_and_its_size() {
    let selection = Selection::parse(&["dalwadi/figure4.2"]).unwrap();
    let plan = Plan::new(
        &Context::default(),
        &selection,
        Repetitions::AsPublished,
        1,
        &Variation::default(),
    )
    .unwrap();
    assert!(plan.items().is_empty());
    let sheets = plan.sheets().to_vec();
    let points = vec![(0.0, 2.0), (25.0, 4.0)];
    let curve = RecordedCurve {
        name: "w<1>".into(),
        unit: "packets".into(),
        holds: true,
        points,
        mean: Some(3.0),
    };
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

#[test]
fn every_verdict_and_every_curve_has_a_colour_of_its_own() {
    let style = concat!(include_str!("page/style.css"), include_str!("page/chart.css"));
    use super::capture_timeline::{CONGESTION, TIMER, UNKNOWN, WIRELESS};
    for class in [CONGESTION, WIRELESS, UNKNOWN, TIMER] {
        assert!(style.contains(&format!(".swatch.{class} {{ background")), "{class}");
        assert!(style.contains(&format!(".mark.{class} {{ fill")), "{class}");
    }
    for place in 0..super::lines::COLOURS {
        assert!(style.contains(&format!(".s{place} {{ --c:")), "s{place}");
    }
}

/// A short run over a radio link: the settings make it short and lossy.
fn scenario(settings: &[&str]) -> Scenario {
    let scenario =
        Scenario::load("scenarios/last-hop-video.toml".as_ref(), &Context::default()).unwrap();
    let short = ["duration_s=20", "measure.to_s=20", "measure.from_s=1"];
    let settings: Vec<Setting> =
        short.iter().chain(settings).map(|text| Setting::parse(text).unwrap()).collect();
    scenario.with(&settings).unwrap()
}

mod of_a_run {
    use losscause_sim::truth::Cause;

    use super::{check_page, scenario};
    use crate::simulation_html;
    use losscause_study::run::{Run, RunRecord, RunRecorder, SimulationResult};

    fn run(settings: &[&str]) -> (SimulationResult, RunRecord) {
        let scenario = scenario(settings);
        let experiment = scenario.experiment_with_delays().unwrap();
        let mut run = Run::new(&experiment, 1).unwrap();
        let mut recorder = RunRecorder::new(&scenario, &experiment, 1).unwrap();
        run.finish(&mut recorder);
        (SimulationResult::of(&scenario, &[], &run), recorder.finish())
    }

    #[test]
    fn every_loss_of_a_measured_flow_has_its_cause_and_verdict() {
        for lda in ["ZigZag", "ZBS", "Spike", "Biaz", "always wireless"] {
            let (result, record) = run(&[&format!("flow.video.lda={lda}")]);
            let flow = &result.flows[0];
            let of = |cause| record.losses.iter().filter(move |loss| loss.cause == Some(cause));
            let lost = |cause| {
                of(cause).filter(|loss| loss.flow == "video" && loss.lost.is_some()).count() as u64
            };
            assert_eq!(
                (lost(Cause::Congestion), lost(Cause::Wireless)),
                (flow.queue_drops, flow.wireless_drops),
                "{lda}"
            );
            let judged = |cause| of(cause).filter(|loss| loss.judged.is_some()).count() as u64;
            assert_eq!(
                (judged(Cause::Congestion), judged(Cause::Wireless)),
                (flow.judged_congestion, flow.judged_wireless),
                "{lda}"
            );
            assert!(flow.wireless_drops > 20, "{lda}");
        }
    }

    #[test]
    fn a_recorded_run_measures_the_same_with_the_same_page_bytes() {
        let (result, record) = run(&[]);
        let scenario = scenario(&[]);
        let experiment = scenario.experiment_with_delays().unwrap();
        let mut plain = Run::new(&experiment, 1).unwrap();
        plain.finish(&mut ());
        assert_eq!(SimulationResult::of(&scenario, &[], &plain), result);
        let (again, record_again) = run(&[]);
        assert_eq!(simulation_html(&again, &record_again), simulation_html(&result, &record));
    }

    #[test]
    fn the_page_tells_the_answer_and_why_each_loss_was_judged() {
        let (result, record) = run(&[]);
        let html = simulation_html(&result, &record);
        check_page(&html);
        let answer = html.find("<h1>The flow video got ").expect("an answer");
        assert!(answer < html.find("<h2 id=\"timeline\">").unwrap());
        assert!(html.contains("ZigZag misjudged "));
        for panel in ["allowed rate", "queue of radio", "one-way delay", "lost in the air"] {
            assert!(html.contains(&format!(">{panel}</text>")), "{panel}");
        }
        assert!(html.contains("lost in the air (channel of radio)\nZigZag: relative ROTT "));
        assert!(html.contains("wireless  if  n = 1 and rott &lt; mean - dev"), "the equation");
    }

    #[test]
    fn several_transfers_have_their_distribution_drawn() {
        let settings = ["flow.video.protocol=tcp", "flow.video.bytes=50e3", "flow.video.count=4"];
        let (result, record) = run(&settings);
        let html = simulation_html(&result, &record);
        check_page(&html);
        let slowest = result.flows.iter().filter_map(|flow| flow.completion_s).fold(0.0, f64::max);
        assert!(html.contains(&format!("100 % within {slowest:.3} s")), "{slowest}");
        let (one, record) = run(&[]);
        assert!(!simulation_html(&one, &record).contains("completion-times"));
    }

    #[test]
    fn every_algorithm_has_its_decision_boundary_at_either_end() {
        let tcp = ["flow.video.protocol=tcp", "flow.video.return_path=[\"radio\", \"backbone\"]"];
        for lda in
            ["ZBS", "Spike", "Spike-Tobe", "Biaz", "mBiaz", "ZigZag", "Flip Flop", "Vegas buffer"]
        {
            let lda_setting = format!("flow.video.lda={lda}");
            let is_for_senders = lda.contains(' ');
            let settings: Vec<&str> = if is_for_senders {
                tcp[..1].iter().copied().chain([lda_setting.as_str()]).collect()
            } else {
                vec![&lda_setting]
            };
            let (result, record) = run(&settings);
            let html = simulation_html(&result, &record);
            check_page(&html);
            let section = html
                .split("<section class=\"algorithm\">")
                .nth(1)
                .unwrap_or_else(|| panic!("{lda}"));
            assert!(
                section.contains("class=\"equation\"")
                    && section.contains("<svg class=\"chart time"),
                "{lda}"
            );
            assert!(section.contains("class=\"mark "), "{lda}: losses stand in the drawing");
            assert!(
                section.contains("class=\"curve limit") || section.contains("class=\"band\""),
                "{lda}"
            );
        }
    }

    #[test]
    fn a_copy_that_sees_the_same_packets_compares_the_same() {
        // ZigZag's boundary for one loss is known from its own verdicts on single losses.
        let (_, record) = run(&["flow.video.lda=Spike"]);
        let boundary = &record.flows[0].boundaries[0];
        let limits: Vec<&str> = boundary.limits.iter().map(|(name, _)| *name).collect();
        assert!(limits.contains(&"enters above") && limits.contains(&"exits below"), "{limits:?}");
        let last_of = |name: &str| {
            boundary.limits.iter().find(|(limit, _)| *limit == name).unwrap().1.points()
        };
        let last_judged = record.losses.iter().rev().find_map(|loss| {
            let (at, judgement) = loss.judged?;
            let evidence = judgement.evidence().filter(|_| loss.flow == "video")?;
            Some((at, *evidence))
        });
        let (at, compared) = last_judged.unwrap();
        let limit = compared.limits[0].unwrap();
        let near =
            last_of(limit.name).into_iter().rev().find(|(time, _)| *time <= at + 0.1).unwrap();
        assert!((near.1 - limit.at.value()).abs() < 1e-6, "{near:?} {limit:?}");
    }
}

mod of_a_sweep {
    use super::check_page;
    use crate::sweep_html;
    use losscause_laboratory::sweep::Sweep;
    use losscause_study::{Context, Jobs};
    use std::ops::ControlFlow;

    const SWEEP: &str = r#"
title = "errors & <load>"
runs = 2
scenario = "cen2003/WLH"
metrics = ["thput", "M_c"]

[[axis]]
key = "N"
values = [1, 2, 4]

[[axis]]
name = "channel"
values = [{ name = "high" }, { name = "none", set = ['link.last.channel={ kind = "perfect" }'] }]
"#;

    #[test]
    fn the_extremes_come_first_and_every_axis_has_its_curves() {
        let sweep = Sweep::parse(SWEEP, "s.toml".as_ref(), &Context::default()).unwrap();
        let result = sweep
            .execute(Jobs::default(), None, |_| ControlFlow::Continue(()))
            .unwrap()
            .result
            .unwrap();
        let html = sweep_html(&result);
        check_page(&html);
        let answer = html.find("<h1>thput is highest with ").expect("an answer");
        assert!(answer < html.find("<h2 id=\"lines\">").unwrap());
        assert!(html.contains("errors &amp; &lt;load&gt;"));
        // thput over N has a curve per channel, over the channel a curve per N.
        assert!(html.contains(">none</tspan>") && html.contains(">N 4</tspan>"));
        assert!(html.contains("class=\"interval "), "bands");
        assert_eq!(html.matches("<h3 class=\"name\">").count(), 2, "a table per metric");
    }

    #[test]
    fn claims_are_the_answer_and_stacks_are_no_axis_of_a_curve() {
        let claim = "[[claim]]\ntext = \"a link is full with four flows\"\nmetric = \"thput\"\n\
                     of = { N = 4 }\nis = \"at-least\"\nvalue = 200\n";
        let text =
            SWEEP.replace("\n[[axis]]\nkey", "stacks = [\"simulator\"]\n[[axis]]\nkey") + claim;
        let sweep = Sweep::parse(&text, "s.toml".as_ref(), &Context::default()).unwrap();
        let outcome = sweep.execute(Jobs::default(), None, |_| ControlFlow::Continue(()));
        let html = sweep_html(&outcome.unwrap().result.unwrap());
        check_page(&html);
        let answer = "<h1>Does not hold: a link is full with four flows.</h1>";
        assert!(html.contains(answer) && html.contains("In 0 of 2 places; not at N 4, "), "{html}");
        assert!(html.contains("thput by N") && !html.contains("thput by stack"));
    }
}

mod of_a_comparison {
    use super::check_page;
    use losscause_laboratory::compare::{Comparison, Plan, Variant};
    use losscause_laboratory::store::RunList;
    use losscause_study::{Context, Jobs, Scenario};

    fn measure(plan: &Plan) -> Comparison {
        plan.measure(&Jobs::default().into(), None, |_, _| ()).unwrap()
    }

    /// Six seconds of the clean link.
    fn short(settings: &[&str]) -> Scenario {
        let scenario =
            Scenario::load("scenarios/clean-link.toml".as_ref(), &Context::default()).unwrap();
        let short = ["duration_s=6", "measure.to_s=6", "measure.from_s=1"];
        let all = short.iter().chain(settings);
        let settings: Vec<losscause_study::Setting> =
            all.map(|text| losscause_study::Setting::parse(text).unwrap()).collect();
        scenario.with(&settings).unwrap()
    }

    fn html() -> String {
        let scenario = short(&["loss=0.01"]);
        let variants =
            vec![Variant::unchanged(), Variant::parse("slow & <small>: rate_bps=2e6").unwrap()];
        let plan = Plan::new(&scenario, variants, 1, 3).unwrap();
        let recorded = measure(&plan.clone().recording());
        assert_eq!(recorded, measure(&plan));
        crate::comparison_html(&recorded, &plan.records().unwrap())
    }

    #[test]
    fn the_verdict_comes_first_and_names_cannot_break_the_page() {
        let html = html();
        let answer = html.find("<h1>unchanged: ").expect("a verdict");
        let second = html.find("slow &amp; &lt;small&gt;: 1.").expect("the slower one after it");
        assert!(answer < second && second < html.find("<h2 id=\"drawings\">").unwrap());
        assert!(!html.contains("<small>:"));
        check_page(&html);
    }

    #[test]
    fn every_run_is_drawn_every_link_resolves_and_bytes_are_stable() {
        let html = html();
        assert_eq!(html, self::html());
        let goodput = html.split("<figure>").nth(1).unwrap();
        assert_eq!(goodput.matches("class=\"run ").count(), 6);
    }

    #[test]
    fn a_share_of_few_losses_is_unknown_and_not_drawn() {
        let scenario = short(&["loss=0.005", "link.link.queue_packets=5"]);
        let variants = ["none", "Spike"].map(|lda| Variant::of_lda(&scenario, lda).unwrap());
        let plan = Plan::new(&scenario, variants.into(), 1, 3).unwrap().recording();
        let measured = measure(&plan);
        let spike = &measured.variants[1];
        assert!(spike.few_losses("M_c").is_some() && spike.metrics["M_c"].value > Some(0.0));
        let html = crate::comparison_html(&measured, &plan.records().unwrap());
        let is_drawn = |metric| html.contains(&format!("<a href=\"#metric-{metric}\">"));
        assert!(html.contains("unknown") && is_drawn("M_w") && !is_drawn("M_c"));
    }

    #[test]
    fn every_variant_with_an_algorithm_has_its_decision_boundary() {
        let variants =
            ["ZBS", "Spike"].map(|lda| Variant::of_lda(&super::scenario(&[]), lda).unwrap());
        let plan = Plan::new(&super::scenario(&[]), variants.into(), 1, 1).unwrap().recording();
        let html = crate::comparison_html(&measure(&plan), &plan.records().unwrap());
        check_page(&html);
        assert!(html.contains("id=\"variant-1-ZBS\"") && html.contains("id=\"variant-2-Spike\""));
        assert_eq!(html.matches("class=\"algorithm\"").count(), 2);
    }
}
