//! What a scenario may ask for. Every door applies the same limits: the command, Python, the lab
//! and sweeps.
//!
//! Some values have a limit of their own. What a run as a whole may need is bounded by a budget of
//! memory and events; a scenario's key `budget` asks for a multiple of it.

use std::collections::BTreeMap;

use crate::InputError;
use losscause::{Span, Time};
use losscause_sim::{FqCoDelSpec, Network, QueueSpec};

/// What a scenario may ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Memory that one run may need at worst, bytes.
    pub memory_bytes: f64,
    /// Events that one run may make at worst.
    pub events: f64,
    /// The most that the key `budget` may multiply both by.
    pub largest_budget: f64,
}

impl Default for Limits {
    /// 4 GB and 10^12 events, a day of work; `budget` up to 1000.
    fn default() -> Self {
        Self { memory_bytes: 4e9, events: 1e12, largest_budget: 1e3 }
    }
}

impl Limits {
    /// The most runs of one system. The results of all runs are in memory at once.
    pub const RUNS: u32 = 10_000;
    /// The deepest nesting of an input: of dictionaries and lists, and of a formula.
    pub const NESTING: u32 = 64;
    /// The most parts of a key such as `link.shared.rate_bps`; a scenario's keys have at most four.
    pub const KEY_PARTS: usize = 16;
    /// The most flows in a group.
    pub const FLOWS: u32 = 10_000;
    /// The most links on all paths and return paths together: 10,000 flows over ten links each.
    pub const HOPS: usize = 200_000;
    /// The most sub-queues of an FQ-CoDel queue.
    pub const SUB_QUEUES: u32 = FqCoDelSpec::MOST_QUEUES;
    /// The highest threshold of a queue, packets.
    pub const QUEUE_PACKETS: f64 = 1e9;
    /// The highest rate of a link or source, bits per second.
    pub const RATE_BPS: f64 = 1e13;
    /// The longest time, seconds: 11 days.
    pub const LONGEST_S: f64 = 1e6;
    /// The shortest period of anything that makes events or takes steps by itself: slots, timers,
    /// and per point the rounds of what repeats.
    pub const SHORTEST_PERIOD: Span = Span::from_micros(1);
    /// The shortest time between two steps of a delay's random walk, seconds.
    pub const SHORTEST_WALK_S: f64 = 1e-3;
    /// The shortest interval of a time series, seconds.
    pub const SHORTEST_INTERVAL_S: f64 = 1e-3;

    /// The shortest period in milliseconds, as keys have it.
    pub(crate) const SHORTEST_PERIOD_MS: f64 = Self::SHORTEST_PERIOD.as_nanos() as f64 / 1e6;

    /// Checks the value of the option `--runs`.
    ///
    /// # Errors
    /// It is 0 or larger than [`Limits::RUNS`].
    pub fn check_runs(runs: u32) -> Result<(), InputError> {
        let problem = match runs {
            0 => "nothing would be measured, expected 1 or more".to_owned(),
            1..=Self::RUNS => return Ok(()),
            _ => format!("expected at most {}", Self::RUNS),
        };
        Err(InputError::option(format!("--runs {runs}"), problem))
    }

    /// The length of an interval of a time series.
    ///
    /// # Errors
    /// It is out of range: returns what was expected.
    pub fn interval(seconds: f64) -> Result<Span, String> {
        let (least, most) = (Self::SHORTEST_INTERVAL_S, Self::LONGEST_S);
        if (least..=most).contains(&seconds) {
            return Ok(Span::from_secs_f64_rounded(seconds));
        }
        Err(format!("expected seconds from {least} to {most}"))
    }

    /// Checks that a round of `points` points, which repeats, takes long enough.
    pub(crate) fn check_round(points: usize, round: Span) -> Result<(), String> {
        let shortest = Self::SHORTEST_PERIOD.as_nanos_f64() * points as f64;
        if round.as_nanos_f64() >= shortest {
            return Ok(());
        }
        let microseconds = round.as_nanos_f64() / 1e3;
        Err(format!(
            "repeats {points} points every {microseconds} µs, expected at least 1 µs per point"
        ))
    }

