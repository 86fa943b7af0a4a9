//! The links over which transfers are made: of each kind one per seed, which draws its settings.

use std::fmt::Write;

use losscause_sim::rng::Stream;

/// A kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// A queue that drops what finds it full.
    #[value(name = "droptail")]
    DropTail,
    /// A radio link with rates that step, a long queue and repetitions.
    Lte,
    /// A queue managed by CoDel.
    Codel,
    /// A token bucket.
    Policer,
    /// A long path with random loss.
    Satellite,
    /// A radio link that repeats up to seven times what bursts of errors corrupt.
    Wifi,
    /// A wire that corrupts packets at random.
    RandomLoss,
}

/// A link and a transfer over it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) kind: Kind,
    pub(super) seed: u64,
    /// The congestion control, by the kernel's name.
    pub(super) control: &'static str,
    /// How long the transfer lasts.
    pub(super) seconds: f64,
    /// The link as a scenario.
    pub(super) scenario: String,
    /// What the policer allows, bits per second.
    pub(super) policer_bps: Option<u64>,
}

/// The settings of a link.
struct Link {
    rate_bps: f64,
    rtt_ms: f64,
    queue_packets: f64,
    /// Further keys of the scenario.
    keys: String,
    policer_bps: Option<u64>,
}

/// Draws of a seed.
struct Draws(Stream);

impl Draws {
    /// Uniform.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.uniform() * (high - low)
    }

    /// Uniform in the logarithm.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.uniform())
    }
}

/// Rates of wires, bits per second, and round trips, milliseconds.
const RATES: (f64, f64) = (2e6, 20e6);
const ROUND_TRIPS: (f64, f64) = (15.0, 120.0);
/// Smaller queues cannot hold what a sender sends at once.
const SMALLEST_QUEUE: f64 = 8.0;
const PACKET_BITS: f64 = 12_000.0;
/// A transfer lasts for so many seconds.
const SECONDS: (f64, f64) = (18.0, 40.0);
/// So many transfers of ten are CUBIC's, the others Reno's.
const CUBIC: f64 = 0.75;

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::DropTail,
        Self::Lte,
        Self::Codel,
        Self::Policer,
        Self::Satellite,
        Self::Wifi,
        Self::RandomLoss,
    ];

    /// As in a table and a folder's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DropTail => "droptail",
            Self::Lte => "lte",
            Self::Codel => "codel",
            Self::Policer => "policer",
            Self::Satellite => "satellite",
            Self::Wifi => "wifi",
            Self::RandomLoss => "random-loss",
        }
    }

    /// The link and transfer of a seed.
    pub(super) fn draw(self, seed: u64) -> Drawn {
        let mut draws = Draws(Stream::new(seed, self.name()));
        let seconds = draws.between(SECONDS.0, SECONDS.1).round();
        let control = if draws.between(0.0, 1.0) < CUBIC { "cubic" } else { "reno" };
        let Link { rate_bps, rtt_ms, queue_packets, keys, policer_bps } = self.link(&mut draws);
        let name = self.name();
        let delay_ms = rtt_ms / 2.0;
        let scenario = format!(
            "\
# Drawn by cargo xtask gate: {name}, seed {seed}. The transfer is the kernel's, by {control}, over
#
#   losscause emulate link.toml --seed {seed}
title = \"{name}, seed {seed}\"
source = \"cargo xtask gate\"
duration_s = {seconds}
packet_bytes = 1500

[measure]
bottleneck = \"link\"

[[link]]
name = \"link\"
rate_bps = {rate_bps:.0}
delay_ms = {delay_ms:.3}
queue_packets = {queue_packets:.0}
{keys}
[[flow]]
name = \"transfer\"
protocol = \"tcp\"
path = [\"link\"]
"
        );
        Drawn { kind: self, seed, control, seconds, scenario, policer_bps }
    }

    fn link(self, draws: &mut Draws) -> Link {
        let rate_bps = draws.spread(RATES.0, RATES.1);
        let rtt_ms = draws.spread(ROUND_TRIPS.0, ROUND_TRIPS.1);
        let bdp = |rate_bps: f64, rtt_ms: f64| rate_bps * rtt_ms / 1e3 / PACKET_BITS;
        let queue = |bdp: f64| bdp.max(SMALLEST_QUEUE);
        let mut link = Link {
            rate_bps,
            rtt_ms,
            queue_packets: 1_000.0,
            keys: String::new(),
            policer_bps: None,
        };
        match self {
            Self::DropTail => {
                link.queue_packets = queue(draws.between(0.5, 2.0) * bdp(rate_bps, rtt_ms));
            }
            Self::Lte => {
                link.rtt_ms = draws.between(40.0, 80.0);
                link.queue_packets = draws.between(250.0, 800.0);
                let mut at = 0.0;
                let mut points = String::new();
                for step in 0..4 {
                    let rate_bps = draws.spread(3e6, 20e6).round();
                    if step == 0 {
                        link.rate_bps = rate_bps;
                    }
                    _ = write!(points, "[{at:.3}, {rate_bps:.0}], ");
                    at += draws.between(3.0, 8.0);
                }
                let first = link.rate_bps;
                link.keys = format!(
                    "rate_variation = {{ kind = \"steps\", at_end = \"repeat\", points = [{points}[{at:.3}, {first}]] }}\n\
                     channel = {{ kind = \"bernoulli\", loss = 0.1 }}\n\
                     retransmission = {{ attempts = 4, delay_ms = 8 }}\n"
                );
            }
            Self::Codel => link.keys = "queue = { kind = \"codel\" }\n".to_owned(),
            Self::Policer => {
                let policer_bps = draws.spread(1e6, 20e6).round();
                let burst_bytes = draws.spread(15e3, 500e3);
                // What the bucket lets through at once fits into the queue behind it, so that only
                // the bucket drops.
                link.rate_bps = policer_bps * draws.between(3.0, 5.0);
                link.policer_bps = Some(policer_bps as u64);
                link.keys = format!(
                    "queue = {{ kind = \"policer\", rate_bps = {policer_bps:.0}, burst_bytes = {burst_bytes:.0} }}\n"
                );
            }
            Self::Satellite => {
                link.rtt_ms = draws.between(500.0, 640.0);
                link.rate_bps = draws.spread(5e6, 20e6);
                link.queue_packets = bdp(link.rate_bps, link.rtt_ms);
                // With less loss a transfer of these round trips has too few losses for any cause.
                link.keys = bernoulli(draws.spread(0.005, 0.02));
            }
            Self::Wifi => {
                link.rate_bps = draws.spread(10e6, 30e6);
                link.rtt_ms = draws.spread(15.0, 60.0);
                link.queue_packets = draws.between(100.0, 500.0);
                let loss = draws.between(0.2, 0.4);
                let burst = draws.between(2.0, 3.0);
                let delay_ms = draws.spread(0.3, 1.0);
                link.keys = format!(
                    "channel = {{ kind = \"gilbert-elliott\", loss = {loss:.3}, mean_burst_packets = {burst:.2} }}\n\
                     retransmission = {{ attempts = 7, delay_ms = {delay_ms:.2} }}\n"
                );
            }
            Self::RandomLoss => {
                link.rate_bps = draws.spread(5e6, 20e6);
                link.queue_packets = queue(draws.between(1.0, 2.0) * bdp(link.rate_bps, rtt_ms));
                link.keys = bernoulli(draws.spread(0.003, 0.03));
            }
        }
        link
    }
}

