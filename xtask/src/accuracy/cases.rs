//! The networks whose captures are analysed: the papers' topologies, and one link with what real
//! paths have besides.

use anyhow::Result;
use losscause::{Span, Time};
use losscause_laboratory::papers::record::load_scenario;
use losscause_study::{Context, Experiment, Scenario, Setting};

/// A network, and which of its flows are captured.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// What there is to know about it.
    pub(super) about: &'static str,
    source: Source,
    settings: Vec<&'static str>,
    pub(super) flows: &'static [&'static str],
    /// Before it nothing is captured.
    pub(super) starts_at: Time,
    /// The tick of TCP's timestamps.
    pub(super) tick_ms: i64,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// A scenario of a paper.
    Paper(&'static str),
    /// [`HOME`].
    Home,
    /// [`SERVER`].
    Server,
}

/// Two uploads and two calls over a wireless hop, behind the queue of a wired link that cross
/// traffic fills at times.
const HOME: &str = r#"
title = "a wired bottleneck, then a wireless hop"
duration_s = 150
packet_bytes = 1000
send_jitter_us = 0
[measure]
bottleneck = "wired"
[[link]]
name = "wired"
rate_bps = 4e6
delay_ms = 20
queue_packets = 40
[[link]]
name = "radio"
per_flow = true
rate_bps = 10e6
delay_ms = 5
queue_packets = 100
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "transfer"
count = 2
protocol = "tcp"
path = ["wired", "radio"]
start_spread_s = 1
[[flow]]
name = "call"
count = 2
protocol = "tfrc"
path = ["wired", "radio"]
start_spread_s = 1
[[flow]]
name = "cross"
count = 2
protocol = "on-off"
path = ["wired"]
rate_bps = 800e3
mean_on_s = 1
mean_off_s = 1
[tcp]
variant = "sack"
max_window_pkts = 1000
"#;

/// A download from an ordinary Linux server: CUBIC with SACK, timestamps of 1 ms, the first window
/// of RFC 6928.
const SERVER: &str = r#"
title = "a server, a queue, a path that loses packets"
duration_s = 120
packet_bytes = 1500
send_jitter_us = 0
[parameters]
rate = 10e6
loss = 0.02
[measure]
bottleneck = "path"
[[link]]
name = "path"
rate_bps = "rate"
delay_ms = 20
queue_packets = 50
channel = { kind = "bernoulli", loss = "loss" }
[[flow]]
name = "transfer"
protocol = "tcp"
path = ["path"]
[tcp]
recovery = "sack"
response = "cubic"
initial_window_pkts = 10
min_rto_ms = 200
delayed_ack_ms = 40
max_window_pkts = 4000
"#;

