//! `validation/ns2/grid.toml`: which cells are compared, how they are run, and what counts as
//! agreement.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use losscause_transport::tcp::Variant;
use serde::Deserialize;

use crate::shell;

/// The content of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    cells: Lists,
    independent: Vec<Lists>,
    parted: Vec<Lists>,
    pub(crate) red: Red,
    pub(crate) run: Run,
    pub(crate) tcp: Tcp,
    pub(crate) seeds: Seeds,
    pub(crate) bounds: Bounds,
    short: Short,
}

/// Lists of values; every combination is a cell. If `protocols` is missing, those of the main lists
/// apply.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    #[serde(default)]
    protocol: Vec<Protocol>,
    loss: Vec<f64>,
    rate_kbps: Vec<u64>,
    rtt_ms: Vec<i64>,
    queue_limit: Vec<u32>,
    flows: Vec<u32>,
    /// Default: no other packets on the last links.
    #[serde(default = "idle")]
    cross_load: Vec<f64>,
    /// Default: [`PAYLOAD_BYTES`].
    #[serde(default = "usual")]
    payload_bytes: Vec<u32>,
    /// Rate of the links between the bottleneck and the hosts; default: that of [`Run`].
    access_kbps: Option<u64>,
}

/// RED at the bottleneck: its settings, in packets, and the cells that have it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Red {
    pub(crate) min_th: f64,
    pub(crate) max_th: f64,
    pub(crate) max_p: f64,
    pub(crate) w_q: f64,
    pub(crate) gentle: bool,
    cells: Vec<Lists>,
}

/// Default payload of a data packet, bytes.
const PAYLOAD_BYTES: u32 = 1000;

fn idle() -> Vec<f64> {
    vec![0.0]
}

fn usual() -> Vec<u32> {
    vec![PAYLOAD_BYTES]
}

/// The cells and seeds that CI runs instead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Short {
    cells: Lists,
    seeds: Seeds,
}

/// A protocol that both simulators have.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Protocol {
    /// `Agent/TCP/Reno`
    Reno,
    /// `Agent/TCP/Newreno`
    Newreno,
    /// `Agent/TCP/Sack1`
    Sack,
    /// `Agent/TCP/Vegas`
    Vegas,
    /// `Agent/TFRC`
    Tfrc,
}

/// Settings of every run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) duration_s: i64,
    pub(crate) start_within_s: i64,
    pub(crate) access_kbps: u64,
    pub(crate) access_ms: i64,
    pub(crate) cross_bytes: u32,
}

/// Settings of TCP.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tcp {
    pub(crate) window_pkts: u32,
    pub(crate) tick_ms: i64,
    pub(crate) min_rto_ms: i64,
}

/// Numbers of seeds per cell.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seeds {
    pub(crate) at_least: u64,
    pub(crate) at_most: u64,
    pub(crate) half_width: f64,
    pub(crate) drops_half_width: f64,
    pub(crate) drops_at_most: u64,
}

/// The bounds within which the simulators agree.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    pub(crate) near: f64,
    pub(crate) near_share: f64,
    pub(crate) near_share_vegas: f64,
    pub(crate) far: f64,
    pub(crate) red: f64,
    pub(crate) drops: f64,
    pub(crate) drops_from: u64,
}

/// Where the errors of the two simulators come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// Both corrupt the same packets, counted in the order of transmission.
    Paired,
    /// Each simulator draws its own errors.
    Independent,
}

/// One combination of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) protocol: Protocol,
    pub(crate) errors: Errors,
    pub(crate) loss: f64,
    pub(crate) rate_kbps: u64,
    pub(crate) rtt_ms: i64,
    pub(crate) queue_limit: u32,
    pub(crate) flows: u32,
    /// Share of each last link that other packets take up.
    pub(crate) cross_load: f64,
    /// Payload of a data packet.
    pub(crate) payload_bytes: u32,
    /// Rate of the links between the bottleneck and the hosts.
    pub(crate) access_kbps: u64,
    /// Whether the bottleneck has RED, by ns-2's rules in both simulators; else DropTail.
    pub(crate) red: bool,
}

impl Grid {
    /// Reads the file. With `short`, CI's cells and seeds replace the full ones.
    ///
    /// # Errors
    /// The file is missing or invalid.
    pub(crate) fn read(short: bool) -> Result<Self> {
        let path = shell::root().join("validation/ns2/grid.toml");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut grid: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        if short {
            grid.cells = grid.short.cells.clone();
            grid.independent.clear();
            grid.parted.clear();
            grid.red.cells.clear();
            grid.seeds = grid.short.seeds;
        }
        if grid.seeds.at_least < 2 {
            bail!(
                "{}: at_least is {}, expected 2 or more seeds",
                path.display(),
                grid.seeds.at_least
            );
        }
        Ok(grid)
    }

