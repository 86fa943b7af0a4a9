//! What makes a network invalid.

use std::collections::BTreeSet;
use std::fmt;

use losscause::{Span, Time};
use losscause_transport::{tcp, tfrc};

use crate::application::{ApplicationSpec, Waits};
use crate::schedule::Schedule;

use super::{
    ChannelSpec, DisorderProblem, ErrorPosition, FlowId, FlowSpec, Lengths, LinkId, LinkSpec,
    LoadPoint, Network, QueueProblem, RateProblem, RateSpec, RetransmissionSpec, Slots, TraceStart,
    Traffic, Turnover, VariationProblem,
};

/// Why a network cannot be simulated. `Display` is one sentence that names link or flow and what
/// was expected.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkError {
    /// A link is wrong.
    Link {
        /// The link's name.
        link: String,
        /// How.
        problem: LinkProblem,
    },
    /// A flow is wrong.
    Flow {
        /// The flow's name.
        flow: String,
        /// How.
        problem: FlowProblem,
    },
    /// The number of links cannot change while the network runs.
    LinksWhileRunning {
        /// Links there are.
        before: usize,
        /// Links that were given.
        after: usize,
    },
    /// More links and flows than event sources: one per link, two per flow.
    TooLarge {
        /// Event sources the network needs.
        sources: usize,
        /// Event sources there can be.
        most: usize,
    },
}

/// How a link is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkProblem {
    /// Another link has the same name.
    DuplicateName,
    /// `rate_bps` is 0.
    Rate,
    /// `delay` is negative.
    Delay(Span),
    /// The delay cannot vary so.
    Variation(VariationProblem),
    /// `loss` is outside its range.
    Loss {
        /// What was given.
        loss: f64,
        /// Whether 1 itself is allowed (not for Gilbert-Elliott).
        one_allowed: bool,
    },
    /// `mean_burst_packets` is too small for the loss, or not a number.
    MeanBurst {
        /// What was given.
        mean_burst_packets: f64,
        /// The least that is possible.
        at_least: f64,
    },
    /// The trace has no slots.
    EmptyTrace,
    /// The trace starts after its end.
    TraceStart {
        /// Slot to start at.
        start: usize,
        /// Slots there are.
        slots: usize,
    },
    /// The trace is to be read in parts that are empty or longer than all of it.
    TracePart {
        /// Slots of a part.
        part: usize,
        /// Slots there are.
        slots: usize,
    },
    /// No slots per packet.
    Slots,
    /// The queue is wrong.
    Queue(QueueProblem),
    /// The rate cannot vary so.
    RateVariation(RateProblem),
    /// A retransmission has fewer than two attempts.
    Attempts(u32),
    /// A retransmission's delay is negative.
    RetransmissionDelay(Span),
    /// The link layer cannot repeat what is lost before the queue.
    RetransmissionBeforeQueue,
    /// Packets cannot be late so.
    Reordering(DisorderProblem),
    /// Packets cannot be doubled so.
    Duplication(DisorderProblem),
    /// The table of losses by load is empty, its loads do not rise from 0 to 1, or a loss is not 0
    /// to 1.
    LoadTable {
        /// The first point that is wrong, counted from 0.
        point: usize,
    },
    /// The window of the load is not positive.
    LoadWindow(Span),
    /// Losses that depend on the load hit before the queue, or have slots.
    LoadPosition,
    /// A value that cannot be changed while the network runs.
    WhileRunning(&'static str),
    /// The channel's slots last less than a microsecond.
    SlotTooShort(Span),
}

/// How a flow is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowProblem {
    /// Another flow has the same name.
    DuplicateName,
    /// An application, but no TCP without a size.
    ApplicationTraffic,
    /// A response of an application has no packets, or a time is out of its range.
    Application,
    /// The path is empty.
    EmptyPath,
    /// The return path is empty, but the traffic needs feedback.
    EmptyReturnPath,
    /// The path, or the return path, names a link that does not exist.
    NoSuchLink {
        /// The link's number.
        link: LinkId,
        /// How many links there are.
        links: usize,
    },
    /// The path, or the return path, visits a link twice.
    Cycle {
        /// The link's name.
        link: String,
    },
    /// `start` is negative.
    Start(Time),
    /// `start_spread` is negative.
    StartSpread(Span),
    /// `send_jitter` is negative.
    SendJitter(Span),
    /// `rate_bps` of the source is 0.
    SourceRate,
    /// `packet_bytes` of the source is 0.
    PacketBytes,
    /// The source sends more than a packet per nanosecond.
    SourceTooFast {
        /// The source's rate, bits per second.
        rate_bps: u64,
        /// The highest rate for its packets.
        at_most: u64,
    },
    /// `mean_on` is not positive.
    MeanOn(Span),
    /// `mean_off` is negative.
    MeanOff(Span),
    /// `turnover.after` is no flow that stands before it.
    After(FlowId),
    /// `turnover.mean_gap` is not positive.
    MeanGap(Span),
    /// `turnover.mean_duration` is not positive.
    MeanDuration(Span),
    /// A Pareto `shape` is not above 1, or not finite.
    Shape(f64),
    /// A setting of TCP is out of range.
    Tcp(tcp::ConfigError),
    /// A setting of TFRC is out of range.
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

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Link { link, problem } => write!(f, "link \"{link}\": {problem}"),
            NetworkError::Flow { flow, problem } => write!(f, "flow \"{flow}\": {problem}"),
            NetworkError::LinksWhileRunning { before, after } => {
                write!(
                    f,
                    "there are {after} links, expected the {before} of the run, whose number cannot change"
                )
            }
            NetworkError::TooLarge { sources, most } => {
                write!(
                    f,
                    "the network needs {sources} event sources (one per link, two per flow), expected at most {most}"
                )
            }
        }
    }
}

