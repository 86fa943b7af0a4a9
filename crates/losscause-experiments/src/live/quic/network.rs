//! QUIC connections over the simulator's links, in virtual time.
//!
//! Both ends of every connection are quinn's state machines, which take the time as an argument. A
//! [`LivePath`] carries their datagrams. The driver jumps from instant to instant: an arrival or a
//! loss on the path, a timer of a connection, the start of a flow. There are no sockets, threads or
//! waiting, and the same seed gives the same run.
//!
//! Every flow is a client that sends a stream to a server. All share the path, so they compete for
//! its queues.
//!
//! Exceptions to repeatability: quinn's BBR draws its phase from the system's randomness.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use losscause::{Span, Time};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered, Passed};
use losscause_sim::rng::{Stream, scramble};
use losscause_sim::truth::Cause;
use losscause_sim::{FlowId, Network, NetworkError};
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::{Dir, EcnCodepoint, Event, StreamId};

use super::clock::Clock;
use super::counters::Counters;
use super::end::{self, End, HEADER_BYTES};
use super::ledger::{Ledger, LostPacket};
use super::recording::RecordingFactory;

/// What a flow sends, and how.
pub(super) struct FlowSetup {
    /// Makes the sender's congestion controller.
    pub(super) factory: Arc<dyn ControllerFactory + Send + Sync>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLost(String);

impl fmt::Display for ConnectionLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConnectionLost {}

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
    factory: Arc<RecordingFactory>,
    ledger: Ledger,
    start: Time,
    is_started: bool,
    immune: bool,
    /// What the application has not yet handed to QUIC; none for no end.
    to_write: Option<u64>,
    sending: Option<StreamId>,
    receiving: Option<StreamId>,
    counters: Counters,
    completed: Option<Time>,
}

/// An end, and what the driver knows about it.
struct Side {
    end: End,
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
            let FlowSetup { factory, ledger, bytes } = setup;
            let ends =
                |end: &str| Stream::new(seed, &format!("flow/{}/{end}", spec.name)).below(u64::MAX);
            Flow {
                client: Side::new(End::client(endpoint_seed(ends("client")))),
                server: Side::new(End::server(endpoint_seed(ends("server")))),
                factory: Arc::new(RecordingFactory { factory, ledger: ledger.clone(), clock }),
                ledger,
                start: spec.starts_at(seed),
                is_started: false,
                immune: spec.wireless_immune,
                to_write: bytes,
                sending: None,
                receiving: None,
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
        Counters { judged: self.flows[flow].ledger.counts(), ..self.flows[flow].counters }
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
                side.end.receive(self.clock.instant(self.now), codepoint(ecn), bytes);
                side.is_due = true;
            }
            Fate::Lost { cause, .. } if direction == Direction::Forward => {
                match cause {
                    Cause::Congestion => flow.counters.queue_drops += 1,
                    Cause::Wireless => flow.counters.wireless_losses += 1,
                }
                let bytes = bytes.len() as u64;
                // quinn counts no bytes of bare acknowledgements, and tells the controller of none
                // that is lost.
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
                    ecn: if ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable },
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
            let mut transport = end::transport();
            transport.congestion_controller_factory(self.factory.clone());
            self.client.end.connect(clock.instant(now), transport);
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
        while let Some(event) = self.client.end.poll() {
            match event {
                Event::Connected => {
                    self.sending = self
                        .client
                        .end
                        .connection()
                        .and_then(|connection| connection.streams().open(Dir::Uni));
                }
                Event::ConnectionLost { reason } => {
                    return Err(ConnectionLost(end::reason(&reason)));
                }
                _ => {}
            }
        }
        let (Some(stream), Some(connection)) = (self.sending, self.client.end.connection()) else {
            return Ok(());
        };
        let mut stream = connection.send_stream(stream);
        while self.to_write != Some(0) {
            let most =
                self.to_write.map_or(ZEROS.len(), |bytes| (ZEROS.len() as u64).min(bytes) as usize);
            let Ok(written) = stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..most])]) else {
                return Ok(());
            };
            if let Some(to_write) = &mut self.to_write {
                *to_write -= written.bytes as u64;
                if *to_write == 0 {
                    // Only a stream that was reset refuses to end.
                    let _ = stream.finish();
                }
            }
            if written.bytes < most {
                break;
            }
        }
        Ok(())
    }

    /// The server's application: reads whatever has arrived, in any order.
    fn read(&mut self, now: Time) -> Result<(), ConnectionLost> {
        while let Some(event) = self.server.end.poll() {
            if let Event::ConnectionLost { reason } = event {
                return Err(ConnectionLost(end::reason(&reason)));
            }
        }
        let Some(connection) = self.server.end.connection() else { return Ok(()) };
        if self.receiving.is_none() {
            self.receiving = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.receiving.filter(|_| self.completed.is_none()) else {
            return Ok(());
        };
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(false) else { return Ok(()) };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.counters.delivered_bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.completed = Some(now);
                    break;
                }
                Err(_) => break,
            }
        }
        // Whatever it asks for is sent with the next datagrams, which the driver takes right after.
        let _ = chunks.finalize();
        Ok(())
    }
}

impl Side {
    fn new(end: End) -> Self {
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

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Capable => Some(EcnCodepoint::Ect0),
        Ecn::Marked => Some(EcnCodepoint::Ce),
    }
}
