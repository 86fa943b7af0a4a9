//! What the literature says of a network in closed form, held against the simulator.
//!
//! `results/theory.md` has the table. `cargo test -p losscause-study --test theory --
//! --nocapture` prints it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fmt::{self, Display};
use std::{fs, thread};

use losscause_study::files::Memory;
use losscause_study::{Context, Measurements, run};

mod common;

/// The page that shows the table. It is read at run time, since no package of the crate has it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/theory.md");

/// A path so fast that its queue stays empty: 1 Gb/s and a round trip of 100 ms.
const PIPE: &str = r#"
title = "One flow in a pipe that drops"
duration_s = 600
[measure]
from_s = 60
bottleneck = "pipe"
[tcp]
variant = "sack"
[[link]]
name = "pipe"
rate_bps = 1e9
delay_ms = 50
queue_packets = 100000
[[flow]]
name = "flow"
protocol = "tcp"
path = ["pipe"]
"#;

/// A queue that TCP fills: 10 Mb/s, a round trip of 100 ms, 83 packets of 1500 bytes in flight.
const QUEUE: &str = r#"
title = "Flows behind a queue"
duration_s = 220
packet_bytes = 1500
[measure]
delays = true
from_s = 20
bottleneck = "link"
[tcp]
variant = "sack"
[[link]]
name = "link"
rate_bps = 10e6
delay_ms = 50
queue_packets = 1000
[[flow]]
name = "flow"
protocol = "tcp"
path = ["link"]
start_spread_s = 2
"#;

/// Round trip of both scenarios, s.
const RTT_S: f64 = 0.1;

/// Packets that cross in a round trip of [`QUEUE`].
const BDP_PKTS: f64 = 10e6 * RTT_S / 8.0 / 1500.0;

/// A closed form, and the simulated value for it.
struct Law {
    source: &'static str,
    case: String,
    unit: &'static str,
    theory: f64,
    simulated: f64,
    /// Greatest relative difference.
    within: f64,
}

impl Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, case, unit, theory, simulated, within } = self;
        let ratio = simulated / theory;
        let percent = within * 100.0;
        write!(f, "| {source} | {case} | {theory:.3} {unit} | {simulated:.3} {unit} |")?;
        write!(f, " {ratio:.3} | {percent:.0} % |")
    }
}

/// Runs a scenario with settings and seeds from 1 on.
fn runs(text: &str, settings: &[&str], seeds: u64) -> Vec<Measurements> {
    let periodic = |every: usize| format!("{}1\n", "0\n".repeat(every - 1));
    let files = Memory::new()
        .with("every1000.txt", periodic(1_000))
        .with("every10000.txt", periodic(10_000));
    let context = Context::default().with_files(files);
    let experiment = common::build(text, "theory.toml", settings, &context).unwrap();
    (1..=seeds).map(|seed| run(&experiment, seed).unwrap()).collect()
}

/// Mean of a metric.
fn mean(runs: &[Measurements], metric: &str) -> f64 {
    let value = |run: &Measurements| {
        run.metric(metric).unwrap_or_else(|| panic!("{metric} is not defined"))
    };
    runs.iter().map(value).sum::<f64>() / runs.len() as f64
}

/// Payload of a packet of [`PIPE`] in `mode`, bytes. Linux's timestamps take twelve.
fn payload_bytes(mode: &str) -> f64 {
    if mode == "linux" { 1448.0 } else { 1460.0 }
}

/// Mean window of a flow in the pipe, packets.
fn window(mode: &str, variant: &str, channel: &str, duration_s: u32, seeds: u64) -> f64 {
    let channel = format!("link.pipe.channel={{ {channel} }}");
    let settings = [
        &format!("tcp.mode={mode}"),
        &format!("tcp.variant={variant}"),
        &channel,
        &format!("duration_s={duration_s}"),
    ];
    let runs = runs(PIPE, &settings.map(String::as_str), seeds);
    mean(&runs, "goodput") * 1e3 / 8.0 * RTT_S / payload_bytes(mode)
}

