//! What a page draws over time: one row per step of time.

use std::collections::{BTreeSet, VecDeque};

use losscause::{Span, Time};
use losscause_sim::{Event, EventKind, FlowId, LinkId, PacketKind, Traffic};
use losscause_study::Run;

/// Rows over time: the instant in seconds, packets waiting at the bottleneck, then for each flow
/// the window in packets or the allowed rate in kb/s, the one-way delay in milliseconds, and the
/// goodput in kb/s. What is not known is NaN.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    step: Span,
    next: Time,
    link: LinkId,
    queue_pkts: u32,
    flows: Vec<Flow>,
    rows: Vec<f64>,
    read: usize,
}

#[derive(Clone, Debug)]
struct Flow {
    id: FlowId,
    /// Largest window that the receiver allows; the sender's own may be larger.
    most_pkts: f64,
    steer: f64,
    delay_ms: f64,
    delays: u32,
    arrived: Arrived,
    /// Packets that had arrived at the last few steps, the newest last.
    arrived_packets: VecDeque<u64>,
}

/// Distinct packets that arrived, in any order: a receiver that waits for a packet delivers what
/// came behind it all at once, faster than any link.
#[derive(Clone, Debug, Default)]
struct Arrived {
    packets: u64,
    /// The number after the largest that arrived.
    next: u64,
    /// Below it.
    missing: BTreeSet<u64>,
}

impl Arrived {
    fn take(&mut self, seq: u64) {
        if seq >= self.next {
            self.missing.extend(self.next..seq);
            self.next = seq + 1;
            self.packets += 1;
        } else if self.missing.remove(&seq) {
            self.packets += 1;
        }
    }
}

/// Steps of time of a whole run.
const STEPS: i64 = 1000;

/// Steps over which goodput is a mean.
const GOODPUT_STEPS: usize = 10;

impl Samples {
    /// For these flows of `run`, which has not begun.
    pub(crate) fn new(run: &Run, link: LinkId, flows: &[usize]) -> Self {
        let experiment = run.experiment();
        let step = Span::from_nanos(((experiment.duration - Time::ZERO).as_nanos() / STEPS).max(1));
        let flow = |&place: &usize| Flow {
            id: FlowId(place as u32),
            most_pkts: match &experiment.network.flows[place].traffic {
                Traffic::Tcp { config, .. } => f64::from(config.max_window_pkts),
                _ => f64::INFINITY,
            },
            steer: f64::NAN,
            delay_ms: 0.0,
            delays: 0,
            arrived: Arrived::default(),
            arrived_packets: VecDeque::from([0]),
        };
        Self {
            step,
            next: Time::ZERO + step,
            link,
            queue_pkts: 0,
            flows: flows.iter().map(flow).collect(),
            rows: Vec::new(),
            read: 0,
        }
    }

    /// Numbers of a row.
    pub(crate) fn columns(&self) -> usize {
        2 + 3 * self.flows.len()
    }

    /// The length of a step.
    pub(crate) fn step(&self) -> Span {
        self.step
    }

    /// When the next row is due.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Takes the next event, in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        if let EventKind::Link { link, queue_packets, .. } = event.kind {
            if link == self.link {
                self.queue_pkts = queue_packets;
            }
            return;
        }
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.id == event.flow) else { return };
        match event.kind {
            EventKind::Cwnd(packets) => flow.steer = packets.min(flow.most_pkts),
            EventKind::Rate(bytes_per_second) => flow.steer = bytes_per_second * 8e-3,
            EventKind::Received(packet) => {
                if let (PacketKind::Data | PacketKind::Retransmission, Some(timing)) =
                    (packet.kind, packet.timing)
                {
                    flow.delay_ms += (event.at - timing.sent_at).as_millis_f64();
                    flow.delays += 1;
                    flow.arrived.take(packet.seq);
                }
            }
            _ => {}
        }
    }

    /// Adds the row that is due, once `run` has come to its instant.
    pub(crate) fn sample(&mut self, run: &Run) {
        self.rows.extend([self.next.as_secs_f64(), f64::from(self.queue_pkts)]);
        for flow in &mut self.flows {
            let report = run.flow(flow.id);
            let payload_bytes = report.received_payload_bytes / report.received_packets.max(1);
            if flow.arrived_packets.len() > GOODPUT_STEPS {
                flow.arrived_packets.pop_front();
            }
            let before = flow.arrived_packets.front().copied().unwrap_or_default();
            let seconds = self.step.as_secs_f64() * flow.arrived_packets.len() as f64;
            flow.arrived_packets.push_back(flow.arrived.packets);
            let bytes = (flow.arrived.packets - before) * payload_bytes;
            let delay_ms =
                if flow.delays == 0 { f64::NAN } else { flow.delay_ms / f64::from(flow.delays) };
            self.rows.extend([flow.steer, delay_ms, bytes as f64 * 8e-3 / seconds]);
            (flow.delay_ms, flow.delays) = (0.0, 0);
        }
        self.next += self.step;
    }

    /// The rows since the last call.
    pub(crate) fn take_rows(&mut self, numbers: &mut Vec<f64>) {
        numbers.extend_from_slice(&self.rows[self.read..]);
        self.read = self.rows.len();
    }

    /// The rows that `other` has given are not given again.
    pub(crate) fn read_as(&mut self, other: &Self) {
        self.read = other.read;
    }

    /// All rows are new to the next reader.
    pub(crate) fn unread(&mut self) {
        self.read = 0;
    }
}
