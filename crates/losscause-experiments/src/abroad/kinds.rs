//! The kinds: each is a name and a rule that draws a network from a seed.
//!
//! ```text
//! sender → out: queue, channel, delay → receiver → back → sender
//! ```
//!
//! A kind is either for fitting or held out: nothing may be fitted to
//! one that is held out, nor chosen by looking at it.

use losscause_sim::rng::Stream;
use losscause_study::{Context, Experiment, InputError, Scenario};
use serde::Serialize;

use crate::drawn::End;
use crate::paths::ranges::{Range, rounded};

/// What a kind may be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Algorithms may be fitted to its networks.
    #[default]
    Fitted,
    /// Its networks are for tests of an algorithm that was fixed before.
    HeldOut,
}

impl Role {
    /// Both, those to fit first.
    pub const ALL: [Self; 2] = [Self::Fitted, Self::HeldOut];

    /// The name: "held-out".
    pub fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::HeldOut => "held-out",
        }
    }
}

/// A kind of networks.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name: "LTE".
    pub name: &'static str,
    /// What it may be used for.
    pub role: Role,
    draw: fn(&mut Draws) -> Network,
}

/// A network of a kind: one link there, one back, and flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Rate of the link, bits per second; with steps, before the first one.
    pub rate_bps: f64,
    /// Round-trip time without queues and without the delay that varies, milliseconds.
    pub rtt_ms: f64,
    /// What the queue holds, packets.
    pub queue_packets: f64,
    /// Other keys of the link, as a scenario has them: `channel`, `delay_variation` and so on.
    pub keys: Vec<String>,
    /// How many flows there are.
    pub flows: u64,
    /// Congestion control of the flows.
    pub variant: &'static str,
    /// How long it runs, seconds.
    pub duration_s: u32,
}

/// All kinds, those to fit first.
pub const KINDS: [Kind; 28] = [
    fitted("one flow, DropTail", |d| droptail(d, 1, 0.5..2.0)),
    fitted("four flows, DropTail", |d| droptail(d, 4, 0.5..2.0)),
    fitted("small queue", |d| {
        let flows = d.one_of([1, 4]);
        droptail(d, flows, 0.1..0.5)
    }),
    fitted("CoDel", |d| managed(d, "codel")),
    fitted("FQ-CoDel", |d| managed(d, "fq-codel")),
    fitted("CoDel and radio", |d| managed(d, "codel").with(bernoulli(d, 0.003..0.03))),
    fitted("FQ-CoDel and radio", |d| managed(d, "fq-codel").with(bernoulli(d, 0.003..0.03))),
    fitted("policer", policer),
    fitted("LTE", lte),
    fitted("delay walk", delay_walk),
    fitted("random loss", |d| wired(d, 0.5..2.0).with(bernoulli(d, 0.003..0.08))),
    fitted("rare loss", |d| wired(d, 1.0..2.0).with(bernoulli(d, 0.0005..0.005))),
    fitted("loss in bursts", |d| {
        let mean = rounded(d.between(2.0..6.0));
        wired(d, 0.5..2.0).with(gilbert(d, 0.003..0.04, mean))
    }),
    fitted("jitter and loss", |d| jitter(d).with(bernoulli(d, 0.003..0.03))),
    fitted("LEO", |d| delay_steps(d).with(bernoulli(d, 0.003..0.02))),
    fitted("LEO without loss", delay_steps),
    fitted("satellite", satellite),
    fitted("BBR", |d| Network { variant: "bbr", ..wired(d, 0.5..2.0) }),
    fitted("BBR and radio", |d| {
        let link = wired(d, 0.5..2.0).with(bernoulli(d, 0.003..0.03));
        Network { variant: "bbr", ..link }
    }),
    held_out("RED", red),
    held_out("PIE", |d| managed(d, "pie")),
    held_out("walking LTE", walking_lte),
    held_out("outages", outages),
    held_out("policer and radio", |d| policer(d).with(bernoulli(d, 0.003..0.01))),
    held_out("Wi-Fi", wifi),
    held_out("heavy loss", |d| wired(d, 0.5..2.0).with(bernoulli(d, 0.08..0.12))),
    held_out("wandering delay", wandering),
    held_out("loss in long bursts", |d| {
        let mean = rounded(d.between(6.0..10.0));
        wired(d, 0.5..2.0).with(gilbert(d, 0.005..0.03, mean))
    }),
];

const fn fitted(name: &'static str, draw: fn(&mut Draws) -> Network) -> Kind {
    Kind { name, role: Role::Fitted, draw }
}

const fn held_out(name: &'static str, draw: fn(&mut Draws) -> Network) -> Kind {
    Kind { name, role: Role::HeldOut, draw }
}

