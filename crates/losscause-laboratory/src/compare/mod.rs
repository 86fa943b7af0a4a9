//! Variants of a scenario, compared over the same seeds.
//!
//! Run k of every variant has the same seed, and so the same start times and the same errors of the
//! channels. The difference between two variants is therefore taken run by run; its interval is
//! that of the mean of these paired differences, which is much narrower than the difference of two
//! means' intervals.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use losscause_study::origin::options;
pub use losscause_study::run::JUDGED_BY;
use losscause_study::run::{
    Metric, MetricEstimate, Misjudged, RunMetrics, RunRecord, RunRecorder, SimulationResult,
    UNKNOWN, Warning, WarningKind, are_one_run, run_recorded_stopping_at, run_stopping_at,
};
use losscause_study::scenario::{NO_LDA, recommended_lda};
use losscause_study::statistics::Estimate;
use losscause_study::tools::figures::{
    estimate, number, plus_minus, to_the_digits_of, unit_symbol,
};
use losscause_study::tools::table::{Cell, Table};
use losscause_study::{
    Experiment, FlowMeasurements, InputError, Limits, Measurements, Origin, RunError, Scenario,
    Setting, Stop,
};

use crate::store::{Kind, Run, RunList, fnv1a};
use crate::sweep::{Beside, Values};

mod files;
mod variant;
mod verdict;

pub use files::{csv, runs_csv};
pub use variant::Variant;

/// Variants of a scenario and their differences from the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Version of this format, 1; it grows when a field is removed or changes its meaning.
    pub format_version: u32,
    /// The scenario, as the user named it.
    pub scenario: String,
    /// Title of the scenario.
    pub title: String,
    /// Random seed of the first run of every variant; each further run has the next number.
    pub seed: u64,
    /// Runs of each variant.
    pub runs: u32,
    /// Version of the program.
    pub version: String,
    /// Where the result comes from.
    #[serde(default)]
    pub origin: Origin,
    /// Settings of all variants, each KEY=VALUE.
    #[serde(default)]
    pub settings: Vec<String>,
    /// The answer in one line: a sentence per variant, the one with the largest goodput first.
    pub verdict: String,
    /// The variants. All are compared with the first.
    pub variants: Vec<VariantResult>,
}

/// What was measured of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantResult {
    /// The variant's name.
    pub name: String,
    /// What it sets, each KEY=VALUE.
    pub settings: Vec<String>,
    /// What its bottleneck can carry at the start, bit/s, of which `thput` is the share; null if the
    /// scenario names none.
    #[serde(default)]
    pub bottleneck_bps: Option<u64>,
    /// The metrics over all runs, by name.
    pub metrics: IndexMap<String, MetricEstimate>,
    /// Differences from the first variant, by metric; empty for the first variant.
    pub differences: IndexMap<String, Difference>,
    /// What to know before drawing conclusions.
    pub warnings: Vec<Warning>,
    /// Every run by itself.
    pub each_run: Vec<RunMetrics>,
}

/// How one metric of a variant differs from that of the first variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Unit of `value` and `ci95`.
    pub unit: String,
    /// Mean of the differences between runs of the same seed; null if no seed has both values.
    pub value: Option<f64>,
    /// Half-width of Student's 95 % interval for that mean; null below two pairs, and if nothing
    /// in either variant depends on the seed.
    pub ci95: Option<f64>,
    /// The variant's mean over the first variant's, minus 1, percent; null if that one is 0.
    pub percent: Option<f64>,
    /// Half-width of its 95 % interval.
    pub percent_ci95: Option<f64>,
    /// Pairs of runs in which both have a value.
    pub runs: u32,
    /// Whether the interval excludes 0 (without one: whether the value is not 0); null below two
    /// pairs.
    pub clear: Option<bool>,
}

impl Comparison {
    /// Holds the values against those of `earlier`.
    pub fn beside(&self, earlier: &Self) -> Beside {
        Beside::of(self.by_place(), earlier.by_place())
    }

    /// Every value by its place: "ZBS, goodput".
    fn by_place(&self) -> Values {
        let place = |name: &str, metric: &str, of: &MetricEstimate| {
            let MetricEstimate { value: mean, ci95, runs, .. } = *of;
            (format!("{name}, {metric}"), Estimate { mean, ci95, runs })
        };
        let of = |one: &VariantResult| -> Vec<_> {
            one.metrics.iter().map(|(metric, of)| place(&one.name, metric, of)).collect()
        };
        self.variants.iter().flat_map(of).collect()
    }

