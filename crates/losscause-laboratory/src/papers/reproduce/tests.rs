//! A paper of our own, of which every mechanism of items.toml can be tried: four flows in a shared
//! link, for a few seconds.

use super::*;
use crate::papers::record::Value;
use losscause_study::{Context, Jobs};

const PUBLISHED: &str = r#"
    key = "mini"
    title = "t"
    authors = []
    venue = "v"
    simulator = "s"
    repetitions = 3
    number = []
    claim = []
    system = [
      { name = "Reno", protocol = "tcp", variant = "reno", role = "baseline", source = "s" },
      { name = "Sack", protocol = "tcp", variant = "sack", role = "baseline", source = "s" },
      { name = "Windowed", protocol = "tcp", set = ["tcp.max_window_pkts={W}"], role = "baseline", source = "s" },
      { name = "AIMD-friendliness", role = "model", source = "s" },
    ]
    metric = [
      { name = "goodput", unit = "bytes/s", better = "higher", definition = "d" },
      { name = "gain", unit = "percent", better = "higher", definition = "d" },
      { name = "alpha_friendly", unit = "packets per RTT", better = "neutral", definition = "d" },
    ]
"#;

/// The items of a paper whose scenario is the wireless last hop, shortened.
fn items(rest: &str) -> String {
    format!(
        r#"
        flow = "test"
        [[network]]
        scenario = "short"
        file = "cen2003/WLH"
        set = ["duration_s=30", "measure.to_s=30"]
        {rest}
        "#
    )
}

pub(super) fn plan(rest: &str) -> Result<Plan, InputError> {
    let paper = Paper::of_texts(PUBLISHED, &items(rest));
    Plan::new(
        &Context::default(),
        &Selection::every_item(paper),
        Repetitions::AsPublished,
        1,
        &Variation::default(),
    )
}

fn carried_out(plan: Plan, jobs: usize) -> (Vec<Item>, Vec<Calibrated>) {
    let mut items = Vec::new();
    let mut found = Vec::new();
    let observe = |event: Event<'_>| match event {
        Event::Sheet(_, complete, _) => items.extend(complete.to_vec()),
        Event::Calibrated(one) => found.push(one.clone()),
        Event::Progress(_) | Event::Ran(..) | Event::Disturbed(..) => {}
    };
    plan.execute(Jobs::new(jobs).unwrap(), observe).unwrap();
    (items, found)
}

