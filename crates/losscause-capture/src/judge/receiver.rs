//! The algorithms at a receiver, all behind one of the core's trackers: a
//! [`Differentiator`](losscause::Differentiator) for each would track every packet as often.

use losscause::lda::BoxedAlgorithm;
use losscause::verdict::Input;
use losscause::{
    Algorithm, ArrivalTracker, End, Judgement, Loss, Numbers, Observation, Observed, Packet, Time,
};

use super::batch::Batches;
use super::frames::Frames;
use super::waiting::Waiting;
use super::{Opinions, Sample, SenderClock, Skew, Trips, Words};
use crate::flow::Rules;
use crate::observe::Log;

/// Feeds packets in the order of their arrival, and collects opinions about gaps.
#[derive(Debug, Default)]
pub(crate) struct AtReceiver {
    ldas: Vec<Option<BoxedAlgorithm>>,
    words: Words,
    tracker: ArrivalTracker,
    /// Packets that the algorithms have not got; none from the first gap on.
    waiting: Option<Waiting>,
    clock: SenderClock,
    /// Of a stream whose timestamps are those of frames.
    frames: Option<Frames>,
    batches: Batches,
    /// Number, arrival and timestamp of the packets that came before the rate of the sender's clock
    /// was known.
    held: Vec<(u64, Time, u32)>,
    trips: Trips,
    /// The highest number.
    newest: Option<u64>,
    /// Whether a departure was known without the sender's clock.
    knows_departures: bool,
    log: Option<Log>,
}

/// When a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// Nothing tells.
    Unknown,
    /// The sender's timestamp.
    Stamp(u32),
    /// By another capture, whose clock may differ by any amount.
    At(Time),
}

impl From<Option<u32>> for Departure {
    fn from(stamp: Option<u32>) -> Self {
        stamp.map_or(Self::Unknown, Self::Stamp)
    }
}

/// So many packets are held at most.
const MAX_HELD_PKTS: usize = 256;

impl AtReceiver {
    pub(crate) fn new(rules: &Rules, clock: SenderClock) -> Self {
        let skew = (!rules.keep_skew).then(Skew::default);
        Self {
            ldas: rules.chosen.at(End::Receiver),
            words: rules.words.clone(),
            waiting: Some(Waiting::default()),
            frames: clock.counts_frames().then(Frames::default),
            clock,
            trips: Trips::one_way(rules.budget.as_ref(), skew),
            ..Self::default()
        }
    }

    /// Hands on what the algorithms get.
    pub(crate) fn observe_with(&mut self, log: Option<Log>) {
        self.log = log;
    }

    /// Tells the sender's clock of a timestamp without an arrival for the algorithms: of a SYN.
    pub(crate) fn on_timestamp(&mut self, now: Time, timestamp: u32) {
        self.clock.observe(timestamp, now);
    }

