//! `protocol = "quic"`: flows that another stack than the simulator runs.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_sim::Traffic;
use losscause_study::{Context, Experiment, InputError, Run};

mod common;

const SMALL: &str = r#"
title = "small"
duration_s = 10
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
queue_packets = 5
[[flow]]
name = "download"
protocol = "quic"
variant = "cubic"
lda = "Sift"
path = ["radio"]
"#;

fn build(settings: &[&str]) -> Result<Experiment, InputError> {
    common::build(SMALL, "small.toml", settings, &Context::default())
}

fn refused(settings: &[&str], problem: &str) {
    assert_eq!(build(settings).unwrap_err().to_string(), format!("small.toml: {problem}"));
}

#[test]
fn a_quic_flow_has_what_a_tcp_flow_has() {
    let (quic, tcp) = (build(&[]).unwrap(), build(&["flow.download.protocol=tcp"]).unwrap());
    assert!(quic.quic && !tcp.quic);
    assert!(matches!(quic.network.flows[0].traffic, Traffic::Tcp { .. }));
    assert_eq!(quic.network.links.len(), 2, "acknowledgements come back");
    assert_eq!(format!("{:?}", quic.network), format!("{:?}", tcp.network));
}

#[test]
fn the_simulator_refuses_it() {
    let refusal = Run::new(&build(&[]).unwrap(), 1).err().unwrap();
    assert!(refusal.is_bad_input());
    assert_eq!(
        refusal.to_string(),
        "protocol = \"quic\": only QUIC runs it, expected `losscause simulate`, or `stacks = \
         [\"quinn\"]` in a sweep"
    );
}

#[test]
fn it_stands_beside_its_like_alone() {
    let other = "flow.rival={ protocol = \"tcp\", path = [\"radio\"] }";
    refused(
        &[other],
        "flow.download.protocol: is quic, and the flow rival is not, expected one or the other in a scenario",
    );
    assert!(build(&["flow.download.count=3"]).unwrap().quic);
}

#[test]
fn keys_of_tcp_alone_are_refused() {
    refused(
        &["flow.download.bytes=1e6"],
        "flow.download.bytes: only valid for tcp flows; remove it",
    );
    refused(
        &["flow.download.lda_at=receiver"],
        "flow.download.lda_at: only valid for tcp flows; remove it",
    );
}
