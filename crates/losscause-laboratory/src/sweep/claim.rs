//! The claims of a sweep file, settled by its values.
//!
//! A claim is about values of one metric. Each is compared with the value that differs from it in
//! `than` alone, such as another system in the same cell, or with a number. It holds if it holds in
//! the share of places that it names, by default in all.

use std::collections::{BTreeMap, HashMap};
use std::slice;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::axis::{RUNS, in_words};
use super::file::{ClaimTable, Relation};
use super::ratio::ratio;
use super::{AxisValue, CellOutcome, Row, Sweep};
use losscause_study::error::unknown;
use losscause_study::statistics::Estimate;
use losscause_study::tools::figures::to_the_digits_of;

/// A claim of a sweep file.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    text: String,
    metric: String,
    of: Selector,
    relation: Relation,
    than: Than,
    /// So many times the other value.
    times: f64,
    /// Largest difference of [`Relation::Within`] and [`Relation::WithinOrOverlapping`], percent of
    /// the other value.
    percent: f64,
    /// Pairs whose other side's runs have a smaller sum are left out.
    least_total: Option<f64>,
    /// Pairs whose ratio's interval is wider than this to either side, in percent of the other
    /// value, do not count.
    known_within: Option<f64>,
    /// A pair also holds if the one holds that differs from it in one of these alone.
    or_at: Selector,
    /// The share of the places in which it has to hold.
    share: f64,
    /// Whether cells with a run that was left out do not count.
    apart: bool,
}

/// Systems, and values of axes, by name.
type Selector = BTreeMap<String, Vec<String>>;

/// What a value is compared with.
#[derive(Clone, Debug)]
enum Than {
    /// The value that differs in these: a system, and values of axes, by name.
    Other(BTreeMap<String, String>),
    Number(f64),
}

/// What a sweep file claims, and what the values say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepClaim {
    /// The sentence.
    pub text: String,
    /// Whether it holds; none if too few values were measured to say.
    pub holds: Option<bool>,
    /// Pairs of values that were compared.
    pub places: u32,
    /// Those in which it holds.
    pub holding: u32,
    /// Those in which chance explains the answer: the 95 % interval of the paired difference
    /// contains 0.
    pub unclear: u32,
    /// Pairs of which a value is missing.
    pub missing: u32,
    /// Pairs that do not count, because a run of their cells was left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apart: u32,
    /// Pairs that do not count, because chance leaves too much open of their ratio.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u32,
    /// Of those in which it holds: in the same place but for the value of one axis, which the claim
    /// names.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub elsewhere: u32,
    /// Those in which it does not hold, at most ten.
    pub exceptions: Vec<Place>,
}

/// A pair of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Where: "loss 0.02, stack kernel, system cubic".
    pub at: String,
    /// The value there, in the metric's unit.
    pub value: f64,
    /// What it is compared with, times the claim's factor.
    pub other: f64,
    /// The metric's unit.
    pub unit: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Most exceptions that are listed.
const MOST_EXCEPTIONS: usize = 10;

/// The key of a selector that is no axis.
const SYSTEM: &str = "system";

