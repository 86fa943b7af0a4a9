//! A drawn path: its factors, and the scenario that they make.
//!
//! ```text
//! last hop           sender → wire          → radio: queue, loss → receiver
//! backbone           sender → wire: queue   → radio: loss        → receiver
//! behind the radio   sender → radio: loss   → wire: queue        → receiver
//! two                sender → wire: queue   → radio: queue, loss → receiver
//! ```
//!
//! The links without a queue of their own are faster and drop nothing. The way back is a link of its own.

use std::fmt::{self, Write};
use std::str::FromStr;

use losscause_sim::rng::Stream;
use losscause_study::{Experiment, InputError, Scenario};
use serde::Deserialize;

use crate::ranges::{RANGES, Range, Ranges, rounded};

/// Declares the levels of a factor with their names in reports; in `paths.toml` the names have hyphens.
macro_rules! factor {
    ($(#[$meta:meta])* $name:ident { $($(#[$level_meta:meta])* $level:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$level_meta])* $level,)+ }

        impl $name {
            /// All levels, in the order of reports.
            pub const ALL: &'static [Self] = &[$(Self::$level),+];

            /// Its name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$level => $text,)+ }
            }
        }
    };
}

factor! {
    /// Where the bottleneck is.
    Place {
        /// The radio link itself.
        LastHop = "last hop",
        /// A wired link before the radio.
        Backbone = "backbone",
        /// A wired link after the radio.
        BehindTheRadio = "behind the radio",
        /// A wired link and the radio.
        Two = "two bottlenecks",
    }
}

factor! {
    /// The bottleneck's queue.
    Queue {
        /// DropTail of 1.5 bandwidth-delay products.
        Deep = "DropTail, deep",
        /// DropTail of 0.15 bandwidth-delay products.
        Shallow = "DropTail, shallow",
        /// Random Early Detection.
        Red = "RED",
        /// Controlled delay.
        #[serde(rename = "codel")]
        CoDel = "CoDel",
        /// Proportional integral controller.
        Pie = "PIE",
        /// A queue per flow, each with a CoDel.
        #[serde(rename = "fq-codel")]
        FqCoDel = "FQ-CoDel",
        /// A token bucket that drops without a queue.
        Policer = "policer",
    }
}

factor! {
    /// Wireless losses.
    Loss {
        /// None.
        None = "no wireless loss",
        /// Each packet is lost independently.
        Independent = "independent losses",
        /// Losses come in bursts.
        Bursts = "bursts of losses",
    }
}

factor! {
    /// On-off traffic through the bottleneck.
    Cross {
        /// None.
        None = "no cross traffic",
        /// Exponential periods.
        Exponential = "exponential on-off",
        /// Pareto periods.
        Pareto = "Pareto on-off",
    }
}

factor! {
    /// The propagation delay.
    Delay {
        /// It does not vary.
        Constant = "constant delay",
        /// A random walk.
        Walk = "random walk",
        /// Steps.
        Steps = "steps of delay",
        /// A sinusoid.
        Sinusoid = "sinusoid",
    }
}

factor! {
    /// The bottleneck's rate.
    Rate {
        /// It does not vary.
        Constant = "constant rate",
        /// Some large steps.
        Steps = "steps of rate",
        /// Small and quick steps and outages, as in a trace of a cellular link.
        Cellular = "cellular rate",
    }
}

factor! {
    /// How ACKs come back.
    Acks {
        /// One by one.
        Plain = "plain ACKs",
        /// In batches.
        Compressed = "compressed ACKs",
    }
}

factor! {
    /// How hosts take packets in.
    Host {
        /// One by one.
        ByPacket = "hosts by packet",
        /// In batches.
        Batches = "hosts in batches",
    }
}

factor! {
    /// The way back.
    Reverse {
        /// Carries only the answers.
        Idle = "way back idle",
        /// Carries a transfer as well.
        Congested = "way back congested",
    }
}

factor! {
    /// Stock TCP beside the flows.
    Beside {
        /// None.
        None = "no competitor",
        /// Reno.
        Reno = "Reno beside",
        /// CUBIC.
        Cubic = "CUBIC beside",
    }
}

