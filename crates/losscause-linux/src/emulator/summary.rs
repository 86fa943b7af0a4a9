//! What the link did: counts, goodput, delays.

use losscause::Span;
use losscause_sim::Histogram;
use losscause_sim::live::Direction;
use serde::Serialize;

use super::error::Error;
use super::stall::HostStall;

/// Quantiles of times, milliseconds; none of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many times there are.
    pub count: u64,
    /// Half of them take at most this long.
    pub p50_ms: Option<f64>,
    /// 95 % of them take at most this long.
    pub p95_ms: Option<f64>,
    /// 99 % of them take at most this long.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub worst_ms: Option<f64>,
}

impl From<&Histogram> for Quantiles {
    fn from(times: &Histogram) -> Self {
        Self {
            count: times.count(),
            p50_ms: times.quantile_ms(0.5),
            p95_ms: times.quantile_ms(0.95),
            p99_ms: times.quantile_ms(0.99),
            worst_ms: times.greatest().map(Span::as_millis_f64),
        }
    }
}

/// A run of the emulator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// From the first packet that came to the last that was delivered, seconds.
    pub seconds: f64,
    /// COMMAND's exit status; 128 plus the signal's number if a signal ended it.
    pub exit_status: u8,
    /// The peer's, likewise; none without a peer, or if it had to be ended.
    pub peer_exit_status: Option<u8>,
    /// From COMMAND to the peer.
    pub forward: DirectionSummary,
    /// From the peer to COMMAND.
    pub back: DirectionSummary,
    /// How late packets were delivered: what the real clock adds to the path's own delays.
    pub lateness: Quantiles,
    /// How long the hosts stood still, which can fill a queue while no packet is late.
    pub host_stall_ms: HostStall,
    /// Whether the link's thread had a real-time priority.
    pub real_time: bool,
    /// Packets that the TUN devices dropped; see [`Summary::check`].
    pub device_drops: DeviceDrops,
}

/// Packets that a TUN device dropped by itself: the link never saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceDrops {
    /// COMMAND's device.
    pub sender: u64,
    /// The peer's device.
    pub peer: u64,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectionSummary {
    /// Packets that came to the link.
    pub packets: u64,
    /// Packets that were delivered.
    pub delivered: u64,
    /// Packets that queues dropped.
    pub queue_drops: u64,
    /// Packets that channels corrupted.
    pub wireless_losses: u64,
    /// Frames that are neither IPv4 nor IPv6. The link dropped them at once, and they are not among
    /// `packets`.
    pub not_ip: u64,
    /// Packets that were on their way at the end.
    pub in_flight: u64,
    /// Delivered packets that queues marked (ECN).
    pub marked: u64,
    /// Copies made by links that arrived after their packet; not among `delivered`.
    pub copies: u64,
    /// Distinct bytes of TCP's payload, and all bytes of other payload, per second; bits per
    /// second.
    pub goodput_bps: f64,
    /// How long delivered packets waited in queues, without transmissions.
    pub queueing_delay: Quantiles,
}

impl Summary {
    /// Checks that the link saw every packet.
    ///
    /// # Errors
    /// A TUN device dropped packets: the counts and the log of drops are not complete.
    pub fn check(&self) -> Result<(), Error> {
        let DeviceDrops { sender, peer } = self.device_drops;
        match [(Direction::Forward, sender), (Direction::Back, peer)]
            .into_iter()
            .find(|(_, packets)| *packets > 0)
        {
            Some((end, packets)) => Err(Error::DeviceDrops { end, packets }),
            None => Ok(()),
        }
    }

    /// Both directions, with the names that the output uses.
    pub fn directions(&self) -> [(&'static str, &DirectionSummary); 2] {
        [(name(Direction::Forward), &self.forward), (name(Direction::Back), &self.back)]
    }
}

/// "forward", "back".
pub(super) fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Back => "back",
    }
}
