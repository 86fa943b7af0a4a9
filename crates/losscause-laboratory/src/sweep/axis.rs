//! The axes of a sweep, and what each value of an axis changes.

use std::collections::{BTreeMap, BTreeSet};

use losscause_study::Limits;
use toml::Value;

use super::file::{AxisTable, Point};
use super::range::{Range, Scale};
use super::sampler::Sampler;

/// An axis: a named list of values. The first is the base.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) name: String,
    /// The key that its values set, if it has one.
    pub(super) key: Option<String>,
    /// All values, or of a range that is drawn from its two ends.
    pub(super) values: Vec<Choice>,
    /// The range that the values come from, if they are not listed.
    pub(super) range: Option<Range>,
}

impl Axis {
    /// The choice at a draw from [0, 1).
    pub(super) fn draw(&self, uniform: f64) -> Choice {
        match (&self.range, &self.key) {
            (Some(range), Some(key)) => Choice::plain(key, &range.draw(uniform)),
            _ => self.values[self.listed(uniform)].clone(),
        }
    }

    /// Which of the listed values is at a draw from [0, 1).
    pub(super) fn listed(&self, uniform: f64) -> usize {
        ((uniform * self.values.len() as f64) as usize).min(self.values.len() - 1)
    }

    /// What its draws depend on: its key, or its name.
    pub(super) fn stream(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.name)
    }

    /// Whether its values have equal ratios.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.range.as_ref().is_some_and(|range| range.scale == Scale::Log)
    }
}

/// What one value of an axis changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) name: String,
    /// Settings of every scenario, each KEY=VALUE.
    pub(super) set: Vec<String>,
    /// Settings of one scenario only, by its name in the paper.
    pub(super) only: BTreeMap<String, Vec<String>>,
    /// Metrics that are read from others of the same run.
    pub(super) metrics: BTreeMap<String, String>,
    /// Runs of every system, if the axis is [`RUNS`].
    pub(super) runs: Option<u32>,
}

/// The name of an axis without a key whose values are numbers of runs.
pub(super) const RUNS: &str = "runs";

/// The key of the sweep file that is wrong, and what is wrong with it.
pub(super) type Problem = (String, String);

impl Choice {
    /// A value of the key `key`.
    fn plain(key: &str, value: &Value) -> Self {
        Self {
            name: in_words(value),
            set: vec![format!("{key}={}", in_a_setting(value))],
            ..Self::default()
        }
    }
}

/// The axes of a sweep file.
pub(super) fn axes(tables: &[AxisTable], sampler: Sampler) -> Result<Vec<Axis>, Problem> {
    if tables.is_empty() {
        return Err((
            "axis".into(),
            "is missing, expected [[axis]], or [[system]] to compare".into(),
        ));
    }
    let mut names = BTreeSet::new();
    let mut axes = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let axis = axis(index, table, sampler)?;
        if !names.insert(axis.name.clone()) {
            return Err((
                format!("axis.{}", axis.name),
                "there are two of this name, expected one".into(),
            ));
        }
        axes.push(axis);
    }
    if let Some(most) = sampler.most_axes().filter(|most| axes.len() > *most) {
        let problem =
            format!("there are {}, expected at most {most} with sampler \"sobol\"", axes.len());
        return Err(("axis".into(), problem));
    }
    Ok(axes)
}

fn axis(index: usize, table: &AxisTable, sampler: Sampler) -> Result<Axis, Problem> {
    let Some(name) = table.name.as_ref().or(table.key.as_ref()) else {
        let problem = "is missing, expected the key that the values set, or a name";
        return Err((format!("axis.{}.key", index + 1), problem.into()));
    };
    let key = |rest: &str| format!("axis.{name}.{rest}");
    let points = match (&table.values, &table.range) {
        (Some(points), None) => points.clone(),
        (None, Some(range)) => {
            if table.key.is_none() {
                return Err((
                    key("key"),
                    "is missing, expected the key that the range sets".into(),
                ));
            }
            let values =
                of_range(range, sampler).map_err(|(rest, problem)| (key(&rest), problem))?;
            values.into_iter().map(Point::Plain).collect()
        }
        (Some(_), Some(_)) => {
            return Err((key("range"), "cannot be combined with values; give one of them".into()));
        }
        (None, None) => {
            return Err((
                key("values"),
                "is missing, expected the values of the axis, or a range".into(),
            ));
        }
    };
    if points.is_empty() {
        return Err((key("values"), "is empty, expected the base and other values".into()));
    }
    let mut names = BTreeMap::new();
    let mut values = Vec::new();
    for point in &points {
        let choice = choice(name, table.key.as_deref(), point)
            .map_err(|problem| (key("values"), problem))?;
        // Listed cells may have a value in common.
        let may_repeat =
            |other: &Point| matches!(sampler, Sampler::Listed { .. }) && other == point;
        if names.insert(choice.name.clone(), point).is_some_and(|other| !may_repeat(other)) {
            return Err((
                key("values"),
                format!("\"{}\" occurs twice, expected it once", choice.name),
            ));
        }
        values.push(choice);
    }
    Ok(Axis { name: name.clone(), key: table.key.clone(), values, range: table.range.clone() })
}

