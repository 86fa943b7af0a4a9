//! A scenario of the link that a captured flow met.

use losscause_capture::{Fit, Flow, RateStep};

use crate::scenario::recommended_lda;
use crate::{Context, Experiment, Scenario, run};

/// The scenario as a file of the name `file`: what was fitted to `flow` of `capture`, and in
/// comments from how much, and what could not be seen.
///
/// Behind a policer a small error of the bucket may change what passes by much, and a link may have
/// what no fit has. So the transfer is simulated, and a comment says if it gets another goodput than
/// the captured one; the second value is what it says.
pub fn scenario(fit: &Fit, flow: &Flow, capture: &str, file: &str) -> (String, Option<String>) {
    let text = written(fit, flow, [capture, file], None);
    match told_doubt(fit, &text, flow) {
        Some(doubt) => (written(fit, flow, [capture, file], Some(doubt.clone())), Some(doubt)),
        None => (text, None),
    }
}

/// A goodput that differs by more is told: a policer's losses follow from its bucket.
const DIFFERS: f64 = 0.15;
/// The same where losses are random, which make goodput vary from run to run.
const DIFFERS_BY_CHANCE: f64 = 0.25;
/// A sender with nothing to send for more than this share of the time has a goodput of its own.
const IDLE: f64 = 0.05;
/// A transfer of more packets is not simulated: it would take longer than its analysis.
const MOST_PACKETS: u64 = 1_000_000;

/// What a transfer gets.
#[derive(Clone, Copy, Debug)]
struct Got {
    goodput_bps: f64,
    lost: f64,
    packets: f64,
    rtt_ms: Option<f64>,
}

/// A median round trip that differs by more is told.
const RTT_DIFFERS: f64 = 0.25;
/// As many times as many losses are told, if that is more than chance: deviations of both counts.
const LOSSES_DIFFER: f64 = 1.5;
const CHANCE: f64 = 3.0;
/// Other differences than those of goodput are told if so many runs all have them.
const SEEDS: u64 = 3;

impl Got {
    fn of(experiment: &Experiment, seed: u64) -> Option<Self> {
        let measured = run(experiment, seed).ok()?;
        let transfer = measured.flows.first()?;
        Some(Self {
            goodput_bps: 1e3 * measured.metric("goodput")?,
            lost: (transfer.queue_drops + transfer.wireless_drops) as f64,
            packets: transfer.sent_packets.max(1) as f64,
            rtt_ms: measured.metric("rtt_p50"),
        })
    }

    /// "5.80 Mb/s, 7.6 losses in 1,000 packets and a median round trip of 533 ms"
    fn told(&self) -> String {
        let rtt = self
            .rtt_ms
            .map(|ms| format!(" and a median round trip of {ms:.0} ms"))
            .unwrap_or_default();
        format!(
            "{:.2} Mb/s, {:.1} losses in 1,000 packets{rtt}",
            self.goodput_bps / 1e6,
            1e3 * self.lost / self.packets
        )
    }

    /// What is far from the other's, beside the goodput.
    fn differences(&self, other: &Self) -> Vec<&'static str> {
        let ratio = |one: f64, other: f64| one.max(other) / one.min(other);
        let losses = ratio(self.lost / self.packets, other.lost / other.packets) > LOSSES_DIFFER
            && (self.lost - other.lost).abs() > CHANCE * (self.lost + other.lost).sqrt();
        let rtt = self.rtt_ms.zip(other.rtt_ms);
        let rtt = rtt.is_some_and(|(one, other)| ratio(one, other) > 1.0 + RTT_DIFFERS);
        [(losses, "losses"), (rtt, "delays")]
            .into_iter()
            .filter_map(|(differs, what)| differs.then_some(what))
            .collect()
    }
}

/// That the scenario's transfer gets something else than the captured one: a sentence, if it does.
fn told_doubt(fit: &Fit, text: &str, flow: &Flow) -> Option<String> {
    let pace = flow.pace.filter(|pace| pace.lasted_s > 0.0)?;
    let lasted_s = pace.lasted_s;
    let differs = match fit.policer {
        Some(_) => DIFFERS,
        None if pace.sending.is_some_and(|sending| sending.idle_s > IDLE * lasted_s) => {
            return None;
        }
        None => DIFFERS_BY_CHANCE,
    };
    let captured = Got {
        goodput_bps: 8.0 * flow.bytes as f64 / lasted_s,
        lost: flow.lost() as f64,
        packets: flow.packets.max(1) as f64,
        rtt_ms: pace.sending.and_then(|sending| sending.rtt).map(|rtt| rtt.p50_ms),
    };
    if flow.packets > MOST_PACKETS {
        return Some(
            "Whether a transfer gets the captured one's goodput: it was too long to be simulated."
                .to_owned(),
        );
    }
    let scenario = Scenario::parse(text, "fitted.toml", &Context::default()).ok()?;
    let experiment = scenario.experiment_with_delays().ok()?;
    let simulated = Got::of(&experiment, 1)?;
    let goodput_differs =
        (simulated.goodput_bps - captured.goodput_bps).abs() > differs * captured.goodput_bps;
    let mut others = captured.differences(&simulated);
    for seed in 2..=SEEDS {
        if goodput_differs || others.is_empty() {
            break;
        }
        let again = captured.differences(&Got::of(&experiment, seed)?);
        others.retain(|what| again.contains(what));
    }
    let (what, so) = match (goodput_differs, others.is_empty()) {
        (true, _) => {
            ("goodput".to_owned(), "What a comparison on it promises does not hold.".to_owned())
        }
        (false, false) => {
            let others = others.join(" and ");
            (others.clone(), format!("Do not compare {others} on it."))
        }
        (false, true) => return None,
    };
    Some(format!(
        "What makes the difference in {what}: simulated, this link gives {}; the captured transfer got {}. {so}",
        simulated.told(),
        captured.told()
    ))
}

