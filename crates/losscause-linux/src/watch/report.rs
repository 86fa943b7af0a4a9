//! What a watch knows at a moment.

use std::net::SocketAddr;

use losscause::Time;
use losscause_capture::FlowDiagnosis;
use serde::{Serialize, Serializer};

use super::prefix::PrefixReport;
use super::process::Process;

/// All that is known at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// When, since the start of 1970.
    #[serde(rename = "time_s", serialize_with = "as_seconds")]
    pub time: Time,
    /// The connections, those with most losses first. Closed ones are listed for ten seconds.
    pub connections: Vec<Report>,
    /// The destinations.
    pub prefixes: Vec<PrefixReport>,
    /// Records that were dropped because this program was too slow to read them.
    pub unseen_records: u64,
}

/// A connection that sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The kernel's cookie of the socket, as `ss -e` shows it (`sk`, there in hexadecimal).
    pub socket: u64,
    /// The connection's own address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Inode number of its network namespace, as in `/proc/PID/ns/net`.
    pub netns: u32,
    /// The congestion control.
    pub control: String,
    /// The number of its control group: the inode number of the folder.
    pub cgroup: u64,
    /// A process that has it open; none if that is not known.
    pub process: Option<Process>,
    /// For so long it has been watched, seconds.
    pub watched_s: f64,
    /// Whether it has ended.
    pub is_closed: bool,
    /// The newest round trip, milliseconds.
    pub rtt_ms: Option<f64>,
    /// The smallest round trip.
    pub rtt_min_ms: Option<f64>,
    /// What the newest one has above the smallest of the last seconds.
    pub queueing_ms: Option<f64>,
    /// The congestion window, packets.
    pub cwnd_pkts: u32,
    /// Packets in flight.
    pub flight_pkts: u32,
    /// Data that were acknowledged in the last interval, bits per second.
    pub goodput_bps: f64,
    /// Bytes of data that were acknowledged.
    pub acked_bytes: u64,
    /// Packets with data that were sent, again included.
    pub sent_pkts: u64,
    /// Packets that were lost.
    pub lost_pkts: u64,
    /// Those that counted in the last interval.
    pub lost_now_pkts: u64,
    /// Lost packets that only a timer showed.
    pub by_timer_pkts: u64,
    /// Packets that were sent again without need.
    pub spurious_pkts: u64,
    /// Why packets were lost; none before the first loss.
    pub diagnosis: Option<Box<FlowDiagnosis>>,
}

fn as_seconds<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
