use super::*;
use crate::{Context, Scenario};

/// A link, a flow, and whatever else the two texts add to them.
fn refused_by(limits: Limits, link: &str, flow: &str, rest: &str) -> Option<String> {
    let text = format!(
        "title = \"t\"\nduration_s = 20\npacket_bytes = 1000\n{rest}\n\
         link = [{{ name = \"l\", rate_bps = 1e6, delay_ms = 10, {link} }}]\n\
         flow = [{{ name = \"f\", path = [\"l\"], {flow} }}]\n"
    );
    let context = Context::default().with_limits(limits);
    let scenario = Scenario::parse(&text, "s.toml", &context).unwrap();
    scenario.experiment().err().map(|error| error.to_string())
}

fn refused(link: &str, flow: &str) -> Option<String> {
    refused_by(Limits::default(), link, flow, "")
}

const TCP: &str = "protocol = \"tcp\"";
const SHORT: &str = "queue_packets = 10";
const LONG: &str = "queue_packets = 4294967295";

#[test]
fn copies_of_many_sub_queues_are_refused_with_their_number() {
    let link =
        "queue_packets = 10, per_flow = true, queue = { kind = \"fq-codel\", queues = 65536 }";
    let flow = "protocol = \"tcp\", count = 10000";
    let found = refused(link, flow).unwrap();
    assert!(
        found.starts_with("s.toml: link.l.queue: a run may need up to ")
            && found.contains(" GB of memory, 100 % of it for 20000 copies of this link with 65536 sub-queues each; ")
            && found.ends_with("expected at most 4.0 GB of memory, which the key budget raises"),
        "{found}"
    );
    assert_eq!(refused(link, "protocol = \"tcp\", count = 100"), None);
}

#[test]
fn a_long_queue_is_refused_only_if_it_can_fill() {
    assert_eq!(refused(LONG, TCP), None);
    assert_eq!(refused(LONG, "protocol = \"cbr\", rate_bps = 1e7"), None);
    let flood = "protocol = \"cbr\", rate_bps = 1e12";
    let found = refused(LONG, flood).unwrap();
    assert!(
        found.starts_with("s.toml: link.l: a run may need up to ")
            && found.contains("% of it for 2.5e9 packets at this link; "),
        "{found}"
    );
    // It is a long run, but needs no memory.
    assert_eq!(refused(SHORT, flood), None);
}

#[test]
fn a_run_of_too_many_events_is_refused_with_what_makes_them() {
    let flood = "protocol = \"cbr\", rate_bps = 8e11, packet_bytes = 100, count = 40";
    let found = refused(SHORT, flood).unwrap();
    assert_eq!(
        found,
        "s.toml: flow.f.rate_bps: a run may need up to 4.0e12 events, 100 % of it for the packets of \
         this flow; expected at most 1.0e12 events, which the key budget raises"
    );
    let limits = Limits { events: 1e6, ..Limits::default() };
    let slots =
        "queue_packets = 10, slot_ms = 0.001, channel = { kind = \"bernoulli\", loss = 0.1 }";
    let found = refused_by(limits, slots, TCP, "").unwrap();
    assert!(found.starts_with("s.toml: link.l: a run may need up to 2.0e7 events, "), "{found}");
}

#[test]
fn the_key_budget_asks_for_more_as_far_as_the_context_allows() {
    let flood = "protocol = \"cbr\", rate_bps = 8e11, packet_bytes = 100, count = 40";
    let with = |limits, budget: &str| refused_by(limits, SHORT, flood, budget);
    assert_eq!(with(Limits::default(), "budget = 20"), None);
    assert!(with(Limits::default(), "budget = 2").unwrap().contains("at most 2.0e12 events"));
    let of_a_page = Limits { largest_budget: 1.0, ..Limits::default() };
    assert_eq!(
        with(of_a_page, "budget = 20").unwrap(),
        "s.toml: budget: is 20, expected a number above 0, up to 1e0"
    );
}