/// The file's text; `doubt` is one more thing that was not seen.
fn written(fit: &Fit, flow: &Flow, [capture, file]: [&str; 2], doubt: Option<String>) -> String {
    let [capture, file] = [capture, file].map(|name| name.replace(char::is_control, "?"));
    let ends = format!("{} to {}", flow.src, flow.dst);
    let comments = |sentences: &[String]| {
        sentences.iter().map(|sentence| wrapped(sentence)).collect::<String>()
    };
    let fitted = comments(&fit.told());
    let unseen: Vec<String> = flow.unseen().into_iter().chain(doubt).collect();
    let unseen = comments(&unseen);
    let pace = flow.pace.map(|pace| pace.lasted_s).unwrap_or_default();
    let window = match fit.window_bytes {
        Some(bytes) => format!(
            "# The receiver's window, which held this flow up most of the time.\nmax_window_pkts = {}\n",
            (bytes / (fit.packet_bytes - fit.header_bytes).max(1)).max(1)
        ),
        None => String::new(),
    };
    let variation = variation(fit);
    let others = fit.others.filter(|_| fit.rates.is_empty()).map_or(String::new(), |others| {
        format!(
            "\
# What took a part of the rate at times.
[[flow]]
name = \"others\"
protocol = \"on-off\"
rate_bps = {:.0}
mean_on_s = {:.3}
mean_off_s = {:.3}
path = [\"link\"]
measured = false

",
            others.rate_bps, others.on_s, others.off_s
        )
    });
    let channel = match fit.random_burst > 1.0 {
        true => format!(
            "kind = \"gilbert-elliott\", loss = \"loss\", mean_burst_packets = {:.3}",
            fit.random_burst
        ),
        false => "kind = \"bernoulli\", loss = \"loss\"".to_owned(),
    };
    let (packets, _) = fit.queue_packets();
    let (bucket, queue) = fit.policer.map_or_else(Default::default, |policer| {
        let settings = format!(
            "\
# The policer in front of the link: its rate with headers, and what its bucket holds.
policer_bps = {:.0}
bucket_bytes = {}
",
            policer.rate_bps.max(1.0),
            policer.burst_bytes
        );
        (settings, "queue = { kind = \"policer\", rate_bps = \"policer_bps\", burst_bytes = \"bucket_bytes\" }\n")
    });
    format!(
        "\
# The link that the transfer {ends} met, fitted to {capture}.
#
#   losscause simulate {file}
#   losscause compare {file} --variant 'reno: tcp.variant=reno' --runs 5
#   losscause compare {file} --lda none,{recommended} --runs 5
#
# Fitted:
{fitted}#
# Not seen:
{unseen}{control}
title = \"The link of {ends}, fitted to a capture\"
source = \"losscause analyze --scenario\"
# As long as the transfer took.
duration_s = {duration_s:.3}
packet_bytes = {packet_bytes}
header_bytes = {header_bytes}

[parameters]
rate_bps = {rate_bps:.0}
# There and back, without transmissions and queues.
rtt_ms = {rtt_ms:.3}
queue_packets = {packets}
# Share of packets that are lost at random.
loss = {loss:.6}
{bucket}
[measure]
bottleneck = \"link\"

[[link]]
name = \"link\"
rate_bps = \"rate_bps\"
delay_ms = \"rtt_ms / 2\"
queue_packets = \"queue_packets\"
{variation}{queue}channel = {{ {channel} }}

[[flow]]
name = \"transfer\"
protocol = \"tcp\"
path = [\"link\"]

{others}[tcp]
mode = \"linux\"
variant = \"cubic\"
{window}",
        control =
            wrapped("Which congestion control sent: cubic of Linux, the usual one, is taken."),
        recommended = recommended_lda(),
        duration_s = pace.max(0.001),
        packet_bytes = fit.packet_bytes,
        header_bytes = fit.header_bytes,
        rate_bps = fit.rate_bps.max(1.0),
        rtt_ms = fit.propagation_ms(),
        loss = fit.random_loss,
    )
}

/// The rate over time, as parts of `rate_bps`: a line for every few steps.
fn variation(fit: &Fit) -> String {
    if fit.rates.is_empty() {
        return String::new();
    }
    let point = |step: &RateStep| {
        format!("[{:.3}, \"{:.4} * rate_bps\"], ", step.from_s, step.rate_bps / fit.rate_bps)
    };
    let lines = fit.rates.chunks(POINTS).map(|steps| {
        let points: String = steps.iter().map(point).collect();
        format!("  {}\n", points.trim_end())
    });
    let lines: String = lines.collect();
    format!("rate_variation = {{ kind = \"steps\", at_end = \"hold\", points = [\n{lines}] }}\n")
}

/// Steps of a rate on a line.
const POINTS: usize = 3;

/// Columns of a comment's text.
const WIDTH: usize = 118;

/// A sentence as an item of a list in comments.
fn wrapped(sentence: &str) -> String {
    let mut text = "#  -".to_owned();
    let mut column = 4;
    for word in sentence.split(' ') {
        if column + 1 + word.chars().count() > WIDTH {
            text.push_str("\n#   ");
            column = 4;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.chars().count();
    }
    text.push('\n');
    text
}