/// Ott, Kemperman and Mathis 1996: a window that a loss halves, under independent losses.
fn random_losses() -> Vec<Law> {
    let cases = [
        ("rfc", "sack", 3e-4, 0.05),
        ("rfc", "sack", 1e-3, 0.05),
        // The window is small: timeouts, and losses in one window that make one cut.
        ("rfc", "sack", 3e-3, 0.1),
        ("rfc", "sack", 1e-2, 0.15),
        ("linux", "reno", 3e-4, 0.05),
        ("linux", "reno", 1e-3, 0.05),
        ("linux", "reno", 3e-3, 0.1),
        ("linux", "reno", 1e-2, 0.15),
    ];
    let law = |(mode, variant, loss, within): (&str, &str, f64, f64)| Law {
        source: "1.31/√p, random losses (Ott, Kemperman, Mathis 1996)",
        case: format!("{mode} {variant}, p {loss}"),
        unit: "packets",
        theory: 1.31 / loss.sqrt(),
        simulated: window(mode, variant, &format!("kind = \"bernoulli\", loss = {loss}"), 600, 4),
        within,
    };
    cases.into_iter().map(law).collect()
}

/// Mathis et al. 1997 and RFC 9438, 5.1: the sawtooth that periodic losses make.
fn periodic_losses() -> Vec<Law> {
    let sawtooth = |every: f64| (1.5 * every).sqrt();
    let cubic = |every: f64| 1.054 * (RTT_S * every).powf(0.75);
    let cases = [
        ("√(3/2p), periodic losses (Mathis et al. 1997)", "rfc", "sack", 1_000, sawtooth(1e3)),
        ("√(3/2p), periodic losses (Mathis et al. 1997)", "rfc", "sack", 10_000, sawtooth(1e4)),
        ("√(3/2p), periodic losses (Mathis et al. 1997)", "linux", "reno", 10_000, sawtooth(1e4)),
        ("√(3/2p): CUBIC as fair as Reno (RFC 9438, 4.3)", "rfc", "cubic", 1_000, sawtooth(1e3)),
        ("1.054 (RTT/p)^0.75 (RFC 9438, 5.1)", "rfc", "cubic", 10_000, cubic(1e4)),
        ("CUBIC in whole packets", "linux", "cubic", 1_000, whole_packet_cubic(1_000)),
        ("CUBIC in whole packets", "linux", "cubic", 10_000, whole_packet_cubic(10_000)),
    ];
    let law = |(source, mode, variant, every, theory): (_, &str, &str, u32, f64)| Law {
        source,
        case: format!("{mode} {variant}, one of {every}"),
        unit: "packets",
        theory,
        simulated: window(
            mode,
            variant,
            &format!("kind = \"trace\", file = \"every{every}.txt\""),
            2_000,
            1,
        ),
        within: 0.05,
    };
    cases.into_iter().map(law).collect()
}

