//! The program in the kernel, as long as it is watched.

use std::cell::RefCell;
use std::io::Read;
use std::rc::Rc;
use std::time::{Duration, Instant};

use libbpf_rs::{
    Iter, Link, MapCore, MapFlags, Object, ObjectBuilder, RingBuffer, RingBufferBuilder,
};
use losscause::{Span, Time};
use nix::time::{ClockId, clock_gettime};

use super::connections::Connections;
use super::report::Snapshot;
use super::{WatchError, machine, process};
use crate::filter::Filter;
use crate::kernel::{KernelError, Lock, object, refusal};

/// Watches the connections of this machine that send, in every network namespace, until it is
/// dropped. Nothing of it outlives the process.
pub struct Watch {
    object: Object,
    ring: RingBuffer<'static>,
    connections: Rc<RefCell<Connections>>,
    filter: Filter,
    /// From CLOCK_MONOTONIC to the time since 1970.
    since_1970: Span,
    named: Option<Instant>,
    _links: Vec<Link>,
    _only_one: Option<Lock>,
}

/// The ring is looked into so often.
const PAUSE: Duration = Duration::from_millis(100);
/// The processes of connections are looked up so often.
const NAMED_EVERY: Duration = Duration::from_secs(2);
/// The program that lists the processes.
const HOLDERS: &str = "lc_holders";

fn refused(step: &'static str) -> impl Fn(libbpf_rs::Error) -> WatchError {
    move |error| refusal::refused("the watch", step, &error).into()
}

impl Watch {
    /// Begins to watch the connections that pass the filter.
    ///
    /// # Errors
    /// The process lacks a capability, the kernel BTF or a tracepoint, a control group of the
    /// filter does not exist, another process watches, or the kernel refuses the program.
    pub fn begin(filter: &Filter) -> Result<Self, WatchError> {
        machine::check()?;
        let cgroups = filter.cgroup_numbers()?;
        let only_one = machine::only_one()?;
        refusal::listen();
        let mut builder = ObjectBuilder::default();
        let mut open = builder.open_memory(&object("watch")).map_err(refused("open"))?;
        for mut map in open.maps_mut() {
            if map.name() == ".rodata.filters" {
                map.set_initial_value(&filter.bytes()).map_err(refused("filters"))?;
            }
        }
        let object = open.load().map_err(refused("verify"))?;
        let connections = Connections::new(filter.clone(), cgroups);
        let connections = Rc::new(RefCell::new(connections));
        let ring = ring(&object, &connections)?;
        let mut links = Vec::new();
        for program in object.progs_mut().filter(|program| program.name() != HOLDERS) {
            links.push(program.attach().map_err(refused("attach"))?);
        }
        let since_1970 = nanos(ClockId::CLOCK_REALTIME)? - nanos(ClockId::CLOCK_MONOTONIC)?;
        Ok(Self {
            object,
            ring,
            connections,
            filter: filter.clone(),
            since_1970,
            named: None,
            _links: links,
            _only_one: only_one,
        })
    }

    /// Takes in what happens for this long.
    ///
    /// # Errors
    /// The kernel refuses to be read.
    pub fn collect(&mut self, span: Duration) -> Result<(), WatchError> {
        let until = Instant::now() + span;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.ring.poll(left.min(PAUSE)) {
                Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => {
                    return Err(refused("read")(error));
                }
                _ => self.ring.consume().map_err(refused("read"))?,
            }
            if left <= PAUSE {
                return Ok(());
            }
        }
    }

    /// What is known now.
    ///
    /// # Errors
    /// The kernel refuses to be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, WatchError> {
        self.report(false)
    }

    /// What is known now, with the losses that a receiver may still report as none.
    ///
    /// # Errors
    /// The kernel refuses to be read.
    pub fn last_snapshot(&mut self) -> Result<Snapshot, WatchError> {
        self.report(true)
    }

    fn report(&mut self, is_last: bool) -> Result<Snapshot, WatchError> {
        self.ring.consume().map_err(refused("read"))?;
        if is_last || self.named.is_none_or(|named| named.elapsed() >= NAMED_EVERY) {
            self.named = Some(Instant::now());
            self.name_processes()?;
        }
        let now = Time::ZERO + nanos(ClockId::CLOCK_MONOTONIC)?;
        let mut connections = self.connections.borrow_mut();
        if let Some(passing) = self.filter.cgroup_numbers()? {
            connections.cgroups = Some(passing);
        }
        let mut snapshot = connections.report(now, self.since_1970, is_last);
        snapshot.unseen_records = self.unseen() + connections.unread;
        Ok(snapshot)
    }

    fn name_processes(&self) -> Result<(), WatchError> {
        let mut bytes = Vec::new();
        for program in self.object.progs_mut().filter(|program| program.name() == HOLDERS) {
            let link = program.attach().map_err(refused("processes"))?;
            let mut rows = Iter::new(&link).map_err(refused("processes"))?;
            rows.read_to_end(&mut bytes).map_err(|reason| KernelError::File {
                file: "the list of processes".to_owned(),
                reason,
            })?;
        }
        self.connections.borrow_mut().name(&process::read(&bytes));
        Ok(())
    }

    /// Records that found no room.
    fn unseen(&self) -> u64 {
        let map = self.object.maps().find(|map| map.name() == ".data.unseen");
        let bytes = map.and_then(|map| map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()?);
        bytes.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?))).unwrap_or(0)
    }
}

/// The ring of records, which the connections take in.
fn ring(
    object: &Object,
    connections: &Rc<RefCell<Connections>>,
) -> Result<RingBuffer<'static>, WatchError> {
    let maps: Vec<_> = object.maps().filter(|map| map.name() == "records").collect();
    let mut rings = RingBufferBuilder::new();
    for map in &maps {
        let taking = Rc::clone(connections);
        let take = move |bytes: &[u8]| {
            taking.borrow_mut().on_record(bytes);
            0
        };
        rings.add(map, take).map_err(refused("ring"))?;
    }
    rings.build().map_err(refused("ring"))
}

fn nanos(clock: ClockId) -> Result<Span, WatchError> {
    let time = clock_gettime(clock).map_err(|errno| KernelError::Clock { reason: errno.into() })?;
    Ok(Span::from_nanos(time.tv_sec() * 1_000_000_000 + time.tv_nsec()))
}