    /// Whether any variant has a value of the metric.
    pub fn has(&self, metric: &str) -> bool {
        self.variants
            .iter()
            .any(|variant| variant.metrics.get(metric).is_some_and(|found| found.value.is_some()))
    }

    /// The variants, the one with the largest goodput first.
    pub fn ranked(&self) -> Vec<&VariantResult> {
        verdict::ranked(&self.variants)
    }

    /// The metrics that people judge the variants by: goodput first, with several groups of measured
    /// flows that of each, then the others. `thput` is a share, so it is left out where the
    /// bottlenecks differ.
    pub fn judged_by(&self) -> Vec<&str> {
        let metric = |name: &'static str| match name {
            "goodput" => [name].into_iter().chain(verdict::of_groups(&self.variants[0])).collect(),
            "thput" if verdict::bottlenecks_differ(&self.variants) => vec![],
            _ => vec![name],
        };
        JUDGED_BY.into_iter().flat_map(metric).filter(|metric| self.has(metric)).collect()
    }

    /// Every metric that any variant has a value of: first those of [`Comparison::judged_by`].
    pub fn all_metrics(&self) -> Vec<&str> {
        let mut metrics = self.judged_by();
        let others = self.variants[0].metrics.keys().map(String::as_str);
        let others: Vec<&str> =
            others.filter(|metric| !metrics.contains(metric) && self.has(metric)).collect();
        metrics.extend(others);
        metrics
    }

    /// The unit in which people read the metric, and what its values are multiplied by for that:
    /// Mb/s where a variant has 1 Mb/s or more, the metric's own otherwise.
    pub fn unit(&self, metric: &str) -> (&str, f64) {
        let found = || self.variants.iter().filter_map(|variant| variant.metrics.get(metric));
        let unit = found().next().map_or("", |found| found.unit.as_str());
        let is_fast = found().filter_map(|found| found.value).any(|value| value >= 1e3);
        if unit == "kb/s" && is_fast { ("Mb/s", 1e-3) } else { (unit, 1.0) }
    }

    /// Each warning once, with the variants that it concerns unless it concerns all. What a star means
    /// is told if one of the metrics `shown` has one.
    pub fn warnings(&self, shown: &[&str]) -> Vec<String> {
        let has_star = shown.iter().any(|metric| self.is_marked(metric));
        let mut told: Vec<&str> = Vec::new();
        let mut sentences = Vec::new();
        for warning in self.variants.iter().flat_map(|variant| &variant.warnings) {
            let is_due = warning.kind != WarningKind::DifferentWindows || has_star;
            if !is_due || warning.is_told_elsewhere() || told.contains(&warning.text.as_str()) {
                continue;
            }
            told.push(&warning.text);
            let concerned =
                self.variants.iter().filter(|variant| variant.warnings.contains(warning));
            let of: Vec<&str> = concerned.map(|variant| variant.name.as_str()).collect();
            let of = if of.len() == self.variants.len() {
                String::new()
            } else {
                format!(" ({})", of.join(", "))
            };
            sentences.push(format!("{}{of}", warning.text));
        }
        sentences
    }

    /// Metrics down and variants across: each mean, and below it the interval for the first variant
    /// of the comparison, the difference from the first for all others. A metric with a star covers
    /// another part of the run than most.
    pub fn table(&self, metrics: &[&str], variants: &[&VariantResult]) -> Table {
        let names = variants.iter().map(|variant| variant.name.as_str());
        let mut table = Table::new([""].into_iter().chain(names)).numbers(1..);
        for metric in metrics {
            let (unit, scale) = self.unit(metric);
            let cell = |variant: &&VariantResult| match variant.in_words(metric, scale) {
                None => Cell::from(number(None)),
                Some((mean, below)) => Cell::from(mean).below(below),
            };
            let star = if self.is_marked(metric) { " *" } else { "" };
            let name = format!("{metric} {}{star}", unit_symbol(unit)).trim_end().to_owned();
            table.row([name.into()].into_iter().chain(variants.iter().map(cell)));
        }
        table
    }

    /// What variants are ranked with, of the metrics that any variant has.
    pub fn ranked_with(&self) -> Vec<&'static str> {
        RANKED_WITH.into_iter().filter(|metric| self.has(metric)).collect()
    }

    /// A row per variant, the one with the largest goodput first, with the means of these metrics.
    pub fn ranking(&self, shown: &[&str]) -> Table {
        let head = |metric: &&str| {
            format!("{metric} {}", unit_symbol(self.unit(metric).0)).trim_end().to_owned()
        };
        let mut table =
            Table::new([String::new()].into_iter().chain(shown.iter().map(head))).numbers(1..);
        for variant in self.ranked() {
            let mean = |metric: &&str| match variant.in_words(metric, self.unit(metric).1) {
                Some((mean, _)) => mean,
                None => number(None),
            };
            let name = variant.name.clone();
            table.row([name].into_iter().chain(shown.iter().map(mean)).map(Cell::from));
        }
        table
    }

    /// Whether the metric covers another part of the run than most: it has a star.
    fn is_marked(&self, metric: &str) -> bool {
        let first = &self.variants[0];
        first.warnings.iter().any(|one| one.kind == WarningKind::DifferentWindows)
            && first.metrics.get(metric).is_some_and(|found| found.window)
    }
}