impl Kind {
    /// The kind's network of this seed.
    pub fn draw(&self, seed: u64) -> Network {
        (self.draw)(&mut Draws(Stream::new(seed, &format!("abroad/{}", self.name))))
    }

    /// The kinds of a role.
    pub fn all(role: Role) -> impl Iterator<Item = &'static Self> {
        KINDS.iter().filter(move |kind| kind.role == role)
    }
}

impl Network {
    fn with(mut self, key: String) -> Self {
        self.keys.push(key);
        self
    }

    /// The same network with other flows.
    #[must_use]
    pub fn of_variant(self, variant: &'static str) -> Self {
        Self { variant, ..self }
    }

    /// The scenario file. Its flows, of the group `test`, follow this algorithm: TCP of Linux, or
    /// TFRC if it is at the receiver.
    pub fn scenario(&self, end: End, lda: &str) -> String {
        let Self { rate_bps, queue_packets, flows, variant, duration_s, .. } = *self;
        let delay_ms = rounded(self.rtt_ms / 2.0);
        let keys = self.keys.join("\n");
        let (tcp, protocol) = match end {
            End::Receiver => (String::new(), String::from("protocol = \"tfrc\"")),
            End::Sender => (
                String::from("tcp = { mode = \"linux\", max_window_pkts = 20000 }\n"),
                format!("protocol = \"tcp\"\nvariant = \"{variant}\""),
            ),
        };
        format!(
            r#"title = "A network abroad"
duration_s = {duration_s}
packet_bytes = 1500
measure = {{ from_s = 5, bottleneck = "out" }}
{tcp}
[[link]]
name = "out"
rate_bps = {rate_bps}
delay_ms = {delay_ms}
queue_packets = {queue_packets}
{keys}

[[link]]
name = "back"
rate_bps = 1e9
delay_ms = {delay_ms}
queue_packets = 20000

[[flow]]
name = "test"
count = {flows}
path = ["out"]
return_path = ["back"]
{protocol}
start_spread_s = 2
lda = "{lda}"
"#
        )
    }

    /// The network with its flows behind this algorithm of the built-in ones.
    ///
    /// # Errors
    /// There is no such algorithm.
    pub fn experiment(&self, end: End, lda: &str) -> Result<Experiment, InputError> {
        Scenario::parse(&self.scenario(end, lda), "a network abroad", &Context::default())?
            .experiment()
    }
}

/// The draws of a network.
struct Draws(Stream);

impl Draws {
    /// A number between two bounds; equal ratios are equally likely.
    fn between(&mut self, bounds: std::ops::Range<f64>) -> f64 {
        Range { from: bounds.start, to: bounds.end }.draw(&mut self.0)
    }

    /// A number between two bounds, all equally likely.
    fn evenly(&mut self, bounds: std::ops::Range<f64>) -> f64 {
        rounded(bounds.start + (bounds.end - bounds.start) * self.0.uniform())
    }

    fn one_of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        values[self.0.below(N as u64) as usize]
    }
}

/// So many bandwidth-delay products, packets, at least four.
fn packets(bdps: f64, rate_bps: f64, rtt_ms: f64) -> f64 {
    libm::ceil(bdps * rate_bps * rtt_ms / 12e6).max(4.0)
}

fn bernoulli(d: &mut Draws, loss: std::ops::Range<f64>) -> String {
    format!("channel = {{ kind = \"bernoulli\", loss = {} }}", d.between(loss))
}

fn gilbert(d: &mut Draws, loss: std::ops::Range<f64>, mean: f64) -> String {
    let loss = d.between(loss);
    format!(
        "channel = {{ kind = \"gilbert-elliott\", loss = {loss}, mean_burst_packets = {mean} }}"
    )
}

fn steps(key: &str, kind: &str, points: &[(f64, f64)]) -> String {
    let points: Vec<String> =
        points.iter().map(|(at_s, value)| format!("[{}, {value}]", rounded_s(*at_s))).collect();
    format!(
        "{key} = {{ kind = \"{kind}\", at_end = \"repeat\", points = [{}] }}",
        points.join(", ")
    )
}

fn rounded_s(at_s: f64) -> f64 {
    libm::rint(at_s * 1e4) / 1e4
}

/// A link of 2 to 60 Mb/s and 15 to 200 ms with a plain queue, and one flow of CUBIC.
fn wired(d: &mut Draws, bdps: std::ops::Range<f64>) -> Network {
    let rate_bps = d.between(2e6..60e6);
    let rtt_ms = d.between(15.0..200.0);
    let queue_packets = packets(d.between(bdps), rate_bps, rtt_ms);
    Network {
        rate_bps,
        rtt_ms,
        queue_packets,
        keys: Vec::new(),
        flows: 1,
        variant: "cubic",
        duration_s: 40,
    }
}