/// What ten seconds of the network measure, by seed, with these settings.
fn by_hand(settings: &[&str], metric: &str) -> Vec<f64> {
    let all = ["duration_s=30", "measure.to_s=30", "flow.test.protocol=tcp"].iter().chain(settings);
    let settings: Vec<Setting> = all.map(|text| Setting::parse(text).unwrap()).collect();
    let experiment = record::load_scenario("cen2003/WLH", &Context::default())
        .unwrap()
        .with(&settings)
        .unwrap()
        .experiment()
        .unwrap();
    (1..=3)
        .map(|seed| losscause_study::run(&experiment, seed).unwrap().metric(metric).unwrap())
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

const GOODPUT: &str = r#"
    [[item]]
    id = "goodput"
    title = "t"
    source = "s"
    scenario = "short"
    parameters = { N = 2, W = [4, 30] }
    metrics = ["goodput"]
    read = { goodput = { metric = "goodput_mean.test", times = 125 } }
    systems = ["Reno", "Windowed"]
"#;

#[test]
fn a_parameter_that_one_system_takes_leaves_the_others_alone() {
    let plan = plan(GOODPUT).unwrap();
    assert_eq!(
        plan.runs(),
        3 * 3,
        "Reno at both windows is one configuration, and three runs of each"
    );
    let (items, _) = carried_out(plan, 2);
    let measured: Vec<f64> = items.iter().map(|item| item.measured.unwrap()).collect();
    let expected = [
        &["N=2"][..],
        &["N=2", "tcp.max_window_pkts=4"],
        &["N=2"],
        &["N=2", "tcp.max_window_pkts=30"],
    ];
    for (measured, settings) in measured.iter().zip(expected) {
        let expected = 125.0 * mean(&by_hand(settings, "goodput_mean"));
        assert!(
            (measured - expected).abs() < 1e-9 * expected,
            "{settings:?}: {measured}, not {expected}"
        );
    }
    assert!(measured[0] != measured[1]);
}

#[test]
fn a_gain_is_taken_by_seed_or_of_means_where_the_item_says_so() {
    let item = |of: &str| {
        format!(
            r#"
            [[item]]
            id = "gain"
            title = "t"
            source = "s"
            scenario = "short"
            parameters = {{ N = 2, over = "Reno" }}
            metrics = ["gain"]
            read = {{ gain = "goodput" }}
            over = {{ system = "{{over}}", as = "gain", of = "{of}" }}
            systems = ["Sack"]
            "#
        )
    };
    let above = by_hand(&["N=2", "flow.test.variant=sack"], "goodput");
    let below = by_hand(&["N=2", "flow.test.variant=reno"], "goodput");
    let quotients: Vec<f64> =
        above.iter().zip(&below).map(|(x, y)| 100.0 * (x / y - 1.0)).collect();
    let gain = |of: &str| carried_out(plan(&item(of)).unwrap(), 1).0[0].measured.unwrap();
    assert!((gain("runs") - mean(&quotients)).abs() < 1e-9);
    assert!((gain("means") - 100.0 * (mean(&above) / mean(&below) - 1.0)).abs() < 1e-9);
    assert!((gain("runs") - gain("means")).abs() > 1e-6);
}

#[test]
fn a_formula_needs_no_run() {
    let item = r#"
        [[item]]
        id = "friendly"
        title = "t"
        source = "s"
        scenario = "fluid"
        kind = "model"
        parameters = { beta = [0.5, 0.4] }
        metrics = ["alpha_friendly"]
        systems = ["AIMD-friendliness"]
    "#;
    let plan = plan(item).unwrap();
    assert_eq!(plan.runs(), 0);
    let values: Vec<f64> =
        carried_out(plan, 1).0.iter().map(|item| item.measured.unwrap()).collect();
    assert!(values[0] == 1.0 && (values[1] - 0.75).abs() < 1e-12, "{values:?}");
    let refused = plan_error(&item.replace("[0.5, 0.4]", "2"));
    assert_eq!(
        refused,
        "papers/mini/items.toml: item.friendly.parameters: beta is 2, expected 0 to 1"
    );
}

/// TCP's goodput rises with the rate of the links.
pub(super) const CALIBRATION: &str = r#"
    [[calibration]]
    scenarios = ["short"]
    parameter = "bw_kbps"
    system = "Reno"
    parameters = { N = 4 }
    metric = "goodput_mean"
    target = "{rate}"
    tolerance = 0.5
    between = [40, 130]
    runs = 2

    [[item]]
    id = "calibrated"
    title = "t"
    source = "s"
    scenario = "short"
    parameters = { N = 4, rate = [35, 45, 500] }
    metrics = ["goodput"]
    read = { goodput = "goodput_mean" }
    systems = ["Reno", "Sack"]
"#;

#[test]
fn a_calibrated_parameter_is_found_once_for_all_systems() {
    let text = CALIBRATION.replace("[35, 45, 500]", "[35, 45]");
    let (items, found) = carried_out(plan(&text).unwrap(), 2);
    assert_eq!((items.clone(), found.clone()), carried_out(plan(&text).unwrap(), 1));
    assert_eq!(found.len(), 2, "one per target, for both systems");
    for (one, target) in found.iter().zip([35.0, 45.0]) {
        assert!(one.met && (one.reached - target).abs() <= 0.5, "{one}");
        let bw_kbps = format!("bw_kbps={}", one.value);
        let two = &by_hand(&["N=4", "flow.test.variant=reno", &bw_kbps], "goodput_mean")[..2];
        assert!((mean(two) - one.reached).abs() < 1e-9, "{one}");
        let runs = by_hand(&["N=4", "flow.test.variant=sack", &bw_kbps], "goodput_mean");
        let sack = items
            .iter()
            .find(|i| i.system == "Sack" && i.parameters["rate"].same(&Value::from(target)))
            .unwrap();
        assert!((sack.measured.unwrap() - mean(&runs)).abs() < 1e-9);
        assert_eq!(sack.calibrated["bw_kbps"], one.value);
        assert_eq!(sack.parameters.len(), 2, "the item's parameters stay the paper's");
    }
}

#[test]
fn a_target_out_of_reach_takes_the_nearest_end_and_says_so() {
    let (items, found) =
        carried_out(plan(&CALIBRATION.replace("[35, 45, 500]", "500")).unwrap(), 2);
    assert!(!found[0].met && found[0].value == 130.0 && found[0].reached < 500.0);
    assert!(
        found[0]
            .to_string()
            .ends_with("(wanted: 500, which was not met; the nearest value is taken)"),
        "{}",
        found[0]
    );
    assert_eq!(items[0].calibrated["bw_kbps"], 130.0);
}

fn plan_error(rest: &str) -> String {
    plan(rest).unwrap_err().to_string()
}

#[test]
fn a_mismatch_is_told_with_the_item_or_calibration() {
    let error = plan_error(&GOODPUT.replace(", W = [4, 30]", ""));
    assert_eq!(
        error,
        "papers/mini/items.toml: item.goodput.set of the system Windowed: in \"tcp.max_window_pkts={W}\" the parameter \
         \"W\" is unknown, expected \"N\""
    );
    let error = plan_error(&GOODPUT.replace("\"Reno\", \"Windowed\"", "\"AIMD-friendliness\""));
    assert_eq!(
        error,
        "papers/mini/items.toml: item.goodput.systems: the system \"AIMD-friendliness\" has no protocol, expected one in \
         published.toml or kind = \"model\""
    );
    let error = plan_error(&GOODPUT.replace("\"Reno\", \"Windowed\"", "\"Rano\""));
    assert!(error.contains("the system \"Rano\" is unknown (did you mean \"Reno\"?)"), "{error}");
    let calibration = |from: &str, to: &str| plan_error(&CALIBRATION.replace(from, to));
    let error = calibration("[40, 130]", "[130, 40]");
    assert_eq!(
        error,
        "papers/mini/items.toml: calibration.bw_kbps: between 130 and 40, expected the smaller end of an interval and the \
         larger one"
    );
    assert!(
        calibration("tolerance = 0.5", "tolerance = 0")
            .contains("tolerance 0, expected a number above 0")
    );
    assert!(calibration("runs = 2", "runs = 0").contains("runs 0, expected 1 or more"));
    assert!(
        calibration("[40, 130]", "[-1, 130]").contains("rate_bps"),
        "an end that the scenario refuses"
    );
    let error = calibration("[35, 45, 500]", "\"much\"");
    assert!(
        error.contains("the calibration of bw_kbps aims at \"much\", expected a number"),
        "{error}"
    );
    let error = calibration("\"bw_kbps\"", "\"bw_kpbs\"");
    assert!(
        error.contains("the parameter \"bw_kpbs\" is unknown (did you mean \"bw_kbps\"?)"),
        "{error}"
    );
}

#[test]
fn a_metric_of_no_run_ends_the_reproduction_with_the_known_ones() {
    let text = GOODPUT.replace("goodput_mean.test", "goodput_mean.tset");
    let error = plan(&text).unwrap().execute(Jobs::default(), |_| ()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "metrics: \"goodput_mean.tset\" is unknown (did you mean \"goodput_mean.test\"?)"
        ),
        "{error}"
    );
}

