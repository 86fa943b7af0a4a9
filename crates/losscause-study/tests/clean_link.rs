//! One TCP flow of mode `rfc` over one link (`scenarios/clean-link.toml`): it fills a link that
//! loses nothing, and with the truth told it fills one that does.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fmt::Write as _;
use std::path::Path;

use losscause_study::run::WarningKind;
use losscause_study::{Experiment, Jobs, Measurements, run};

mod common;

const RTT_S: f64 = 0.04;

fn experiment(settings: &[String]) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/clean-link.toml");
    let settings: Vec<&str> =
        ["tcp.mode=rfc"].into_iter().chain(settings.iter().map(String::as_str)).collect();
    common::experiment(&std::fs::read_to_string(file).unwrap(), &settings)
}

fn measured(settings: &[String], seed: u64) -> Measurements {
    run(&experiment(settings), seed).unwrap()
}

/// The texts of the warnings of one kind.
fn warnings(settings: &[String], kind: WarningKind) -> Vec<String> {
    let experiment = experiment(settings);
    let all = losscause_study::run::warnings(&experiment, &[run(&experiment, 1).unwrap()]);
    all.into_iter().filter(|warning| warning.kind == kind).map(|warning| warning.text).collect()
}

/// Goodput in percent of what the link carries, at 1460 bytes of payload in 1500, and timeouts.
fn achieved(run: &Measurements, rate_bps: f64) -> (f64, f64) {
    let capacity_kbps = rate_bps * 1460.0 / 1500.0 / 1e3;
    (run.metric("goodput").unwrap() / capacity_kbps * 100.0, run.metric("timeouts").unwrap())
}

#[test]
fn every_tcp_fills_a_clean_link_whatever_the_receivers_window() {
    let mut cells = Vec::new();
    for variant in ["reno", "newreno", "sack", "cubic"] {
        for rate_bps in [20e6, 50e6] {
            for queue_bdp in [1, 2] {
                for window in [None, Some(400), Some(1_000), Some(4_000)] {
                    cells.push((variant, rate_bps, queue_bdp, window));
                }
            }
        }
    }
    let achieved = Jobs::default().map(
        &cells,
        |&(variant, rate_bps, queue_bdp, window)| {
            // With sender jitter the queue drops two packets of a window more often, for which plain
            // Reno halves its window twice.
            let mut settings = vec![
                "send_jitter_us=0".to_owned(),
                format!("tcp.variant={variant}"),
                format!("rate_bps={rate_bps}"),
                format!("queue={queue_bdp} * rtt"),
            ];
            settings.extend(window.map(|window| format!("tcp.max_window_pkts={window}")));
            achieved(&measured(&settings, 1), rate_bps)
        },
        |_| (),
    );
    let mut table = String::new();
    for ((variant, rate_bps, queue_bdp, window), (goodput, timeouts)) in cells.iter().zip(&achieved)
    {
        let window = window.map_or("default".to_owned(), |window| window.to_string());
        let rate = rate_bps / 1e6;
        writeln!(
            table,
            "{variant:8} {rate} Mb/s {queue_bdp} BDP {window:>7}: {goodput:5.1} % {timeouts}"
        )
        .unwrap();
    }
    assert!(
        achieved.iter().all(|&(goodput, timeouts)| goodput >= 95.0 && timeouts <= 3.0),
        "\n{table}"
    );
}

/// The mean of five runs at 10 Mb/s, of whose packets the link corrupts one in a hundred.
fn goodput_at_one_percent(variant: &str, lda: Option<&str>) -> f64 {
    let mut settings = vec![
        format!("tcp.variant={variant}"),
        "loss=0.01".to_owned(),
        "tcp.max_window_pkts=1000".to_owned(),
    ];
    settings.extend(lda.map(|lda| format!("flow.transfer.lda={lda}")));
    let seeds: Vec<u64> = (1..=5).collect();
    let runs =
        Jobs::default().map(&seeds, |&seed| achieved(&measured(&settings, seed), 10e6).0, |_| ());
    runs.iter().sum::<f64>() / runs.len() as f64
}

#[test]
fn a_sender_told_the_truth_keeps_its_window_on_wireless_losses() {
    for (variant, least) in [("sack", 90.0), ("cubic", 90.0), ("newreno", 75.0)] {
        let goodput = goodput_at_one_percent(variant, Some("omniscient"));
        assert!(goodput >= least, "{variant}: {goodput:.1} %");
    }
}

/// Mathis et al. 1997: sqrt(3/2) packets per round trip over sqrt(p), for losses far apart.
/// Timeouts, the length of recovery and the packets' own transmission time cost some of it.
#[test]
fn without_the_truth_loss_costs_what_the_square_root_law_says() {
    let law = (1.5_f64 / 0.01).sqrt() / RTT_S * 12_000.0 / 10e6 * 100.0;
    assert!((law - 36.7).abs() < 0.1);
    for variant in ["newreno", "sack", "cubic"] {
        let goodput = goodput_at_one_percent(variant, None);
        assert!(
            (0.8 * law..law * 1.1).contains(&goodput),
            "{variant}: {goodput:.1} %, the law says {law:.1} %"
        );
    }
}

#[test]
fn a_run_says_so_if_the_receivers_window_limits_it() {
    let notes = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        warnings(&settings, WarningKind::WindowLimited)
    };
    // 10 Mb/s times 40 ms are 33 packets, as many as the queue: 20 packets never fill it.
    let [note] = &notes(&["tcp.max_window_pkts=20", "duration_s=20"])[..] else {
        panic!("one note")
    };
    assert!(
        note.starts_with(
            "transfer: the receiver's window of 20 packets held the sender back at 99."
        ),
        "{note}"
    );
    assert_eq!(notes(&["duration_s=20"]), [""; 0]);
}