impl VariantResult {
    /// A metric as text, its values multiplied by `scale`: its mean, and below it the interval for
    /// the first variant, the difference from the first for all others. None if no run has a value.
    pub fn in_words(&self, metric: &str, scale: f64) -> Option<(String, String)> {
        let found = self.metrics.get(metric)?;
        if let Some(few) = self.few_losses(metric) {
            return Some((UNKNOWN.to_owned(), few));
        }
        let below = match self.differences.get(metric) {
            None => plus_minus(found.ci95.map(|ci95| ci95 * scale)),
            Some(difference) => difference.in_words(scale),
        };
        Some((to_the_digits_of(found.value? * scale, found.ci95.map(|ci95| ci95 * scale)), below))
    }

    /// The losses that a share of misjudged ones rests on, if they are few and an algorithm judged
    /// them: "5 queue losses".
    pub fn few_losses(&self, metric: &str) -> Option<String> {
        let share = Misjudged::of_metric(metric)?;
        let flows = || self.each_run.iter().flat_map(|run| &run.flows);
        if !flows().any(|flow| flow.measured && is_judged(flow)) {
            return None;
        }
        share.few(share.judged_in_all(flows()))
    }
}

/// Whether an algorithm judges the flow's losses.
fn is_judged(flow: &FlowMeasurements) -> bool {
    flow.lda.as_deref().is_some_and(|lda| lda != NO_LDA)
}

impl Difference {
    /// "+2107 ± 150", multiplied by `scale`, with "~" before it if chance explains it; nothing
    /// without a value.
    pub fn in_words(&self, scale: f64) -> String {
        let Some(value) = self.value.map(|value| value * scale) else { return String::new() };
        let ci95 = self.ci95.map(|ci95| ci95 * scale);
        let unclear = if self.clear == Some(false) && value != 0.0 { "~ " } else { "" };
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{unclear}{sign}{}", estimate(value, ci95))
    }
}

/// What variants are ranked with: what they get, what that costs others, and what it costs the queue.
const RANKED_WITH: [&str; 5] = ["goodput", BESIDE, "queueing_p95", "congestion_loss", "M_c"];

/// A variant with its scenario.
#[derive(Clone, Debug)]
struct Prepared {
    variant: Variant,
    scenario: Scenario,
    experiment: Experiment,
    /// A hash of everything on which its runs depend.
    content: u64,
    /// The same with a plain flow beside, which alone is measured.
    beside: Option<Experiment>,
    /// Its first run, once that was recorded.
    record: OnceLock<RunRecord>,
}

impl Prepared {
    /// Makes a run, and measures what a plain flow beside the variant gets, if there is one. Records
    /// the run if that is asked.
    fn run(&self, seed: u64, is_recorded: bool, stop: &Stop) -> Result<Measurements, RunError> {
        let mut measured = match is_recorded {
            true => self.recorded(seed, stop)?,
            false => run_stopping_at(&self.experiment, seed, stop)?,
        };
        if let Some(beside) = &self.beside {
            let value = run_stopping_at(beside, seed, stop)?.metric("goodput");
            measured.metrics.push(Metric::new(BESIDE, "kb/s", value));
        }
        Ok(measured)
    }

