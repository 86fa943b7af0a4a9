//! Destinations: the peers whose addresses begin alike, and what was counted of them.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Serialize, Serializer};

use super::report::Report;

/// Addresses that begin alike: /24 of IPv4, /48 of IPv6.
///
/// ```
/// use losscause_linux::watch::Prefix;
///
/// assert_eq!(Prefix::of("192.0.2.77".parse()?).to_string(), "192.0.2.0/24");
/// assert_eq!(Prefix::of("2001:db8:1:2::3".parse()?).to_string(), "2001:db8:1::/48");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix(Option<IpAddr>);

impl Prefix {
    /// All destinations beyond the first [`MOST_PREFIXES`].
    pub const OTHER: Self = Self(None);

    /// That of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(Some(match address {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                Ipv4Addr::new(a, b, c, 0).into()
            }
            IpAddr::V6(address) => {
                let [a, b, c, ..] = address.segments();
                Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
            }
        }))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address @ IpAddr::V4(_)) => write!(f, "{address}/24"),
            Some(address @ IpAddr::V6(_)) => write!(f, "{address}/48"),
            None => f.write_str("other"),
        }
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// So many destinations are counted apart; further ones are "other".
pub const MOST_PREFIXES: usize = 256;

/// Sums of a destination, since the watch began.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) acked_bytes: u64,
    pub(super) sent_pkts: u64,
    /// Lost packets by cause.
    pub(super) lost: BTreeMap<&'static str, u64>,
}

/// Sums of all destinations.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies(BTreeMap<Prefix, Tally>);

impl Tallies {
    pub(super) fn of(&mut self, prefix: Prefix) -> &mut Tally {
        let is_known = self.0.contains_key(&prefix) || self.0.len() < MOST_PREFIXES;
        self.0.entry(if is_known { prefix } else { Prefix::OTHER }).or_default()
    }

    /// All destinations, with the connections that are open.
    pub(super) fn reports(&self, connections: &[Report]) -> Vec<PrefixReport> {
        let mut reports: BTreeMap<Prefix, PrefixReport> = self
            .0
            .iter()
            .map(|(&prefix, tally)| {
                let report = PrefixReport {
                    prefix,
                    connections: 0,
                    goodput_bps: 0.0,
                    rtt_ms: None,
                    acked_bytes: tally.acked_bytes,
                    sent_pkts: tally.sent_pkts,
                    lost_pkts: tally.lost.clone(),
                };
                (prefix, report)
            })
            .collect();
        for one in connections.iter().filter(|one| !one.is_closed) {
            let prefix = Prefix::of(one.remote.ip());
            let prefix = if self.0.contains_key(&prefix) { prefix } else { Prefix::OTHER };
            let Some(report) = reports.get_mut(&prefix) else { continue };
            report.connections += 1;
            report.goodput_bps += one.goodput_bps;
            if let Some(rtt_ms) = one.rtt_ms {
                report.rtt_ms = Some(report.rtt_ms.map_or(rtt_ms, |least: f64| least.min(rtt_ms)));
            }
        }
        reports.into_values().collect()
    }
}

/// A destination: the connections to it, and what was counted since the watch began.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrefixReport {
    /// The addresses.
    pub prefix: Prefix,
    /// Open connections.
    pub connections: usize,
    /// Data that arrived in the last interval, bits per second.
    pub goodput_bps: f64,
    /// The smallest of the connections' newest round trips, milliseconds; none before the first.
    pub rtt_ms: Option<f64>,
    /// Bytes of data that were acknowledged.
    pub acked_bytes: u64,
    /// Packets with data that were sent, again included.
    pub sent_pkts: u64,
    /// Lost packets by the cause of their connection. Each waits for a cause, for a minute at most.
    pub lost_pkts: BTreeMap<&'static str, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_beyond_the_most_are_counted_together() {
        let mut tallies = Tallies::default();
        for k in 0..MOST_PREFIXES as u32 + 10 {
            let address = IpAddr::from(Ipv4Addr::from(k << 8));
            tallies.of(Prefix::of(address)).sent_pkts += 1;
        }
        let reports = tallies.reports(&[]);
        assert_eq!(reports.len(), MOST_PREFIXES + 1);
        let other = reports.iter().find(|report| report.prefix == Prefix::OTHER);
        assert_eq!(other.map(|report| report.sent_pkts), Some(10));
    }
}
