//! A curve: the values of flows or of a link, collected and then arranged over time.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_sim::{Event, EventKind, FlowId, Network, PacketKind, Traffic};

use super::{Of, RecordedCurve};
use crate::papers::record::{CurveSpec, Track};

/// Most points of a curve whose values hold; more cannot be seen. Of the values within one step of
/// time the last is kept.
const STEPS: f64 = 1000.0;

/// A curve under construction. Events do not come in order of time.
pub(super) struct Curve {
    of: Of,
    show: Track,
    /// The receivers' windows of the flows, packets.
    limits: Vec<f64>,
    taken: Vec<Taken>,
}

/// One change of value: of a flow, by its index among the curve's flows, or of the link.
#[derive(Clone, Copy)]
struct Taken {
    at: Time,
    place: usize,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Value(f64),
    Sent(u64),
    SentAgain(u64),
    Acknowledged(u64),
}

impl Curve {
    pub(super) fn new(spec: &CurveSpec, network: &Network) -> Option<Self> {
        let of = Of::curve(spec, network).ok()?;
        let limit = |flow: &FlowId| match &network.flows[flow.0 as usize].traffic {
            Traffic::Tcp { config, .. } => f64::from(config.max_window_pkts),
            Traffic::Tfrc { .. }
            | Traffic::Cbr { .. }
            | Traffic::OnOff { .. }
            | Traffic::Poisson { .. } => f64::INFINITY,
        };
        let limits = match &of {
            Of::Flows(flows) => flows.iter().map(limit).collect(),
            Of::Link(_) => vec![],
        };
        Some(Self { of, show: spec.show, limits, taken: vec![] })
    }

    pub(super) fn take(&mut self, event: &Event) {
        let place = match &self.of {
            Of::Link(_) => Some(0),
            Of::Flows(flows) => flows.iter().position(|flow| *flow == event.flow),
        };
        let Some(place) = place else { return };
        let what = match (&self.of, self.show, event.kind) {
            (Of::Link(wanted), Track::Queue, EventKind::Link { link, queue_packets, .. })
                if link == *wanted =>
            {
                What::Value(f64::from(queue_packets))
            }
            (_, Track::Cwnd, EventKind::Cwnd(packets)) => {
                What::Value(packets.min(self.limits[place]))
            }
            (_, Track::Sequence | Track::Rtt, EventKind::Sent(packet))
                if packet.kind == PacketKind::Data =>
            {
                What::Sent(packet.seq)
            }
            (_, Track::Sequence | Track::Rtt, EventKind::Sent(packet))
                if packet.kind == PacketKind::Retransmission =>
            {
                What::SentAgain(packet.seq)
            }
            (_, Track::Rtt, EventKind::Received(packet)) if packet.kind == PacketKind::Ack => {
                What::Acknowledged(packet.seq)
            }
            _ => return,
        };
        self.taken.push(Taken { at: event.at, place, what });
    }

    pub(super) fn finish(mut self, spec: &CurveSpec, window: (Time, Time)) -> RecordedCurve {
        // The sort is stable: simultaneous events keep the simulator's order.
        self.taken.sort_by_key(|taken| taken.at);
        let holds = matches!(self.show, Track::Cwnd | Track::Queue);
        let of_value = || held(&mean(&self.taken), window);
        let (points, mean) = match self.show {
            Track::Cwnd | Track::Queue => {
                (thinned(&of_value(), window), over_time(&of_value(), window.1))
            }
            Track::Sequence => (within(sequence(&self.taken), window), None),
            Track::Rtt => (within(round_trips(&self.taken), window), None),
        };
        let points = points.into_iter().map(|(at, value)| (at.as_secs_f64(), value)).collect();
        RecordedCurve {
            name: spec.name.clone(),
            unit: self.show.unit().to_owned(),
            holds,
            points,
            mean,
        }
    }
}

/// The mean over time; each value holds until the next.
fn over_time(points: &[(Time, f64)], end: Time) -> Option<f64> {
    let ends = points.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let lasting =
        points.iter().zip(ends).map(|((at, value), end)| ((end - *at).as_secs_f64(), *value));
    let (seconds, sum) = lasting
        .fold((0.0, 0.0), |(all, sum), (seconds, value)| (all + seconds, sum + seconds * value));
    (seconds > 0.0).then(|| sum / seconds)
}

/// The mean of the current values of all flows, at every change.
fn mean(taken: &[Taken]) -> Vec<(Time, f64)> {
    let mut now: Vec<Option<f64>> = Vec::new();
    let mut means = Vec::with_capacity(taken.len());
    for Taken { at, place, what } in taken {
        let What::Value(value) = what else { continue };
        now.resize(now.len().max(place + 1), None);
        now[*place] = Some(*value);
        let (sum, count) =
            now.iter().flatten().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        means.push((*at, sum / count));
    }
    means
}

fn sequence(taken: &[Taken]) -> Vec<(Time, f64)> {
    let sent = |taken: &Taken| match taken.what {
        What::Sent(seq) | What::SentAgain(seq) => Some((taken.at, seq as f64)),
        What::Value(_) | What::Acknowledged(_) => None,
    };
    taken.iter().filter_map(sent).collect()
}