factor! {
    /// What steers the transport behind which the observers stand.
    Pilot {
        /// Every loss is congestion.
        Unaware = "unaware pilot",
        /// The true cause.
        Omniscient = "omniscient pilot",
        /// Labels, right with probability 0.9 about congestion and 0.6 about wireless losses.
        Noisy = "noisy pilot",
    }
}

factor! {
    /// How a TCP sender learns of losses.
    Reports {
        /// From SACK.
        Sack = "SACK",
        /// From duplicate ACKs alone (NewReno).
        Duplicates = "without SACK",
    }
}

factor! {
    /// The end that judges losses, and with it the transport.
    Vantage {
        /// TFRC's receiver, from one-way trip times.
        Receiver = "receiver",
        /// TCP's sender, from round-trip times and ACKs.
        Sender = "sender",
    }
}

impl fmt::Display for Vantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A drawn path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The benchmark's seed.
    pub seed: u64,
    /// Its number among the paths of that seed, from 0 on.
    pub number: u32,
    /// Rate of the bottleneck, bits per second.
    pub rate_bps: f64,
    /// Base round-trip time without transmissions, milliseconds.
    pub rtt_ms: f64,
    /// Rate of the other links over the bottleneck's.
    pub spare_rate: f64,
    /// Flows that run the algorithm.
    pub flows: u32,
    /// Where the bottleneck is.
    pub place: Place,
    /// Its queue.
    pub queue: Queue,
    /// A policer's bucket, bandwidth-delay products.
    pub bucket_bdp: f64,
    /// Wireless losses.
    pub loss: Loss,
    /// Share of packets that the radio loses, 0 to 1; 0 without wireless loss.
    pub loss_rate: f64,
    /// Mean packets per burst of losses.
    pub burst_packets: f64,
    /// Cross traffic.
    pub cross: Cross,
    /// Mean time on, and mean time off, seconds.
    pub cross_period_s: f64,
    /// The propagation delay.
    pub delay: Delay,
    /// The most that is added to it, milliseconds.
    pub delay_most_ms: f64,
    /// Time between two changes, or the period of a sinusoid, seconds.
    pub delay_every_s: f64,
    /// The bottleneck's rate over time. A policer's is constant.
    pub rate: Rate,
    /// How ACKs come back.
    pub acks: Acks,
    /// How long ACKs are held at most, milliseconds.
    pub acks_ms: f64,
    /// How hosts take packets in.
    pub host: Host,
    /// How long a host holds packets at most, milliseconds.
    pub host_ms: f64,
    /// The way back.
    pub reverse: Reverse,
    /// Its rate over the bottleneck's.
    pub back_share: f64,
    /// Competitors.
    pub beside: Beside,
}

/// A level of a factor: a path has one level of each factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The factor: "queue".
    pub factor: &'static str,
    /// The level: "CoDel".
    pub level: &'static str,
    /// Its place among the factor's levels.
    pub rank: usize,
}

impl Level {
    fn new(factor: &'static str, level: &'static str, rank: usize) -> Self {
        Self { factor, level, rank }
    }
}

impl Path {
    /// Path `number`, counted from 0, of the benchmark with this seed.
    pub fn draw(seed: u64, number: u32) -> Self {
        let ranges: &Ranges = &RANGES;
        let stream = |factor: &str| Stream::new(seed, &format!("path/{number}/{factor}"));
        let range = |name: &str, range: Range| range.draw(&mut stream(name));
        let loss = ranges.loss.draw(&mut stream("loss"));
        let delay = ranges.delay.draw(&mut stream("delay"));
        let (rtt_ms, varying) = (range("rtt", ranges.rtt_ms), &ranges.varying_delay);
        let every = match delay {
            Delay::Constant | Delay::Walk => varying.every_s,
            Delay::Steps => varying.steps_s,
            Delay::Sinusoid => varying.period_s,
        };
        let queue = ranges.queue.draw(&mut stream("queue"));
        let rate = ranges.rate.draw(&mut stream("rate-variation"));
        Self {
            seed,
            number,
            rate_bps: range("rate", ranges.rate_bps),
            rtt_ms,
            spare_rate: range("spare-rate", ranges.spare_rate),
            flows: ranges.flows.draw(&mut stream("flows")).0,
            place: ranges.place.draw(&mut stream("place")),
            queue,
            bucket_bdp: range("bucket", ranges.queue_sizes.bucket_bdp),
            loss,
            loss_rate: if loss == Loss::None { 0.0 } else { range("loss-rate", ranges.losses.rate) },
            burst_packets: range("burst", ranges.losses.burst_packets),
            cross: ranges.cross.draw(&mut stream("cross")),
            cross_period_s: range("cross-period", ranges.crossing.period_s),
            delay,
            delay_most_ms: rounded(range("delay-share", varying.share) * rtt_ms),
            delay_every_s: range("delay-every", every),
            rate: if queue == Queue::Policer { Rate::Constant } else { rate },
            acks: ranges.acks.draw(&mut stream("acks")),
            acks_ms: range("acks-hold", ranges.batches.acks_ms),
            host: ranges.host.draw(&mut stream("host")),
            host_ms: range("host-hold", ranges.batches.host_ms),
            reverse: ranges.reverse.draw(&mut stream("reverse")),
            back_share: range("way-back", ranges.way_back.rate_share),
            beside: ranges.beside.draw(&mut stream("beside")),
        }
    }

