//! The grid: 60 cells drawn from one seed.
//!
//! ```text
//! congestion control    reno, cubic and bbr in turn
//! rate                  3 to 100 Mb/s, log-uniform
//! round trip            10 to 250 ms, log-uniform
//! queue's limit         0.25 to 4 bandwidth-delay products, log-uniform, in whole packets
//! discipline            DropTail in half of the cells, else CoDel or FQ-CoDel
//! loss                  none in half of the cells, else 0.03 to 3 %, log-uniform
//! flows                 1 or 2
//! ```

use std::fmt;

use anyhow::Result;
use losscause::Span;
use losscause_sim::rng::Stream;
use losscause_study::{Context, Experiment, InputError, Scenario, Setting};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::shell::root;

/// The scenario that all cells set.
const SCENARIO: &str = "validation/linux/transfer.toml";

/// All draws follow from it.
pub(super) const SEED: u64 = 1;
/// How many are drawn.
pub(super) const CELLS: u32 = 60;

const RATE_MBPS: [f64; 2] = [3.0, 100.0];
const RTT_MS: [f64; 2] = [10.0, 250.0];
const QUEUE_BDP: [f64; 2] = [0.25, 4.0];
const LOSS_PERCENT: [f64; 2] = [0.03, 3.0];
/// Share of the cells that lose nothing behind the transmitter.
const LOSSLESS: f64 = 0.5;
/// When the second of two flows starts, seconds after the first.
const SECOND_S: f64 = 0.5;
/// A full packet, bytes.
const PACKET_BYTES: u32 = 1_500;
/// A cell is quick if its link has at most this rate.
const QUICK_KBPS: u32 = 10_000;

/// One of the compared settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Its place in the grid, from 1.
    pub(super) number: u32,
    pub(super) variant: Variant,
    pub(super) rate_kbps: u32,
    /// Both ways of propagation together.
    pub(super) rtt_ms: u32,
    pub(super) queue: Queue,
    /// The queue's limit.
    pub(super) queue_packets: u32,
    pub(super) loss_percent: f64,
    pub(super) flows: u32,
}

/// The congestion control, by the kernel's and the scenario's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Variant {
    Reno,
    Cubic,
    Bbr,
}

/// The queue's discipline, by the scenario's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Queue {
    DropTail,
    #[serde(rename = "codel")]
    CoDel,
    #[serde(rename = "fq-codel")]
    FqCoDel,
}

impl Cell {
    /// The whole grid.
    pub(super) fn all() -> Vec<Self> {
        (1..=CELLS).map(Self::draw).collect()
    }

    /// What CI compares: of each congestion control the first cell with a slow link that loses
    /// nothing.
    pub(super) fn few() -> Vec<Self> {
        let all = Self::all();
        let first = |&variant: &Variant| {
            let fits = |cell: &&Self| {
                cell.variant == variant && cell.rate_kbps <= QUICK_KBPS && cell.loss_percent == 0.0
            };
            all.iter().find(fits).copied()
        };
        Variant::ALL.iter().filter_map(first).collect()
    }

    fn draw(number: u32) -> Self {
        let mut stream = Stream::new(SEED, &format!("validate/linux/{number}"));
        let rate_kbps = log_uniform(&mut stream, RATE_MBPS.map(|mbps| mbps * 1e3)).round();
        let rtt_ms = log_uniform(&mut stream, RTT_MS).round();
        let bdp_packets = rate_kbps * rtt_ms / 8.0 / f64::from(PACKET_BYTES);
        let queue_packets = (log_uniform(&mut stream, QUEUE_BDP) * bdp_packets).ceil();
        let queue = match stream.below(4) {
            0 => Queue::CoDel,
            1 => Queue::FqCoDel,
            _ => Queue::DropTail,
        };
        let is_lossless = stream.uniform() < LOSSLESS;
        let loss_percent = (log_uniform(&mut stream, LOSS_PERCENT) * 100.0).round() / 100.0;
        Self {
            number,
            variant: Variant::ALL[(number as usize - 1) % Variant::ALL.len()],
            rate_kbps: rate_kbps as u32,
            rtt_ms: rtt_ms as u32,
            queue,
            queue_packets: queue_packets as u32,
            loss_percent: if is_lossless { 0.0 } else { loss_percent },
            flows: 1 + stream.below(2) as u32,
        }
    }

    /// How long the link takes to send a full queue.
    pub(super) fn drain(&self) -> Span {
        let bits = f64::from(self.queue_packets) * f64::from(PACKET_BYTES) * 8.0;
        Span::from_nanos((bits / f64::from(self.rate_kbps) * 1e6) as i64)
    }

    /// The scenario with this cell's settings.
    pub(super) fn experiment(&self, seconds: i64) -> Result<Experiment, InputError> {
        let mut queue = Table::new();
        queue.insert("kind".to_owned(), Value::from(self.queue.name()));
        let mut settings = vec![
            Setting::new("duration_s", seconds),
            Setting::new("rate_mbps", f64::from(self.rate_kbps) / 1e3),
            Setting::new("rtt_ms", i64::from(self.rtt_ms)),
            Setting::new("loss", self.loss_percent / 100.0),
            Setting::new("link.link.queue_packets", i64::from(self.queue_packets)),
            Setting::new("link.link.queue", queue),
            Setting::new("tcp.variant", self.variant.name()),
        ];
        if self.flows == 2 {
            let mut rival = Table::new();
            rival.insert("protocol".to_owned(), Value::from("tcp"));
            rival.insert("path".to_owned(), Value::from(vec!["link"]));
            rival.insert("start_s".to_owned(), Value::from(SECOND_S));
            settings.push(Setting::new("flow.rival", rival));
        }
        Scenario::load(&root().join(SCENARIO), &Context::default())?.with(&settings)?.experiment()
    }
}

