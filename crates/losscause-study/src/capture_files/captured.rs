//! From the events of a run to what its captures hold.

use losscause::{Span, Time};
use losscause_sim::{Detail, Event, EventKind, LinkEvent, LinkId, PacketInfo, Recorder};

use super::Direction;
use super::drops::Dropped;
use super::flow::Flow;
use super::taps::{Sight, Tap};
use crate::Experiment;
use crate::run::Trace;
use crate::trace_file::Filter;

/// What keeps the packets that are captured and those that are dropped.
pub(super) trait Sink {
    /// A packet passes a tap. Packets come in order of time.
    fn capture(&mut self, sight: Sight);

    /// A packet is dropped or corrupted.
    fn drop(&mut self, dropped: &Dropped<'_>);
}

/// The captures of a run.
#[derive(Debug)]
pub(super) struct Captured<'a, S> {
    experiment: &'a Experiment,
    filter: Filter,
    flows: Vec<Flow>,
    trace: Trace,
    /// How long before its flow's first packet a handshake may begin.
    ahead: Span,
    /// Packets of handshakes that are still to be written.
    handshakes: Vec<Sight>,
    sink: S,
}

impl<'a, S: Sink> Captured<'a, S> {
    pub(super) fn new(experiment: &'a Experiment, flows: Vec<Flow>, sink: S) -> Self {
        let ahead = flows.iter().filter_map(|flow| Some(flow.handshake.as_ref()?.lasts())).max();
        Self {
            experiment,
            filter: Filter::default(),
            flows,
            trace: Trace::default(),
            ahead: ahead.unwrap_or(Span::ZERO),
            handshakes: Vec::new(),
            sink,
        }
    }

    pub(super) fn filtered(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Hands on what was captured up to `until`. What may come after the handshake of a later flow
    /// waits.
    pub(super) fn write_until(&mut self, until: Time) {
        let until = if until == Time::MAX { until } else { until - self.ahead };
        self.handshakes.sort_by_key(|sight| sight.at);
        let mut handshakes = self.handshakes.iter().peekable();
        let mut written = 0;
        for event in self.trace.take(until) {
            while let Some(sight) = handshakes.next_if(|sight| sight.at <= event.at) {
                self.sink.capture(*sight);
                written += 1;
            }
            let flow = &mut self.flows[event.flow.0 as usize];
            handle(&event, flow, self.experiment, &mut self.sink);
        }
        while let Some(sight) = handshakes.next_if(|sight| sight.at <= until) {
            self.sink.capture(*sight);
            written += 1;
        }
        self.handshakes.drain(..written);
    }

    /// Hands on the rest.
    pub(super) fn finish(mut self) -> S {
        self.write_until(Time::MAX);
        self.sink
    }
}

impl<S: Sink> Recorder for Captured<'_, S> {
    fn detail(&self) -> Detail {
        Detail::Headers
    }

    fn record(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::Cwnd(_) | EventKind::Rate(_))
            || !self.filter.keeps(event)
        {
            return;
        }
        if matches!(event.kind, EventKind::Header(_)) {
            let flow = &mut self.flows[event.flow.0 as usize];
            if let Some(handshake) = flow.handshake.take() {
                self.handshakes.extend(flow.open(&handshake, event.at));
            }
        }
        self.trace.record(event);
    }
}

/// Takes in an event of `flow`, in order of time.
fn handle(event: &Event, flow: &mut Flow, experiment: &Experiment, sink: &mut impl Sink) {
    let at = event.at;
    match &event.kind {
        EventKind::Header(header) => flow.send(at, header),
        EventKind::Sent(info) => {
            let direction = Direction::of(info.kind);
            if let Some(packet) = flow.underway(direction).find(info) {
                let tap = if direction == Direction::Forward { Tap::Sender } else { Tap::Receiver };
                sink.capture(Sight { at, tap, packet: *packet });
            }
        }
        EventKind::Received(info) => {
            if let Some(sight) = flow.receive(at, info) {
                sink.capture(sight);
            }
        }
        EventKind::Link { link, what, packet, .. } => {
            at_link(at, *link, *what, packet, flow, experiment, sink);
        }
        EventKind::Cwnd(_) | EventKind::Rate(_) | EventKind::Verdict { .. } => {}
    }
}

/// A link did something to a packet of `flow`.
fn at_link(
    at: Time,
    link: LinkId,
    what: LinkEvent,
    info: &PacketInfo,
    flow: &mut Flow,
    experiment: &Experiment,
    sink: &mut impl Sink,
) {
    match what {
        LinkEvent::Mark => flow.mark(info),
        LinkEvent::Duplicate => flow.underway(Direction::of(info.kind)).copy(info),
        LinkEvent::TransmitStart | LinkEvent::Deliver => {
            if let Some(sight) = flow.pass(at, link, what, info) {
                sink.capture(sight);
            }
        }
        LinkEvent::QueueDrop | LinkEvent::Corrupted => {
            if let Some(dropped) = flow.lose(at, link, what, info, &experiment.network) {
                sink.drop(&dropped);
            }
        }
        LinkEvent::Enqueue => {}
    }
}