/// Round-trip times, ms. A retransmitted packet gives none, because the acknowledged copy is
/// unknown (Karn's rule). An acknowledgement of several packets gives none, because it may have
/// waited for a missing packet.
fn round_trips(taken: &[Taken]) -> Vec<(Time, f64)> {
    let mut sent = BTreeMap::new();
    let mut acknowledged: BTreeMap<usize, u64> = BTreeMap::new();
    let mut times = Vec::new();
    for Taken { at, place, what } in taken {
        match *what {
            What::Sent(seq) => {
                sent.insert((*place, seq), *at);
            }
            What::SentAgain(seq) => {
                sent.remove(&(*place, seq));
            }
            What::Acknowledged(next) => {
                let before = acknowledged.insert(*place, next).unwrap_or(0);
                let one = next.checked_sub(1).filter(|seq| *seq == before);
                if let Some(start) = one.and_then(|seq| sent.remove(&(*place, seq))) {
                    times.push((*at, (*at - start).as_secs_f64() * 1e3));
                }
            }
            What::Value(_) => {}
        }
    }
    times
}

fn within(points: Vec<(Time, f64)>, (from, to): (Time, Time)) -> Vec<(Time, f64)> {
    points.into_iter().filter(|(at, _)| (from..=to).contains(at)).collect()
}

/// The values within the window, and at its start the value that holds there.
fn held(points: &[(Time, f64)], (from, to): (Time, Time)) -> Vec<(Time, f64)> {
    let begun = points.partition_point(|(at, _)| *at <= from);
    let first = begun.checked_sub(1).map(|last| (from, points[last].1));
    first
        .into_iter()
        .chain(points[begun..].iter().copied().take_while(|(at, _)| *at <= to))
        .collect()
}

/// The last value of every step of time.
fn thinned(points: &[(Time, f64)], (from, to): (Time, Time)) -> Vec<(Time, f64)> {
    let step = (to - from).as_secs_f64() / STEPS;
    let place = |at: Time| ((at - from).as_secs_f64() / step).floor();
    let ends = points
        .iter()
        .zip(points.iter().skip(1))
        .filter(|((at, _), (next, _))| place(*at) != place(*next));
    ends.map(|(point, _)| *point).chain(points.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_nanos((seconds * 1e9) as i64)
    }

    fn taken(seconds: f64, place: usize, what: What) -> Taken {
        Taken { at: at(seconds), place, what }
    }

    #[test]
    fn the_window_of_a_group_is_the_mean_of_those_that_have_begun() {
        let events = [
            taken(1.0, 1, What::Value(4.0)),
            taken(2.0, 0, What::Value(2.0)),
            taken(3.0, 1, What::Value(8.0)),
        ];
        assert_eq!(mean(&events), [(at(1.0), 4.0), (at(2.0), 3.0), (at(3.0), 5.0)]);
    }

    #[test]
    fn a_round_trip_time_is_of_one_packet_that_was_sent_once() {
        let events = [
            taken(1.0, 0, What::Sent(0)),
            taken(1.1, 0, What::Sent(1)),
            taken(1.25, 0, What::Acknowledged(1)),
            taken(2.0, 0, What::SentAgain(1)),
            taken(2.1, 0, What::Acknowledged(2)),
            // Neither a duplicate acknowledgement nor one of three packets gives a round-trip time.
            taken(2.2, 0, What::Acknowledged(2)),
            taken(2.3, 0, What::Sent(4)),
            taken(2.5, 0, What::Acknowledged(5)),
        ];
        let times = round_trips(&events);
        assert_eq!(times.len(), 1);
        assert!(times[0].0 == at(1.25) && (times[0].1 - 250.0).abs() < 1e-6, "{times:?}");
        let sent: Vec<f64> = sequence(&events).into_iter().map(|(_, seq)| seq).collect();
        assert_eq!(sent, [0.0, 1.0, 1.0, 4.0]);
    }

    #[test]
    fn a_value_that_holds_is_there_from_the_beginning_of_the_window() {
        let points = [(at(1.0), 4.0), (at(3.0), 6.0), (at(9.0), 2.0)];
        assert_eq!(held(&points, (at(2.0), at(5.0))), [(at(2.0), 4.0), (at(3.0), 6.0)]);
        assert_eq!(held(&points, (at(0.5), at(2.0))), [(at(1.0), 4.0)]);
        assert_eq!(within(points.to_vec(), (at(2.0), at(5.0))), [(at(3.0), 6.0)]);
    }

    #[test]
    fn a_mean_over_time_weighs_values_by_how_long_they_hold() {
        let points = [(at(1.0), 4.0), (at(4.0), 8.0)];
        assert_eq!(over_time(&points, at(5.0)), Some(5.0));
        assert_eq!(over_time(&points[..1], at(1.0)), None);
        assert_eq!(over_time(&[], at(1.0)), None);
    }

    #[test]
    fn values_too_many_to_see_are_thinned_to_the_last_of_each_step() {
        let points: Vec<(Time, f64)> =
            (0..100_000).map(|k| (at(f64::from(k) * 1e-5), f64::from(k))).collect();
        let window = (at(0.0), at(1.0));
        let thin = thinned(&points, window);
        assert!(thin.len() <= STEPS as usize + 1, "{}", thin.len());
        assert_eq!(thin.last(), points.last());
        assert_eq!(thinned(&points[..2], window).len(), 1);
        assert!(thinned(&[], window).is_empty());
    }
}