/// A run over time, and no value besides.
pub(super) const PLOT: &str = r#"
    [[item]]
    id = "windows"
    title = "t"
    source = "s"
    scenario = "short"
    parameters = { N = 2, W = 4 }
    metrics = []
    systems = ["Reno", "Windowed"]

    [item.plot]
    from_s = 24
    to_s = 28
    curves = [
      { name = "window of {system}", show = "cwnd", of = "test" },
      { name = "waiting", show = "queue", of = "shared" },
      { name = "sent", show = "sequence", of = "test.1" },
      { name = "round trip", show = "rtt", of = "test.1" },
    ]
    events = [{ name = "lost on the air", show = "corrupted", of = "test.2" }]
"#;

#[test]
fn a_run_is_drawn_once_per_system_where_that_is_wanted() {
    let without = plan(PLOT).unwrap();
    assert_eq!(without.runs(), 0);
    assert!(without.execute(Jobs::default(), |_| ()).unwrap().recordings.is_empty());
    let drawn =
        plan(PLOT).unwrap().drawing().execute(Jobs::new(2).unwrap(), |_| ()).unwrap().recordings;
    assert_eq!(
        drawn,
        plan(PLOT).unwrap().drawing().execute(Jobs::new(1).unwrap(), |_| ()).unwrap().recordings
    );
    let systems: Vec<(&str, &str)> =
        drawn.iter().map(|r| (r.system.as_str(), r.curves[0].name.as_str())).collect();
    assert_eq!(systems, [("Reno", "window of Reno"), ("Windowed", "window of Windowed")]);
    for recording in &drawn {
        let [window, waiting, sent, round_trip] = recording.curves.as_slice() else {
            panic!("{recording:?}")
        };
        for curve in &recording.curves {
            let in_order = curve.points.is_sorted_by_key(|(at, _)| *at);
            let inside = curve.points.iter().all(|(at, _)| (24.0..=28.0).contains(at));
            assert!(
                in_order && inside && curve.points.len() > 5,
                "{}: {:?}",
                curve.name,
                curve.points
            );
        }
        assert_eq!(
            (window.points[0].0, waiting.points[0].0),
            (24.0, 24.0),
            "what holds is there from the beginning"
        );
        assert!(sent.mean.is_none() && window.mean.is_some());
        // 2 x (1 + 20 + 10) ms of propagation are the least.
        assert!(
            round_trip.points.iter().all(|(_, ms)| *ms > 62.0 && *ms < 2e3),
            "{:?}",
            round_trip.points
        );
        assert!(!recording.events[0].times_s.is_empty());
    }
    let most = |recording: &Recording| {
        recording.curves[0].points.iter().map(|(_, window)| *window).fold(0.0, f64::max)
    };
    assert!(
        most(&drawn[1]) <= 4.0 && most(&drawn[0]) > 4.0,
        "no more than the receiver's window counts"
    );
}

