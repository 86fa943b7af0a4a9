//! All connections that are watched, by socket, and the paths that they share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use losscause::diagnosis::Certainty;
use losscause::{Span, Time};
use losscause_capture::{Cost, FlowDiagnosis, Vantage};

use super::connection::{Connection, Counts};
use super::path::Path;
use super::prefix::{Prefix, Tallies};
use super::process::Process;
use super::record::{Seen, What};
use super::report::{Report, Snapshot};
use crate::filter::Filter;
use crate::kernel::record::Ends;

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    known: HashMap<u64, Box<Watched>>,
    paths: HashMap<(u32, IpAddr, IpAddr), Path>,
    tallies: Tallies,
    /// Records that are not of this version.
    pub(super) unread: u64,
    filter: Filter,
    /// The control groups that pass, if not all do.
    pub(super) cgroups: Option<BTreeSet<u64>>,
    reported: Option<Time>,
}

#[derive(Debug)]
struct Watched {
    connection: Connection,
    process: Option<Process>,
    /// Acknowledged bytes and losses at the last report.
    reported: Counts,
    /// Losses whose cause was told, of all.
    told: u64,
    /// Since when the others wait.
    untold_since: Option<Time>,
}

/// A closed connection is reported for so long.
const CLOSED_FOR: Span = Span::from_secs(10);
/// A loss whose cause is not shown after so long counts as such.
const PATIENCE: Span = Span::from_secs(60);
/// So many connections have their losses kept one by one, 30 kB each; of more, those that lost
/// something last.
const MOST_KEPT: usize = 1_000;
/// So many paths have their packets kept one by one, up to 200 kB each.
const MOST_PATHS: usize = 100;

impl Connections {
    pub(super) fn new(filter: Filter, cgroups: Option<BTreeSet<u64>>) -> Self {
        Self { filter, cgroups, ..Self::default() }
    }

    /// Takes in a record.
    pub(super) fn on_record(&mut self, bytes: &[u8]) {
        let Some(Seen { socket, at, what }) = Seen::read(bytes) else {
            self.unread += 1;
            return;
        };
        if let What::Open { cgroup, ends, control } = what {
            if self.cgroups.as_ref().is_none_or(|passing| passing.contains(&cgroup)) {
                self.open(socket, Connection::new(ends, control, cgroup, at));
            }
            return;
        }
        let Some(watched) = self.known.get_mut(&socket) else { return };
        let connection = &mut watched.connection;
        let path = self.paths.entry(key(&connection.ends)).or_insert_with(|| Path::new(at));
        match what {
            What::Samples(state, samples) => connection.on_samples(state, &samples, path),
            What::Again { seq, end_seq, flight } => {
                connection.on_again(at, [seq, end_seq], flight, path);
            }
            What::Close => {
                connection.commit_all(path);
                connection.closed = Some(at);
            }
            What::Open { .. } => {}
        }
    }

    fn open(&mut self, socket: u64, connection: Connection) {
        let begun = connection.begun;
        let path = self.paths.entry(key(&connection.ends)).or_insert_with(|| Path::new(begun));
        path.connections += 1;
        let watched = Watched {
            connection,
            process: None,
            reported: Counts::default(),
            told: 0,
            untold_since: None,
        };
        self.known.insert(socket, Box::new(watched));
    }

    /// Names the processes of connections by socket.
    pub(super) fn name(&mut self, processes: &BTreeMap<u64, Process>) {
        for (socket, watched) in &mut self.known {
            if let Some(process) = processes.get(socket) {
                watched.process = Some(process.clone());
            }
        }
    }

    /// What is known at `now`, and the time since 1970 of the machine's start. With `is_last`, all
    /// losses count that were seen.
    pub(super) fn report(&mut self, now: Time, since_1970: Span, is_last: bool) -> Snapshot {
        let since = self.reported.replace(now);
        let mut reports = Vec::with_capacity(self.known.len());
        for (&socket, watched) in &mut self.known {
            let connection = &mut watched.connection;
            if let Some(path) = self.paths.get_mut(&key(&connection.ends)) {
                match is_last {
                    true => connection.commit_all(path),
                    false => connection.commit(now, path),
                }
                if connection.is_changed() {
                    connection.judge(path, is_last || connection.closed.is_some());
                }
            }
            let is_passing = !self.filter.asks_for_processes()
                || watched.process.as_ref().is_some_and(|process| {
                    self.filter.passes_process(&process.name, process.number)
                });
            if is_passing {
                watched.tell(now, &mut self.tallies);
                reports.push(watched.report(socket, now, since));
            }
        }
        self.forget(now);
        reports.sort_by_key(|report| (std::cmp::Reverse(report.lost_pkts), report.socket));
        let prefixes = self.tallies.reports(&reports);
        Snapshot { time: now + since_1970, connections: reports, prefixes, unseen_records: 0 }
    }

