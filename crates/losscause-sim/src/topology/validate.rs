//! What makes a network invalid.

use losscause::{Span, Time};
use losscause_transport::{tcp, tfrc};
use std::collections::BTreeSet;

use crate::application::{ApplicationSpec, Waits};
use crate::schedule::Schedule;

use super::{
    ChannelSpec, DisorderProblem, ErrorPosition, FlowId, FlowSpec, Lengths, LinkId, LinkSpec,
    LoadPoint, Network, QueueProblem, RateProblem, RateSpec, RetransmissionSpec, Slots, TraceStart,
    Traffic, Turnover, VariationProblem,
};

/// Why a network cannot be simulated. `Display` is one sentence that names link or flow and what
/// was expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A link is wrong.
    #[error("link \"{link}\": {problem}")]
    Link {
        /// The link's name.
        link: String,
        /// How.
        problem: LinkProblem,
    },
    /// A flow is wrong.
    #[error("flow \"{flow}\": {problem}")]
    Flow {
        /// The flow's name.
        flow: String,
        /// How.
        problem: FlowProblem,
    },
    /// The number of links cannot change while the network runs.
    #[error(
        "there are {after} links, expected the {before} of the run, whose number cannot change"
    )]
    LinksWhileRunning {
        /// Links there are.
        before: usize,
        /// Links that were given.
        after: usize,
    },
    /// More links and flows than event sources: one per link, two per flow.
    #[error(
        "the network needs {sources} event sources (one per link, two per flow), expected at most {most}"
    )]
    TooLarge {
        /// Event sources the network needs.
        sources: usize,
        /// Event sources there can be.
        most: usize,
    },
}

/// How a link is wrong.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LinkProblem {
    /// Another link has the same name.
    #[error("another link has the same name, expected every name once")]
    DuplicateName,
    /// `rate_bps` is 0.
    #[error("rate_bps is 0, expected at least 1")]
    Rate,
    /// `delay` is negative.
    #[error("delay is {0}, expected 0 or more")]
    Delay(Span),
    /// The delay cannot vary so.
    #[error("{0}")]
    Variation(VariationProblem),
    /// `loss` is outside its range.
    #[error("loss is {loss}, expected 0 to {}", if *one_allowed { "1" } else { "less than 1" })]
    Loss {
        /// What was given.
        loss: f64,
        /// Whether 1 itself is allowed (not for Gilbert-Elliott).
        one_allowed: bool,
    },
    /// `mean_burst_packets` is too small for the loss, or not a number.
    #[error(
        "mean_burst_packets is {mean_burst_packets}, expected at least {at_least} at this loss"
    )]
    MeanBurst {
        /// What was given.
        mean_burst_packets: f64,
        /// The least that is possible.
        at_least: f64,
    },
    /// The trace has no slots.
    #[error("the error trace is empty, expected at least one slot")]
    EmptyTrace,
    /// The trace starts after its end.
    #[error("the error trace starts at slot {start}, expected less than its {slots} slots")]
    TraceStart {
        /// Slot to start at.
        start: usize,
        /// Slots there are.
        slots: usize,
    },
    /// The trace is to be read in parts that are empty or longer than all of it.
    #[error("the error trace is read in parts of {part} slots, expected 1 to its {slots} slots")]
    TracePart {
        /// Slots of a part.
        part: usize,
        /// Slots there are.
        slots: usize,
    },
    /// No slots per packet.
    #[error("the channel has no slot per packet, expected at least one")]
    Slots,
    /// The queue is wrong.
    #[error("{0}")]
    Queue(QueueProblem),
    /// The rate cannot vary so.
    #[error("{0}")]
    RateVariation(RateProblem),
    /// A retransmission has fewer than two attempts.
    #[error("retransmission has {0} attempts, expected at least 2 (leave it out for none)")]
    Attempts(u32),
    /// A retransmission's delay is negative.
    #[error("the delay of a retransmission is {0}, expected 0 or more")]
    RetransmissionDelay(Span),
    /// The link layer cannot repeat what is lost before the queue.
    #[error(
        "retransmission repeats transmissions, but the errors hit before the queue, expected them \
         after the transmission"
    )]
    RetransmissionBeforeQueue,
    /// Packets cannot be late so.
    #[error("reordering: {0}")]
    Reordering(DisorderProblem),
    /// Packets cannot be doubled so.
    #[error("duplication: {0}")]
    Duplication(DisorderProblem),
    /// The table of losses by load is empty, its loads do not rise from 0 to 1, or a loss is not 0
    /// to 1.
    #[error(
        "point {point} of the losses by load is wrong, expected rising loads and losses from 0 to 1"
    )]
    LoadTable {
        /// The first point that is wrong, counted from 0.
        point: usize,
    },
    /// The window of the load is not positive.
    #[error("the window of the load is {0}, expected more than 0")]
    LoadWindow(Span),
    /// Losses that depend on the load hit before the queue, or have slots.
    #[error("losses depend on the load, expected them after the transmission, one slot per packet")]
    LoadPosition,
    /// A value that cannot be changed while the network runs.
    #[error(
        "its {0} cannot change during a run, expected a change of rate, delay, queue settings or loss"
    )]
    WhileRunning(&'static str),
    /// The channel's slots last less than a microsecond.
    #[error("the channel's slots last {0}, expected at least {least}", least = SHORTEST_SLOT)]
    SlotTooShort(Span),
}