fn bernoulli(loss: f64) -> String {
    format!("channel = {{ kind = \"bernoulli\", loss = {loss:.5} }}\n")
}

#[cfg(test)]
mod tests {
    use losscause_sim::{Limit, QueueSpec};
    use losscause_study::{Context, Scenario};

    use super::*;

    #[test]
    fn every_drawn_link_is_a_scenario_that_its_seed_draws_again() {
        for kind in Kind::ALL {
            for seed in 1..=10 {
                let drawn = kind.draw(seed);
                assert_eq!(drawn, kind.draw(seed));
                let scenario = Scenario::parse(&drawn.scenario, "link.toml", &Context::default())
                    .expect(&drawn.scenario);
                let network = scenario.experiment().expect(&drawn.scenario).network;
                let link = &network.links[0];
                assert!((1_000_000..=100_000_000).contains(&link.rate_bps), "{link:?}");
                assert!((18.0..=40.0).contains(&drawn.seconds));
                if let QueueSpec::Policer(policer) = link.queue {
                    assert_eq!(Some(policer.rate_bps), drawn.policer_bps);
                    let Limit::Packets(packets) = policer.limit else { panic!("{policer:?}") };
                    assert!(
                        u64::from(packets) * 500 >= policer.burst_bytes,
                        "the queue may drop: {policer:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_kind_is_asked_for_by_the_name_that_the_table_has() {
        for kind in Kind::ALL {
            assert_eq!(<Kind as clap::ValueEnum>::from_str(kind.name(), false), Ok(kind));
        }
    }

    #[test]
    fn seeds_draw_different_links() {
        let mut links: Vec<String> =
            (1..=10).map(|seed| Kind::DropTail.draw(seed).scenario).collect();
        links.sort();
        links.dedup();
        assert_eq!(links.len(), 10);
    }
}
