//! A drawn path: its factors, and the scenario that they make.
//!
//! ```text
//! last hop           sender → wire          → radio: queue, loss → receiver
//! backbone           sender → wire: queue   → radio: loss        → receiver
//! behind the radio   sender → radio: loss   → wire: queue        → receiver
//! two                sender → wire: queue   → radio: queue, loss → receiver
//! ```
//!
//! The links without a queue of their own are faster and drop nothing. The way back is a link of
//! its own.

mod factors;
mod scenario;

use std::fmt;
use std::str::FromStr;

use losscause_sim::rng::Stream;
use losscause_study::{Context, Experiment, InputError, Scenario};

pub use factors::{
    Acknowledged, Acks, Beside, Cross, Delay, Host, Loss, Pilot, Place, Queue, Rate, Reverse, Stack,
};
use scenario::Writer;

use crate::drawn::{End, run_seed};
use crate::paths::ranges::{RANGES, Range, Ranges, rounded};

/// A drawn path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The benchmark's seed.
    pub seed: u64,
    /// The path's number among the paths of that seed, from 0 on.
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
    /// The bottleneck's queue.
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
    /// What a TCP receiver acknowledges. Linux always delays.
    pub acknowledged: Acknowledged,
    /// How long an ACK is delayed at most, milliseconds.
    pub delayed_ms: f64,
    /// How hosts take packets in.
    pub host: Host,
    /// How long a host holds packets at most, milliseconds.
    pub host_ms: f64,
    /// The way back.
    pub reverse: Reverse,
    /// The rate of the way back over the bottleneck's.
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
    /// The level's place among the factor's levels.
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
        let rtt_ms = range("rtt", ranges.rtt_ms);
        let varying = &ranges.varying_delay;
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
            loss_rate: if loss == Loss::None {
                0.0
            } else {
                range("loss-rate", ranges.losses.rate)
            },
            burst_packets: range("burst", ranges.losses.burst_packets),
            cross: ranges.cross.draw(&mut stream("cross")),
            cross_period_s: range("cross-period", ranges.crossing.period_s),
            delay,
            delay_most_ms: rounded(range("delay-share", varying.share) * rtt_ms),
            delay_every_s: range("delay-every", every),
            rate: if queue == Queue::Policer { Rate::Constant } else { rate },
            acks: ranges.acks.draw(&mut stream("acks")),
            acks_ms: range("acks-hold", ranges.batches.acks_ms),
            acknowledged: if stack(number) == Stack::Linux {
                Acknowledged::Delayed
            } else {
                ranges.acknowledged.draw(&mut stream("acknowledged"))
            },
            delayed_ms: range("acks-delay", ranges.batches.delayed_ms),
            host: ranges.host.draw(&mut stream("host")),
            host_ms: range("host-hold", ranges.batches.host_ms),
            reverse: ranges.reverse.draw(&mut stream("reverse")),
            back_share: range("way-back", ranges.way_back.rate_share),
            beside: ranges.beside.draw(&mut stream("beside")),
        }
    }

    /// The first `count` paths of a seed.
    pub fn all(seed: u64, count: u32) -> Vec<Self> {
        (0..count).map(|number| Self::draw(seed, number)).collect()
    }

    /// What steers its transport. The paths of a seed take turns.
    pub fn pilot(&self) -> Pilot {
        Pilot::ALL[self.number as usize % Pilot::ALL.len()]
    }

    /// The path's TCP. The paths of a seed take turns, each with every pilot.
    pub fn stack(&self) -> Stack {
        stack(self.number)
    }

    /// The path's level of every factor, in the order of reports. TCP is a factor at senders only.
    pub fn levels(&self, end: End) -> Vec<Level> {
        let Self { queue, loss, place, cross, delay, rate, acks, host, reverse, beside, .. } =
            *self;
        let of_loss = passed(self.loss_rate, [0.0, 0.01]);
        let of_flows = passed(f64::from(self.flows), [1.5, 4.5]);
        let of_rate = passed(self.rate_bps, [1e6, 1e7]);
        let of_rtt = passed(self.rtt_ms, [40.0, 150.0]);
        let mut levels = vec![
            Level::new("queue", queue.name(), queue as usize),
            Level::new("wireless loss", ["none", "up to 1 %", "1 to 10 %"][of_loss], of_loss),
            Level::new("bursts", loss.name(), loss as usize),
            Level::new("bottleneck", place.name(), place as usize),
            Level::new("flows", ["one flow", "2 or 4 flows", "8 or 16 flows"][of_flows], of_flows),
            Level::new("rate", ["below 1 Mb/s", "1 to 10 Mb/s", "above 10 Mb/s"][of_rate], of_rate),
            Level::new(
                "round-trip time",
                ["below 40 ms", "40 to 150 ms", "above 150 ms"][of_rtt],
                of_rtt,
            ),
            Level::new("cross traffic", cross.name(), cross as usize),
            Level::new("delay", delay.name(), delay as usize),
            Level::new("varying rate", rate.name(), rate as usize),
            Level::new("ACKs", acks.name(), acks as usize),
            Level::new("hosts", host.name(), host as usize),
            Level::new("way back", reverse.name(), reverse as usize),
            Level::new("competitors", beside.name(), beside as usize),
            Level::new("pilot", self.pilot().name(), self.pilot() as usize),
        ];
        if end == End::Sender {
            let stack = self.stack();
            let acknowledged = self.acknowledged;
            levels.push(Level::new("TCP", stack.name(), stack as usize));
            levels.push(Level::new("acknowledged", acknowledged.name(), acknowledged as usize));
        }
        levels
    }

    /// The seed of its runs: `losscause simulate --seed` with it makes the same run.
    pub fn run_seed(&self) -> u64 {
        run_seed(self.seed, self.number)
    }

    /// The path's network, with the algorithm of its pilot.
    ///
    /// # Errors
    /// None; a test builds many paths.
    pub fn experiment(&self, end: End) -> Result<Experiment, InputError> {
        Scenario::parse(&self.scenario(end), &format!("path {self}"), &Context::default())?
            .experiment()
    }

    /// The path's scenario file, with its pilot's algorithm. The benchmark's flows: group `test`.
    pub fn scenario(&self, end: End) -> String {
        Writer::new(self).scenario(end)
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
        let numbers = text
            .split_once('/')
            .and_then(|(seed, number)| Some((seed.parse().ok()?, number.parse().ok()?)));
        let (seed, number) = numbers.ok_or_else(|| {
            InputError::option(format!("path {text}"), "expected SEED/NUMBER, such as 1/7")
        })?;
        Ok(Self::draw(seed, number))
    }
}