    fn recorded(&self, seed: u64, stop: &Stop) -> Result<Measurements, RunError> {
        let mut recorder = RunRecorder::new(&self.scenario, &self.experiment, seed)?;
        let measured = run_recorded_stopping_at(&self.experiment, seed, &mut recorder, stop)?;
        self.record.get_or_init(|| recorder.finish());
        Ok(measured)
    }
}

/// Drops the variants that make the same runs as the unchanged scenario, if that is the first and
/// another variant is left. The first of them gives it its name.
fn show_unchanged_once(variants: &mut Vec<Prepared>) {
    let Some(first) = variants.first().filter(|first| first.variant == Variant::unchanged()) else {
        return;
    };
    let is_same: Vec<bool> =
        variants.iter().map(|variant| variant.content == first.content).collect();
    let Some(same) = (1..variants.len()).find(|place| is_same[*place]) else { return };
    if is_same.iter().all(|same| *same) {
        return;
    }
    variants[0].variant.name = variants[same].variant.name.clone();
    let mut place = 0;
    variants.retain(|_| {
        place += 1;
        place == 1 || !is_same[place - 1]
    });
}

/// The metric of a plain flow beside a variant: its goodput.
pub const BESIDE: &str = "beside";

/// Variants whose runs can be made.
#[derive(Clone, Debug)]
pub struct Plan {
    variants: Vec<Prepared>,
    settings: Vec<String>,
    seed: u64,
    runs: u32,
    /// Whether the first run of every variant is recorded.
    is_recorded: bool,
}

impl Plan {
    /// `runs` runs of every variant of `scenario`, with the seeds `seed`, `seed + 1`, … Delays are
    /// measured.
    ///
    /// # Errors
    /// There are fewer than two variants, two have the same name or settings, the settings of one do not fit the
    /// scenario, or there are too many runs ([`Limits::RUNS`]).
    pub fn new(
        scenario: &Scenario,
        variants: Vec<Variant>,
        seed: u64,
        runs: u32,
    ) -> Result<Self, InputError> {
        let problem = |problem: String| InputError::option("compare", problem);
        Limits::check_runs(runs)?;
        if let [] | [_] = &variants[..] {
            return Err(problem(format!(
                "there is only one variant, expected two or more, such as --lda none,{}",
                recommended_lda()
            )));
        }
        for (place, variant) in variants.iter().enumerate() {
            let before = &variants[..place];
            if before.iter().any(|other| other.name == variant.name) {
                return Err(problem(format!(
                    "two variants are called \"{}\", expected every name once",
                    variant.name
                )));
            }
            if let Some(same) = before.iter().find(|other| other.settings == variant.settings) {
                return Err(problem(format!(
                    "the variants \"{}\" and \"{}\" set the same, expected variants that differ",
                    same.name, variant.name
                )));
            }
        }
        let first = scenario.with(&variants[0].settings)?;
        let prepared = |variant: Variant| {
            let scenario = scenario.with(&variant.settings)?;
            let experiment = scenario.experiment_with_delays()?;
            let beside = scenario.with_plain_flow_of(&first);
            let beside = beside.and_then(|beside| beside.experiment().ok());
            let Experiment { network, duration, window, .. } = &experiment;
            let content = fnv1a(format!("{network:?} {duration:?} {window:?}").as_bytes());
            let record = OnceLock::new();
            Ok(Prepared { variant, scenario, experiment, content, beside, record })
        };
        let mut variants =
            variants.into_iter().map(prepared).collect::<Result<Vec<_>, InputError>>()?;
        show_unchanged_once(&mut variants);
        Ok(Self { variants, settings: Vec::new(), seed, runs, is_recorded: false })
    }

    /// Names the settings that were applied to the scenario of all variants, for the result.
    #[must_use]
    pub fn with_settings(self, settings: &[Setting]) -> Self {
        Self { settings: settings.iter().map(ToString::to_string).collect(), ..self }
    }

    /// Also records the first run of every variant, for [`Self::records`].
    #[must_use]
    pub fn recording(self) -> Self {
        Self { is_recorded: true, ..self }
    }