/// The values of a range: its steps in a grid, its ends otherwise.
fn of_range(range: &Range, sampler: Sampler) -> Result<Vec<Value>, Problem> {
    if let Some((rest, problem)) = range.problem() {
        return Err((format!("range.{rest}"), problem));
    }
    let steps = |problem: &str| ("range.steps".to_owned(), problem.to_owned());
    match (sampler, range.steps) {
        (Sampler::Grid, None) => {
            Err(steps("is missing, expected the number of values in the grid"))
        }
        (Sampler::Grid, Some(0 | 1)) => Err(steps("is below 2, expected both ends at least")),
        (Sampler::Grid, Some(count)) if count > MOST_STEPS => {
            Err(steps(&format!("is {count}, expected at most {MOST_STEPS}")))
        }
        (Sampler::Grid, Some(count)) => Ok(range.values(count)),
        (_, Some(_)) => {
            Err(steps("is only valid in a grid, and the sampler draws between the ends; remove it"))
        }
        (_, None) => Ok(range.values(2)),
    }
}

/// Most steps of a range.
const MOST_STEPS: u32 = 100_000;

fn choice(name: &str, key: Option<&str>, point: &Point) -> Result<Choice, String> {
    let setting = |key: &str, value: &Value| format!("{key}={}", in_a_setting(value));
    match (point, key) {
        (Point::Plain(value), Some(key)) => Ok(Choice::plain(key, value)),
        (Point::Plain(value), None) if name == RUNS => {
            let runs = value.as_integer().and_then(|runs| u32::try_from(runs).ok());
            let runs = runs.filter(|runs| (1..=Limits::RUNS).contains(runs)).ok_or_else(|| {
                let most = Limits::RUNS;
                format!("\"{}\" is no number of runs, expected 1 to {most}", in_words(value))
            })?;
            Ok(Choice { name: in_words(value), runs: Some(runs), ..Choice::default() })
        }
        (Point::Plain(value), None) => Err(format!(
            "\"{}\" has nothing to set, expected key = KEY in the axis or a name",
            in_words(value)
        )),
        (Point::Named(named), _) => {
            let value = match (&named.value, key) {
                (Some(value), Some(key)) => Some(setting(key, value)),
                (None, _) => None,
                (Some(_), None) => {
                    return Err(format!(
                        "\"{}\" has a value and the axis no key, expected key = KEY",
                        named.name
                    ));
                }
            };
            Ok(Choice {
                name: named.name.clone(),
                set: value.into_iter().chain(named.set.iter().cloned()).collect(),
                only: named.only.clone(),
                metrics: named.metrics.clone(),
                runs: None,
            })
        }
    }
}

