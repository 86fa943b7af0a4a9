//! The timeline of a flow of a capture: queue in time and bytes, rate beside what the path takes,
//! and sequence numbers over one time axis, with every loss.
//!
//! Colour and shape of a mark tell the cause that was named, else the verdict: the true cause is
//! not known.

use losscause::Verdict;
use losscause_capture::{Flow, Loss, LossKind, OverTime, Protocol, Step};

use super::chart::{At, Legend, Shape, Stroke};
use super::marks::Mark;
use super::time::{Curve, Drawing, Lane, Panel};

/// Losses of one look that are closer in a panel are one mark.
const SPOT: (f64, f64) = (4.5, 7.5);

/// The colours of losses, classes of the page.
pub(super) const CONGESTION: &str = "congestion";
pub(super) const WIRELESS: &str = "wireless";
pub(super) const UNKNOWN: &str = "unlost";
pub(super) const TIMER: &str = "timer";

/// The colour of a verdict.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wireless => WIRELESS,
        Verdict::Congestion => CONGESTION,
        Verdict::Undecided => UNKNOWN,
    }
}

/// How losses of a kind are drawn: shape and colour.
fn look(kind: LossKind) -> (Shape, &'static str) {
    match kind {
        LossKind::CalledWireless => (Shape::Circle, WIRELESS),
        LossKind::Policer
        | LossKind::FullQueue
        | LossKind::ShortQueue
        | LossKind::CalledCongestion => (Shape::Square, CONGESTION),
        LossKind::ByTimer => (Shape::Bar, TIMER),
        _ => (Shape::Diamond, UNKNOWN),
    }
}

/// The drawing of a flow; empty if it was not followed over time.
pub(super) fn drawing(flow: &Flow, name: &str) -> Drawing {
    let nothing = OverTime::default();
    let over_time = flow.over_time.as_ref().unwrap_or(&nothing);
    let delays = over_time.queueing_ms.iter().map(|step| step.at_s);
    let times = flow.losses.iter().map(|loss| loss.time_s).chain(delays);
    let from_s = times.clone().fold(over_time.from_s, f64::min);
    let to_s = times.fold(over_time.to_s, f64::max).max(from_s + 1e-3);
    let (unit, per_unit) = sequence_unit(flow, over_time);
    let held = over_time.rate_kbps.clone();
    let delay = |loss: &Loss| loss.queueing_before_ms;
    let place = |loss: &Loss| loss.place.map(|place| place as f64 / per_unit);
    let queue = over_time.queue_bytes(flow.link_bps());
    let panel = |name: &str, unit: &str, curves, marks| Panel {
        names: vec![name.to_owned(), unit.to_owned()],
        curves,
        marks,
        spot: SPOT,
    };
    let line = |name, class, points| vec![Curve::new(name, class, Stroke::Line, points)];
    let delays = points(&over_time.queueing_ms, 1.0);
    let seq = points(&over_time.seq, per_unit);
    let queue = line("in queues, about", "t1 solid", points(&queue, 1e3));
    let panels = vec![
        panel("queueing delay", "ms", line("queueing delay", "t0", delays), at(flow, delay)),
        panel("in queues, about", "kB", queue, vec![]),
        panel("rate", "kb/s", rates(flow, held, to_s), vec![]),
        panel("sequence number", unit, line("sequence number", "t3", seq), at(flow, place)),
    ];
    let drawn = if over_time.seq.is_empty() { vec![] } else { panels };
    let label = format!(
        "Queueing delay, bytes in queues, rate, sequence numbers and losses over time: {name}"
    );
    Drawing { label, from_s, to_s, panels: drawn, lanes: lanes(flow) }
}

/// The unit of sequence numbers, and how many of them it is.
fn sequence_unit(flow: &Flow, over_time: &OverTime) -> (&'static str, f64) {
    match flow.protocol {
        Protocol::Tcp if over_time.seq.iter().any(|step| step.most >= 2e6) => ("MB", 1e6),
        Protocol::Tcp => ("kB", 1e3),
        _ => ("packets", 1.0),
    }
}

/// Both extremes of every step.
fn points(steps: &[Step], per_unit: f64) -> Vec<At> {
    let both = |step: &Step| [step.least, step.most].map(|value| (step.at_s, value / per_unit));
    steps.iter().flat_map(both).collect()
}

/// The rate of all data, the goodput, and what the path takes, as far as they are known.
fn rates(flow: &Flow, of_data: Vec<At>, to_s: f64) -> Vec<Curve> {
    let curve = |name, class, points| Curve::new(name, class, Stroke::Held, points);
    let mut curves = vec![curve("data", "t2", of_data)];
    let goodput = flow.goodput_kbps();
    if !goodput.is_empty() {
        curves.push(curve("goodput", "ink", goodput));
    }
    let path = flow.steady_path_bps();
    let from_s = curves[0].points.first().map_or(to_s, |point| point.0);
    curves.extend(
        path.map(|bps| curve("what the path takes", "limit l1", vec![(from_s, bps / 1e3)])),
    );
    curves
}

/// A loss as a mark at this height.
fn mark(flow: &Flow, loss: &Loss, value: f64) -> Mark {
    let (shape, class) = look(flow.kind_of(loss));
    Mark { at_s: loss.time_s, value, shape, class, title: flow.told(loss).join("\n") }
}

/// The losses that have a height at their heights.
fn at(flow: &Flow, height: impl Fn(&Loss) -> Option<f64>) -> Vec<Mark> {
    flow.losses.iter().filter_map(|loss| Some(mark(flow, loss, height(loss)?))).collect()
}

/// One lane per kind of loss.
fn lanes(flow: &Flow) -> Vec<Lane> {
    let lane = |kind: LossKind| {
        let mine = flow.losses.iter().filter(|loss| flow.kind_of(loss) == kind);
        let marks = mine.map(|loss| mark(flow, loss, 0.0)).collect();
        Lane { name: kind.words().to_owned(), marks }
    };
    flow.kinds().into_iter().map(lane).collect()
}

/// What marks and the strokes of rates mean: a sample and words, for those that occur.
pub(super) fn legend(flow: &Flow) -> Legend {
    let marks = flow.kinds().into_iter().map(|kind| {
        let (shape, class) = look(kind);
        (shape.sample(class), kind.words().to_owned())
    });
    let strokes = rates(flow, Vec::new(), 0.0)
        .into_iter()
        .map(|curve| (curve.sample(), format!("rate: {}", curve.name)));
    marks.chain(strokes.filter(|_| flow.over_time.is_some())).collect()
}
