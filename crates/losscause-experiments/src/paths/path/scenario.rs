//! The scenario file of a path.

use std::fmt::Write;

use losscause_sim::rng::Stream;

use super::Path;
use super::factors::{
    Acknowledged, Acks, Beside, Cross, Delay, Host, Loss, Pilot, Place, Queue, Rate, Reverse, Stack,
};
use crate::drawn::End;
use crate::paths::ranges::{RANGES, rounded};

/// Writes a path's scenario.
pub(super) struct Writer<'a> {
    path: &'a Path,
    text: String,
}

/// Writes a line of the scenario. Writing into a string cannot fail.
macro_rules! line {
    ($writer:expr, $($part:tt)*) => {{ _ = writeln!($writer.text, $($part)*); }};
}

/// A link's queue: its settings, and what it holds at most.
struct Queueing {
    rate_bps: f64,
    settings: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self { path, text: String::new() }
    }

    pub(super) fn scenario(mut self, end: End) -> String {
        let path = self.path;
        line!(self, "# losscause simulate FILE --seed {}", path.run_seed());
        line!(self, "title = \"Path {path} of the benchmark, {end}\"");
        let levels: Vec<&str> = path.levels(end).iter().map(|level| level.level).collect();
        line!(self, "source = \"{}\"", levels.join(", "));
        line!(self, "duration_s = {}", path.duration_s());
        line!(self, "packet_bytes = {}", RANGES.duration.packet_bytes);
        // The benchmark's paths draw their chance themselves.
        line!(self, "send_jitter_us = 0");
        line!(self, "measure = {{ from_s = 10, bottleneck = \"{}\" }}", self.bottleneck());
        if end == End::Sender {
            let of_tcp = match (path.stack(), path.acknowledged) {
                (Stack::Linux, _) => String::from("mode = \"linux\""),
                (_, Acknowledged::Delayed) => format!("delayed_ack_ms = {}", path.delayed_ms),
                (_, Acknowledged::Each) => String::from("delayed_ack_ms = 0"),
            };
            line!(self, "tcp = {{ max_window_pkts = 20000, {of_tcp} }}");
        }
        if path.pilot() == Pilot::Noisy {
            line!(self, "lda.labelled = {{ P_CC = 0.9, P_WW = 0.6 }}");
        }
        let (to, back) = self.links();
        self.flows(end, &list(&to), &list(&back));
        self.text
    }

    /// The link with the bottleneck; of two, the last.
    fn bottleneck(&self) -> &'static str {
        match self.path.place {
            Place::LastHop | Place::Two => "radio",
            Place::Backbone | Place::BehindTheRadio => "wire",
        }
    }

    /// Writes the links. Returns the names of the path and of the way back.
    fn links(&mut self) -> (Vec<&'static str>, Vec<&'static str>) {
        let path = self.path;
        let (wire, radio) = match path.place {
            Place::LastHop => (false, true),
            Place::Backbone | Place::BehindTheRadio => (true, false),
            Place::Two => (true, true),
        };
        // Half of the round trip is the way back; of the way there the radio has a fifth, at most
        // 10 ms.
        let there_ms = path.rtt_ms / 2.0;
        let radio_ms = (there_ms / 5.0).min(10.0);
        let wire_keys = self.wire_keys();
        let radio_keys = self.radio_keys();
        self.link("wire", wire, there_ms - radio_ms, &wire_keys);
        self.link("radio", radio, radio_ms, &radio_keys);
        let back_bps = rounded(path.rate_bps * path.back_share);
        let queue_pkts = self.pkts(1.0).max(20.0);
        line!(
            self,
            "\n[[link]]\nname = \"back\"\nrate_bps = {back_bps}\ndelay_ms = {}",
            rounded(there_ms)
        );
        line!(self, "queue_packets = {queue_pkts}");
        let mut to = match path.place {
            Place::BehindTheRadio => vec!["radio", "wire"],
            _ => vec!["wire", "radio"],
        };
        let mut back = vec!["back"];
        if path.acks == Acks::Compressed {
            self.batches("uplink", path.acks_ms);
            back.insert(0, "uplink");
        }
        if path.host == Host::Batches {
            self.batches("receiving-host", path.host_ms);
            self.batches("sending-host", path.host_ms);
            to.push("receiving-host");
            back.push("sending-host");
        }
        (to, back)
    }

    /// A link, with the bottleneck's queue or with room to spare.
    fn link(&mut self, name: &str, is_bottleneck: bool, delay_ms: f64, keys: &str) {
        let path = self.path;
        let spare_bps = rounded(path.rate_bps * path.spare_rate);
        let plain = Queueing { rate_bps: spare_bps, settings: "queue_packets = 20000".to_owned() };
        let queueing = if is_bottleneck { self.queueing(spare_bps) } else { plain };
        line!(
            self,
            "\n[[link]]\nname = \"{name}\"\nrate_bps = {}\ndelay_ms = {}",
            queueing.rate_bps,
            rounded(delay_ms)
        );
        line!(self, "{}", queueing.settings);
        if is_bottleneck {
            self.rate_variation();
        }
        self.text.push_str(keys);
    }

    /// A fast link that hands packets on in batches.
    fn batches(&mut self, name: &str, hold_ms: f64) {
        line!(
            self,
            "\n[[link]]\nname = \"{name}\"\nrate_bps = 1e9\ndelay_ms = 0\nqueue_packets = 20000"
        );
        line!(
            self,
            "delay_variation = {{ kind = \"batches\", hold_ms = {hold_ms}, drawn = true }}"
        );
    }

    /// So many bandwidth-delay products, packets.
    fn pkts(&self, bdps: f64) -> f64 {
        libm::ceil(self.path.bdp_pkts() * bdps).max(RANGES.queue_sizes.least_packets)
    }

    fn queueing(&self, spare_bps: f64) -> Queueing {
        let path = self.path;
        let sizes = &RANGES.queue_sizes;
        let deep = self.pkts(sizes.deep_bdp);
        // A target below the transmission of two packets cannot be met.
        let target_ms =
            |ms: f64| rounded(ms.max(2e3 * 8.0 * RANGES.duration.packet_bytes / path.rate_bps));
        let interval_ms = |target_ms: f64| target_ms.max(100.0);
        let settings = match path.queue {
            Queue::Deep => format!("queue_packets = {deep}"),
            Queue::Shallow => format!("queue_packets = {}", self.pkts(sizes.shallow_bdp)),
            Queue::Red => {
                let least = libm::ceil(deep / 6.0).max(5.0);
                let most = 3.0 * least;
                format!(
                    "queue_packets = {}\nqueue = {{ kind = \"red\", min_th_packets = {least}, max_th_packets = {most}, \
                     gentle = true }}",
                    deep.max(2.0 * most)
                )
            }
            Queue::CoDel | Queue::FqCoDel => {
                let kind = if path.queue == Queue::CoDel { "codel" } else { "fq-codel" };
                let target_ms = target_ms(5.0);
                let interval_ms = interval_ms(target_ms);
                format!(
                    "queue_packets = {}\nqueue = {{ kind = \"{kind}\", target_ms = {target_ms}, interval_ms = \
                     {interval_ms} }}",
                    deep.max(1000.0)
                )
            }
            Queue::Pie => {
                let target_ms = target_ms(15.0);
                format!(
                    "queue_packets = {}\nqueue = {{ kind = \"pie\", target_ms = {target_ms} }}",
                    deep.max(1000.0)
                )
            }
            Queue::Policer => {
                let bucket = self.pkts(path.bucket_bdp) * RANGES.duration.packet_bytes;
                format!(
                    "queue_packets = 20000\nqueue = {{ kind = \"policer\", rate_bps = {}, burst_bytes = {bucket} }}",
                    path.rate_bps
                )
            }
        };
        let rate_bps = if path.queue == Queue::Policer { spare_bps } else { path.rate_bps };
        Queueing { rate_bps, settings }
    }

    fn rate_variation(&mut self) {
        let path = self.path;
        let varying = &RANGES.varying_rate;
        let mut stream = Stream::new(path.seed, &format!("path/{}/rates", path.number));
        let mut at_s = 0.0;
        let mut points = Vec::new();
        match path.rate {
            Rate::Constant => return,
            Rate::Steps => {
                for _ in 0..12 {
                    at_s = rounded(at_s + varying.steps_s.draw(&mut stream));
                    points.push((at_s, rounded(path.rate_bps * varying.factor.draw(&mut stream))));
                }
            }
            Rate::Cellular => {
                let mut factor = 1.0_f64;
                let mut outage_steps = 0;
                for step in 1..=150 {
                    at_s = f64::from(step) * varying.cellular_ms / 1e3;
                    let change = varying.cellular_step * (2.0 * stream.uniform() - 1.0);
                    factor = varying.factor.clamp(factor * libm::exp(change));
                    if stream.uniform() < varying.outage {
                        outage_steps = 1 + stream.below(5);
                    }
                    points.push((
                        at_s,
                        if outage_steps > 0 { 0.0 } else { rounded(path.rate_bps * factor) },
                    ));
                    outage_steps = outage_steps.saturating_sub(1);
                }
                // The round ends with a rate.
                if let Some(last) = points.last_mut() {
                    last.1 = path.rate_bps;
                }
            }
        }
        let points: Vec<String> =
            points.iter().map(|(at_s, bps)| format!("[{at_s}, {bps}]")).collect();
        line!(
            self,
            "rate_variation = {{ kind = \"steps\", at_end = \"repeat\", points = [{}] }}",
            points.join(", ")
        );
    }

    /// What the wired link has besides: the delay that varies.
    fn wire_keys(&self) -> String {
        let path = self.path;
        let most_ms = path.delay_most_ms;
        let every_s = path.delay_every_s;
        let variation = match path.delay {
            Delay::Constant => return String::new(),
            Delay::Walk => {
                let step_ms = rounded(most_ms / 5.0);
                format!(
                    "kind = \"walk\", most_ms = {most_ms}, step_ms = {step_ms}, every_s = {every_s}"
                )
            }
            Delay::Steps => {
                let mut stream = Stream::new(path.seed, &format!("path/{}/delays", path.number));
                let step = |k: u32| {
                    (
                        libm::rint(f64::from(k) * every_s * 1e6) / 1e6,
                        rounded(most_ms * stream.uniform()),
                    )
                };
                let points: Vec<String> =
                    (0..=20).map(step).map(|(at_s, ms)| format!("[{at_s}, {ms}]")).collect();
                format!("kind = \"trace\", at_end = \"repeat\", points = [{}]", points.join(", "))
            }
            Delay::Sinusoid => {
                format!("kind = \"sinusoid\", most_ms = {most_ms}, period_s = {every_s}")
            }
        };
        format!("delay_variation = {{ {variation} }}\n")
    }

    /// What the radio link has besides: its channel.
    fn radio_keys(&self) -> String {
        let Path { loss, loss_rate, burst_packets, .. } = self.path;
        match loss {
            Loss::None => String::new(),
            Loss::Independent => {
                format!("channel = {{ kind = \"bernoulli\", loss = {loss_rate} }}\n")
            }
            Loss::Bursts => format!(
                "channel = {{ kind = \"gilbert-elliott\", loss = {loss_rate}, mean_burst_packets = {burst_packets} }}\n"
            ),
        }
    }

    fn flows(&mut self, end: End, to: &str, back: &str) {
        let path = self.path;
        line!(
            self,
            "\n[[flow]]\nname = \"test\"\ncount = {}\npath = {to}\nreturn_path = {back}",
            path.flows
        );
        let is_linux = end == End::Sender && path.stack() == Stack::Linux;
        // Linux has SACK with any congestion control.
        let reno = if is_linux { "reno" } else { "sack" };
        match (end, path.stack()) {
            (End::Receiver, _) => line!(self, "protocol = \"tfrc\""),
            (End::Sender, Stack::Sack) => line!(self, "protocol = \"tcp\"\nvariant = \"sack\""),
            (End::Sender, Stack::Duplicates) => {
                line!(self, "protocol = \"tcp\"\nvariant = \"newreno\"");
            }
            (End::Sender, Stack::Linux) => {
                line!(self, "protocol = \"tcp\"\nvariant = \"cubic\"");
            }
        }
        line!(self, "start_spread_s = 5");
        let lda = match path.pilot() {
            Pilot::Unaware => "always congestion",
            Pilot::Omniscient => "omniscient",
            Pilot::Noisy => "labelled",
        };
        line!(self, "lda = \"{lda}\"");
        let variant = match path.beside {
            Beside::None => None,
            Beside::Reno => Some(reno),
            Beside::Cubic => Some("cubic"),
        };
        if let Some(variant) = variant {
            let count = path.flows.div_ceil(2);
            line!(
                self,
                "\n[[flow]]\nname = \"stock\"\ncount = {count}\npath = {to}\nreturn_path = {back}"
            );
            line!(
                self,
                "protocol = \"tcp\"\nvariant = \"{variant}\"\nstart_spread_s = 5\nmeasured = false"
            );
        }
        if path.cross != Cross::None {
            self.cross_traffic();
        }
        if path.reverse == Reverse::Congested {
            line!(self, "\n[[flow]]\nname = \"upload\"\npath = [\"back\"]\nreturn_path = {to}");
            line!(
                self,
                "protocol = \"tcp\"\nvariant = \"{reno}\"\nstart_spread_s = 5\nmeasured = false"
            );
        }
    }

    fn cross_traffic(&mut self) {
        let path = self.path;
        let crossing = &RANGES.crossing;
        // On for half of the time.
        let rate_bps = rounded(2.0 * crossing.share * path.rate_bps / f64::from(crossing.sources));
        line!(
            self,
            "\n[[flow]]\nname = \"cross\"\ncount = {}\npath = [\"{}\"]",
            crossing.sources,
            self.bottleneck()
        );
        line!(self, "protocol = \"on-off\"\nrate_bps = {rate_bps}");
        line!(self, "mean_on_s = {0}\nmean_off_s = {0}\nstart_spread_s = 5", path.cross_period_s);
        if path.cross == Cross::Pareto {
            line!(self, "periods = \"pareto\"");
        }
    }
}

fn list(names: &[&str]) -> String {
    format!("{names:?}")
}
