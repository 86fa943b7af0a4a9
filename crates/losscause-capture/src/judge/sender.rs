//! The algorithms at a sender: fed with acknowledgement samples from a capture's scoreboard.

use losscause::ack::{Gaps, RecoveryTracker};
use losscause::lda::BoxedAlgorithm;
use losscause::observe::Newest;
use losscause::verdict::Input;
use losscause::{
    Acked, Algorithm, End, Judgement, Loss, Needs, Numbers, Observation, Signal, Span, Time,
};

use super::cumulative::Cumulative;
use super::{Opinions, Sample, Trips, Words};
use crate::flow::Rules;
use crate::observe::Log;

/// Feeds acknowledgements, and asks about losses.
#[derive(Debug, Default)]
pub(crate) struct AtSender {
    ldas: Vec<Option<BoxedAlgorithm>>,
    words: Words,
    gaps: Gaps,
    newest: Newest,
    trips: Trips,
    cumulative: Cumulative,
    recoveries: RecoveryTracker,
    log: Option<Log>,
}

/// What an acknowledgement told, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AckEvent {
    pub(crate) rtt: Option<Span>,
    pub(crate) newly_acked: u64,
    pub(crate) spanned: u32,
    pub(crate) newly_missing: u32,
    /// The first and the last of the newly missing packets.
    pub(crate) missing: Option<(u64, u64)>,
    pub(crate) in_flight: u64,
    /// Packets in flight before it: the window, as far as a capture can tell.
    pub(crate) flight: u64,
}

impl AtSender {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self {
            ldas: rules.chosen.at(End::Sender),
            words: rules.words.clone(),
            trips: Trips::round(rules.budget.as_ref()),
            ..Self::default()
        }
    }

    /// Hands on what the algorithms get.
    pub(crate) fn observe_with(&mut self, log: Option<Log>) {
        self.log = log;
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, event: &AckEvent) {
        let mut acked = Acked::new(event.newly_acked);
        acked.missing = event.missing.map(|(first, last)| Numbers { first, last });
        acked.in_flight_pkts = event.in_flight;
        acked.cwnd_pkts = Some(event.flight as f64);
        let spans = [event.spanned, event.newly_missing];
        let sample = self.newest.advance(now, event.rtt, spans).with_acked(acked);
        // Until the first range, nothing told that there would be any.
        if let Some(waited) = self.cumulative.end_wait(event.newly_missing == 0) {
            self.on_sample(&waited);
        }
        self.on_sample(&sample);
    }

    /// As [`Self::on_ack`], for an acknowledgement that names no ranges; the sample is the core's.
    #[inline]
    pub(crate) fn on_cumulative_ack(&mut self, sample: Observation) {
        for sample in self.cumulative.on_ack(sample).into_iter().flatten() {
            self.on_sample(&sample);
        }
    }

    /// As [`Self::on_ack`], with a sample that the core made.
    #[inline]
    pub(crate) fn on_sample(&mut self, sample: &Observation) {
        let mut counted = *sample;
        if sample.missing > 0 {
            self.trips.on_gap();
        }
        if sample.delay.is_some() {
            counted.delay = self.trips.take(sample.at, sample.delay);
        }
        if let Some(log) = &mut self.log {
            log.on_ack(&counted, sample.delay.and_then(|_| self.trips.latest_and_queueing()));
        }
        self.ldas.iter_mut().flatten().for_each(|lda| lda.observe(&counted));
        self.gaps.observe(&counted);
        // Verdicts are asked for at the loss, so a revised one comes too late.
        if let Some(ended) =
            sample.delay.and_then(|rtt| self.recoveries.on_ack(sample.at, sample.at - rtt))
        {
            self.ldas.iter_mut().flatten().for_each(|lda| _ = lda.on_recovered(&ended));
        }
    }

    /// The least round-trip time.
    pub(crate) fn least_rtt(&self) -> Option<Span> {
        self.trips.least()
    }

    /// The shortest round-trip time, though no other supports it.
    pub(crate) fn lowest_rtt(&self) -> Option<Span> {
        self.trips.lowest()
    }

    /// The round-trip times of the acknowledgements.
    pub(crate) fn delays(&self) -> &Sample {
        self.trips.sample()
    }

    /// The same, at the end of the flow.
    pub(crate) fn into_trips(self) -> Trips {
        self.trips
    }

    /// Declares packet `number` lost and asks about it. Without a number the newest gap is judged.
    /// A signal that means congestion by itself asks no algorithm.
    #[cold]
    pub(crate) fn declare(
        &mut self,
        now: Time,
        number: Option<u64>,
        sent: Option<Time>,
        flight: u64,
        signal: Signal,
    ) -> Opinions {
        let mut loss = Loss::new(now, signal);
        loss.numbers = number.map(Numbers::one);
        loss.sent_at = sent;
        loss.in_flight_pkts = flight;
        loss.cwnd_pkts = Some(flight as f64);
        self.recoveries.on_loss(&loss);
        self.trips.on_loss(now, sent);
        let gaps = &self.gaps;
        let ask = |lda: &mut Option<BoxedAlgorithm>| {
            let Some(lda) = lda else { return NOT_RUN };
            lda.on_loss(&loss);
            if signal.means_congestion() {
                return Judgement::signalled(signal);
            }
            gaps.judge(lda, &loss)
        };
        // What a timer reveals was lost long after the newest round trip.
        let trip = self.trips.latest().filter(|_| !signal.means_congestion());
        let queue = trip.and_then(|_| self.trips.queue_at_loss(now, sent));
        let before = trip.and_then(|_| self.trips.before_loss(sent));
        self.words.opinions(self.ldas.iter_mut().map(ask), [trip, before], queue)
    }

    /// Why the algorithm in place `index` cannot judge this flow; none if it can.
    pub(crate) fn unmet_need(&self, index: usize, selective: bool) -> Option<String> {
        let lda = self.ldas.get(index)?.as_ref()?;
        let mut provided = Needs::NONE.with_delay().with_spacing().with_cwnd();
        provided.gap_size = selective;
        let missing = lda.needs().first_missing_from(provided)?;
        Some(format!("it needs {missing}, and the capture does not have that"))
    }
}

/// The place of an algorithm that does not run at senders.
const NOT_RUN: Judgement = Judgement::without(Input::Other("an end that it runs at"));