/// How a flow is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowProblem {
    /// Another flow has the same name.
    #[error("another flow has the same name, expected every name once")]
    DuplicateName,
    /// An application, but no TCP without a size.
    #[error("application is set, expected it with TCP without a size only")]
    ApplicationTraffic,
    /// A response of an application has no packets, or a time is out of its range.
    #[error("application has empty responses, chunks or buffers, expected more than none")]
    Application,
    /// The path is empty.
    #[error("path is empty, expected at least one link")]
    EmptyPath,
    /// The return path is empty, but the traffic needs feedback.
    #[error("return_path is empty, expected at least one link for traffic with feedback")]
    EmptyReturnPath,
    /// The path, or the return path, names a link that does not exist.
    #[error("the path names link number {}, expected one of the {links} links from 0 on", .link.0)]
    NoSuchLink {
        /// The link's number.
        link: LinkId,
        /// How many links there are.
        links: usize,
    },
    /// The path, or the return path, visits a link twice.
    #[error("the path visits link \"{link}\" twice, expected once at most")]
    Cycle {
        /// The link's name.
        link: String,
    },
    /// `start` is negative.
    #[error("start is {0}, expected 0 or more")]
    Start(Time),
    /// `start_spread` is negative.
    #[error("start_spread is {0}, expected 0 or more")]
    StartSpread(Span),
    /// `send_jitter` is negative.
    #[error("send_jitter is {0}, expected 0 or more")]
    SendJitter(Span),
    /// `rate_bps` of the source is 0.
    #[error("rate_bps is 0, expected at least 1")]
    SourceRate,
    /// `packet_bytes` of the source is 0.
    #[error("packet_bytes is 0, expected at least 1")]
    PacketBytes,
    /// The source sends more than a packet per nanosecond.
    #[error("rate_bps is {rate_bps}, expected at most {at_most} (a packet per nanosecond)")]
    SourceTooFast {
        /// The source's rate, bits per second.
        rate_bps: u64,
        /// The highest rate for its packets.
        at_most: u64,
    },
    /// `mean_on` is not positive.
    #[error("mean_on is {0}, expected more than 0")]
    MeanOn(Span),
    /// `mean_off` is negative.
    #[error("mean_off is {0}, expected 0 or more")]
    MeanOff(Span),
    /// `turnover.after` is no flow that stands before it.
    #[error("comes after flow number {}, expected one that stands before it in the list", .0.index())]
    After(FlowId),
    /// `turnover.mean_gap` is not positive.
    #[error("mean_gap is {0}, expected more than 0")]
    MeanGap(Span),
    /// `turnover.mean_duration` is not positive.
    #[error("mean_duration is {0}, expected more than 0")]
    MeanDuration(Span),
    /// A Pareto `shape` is not above 1, or not finite.
    #[error("shape is {0}, expected a number above 1")]
    Shape(f64),
    /// A setting of TCP is out of range.
    #[error("{0}")]
    Tcp(tcp::ConfigError),
    /// A setting of TFRC is out of range.
    #[error("{0}")]
    Tfrc(tfrc::ConfigError),
}