#[test]
fn a_drawing_that_does_not_fit_is_told_with_its_key() {
    let refused = |from: &str, to: &str| plan_error(&PLOT.replace(from, to));
    assert_eq!(
        refused("to_s = 28", "to_s = 31"),
        "papers/mini/items.toml: item.windows.plot.to_s: 24 to 31, expected an interval within the run, 0 to 30"
    );
    assert!(
        refused("from_s = 24", "from_s = 28").contains("plot.to_s: 28 to 28, expected an interval")
    );
    assert!(refused("from_s = 24", "from_s = nan").contains("plot.to_s: NaN to 28"));
    assert_eq!(
        refused("\"cwnd\", of = \"test\"", "\"cwnd\", of = \"tset\""),
        "papers/mini/items.toml: item.windows.plot.curves.window of {system}: the flow \"tset\" is unknown (did you mean \
         \"test\"?), expected one of test, warm-up, or a member of one"
    );
    let error = refused("of = \"shared\"", "of = \"sharde\"");
    assert!(
        error.contains(
            "plot.curves.waiting: the link \"sharde\" is unknown (did you mean \"shared\"?)"
        ),
        "{error}"
    );
    let error = refused("\"rtt\", of = \"test.1\"", "\"rtt\", of = \"warm-up\"");
    assert!(
        error.contains("plot.curves.round trip: warm-up is not TCP, expected a flow that is"),
        "{error}"
    );
    let error = refused("of = \"test.2\"", "of = \"test.3\"");
    assert!(
        error.contains("plot.events.lost on the air: the flow \"test.3\" is unknown"),
        "{error}"
    );
    let error = refused("{system}", "{sytem}");
    assert!(
        error.contains(
            "item.windows.plot: in \"window of {sytem}\" the parameter \"sytem\" is unknown"
        ),
        "{error}"
    );
    let model = PLOT.replace("metrics = []", "metrics = []\n    kind = \"model\"");
    assert!(
        plan_error(&model)
            .contains("item.windows.plot: there are no runs to draw, expected an item of runs")
    );
    let curves = PLOT.split_once("curves = [").unwrap().0.to_owned() + "curves = []";
    assert!(
        plan_error(&curves)
            .contains("item.windows.plot.curves: is empty, expected a curve or more")
    );
}

#[test]
fn a_figure_that_does_not_fit_is_told_with_its_key() {
    let with =
        |more: &str| plan_error(&GOODPUT.replace("metrics =", &format!("{more}\n    metrics =")));
    let error = with("x = \"W\"\n    curves = \"N / L\"");
    assert_eq!(
        error,
        "papers/mini/items.toml: item.goodput.curves: in \"N / L\", \"L\" is unknown, expected one of N, W"
    );
    assert!(
        with("curves = \"N\"").contains(
            "item.goodput.x: is missing, expected the parameter along the horizontal axis"
        )
    );
    let error = with("x = \"W\"\n    phase = { right = \"goodput\", up = \"badput\" }");
    assert!(error.contains("item.goodput.phase.up: the metric \"badput\" is unknown"), "{error}");
    let error = with(
        "x = \"W\"\n    phase = { right = \"goodput\", up = \"goodput\", sum = \"capacity\" }",
    );
    assert!(
        error.contains(
            "phase.sum: is \"capacity\", expected a parameter of the item that is a number"
        ),
        "{error}"
    );
}