    /// What steers its transport. The paths of a seed take turns.
    pub fn pilot(&self) -> Pilot {
        Pilot::ALL[self.number as usize % Pilot::ALL.len()]
    }

    /// How its TCP learns of losses. The paths of a seed take turns, each with every pilot.
    pub fn reports(&self) -> Reports {
        Reports::ALL[self.number as usize / Pilot::ALL.len() % Reports::ALL.len()]
    }

    /// Its level of every factor, in the order of reports. How a TCP learns of losses is a factor at senders only.
    pub fn levels(&self, vantage: Vantage) -> Vec<Level> {
        let Self { queue, loss, place, cross, delay, rate, acks, host, reverse, beside, .. } = *self;
        let of_loss = passed(self.loss_rate, [0.0, 0.01]);
        let of_flows = passed(f64::from(self.flows), [1.5, 4.5]);
        let (of_rate, of_rtt) = (passed(self.rate_bps, [1e6, 1e7]), passed(self.rtt_ms, [40.0, 150.0]));
        let mut levels = vec![
            Level::new("queue", queue.name(), queue as usize),
            Level::new("wireless loss", ["none", "up to 1 %", "1 to 10 %"][of_loss], of_loss),
            Level::new("bursts", loss.name(), loss as usize),
            Level::new("bottleneck", place.name(), place as usize),
            Level::new("flows", ["one flow", "2 or 4 flows", "8 or 16 flows"][of_flows], of_flows),
            Level::new("rate", ["below 1 Mb/s", "1 to 10 Mb/s", "above 10 Mb/s"][of_rate], of_rate),
            Level::new("round-trip time", ["below 40 ms", "40 to 150 ms", "above 150 ms"][of_rtt], of_rtt),
            Level::new("cross traffic", cross.name(), cross as usize),
            Level::new("delay", delay.name(), delay as usize),
            Level::new("varying rate", rate.name(), rate as usize),
            Level::new("ACKs", acks.name(), acks as usize),
            Level::new("hosts", host.name(), host as usize),
            Level::new("way back", reverse.name(), reverse as usize),
            Level::new("competitors", beside.name(), beside as usize),
            Level::new("pilot", self.pilot().name(), self.pilot() as usize),
        ];
        if vantage == Vantage::Sender {
            levels.push(Level::new("loss reports", self.reports().name(), self.reports() as usize));
        }
        levels
    }

    /// The seed of its runs: `losscause simulate --seed` with it makes the same run.
    pub fn run_seed(&self) -> u64 {
        self.seed.wrapping_mul(1000).wrapping_add(u64::from(self.number))
    }

    /// Its network, with the algorithm of its pilot.
    ///
    /// # Errors
    /// None; a test builds many paths.
    pub fn experiment(&self, vantage: Vantage) -> Result<Experiment, InputError> {
        Scenario::parse(&self.scenario(vantage), &format!("path {self}"))?.experiment()
    }

    /// Its scenario file, with the algorithm of its pilot. The flows of the benchmark are the group `test`.
    pub fn scenario(&self, vantage: Vantage) -> String {
        Writer::new(self).scenario(vantage)
    }

    /// How long it runs, seconds.
    fn duration_s(&self) -> f64 {
        let duration = &RANGES.duration;
        let packets_s = duration.packets * duration.packet_bytes * 8.0 / self.rate_bps;
        let round_trips_s = duration.round_trips * self.rtt_ms / 1e3;
        libm::rint(duration.seconds.clamp(packets_s.max(round_trips_s)))
    }

