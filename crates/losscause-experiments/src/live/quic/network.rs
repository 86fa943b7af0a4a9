//! QUIC connections over the simulator's links, in virtual time.
//!
//! Both ends of every connection are state machines of quinn or of noq, which take the time as an argument. A
//! [`LivePath`] carries their datagrams. The driver jumps from instant to instant: an arrival or a
//! loss on the path, a timer of a connection, the start of a flow. There are no sockets, threads or
//! waiting, and the same seed gives the same run.
//!
//! Every flow is a client that sends a stream to a server. All share the path, so they compete for
//! its queues.
//!
//! Exceptions to repeatability: the BBR of both draws its phase from the system's randomness.

use bytes::{Bytes, BytesMut};
use losscause::{Span, Time};
use losscause_sim::live::{Direction, Fate, LivePath, Offered, Passed};
use losscause_sim::rng::{Stream, scramble};
use losscause_sim::truth::Cause;
use losscause_sim::{FlowId, Network, NetworkError};

use super::clock::Clock;
use super::end::{Controllers, End, HEADER_BYTES};
use super::ledger::{Ledger, LostPacket};
use crate::live::counters::Counters;

/// What a flow sends, and how.
pub(super) struct FlowSetup {
    /// Make the sender's congestion controller, and say which QUIC both ends speak.
    pub(super) controllers: Controllers,
    /// Takes down the flow's losses.
    pub(super) ledger: Ledger,
    /// How many bytes the client sends; none for no end.
    pub(super) bytes: Option<u64>,
}

/// Connections over one path.
pub(super) struct VirtualNetwork {
    clock: Clock,
    now: Time,
    path: LivePath<Datagram>,
    flows: Vec<Flow>,
    buffer: Vec<u8>,
}

/// A connection ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectionLost(pub(super) String);

/// What travels over the path.
#[derive(Clone)]
struct Datagram {
    flow: u32,
    bytes: BytesMut,
    /// QUIC's packet number and size, of the client's packets.
    number: Option<u64>,
}

struct Flow {
    client: Side,
    server: Side,
    ledger: Ledger,
    start: Time,
    is_started: bool,
    immune: bool,
    /// What the application has not yet handed to QUIC; none for no end.
    to_write: Option<u64>,
    counters: Counters,
    completed: Option<Time>,
}

/// An end, and what the driver knows about it.
struct Side {
    end: Box<dyn End>,
    timeout: Option<Time>,
    /// Whether it may have something to send.
    is_due: bool,
}

impl VirtualNetwork {
    /// The flows of `network`, in their order, with QUIC in the place of their traffic. They start
    /// when the simulator's flows would, and take the path of the first.
    ///
    /// # Errors
    /// The network is not valid.
    ///
    /// # Panics
    /// If there are not as many setups as flows.
    pub(super) fn new(
        network: &Network,
        seed: u64,
        setups: Vec<FlowSetup>,
    ) -> Result<Self, NetworkError> {
        assert_eq!(setups.len(), network.flows.len(), "one setup per flow");
        let clock = Clock::new();
        let path = LivePath::new(network, FlowId(0), seed)?;
        let flows = network.flows.iter().zip(setups).map(|(spec, setup)| {
            let FlowSetup { controllers, ledger, bytes } = setup;
            let ends =
                |end: &str| Stream::new(seed, &format!("flow/{}/{end}", spec.name)).below(u64::MAX);
            Flow {
                client: Side::new(controllers.client(
                    endpoint_seed(ends("client")),
                    ledger.clone(),
                    clock,
                )),
                server: Side::new(controllers.server(endpoint_seed(ends("server")))),
                ledger,
                start: spec.starts_at(seed),
                is_started: false,
                immune: spec.wireless_immune,
                to_write: bytes,
                counters: Counters::default(),
                completed: None,
            }
        });
        Ok(Self {
            clock,
            now: Time::ZERO,
            path,
            flows: flows.collect(),
            buffer: Vec::with_capacity(2048),
        })
    }