pub(super) fn validate(network: &Network) -> Result<(), NetworkError> {
    let sources = network.links.len() + 2 * network.flows.len();
    let most = Schedule::MAX_SOURCES;
    if sources > most {
        return Err(NetworkError::TooLarge { sources, most });
    }
    let mut names = BTreeSet::new();
    for link in &network.links {
        let unique =
            if names.insert(&link.name) { Ok(()) } else { Err(LinkProblem::DuplicateName) };
        unique
            .and_then(|()| validate_link(link))
            .map_err(|problem| NetworkError::Link { link: link.name.clone(), problem })?;
    }
    names.clear();
    for (index, flow) in network.flows.iter().enumerate() {
        let unique =
            if names.insert(&flow.name) { Ok(()) } else { Err(FlowProblem::DuplicateName) };
        unique
            .and_then(|()| validate_flow(flow, &network.links))
            .and_then(|()| {
                flow.turnover.as_ref().map_or(Ok(()), |turnover| validate_turnover(turnover, index))
            })
            .map_err(|problem| NetworkError::Flow { flow: flow.name.clone(), problem })?;
    }
    Ok(())
}

/// A channel that moves on by itself takes one step per slot, whether or not anybody sends: a run
/// of 100 s makes 10^8 steps of a microsecond, in a second or so; shorter ones would take hours
/// unseen.
pub(super) const SHORTEST_SLOT: Span = Span::from_micros(1);

/// Whether links in motion can change from `before` to `after`.
pub(crate) fn validate_change(before: &[LinkSpec], after: &[LinkSpec]) -> Result<(), NetworkError> {
    if before.len() != after.len() {
        return Err(NetworkError::LinksWhileRunning { before: before.len(), after: after.len() });
    }
    for (before, after) in before.iter().zip(after) {
        validate_link(after)
            .and_then(|()| validate_link_change(before, after))
            .map_err(|problem| NetworkError::Link { link: before.name.clone(), problem })?;
    }
    Ok(())
}

fn validate_link_change(before: &LinkSpec, after: &LinkSpec) -> Result<(), LinkProblem> {
    let channels = match (&before.channel, &after.channel) {
        (
            ChannelSpec::Perfect | ChannelSpec::Bernoulli { .. },
            ChannelSpec::Perfect | ChannelSpec::Bernoulli { .. },
        )
        | (ChannelSpec::GilbertElliott { .. }, ChannelSpec::GilbertElliott { .. }) => true,
        (before, after) => before == after,
    };
    let rates = before.rate == after.rate
        && (before.rate == RateSpec::Constant || before.rate_bps == after.rate_bps);
    let same = [
        ("name", before.name == after.name),
        ("varying rate", rates),
        ("delay variation", before.variation == after.variation),
        ("queue discipline", before.queue.can_become(&after.queue)),
        ("kind of channel", channels),
        ("error position", before.error_position == after.error_position),
        ("channel's slots", before.slots == after.slots),
        ("retransmission", before.retransmission == after.retransmission),
        ("reordering", before.reordering == after.reordering),
        ("duplication", before.duplication == after.duplication),
    ];
    same.iter()
        .find(|(_, same)| !same)
        .map_or(Ok(()), |(what, _)| Err(LinkProblem::WhileRunning(what)))
}

