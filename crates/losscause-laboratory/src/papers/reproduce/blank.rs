//! An item before it is measured.

use crate::papers::record::{Item, ItemSpec, Paper, Parameters};

/// An item of a paper that is not measured yet, after this many runs.
pub fn blank_item(
    paper: &Paper,
    spec: &ItemSpec,
    metric: &str,
    system: &str,
    parameters: &Parameters,
    runs: u32,
) -> Item {
    let unit = paper.metric(metric).map(|m| m.unit.clone()).unwrap_or_default();
    let runs = if spec.is_of_runs() { runs } else { 0 };
    Item {
        id: item_id(paper, spec, metric, system, parameters),
        paper: paper.key().to_owned(),
        source: spec.source.clone(),
        system: system.to_owned(),
        scenario: spec.scenario.clone(),
        parameters: parameters.clone(),
        metric: metric.to_owned(),
        unit,
        runs,
        ..Item::default()
    }
}

/// The published number's name, or a name of the same form: `WLH.N1.ZBS.thput`.
fn item_id(
    paper: &Paper,
    spec: &ItemSpec,
    metric: &str,
    system: &str,
    parameters: &Parameters,
) -> String {
    let published = paper.published().number.iter().find(|n| {
        n.metric == metric
            && n.system == system
            && n.scenario == spec.scenario
            && n.parameters == *parameters
    });
    if let Some(number) = published {
        return number.id.clone();
    }
    let mut id = spec.scenario.clone();
    for (name, value) in parameters {
        match name.as_str() {
            "loss" if *value == "high".into() => {}
            "N" => id += &format!(".N{value}"),
            _ => id += &format!(".{name}={value}"),
        }
    }
    format!("{id}.{system}.{metric}")
}