    /// Forgets what has ended, and the losses of connections that lost nothing for long.
    fn forget(&mut self, now: Time) {
        let paths = &mut self.paths;
        self.known.retain(|_, watched| {
            let connection = &watched.connection;
            let is_kept = connection.closed.is_none_or(|closed| now - closed < CLOSED_FOR);
            let key = key(&connection.ends);
            if !is_kept && let Some(path) = paths.get_mut(&key) {
                path.connections -= 1;
                if path.connections == 0 {
                    paths.remove(&key);
                }
            }
            is_kept
        });
        let known = self.known.iter().filter(|(_, watched)| watched.connection.keeps_losses());
        let last = known.map(|(&socket, watched)| (watched.connection.last_loss, socket));
        for socket in beyond(MOST_KEPT, last.collect()) {
            if let Some(watched) = self.known.get_mut(&socket) {
                watched.connection.forget_losses();
            }
        }
        let last = self.paths.iter().filter_map(|(&key, path)| Some((path.last_loss()?, key)));
        for key in beyond(MOST_PATHS, last.collect()) {
            if let Some(path) = self.paths.get_mut(&key) {
                path.forget_losses();
            }
        }
    }
}

/// All but so many of those with the newest times.
fn beyond<T: Ord>(most: usize, mut all: Vec<(Time, T)>) -> impl Iterator<Item = T> {
    all.sort_unstable();
    let count = all.len().saturating_sub(most);
    all.into_iter().take(count).map(|(_, one)| one)
}

/// Whose path it is.
fn key(ends: &Ends) -> (u32, IpAddr, IpAddr) {
    (ends.netns, ends.local.ip(), ends.remote.ip())
}

impl Watched {
    /// Counts losses by cause, and what passed. A counter cannot go back, so that a loss waits for
    /// its cause.
    fn tell(&mut self, now: Time, tallies: &mut Tallies) {
        let connection = &self.connection;
        let Counts { lost, acked_bytes, sent_pkts, .. } = connection.counts;
        let tally = tallies.of(Prefix::of(connection.ends.remote.ip()));
        tally.acked_bytes += acked_bytes - self.reported.acked_bytes;
        tally.sent_pkts += sent_pkts - self.reported.sent_pkts;
        if lost == self.told {
            self.untold_since = None;
            return;
        }
        let since = *self.untold_since.get_or_insert(now);
        let named = connection.diagnosis.as_deref();
        let named = named.filter(|of| of.certainty > Certainty::CannotTell);
        let is_over = connection.closed.is_some() || now - since >= PATIENCE;
        let cause = match named {
            Some(diagnosis) => diagnosis.cause.name(),
            None if is_over => "not-shown",
            None => return,
        };
        *tally.lost.entry(cause).or_default() += lost - self.told;
        self.told = lost;
        self.untold_since = None;
    }

    fn report(&mut self, socket: u64, now: Time, since: Option<Time>) -> Report {
        let connection = &self.connection;
        let counts = connection.counts;
        let ends = connection.ends;
        let from = since.map_or(connection.begun, |since| since.max(connection.begun));
        let span = (connection.closed.unwrap_or(now) - from).as_secs_f64();
        let bits = 8.0 * (counts.acked_bytes - self.reported.acked_bytes) as f64;
        let lost_now = counts.lost - self.reported.lost;
        self.reported = counts;
        let millis = |span: Option<Span>| span.map(Span::as_millis_f64);
        Report {
            socket,
            local: ends.local,
            remote: ends.remote,
            netns: ends.netns,
            control: connection.control.clone(),
            cgroup: connection.cgroup,
            process: self.process.clone(),
            watched_s: (connection.closed.unwrap_or(now) - connection.begun).as_secs_f64(),
            is_closed: connection.closed.is_some(),
            rtt_ms: millis(connection.rtt),
            rtt_min_ms: millis(connection.least_rtt),
            queueing_ms: millis(connection.queue.map(|queue| queue.queueing)),
            cwnd_pkts: connection.state.cwnd,
            flight_pkts: connection.flight_pkts,
            goodput_bps: if span > 0.0 { bits / span } else { 0.0 },
            acked_bytes: counts.acked_bytes,
            sent_pkts: counts.sent_pkts,
            lost_pkts: counts.lost,
            lost_now_pkts: lost_now,
            by_timer_pkts: counts.by_timer,
            spurious_pkts: counts.spurious,
            diagnosis: self.diagnosis(now),
        }
    }

    fn diagnosis(&self, now: Time) -> Option<Box<FlowDiagnosis>> {
        let connection = &self.connection;
        let counts = connection.counts;
        let diagnosis = **connection.diagnosis.as_ref()?;
        let path = connection.path_rate();
        let lasted = (connection.closed.unwrap_or(now) - connection.begun).as_secs_f64();
        let mut cost = Cost::default();
        cost.goodput_bps =
            if lasted > 0.0 { 8.0 * counts.acked_bytes as f64 / lasted } else { 0.0 };
        let share = connection.payload_share();
        cost.path_rate_bps = path.map(|path| path.rate_bps as f64 * share);
        cost.path_rate_changes = path.is_some_and(|path| !path.is_steady());
        cost.used = cost.path_rate_bps.map(|rate| (cost.goodput_bps / rate).min(1.0));
        cost.repair_s = Some(counts.repair.as_secs_f64());
        cost.timer_s = Some(counts.by_timer_repair.as_secs_f64());
        cost.after_first_loss_s =
            connection.first_loss.map_or(0.0, |first| (now - first).as_secs_f64());
        let cost = Some(cost);
        let vantage = Vantage::Sender;
        Some(Box::new(FlowDiagnosis { diagnosis, path, cost, next: Vec::new(), vantage }))
    }
}