/// Mean window of CUBIC if it counts in whole packets, as Linux does, and one packet of `every` is
/// lost.
///
/// W_cubic is rounded towards W_max: up while the window is below, so it is ahead by half a packet
/// on average. The round trip of the recovery carries the reduced window.
fn whole_packet_cubic(every: u32) -> f64 {
    const BETA: f64 = 717.0 / 1024.0;
    const C: f64 = 0.4;
    const DURATION_S: f64 = 2_000.0;
    let (mut cwnd, mut w_max, mut w_est) = (40_u32, 40_u32, 40_u32);
    let (mut now, mut epoch, mut k) = (0.0, 0.0, 0.0);
    let (mut for_cwnd, mut for_w_est) = (0_u32, 0.0);
    let mut left = every;
    let mut sent = 0_u64;
    while now < DURATION_S {
        now += RTT_S / f64::from(cwnd);
        sent += 1;
        let offset: f64 = now - epoch + RTT_S - k;
        let distance = (C * offset.abs().powi(3)) as u32;
        let target = if offset < 0.0 { w_max.saturating_sub(distance) } else { w_max + distance };
        let mut per = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        for_w_est += 1.0;
        if for_w_est > f64::from(cwnd) * 15.0 / 8.0 {
            for_w_est -= f64::from(cwnd) * 15.0 / 8.0;
            w_est += 1;
        }
        if w_est > cwnd {
            per = per.min(cwnd / (w_est - cwnd));
        }
        for_cwnd += 1;
        if for_cwnd >= per.max(2) {
            cwnd += 1;
            for_cwnd = 0;
        }
        left = left.saturating_sub(1);
        if left == 0 {
            w_max = if cwnd < w_max { (f64::from(cwnd) * (1.0 + BETA) / 2.0) as u32 } else { cwnd };
            cwnd = (f64::from(cwnd) * BETA) as u32;
            now += RTT_S;
            sent += u64::from(cwnd);
            left = every.saturating_sub(cwnd);
            (epoch, w_est, for_w_est, for_cwnd) = (now, cwnd, 0.0, 0);
            k = (f64::from(w_max.saturating_sub(cwnd)) / C).cbrt();
        }
    }
    sent as f64 * RTT_S / DURATION_S
}

/// RFC 5348, 3.1: the rate of TFRC at a loss event rate, here that of single packets.
fn equation() -> Vec<Law> {
    let packets_per_rtt = |p: f64| {
        let square_roots =
            (2.0 * p / 3.0).sqrt() + 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
        1.0 / square_roots
    };
    let law = |(loss, within)| Law {
        source: "the equation of TFRC (RFC 5348, 3.1)",
        case: format!("p {loss}"),
        unit: "packets",
        theory: packets_per_rtt(loss),
        simulated: {
            let channel = format!("link.pipe.channel={{ kind = \"bernoulli\", loss = {loss} }}");
            let runs = runs(PIPE, &["flow.flow.protocol=tfrc", &channel], 4);
            mean(&runs, "thput") / 100.0 * 1e9 / 8.0 * RTT_S / 1500.0
        },
        within,
    };
    // Losses in one round trip are one event, so there are fewer events than losses.
    [(1e-3, 0.1), (1e-2, 0.1), (3e-2, 0.12)].map(law).into()
}

/// A sawtooth over a queue of a share `b` of a bandwidth-delay product. Its window grows from
/// (1 + b)/2 to 1 + b; a round trip lasts as long as the window needs to cross, 1 or more.
fn buffers() -> Vec<Law> {
    let law = |share: f64| {
        let top = 1.0 + share;
        let queue = format!("link.link.queue_packets={}", (share * BDP_PKTS).round());
        Law {
            source: "a sawtooth over a short queue (Appenzeller et al. 2004)",
            case: format!("queue of {share} BDP"),
            unit: "%",
            theory: 100.0 * (3.0 / 8.0 * top * top) / (1.0 - top / 2.0 + (top * top - 1.0) / 2.0),
            simulated: mean(&runs(QUEUE, &[&queue, "duration_s=620"], 2), "thput"),
            within: 0.02,
        }
    };
    [0.1, 0.25, 0.5, 1.0].map(law).into()
}

/// What managed queues aim at.
fn managed_queues() -> Vec<Law> {
    let measured = |kind: &str, flows: u32, metric: &str| {
        let queue = format!("link.link.queue={{ kind = \"{kind}\" }}");
        mean(&runs(QUEUE, &[&queue, &format!("flow.flow.count={flows}")], 3), metric)
    };
    let pie = |flows| Law {
        source: "PIE holds its target of 15 ms (RFC 8033, 4.2)",
        case: format!("{flows} flows, median"),
        unit: "ms",
        theory: 15.0,
        simulated: measured("pie", flows, "queueing_p50"),
        within: 0.15,
    };
    let codel = Law {
        source: "CoDel: one Reno flow uses 75 to 80 % (Nichols, Jacobson 2012)",
        case: "1 flow".to_owned(),
        unit: "%",
        theory: 77.5,
        simulated: measured("codel", 1, "thput"),
        within: 0.04,
    };
    vec![pie(5), pie(20), codel]
}