    /// Checks what a run of `network` until `end` may need at worst, against `budget` times the
    /// usual.
    ///
    /// # Errors
    /// Returns the key that asks for most of it, and the second half of a sentence.
    pub(crate) fn check_budget(
        &self,
        budget: f64,
        network: &Network,
        end: Time,
        names: &Names,
    ) -> Result<(), (String, String)> {
        let parts = Parts::of(network, end, names);
        let bytes = |bytes: f64| match bytes {
            ..1e9 => format!("{:.0} MB of memory", bytes / 1e6),
            _ => format!("{:.1} GB of memory", bytes / 1e9),
        };
        let events = |events: f64| format!("{events:.1e} events");
        check(&parts.memory, self.memory_bytes * budget, bytes)?;
        check(&parts.events, self.events * budget, events)
    }
}

/// What the scenario calls each link and flow of the network: one name for all copies of a link,
/// and for all flows of a group.
pub(crate) struct Names<'a> {
    pub(crate) links: Vec<&'a str>,
    pub(crate) flows: Vec<&'a str>,
}

/// What a run may need, and what for.
struct Parts {
    memory: Vec<Part>,
    events: Vec<Part>,
}

struct Part {
    key: String,
    what: String,
    amount: f64,
}

/// All copies of a link, or all flows of a group.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: usize,
    own_bytes: f64,
    packets: f64,
    list_bytes: f64,
    own_events: f64,
    packet_events: f64,
    sub_queues: u32,
}

impl Parts {
    fn of(network: &Network, end: Time, names: &Names) -> Self {
        let demand = network.demand(end);
        let mut links: BTreeMap<&str, Sum> = BTreeMap::new();
        for ((name, link), spec) in names.links.iter().zip(&demand.links).zip(&network.links) {
            let sum = links.entry(name).or_default();
            sum.count += 1;
            sum.own_bytes += link.own_bytes;
            sum.packets += link.packets;
            sum.list_bytes += link.list_bytes;
            sum.own_events += link.own_events;
            sum.packet_events += link.carried_events;
            if let QueueSpec::FqCoDel(queue) = &spec.queue {
                sum.sub_queues = queue.queues;
            }
        }
        let mut flows: BTreeMap<&str, Sum> = BTreeMap::new();
        for (name, flow) in names.flows.iter().zip(&demand.flows) {
            let sum = flows.entry(name).or_default();
            sum.count += 1;
            sum.own_bytes += flow.own_bytes;
            sum.packet_events += flow.events;
        }
        let packets: f64 = links.values().map(|link| link.packets).sum();
        let mut parts = Self { memory: vec![], events: vec![] };
        for (name, link) in links {
            let Sum { count, sub_queues, .. } = link;
            let with = if sub_queues > 0 {
                format!(" with {sub_queues} sub-queues each")
            } else {
                String::new()
            };
            parts.memory.push(Part {
                key: format!("link.{name}.queue"),
                what: format!("{count} copies of this link{with}"),
                amount: link.own_bytes,
            });
            parts.memory.push(Part {
                key: format!("link.{name}"),
                what: format!("{:.1e} packets at this link", link.packets),
                amount: link.list_bytes + demand.content_bytes * link.packets / packets.max(1.0),
            });
            parts.events.push(Part {
                key: format!("link.{name}"),
                what: "what changes at this link as time goes by".to_owned(),
                amount: link.own_events,
            });
            parts.events.push(Part {
                key: format!("link.{name}.rate_bps"),
                what: "the packets that this link can carry".to_owned(),
                amount: link.packet_events,
            });
        }
        for (name, flow) in flows {
            parts.memory.push(Part {
                key: format!("flow.{name}"),
                what: format!("{} flows", flow.count),
                amount: flow.own_bytes,
            });
            parts.events.push(Part {
                key: format!("flow.{name}.rate_bps"),
                what: "the packets of this flow".to_owned(),
                amount: flow.packet_events,
            });
        }
        parts
    }
}

/// Refuses parts that together exceed the limit; the largest one is named.
fn check(
    parts: &[Part],
    limit: f64,
    words: impl Fn(f64) -> String,
) -> Result<(), (String, String)> {
    let total: f64 = parts.iter().map(|part| part.amount).sum();
    let largest = parts.iter().max_by(|a, b| a.amount.total_cmp(&b.amount));
    match largest {
        Some(Part { key, what, amount }) if total > limit => {
            let problem = format!(
                "a run may need up to {}, {:.0} % of it for {what}; expected at most {}, which \
                 the key budget raises",
                words(total),
                100.0 * amount / total,
                words(limit),
            );
            Err((key.clone(), problem))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
