//! One run as a report draws it: windows, queues and delays over time in a few hundred steps, every
//! lost packet with its true cause and the verdict on it, and what each algorithm compared with
//! what.

use losscause::{Algorithm, AnyAlgorithm, LdaConfig, Time};
use losscause_sim::{
    Event, EventKind, FlowSpec, LinkId, PacketInfo, PacketKind, Recorder, TcpLda, Traffic,
};

use crate::{Experiment, InputError, Scenario};

mod boundary;
mod losses;
mod series;

pub use boundary::Boundary;
pub use losses::{LossLog, LossRow, LostPacket};
pub use series::Series;

use boundary::Prober;
use losses::Losses;
use series::Rate;

/// Most flows whose curves are kept: more cannot be told apart.
pub const MOST_FLOWS: usize = 4;

/// Steps of time into which a run is divided: about one per pixel of a drawing.
const STEPS: usize = 720;

/// Records a run for a report. Its memory grows with the number of losses, not with that of
/// packets.
#[derive(Clone, Debug)]
pub struct RunRecorder {
    seed: u64,
    end: Time,
    flows: Vec<Flow>,
    queues: Vec<Queue>,
    losses: Losses,
    left_out: usize,
    algorithms: Vec<LdaConfig>,
    names: Names,
}

/// Names of what events have as numbers.
#[derive(Clone, Debug)]
struct Names {
    /// Of flows, each with the algorithm that judges its losses.
    flows: Vec<(String, Option<&'static str>)>,
    links: Vec<String>,
}

impl Names {
    fn of(experiment: &Experiment) -> Self {
        let network = &experiment.network;
        let of_flow = |flow: &FlowSpec| (flow.name.clone(), algorithm_of(&flow.traffic));
        Self {
            flows: network.flows.iter().map(of_flow).collect(),
            links: network.links.iter().map(|link| link.name.clone()).collect(),
        }
    }
}

/// A flow under construction.
#[derive(Clone, Debug)]
struct Flow {
    /// The flow's place in the network.
    place: usize,
    name: String,
    /// The algorithm that judges its losses, if any.
    algorithm: Option<&'static str>,
    steer: Steer,
    delay: Series,
    prober: Option<Prober>,
}

/// What a flow's sender controls.
#[derive(Clone, Debug)]
enum Steer {
    /// TCP's congestion window, packets; the receiver's window limits what is sent.
    Window { limit: f64, series: Series },
    /// TFRC's allowed sending rate, kb/s.
    AllowedRate(Series),
    /// The rate of a source that controls nothing, kb/s.
    SentRate(Rate),
}

/// A queue under construction.
#[derive(Clone, Debug)]
struct Queue {
    link: LinkId,
    name: String,
    series: Series,
}

/// A run, recorded.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The run's random seed.
    pub seed: u64,
    /// The end of the run, seconds.
    pub to_s: f64,
    /// The first few measured flows.
    pub flows: Vec<FlowRecord>,
    /// Measured flows that have no curves here.
    pub left_out: usize,
    /// Packets waiting at the bottleneck; at each copy of it that the flows take.
    pub queues: Vec<(String, Series)>,
    /// The algorithms of its flows with their parameters.
    pub algorithms: Vec<LdaConfig>,
    /// Every data packet of all flows that was lost, and every verdict on a packet that was not, in
    /// order of time.
    pub losses: Vec<LostPacket>,
}

/// A flow of a run, recorded.
#[derive(Clone, Debug)]
pub struct FlowRecord {
    /// The flow's name.
    pub name: String,
    /// The algorithm that judges its losses; none if all count as congestion.
    pub algorithm: Option<&'static str>,
    /// What its sender controls: "window", "allowed rate"; of a source without control "sent".
    pub steers: &'static str,
    /// Unit of `steer`.
    pub unit: &'static str,
    /// The steered quantity, over time.
    pub steer: Series,
    /// One-way delays of the data packets that arrived, by the time of arrival, milliseconds.
    pub delay_ms: Series,
    /// What the receiver's algorithm would have compared with what at every arrival; empty for one
    /// at a sender.
    pub boundaries: Vec<Boundary>,
}

impl RunRecorder {
    /// A recorder for a run of `experiment`, which `scenario` gives, with `seed`.
    ///
    /// # Errors
    /// As [`Scenario::algorithms`].
    pub fn new(
        scenario: &Scenario,
        experiment: &Experiment,
        seed: u64,
    ) -> Result<Self, InputError> {
        let Experiment { network, duration, .. } = experiment;
        let steps = STEPS;
        let measured = || network.flows.iter().enumerate().filter(|(_, flow)| flow.measured);
        let series = || Series::new(*duration, steps);
        let flows: Vec<Flow> = measured()
            .take(MOST_FLOWS)
            .map(|(place, spec)| Flow {
                place,
                name: spec.name.clone(),
                algorithm: algorithm_of(&spec.traffic),
                steer: Steer::of(&spec.traffic, *duration, steps),
                delay: series(),
                prober: lda_at_receiver(&spec.traffic)
                    .map(|lda| Prober::new(lda, *duration, steps)),
            })
            .collect();
        let places: Vec<usize> = flows.iter().map(|flow| flow.place).collect();
        let queues = bottleneck(experiment, &places).into_iter().map(|link| Queue {
            link,
            name: network.links[link.0 as usize].name.clone(),
            series: series(),
        });
        Ok(Self {
            seed,
            end: *duration,
            queues: queues.collect(),
            left_out: measured().count() - flows.len(),
            flows,
            losses: Losses::default(),
            algorithms: scenario.algorithms()?,
            names: Names::of(experiment),
        })
    }