    /// The first run of every variant, recorded. One that was made before, and kept, is made again.
    ///
    /// # Errors
    /// As [`losscause_study::run()`].
    pub fn records(&self) -> Result<Vec<RunRecord>, RunError> {
        let of = |prepared: &Prepared| {
            if prepared.record.get().is_none() {
                prepared.recorded(self.seed, &Stop::new())?;
            }
            Ok(prepared.record.get().expect("it was recorded").clone())
        };
        self.variants.iter().map(of).collect()
    }

    /// The command that gives the comparison.
    fn origin(&self) -> Origin {
        let file = self.variants[0].scenario.file().to_owned();
        let words = ["compare".to_owned(), file].into_iter();
        let words = words
            .chain(options("--runs", [self.runs]))
            .chain(options("--set", &self.settings))
            .chain(options("--variant", self.variants.iter().map(|one| one.variant.word())));
        Origin::of(words, self.seed)
    }
}

/// All runs of the first variant, then those of the next.
impl RunList for Plan {
    const KIND: Kind = Kind::Comparison;
    type Made = Measurements;
    type Found = Comparison;

    fn command(&self) -> String {
        let command = self.origin().command;
        command.strip_prefix("losscause compare ").unwrap_or(&command).to_owned()
    }

    fn runs<'a>(&'a self) -> Vec<Run<'a, Measurements>> {
        let seeds = (0..u64::from(self.runs)).map(|k| self.seed.wrapping_add(k));
        let of = |prepared| seeds.clone().map(move |seed| (prepared, seed));
        let run = |(prepared, seed): (&'a Prepared, u64)| {
            let is_recorded = self.is_recorded && seed == self.seed;
            let name = format!("{}, seed {seed}", prepared.variant.name);
            Run::new(name, &prepared.content.to_string(), move |stop| {
                prepared.run(seed, is_recorded, stop)
            })
        };
        self.variants.iter().flat_map(of).map(run).collect()
    }

    fn found(&self, measured: Vec<Measurements>) -> Comparison {
        let by_variant: Vec<&[Measurements]> = measured.chunks(self.runs as usize).collect();
        let result = |(prepared, runs): (&Prepared, &[Measurements])| {
            let Prepared { variant, scenario, experiment, .. } = prepared;
            let result =
                SimulationResult::of_measurements(scenario, &[], experiment, self.seed, runs);
            let is_first = std::ptr::eq(runs, by_variant[0]);
            VariantResult {
                name: variant.name.clone(),
                settings: variant.settings.iter().map(ToString::to_string).collect(),
                bottleneck_bps: bottleneck_bps(experiment),
                metrics: result.metrics,
                differences: if is_first {
                    IndexMap::new()
                } else {
                    differences(by_variant[0], runs)
                },
                warnings: result.warnings,
                each_run: RunMetrics::of_all(self.seed, runs),
            }
        };
        let variants: Vec<VariantResult> =
            self.variants.iter().zip(by_variant.iter().copied()).map(result).collect();
        let scenario = &self.variants[0].scenario;
        Comparison {
            format_version: 1,
            scenario: scenario.file().to_owned(),
            title: scenario.document().title.clone(),
            seed: self.seed,
            runs: self.runs,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: self.origin(),
            settings: self.settings.clone(),
            verdict: verdict::verdict(&variants, self.runs),
            variants,
        }
    }
}

/// What the bottleneck can carry at the start; none if there is none.
fn bottleneck_bps(experiment: &Experiment) -> Option<u64> {
    let links = &experiment.network.links;
    let rates = experiment.bottleneck.iter().map(|link| links[link.0 as usize].rate_bps);
    Some(rates.sum()).filter(|sum| *sum > 0)
}

/// The differences of every metric that both have.
fn differences(first: &[Measurements], other: &[Measurements]) -> IndexMap<String, Difference> {
    let mut found = IndexMap::new();
    let no_interval = are_one_run(first) && are_one_run(other);
    for metric in other.first().into_iter().flat_map(|run| &run.metrics) {
        let name = metric.metric.as_str();
        let pairs: Vec<(Option<f64>, Option<f64>)> =
            first.iter().zip(other).map(|(a, b)| (b.metric(name), a.metric(name))).collect();
        let mut difference = difference(&metric.unit, &pairs);
        if no_interval {
            difference.ci95 = None;
            difference.percent_ci95 = None;
        }
        found.insert(name.to_owned(), difference);
    }
    found
}