fn validate_link(link: &LinkSpec) -> Result<(), LinkProblem> {
    if link.rate_bps == 0 {
        return Err(LinkProblem::Rate);
    }
    if link.delay < Span::ZERO {
        return Err(LinkProblem::Delay(link.delay));
    }
    link.rate.validate().map_err(LinkProblem::RateVariation)?;
    link.variation.validate().map_err(LinkProblem::Variation)?;
    if let Some(RetransmissionSpec { attempts, delay }) = link.retransmission {
        if attempts < 2 {
            return Err(LinkProblem::Attempts(attempts));
        }
        if delay < Span::ZERO {
            return Err(LinkProblem::RetransmissionDelay(delay));
        }
        if link.error_position == ErrorPosition::BeforeQueue {
            return Err(LinkProblem::RetransmissionBeforeQueue);
        }
    }
    if let Some(reordering) = link.reordering {
        reordering.validate().map_err(LinkProblem::Reordering)?;
    }
    if let Some(duplication) = link.duplication {
        duplication.validate().map_err(LinkProblem::Duplication)?;
    }
    match link.slots {
        Slots::PerPacket(0) => return Err(LinkProblem::Slots),
        Slots::PerTime(slot) if slot < SHORTEST_SLOT => {
            return Err(LinkProblem::SlotTooShort(slot));
        }
        Slots::PerPacket(_) | Slots::PerTime(_) => {}
    }
    link.queue.validate().map_err(LinkProblem::Queue)?;
    match &link.channel {
        ChannelSpec::Perfect => {}
        &ChannelSpec::Bernoulli { loss } => {
            if !(0.0..=1.0).contains(&loss) {
                return Err(LinkProblem::Loss { loss, one_allowed: true });
            }
        }
        &ChannelSpec::GilbertElliott { loss, mean_burst_packets } => {
            if !(0.0..1.0).contains(&loss) {
                return Err(LinkProblem::Loss { loss, one_allowed: false });
            }
            let at_least = (loss / (1.0 - loss)).max(1.0);
            if !(at_least..f64::INFINITY).contains(&mean_burst_packets) {
                return Err(LinkProblem::MeanBurst { mean_burst_packets, at_least });
            }
        }
        ChannelSpec::Trace { lost, start } => match *start {
            _ if lost.is_empty() => return Err(LinkProblem::EmptyTrace),
            TraceStart::Slot(start) if start >= lost.len() => {
                return Err(LinkProblem::TraceStart { start, slots: lost.len() });
            }
            TraceStart::DrawnPart(slots) if !(1..=lost.len()).contains(&slots) => {
                return Err(LinkProblem::TracePart { part: slots, slots: lost.len() });
            }
            TraceStart::Slot(_) | TraceStart::Drawn | TraceStart::DrawnPart(_) => {}
        },
        ChannelSpec::Load { points, window } => {
            if points.is_empty() {
                return Err(LinkProblem::LoadTable { point: 0 });
            }
            let mut before = -1.0;
            for (point, &LoadPoint { load, loss }) in points.iter().enumerate() {
                let shares = [load, loss].iter().all(|share| (0.0..=1.0).contains(share));
                if !shares || load <= before {
                    return Err(LinkProblem::LoadTable { point });
                }
                before = load;
            }
            if *window <= Span::ZERO {
                return Err(LinkProblem::LoadWindow(*window));
            }
            if link.error_position == ErrorPosition::BeforeQueue
                || link.slots != Slots::PerPacket(1)
            {
                return Err(LinkProblem::LoadPosition);
            }
        }
    }
    Ok(())
}

fn validate_application(spec: &ApplicationSpec, traffic: &Traffic) -> Result<(), FlowProblem> {
    if !matches!(traffic, Traffic::Tcp { config, .. } if config.limit_pkts.is_none()) {
        return Err(FlowProblem::ApplicationTraffic);
    }
    let waits = match spec.waits {
        Waits::Think { mean, .. } => mean >= Span::ZERO,
        Waits::Play { chunk, buffer } => chunk > Span::ZERO && buffer > Span::ZERO,
    };
    if spec.response_pkts > 0 && waits { Ok(()) } else { Err(FlowProblem::Application) }
}