fn droptail(d: &mut Draws, flows: u64, bdps: std::ops::Range<f64>) -> Network {
    Network { flows, ..wired(d, bdps) }
}

fn managed(d: &mut Draws, queue: &str) -> Network {
    let flows = d.one_of([1, 1, 4]);
    let key = format!("queue = {{ kind = \"{queue}\" }}");
    Network { queue_packets: 10_240.0, flows, ..wired(d, 1.0..2.0) }.with(key)
}

/// RED from a sixth of the queue on, gentle.
fn red(d: &mut Draws) -> Network {
    let flows = d.one_of([1, 1, 4]);
    let link = Network { flows, ..wired(d, 1.5..3.0) };
    let least = libm::ceil(link.queue_packets / 6.0).max(5.0);
    let most = 3.0 * least;
    let key = format!(
        "queue = {{ kind = \"red\", min_th_packets = {least}, max_th_packets = {most}, gentle = true }}"
    );
    Network { queue_packets: link.queue_packets.max(2.0 * most), ..link }.with(key)
}

/// A bucket of 8 kB to 2 MB in front of a link that is up to ten times as fast.
fn policer(d: &mut Draws) -> Network {
    let rate_bps = d.between(1e6..20e6);
    let burst_bytes = libm::rint(d.between(8e3..2e6));
    let flows = d.one_of([1, 1, 2]);
    let spare = d.between(2.0..10.0);
    let key = format!(
        "queue = {{ kind = \"policer\", rate_bps = {rate_bps}, burst_bytes = {burst_bytes} }}"
    );
    Network {
        rate_bps: rounded(rate_bps * spare),
        queue_packets: 20_000.0,
        flows,
        ..wired(d, 1.0..2.0)
    }
    .with(key)
}

/// Four rates in turn, a large queue, and a link layer that repeats what the radio lost.
fn lte(d: &mut Draws) -> Network {
    let top_bps = d.between(8e6..50e6);
    let mut at_s = 0.0;
    let points: Vec<(f64, f64)> = (0..4)
        .map(|_| {
            at_s += d.between(1.0..8.0);
            (at_s, rounded(top_bps * d.between(0.1..1.0)))
        })
        .collect();
    lte_with(d, top_bps, &points)
}

/// The rate walks: every 100 ms a step of up to 30 %.
fn walking_lte(d: &mut Draws) -> Network {
    let top_bps = d.between(8e6..50e6);
    let mut share = 0.7;
    let points: Vec<(f64, f64)> = (1..=200)
        .map(|step| {
            share = (share * libm::exp(d.evenly(-0.3..0.3))).clamp(0.1, 1.0);
            (0.1 * f64::from(step), rounded(top_bps * share))
        })
        .collect();
    lte_with(d, top_bps, &points)
}

fn lte_with(d: &mut Draws, rate_bps: f64, points: &[(f64, f64)]) -> Network {
    let queue_packets = libm::rint(d.between(250.0..800.0));
    let rtt_ms = d.between(30.0..90.0);
    let loss = d.between(0.02..0.15);
    Network { rate_bps, rtt_ms, queue_packets, ..wired(d, 1.0..2.0) }
        .with(steps("rate_variation", "steps", points))
        .with(format!("channel = {{ kind = \"bernoulli\", loss = {loss} }}"))
        .with(String::from("retransmission = { attempts = 4, delay_ms = 8 }"))
}

/// The link stands still for 0.3 to 2.5 s every few seconds.
fn outages(d: &mut Draws) -> Network {
    let link = wired(d, 0.5..2.0);
    let mut at_s = 0.0;
    let mut points = Vec::new();
    for _ in 0..4 {
        at_s += d.between(3.0..12.0);
        points.push((at_s, 0.0));
        at_s += d.between(0.3..2.5);
        points.push((at_s, link.rate_bps));
    }
    link.with(steps("rate_variation", "steps", &points))
}

/// The delay walks by 5 to 40 ms, and packets come in batches.
fn delay_walk(d: &mut Draws) -> Network {
    let most_ms = d.between(5.0..40.0);
    let step_ms = rounded(most_ms * d.between(0.03..0.3));
    let every_s = d.between(0.01..0.2);
    let key = format!(
        "delay_variation = {{ kind = \"walk\", most_ms = {most_ms}, step_ms = {step_ms}, every_s = {every_s} }}"
    );
    wired(d, 0.5..2.0).with(key)
}