/// The key of the claim that is wrong, and what is wrong with it.
type Problem = (&'static str, String);

impl Claim {
    /// The claim of that table in this sweep.
    pub(super) fn of(table: &ClaimTable, sweep: &Sweep) -> Result<Self, Problem> {
        let metrics: Vec<&str> = sweep.metrics.iter().map(String::as_str).collect();
        if !metrics.contains(&table.metric.as_str()) {
            return Err(("metric", unknown(&table.metric, &metrics)));
        }
        let place = |key: &'static str, name: &String, value: &Value| {
            let value = in_words(value);
            sweep.check_place(name, &value).map_err(|problem| (key, problem))?;
            Ok(value)
        };
        let selector = |key: &'static str, table: &BTreeMap<String, Value>| {
            let named = table.iter().map(|(name, values)| {
                let values = values.as_array().map_or(slice::from_ref(values), Vec::as_slice);
                let values = values.iter().map(|value| place(key, name, value));
                Ok((name.clone(), values.collect::<Result<_, Problem>>()?))
            });
            named.collect::<Result<Selector, Problem>>()
        };
        let other =
            |(name, value): (&String, &Value)| Ok((name.clone(), place("than", name, value)?));
        let than = match (table.than.is_empty(), table.value) {
            (false, None) => {
                Than::Other(table.than.iter().map(other).collect::<Result<_, Problem>>()?)
            }
            (true, Some(value)) => Than::Number(value),
            (true, None) => {
                return Err(("than", "is missing, expected a system or axis, or value".to_owned()));
            }
            (false, Some(_)) => {
                return Err(("value", "cannot be combined with than; give one of them".to_owned()));
            }
        };
        let percent = match (table.is, table.percent) {
            (Relation::Within | Relation::WithinOrOverlapping, Some(percent)) if percent >= 0.0 => {
                percent
            }
            (Relation::Within | Relation::WithinOrOverlapping, _) => {
                let problem = "is missing, expected the largest difference in percent, 0 or more";
                return Err(("percent", problem.to_owned()));
            }
            (_, None) => 0.0,
            (_, Some(_)) => {
                return Err(("percent", "is only read with is = \"within\"; remove it".to_owned()));
            }
        };
        let of_pairs = [("least_total", table.least_total), ("known_within", table.known_within)];
        if let Some((key, _)) = of_pairs.iter().find(|(_, value)| value.is_some())
            && table.than.is_empty()
        {
            return Err((key, "is only read with than; remove it".to_owned()));
        }
        let share = table.share.unwrap_or(1.0);
        if !(share > 0.0 && share <= 1.0) {
            return Err(("share", format!("is {share}, expected a number above 0 and up to 1")));
        }
        Ok(Self {
            text: table.text.clone(),
            metric: table.metric.clone(),
            of: selector("of", &table.of)?,
            relation: table.is,
            than,
            times: table.times.unwrap_or(1.0),
            percent,
            least_total: table.least_total,
            known_within: table.known_within,
            or_at: selector("or_at", &table.or_at)?,
            share,
            apart: table.apart,
        })
    }

    /// Settles the claim from the outcomes of all cells.
    pub(super) fn settle(&self, outcomes: &[&CellOutcome]) -> SweepClaim {
        let rows = outcomes.iter().flat_map(|outcome| {
            let of_metric = outcome.rows.iter().filter(|row| row.metric == self.metric);
            of_metric.map(move |row| Measured { outcome, row })
        });
        let rows: Vec<Measured<'_>> = rows.collect();
        let by_place: HashMap<Vec<(&str, &str)>, Measured<'_>> =
            rows.iter().map(|measured| (measured.place(), *measured)).collect();
        let mut claim = SweepClaim { text: self.text.clone(), ..SweepClaim::default() };
        // The pairs in which it holds, and those in which it does not.
        let [mut holding, mut others] = [vec![], vec![]];
        for one in rows.iter().filter(|measured| measured.is_at(&self.of)) {
            let other = self.other(one, &by_place);
            let has_left_out = |one: &Measured<'_>| !one.outcome.left_out.is_empty();
            if self.apart && (has_left_out(one) || other.as_ref().is_some_and(has_left_out)) {
                claim.apart += 1;
                continue;
            }
            let compared = match (&self.than, other) {
                (Than::Number(number), _) => Some(*number),
                (Than::Other(_), other) => other.and_then(|other| other.row.measured),
            };
            let (Some(value), Some(compared)) = (one.row.measured, compared) else {
                claim.missing += 1;
                continue;
            };
            if other.is_some_and(|other| self.is_rare(&other)) {
                continue;
            }
            if other.is_some_and(|other| self.is_unknown(one, &other)) {
                claim.unknown += 1;
                continue;
            }
            let compared = self.times * compared;
            claim.places += 1;
            claim.unclear += u32::from(self.is_unclear(one, other));
            let half_widths = one.half_width().zip(other.map_or(Some(0.0), |o| o.half_width()));
            let overlap = half_widths
                .is_some_and(|(a, b)| (value - compared).abs() <= a + self.times.abs() * b);
            let holds = self.holds(value, compared, overlap);
            if holds { &mut holding } else { &mut others }.push((*one, value, compared));
        }
        for (one, value, other) in others {
            if holding.iter().any(|(holds, ..)| self.stands_for(holds, &one)) {
                claim.elsewhere += 1;
            } else if claim.exceptions.len() < MOST_EXCEPTIONS {
                let unit = one.row.unit.clone();
                claim.exceptions.push(Place { at: one.in_words(), value, other, unit });
            }
        }
        claim.holding = holding.len() as u32 + claim.elsewhere;
        let needed = self.share * f64::from(claim.places + claim.missing);
        claim.holds = if f64::from(claim.holding) >= needed && claim.places > 0 {
            Some(true)
        } else if f64::from(claim.holding + claim.missing) < needed {
            Some(false)
        } else {
            None
        };
        claim
    }

    /// What a value is compared with, if that was measured.
    fn other<'a>(
        &self,
        one: &Measured<'a>,
        by_place: &HashMap<Vec<(&'a str, &'a str)>, Measured<'a>>,
    ) -> Option<Measured<'a>> {
        let Than::Other(than) = &self.than else { return None };
        let place = one.place().into_iter();
        let place = place.map(|(name, value)| (name, than.get(name).map_or(value, String::as_str)));
        by_place.get(&place.collect::<Vec<_>>()).copied()
    }

    /// Whether the other side counts too little to be compared with.
    fn is_rare(&self, other: &Measured<'_>) -> bool {
        let total = other.runs().iter().filter_map(|(_, value)| *value).sum::<f64>();
        self.least_total.is_some_and(|least| total < least)
    }

    /// Whether chance leaves too much open of the ratio.
    fn is_unknown(&self, one: &Measured<'_>, other: &Measured<'_>) -> bool {
        let ci95 = ratio(&one.runs(), &other.runs()).ci95;
        let is_known =
            |widest: f64| ci95.is_some_and(|ci95| 100.0 * ci95 <= widest * self.times.abs());
        self.known_within.is_some_and(|widest| !is_known(widest))
    }

    /// Whether the claim holds at `one` because it does at `other`: they differ in one of
    /// [`Claim::or_at`] alone.
    fn stands_for(&self, other: &Measured<'_>, one: &Measured<'_>) -> bool {
        let places = || one.place().into_iter().zip(other.place());
        // A number of runs is no setting.
        let mut differing = places().filter(|((name, a), (_, b))| *name != RUNS && a != b);
        let is_named = |((name, _), (_, value)): ((&str, &str), (&str, &str))| {
            self.or_at.get(name).is_some_and(|values| values.iter().any(|one| one == value))
        };
        differing.next().is_some_and(is_named) && differing.next().is_none()
    }

    fn holds(&self, value: f64, other: f64, overlap: bool) -> bool {
        let is_within = || (value - other).abs() <= self.percent / 100.0 * other.abs();
        match self.relation {
            Relation::AtLeast => value >= other,
            Relation::AtMost => value <= other,
            Relation::Within => is_within(),
            Relation::WithinOrOverlapping => overlap || is_within(),
        }
    }

    /// Whether the difference of the two is no larger than chance explains: seed by seed, if they
    /// ran with the same seeds. One run has no interval, so nothing is said of it.
    fn is_unclear(&self, one: &Measured<'_>, other: Option<Measured<'_>>) -> bool {
        let runs = one.runs();
        let differences: Vec<Option<f64>> = match (&self.than, other) {
            (Than::Number(number), _) => {
                runs.iter().map(|(_, value)| Some((*value)? - self.times * number)).collect()
            }
            (Than::Other(_), Some(other)) => {
                let others = other.runs();
                if runs.iter().map(|(seed, _)| seed).ne(others.iter().map(|(seed, _)| seed)) {
                    return false;
                }
                let pairs = runs.iter().zip(&others);
                pairs.map(|((_, a), (_, b))| Some((*a)? - self.times * (*b)?)).collect()
            }
            (Than::Other(_), None) => return false,
        };
        let estimate = Estimate::from_runs(differences);
        let within = |(mean, ci95): (f64, f64)| mean.abs() <= ci95 && ci95 > 0.0;
        estimate.mean.zip(estimate.ci95).is_some_and(within)
    }
}

