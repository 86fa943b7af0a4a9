//! A plain flow beside the measured ones of a scenario.

use losscause_study::{Context, Scenario, Setting};

const SCENARIO: &str = r#"
    title = "t"
    duration_s = 1
    tcp = { variant = "cubic", mode = "linux" }
    link = [{ name = "a", rate_bps = 1e6, delay_ms = 1, queue_packets = 9 }]
    flow = [
        { name = "call", protocol = "cbr", rate_bps = 1e5, path = ["a"] },
        { name = "up", protocol = "tcp", lda = "Spike", bytes = 1e6, count = 3, path = ["a"] },
    ]
"#;

fn scenario() -> Scenario {
    Scenario::parse(SCENARIO, "s.toml", &Context::default()).expect("valid")
}

fn with(key: &str, value: &str) -> Scenario {
    scenario().with(&[Setting::new(key, value)]).expect("valid")
}

#[test]
fn it_is_plain_and_alone_is_measured() {
    let beside = scenario().with_plain_flow_of(&scenario()).unwrap();
    let [call, up, plain] = &beside.document().flow[..] else { panic!("three flows") };
    assert!(!call.is_measured() && !up.is_measured() && plain.is_measured());
    assert_eq!(up.lda.as_deref(), Some("Spike"));
    assert!(plain.lda.is_none() && plain.bytes.is_none() && plain.count.is_none());
    assert_eq!(plain.path, ["a"]);
    beside.experiment().unwrap();
}

#[test]
fn it_keeps_the_variant_of_the_scenario_that_is_compared_with() {
    let bbr = with("tcp.variant", "bbr");
    let beside = bbr.with_plain_flow_of(&scenario()).unwrap();
    let plain = beside.document().flow.last().unwrap();
    assert_eq!(plain.variant, scenario().document().tcp.variant);
    assert_ne!(plain.variant, bbr.document().tcp.variant);
}

#[test]
fn there_is_none_where_it_would_not_be_the_same_flow() {
    let other = with("tcp.mode", "rfc");
    assert!(other.with_plain_flow_of(&scenario()).is_none(), "another TCP");
    let media = with("flow.up.protocol", "tfrc").with(&[]).unwrap();
    assert!(media.with_plain_flow_of(&media).is_none(), "no TCP");
}
