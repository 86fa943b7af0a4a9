//! The timeline of a run: windows or rates, queues, delays and losses over one time axis.

use super::chart::{Legend, Stroke};
use super::losses;
use super::time::{Curve, Drawing, Panel};
use losscause_study::run::{FlowRecord, LostPacket, RecordSeries as Series, RunRecord};

/// The drawing of a run.
pub(super) fn drawing(record: &RunRecord) -> Drawing {
    let flows: Vec<&str> = record.flows.iter().map(|flow| flow.name.as_str()).collect();
    let mut panels: Vec<Panel> = Vec::new();
    for (place, flow) in record.flows.iter().enumerate() {
        let drawn = curve(&flow.name, flow_class(place), Stroke::Held, &flow.steer);
        Panel::add(&mut panels, vec![flow.steers.to_owned(), flow.unit.to_owned()], drawn);
    }
    let queue = |(place, (name, series)): (usize, &(String, Series))| {
        let class = if record.queues.len() == 1 { "ink".to_owned() } else { flow_class(place) };
        curve(&format!("queue of {name}"), class, Stroke::Held, series)
    };
    let queues = match &record.queues[..] {
        [(name, _)] => format!("queue of {name}"),
        _ => "queues".to_owned(),
    };
    panels.push(Panel {
        names: vec![queues, "packets".to_owned()],
        curves: record.queues.iter().enumerate().map(queue).collect(),
        ..Panel::default()
    });
    let delay = |(place, flow): (usize, &FlowRecord)| {
        curve(&flow.name, flow_class(place), Stroke::Line, &flow.delay_ms)
    };
    panels.push(Panel {
        names: vec!["one-way delay".to_owned(), "ms".to_owned()],
        curves: record.flows.iter().enumerate().map(delay).collect(),
        ..Panel::default()
    });
    Drawing {
        label: format!(
            "Windows or rates, queue, one-way delay and losses over time: {}",
            flows.join(", ")
        ),
        from_s: 0.0,
        to_s: record.to_s,
        panels,
        lanes: losses::lanes(&record.losses, &flows),
    }
}

/// What the curves and marks are: a sample and words each.
pub(super) fn legend(record: &RunRecord) -> Legend {
    let flow = |(place, flow): (usize, &FlowRecord)| {
        let sample = curve("", flow_class(place), Stroke::Held, &flow.steer).sample();
        (sample, flow.name.clone())
    };
    let mut legend: Legend = record.flows.iter().enumerate().map(flow).collect();
    let is_drawn = |flow: &str| record.flows.iter().any(|drawn| drawn.name == flow);
    let drawn: Vec<&LostPacket> =
        record.losses.iter().filter(|loss| is_drawn(&loss.flow)).collect();
    legend.extend(losses::legend(&drawn));
    legend
}

fn flow_class(place: usize) -> String {
    format!("t{place}")
}

fn curve(name: &str, class: String, stroke: Stroke, series: &Series) -> Curve {
    Curve::new(name, class, stroke, series.points())
}