#[test]
fn what_repeats_or_expires_too_often_is_refused() {
    let steps = |round: &str| {
        format!(
            "queue_packets = 10, rate_variation = {{ kind = \"steps\", points = [[0, 1e6], [{round}, 2e6]], \
             at_end = \"repeat\" }}"
        )
    };
    assert_eq!(
        refused(&steps("1e-9"), TCP).unwrap(),
        "s.toml: link.l.rate_variation.at_end: repeats 2 points every 0.001 µs, expected at least 1 µs per point"
    );
    assert_eq!(refused(&steps("2e-6"), TCP), None);
    let delays = |round: &str| {
        format!(
            "queue_packets = 10, delay_variation = {{ kind = \"trace\", points = [[0, 1], [{round}, 2]], \
             at_end = \"repeat\" }}"
        )
    };
    assert!(
        refused(&delays("1e-6"), TCP).unwrap().contains("delay_variation.at_end: repeats 2 points")
    );
    assert_eq!(refused(&delays("2e-6"), TCP), None);
    let pie =
        |ms: &str| format!("queue_packets = 10, queue = {{ kind = \"pie\", update_ms = {ms} }}");
    assert_eq!(
        refused(&pie("1e-6"), TCP).unwrap(),
        "s.toml: link.l.queue.update_ms: is 0.000001, expected a number from 0.001 to 1e9"
    );
    assert_eq!(refused(&pie("0.001"), TCP), None);
    let tcp = |settings: &str| {
        refused_by(Limits::default(), SHORT, TCP, &format!("tcp = {{ {settings} }}"))
    };
    assert_eq!(
        tcp("min_rto_ms = 1e-6").unwrap(),
        "s.toml: tcp.min_rto_ms: is 0.000001, expected 0 or at least 0.001"
    );
    assert_eq!(
        tcp("max_rto_ms = 1e-6").unwrap(),
        "s.toml: tcp.max_rto_ms: is 0.000001, expected a number from 0.001 to 1e9"
    );
    assert_eq!(tcp("min_rto_ms = 0, max_rto_ms = 0.001, initial_rto_ms = 0.001"), None);
}

#[test]
fn a_number_of_runs_is_bounded() {
    assert_eq!(Limits::check_runs(10_000), Ok(()));
    let error = Limits::check_runs(u32::MAX).unwrap_err();
    assert_eq!(error.to_string(), "--runs 4294967295: expected at most 10000");
    assert!(Limits::check_runs(0).unwrap_err().to_string().contains("expected 1 or more"));
}

#[test]
fn the_parts_are_together_what_the_run_needs() {
    let text = "title = \"t\"\nduration_s = 20\npacket_bytes = 1000\n\
                link = [{ name = \"a\", rate_bps = 1e6, delay_ms = 10, queue_packets = 10 },\n\
                        { name = \"b\", rate_bps = 1e6, delay_ms = 10, queue_packets = 30 }]\n\
                flow = [{ name = \"f\", path = [\"a\", \"b\"], protocol = \"tcp\" }]\n";
    let scenario = Scenario::parse(text, "s.toml", &Context::default()).unwrap();
    let experiment = scenario.experiment().unwrap();
    let links: Vec<String> =
        (0..experiment.network.links.len()).map(|link| link.to_string()).collect();
    let names = Names { links: links.iter().map(String::as_str).collect(), flows: vec!["f"] };
    let parts = Parts::of(&experiment.network, experiment.duration, &names);
    let demand = experiment.network.demand(experiment.duration);
    let of_links: f64 = demand.links.iter().map(|link| link.own_bytes + link.list_bytes).sum();
    let of_flows: f64 = demand.flows.iter().map(|flow| flow.own_bytes).sum();
    let found: f64 = parts.memory.iter().map(|part| part.amount).sum();
    assert!((found - of_links - of_flows - demand.content_bytes).abs() < 1.0, "{found}");
}