/// The value as its axis and its tables call it.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// The value as a setting takes it: text needs no quotes there, unless without them it would be
/// something else.
fn in_a_setting(value: &Value) -> String {
    match value {
        Value::String(text) if format!("value = {text}").parse::<toml::Table>().is_err() => {
            text.clone()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use losscause_study::Setting;
    use losscause_study::tools::toml_file;

    fn of(text: &str) -> Result<Vec<Axis>, Problem> {
        #[derive(serde::Deserialize)]
        struct File {
            #[serde(default)]
            axis: Vec<AxisTable>,
        }
        axes(&toml_file::from_text::<File>(text, "").unwrap().axis, Sampler::Grid)
    }

    fn sampled(text: &str) -> Result<Axis, Problem> {
        axis(0, &toml_file::from_text(text, "").unwrap(), Sampler::Random { cells: 5 })
    }

    #[test]
    fn plain_values_set_the_axis_s_key() {
        let axes =
            of("[[axis]]\nkey = \"loss\"\nvalues = [0.1, 1e-3, 2, \"max(N, 2)\", \"5\", true]")
                .unwrap();
        assert_eq!(axes[0].name, "loss");
        let pairs: Vec<_> =
            axes[0].values.iter().map(|v| (v.name.as_str(), v.set[0].as_str())).collect();
        let expected = [
            ("0.1", "loss=0.1"),
            ("0.001", "loss=0.001"),
            ("2", "loss=2"),
            ("max(N, 2)", "loss=max(N, 2)"),
            ("5", "loss=\"5\""),
            ("true", "loss=true"),
        ];
        assert_eq!(pairs, expected);
        let value = |k: usize| Setting::parse(&axes[0].values[k].set[0]).unwrap().value().clone();
        assert_eq!((value(1), value(2)), (Value::Float(0.001), Value::Integer(2)));
        assert_eq!(
            (value(3), value(4)),
            (Value::String("max(N, 2)".into()), Value::String("5".into()))
        );
    }

    #[test]
    fn a_named_value_may_set_more_than_the_key_or_nothing() {
        let text = "[[axis]]\nkey = \"loss\"\nname = \"radio\"\nvalues = [{ name = \"as it is\" }, \
                    { name = \"bad\", value = 0.5, set = [\"N=4\"] }]";
        let axes = of(text).unwrap();
        assert_eq!((axes[0].name.as_str(), axes[0].values[0].set.len()), ("radio", 0));
        assert_eq!(axes[0].values[1].set, ["loss=0.5", "N=4"]);
    }

    #[test]
    fn a_range_has_steps_in_a_grid_and_draws_in_a_sampler() {
        let grid = of("[[axis]]\nkey = \"rate_bps\"\nrange = { from = 1e6, to = 3e6, steps = 3 }")
            .unwrap();
        let names: Vec<&str> = grid[0].values.iter().map(|value| value.name.as_str()).collect();
        assert_eq!(names, ["1000000", "2000000", "3000000"]);
        let drawn = sampled("key = \"N\"\nrange = { from = 1, to = 4, integer = true }").unwrap();
        assert_eq!(drawn.draw(0.6).set, ["N=3"]);
        let listed = sampled("key = \"N\"\nvalues = [1, 8]").unwrap();
        assert_eq!([0.0, 0.49, 0.5, 0.99].map(|u| listed.draw(u).name), ["1", "1", "8", "8"]);
    }

    #[test]
    fn a_range_that_does_not_fit_the_sampler_is_refused() {
        let refusal = |(key, problem): Problem| format!("{key}: {problem}");
        let range =
            |text: &str| refusal(of(&format!("[[axis]]\nkey = \"N\"\n{text}")).unwrap_err());
        assert_eq!(
            range("range = { from = 1, to = 2 }"),
            "axis.N.range.steps: is missing, expected the number of values in the grid"
        );
        assert_eq!(
            range("range = { from = 1, to = 2, steps = 1 }"),
            "axis.N.range.steps: is below 2, expected both ends at least"
        );
        assert_eq!(
            range("range = { from = 1, to = 3, steps = 9, integer = true }"),
            "axis.N.values: \"1\" occurs twice, expected it once"
        );
        assert_eq!(
            range("values = [1]\nrange = { from = 1, to = 2, steps = 2 }"),
            "axis.N.range: cannot be combined with values; give one of them"
        );
        assert_eq!(
            refusal(sampled("key = \"N\"\nrange = { from = 1, to = 2, steps = 2 }").unwrap_err()),
            "axis.N.range.steps: is only valid in a grid, and the sampler draws between the ends; remove it"
        );
        assert_eq!(
            refusal(
                of("[[axis]]\nname = \"n\"\nrange = { from = 1, to = 2, steps = 2 }").unwrap_err()
            ),
            "axis.n.key: is missing, expected the key that the range sets"
        );
        let axes: Vec<AxisTable> = (0..17)
            .map(|k| toml_file::from_text(&format!("key = \"k{k}\"\nvalues = [1]"), "").unwrap())
            .collect();
        let (key, problem) = super::axes(&axes, Sampler::Sobol { cells: 4 }).unwrap_err();
        assert_eq!(
            (key.as_str(), problem.as_str()),
            ("axis", "there are 17, expected at most 16 with sampler \"sobol\"")
        );
    }

    #[test]
    fn axes_that_say_nothing_or_the_same_twice_are_refused() {
        let refusal = |text: &str| {
            let (key, problem) = of(text).unwrap_err();
            format!("{key}: {problem}")
        };
        assert_eq!(refusal(""), "axis: is missing, expected [[axis]], or [[system]] to compare");
        assert_eq!(
            refusal("[[axis]]\nvalues = [1]"),
            "axis.1.key: is missing, expected the key that the values set, or a name"
        );
        assert_eq!(
            refusal("[[axis]]\nname = \"x\"\nvalues = [1]"),
            "axis.x.values: \"1\" has nothing to set, expected key = KEY in the axis or a name"
        );
        assert_eq!(
            refusal("[[axis]]\nname = \"x\"\nvalues = [{ name = \"a\", value = 1 }]"),
            "axis.x.values: \"a\" has a value and the axis no key, expected key = KEY"
        );
        assert_eq!(
            refusal("[[axis]]\nkey = \"N\"\nvalues = [1, 2, 1]"),
            "axis.N.values: \"1\" occurs twice, expected it once"
        );
        assert_eq!(
            refusal("[[axis]]\nkey = \"N\""),
            "axis.N.values: is missing, expected the values of the axis, or a range"
        );
        assert_eq!(
            refusal("[[axis]]\nkey = \"N\"\nvalues = []"),
            "axis.N.values: is empty, expected the base and other values"
        );
        let twice = "[[axis]]\nkey = \"N\"\nvalues = [1]\n".repeat(2);
        assert_eq!(refusal(&twice), "axis.N: there are two of this name, expected one");
    }
}