    /// The cells, for all protocols or `only` one. The longest runs come first, so that all threads
    /// end at about the same time.
    pub(crate) fn cells(&self, only: Option<Protocol>) -> Vec<Cell> {
        let all = std::iter::once((Errors::Paired, false, &self.cells))
            .chain(self.independent.iter().map(|lists| (Errors::Independent, false, lists)))
            .chain(self.parted.iter().map(|lists| (Errors::Paired, false, lists)))
            .chain(self.red.cells.iter().map(|lists| (Errors::Paired, true, lists)));
        let mut cells = Vec::new();
        for (errors, red, lists) in all {
            let access_kbps = lists.access_kbps.unwrap_or(self.run.access_kbps);
            let protocols =
                if lists.protocol.is_empty() { &self.cells.protocol } else { &lists.protocol };
            for &protocol in protocols.iter().filter(|&&p| only.is_none_or(|only| p == only)) {
                for &loss in &lists.loss {
                    for &rate_kbps in &lists.rate_kbps {
                        for &rtt_ms in &lists.rtt_ms {
                            for &queue_limit in &lists.queue_limit {
                                for &flows in &lists.flows {
                                    for &cross_load in &lists.cross_load {
                                        cells.extend(lists.payload_bytes.iter().map(
                                            |&payload_bytes| Cell {
                                                protocol,
                                                errors,
                                                loss,
                                                rate_kbps,
                                                rtt_ms,
                                                queue_limit,
                                                flows,
                                                cross_load,
                                                payload_bytes,
                                                access_kbps,
                                                red,
                                            },
                                        ));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        cells.sort_by_key(|cell| std::cmp::Reverse(cell.rate_kbps));
        cells
    }
}

/// A filter: only cells with this value are run.
#[derive(Clone, Debug)]
pub(crate) struct Only {
    key: Key,
    value: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Key {
    Loss,
    RateKbps,
    RttMs,
    QueueLimit,
    Flows,
    CrossLoad,
    PayloadBytes,
    Red,
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected KEY=VALUE with loss, rate_kbps, rtt_ms, queue_limit, flows, cross_load, payload_bytes or red (0 or 1) and a \
                        number";
        let (key, value) = text.split_once('=').ok_or(expected)?;
        Ok(Self {
            key: Key::from_str(key, false).map_err(|_| expected)?,
            value: value.parse().map_err(|_| expected)?,
        })
    }
}

impl Only {
    /// Whether `cell` has the value.
    pub(crate) fn matches(&self, cell: &Cell) -> bool {
        self.value
            == match self.key {
                Key::Loss => cell.loss,
                Key::RateKbps => cell.rate_kbps as f64,
                Key::RttMs => cell.rtt_ms as f64,
                Key::QueueLimit => f64::from(cell.queue_limit),
                Key::Flows => f64::from(cell.flows),
                Key::CrossLoad => cell.cross_load,
                Key::PayloadBytes => f64::from(cell.payload_bytes),
                Key::Red => f64::from(u8::from(cell.red)),
            }
    }
}

impl Cell {
    /// Rate of the other packets on each last link, bits per second.
    pub(crate) fn cross_bps(&self) -> u64 {
        (self.cross_load * self.access_kbps as f64 * 1e3).round() as u64
    }

    /// The same cell with default packets and idle last links, where events may be simultaneous;
    /// none if this cell has both.
    pub(crate) fn unparted(&self) -> Option<Self> {
        let usual = Self { cross_load: 0.0, payload_bytes: PAYLOAD_BYTES, ..*self };
        (usual != *self).then_some(usual)
    }
}

impl Protocol {
    /// All of them, in the order of the results.
    pub(crate) const ALL: [Self; 5] =
        [Self::Reno, Self::Newreno, Self::Sack, Self::Vegas, Self::Tfrc];

    /// The TCP variant; none for TFRC.
    pub(crate) fn tcp(self) -> Option<Variant> {
        match self {
            Self::Reno => Some(Variant::Reno),
            Self::Newreno => Some(Variant::NewReno),
            Self::Sack => Some(Variant::Sack),
            Self::Vegas => Some(Variant::Vegas),
            Self::Tfrc => None,
        }
    }

    /// The protocol's name in `dumbbell.tcl`, here and in the results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Newreno => "newreno",
            Self::Sack => "sack",
            Self::Vegas => "vegas",
            Self::Tfrc => "tfrc",
        }
    }
}

impl Errors {
    /// The name of the errors in the results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Paired => "paired",
            Self::Independent => "independent",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<7} {:>6} % {:>5} kb/s {:>4} ms {:>3} pkts {:>2} flows",
            self.protocol.name(),
            self.loss * 100.0,
            self.rate_kbps,
            self.rtt_ms,
            self.queue_limit,
            self.flows
        )?;
        let crossed = if self.cross_load > 0.0 { " x" } else { "" };
        let errors = if self.errors == Errors::Independent { " *" } else { "" };
        let red = if self.red { " RED" } else { "" };
        write!(f, "{errors}{crossed}{red}")?;
        if self.payload_bytes == PAYLOAD_BYTES {
            Ok(())
        } else {
            write!(f, " {} bytes", self.payload_bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_grid_has_80_cells_per_protocol_and_a_few_variants() {
        for (protocol, few) in
            [(Protocol::Reno, (4, 0)), (Protocol::Tfrc, (4, 5)), (Protocol::Vegas, (4, 10))]
        {
            let mut cells = Grid::read(false).unwrap().cells(Some(protocol));
            cells.retain(|cell| !cell.red);
            let independent =
                cells.iter().filter(|cell| cell.errors == Errors::Independent).count();
            let parted = cells.iter().filter(|cell| cell.unparted().is_some()).count();
            assert_eq!((independent, parted), few);
            assert_eq!(cells.len() - independent - parted, 80);
        }
    }

    #[test]
    fn single_cells_can_be_picked() {
        let cells = Grid::read(false).unwrap().cells(Some(Protocol::Tfrc));
        let only: Vec<Only> =
            ["loss=0.01", "rtt_ms=160", "flows=8"].iter().map(|t| t.parse().unwrap()).collect();
        // Two rates and two queues, and independent errors at two rates.
        assert_eq!(cells.iter().filter(|cell| only.iter().all(|o| o.matches(cell))).count(), 6);
        for wrong in ["loss", "loss=high", "rate=800"] {
            assert!(wrong.parse::<Only>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_short_grid_is_a_part_of_the_full_one() {
        let full = Grid::read(false).unwrap().cells(None);
        let short = Grid::read(true).unwrap().cells(None);
        assert!(short.len() < full.len() / 2);
        assert!(short.iter().all(|cell| full.contains(cell)));
    }
}
