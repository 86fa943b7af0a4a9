//! What loaded programs have counted, in total and per connection.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::LazyLock;

use libbpf_rs::{Iter, MapCore, MapFlags, MapHandle, ObjectBuilder};
use losscause::Span;
use nix::time::ClockId;
use serde::{Serialize, Serializer};

use super::algorithm::DRY_RUN_WORD;
use super::load::{Pins, loaded};
use super::lock::Lock;
use super::log::nanos;
use super::record::{Ends, ROW_BYTES, Row};
use super::{Judged, KernelError, Sums, Totals, Transferred, Trial};
use super::{machine, namespaces, object, refusal};

/// A loaded program.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The program's name in the kernel.
    pub name: &'static str,
    /// Whether it judges and counts only, and leaves the window to the kernel's Reno or CUBIC.
    pub dry_run: bool,
    /// Which new connections have it in place of the default.
    pub trial: Option<Trial>,
    /// What it has counted since it was loaded.
    pub totals: Totals,
    /// The program's connections, in all processes and network namespaces.
    pub connections: Vec<Connection>,
}

/// A connection that uses a program.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// The connection's own address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Inode number of its network namespace, as in `/proc/PID/ns/net`.
    pub netns: u32,
    /// The congestion window, packets.
    pub cwnd_pkts: u32,
    /// The slow start threshold, packets; none before the first reduction.
    pub ssthresh_pkts: Option<u32>,
    /// The last round-trip time.
    #[serde(rename = "rtt_ms", serialize_with = "as_millis")]
    pub rtt: Span,
    /// The smallest one.
    #[serde(rename = "rtt_min_ms", serialize_with = "as_millis")]
    pub rtt_min: Span,
    /// The largest one.
    #[serde(rename = "rtt_max_ms", serialize_with = "as_millis")]
    pub rtt_max: Span,
    /// The kernel's smoothed round-trip time.
    #[serde(rename = "srtt_ms", serialize_with = "as_millis")]
    pub srtt: Span,
    /// Packets delivered since the connection has used the program.
    pub delivered_pkts: u64,
    /// Bytes of a full packet.
    pub mss_bytes: u32,
    /// The mean rate since then, bits per second, of full packets.
    pub rate_bps: f64,
    /// An estimate of the rate that the kernel's Reno or CUBIC would have had with the same losses
    /// ([`super::Base::estimated_bps`]); none in a dry run, where the kernel's own is at work.
    pub base_estimate_bps: Option<f64>,
    /// For so many rounds with losses the brake holds on.
    pub brake_rounds: u32,
    /// What it has counted.
    #[serde(flatten)]
    pub sums: Sums,
    /// The last judgement; none before the first loss.
    pub last: Option<Judged>,
}

fn as_millis<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_millis_f64())
}

/// ssthresh of a connection that has not reduced yet (`TCP_INFINITE_SSTHRESH`).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

impl Connection {
    /// As the program has it at `now`, by CLOCK_MONOTONIC.
    fn of(row: &Row, now: Span) -> Self {
        let &Row { sums, rtt, rtt_min, rtt_max, judged, ends, cwnd, ssthresh, srtt, .. } = row;
        let &Row { began, delivered, mss, brake_rounds, .. } = row;
        let Ends { netns, local, remote } = ends;
        let seconds = (now - began).as_secs_f64();
        let bits = delivered as f64 * f64::from(mss) * 8.0;
        let ssthresh_pkts = (ssthresh < NO_SSTHRESH).then_some(ssthresh);
        Self {
            local,
            remote,
            netns,
            cwnd_pkts: cwnd,
            ssthresh_pkts,
            rtt,
            rtt_min,
            rtt_max,
            srtt,
            delivered_pkts: delivered,
            mss_bytes: mss,
            rate_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
            base_estimate_bps: None,
            brake_rounds,
            sums,
            last: judged,
        }
    }

    /// What an estimate of another control's rate goes by.
    fn transferred(&self) -> Transferred {
        Transferred {
            delivered: self.delivered_pkts,
            lost: self.sums.congestion + self.sums.wireless + self.sums.undecided,
            mss_bytes: self.mss_bytes,
            rtt: self.srtt,
        }
    }
}