/// A value between two others, whose logarithm is uniform.
fn log_uniform(stream: &mut Stream, [least, most]: [f64; 2]) -> f64 {
    least * (most / least).powf(stream.uniform())
}

impl Variant {
    pub(super) const ALL: [Self; 3] = [Self::Reno, Self::Cubic, Self::Bbr];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }

    /// Whether the simulator has it.
    ///
    /// # Errors
    /// The scenario cannot be read.
    pub(super) fn is_simulated(self) -> Result<bool> {
        let cell = Cell { variant: self, ..Cell::draw(1) };
        match cell.experiment(1) {
            Ok(_) => Ok(true),
            Err(InputError::Key { key, .. }) if key == "tcp.variant" => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Queue {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DropTail => "drop-tail",
            Self::CoDel => "codel",
            Self::FqCoDel => "fq-codel",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, variant, rate_kbps, rtt_ms, queue, queue_packets, loss_percent, flows } =
            self;
        write!(
            f,
            "cell {number}: {} x {flows}, {:.2} Mb/s, {rtt_ms} ms, {} of {queue_packets} packets, {loss_percent} % loss",
            variant.name(),
            f64::from(*rate_kbps) / 1e3,
            queue.name(),
        )
    }
}

#[cfg(test)]
mod tests {
    use losscause::Time;
    use losscause_sim::{ChannelSpec, Limit, QueueSpec};

    use super::*;

    const CELL: Cell = Cell {
        number: 1,
        variant: Variant::Cubic,
        rate_kbps: 48_000,
        rtt_ms: 100,
        queue: Queue::DropTail,
        queue_packets: 200,
        loss_percent: 2.5,
        flows: 2,
    };

    #[test]
    fn a_cell_sets_rate_delay_queue_loss_flows_and_congestion_control() {
        let experiment = CELL.experiment(5).unwrap();
        let link = &experiment.network.links[0];
        assert_eq!((link.rate_bps, link.delay), (48_000_000, Span::from_millis(50)));
        assert!(
            matches!(link.queue, QueueSpec::DropTail { limit: Limit::Packets(200) }),
            "{:?}",
            link.queue
        );
        assert!(matches!(link.channel, ChannelSpec::Bernoulli { loss: 0.025 }));
        assert_eq!(experiment.duration.as_secs_f64(), 5.0);
        let starts: Vec<Time> = experiment.network.flows.iter().map(|flow| flow.start).collect();
        assert_eq!(starts, [Time::ZERO, Time::ZERO + Span::from_millis(500)]);
        let fair = Cell { queue: Queue::FqCoDel, flows: 1, ..CELL }.experiment(5).unwrap();
        assert!(matches!(fair.network.links[0].queue, QueueSpec::FqCoDel(_)));
        assert_eq!(fair.network.flows.len(), 1);
    }

    #[test]
    fn a_queue_of_200_packets_drains_in_50_ms_at_48_mbps() {
        assert_eq!(CELL.drain(), Span::from_millis(50));
    }

    #[test]
    fn the_grid_covers_its_ranges() {
        let all = Cell::all();
        let count = |is: fn(&Cell) -> bool| all.iter().filter(|cell| is(cell)).count();
        assert_eq!(all.len(), 60);
        for variant in Variant::ALL {
            assert_eq!(all.iter().filter(|cell| cell.variant == variant).count(), 20);
        }
        for cell in &all {
            let bdp_packets = f64::from(cell.rate_kbps) * f64::from(cell.rtt_ms) / 12_000.0;
            let limit = f64::from(cell.queue_packets);
            assert!((3_000..=100_000).contains(&cell.rate_kbps), "{cell}");
            assert!((10..=250).contains(&cell.rtt_ms), "{cell}");
            assert!(limit >= bdp_packets / 4.0 && limit < 4.0 * bdp_packets + 1.0, "{cell}");
            assert!(cell.loss_percent <= 3.0, "{cell}");
        }
        for queue in [Queue::DropTail, Queue::CoDel, Queue::FqCoDel] {
            assert!(all.iter().filter(|cell| cell.queue == queue).count() >= 10, "{queue:?}");
        }
        assert!((20..=40).contains(&count(|cell| cell.loss_percent == 0.0)));
        assert!((20..=40).contains(&count(|cell| cell.flows == 2)));
    }

    #[test]
    fn the_few_are_one_cell_of_each_congestion_control() {
        let variants: Vec<Variant> = Cell::few().iter().map(|cell| cell.variant).collect();
        assert_eq!(variants, Variant::ALL);
    }

    #[test]
    fn reno_is_simulated() {
        assert!(Variant::Reno.is_simulated().unwrap());
    }
}