fn validate_flow(flow: &FlowSpec, links: &[LinkSpec]) -> Result<(), FlowProblem> {
    if flow.path.is_empty() {
        return Err(FlowProblem::EmptyPath);
    }
    for path in [&flow.path, &flow.return_path] {
        let mut visited = BTreeSet::new();
        for &link in path {
            let Some(spec) = links.get(link.index()) else {
                return Err(FlowProblem::NoSuchLink { link, links: links.len() });
            };
            if !visited.insert(link) {
                return Err(FlowProblem::Cycle { link: spec.name.clone() });
            }
        }
    }
    if let Some(application) = &flow.application {
        validate_application(application, &flow.traffic)?;
    }
    if flow.start < Time::ZERO {
        return Err(FlowProblem::Start(flow.start));
    }
    if flow.start_spread < Span::ZERO {
        return Err(FlowProblem::StartSpread(flow.start_spread));
    }
    if flow.send_jitter < Span::ZERO {
        return Err(FlowProblem::SendJitter(flow.send_jitter));
    }
    if flow.return_path.is_empty()
        && matches!(flow.traffic, Traffic::Tcp { .. } | Traffic::Tfrc { .. })
    {
        return Err(FlowProblem::EmptyReturnPath);
    }
    match &flow.traffic {
        Traffic::Tcp { config, .. } => config.validate().map_err(FlowProblem::Tcp)?,
        Traffic::Tfrc { config, lda: _ } => config.validate().map_err(FlowProblem::Tfrc)?,
        &Traffic::Cbr { rate_bps, packet_bytes, lda: _ }
        | &Traffic::Poisson { rate_bps, packet_bytes, lda: _ } => {
            validate_source(rate_bps, packet_bytes)?;
        }
        &Traffic::OnOff { rate_bps, packet_bytes, mean_on, mean_off, lengths, lda: _ } => {
            validate_source(rate_bps, packet_bytes)?;
            if mean_on <= Span::ZERO {
                return Err(FlowProblem::MeanOn(mean_on));
            }
            if mean_off < Span::ZERO {
                return Err(FlowProblem::MeanOff(mean_off));
            }
            validate_lengths(lengths)?;
        }
    }
    Ok(())
}

/// Of the flow in this place of the list.
fn validate_turnover(turnover: &Turnover, index: usize) -> Result<(), FlowProblem> {
    let &Turnover { after, mean_gap, mean_duration, durations } = turnover;
    if let Some(after) = after.filter(|after| after.index() >= index) {
        return Err(FlowProblem::After(after));
    }
    if mean_gap <= Span::ZERO {
        return Err(FlowProblem::MeanGap(mean_gap));
    }
    if let Some(mean) = mean_duration.filter(|mean| *mean <= Span::ZERO) {
        return Err(FlowProblem::MeanDuration(mean));
    }
    validate_lengths(durations)
}

fn validate_lengths(lengths: Lengths) -> Result<(), FlowProblem> {
    match lengths {
        Lengths::Pareto { shape } if !(shape > 1.0 && shape.is_finite()) => {
            Err(FlowProblem::Shape(shape))
        }
        Lengths::Pareto { .. } | Lengths::Exponential => Ok(()),
    }
}

fn validate_source(rate_bps: u64, packet_bytes: u32) -> Result<(), FlowProblem> {
    if rate_bps == 0 {
        return Err(FlowProblem::SourceRate);
    }
    if packet_bytes == 0 {
        return Err(FlowProblem::PacketBytes);
    }
    let at_most = (u64::from(packet_bytes) * 8).saturating_mul(1_000_000_000);
    if rate_bps > at_most {
        return Err(FlowProblem::SourceTooFast { rate_bps, at_most });
    }
    Ok(())
}