impl SweepClaim {
    /// The answer in a sentence: "holds: … (in 5 of 6 places)".
    ///
    /// ```
    /// # use losscause_laboratory::sweep::SweepClaim;
    /// let text = "Spike carries more than Reno".to_owned();
    /// let claim = SweepClaim {
    ///     text, holds: Some(true), places: 6, holding: 6, unclear: 1, ..SweepClaim::default()
    /// };
    /// assert_eq!(
    ///     claim.in_words(),
    ///     "holds: Spike carries more than Reno (in 6 of 6 places; in 1 of them chance explains the difference)"
    /// );
    /// ```
    pub fn in_words(&self) -> String {
        format!("{} ({})", self.answer(), self.details())
    }

    /// The answer alone: "holds: …".
    pub fn answer(&self) -> String {
        let answer = match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "cannot tell",
        };
        format!("{answer}: {}", self.text)
    }

    /// In how many places it holds, how sure that is, and one where it does not.
    pub fn details(&self) -> String {
        let mut details = vec![format!("in {} of {} places", self.holding, self.places)];
        if self.unclear > 0 {
            let of = self.unclear;
            details.push(format!("in {of} of them chance explains the difference"));
        }
        if self.missing > 0 {
            details.push(format!("{} without a value", self.missing));
        }
        if self.apart > 0 {
            details.push(format!("{} apart, of which runs were disturbed", self.apart));
        }
        if self.unknown > 0 {
            details.push(format!("{} whose ratio is not known that well", self.unknown));
        }
        if self.elsewhere > 0 {
            details.push(format!("in {} of them by another value of an axis", self.elsewhere));
        }
        if let Some(Place { at, value, other, unit }) = self.exceptions.first() {
            let [value, other] = [*value, *other].map(|value| to_the_digits_of(value, None));
            let unit = losscause_study::tools::figures::unit_symbol(unit);
            details.push(format!("not at {at}: {value} {unit} against {other} {unit}"));
        }
        details.join("; ")
    }
}