impl Case {
    fn of(
        name: &'static str,
        about: &'static str,
        source: Source,
        settings: &[&'static str],
    ) -> Self {
        let flows: &[&str] = match source {
            Source::Paper(_) => &["test"],
            Source::Home => &["transfer", "call"],
            Source::Server => &["transfer"],
        };
        Self {
            name,
            about,
            source,
            settings: settings.to_vec(),
            flows,
            starts_at: Time::ZERO,
            tick_ms: 1,
        }
    }

    fn starting_at(self, seconds: i64) -> Self {
        Self { starts_at: Time::ZERO + Span::from_secs(seconds), ..self }
    }

    fn tick_ms(self, tick_ms: i64) -> Self {
        Self { tick_ms, ..self }
    }

    /// Whether it is a server's transfer.
    pub(super) fn is_server(&self) -> bool {
        matches!(self.source, Source::Server)
    }

    /// What runs.
    pub(super) fn experiment(&self) -> Result<Experiment> {
        self.experiment_with(&[])
    }

    /// What runs, with these settings besides.
    pub(super) fn experiment_with(&self, more: &[String]) -> Result<Experiment> {
        let scenario = match self.source {
            Source::Paper(name) => load_scenario(name, &Context::default())?,
            Source::Home => Scenario::parse(HOME, self.name, &Context::default())?,
            Source::Server => Scenario::parse(SERVER, self.name, &Context::default())?,
        };
        let texts = self.settings.iter().copied().chain(more.iter().map(String::as_str));
        let settings: Vec<Setting> = texts.map(Setting::parse).collect::<Result<_, _>>()?;
        Ok(scenario.with(&settings)?.experiment()?)
    }
}

/// All of them, in the order of the tables.
pub(super) fn all() -> Vec<Case> {
    use Source::{Home, Paper, Server};
    let wlh = "Cen 2003: wireless last hops behind a shared link, fading";
    let wb = "Cen 2003: a shared wireless link, fading";
    vec![
        Case::of("WLH, video", wlh, Paper("cen2003/WLH"), &["N=4"]).starting_at(20),
        Case::of("WB, video", wb, Paper("cen2003/WB"), &["N=4"]).starting_at(20),
        Case::of("WLH, TCP", wlh, Paper("cen2003/WLH"), &["N=4", "flow.test.protocol=tcp"]).starting_at(20),
        Case::of("WB, TCP", wb, Paper("cen2003/WB"), &["N=4", "flow.test.protocol=tcp"]).starting_at(20),
        Case::of(
            "wired first, slow radio",
            "Biaz 1999: a wireless hop of half the wired rate, 1 % errors, ACKs delayed by up to 100 ms",
            Paper("biaz1999/accuracy"),
            &[],
        )
        .starting_at(100),
        Case::of(
            "many flows, long queue",
            "Barman 2002, configuration 1: 20 NewReno flows, 5 % errors",
            Paper("barman2002/config1"),
            &["cross_bytes=210"],
        ),
        Case::of(
            "many flows, short queue",
            "Barman 2002, configuration 2: 10 NewReno flows, 5 % errors",
            Paper("barman2002/config2"),
            &["cross_bytes=210"],
        ),
        Case::of("one flow, last hop", "Koo 2007: the wireless hop is the bottleneck", Paper("koo2007/single"), &["wired_ms=10"]),
        Case::of(
            "one flow beside UDP",
            "Dalwadi: NewReno beside constant-rate UDP, 1 % errors before the queue",
            Paper("dalwadi/line"),
            &["udp=1", "error_rate=0.01", "duration_s=200"],
        ),
        Case::of("drop-tail", "the link below, a plain queue of 40 packets", Home, &[]),
        Case::of("CoDel", "the same with CoDel", Home, &["link.wired.queue={ kind = \"codel\" }"]),
        Case::of("FQ-CoDel", "the same with FQ-CoDel", Home, &["link.wired.queue={ kind = \"fq-codel\" }"]),
        Case::of(
            "policer",
            "the same with a policer of 3 Mb/s and 30 kB: congestion losses without delay",
            Home,
            &["link.wired.queue={ kind = \"policer\", rate_bps = 3e6, burst_bytes = 30000 }"],
        ),
        Case::of(
            "jitter",
            "100 Mb/s, so no queue, and a delay that walks between 0 and 40 ms",
            Home,
            &[
                "link.wired.rate_bps=100e6",
                "link.wired.delay_variation={ kind = \"walk\", most_ms = 40, step_ms = 5, every_s = 0.05 }",
                "tcp.max_window_pkts=60",
            ],
        ),
        Case::of("ACKs delayed by 40 ms", "drop-tail, ACKs for every second packet", Home, &["tcp.delayed_ack_ms=40"]),
        Case::of("ACKs delayed by 200 ms", "the same, with a timer of 200 ms", Home, &["tcp.delayed_ack_ms=200"]),
        Case::of("ticks of 4 ms", "drop-tail, TCP's timestamps in ticks of 4 ms", Home, &[]).tick_ms(4),
        Case::of("ticks of 10 ms", "drop-tail, TCP's timestamps in ticks of 10 ms", Home, &[]).tick_ms(10),
        Case::of("10 Mb/s, 0.5 %", "a server's transfer, a queue of 50 packets", Server, &["loss=0.005"]),
        Case::of("10 Mb/s, 2 %", "the same", Server, &["loss=0.02"]),
        Case::of("10 Mb/s, 8 %", "the same", Server, &["loss=0.08"]),
        Case::of("2 Mb/s, 0.5 %", "the same", Server, &["rate=2e6", "loss=0.005"]),
        Case::of("2 Mb/s, 2 %", "the same", Server, &["rate=2e6", "loss=0.02"]),
        Case::of("2 Mb/s, 8 %", "the same", Server, &["rate=2e6", "loss=0.08"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_valid_network_with_its_flows() {
        for case in all() {
            let experiment =
                case.experiment().unwrap_or_else(|error| panic!("{}: {error}", case.name));
            for name in case.flows {
                assert!(
                    experiment.network.flows.iter().any(|flow| flow.name.starts_with(name)),
                    "{}",
                    case.name
                );
            }
        }
    }
}