/// The difference from pairs (variant, first variant) of the same seed.
fn difference(unit: &str, pairs: &[(Option<f64>, Option<f64>)]) -> Difference {
    let differences = || pairs.iter().map(|(b, a)| Some((*b)? - (*a)?));
    let estimate = Estimate::from_runs(differences());
    let quotient = Estimate::of_quotient(pairs.iter().copied()).scaled(100.0, -100.0);
    Difference {
        unit: unit.to_owned(),
        value: estimate.mean,
        ci95: estimate.ci95,
        percent: quotient.mean,
        percent_ci95: quotient.ci95,
        runs: differences().flatten().count() as u32,
        clear: estimate.mean.zip(estimate.ci95).map(|(mean, ci95)| mean.abs() > ci95),
    }
}

#[cfg(test)]
mod tests {
    use losscause_study::Context;

    use super::*;

    fn scenario() -> Scenario {
        let text = r#"
            title = "t"
            duration_s = 1
            link = [{ name = "a", rate_bps = 1e6, delay_ms = 1, queue_packets = 9 }]
            flow = [{ name = "up", protocol = "tcp", variant = "cubic", path = ["a"] }]
        "#;
        Scenario::parse(text, "s.toml", &Context::default()).unwrap()
    }

    #[test]
    fn a_variant_that_equals_the_unchanged_scenario_is_shown_once() {
        let scenario = scenario();
        let names = |variants: &[&str]| {
            let variants = variants.iter().map(|text| Variant::parse(text).unwrap());
            let variants = [Variant::unchanged()].into_iter().chain(variants).collect();
            let plan = Plan::new(&scenario, variants, 1, 2).unwrap();
            plan.variants.iter().map(|one| one.variant.name.clone()).collect::<Vec<_>>()
        };
        let cubic = "cubic: flow.up.variant=cubic";
        let reno = "reno: flow.up.variant=reno";
        assert_eq!(names(&[reno, cubic]), ["cubic", "reno"]);
        assert_eq!(names(&[reno]), ["unchanged", "reno"]);
        assert_eq!(names(&[cubic]), ["unchanged", "cubic"], "two are left to compare");
    }

    #[test]
    fn variants_that_set_the_same_are_refused() {
        let scenario = scenario();
        let refusal = |ldas: &[&str]| {
            let variants = ldas.iter().map(|lda| Variant::of_lda(&scenario, lda).unwrap());
            Plan::new(&scenario, variants.collect(), 1, 1).unwrap_err().to_string()
        };
        for [one, other] in [["sift", "Sift"], ["none", "always congestion"], ["mBiaz", "mbiaz"]] {
            assert_eq!(
                refusal(&[one, "ZBS", other]),
                format!(
                    "compare: the variants \"{one}\" and \"{other}\" set the same, expected variants that differ"
                )
            );
        }
    }

    #[test]
    fn paired_differences_worked_by_hand() {
        // Pairs (110, 100), (224, 200), (None, 5): differences 10 and 24, mean 17, s = 9.8995,
        // 12.706 s / sqrt(2) = 88.94.
        let pairs = [(Some(110.0), Some(100.0)), (Some(224.0), Some(200.0)), (None, Some(5.0))];
        let found = difference("kb/s", &pairs);
        assert_eq!((found.value, found.runs, found.clear), (Some(17.0), 2, Some(false)));
        assert!((found.ci95.unwrap() - 88.94).abs() < 0.01, "{found:?}");
        // 334 / 300.
        assert!((found.percent.unwrap() - 11.333).abs() < 0.001);
    }

    #[test]
    fn a_constant_gain_is_clear_however_much_the_runs_vary() {
        let pairs: Vec<_> =
            [10.0, 500.0, 90.0].into_iter().map(|x| (Some(x + 1.0), Some(x))).collect();
        let found = difference("kb/s", &pairs);
        assert_eq!((found.value, found.ci95, found.clear), (Some(1.0), Some(0.0), Some(true)));
        let one = difference("kb/s", &pairs[..1]);
        assert_eq!((one.value, one.ci95, one.clear), (Some(1.0), None, None));
        let zero = difference("packets", &[(Some(3.0), Some(0.0)), (Some(4.0), Some(0.0))]);
        assert_eq!((zero.value, zero.percent), (Some(3.5), None));
    }
}