    /// Packet `number` arrived at `now`. If numbers before it are missing, returns the opinions
    /// about each of them.
    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        number: u64,
        now: Time,
        departure: Departure,
    ) -> Option<Opinions> {
        match (departure, self.clock.rate_hz()) {
            (Departure::Stamp(timestamp), None) => self.hold(number, now, timestamp),
            _ => self.feed(number, now, departure),
        }
    }

    /// Keeps a packet until the rate of the sender's clock is known: its trip time is among those
    /// that the algorithms learn the empty path from. A gap cannot wait; then the likeliest rate is
    /// taken.
    #[cold]
    fn hold(&mut self, number: u64, now: Time, timestamp: u32) -> Option<Opinions> {
        let gap = self.held.last().is_some_and(|last| number != last.0 + 1);
        self.held.push((number, now, timestamp));
        let known = self.clock.observe(timestamp, now).is_some();
        if !known && !gap && self.held.len() < MAX_HELD_PKTS {
            return None;
        }
        self.clock.settle();
        let held = std::mem::take(&mut self.held);
        held.into_iter()
            .filter_map(|(number, now, timestamp)| {
                self.feed(number, now, Departure::Stamp(timestamp))
            })
            .last()
    }

    #[inline]
    fn feed(&mut self, number: u64, now: Time, departure: Departure) -> Option<Opinions> {
        let at = self.batches.time_of(now);
        let (timestamp, departure) = match departure {
            Departure::Unknown => (None, None),
            Departure::Stamp(timestamp) => (Some(timestamp), self.clock.read(timestamp, now)),
            Departure::At(sent) => {
                self.knows_departures = true;
                (None, Some(sent))
            }
        };
        if self.newest.is_some_and(|newest| number > newest.saturating_add(1)) {
            self.trips.on_gap();
        }
        self.newest = self.newest.max(Some(number));
        let begins = |frames: &mut Frames| {
            timestamp.is_none_or(|timestamp| frames.begins(number, timestamp))
        };
        let trip = if self.frames.as_mut().is_none_or(begins) {
            self.trips.take(at, departure.map(|departure| at - departure))
        } else {
            self.trips.resolved()
        };
        // The algorithms subtract the departure from the arrival: the trip as it counts goes into
        // the departure.
        let sent = trip.map(|trip| at - trip);
        if let Some(log) = &mut self.log {
            log.on_arrival(at, number, self.trips.latest_and_queueing());
        }
        let packet = Packet { seq: number, at, sent };
        if let Some(waiting) = &mut self.waiting {
            if waiting.take(packet) {
                return None;
            }
            self.end_wait();
        }
        self.observe(packet)
    }

    /// Hands on what has waited.
    #[cold]
    fn end_wait(&mut self) {
        for packet in self.waiting.take().iter().flat_map(Waiting::packets) {
            self.observe(packet);
        }
    }

    #[inline]
    fn observe(&mut self, packet: Packet) -> Option<Opinions> {
        let observation = match self.tracker.observe(packet) {
            Observed::InOrder(observation) => observation,
            Observed::Late => {
                let late = Numbers::one(packet.seq);
                self.ldas.iter_mut().flatten().for_each(|lda| lda.take_back(late));
                return None;
            }
            Observed::Duplicate => return None,
        };
        self.ldas.iter_mut().flatten().for_each(|lda| lda.observe(&observation));
        if observation.reveals_gap() { self.judge(&observation) } else { None }
    }

    /// A gap has one verdict: the same arrival reveals every packet of it, and the first is judged.
    /// None if no algorithm runs.
    #[cold]
    fn judge(&self, observation: &Observation) -> Option<Opinions> {
        self.ldas.iter().flatten().next()?;
        let first = observation.seq - u64::from(observation.missing);
        let loss = Loss::in_gap(first, *observation);
        Some(self.opinions(observation.at, |lda| lda.judge(&loss)))
    }

    /// The opinions about a gap before the first arrival: there are none.
    #[cold]
    pub(crate) fn no_opinions(&self) -> Opinions {
        self.opinions(Time::ZERO, |_| NOT_RUN)
    }

    fn opinions(&self, at: Time, ask: impl Fn(&BoxedAlgorithm) -> Judgement) -> Opinions {
        let of = |lda: &Option<BoxedAlgorithm>| lda.as_ref().map_or(NOT_RUN, &ask);
        self.words.opinions(
            self.ldas.iter().map(of),
            [self.trips.latest(), self.trips.before_loss(None)],
            self.trips.queue_at_loss(at, None),
        )
    }

    /// The sender began anew: nothing ties its clock to that of before.
    pub(crate) fn begin_anew(&mut self) {
        self.frames = self.frames.map(|_| Frames::default());
        self.newest = None;
        self.trips.begin_anew();
    }

    /// Why the algorithm in place `index` cannot judge this flow; none if it can.
    pub(crate) fn unmet_need(&self, index: usize, merged: bool) -> Option<String> {
        let Some(lda) = self.ldas.get(index)?.as_ref() else {
            return Some("it runs at a sender, and this capture was not taken there".to_owned());
        };
        let needs = lda.needs();
        if needs.delay && self.clock.rate_hz().is_none() && !self.knows_departures {
            return Some(
                "it needs the sender's timestamp in every packet, and the flow has none".to_owned(),
            );
        }
        if needs.spacing && merged {
            return Some(
                "it needs every packet's own arrival time, and packets were merged before the capture".to_owned(),
            );
        }
        None
    }

    /// The drift of the sender's clock against the capture's, seconds per second, if it was found.
    pub(crate) fn drift(&self) -> Option<f64> {
        self.trips.drift()
    }

    /// The trip times of the packets.
    pub(crate) fn delays(&self) -> &Sample {
        self.trips.sample()
    }

    /// The trip times, at the end of the flow.
    pub(crate) fn into_trips(self) -> Trips {
        self.trips
    }

    /// Packets that came in a batch behind another one.
    pub(crate) fn joined(&self) -> u64 {
        self.batches.joined()
    }
}

/// The place of an algorithm that does not run here, or was not asked because the stream began
/// anew.
const NOT_RUN: Judgement = Judgement::without(Input::Earlier);