    /// Runs until everything up to `until` has happened, or every flow that has an end has reached
    /// it.
    ///
    /// # Errors
    /// A connection ended, which the ends never ask for.
    pub(super) fn run_until(&mut self, until: Time) -> Result<(), ConnectionLost> {
        while let Some(next) = self.next_event().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            while let Some(passed) = self.path.poll(self.now) {
                self.on_passed(passed);
            }
            for flow in 0..self.flows.len() {
                self.flows[flow].on_time(self.now, self.clock);
                self.drive(flow)?;
            }
            if self.is_complete() {
                return Ok(());
            }
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// What happened to a flow's packets so far.
    pub(super) fn counters(&self, flow: usize) -> Counters {
        let Flow { ledger, counters, .. } = &self.flows[flow];
        let (batches, unexplained) = ledger.batches();
        Counters { verdicts: ledger.verdicts(), batches, unexplained, ..*counters }
    }

    /// From a flow's start to the arrival of its last byte.
    pub(super) fn completion_time(&self, flow: usize) -> Option<Span> {
        let flow = &self.flows[flow];
        Some(flow.completed? - flow.start)
    }

    /// Whether every flow has an end and has reached it.
    pub(super) fn is_complete(&self) -> bool {
        self.flows.iter().all(|flow| flow.completed.is_some())
    }

    /// Packets on the path.
    #[cfg(test)]
    pub(super) fn in_flight(&self) -> usize {
        self.path.in_flight()
    }

    fn next_event(&self) -> Option<Time> {
        let flows = self.flows.iter().flat_map(|flow| {
            let start = (!flow.is_started).then_some(flow.start);
            [start, flow.client.timeout, flow.server.timeout]
        });
        flows.flatten().chain(self.path.next_event()).min()
    }

    /// A packet has left the path.
    fn on_passed(&mut self, passed: Passed<Datagram>) {
        let Passed { content: Datagram { flow, bytes, number }, direction, entered, fate, .. } =
            passed;
        let flow = &mut self.flows[flow as usize];
        match fate {
            Fate::Delivered { ecn, queued } => {
                if direction == Direction::Forward {
                    flow.counters.delivered_pkts += 1;
                    flow.counters.queued += queued;
                }
                let side = if direction == Direction::Forward {
                    &mut flow.server
                } else {
                    &mut flow.client
                };
                side.end.receive(self.clock.instant(self.now), ecn, bytes);
                side.is_due = true;
            }
            Fate::Lost { cause, .. } if direction == Direction::Forward => {
                match cause {
                    Cause::Congestion => flow.counters.queue_drops += 1,
                    Cause::Wireless => flow.counters.wireless_losses += 1,
                }
                let bytes = bytes.len() as u64;
                // No bytes of bare acknowledgements count, and the controller hears of none that is
                // lost.
                if let Some(number) = number.filter(|_| bytes > BARE_ACK_BYTES) {
                    flow.ledger.lost(LostPacket { number, sent_at: entered, bytes, cause });
                }
            }
            Fate::Lost { .. } => {}
        }
    }

    /// Lets a flow's ends and applications act, and takes their datagrams.
    fn drive(&mut self, place: usize) -> Result<(), ConnectionLost> {
        let now = self.clock.instant(self.now);
        let flow = &mut self.flows[place];
        for direction in [Direction::Forward, Direction::Back] {
            let is_client = direction == Direction::Forward;
            let side = if is_client { &mut flow.client } else { &mut flow.server };
            if !std::mem::take(&mut side.is_due) {
                continue;
            }
            if is_client {
                flow.write()?;
            } else {
                flow.read(self.now)?;
            }
            let side = if is_client { &mut flow.client } else { &mut flow.server };
            while let Some(ecn) = side.end.poll_transmit(now, &mut self.buffer) {
                let number = is_client.then(|| flow.ledger.take_newest()).flatten();
                if is_client {
                    flow.counters.sent_pkts += 1;
                }
                let offered = Offered {
                    wire_bytes: self.buffer.len() as u32 + HEADER_BYTES,
                    content: Datagram {
                        flow: place as u32,
                        bytes: BytesMut::from(&self.buffer[..]),
                        number,
                    },
                    flow: place as u32,
                    ecn,
                    wireless_immune: flow.immune,
                };
                self.path.enter(self.now, direction, offered);
                self.buffer.clear();
            }
            side.timeout = side.end.next_timeout().map(|at| self.clock.time(at));
        }
        Ok(())
    }
}

impl Flow {
    /// Starts the flow and tells its ends of timeouts, where due.
    fn on_time(&mut self, now: Time, clock: Clock) {
        if !self.is_started && self.start <= now {
            self.is_started = true;
            self.client.end.connect(clock.instant(now));
            self.client.is_due = true;
        }
        for side in [&mut self.client, &mut self.server] {
            if side.timeout.is_some_and(|timeout| timeout <= now) {
                side.end.on_timeout(clock.instant(now));
                side.is_due = true;
            }
        }
    }

    /// The client's application: hands over data as long as QUIC takes it.
    fn write(&mut self) -> Result<(), ConnectionLost> {
        loop {
            let most =
                self.to_write.map_or(ZEROS.len(), |bytes| (ZEROS.len() as u64).min(bytes) as usize);
            let written = self.client.end.write(Bytes::from_static(&ZEROS[..most]))?;
            if let Some(to_write) = self.to_write.as_mut().filter(|_| written > 0) {
                *to_write -= written as u64;
                if *to_write == 0 {
                    self.client.end.finish();
                }
            }
            if written < most || most == 0 {
                return Ok(());
            }
        }
    }

    /// The server's application: reads whatever has arrived.
    fn read(&mut self, now: Time) -> Result<(), ConnectionLost> {
        let received = self.server.end.read()?;
        self.counters.delivered_bytes += received.bytes;
        if received.is_complete {
            self.completed.get_or_insert(now);
        }
        Ok(())
    }
}

impl Side {
    fn new(end: Box<dyn End>) -> Self {
        Self { end, timeout: None, is_due: false }
    }
}

/// The client's packets of up to this size may be bare acknowledgements; all its data fills its
/// packets.
const BARE_ACK_BYTES: u64 = 100;

/// What an application writes at a time, at most.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// A longer seed from a short one.
fn endpoint_seed(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (part, place) in bytes.chunks_exact_mut(8).zip(0..) {
        part.copy_from_slice(&scramble(seed.wrapping_add(place)).to_le_bytes());
    }
    bytes
}