fn stack(number: u32) -> Stack {
    Stack::ALL[number as usize / Pilot::ALL.len() % Stack::ALL.len()]
}

/// How many of the bounds `value` has passed.
fn passed(value: f64, bounds: [f64; 2]) -> usize {
    bounds.into_iter().filter(|&bound| value > bound).count()
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
            for end in End::ALL {
                let experiment = path.experiment(end);
                assert!(experiment.is_ok(), "{}\n{}", experiment.unwrap_err(), path.scenario(end));
            }
        }
    }

    #[test]
    fn queues_are_sized_by_the_bandwidth_delay_product() {
        // 8 Mb/s over 100 ms are 100 packets of 1000 bytes; 30 000 packets take 30 s, 200 round
        // trips 20 s.
        let path = Path {
            rate_bps: 8e6,
            rtt_ms: 100.0,
            place: Place::Backbone,
            spare_rate: 4.0,
            ..Path::draw(1, 0)
        };
        let scenario =
            |queue| Path { queue, bucket_bdp: 0.5, ..path.clone() }.scenario(End::Receiver);
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
        let paths = Path::all(2, 300);
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
        all_drawn!(acknowledged: Acknowledged, host: Host, reverse: Reverse, beside: Beside);
    }

    #[test]
    fn every_pilot_meets_every_tcp() {
        let pairs: Vec<(Pilot, Stack)> = (0..9)
            .map(|number| Path::draw(1, number))
            .map(|path| (path.pilot(), path.stack()))
            .collect();
        for &pilot in Pilot::ALL {
            assert!(Stack::ALL.iter().all(|&stack| pairs.contains(&(pilot, stack))));
        }
    }
}