/// Jain, Chiu and Hawe 1984; Mathis et al. 1997: equal flows share equally, others as 1/RTT.
fn fairness() -> Vec<Law> {
    const RED: &str = "link.link.queue={ kind = \"red\", min_th_packets = 10, max_th_packets = 50, gentle = true }";
    let index = |flows: u32| Law {
        source: "equal flows behind RED share equally (Jain et al. 1984)",
        case: format!("{flows} flows, Jain's index"),
        unit: "",
        theory: 1.0,
        simulated: mean(&runs(QUEUE, &[RED, &format!("flow.flow.count={flows}")], 3), "fairness"),
        within: 0.03,
    };
    let far =
        r#"flow.far={ protocol = "tcp", path = ["link", "far"], count = 4, start_spread_s = 2 }"#;
    let link = r#"link.far={ rate_bps = 1e9, delay_ms = 60, queue_packets = 1000 }"#;
    let settings = [RED, link, far, "flow.flow.count=4", "link.link.delay_ms=20"];
    let unequal = runs(QUEUE, &settings, 4);
    let queueing_ms = mean(&unequal, "queueing_p50");
    let shares = Law {
        source: "behind RED, rates are as 1/RTT (Mathis et al. 1997)",
        case: "4 flows of 40 ms, 4 of 160 ms, queueing beside both".to_owned(),
        unit: "",
        theory: (160.0 + queueing_ms) / (40.0 + queueing_ms),
        simulated: mean(&unequal, "goodput_mean.flow") / mean(&unequal, "goodput_mean.far"),
        within: 0.15,
    };
    vec![index(4), index(16), shares]
}

/// RFC 5681, 3.1 and RFC 6928: slow start from ten packets, behind a handshake.
fn slow_start() -> Vec<Law> {
    let law = |(packets, round_trips): (u32, f64)| {
        let bytes = format!("flow.flow.bytes={}", packets * 1_448);
        let settings = [&bytes, "tcp.mode=linux", "tcp.variant=reno"];
        Law {
            source: "slow start from 10 packets (RFC 5681, 3.1; RFC 6928)",
            case: format!("{packets} packets"),
            unit: "s",
            theory: round_trips * RTT_S,
            simulated: mean(&runs(PIPE, &settings, 1), "completion_time"),
            within: 0.02,
        }
    };
    // The last packets arrive half a round trip after they are sent.
    [(10, 1.5), (30, 2.5), (70, 3.5), (700, 7.5)].map(law).into()
}

#[test]
fn what_the_literature_predicts_is_simulated() {
    let parts =
        [random_losses, periodic_losses, equation, buffers, managed_queues, fairness, slow_start];
    let laws: Vec<Law> = thread::scope(|scope| {
        let threads = parts.map(|part| scope.spawn(part));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    laws.iter().for_each(|law| println!("{law}"));
    let apart = |law: &&Law| (law.simulated / law.theory - 1.0).abs() > law.within;
    let broken: Vec<String> = laws.iter().filter(apart).map(Law::to_string).collect();
    assert!(broken.is_empty(), "beyond their tolerance:\n{}", broken.join("\n"));
    let page = fs::read_to_string(PAGE).unwrap();
    let is_missing = |row: &String| !page.lines().any(|line| line == row);
    let missing: Vec<String> = laws.iter().map(Law::to_string).filter(is_missing).collect();
    assert!(missing.is_empty(), "results/theory.md lacks:\n{}", missing.join("\n"));
}
