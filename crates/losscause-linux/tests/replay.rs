//! The programs' algorithms in fixed point against the reference in Rust: the same observations,
//! the same verdicts. And what a whole program does about a connection's losses: caps, gaps,
//! sequence numbers.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "replay/connection.rs"]
mod connection;
#[path = "replay/drawn.rs"]
mod drawn;
#[path = "replay/host.rs"]
mod host;
#[path = "replay/safeguards.rs"]
mod safeguards;
#[path = "replay/streams.rs"]
mod streams;
#[path = "replay/weights.rs"]
mod weights;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use host::Host;
use losscause::{End, Verdict};
use losscause_linux::kernel::Algorithm;
use streams::{Stream, generated, simulated};

/// Every rule, with its published parameters and with others. Fixed point holds multiples of 2^-18:
/// Spike's parameters are such, because a state that enters or leaves a spike at the edge of
/// rounding would stay another one for a while.
const RULES: [(&str, &str, &[&str]); 13] = [
    ("spike.h", "lc_spike", &[]),
    ("spike.h", "lc_spike", &["window_ms=0"]),
    ("spike.h", "lc_spike", &["alpha=0.3125", "beta=0.0625", "window_ms=700"]),
    ("zigzag.h", "lc_zigzag", &[]),
    ("zigzag.h", "lc_zigzag", &["alpha=0.2", "judged_by=after-gap"]),
    ("zbs.h", "lc_zbs", &[]),
    (
        "zbs.h",
        "lc_zbs",
        &["lock_pkts=8", "lock_at_start=false", "rott_margin=0.5", "mbiaz.upper_limit=1.5"],
    ),
    ("flip_flop.h", "lc_newreno_ff", &[]),
    ("flip_flop.h", "lc_newreno_ff", &["history=64", "eta=20"]),
    ("vegas_buffer.h", "lc_westwood_vt", &[]),
    ("vegas_buffer.h", "lc_veno", &[]),
    ("sift.h", "lc_sift", &[]),
    ("sift.h", "lc_sift", &["margin_db=6"]),
];

/// The algorithm of a header, compiled once for all tests.
fn host(header: &'static str) -> Arc<Host> {
    static HOSTS: Mutex<BTreeMap<&str, Arc<Host>>> = Mutex::new(BTreeMap::new());
    let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(hosts.entry(header).or_insert_with(|| Arc::new(Host::algorithm(header))))
}

/// Every loss of every stream gets the same verdict.
fn agree(streams: &[Stream]) {
    let text: String = streams.iter().map(Stream::lines).collect();
    for (header, name, set) in RULES {
        let mut settings = Algorithm::find(name).unwrap().settings();
        set.iter().for_each(|setting| settings.set(setting).unwrap());
        // The first five numbers are the caps, safeguards and whether it is a dry run, which belong to
        // no algorithm.
        let fixed_point = host(header).verdicts(&settings.words().unwrap()[5..], &text);
        let of = |stream: &Stream| stream.verdicts(settings.lda().build(End::Sender).unwrap());
        let reference: Vec<Verdict> = streams.iter().flat_map(of).collect();
        assert_eq!(reference.len(), fixed_point.len(), "{name} {set:?}");
        let losses = reference.len();
        let different = reference.iter().zip(&fixed_point).filter(|(a, b)| a != b).count();
        let wireless = reference.iter().filter(|verdict| verdict.is_wireless()).count();
        assert!(losses > 2_000, "{name} {set:?}: only {losses} losses");
        assert!(
            wireless > 0 && wireless < losses,
            "{name} {set:?}: {wireless} of {losses} wireless"
        );
        assert_eq!(different, 0, "{name} {set:?}: of {losses} losses");
    }
}

#[test]
fn generated_streams_get_the_same_verdicts() {
    agree(&generated(200));
}

#[test]
fn simulated_senders_get_the_same_verdicts() {
    agree(&simulated());
}
