//! The curves of a figure: its items by panel, system and value on the horizontal axis.

use indexmap::IndexSet;
use losscause_laboratory::papers::record::{Item, ItemSpec, Parameters, Value};
use losscause_study::scenario::expression::Formula;

/// One drawing of a figure: a metric over the figure's horizontal axis, at one combination of the
/// other parameters.
#[derive(Clone, Debug)]
pub(super) struct Panel<'a> {
    /// The metric, by name.
    pub(super) metric: &'a str,
    /// The unit of its values.
    pub(super) unit: &'a str,
    /// The parameters that differ between panels.
    pub(super) at: Parameters,
    /// The parameter along the horizontal axis.
    pub(super) x: &'a str,
    /// One curve per system, in the paper's order; with [`ItemSpec::curves`] one per system and
    /// value of it.
    pub(super) curves: Vec<Curve<'a>>,
}

/// The values of one system, from left to right.
#[derive(Clone, Debug)]
pub(super) struct Curve<'a> {
    /// The system, by name.
    pub(super) system: &'a str,
    /// For curves that differ in a parameter: the formula and its value for this curve.
    pub(super) value: Option<(&'a Formula, f64)>,
    /// The curve's items with their values on the horizontal axis.
    pub(super) points: Vec<(f64, &'a Item)>,
}

/// The panels of a figure, in the order of its parameters and metrics; none for a table.
pub(super) fn panels<'a>(spec: &'a ItemSpec, items: &'a [Item]) -> Vec<Panel<'a>> {
    let Some(x) = spec.x.as_deref() else { return Vec::new() };
    let differs =
        |name: &str| items.iter().any(|i| i.parameters.get(name) != items[0].parameters.get(name));
    let of_curve = |name: &str| spec.curves.as_ref().is_some_and(|formula| formula.takes(name));
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for item in items {
        let Some(place) = item.parameters.get(x).and_then(Value::as_number) else { continue };
        let others = item
            .parameters
            .iter()
            .filter(|(name, _)| *name != x && !of_curve(name) && differs(name));
        let at: Parameters = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        let known = panels.iter().position(|p| p.metric == item.metric && p.at == at);
        let index = known.unwrap_or_else(|| {
            panels.push(Panel { metric: &item.metric, unit: &item.unit, at, x, curves: vec![] });
            panels.len() - 1
        });
        // The plan has refused formulas without a value.
        let value = spec.curves.as_ref().zip(spec.curve_at(&item.parameters).ok().flatten());
        let curves = &mut panels[index].curves;
        match curves.iter_mut().find(|curve| curve.system == item.system && curve.value == value) {
            Some(curve) => curve.points.push((place, item)),
            None => curves.push(Curve { system: &item.system, value, points: vec![(place, item)] }),
        }
    }
    for panel in &mut panels {
        panel.curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    }
    // Items come with the axis before other parameters; panels of one combination belong side by
    // side.
    let combination =
        |panel: &Panel<'_>| panel.at.values().map(ToString::to_string).collect::<Vec<_>>();
    let order: Vec<Vec<String>> = panels.iter().map(combination).collect();
    panels.sort_by_key(|panel| order.iter().position(|at| *at == combination(panel)));
    panels
}

impl Panel<'_> {
    /// The values on the horizontal axis at which any curve has a point, in rising order.
    pub(super) fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.curves.iter().flat_map(|curve| &curve.points).map(|(x, _)| *x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }
}

impl Curve<'_> {
    /// The curve's label in a legend: the system, and the parameter in which the curves differ.
    pub(super) fn label(&self) -> String {
        match self.value {
            None => self.system.to_owned(),
            Some((formula, value)) => format!("{} at {formula} = {value}", self.system),
        }
    }
}

/// Every curve's label once, in the order of the panels.
pub(super) fn labels(panels: &[Panel<'_>]) -> Vec<String> {
    let curves = panels.iter().flat_map(|panel| &panel.curves);
    curves.map(Curve::label).collect::<IndexSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
    use losscause_study::Context;

    fn plan(item: &str) -> Plan {
        let selection = Selection::parse(&[item]).unwrap();
        Plan::new(
            &Context::default(),
            &selection,
            Repetitions::AsPublished,
            1,
            &Variation::default(),
        )
        .unwrap()
    }

    #[test]
    fn figure_14_has_a_panel_per_topology_and_a_curve_per_system() {
        let plan = plan("cen2003/figure14");
        let panels = panels(plan.sheets()[0].spec, plan.items());
        let shown: Vec<String> =
            panels.iter().map(|p| format!("{} {}", p.metric, p.at["topology"])).collect();
        assert_eq!(shown, ["dev WLH", "dev WB"]);
        for panel in &panels {
            assert_eq!(panel.curves.len(), 9);
            let places: Vec<f64> = panel.curves[0].points.iter().map(|(x, _)| *x).collect();
            assert_eq!(places, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0]);
            assert!(
                panel
                    .curves
                    .iter()
                    .all(|c| c.points.iter().all(|(_, item)| item.system == c.system))
            );
        }
    }

    #[test]
    fn curves_that_differ_in_a_parameter_share_a_panel() {
        let plan_5a = plan("barman2002/figure5a");
        let of_accuracy = panels(plan_5a.sheets()[0].spec, plan_5a.items());
        assert_eq!(of_accuracy.len(), 1);
        let expected = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
        let values: Vec<f64> =
            of_accuracy[0].curves.iter().map(|curve| curve.value.unwrap().1).collect();
        assert_eq!(values, expected);
        assert_eq!(of_accuracy[0].places(), expected);
        assert_eq!(labels(&of_accuracy)[1], "NewReno-LL at P_CC = 0.2");
        let plan_7a = plan("barman2002/figure7a");
        let of_history = panels(plan_7a.sheets()[0].spec, plan_7a.items());
        assert_eq!(of_history.len(), 1);
        let half = of_history[0].curves.iter().find(|curve| curve.value.unwrap().1 == 0.5).unwrap();
        assert_eq!(
            half.points.iter().map(|(x, _)| *x).collect::<Vec<f64>>(),
            [4.0, 8.0, 16.0, 32.0, 64.0]
        );
    }

    #[test]
    fn a_table_has_no_panels() {
        let plan = plan("cen2003/table2");
        assert!(panels(plan.sheets()[0].spec, plan.items()).is_empty());
    }
}