/// Each packet has a delay of its own.
fn jitter(d: &mut Draws) -> Network {
    let mean_ms = d.between(1.0..20.0);
    let distribution = d.one_of(["exponential", "normal"]);
    let correlation = d.one_of([0.0, 0.5, 0.9]);
    let deviation = match distribution {
        "normal" => format!(", deviation_ms = {}", rounded(mean_ms / 2.0)),
        _ => String::new(),
    };
    let key = format!(
        "delay_variation = {{ kind = \"jitter\", distribution = \"{distribution}\", mean_ms = {mean_ms}{deviation}, \
         correlation = {correlation} }}"
    );
    wired(d, 0.5..2.0).with(key)
}

/// Every few seconds another satellite, with another delay.
fn delay_steps(d: &mut Draws) -> Network {
    let every_s = d.between(2.0..15.0);
    let most_ms = d.between(5.0..40.0);
    let points: Vec<(f64, f64)> =
        (0..=20).map(|step| (f64::from(step) * every_s, d.evenly(0.0..most_ms))).collect();
    let rtt_ms = d.between(20.0..60.0);
    let rate_bps = d.between(10e6..80e6);
    let queue_packets = packets(d.between(0.5..2.0), rate_bps, rtt_ms);
    Network { rate_bps, rtt_ms, queue_packets, ..wired(d, 1.0..2.0) }.with(steps(
        "delay_variation",
        "trace",
        &points,
    ))
}

/// A delay that wanders by the tenth of a second and jumps every 15 s, and radio loss.
fn wandering(d: &mut Draws) -> Network {
    let spread_ms = d.between(4.0..20.0);
    let mut level_ms = 0.0;
    let mut walk_ms = 0.0;
    let points: Vec<(f64, f64)> = (0..=600)
        .map(|step| {
            if step % 150 == 0 {
                level_ms = d.evenly(0.0..30.0);
            }
            walk_ms = 0.9 * walk_ms + 0.3 * d.evenly(-spread_ms..spread_ms);
            (0.1 * f64::from(step), rounded((level_ms + spread_ms + walk_ms).max(0.0)))
        })
        .collect();
    let rtt_ms = d.between(20.0..50.0);
    let rate_bps = d.between(15e6..80e6);
    let queue_packets = packets(d.between(1.0..2.0), rate_bps, rtt_ms);
    Network { rate_bps, rtt_ms, queue_packets, duration_s: 60, ..wired(d, 1.0..2.0) }
        .with(steps("delay_variation", "trace", &points))
        .with(bernoulli(d, 0.003..0.015))
}

fn satellite(d: &mut Draws) -> Network {
    let rate_bps = d.between(3e6..25e6);
    let rtt_ms = d.between(450.0..620.0);
    let queue_packets = packets(d.between(0.3..1.5), rate_bps, rtt_ms);
    Network { rate_bps, rtt_ms, queue_packets, duration_s: 90, ..wired(d, 1.0..2.0) }
        .with(bernoulli(d, 0.001..0.01))
}

/// A link layer that sends each packet up to seven times; what it still loses the radio lost.
fn wifi(d: &mut Draws) -> Network {
    let rate_bps = d.between(10e6..60e6);
    let rtt_ms = d.between(15.0..80.0);
    let queue_packets = packets(d.between(0.5..2.0), rate_bps, rtt_ms);
    let loss = d.between(0.4..0.55);
    Network { rate_bps, rtt_ms, queue_packets, ..wired(d, 1.0..2.0) }
        .with(format!("channel = {{ kind = \"bernoulli\", loss = {loss} }}"))
        .with(String::from("retransmission = { attempts = 7, delay_ms = 0.5 }"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_a_scenario_that_the_program_accepts() {
        for kind in &KINDS {
            for seed in 0..20 {
                let network = kind.draw(seed);
                for end in End::ALL {
                    let experiment = network.experiment(end, "Spike");
                    assert!(
                        experiment.is_ok(),
                        "{}: {}\n{}",
                        kind.name,
                        experiment.unwrap_err(),
                        network.scenario(end, "Spike")
                    );
                }
            }
        }
    }

    #[test]
    fn a_network_depends_on_kind_and_seed_alone() {
        for kind in &KINDS {
            assert_eq!(kind.draw(3), kind.draw(3));
            assert_ne!(kind.draw(3), kind.draw(4), "{}", kind.name);
        }
        let names: std::collections::HashSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len(), "names are unique");
    }

    #[test]
    fn a_queue_of_one_product_holds_what_is_in_flight() {
        // 12 Mb/s are 1,000 packets of 1500 bytes per second: 100 in 100 ms.
        assert_eq!(packets(1.0, 12e6, 100.0), 100.0);
        assert_eq!(packets(0.1, 1e6, 10.0), 4.0, "at least four");
    }
}
