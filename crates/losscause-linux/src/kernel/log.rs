//! Every judgement of lost packets, while a reader reads. `bpf/log.h` writes them.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBuffer, RingBufferBuilder};
use losscause::{Span, Time};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::time::{ClockId, clock_gettime};
use serde::{Serialize, Serializer};
use std::net::SocketAddr;

use super::load::Pins;
use super::record::{Ends, Judged, Logged};
use super::{KernelError, machine, refusal};

/// A judgement: lost packets that lie next to each other, or a reduction of the window without a
/// loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictRecord {
    /// When the ACK came or the timer expired that declared them lost, since the start of 1970. A
    /// loss within a recovery is judged with the next ACK.
    #[serde(rename = "time_s", serialize_with = "as_seconds")]
    pub time: Time,
    /// The connection's own address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Inode number of its network namespace, as in `/proc/PID/ns/net`.
    pub netns: u32,
    /// Sequence number of the first lost byte. None if no SACK has shown where packets are missing,
    /// which is so for retransmissions that were lost too; and for reductions without a loss.
    pub seq: Option<u32>,
    /// Packets judged; 0 for a reduction without a loss. The reason `timeout` revises: so many
    /// packets that were declared lost at the same time, and were judged wireless, are congestion.
    pub packets: u32,
    /// The verdict, and why.
    #[serde(flatten)]
    pub judged: Judged,
}

fn as_seconds<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Reads the judgements of a loaded program. They are logged from [`open`](Self::open) until it is
/// dropped.
pub struct VerdictLog {
    name: &'static str,
    ring: RingBuffer<'static>,
    arrived: Receiver<Option<Logged>>,
    state: MapHandle,
    /// What was dropped before this reader.
    dropped_before: u64,
    /// From CLOCK_MONOTONIC to the time since 1970.
    since_1970: Span,
    /// The next reader can lock it once this one has ended, however it ends.
    _lock: Flock<File>,
}

/// Words of `log_state`.
const UNTIL: u32 = 0;
const DROPPED: u32 = 1;

/// The program logs for this long after the last [`VerdictLog::wait`] began.
const LEASE: Duration = Duration::from_secs(60);

impl VerdictLog {
    /// Begins to log the judgements of the loaded program of that name.
    ///
    /// # Errors
    /// There is no such algorithm, it is not loaded, another process reads its log, or the kernel
    /// refuses to be read.
    pub fn open(name: &str) -> Result<Self, KernelError> {
        let name = super::Algorithm::find(name)?.name;
        machine::check()?;
        let pins = Pins::of(name);
        if !pins.link().exists() {
            return Err(KernelError::NotLoaded { name });
        }
        if !pins.log_state().exists() {
            return Err(KernelError::OtherVersion { name });
        }
        let lock = lock(name, pins.dir())?;
        let refused = |error: libbpf_rs::Error| refusal::refused(name, "trace", &error);
        refusal::listen();
        let state = MapHandle::from_pinned_path(pins.log_state()).map_err(refused)?;
        let judgements = MapHandle::from_pinned_path(pins.judgements()).map_err(refused)?;
        let (arriving, arrived) = channel();
        let mut builder = RingBufferBuilder::new();
        let take = move |bytes: &[u8]| i32::from(arriving.send(Logged::read(bytes)).is_err());
        builder.add(&judgements, take).map_err(refused)?;
        let ring = builder.build().map_err(refused)?;
        // What a reader that was killed has left.
        ring.consume().map_err(refused)?;
        arrived.try_iter().for_each(drop);
        let since_1970 = nanos(ClockId::CLOCK_REALTIME)? - nanos(ClockId::CLOCK_MONOTONIC)?;
        let mut log =
            Self { name, ring, arrived, state, dropped_before: 0, since_1970, _lock: lock };
        log.dropped_before = log.word(DROPPED)?;
        log.read_for(LEASE)?;
        Ok(log)
    }

    /// Waits until there are judgements, at most this long, and takes them. Call it at least once a
    /// minute: what comes later than a minute after the last call counts as dropped.
    ///
    /// # Errors
    /// The program was loaded by another version, or the kernel refuses to be read.
    pub fn wait(&mut self, at_most: Duration) -> Result<Vec<VerdictRecord>, KernelError> {
        self.read_for(LEASE + at_most)?;
        match self.ring.poll(at_most) {
            Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => {
                Err(self.refused(&error))
            }
            _ => Ok(()),
        }?;
        let records = self.arrived.try_iter().map(|logged| self.record(logged));
        records.collect()
    }

    /// Records that were lost since [`open`](Self::open), because the log was full.
    ///
    /// # Errors
    /// The kernel refuses to be read.
    pub fn dropped(&self) -> Result<u64, KernelError> {
        Ok(self.word(DROPPED)? - self.dropped_before)
    }

    fn record(&self, logged: Option<Logged>) -> Result<VerdictRecord, KernelError> {
        let logged = logged.ok_or(KernelError::OtherVersion { name: self.name })?;
        let Logged { at, ends: Ends { netns, local, remote }, packets, seq, judged } = logged;
        let time = Time::from_nanos(at as i64) + self.since_1970;
        Ok(VerdictRecord { time, local, remote, netns, seq, packets, judged })
    }

    /// Lets the program log for this long from now on.
    fn read_for(&self, span: Duration) -> Result<(), KernelError> {
        let until = nanos(ClockId::CLOCK_MONOTONIC)? + Span::from_nanos(span.as_nanos() as i64);
        self.set_until(until.as_nanos() as u64)
    }

    fn set_until(&self, until: u64) -> Result<(), KernelError> {
        let updated = self.state.update(&UNTIL.to_ne_bytes(), &until.to_ne_bytes(), MapFlags::ANY);
        updated.map_err(|error| self.refused(&error))
    }

    fn word(&self, key: u32) -> Result<u64, KernelError> {
        let bytes = self
            .state
            .lookup(&key.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| self.refused(&error))?;
        let word = bytes.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
        word.ok_or(KernelError::OtherVersion { name: self.name })
    }

    fn refused(&self, error: &libbpf_rs::Error) -> KernelError {
        refusal::refused(self.name, "trace", error)
    }
}

impl Drop for VerdictLog {
    fn drop(&mut self) {
        // If this fails, the program stops to log a minute later.
        let _ = self.set_until(0);
    }
}

/// Locks the folder of a program's pins against other readers.
fn lock(name: &'static str, dir: &Path) -> Result<Flock<File>, KernelError> {
    let failed = |reason| KernelError::File { file: dir.display().to_string(), reason };
    let folder = File::open(dir).map_err(failed)?;
    Flock::lock(folder, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => KernelError::LogInUse { name },
        errno => failed(errno.into()),
    })
}

pub(super) fn nanos(clock: ClockId) -> Result<Span, KernelError> {
    let time = clock_gettime(clock).map_err(|errno| KernelError::Clock { reason: errno.into() })?;
    Ok(Span::from_nanos(time.tv_sec() * 1_000_000_000 + time.tv_nsec()))
}
