//! What the algorithms observe, handed on while a capture is read.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use losscause::{Span, Time};

use crate::Vantage;
use crate::selection::Selection;

/// An observation as the algorithms at one end get it: a packet that arrived in order at a
/// receiver, or an acknowledgement at a sender. What an end does not see is none.
///
/// Where a capture was taken is known only when a flow ends, so that both views of every flow are
/// followed, and hand on observations. Only those of the end at which the flow is judged count.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The capture's file.
    pub capture: Arc<str>,
    /// The flow's number, as in [`Flow::id`](crate::Flow::id).
    pub flow: u64,
    /// Whose view it is: the sender's or the receiver's.
    pub end: Vantage,
    /// Seconds after the capture's first packet; packets that a host handed up together have one
    /// time.
    pub time_s: f64,
    /// At a receiver: the packet's number. Full packets of TCP are counted from the first one; RTP
    /// and QUIC have their own.
    pub packet: Option<u64>,
    /// Trip time, milliseconds: from sender to receiver, of which only differences mean anything,
    /// or there and back.
    pub trip_ms: Option<f64>,
    /// What the trip took longer than the shortest one so far, milliseconds.
    pub queueing_ms: Option<f64>,
    /// Since the observation before it, milliseconds.
    pub spacing_ms: Option<f64>,
    /// Packets missing in front of it.
    pub missing: Option<u64>,
    /// At a sender: packets that the acknowledgement tells of.
    pub spanned: Option<u64>,
    /// At a sender: packets in flight behind the acknowledgement.
    pub in_flight: Option<u64>,
    /// At a sender: the window, packets, as far as a capture can tell.
    pub window: Option<f64>,
}

/// Who gets the observations of an analysis.
#[derive(Clone)]
pub struct Observer(Arc<Mutex<Observe>>);

type Observe = dyn FnMut(&Observation) + Send;

impl Observer {
    /// `observe` is called for every observation.
    pub fn new(observe: impl FnMut(&Observation) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(observe)))
    }

    fn tell(&self, observation: &Observation) {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))(observation);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// What all flows of a capture share to number themselves and to hand on observations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    capture: Arc<str>,
    observer: Option<Observer>,
    /// Only these flows.
    selection: Selection,
    /// Flows that have a number.
    flows: Arc<AtomicU64>,
    /// When the capture began, by its clock, nanoseconds.
    begun: Arc<AtomicI64>,
}

impl Watch {
    pub(crate) fn new(capture: &str, observer: Option<Observer>, selection: Selection) -> Self {
        Self { capture: capture.into(), observer, selection, ..Self::default() }
    }

    /// The number of a new flow, from 1 on.
    pub(crate) fn number(&self) -> u64 {
        self.flows.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The capture, or another trace of it, begins.
    pub(crate) fn begin(&self, at: Time) {
        self.begun.store(at.as_nanos(), Ordering::Relaxed);
    }

    /// Whether a flow between these ends is to be observed.
    pub(crate) fn wants(&self, ends: &[crate::packet::Endpoint; 2]) -> bool {
        self.observer.is_some()
            && (self.selection.is_all()
                || self.selection.has([&ends[0].to_string(), &ends[1].to_string()]))
    }

    /// A log for one end of a flow; none if nobody observes.
    pub(crate) fn log(&self, flow: u64, end: Vantage) -> Option<Log> {
        let observer = self.observer.clone()?;
        let begun = Time::from_nanos(self.begun.load(Ordering::Relaxed));
        Some(Log { capture: self.capture.clone(), observer, flow, end, begun, last: None })
    }
}

/// The observations at one end of a flow.
#[derive(Debug)]
pub(crate) struct Log {
    capture: Arc<str>,
    observer: Observer,
    flow: u64,
    end: Vantage,
    begun: Time,
    /// The time of the newest one, and the number of its packet.
    last: Option<(Time, Option<u64>)>,
}

/// What a trip took, and longer than the shortest one.
pub(crate) type Trip = Option<(Span, Option<f64>)>;

impl Log {
    /// A packet arrived in order.
    pub(crate) fn on_arrival(&mut self, now: Time, packet: u64, trip: Trip) {
        let missing = self.last.and_then(|(_, before)| packet.checked_sub(before? + 1));
        // Farther ahead the stream began anew.
        let missing = missing.filter(|missing| *missing <= losscause::arrivals::MAX_JUMP_PKTS);
        let observation =
            Observation { packet: Some(packet), missing, ..self.observation(now, trip) };
        self.observer.tell(&observation);
        self.last = Some((now, Some(packet)));
    }

    /// An acknowledgement arrived.
    pub(crate) fn on_ack(&mut self, sample: &losscause::Observation, trip: Trip) {
        let observation = Observation {
            missing: Some(sample.missing.into()),
            spanned: Some(sample.spanned.into()),
            in_flight: Some(sample.in_flight_pkts()),
            window: sample.cwnd_pkts(),
            ..self.observation(sample.at, trip)
        };
        self.observer.tell(&observation);
        self.last = Some((sample.at, None));
    }

    fn observation(&self, now: Time, trip: Trip) -> Observation {
        Observation {
            capture: self.capture.clone(),
            flow: self.flow,
            end: self.end,
            time_s: (now - self.begun).as_secs_f64(),
            packet: None,
            trip_ms: trip.map(|(trip, _)| trip.as_millis_f64()),
            queueing_ms: trip.and_then(|(_, queueing_ms)| queueing_ms),
            spacing_ms: self.last.map(|(before, _)| (now - before).as_millis_f64()),
            missing: None,
            spanned: None,
            in_flight: None,
            window: None,
        }
    }
}