    /// The bandwidth-delay product, packets.
    fn bdp_pkts(&self) -> f64 {
        self.rate_bps * self.rtt_ms / 1e3 / 8.0 / RANGES.duration.packet_bytes
    }
}

/// `SEED/NUMBER`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.seed, self.number)
    }
}

/// The path `SEED/NUMBER`.
impl FromStr for Path {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let numbers = text.split_once('/').and_then(|(seed, number)| Some((seed.parse().ok()?, number.parse().ok()?)));
        let (seed, number) = numbers.ok_or_else(|| InputError::Option {
            option: format!("path {text}"),
            problem: "expected SEED/NUMBER, such as 1/7".to_owned(),
        })?;
        Ok(Self::draw(seed, number))
    }
}

/// How many of the bounds `value` has passed.
fn passed(value: f64, bounds: [f64; 2]) -> usize {
    bounds.into_iter().filter(|&bound| value > bound).count()
}

/// Writes a path's scenario.
struct Writer<'a> {
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
    fn new(path: &'a Path) -> Self {
        Self { path, text: String::new() }
    }

    fn scenario(mut self, vantage: Vantage) -> String {
        let path = self.path;
        line!(self, "# losscause simulate FILE --seed {}", path.run_seed());
        line!(self, "title = \"Path {path} of the benchmark, {vantage}\"");
        let levels: Vec<&str> = path.levels(vantage).iter().map(|level| level.level).collect();
        line!(self, "source = \"{}\"", levels.join(", "));
        line!(self, "duration_s = {}", path.duration_s());
        line!(self, "packet_bytes = {}", RANGES.duration.packet_bytes);
        line!(self, "measure = {{ from_s = 10, bottleneck = \"{}\" }}", self.bottleneck());
        if vantage == Vantage::Sender {
            line!(self, "tcp = {{ max_window_pkts = 20000 }}");
        }
        if path.pilot() == Pilot::Noisy {
            line!(self, "lda.labelled = {{ P_CC = 0.9, P_WW = 0.6 }}");
        }
        let (to, back) = self.links();
        self.flows(vantage, &list(&to), &list(&back));
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
        // Half of the round trip is the way back; of the way there the radio has a fifth, at most 10 ms.
        let there_ms = path.rtt_ms / 2.0;
        let radio_ms = (there_ms / 5.0).min(10.0);
        let (wire_keys, radio_keys) = (self.wire_keys(), self.radio_keys());
        self.link("wire", wire, there_ms - radio_ms, &wire_keys);
        self.link("radio", radio, radio_ms, &radio_keys);
        let back_bps = rounded(path.rate_bps * path.back_share);
        let queue_pkts = self.pkts(1.0).max(20.0);
        line!(self, "\n[[link]]\nname = \"back\"\nrate_bps = {back_bps}\ndelay_ms = {}", rounded(there_ms));
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
        line!(self, "\n[[link]]\nname = \"{name}\"\nrate_bps = 1e9\ndelay_ms = 0\nqueue_packets = 20000");
        line!(self, "delay_variation = {{ kind = \"batches\", hold_ms = {hold_ms}, drawn = true }}");
    }

    /// So many bandwidth-delay products, packets.
    fn pkts(&self, bdps: f64) -> f64 {
        libm::ceil(self.path.bdp_pkts() * bdps).max(RANGES.queue_sizes.least_packets)
    }

    fn queueing(&self, spare_bps: f64) -> Queueing {
        let (path, sizes) = (self.path, &RANGES.queue_sizes);
        let deep = self.pkts(sizes.deep_bdp);
        // A target below the transmission of two packets cannot be met.
        let target_ms = |ms: f64| rounded(ms.max(2e3 * 8.0 * RANGES.duration.packet_bytes / path.rate_bps));
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
                format!("queue_packets = {}\nqueue = {{ kind = \"pie\", target_ms = {target_ms} }}", deep.max(1000.0))
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
        let (path, varying) = (self.path, &RANGES.varying_rate);
        let mut stream = Stream::new(path.seed, &format!("path/{}/rates", path.number));
        let (mut at_s, mut points) = (0.0, Vec::new());
        match path.rate {
            Rate::Constant => return,
            Rate::Steps => {
                for _ in 0..12 {
                    at_s = rounded(at_s + varying.steps_s.draw(&mut stream));
                    points.push((at_s, rounded(path.rate_bps * varying.factor.draw(&mut stream))));
                }
            }
            Rate::Cellular => {
                let (mut factor, mut outage_steps) = (1.0_f64, 0);
                for step in 1..=150 {
                    at_s = f64::from(step) * varying.cellular_ms / 1e3;
                    let change = varying.cellular_step * (2.0 * stream.uniform() - 1.0);
                    factor = varying.factor.clamp(factor * libm::exp(change));
                    if stream.uniform() < varying.outage {
                        outage_steps = 1 + stream.below(5);
                    }
                    points.push((at_s, if outage_steps > 0 { 0.0 } else { rounded(path.rate_bps * factor) }));
                    outage_steps = outage_steps.saturating_sub(1);
                }
                // The round ends with a rate.
                if let Some(last) = points.last_mut() {
                    last.1 = path.rate_bps;
                }
            }
        }
        let points: Vec<String> = points.iter().map(|(at_s, bps)| format!("[{at_s}, {bps}]")).collect();
        line!(self, "rate_variation = {{ kind = \"steps\", at_end = \"repeat\", points = [{}] }}", points.join(", "));
    }

    /// What the wired link has besides: the delay that varies.
    fn wire_keys(&self) -> String {
        let path = self.path;
        let (most_ms, every_s) = (path.delay_most_ms, path.delay_every_s);
        let variation = match path.delay {
            Delay::Constant => return String::new(),
            Delay::Walk => {
                let step_ms = rounded(most_ms / 5.0);
                format!("kind = \"walk\", most_ms = {most_ms}, step_ms = {step_ms}, every_s = {every_s}")
            }
            Delay::Steps => {
                let mut stream = Stream::new(path.seed, &format!("path/{}/delays", path.number));
                let step = |k: u32| (f64::from(k) * every_s, rounded(most_ms * stream.uniform()));
                let points: Vec<String> = (0..=20).map(step).map(|(at_s, ms)| format!("[{at_s}, {ms}]")).collect();
                format!("kind = \"trace\", at_end = \"repeat\", points = [{}]", points.join(", "))
            }
            Delay::Sinusoid => format!("kind = \"sinusoid\", most_ms = {most_ms}, period_s = {every_s}"),
        };
        format!("delay_variation = {{ {variation} }}\n")
    }

    /// What the radio link has besides: its channel.
    fn radio_keys(&self) -> String {
        let Path { loss, loss_rate, burst_packets, .. } = self.path;
        match loss {
            Loss::None => String::new(),
            Loss::Independent => format!("channel = {{ kind = \"bernoulli\", loss = {loss_rate} }}\n"),
            Loss::Bursts => format!(
                "channel = {{ kind = \"gilbert-elliott\", loss = {loss_rate}, mean_burst_packets = {burst_packets} }}\n"
            ),
        }
    }

    fn flows(&mut self, vantage: Vantage, to: &str, back: &str) {
        let path = self.path;
        line!(self, "\n[[flow]]\nname = \"test\"\ncount = {}\npath = {to}\nreturn_path = {back}", path.flows);
        match (vantage, path.reports()) {
            (Vantage::Receiver, _) => line!(self, "protocol = \"tfrc\""),
            (Vantage::Sender, Reports::Sack) => line!(self, "protocol = \"tcp\"\nvariant = \"sack\""),
            (Vantage::Sender, Reports::Duplicates) => line!(self, "protocol = \"tcp\"\nvariant = \"newreno\""),
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
            Beside::Reno => Some("sack"),
            Beside::Cubic => Some("cubic"),
        };
        if let Some(variant) = variant {
            let count = path.flows.div_ceil(2);
            line!(self, "\n[[flow]]\nname = \"stock\"\ncount = {count}\npath = {to}\nreturn_path = {back}");
            line!(self, "protocol = \"tcp\"\nvariant = \"{variant}\"\nstart_spread_s = 5\nmeasured = false");
        }
        if path.cross != Cross::None {
            self.cross_traffic();
        }
        if path.reverse == Reverse::Congested {
            line!(self, "\n[[flow]]\nname = \"upload\"\npath = [\"back\"]\nreturn_path = {to}");
            line!(self, "protocol = \"tcp\"\nvariant = \"sack\"\nstart_spread_s = 5\nmeasured = false");
        }
    }

    fn cross_traffic(&mut self) {
        let (path, crossing) = (self.path, &RANGES.crossing);
        // On for half of the time.
        let rate_bps = rounded(2.0 * crossing.share * path.rate_bps / f64::from(crossing.sources));
        line!(self, "\n[[flow]]\nname = \"cross\"\ncount = {}\npath = [\"{}\"]", crossing.sources, self.bottleneck());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_depends_on_its_seed_and_number_alone() {
        assert_eq!(Path::draw(3, 5), Path::draw(3, 5));
        assert_ne!(Path::draw(3, 5).rtt_ms, Path::draw(3, 6).rtt_ms);
        assert_ne!(Path::draw(3, 5).rtt_ms, Path::draw(4, 5).rtt_ms);
        assert_eq!("3/5".parse(), Ok(Path::draw(3, 5)));
        let refused = "3-5".parse::<Path>().map(|_| ()).unwrap_err().to_string();
        assert_eq!(refused, "path 3-5: expected SEED/NUMBER, such as 1/7");
    }

    #[test]
    fn every_path_is_a_scenario_that_the_program_accepts() {
        for number in 0..300 {
            let path = Path::draw(2, number);
            for &vantage in Vantage::ALL {
                let experiment = path.experiment(vantage);
                assert!(experiment.is_ok(), "{}\n{}", experiment.unwrap_err(), path.scenario(vantage));
            }
        }
    }

    #[test]
    fn queues_are_sized_by_the_bandwidth_delay_product() {
        // 8 Mb/s over 100 ms are 100 packets of 1000 bytes; 30 000 packets take 30 s, 200 round trips 20 s.
        let path = Path { rate_bps: 8e6, rtt_ms: 100.0, place: Place::Backbone, spare_rate: 4.0, ..Path::draw(1, 0) };
        let scenario = |queue| Path { queue, bucket_bdp: 0.5, ..path.clone() }.scenario(Vantage::Receiver);
        for (queue, expected) in [
            (Queue::Deep, "rate_bps = 8000000\ndelay_ms = 40\nqueue_packets = 150\n"),
            (Queue::Shallow, "queue_packets = 15\n"),
            (Queue::Red, "kind = \"red\", min_th_packets = 25, max_th_packets = 75,"),
            (Queue::CoDel, "kind = \"codel\", target_ms = 5, interval_ms = 100 }"),
            (
                Queue::Policer,
                "rate_bps = 32000000\ndelay_ms = 40\nqueue_packets = 20000\nqueue = { kind = \"policer\", \
                              rate_bps = 8000000, burst_bytes = 50000 }",
            ),
        ] {
            assert!(scenario(queue).contains(expected), "{}", scenario(queue));
            assert!(scenario(queue).contains("\nduration_s = 60\n"));
        }
    }

    #[test]
    fn every_level_of_every_factor_is_drawn() {
        let paths: Vec<Path> = (0..300).map(|number| Path::draw(2, number)).collect();
        let drawn = |of: &dyn Fn(&Path) -> &'static str, names: &[&'static str]| {
            for name in names {
                assert!(paths.iter().any(|path| of(path) == *name), "{name} is never drawn");
            }
        };
        macro_rules! all_drawn {
            ($($field:ident: $type:ident),+) => {
                $(drawn(&|path| path.$field.name(), &$type::ALL.iter().map(|l| l.name()).collect::<Vec<_>>());)+
            };
        }
        all_drawn!(place: Place, queue: Queue, loss: Loss, cross: Cross, delay: Delay, rate: Rate, acks: Acks);
        all_drawn!(host: Host, reverse: Reverse, beside: Beside);
    }

    #[test]
    fn every_pilot_meets_both_kinds_of_loss_reports() {
        let pairs: Vec<(Pilot, Reports)> =
            (0..6).map(|number| Path::draw(1, number)).map(|path| (path.pilot(), path.reports())).collect();
        for &pilot in Pilot::ALL {
            assert!(Reports::ALL.iter().all(|&reports| pairs.contains(&(pilot, reports))));
        }
    }
}