/// A value, and the cell that it is from.
#[derive(Clone, Copy)]
struct Measured<'a> {
    outcome: &'a CellOutcome,
    row: &'a Row,
}

impl<'a> Measured<'a> {
    /// The values of all axes, and the system.
    fn place(&self) -> Vec<(&'a str, &'a str)> {
        let axis = |value: &'a AxisValue| (value.axis.as_str(), value.value.as_str());
        let axes = self.outcome.cell.values.iter().map(axis);
        axes.chain([(SYSTEM, self.row.system.as_str())]).collect()
    }

    fn is_at(&self, selector: &Selector) -> bool {
        let is = |(name, value): &(&str, &str)| {
            selector.get(*name).is_none_or(|wanted| wanted.iter().any(|one| one == value))
        };
        self.place().iter().all(is)
    }

    /// Half the width of the value's 95 % interval, 0 if all its runs are equal; none of one run.
    fn half_width(&self) -> Option<f64> {
        let is_of_several = self.row.runs_with_value.is_some_and(|runs| runs > 1);
        self.row.ci95.or(is_of_several.then_some(0.0))
    }

    /// Seed and value of every run.
    fn runs(&self) -> Vec<(u64, Option<f64>)> {
        self.outcome.runs_of(self.row)
    }

    fn in_words(&self) -> String {
        let places = self.place();
        let words = places.iter().map(|(name, value)| format!("{name} {value}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Sweep {
    /// Settles the file's claims from the outcomes of its cells.
    ///
    /// ```
    /// use losscause_laboratory::sweep::Sweep;
    /// use losscause_study::{Context, Jobs};
    ///
    /// let text = r#"
    /// title = "a wireless last hop"
    /// scenario = "cen2003/WLH"
    /// metrics = ["thput"]
    /// runs = 1
    /// [[axis]]
    /// key = "N"
    /// values = [1]
    /// [[claim]]
    /// text = "the link is never idle for long"
    /// metric = "thput"
    /// is = "at-least"
    /// value = 50
    /// "#;
    /// let sweep = Sweep::parse(text, "sweep.toml".as_ref(), &Context::default())?;
    /// let outcome = sweep.measure(&sweep.cells()[0], Jobs::default())?;
    /// assert_eq!(sweep.settle(&[&outcome])[0].places, 1);
    /// # Ok::<(), losscause_study::RunError>(())
    /// ```
    pub fn settle(&self, outcomes: &[&CellOutcome]) -> Vec<SweepClaim> {
        self.claims.iter().map(|claim| claim.settle(outcomes)).collect()
    }

    /// Refuses a system, an axis or a value that the sweep does not have.
    fn check_place(&self, name: &str, value: &str) -> Result<(), String> {
        let known = |what: &str, values: &[&str]| match values.contains(&value) {
            true => Ok(()),
            false => Err(format!("the {what} {}", unknown(value, values))),
        };
        if name == SYSTEM {
            let systems = self.system_names();
            return known(SYSTEM, &systems.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if name == super::STACK && !self.stacks.is_empty() {
            return known(name, &self.stacks.iter().map(|stack| stack.name).collect::<Vec<_>>());
        }
        let Some(axis) = self.axes.iter().find(|axis| axis.name == name) else {
            let axes: Vec<&str> = [SYSTEM].into_iter().chain(self.axes()).collect();
            return Err(unknown(name, &axes));
        };
        if self.sampler.cells().is_some() && axis.range.is_some() {
            return Err(format!("{name} is drawn between two ends, expected an axis with values"));
        }
        let values: IndexSet<&str> =
            axis.values.iter().map(|choice| choice.name.as_str()).collect();
        known(name, &Vec::from_iter(values))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use indexmap::IndexMap;

    use super::*;
    use crate::sweep::RunRow;
    use losscause_study::Context;

    const SWEEP: &str = r#"
        title = "t"
        scenario = "cen2003/WLH"
        metrics = ["thput"]
        runs = 3
        [[system]]
        name = "a"
        [[system]]
        name = "b"
        [[axis]]
        key = "duration_s"
        values = [100, 200]
    "#;

    fn claim(text: &str) -> Result<Claim, String> {
        let text = format!("{SWEEP}\n[[claim]]\ntext = \"c\"\n{text}\n");
        Sweep::parse(&text, Path::new("s.toml"), &Context::default())
            .map(|sweep| sweep.claims[0].clone())
            .map_err(|error| error.to_string())
    }

    /// The two cells, with three runs of both systems in each.
    fn outcomes(values: [[[f64; 3]; 2]; 2]) -> Vec<CellOutcome> {
        let sweep = Sweep::parse(SWEEP, Path::new("s.toml"), &Context::default()).unwrap();
        let run = |system: &str, seed: u64, value: f64| RunRow {
            system: system.to_owned(),
            seed,
            metrics: IndexMap::from([("thput".to_owned(), Some(value))]),
        };
        let cell = |(cell, values): (_, [[f64; 3]; 2])| {
            let runs = ["a", "b"].into_iter().zip(values).flat_map(|(system, values)| {
                (1..).zip(values).map(move |(seed, value)| run(system, seed, value))
            });
            sweep.outcome(&cell, runs.collect(), &vec![vec!["percent".into()]; 6])
        };
        sweep.cells().into_iter().zip(values).map(cell).collect()
    }

    fn settled(claim: &str, values: [[[f64; 3]; 2]; 2]) -> SweepClaim {
        let outcomes = outcomes(values);
        self::claim(claim).unwrap().settle(&outcomes.iter().collect::<Vec<_>>())
    }

    const MORE: &str =
        "metric = \"thput\"\nof = { system = \"b\" }\nis = \"at-least\"\nthan = { system = \"a\" }";

    #[test]
    fn a_claim_is_settled_pair_by_pair() {
        // Cell 1: 20 against 10. Cell 2: 29 against 30, but b - a is -1, 8 and -10.
        let values =
            [[[9.0, 10.0, 11.0], [19.0, 20.0, 21.0]], [[30.0, 20.0, 40.0], [29.0, 28.0, 30.0]]];
        let found = settled(MORE, values);
        assert_eq!(
            (found.holds, found.places, found.holding, found.unclear),
            (Some(false), 2, 1, 1)
        );
        assert_eq!(
            found.in_words(),
            "does not hold: c (in 1 of 2 places; in 1 of them chance explains the difference; not at duration_s 200, \
             system b: 29 % against 30 %)"
        );
        let half = settled(&format!("{MORE}\nshare = 0.5"), values);
        assert_eq!(half.holds, Some(true));
        let in_one = MORE.replace("system = \"b\" }", "system = \"b\", duration_s = 100 }");
        let twice = settled(&format!("{in_one}\ntimes = 2"), values);
        assert_eq!((twice.holds, twice.places), (Some(true), 1));
        let in_both = MORE.replace("system = \"b\" }", "system = \"b\", duration_s = [200, 100] }");
        assert_eq!(settled(&in_both, values).places, 2);
        let number = settled("metric = \"thput\"\nis = \"at-most\"\nvalue = 29.5", values);
        assert_eq!((number.holds, number.places, number.holding), (Some(false), 4, 3));
        let near = "metric = \"thput\"\nof = { system = \"a\", duration_s = 100 }\nis = \"within\"\npercent = 50\n\
                    than = { system = \"b\" }";
        assert_eq!(settled(near, values).holds, Some(true), "10 is half of 20");
        assert_eq!(settled(&near.replace("50", "49"), values).holds, Some(false));
    }

    #[test]
    fn a_claim_over_missing_values_is_not_settled() {
        let mut outcomes = outcomes([[[1.0; 3], [2.0; 3]]; 2]);
        outcomes[1].rows[0].measured = None;
        let found = claim(MORE).unwrap().settle(&outcomes.iter().collect::<Vec<_>>());
        assert_eq!((found.holds, found.places, found.missing), (None, 1, 1));
        assert_eq!(found.in_words(), "cannot tell: c (in 1 of 1 places; 1 without a value)");
        assert_eq!(claim(MORE).unwrap().settle(&[]).holds, None);
    }

    #[test]
    fn values_agree_within_a_bound_or_by_their_intervals() {
        let near = "metric = \"thput\"\nof = { system = \"b\", duration_s = 100 }\npercent = 15\n\
                    is = \"within-or-overlapping\"\nthan = { system = \"a\" }";
        let agree = |a: [f64; 3], b: [f64; 3]| settled(near, [[a, b], [a, b]]).holds.unwrap();
        assert!(agree([100.0; 3], [114.0, 115.0, 116.0]));
        assert!(!agree([100.0; 3], [116.0; 3]), "intervals without a width");
        // 4.303 times the standard error: 100 ± 2.5 against 130 ± 2.5, and ± 24.8.
        assert!(!agree([99.0, 100.0, 101.0], [129.0, 130.0, 131.0]));
        assert!(agree([90.0, 100.0, 110.0], [120.0, 130.0, 140.0]));
        assert!(agree([0.0; 3], [0.0; 3]));
        assert!(!agree([0.0; 3], [1.0; 3]));
        let mut one = outcomes([[[90.0, 100.0, 110.0], [120.0, 130.0, 140.0]]; 2]);
        (one[0].rows[0].ci95, one[0].rows[0].runs_with_value) = (None, Some(1));
        let found = claim(near).unwrap().settle(&one.iter().collect::<Vec<_>>());
        assert_eq!(found.holds, Some(false), "one run has no interval");
    }

    #[test]
    fn a_cell_whose_run_was_left_out_counts_or_stands_apart() {
        let mut outcomes = outcomes([[[1.0; 3], [2.0; 3]], [[2.0; 3], [1.0; 3]]]);
        outcomes[1].left_out = vec!["b, seed 2: somebody knocked".to_owned()];
        let settled =
            |text: &str| claim(text).unwrap().settle(&outcomes.iter().collect::<Vec<_>>());
        assert_eq!(settled(MORE).holds, Some(false));
        let apart = settled(&format!("{MORE}\napart = true"));
        assert_eq!((apart.holds, apart.places, apart.apart), (Some(true), 1, 1));
        assert!(
            apart.in_words().ends_with("(in 1 of 1 places; 1 apart, of which runs were disturbed)")
        );
        let second = MORE.replace("\"b\" }\nis", "\"b\", duration_s = 200 }\nis");
        assert_eq!(settled(&format!("{second}\napart = true")).holds, None, "nothing is left");
    }

    const NEAR: &str = "metric = \"thput\"\nof = { system = \"b\" }\npercent = 15\nis = \"within\"\n\
                        than = { system = \"a\" }";

    #[test]
    fn a_ratio_that_chance_may_have_made_or_that_is_of_few_does_not_count() {
        let far = [[99.0, 100.0, 101.0], [119.0, 120.0, 121.0]];
        let known = format!("{NEAR}\nknown_within = 15\nleast_total = 300");
        let found = settled(&known, [far, far]);
        assert_eq!((found.holds, found.places, found.unknown), (Some(false), 2, 0));
        // A ratio of 1.2 ± 1.7: paired differences from it of -120, 180 and -60.
        let open = [[100.0; 3], [20.0, 300.0, 40.0]];
        let found = settled(&known, [open, far]);
        assert_eq!((found.holds, found.places, found.unknown), (Some(false), 1, 1));
        assert!(found.in_words().contains("; 1 whose ratio is not known that well"));
        assert_eq!(settled(&known, [open, open]).holds, None, "nothing is left");
        let few = [[99.0, 100.0, 100.0], [119.0, 120.0, 121.0]];
        let found = settled(&known, [few, far]);
        assert_eq!((found.places, found.unknown, found.missing), (1, 0, 0), "299 in all runs");
    }

    #[test]
    fn a_claim_may_hold_by_another_value_of_an_axis_but_not_the_other_way_round() {
        let [same, off] = [[[100.0; 3]; 2], [[100.0; 3], [120.0; 3]]];
        let by = format!("{NEAR}\nor_at = {{ duration_s = 200 }}");
        let found = settled(&by, [off, same]);
        assert_eq!((found.holds, found.holding, found.elsewhere), (Some(true), 2, 1));
        assert!(
            found.exceptions.is_empty() && found.in_words().contains("in 1 of them by another")
        );
        assert_eq!(settled(&by, [same, off]).holds, Some(false));
        assert_eq!(settled(&by, [off, off]).exceptions.len(), 2);
        assert_eq!(settled(NEAR, [off, same]).holds, Some(false));
        // Another system is another place.
        let both = by
            .replace("of = { system = \"b\" }", "")
            .replace("than = { system = \"a\" }", "value = 100");
        assert_eq!(settled(&both, [[[100.0; 3], [120.0; 3]], [[100.0; 3], [120.0; 3]]]).holding, 2);
    }

    #[test]
    fn what_a_claim_cannot_be_about_is_refused() {
        let refused = |text: &str| claim(text).unwrap_err();
        assert!(refused(&MORE.replace("\"thput\"", "\"thputt\"")).contains("claim.1.metric"));
        assert!(refused(&MORE.replace("\"b\"", "\"c\"")).contains("claim.1.of: the system \"c\""));
        let one_unknown = refused(&MORE.replace("\"b\"", "[\"b\", \"c\"]"));
        assert!(one_unknown.contains("claim.1.of: the system \"c\""), "{one_unknown}");
        assert!(
            refused(&MORE.replace("than = { system", "than = { sistem")).contains("claim.1.than")
        );
        assert!(
            refused("metric = \"thput\"\nis = \"at-most\"").contains("claim.1.than: is missing")
        );
        assert!(refused(&format!("{MORE}\nvalue = 1")).contains("claim.1.value"));
        assert!(refused(&format!("{MORE}\npercent = 1")).contains("claim.1.percent"));
        assert!(refused(&format!("{MORE}\nshare = 0")).contains("claim.1.share"));
        assert!(
            refused(&format!("{MORE}\nor_at = {{ duration_s = 3 }}")).contains("claim.1.or_at")
        );
        let number = "metric = \"thput\"\nis = \"at-most\"\nvalue = 1";
        assert!(refused(&format!("{number}\nleast_total = 3")).contains("claim.1.least_total"));
        assert!(refused(&MORE.replace("at-least", "more")).contains("at-least"));
    }
}