/// Reads every loaded program, or the one of that name.
///
/// # Errors
/// There is no such algorithm, it is not loaded, or the kernel refuses to be read.
pub fn status(name: Option<&str>) -> Result<Vec<Status>, KernelError> {
    let chosen = name.map(super::Algorithm::find).transpose()?;
    machine::check()?;
    let _lock = Lock::to_read()?;
    let mut names = loaded();
    if let Some(chosen) = chosen {
        names.retain(|name| *name == chosen.name);
        if names.is_empty() {
            return Err(KernelError::NotLoaded { name: chosen.name });
        }
    }
    names.into_iter().map(read).collect()
}

fn read(name: &'static str) -> Result<Status, KernelError> {
    let pins = Pins::of(name);
    let refused = |error: libbpf_rs::Error| refusal::refused(name, "status", &error);
    let totals = MapHandle::from_pinned_path(pins.totals()).map_err(refused)?;
    let bytes =
        totals.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(refused)?.unwrap_or_default();
    let totals = Totals::read(&bytes).ok_or(KernelError::OtherVersion { name })?;
    let dry_run = is_dry_run(name, &pins)?;
    let trial = Trial::running(name, &pins)?;
    let mut connections = connections(name, &pins)?;
    if !dry_run {
        let base = super::Algorithm::find(name)?.base();
        for connection in &mut connections {
            connection.base_estimate_bps = base.estimated_bps(connection.transferred());
        }
    }
    Ok(Status { name, dry_run, trial, totals, connections })
}

fn is_dry_run(name: &'static str, pins: &Pins) -> Result<bool, KernelError> {
    let other_version = || KernelError::OtherVersion { name };
    let refused = |error: libbpf_rs::Error| refusal::refused(name, "status", &error);
    if !pins.parameters().exists() {
        return Err(other_version());
    }
    let parameters = MapHandle::from_pinned_path(pins.parameters()).map_err(refused)?;
    let bytes = parameters.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(refused)?;
    let bytes = bytes.unwrap_or_default();
    let word = bytes.as_chunks::<8>().0.get(DRY_RUN_WORD).ok_or_else(other_version)?;
    Ok(u64::from_ne_bytes(*word) != 0)
}

/// The program that lists connections, unpacked once for all looks.
static PROGRAM: LazyLock<Vec<u8>> = LazyLock::new(|| object("status"));

/// The connections of a loaded program, in every process and network namespace.
pub(super) fn connections(name: &'static str, pins: &Pins) -> Result<Vec<Connection>, KernelError> {
    namespaces::in_a_thread(&format!("the connections of {name}"), || listed(name, pins))
}

fn listed(name: &'static str, pins: &Pins) -> Result<Vec<Connection>, KernelError> {
    let refused = |error: libbpf_rs::Error| refusal::refused(name, "status", &error);
    refusal::listen();
    let mut builder = ObjectBuilder::default();
    let mut object = builder.open_memory(&PROGRAM).map_err(refused)?;
    for mut map in object.maps_mut().filter(|map| map.name() == "connections") {
        map.reuse_pinned_map(pins.connections()).map_err(refused)?;
    }
    let object = object.load().map_err(refused)?;
    let now = nanos(ClockId::CLOCK_MONOTONIC)?;
    // By the kernel's cookie: both lists may have a connection.
    let mut connections = BTreeMap::new();
    for list in object.progs_mut() {
        let link = list.attach().map_err(refused)?;
        let mut read = || {
            let mut bytes = Vec::new();
            let file = || format!("the connections of {name}");
            let mut rows = Iter::new(&link).map_err(refused)?;
            rows.read_to_end(&mut bytes)
                .map_err(|reason| KernelError::File { file: file(), reason })?;
            let (rows, rest) = bytes.as_chunks::<ROW_BYTES>();
            if !rest.is_empty() {
                return Err(KernelError::OtherVersion { name });
            }
            let rows = rows.iter().map(Row::read);
            connections.extend(rows.map(|row| (row.socket, Connection::of(&row, now))));
            Ok(())
        };
        match list.name() == PER_NAMESPACE {
            true => namespaces::visit_each(read)?,
            false => read()?,
        }
    }
    let mut connections: Vec<Connection> = connections.into_values().collect();
    connections.sort_by_key(|connection| (connection.netns, connection.local, connection.remote));
    Ok(connections)
}

/// The program of `bpf/status.bpf.c` that lists one network namespace.
const PER_NAMESPACE: &str = "lc_in_namespace";