    /// What was recorded.
    pub fn finish(self) -> RunRecord {
        RunRecord {
            seed: self.seed,
            to_s: self.end.as_secs_f64(),
            flows: self.flows.into_iter().map(Flow::finish).collect(),
            left_out: self.left_out,
            queues: self.queues.into_iter().map(|queue| (queue.name, queue.series)).collect(),
            algorithms: self.algorithms,
            losses: self.losses.finish(self.names),
        }
    }
}

impl Recorder for RunRecorder {
    fn record(&mut self, event: &Event) {
        self.losses.take(event);
        if let EventKind::Link { link, queue_packets, .. } = event.kind
            && let Some(queue) = self.queues.iter_mut().find(|queue| queue.link == link)
        {
            queue.series.take(event.at, f64::from(queue_packets));
        }
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.place == event.flow.0 as usize) {
            flow.take(event);
        }
    }
}

impl Flow {
    fn take(&mut self, event: &Event) {
        match (event.kind, &mut self.steer) {
            (EventKind::Cwnd(packets), Steer::Window { limit, series }) => {
                series.take(event.at, packets.min(*limit));
            }
            (EventKind::Rate(rate), Steer::AllowedRate(series)) => {
                series.take(event.at, rate * 8e-3);
            }
            (EventKind::Sent(packet), Steer::SentRate(rate)) => {
                rate.take(event.at, packet.wire_bytes);
            }
            (EventKind::Received(packet), _) if is_data(packet) => self.received(event.at, packet),
            _ => {}
        }
    }

    fn received(&mut self, at: Time, packet: PacketInfo) {
        let Some(timing) = packet.timing else { return };
        self.delay.take(at, (at - timing.sent_at).as_millis_f64());
        if let Some(prober) = &mut self.prober
            && packet.kind == PacketKind::Data
        {
            prober.take(packet.seq, at, timing.sent_at);
        }
    }

    fn finish(self) -> FlowRecord {
        let (steers, unit, steer) = match self.steer {
            Steer::Window { series, .. } => ("window", "packets", series),
            Steer::AllowedRate(series) => ("allowed rate", "kb/s", series),
            Steer::SentRate(rate) => ("sent", "kb/s", rate.finish()),
        };
        FlowRecord {
            name: self.name,
            algorithm: self.algorithm,
            steers,
            unit,
            steer,
            delay_ms: self.delay,
            boundaries: self.prober.map(Prober::finish).unwrap_or_default(),
        }
    }
}

impl Steer {
    fn of(traffic: &Traffic, end: Time, steps: usize) -> Self {
        match traffic {
            Traffic::Tcp { config, .. } => Self::Window {
                limit: f64::from(config.max_window_pkts),
                series: Series::new(end, steps),
            },
            Traffic::Tfrc { .. } => Self::AllowedRate(Series::new(end, steps)),
            Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => {
                Self::SentRate(Rate::new(end, steps))
            }
        }
    }
}

/// Whether it is a packet whose loss counts.
fn is_data(packet: PacketInfo) -> bool {
    matches!(packet.kind, PacketKind::Data | PacketKind::Retransmission)
}

/// The algorithm that a flow's receiver runs.
fn lda_at_receiver(traffic: &Traffic) -> Option<&AnyAlgorithm> {
    match traffic {
        Traffic::Tcp { lda: TcpLda::Receiver { lda, .. }, .. } | Traffic::Tfrc { lda, .. } => {
            Some(lda)
        }
        Traffic::Tcp { lda: TcpLda::None | TcpLda::Sender(_), .. } => None,
        Traffic::Cbr { lda, .. } | Traffic::OnOff { lda, .. } | Traffic::Poisson { lda, .. } => {
            lda.as_ref()
        }
    }
}

/// The name of the algorithm that judges a flow's losses, unless all count as congestion.
pub fn algorithm_of(traffic: &Traffic) -> Option<&'static str> {
    let name = match traffic {
        Traffic::Tcp { lda: TcpLda::Sender(lda), .. } => Some(Algorithm::name(lda)),
        traffic => lda_at_receiver(traffic).map(Algorithm::name),
    };
    name.filter(|name| *name != crate::scenario::NO_LDA)
}

/// The first copies of the bottleneck that the flows in these places take; if the scenario names
/// none, the slowest link of their paths.
pub fn bottleneck(experiment: &Experiment, flows: &[usize]) -> Vec<LinkId> {
    let network = &experiment.network;
    let taken: Vec<LinkId> =
        flows.iter().flat_map(|&flow| network.flows[flow].path.iter().copied()).collect();
    let mut links: Vec<LinkId> =
        experiment.bottleneck.iter().copied().filter(|link| taken.contains(link)).collect();
    if links.is_empty() {
        links.extend(taken.into_iter().min_by_key(|link| network.links[link.0 as usize].rate_bps));
    }
    links.truncate(MOST_FLOWS);
    links
}
