//! Runs the cells of the experiment, each a function of the cell and the seed alone.

use losscause::{BuiltIn, LdaConfig};
use losscause_media::{ReceiverConfig, SenderConfig};
use losscause_sim::{FlowId, Traffic};
use losscause_study::{InputError, Stop, Stopped};

use super::experiment::MEDIA;
use super::outcome::Outcome;
use super::simulated;
use super::stream::{Ends, STEP, Stream, StreamError};
use super::truths::Truths;
use super::values::{Over, values};
use crate::live::experiment::is_under_test;
use crate::live::{Attempt, Cell, LiveError, Stack};

/// The virtual network.
pub(super) struct VirtualStack;

impl Stack for VirtualStack {
    fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError> {
        let plan = StreamPlan::of(cell)?;
        let streamed = plan.streamed(cell, seed, stop)?;
        let network = &cell.layout.network;
        let simulated = simulated::run(network, plan.flow, seed, cell.layout.window)
            .map_err(StreamError::from)?;
        Ok(Attempt::Made(values(&streamed, &simulated, &plan.over(cell))))
    }
}

/// The stream in the place of the scenario's TFRC flow.
pub(super) struct StreamPlan {
    pub(super) flow: FlowId,
    pub(super) sender: SenderConfig,
    pub(super) lda: LdaConfig,
    pub(super) header_bytes: u32,
}

impl StreamPlan {
    /// # Errors
    /// The scenario has no flow of TFRC under test, or its packets do not fit a datagram.
    pub(super) fn of(cell: &Cell) -> Result<Self, LiveError> {
        let flows = cell.layout.network.flows.iter().zip(0..);
        let under_test = flows.filter(|(flow, _)| is_under_test(&flow.name));
        let configs = under_test.filter_map(|(flow, place)| match &flow.traffic {
            Traffic::Tfrc { config, .. } => Some((FlowId(place), config)),
            _ => None,
        });
        let (flow, config) =
            configs.last().ok_or_else(|| refused("has no TFRC flow under test".to_owned()))?;
        let packet_bytes = u16::try_from(config.payload_bytes).map_err(|_| {
            refused(format!("packets of {} bytes do not fit a datagram", config.payload_bytes))
        })?;
        Ok(Self {
            flow,
            sender: SenderConfig { packet_bytes, ..SenderConfig::default() },
            lda: lda(cell)?,
            header_bytes: config.header_bytes,
        })
    }

    /// Both ends, which take down the losses in `truths`.
    pub(super) fn ends(&self, truths: &Truths) -> Ends {
        Ends {
            sender: self.sender.clone(),
            receiver: ReceiverConfig { lda: self.lda.clone(), ..ReceiverConfig::default() },
            truths: truths.clone(),
            header_bytes: self.header_bytes,
        }
    }

    /// What became of the stream's packets in the window of the scenario.
    ///
    /// # Errors
    /// The network is not valid, the stream ended, or `stop` was requested.
    fn streamed(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Outcome, LiveError> {
        let mut stream =
            Stream::new(&cell.layout.network, self.flow, seed, self.ends(&Truths::default()))?;
        let (from, to) = cell.layout.window;
        stream.run_until(from);
        let before = stream.outcome();
        let mut until = from;
        while until < to {
            if stop.is_requested() {
                return Err(Stopped.into());
            }
            until = (until + STEP).min(to);
            stream.run_until(until);
        }
        match stream.ended() {
            Some(end) => Err(LiveError::StreamEnded(end)),
            None => Ok(stream.outcome().since(&before)),
        }
    }

    fn over(&self, cell: &Cell) -> Over {
        let layout = &cell.layout;
        let (from, to) = cell.layout.window;
        let rates =
            layout.bottleneck.iter().map(|link| layout.network.links[link.0 as usize].rate_bps);
        Over {
            seconds: (to - from).as_secs_f64(),
            bottleneck_bps: rates.sum::<u64>() as f64,
            wire_bytes: u32::from(self.sender.packet_bytes) + self.header_bytes,
            media_bytes: self.sender.media_bytes(),
        }
    }
}

/// The algorithm of the cell's system; without one, every loss is congestion.
fn lda(cell: &Cell) -> Result<LdaConfig, LiveError> {
    let system = MEDIA.record().system(&cell.system);
    let Some(name) = system.and_then(|system| system.lda.as_deref()) else {
        return Ok(BuiltIn::AlwaysCongestion.config());
    };
    let registry = losscause_study::registry();
    registry
        .find(name)
        .cloned()
        .ok_or_else(|| refused(format!("the algorithm {name} is unknown")).into())
}

fn refused(problem: String) -> InputError {
    InputError::Option { option: "scenario".to_owned(), problem }
}

impl From<StreamError> for LiveError {
    fn from(error: StreamError) -> Self {
        refused(error.to_string()).into()
    }
}
