//! The curves of a figure: its items arranged by panel, system and horizontal axis.

use crate::item::Item;
use crate::paper::{ItemSpec, Parameters, Value};

/// One drawing of a figure: a metric over the figure's horizontal axis, at one combination of the other parameters.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// The metric, by name.
    pub metric: &'a str,
    /// The unit of its values.
    pub unit: &'a str,
    /// The parameters that differ between panels.
    pub at: Parameters,
    /// The parameter along the horizontal axis.
    pub x: &'a str,
    /// One curve per system, in the paper's order.
    pub curves: Vec<Curve<'a>>,
}

/// The values of one system, from left to right.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// The system, by name.
    pub system: &'a str,
    /// Its items with their places on the horizontal axis.
    pub points: Vec<(f64, &'a Item)>,
}

/// The panels of a figure, in the order of its parameters and metrics; none for what is not a figure.
pub fn panels<'a>(spec: &'a ItemSpec, items: &'a [Item]) -> Vec<Panel<'a>> {
    let Some(x) = spec.x.as_deref() else { return Vec::new() };
    let differs = |name: &str| items.iter().any(|i| i.parameters.get(name) != items[0].parameters.get(name));
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for item in items {
        let Some(place) = item.parameters.get(x).and_then(number) else { continue };
        let others = item.parameters.iter().filter(|(name, _)| *name != x && differs(name));
        let at: Parameters = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        let known = panels.iter().position(|p| p.metric == item.metric && p.at == at);
        let index = known.unwrap_or_else(|| {
            panels.push(Panel { metric: &item.metric, unit: &item.unit, at, x, curves: vec![] });
            panels.len() - 1
        });
        let curves = &mut panels[index].curves;
        match curves.iter_mut().find(|curve| curve.system == item.system) {
            Some(curve) => curve.points.push((place, item)),
            None => curves.push(Curve { system: &item.system, points: vec![(place, item)] }),
        }
    }
    // Items come with the axis before other parameters; panels of one combination belong side by side.
    let combination = |panel: &Panel<'_>| panel.at.values().map(ToString::to_string).collect::<Vec<_>>();
    let order: Vec<Vec<String>> = panels.iter().map(combination).collect();
    panels.sort_by_key(|panel| order.iter().position(|at| *at == combination(panel)));
    panels
}

fn number(value: &Value) -> Option<f64> {
    match *value {
        Value::Integer(i) => Some(i as f64),
        Value::Number(x) => Some(x),
        Value::Flag(_) | Value::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{Plan, Repetitions, Selection, Variation};

    fn plan(item: &str) -> Plan {
        let selection = Selection::parse(&[item]).unwrap();
        Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap()
    }

    #[test]
    fn figure_14_has_a_panel_per_topology_and_a_curve_per_system() {
        let plan = plan("cen2003/figure14");
        let panels = panels(plan.sheets()[0].spec, plan.items());
        let shown: Vec<String> = panels.iter().map(|p| format!("{} {}", p.metric, p.at["topology"])).collect();
        assert_eq!(shown, ["dev WLH", "dev WB"]);
        for panel in &panels {
            assert_eq!(panel.curves.len(), 9);
            let places: Vec<f64> = panel.curves[0].points.iter().map(|(x, _)| *x).collect();
            assert_eq!(places, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0]);
            assert!(panel.curves.iter().all(|c| c.points.iter().all(|(_, item)| item.system == c.system)));
        }
    }

    #[test]
    fn a_table_has_no_panels() {
        let plan = plan("cen2003/table2");
        assert!(panels(plan.sheets()[0].spec, plan.items()).is_empty());
    }
}
