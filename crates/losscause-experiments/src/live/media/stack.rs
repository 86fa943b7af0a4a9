//! Streams of losscause-media in virtual time as a stack: the scenario's TFRC flow says path, packets
//! and algorithm.

use losscause::{AnyAlgorithm, End, LdaConfig};
use losscause_laboratory::stack::{Attempt, Stack};
use losscause_media::{ReceiverConfig, SenderConfig};
use losscause_sim::{FlowId, Traffic};
use losscause_study::{Experiment, InputError, Metric, RunError, Stop, Stopped};

use super::experiment::MEDIA;
use super::simulated;
use super::stream::{Ends, STEP, Stream};
use super::truths::Truths;
use super::values::{Over, values};
use crate::live::counters::Counters;
use crate::live::{LiveError, Values};

/// The virtual network.
pub(crate) struct MediaStack;

impl Stack for MediaStack {
    fn identity(&self) -> String {
        concat!("losscause-media ", env!("CARGO_PKG_VERSION")).to_owned()
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        StreamPlan::of(experiment)?;
        Ok(MEDIA.metrics(&Values::new()))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let plan = StreamPlan::of(experiment)?;
        let streamed = plan.streamed(experiment, seed, stop)?;
        let simulated = simulated::run(&experiment.network, plan.flow, seed, experiment.window)?;
        let values = values(&streamed, &simulated, &plan.over(experiment));
        Ok(Attempt::Made(MEDIA.metrics(&values)))
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
    /// The scenario has no measured flow of TFRC, its packets do not fit a datagram, or its
    /// algorithm is set otherwise than by default.
    pub(super) fn of(experiment: &Experiment) -> Result<Self, InputError> {
        let flows = experiment.network.flows.iter().zip(0..);
        let measured = flows.filter(|(flow, _)| flow.measured);
        let configs = measured.filter_map(|(flow, place)| match &flow.traffic {
            Traffic::Tfrc { config, lda } => Some((FlowId(place), config, lda)),
            _ => None,
        });
        let (flow, config, lda) =
            configs.last().ok_or_else(|| refused("has no measured TFRC flow".to_owned()))?;
        let packet_bytes = u16::try_from(config.payload_bytes).map_err(|_| {
            refused(format!("packets of {} bytes do not fit a datagram", config.payload_bytes))
        })?;
        Ok(Self {
            flow,
            sender: SenderConfig { packet_bytes, ..SenderConfig::default() },
            lda: config_of(lda)?,
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
    fn streamed(
        &self,
        experiment: &Experiment,
        seed: u64,
        stop: &Stop,
    ) -> Result<Counters, LiveError> {
        let ends = self.ends(&Truths::default());
        let mut stream = Stream::new(&experiment.network, self.flow, seed, ends)?;
        let (from, to) = experiment.window;
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

    fn over(&self, experiment: &Experiment) -> Over {
        let (from, to) = experiment.window;
        let links = &experiment.network.links;
        let rates = experiment.bottleneck.iter().map(|link| links[link.0 as usize].rate_bps);
        Over {
            seconds: (to - from).as_secs_f64(),
            bottleneck_bps: rates.sum::<u64>() as f64,
            wire_bytes: u32::from(self.sender.packet_bytes) + self.header_bytes,
            media_bytes: self.sender.media_bytes(),
        }
    }
}

/// The settings that give a flow's algorithm, which are the defaults.
fn config_of(lda: &AnyAlgorithm) -> Result<LdaConfig, InputError> {
    let text = format!("{lda:?}");
    let is_it = |config: &&LdaConfig| {
        config.build(End::Receiver).is_ok_and(|built| format!("{built:?}") == text)
    };
    let registry = losscause_study::registry();
    registry.iter().find(is_it).cloned().ok_or_else(|| {
        let name = losscause::Algorithm::name(lda);
        refused(format!("{name} is no algorithm with its default parameters"))
    })
}

/// The scenario cannot be run.
pub(super) fn refused(problem: String) -> InputError {
    InputError::option("scenario", problem)
}