impl fmt::Display for LinkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkProblem::DuplicateName => {
                write!(f, "another link has the same name, expected every name once")
            }
            LinkProblem::Rate => write!(f, "rate_bps is 0, expected at least 1"),
            LinkProblem::Delay(delay) => write!(f, "delay is {delay}, expected 0 or more"),
            LinkProblem::Variation(problem) => write!(f, "{problem}"),
            LinkProblem::Loss { loss, one_allowed: true } => {
                write!(f, "loss is {loss}, expected 0 to 1")
            }
            LinkProblem::Loss { loss, one_allowed: false } => {
                write!(f, "loss is {loss}, expected 0 to less than 1")
            }
            LinkProblem::MeanBurst { mean_burst_packets, at_least } => {
                write!(
                    f,
                    "mean_burst_packets is {mean_burst_packets}, expected at least {at_least} at this loss"
                )
            }
            LinkProblem::EmptyTrace => {
                write!(f, "the error trace is empty, expected at least one slot")
            }
            LinkProblem::TraceStart { start, slots } => {
                write!(
                    f,
                    "the error trace starts at slot {start}, expected less than its {slots} slots"
                )
            }
            LinkProblem::TracePart { part, slots } => {
                write!(
                    f,
                    "the error trace is read in parts of {part} slots, expected 1 to its {slots} slots"
                )
            }
            LinkProblem::Queue(problem) => write!(f, "{problem}"),
            LinkProblem::RateVariation(problem) => write!(f, "{problem}"),
            LinkProblem::Attempts(attempts) => {
                write!(
                    f,
                    "retransmission has {attempts} attempts, expected at least 2 (leave it out for none)"
                )
            }
            LinkProblem::RetransmissionDelay(delay) => {
                write!(f, "the delay of a retransmission is {delay}, expected 0 or more")
            }
            LinkProblem::RetransmissionBeforeQueue => {
                write!(
                    f,
                    "retransmission repeats transmissions, but the errors hit before the queue, expected them after the transmission"
                )
            }
            LinkProblem::Reordering(problem) => write!(f, "reordering: {problem}"),
            LinkProblem::Duplication(problem) => write!(f, "duplication: {problem}"),
            LinkProblem::LoadTable { point } => {
                write!(
                    f,
                    "point {point} of the losses by load is wrong, expected rising loads and losses from 0 to 1"
                )
            }
            LinkProblem::LoadWindow(window) => {
                write!(f, "the window of the load is {window}, expected more than 0")
            }
            LinkProblem::LoadPosition => {
                write!(
                    f,
                    "losses depend on the load, expected them after the transmission, one slot per packet"
                )
            }
            LinkProblem::Slots => {
                write!(f, "the channel has no slot per packet, expected at least one")
            }
            LinkProblem::WhileRunning(what) => {
                write!(
                    f,
                    "its {what} cannot change during a run, expected a change of rate, delay, queue settings or loss"
                )
            }
            LinkProblem::SlotTooShort(slot) => {
                write!(f, "the channel's slots last {slot}, expected at least {SHORTEST_SLOT}")
            }
        }
    }
}

impl fmt::Display for FlowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowProblem::DuplicateName => {
                write!(f, "another flow has the same name, expected every name once")
            }
            FlowProblem::ApplicationTraffic => {
                write!(f, "application is set, expected it with TCP without a size only")
            }
            FlowProblem::Application => write!(
                f,
                "application has empty responses, chunks or buffers, expected more than none"
            ),
            FlowProblem::EmptyPath => write!(f, "path is empty, expected at least one link"),
            FlowProblem::EmptyReturnPath => {
                write!(
                    f,
                    "return_path is empty, expected at least one link for traffic with feedback"
                )
            }
            FlowProblem::NoSuchLink { link, links } => {
                write!(
                    f,
                    "the path names link number {}, expected one of the {links} links from 0 on",
                    link.0
                )
            }
            FlowProblem::Cycle { link } => {
                write!(f, "the path visits link \"{link}\" twice, expected once at most")
            }
            FlowProblem::Start(start) => write!(f, "start is {start}, expected 0 or more"),
            FlowProblem::SendJitter(jitter) => {
                write!(f, "send_jitter is {jitter}, expected 0 or more")
            }
            FlowProblem::StartSpread(spread) => {
                write!(f, "start_spread is {spread}, expected 0 or more")
            }
            FlowProblem::SourceRate => write!(f, "rate_bps is 0, expected at least 1"),
            FlowProblem::PacketBytes => write!(f, "packet_bytes is 0, expected at least 1"),
            FlowProblem::SourceTooFast { rate_bps, at_most } => {
                write!(
                    f,
                    "rate_bps is {rate_bps}, expected at most {at_most} (a packet per nanosecond)"
                )
            }
            FlowProblem::MeanOn(mean) => write!(f, "mean_on is {mean}, expected more than 0"),
            FlowProblem::MeanOff(mean) => write!(f, "mean_off is {mean}, expected 0 or more"),
            FlowProblem::After(flow) => {
                write!(
                    f,
                    "comes after flow number {}, expected one that stands before it in the list",
                    flow.0
                )
            }
            FlowProblem::MeanGap(mean) => write!(f, "mean_gap is {mean}, expected more than 0"),
            FlowProblem::MeanDuration(mean) => {
                write!(f, "mean_duration is {mean}, expected more than 0")
            }
            FlowProblem::Shape(shape) => write!(f, "shape is {shape}, expected a number above 1"),
            FlowProblem::Tcp(error) => write!(f, "{error}"),
            FlowProblem::Tfrc(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NetworkError {}
