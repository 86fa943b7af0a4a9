//! The answer of a comparison in words.

use std::cmp::Ordering;

use losscause_study::run::{Misjudged, UNKNOWN};
use losscause_study::tools::figures::share_text;

use super::{BESIDE, Difference, VariantResult, is_judged};

/// How the change of a metric is told.
#[derive(Clone, Copy, PartialEq)]
enum As {
    /// In percent of the first variant's value.
    Percent,
    /// In its own unit: a delay may be next to nothing with the first variant.
    Change,
    /// As a share and that of the first variant, which may be next to nothing.
    Shares,
}

/// A metric that a verdict tells of.
#[derive(Clone, Copy)]
struct Told {
    metric: &'static str,
    words: &'static str,
    told: As,
}

const TOLD: [Told; 3] = [
    Told { metric: "completion_time", words: "completion time", told: As::Percent },
    Told { metric: "queueing_p95", words: "queueing delay (p95)", told: As::Change },
    Told { metric: "congestion_loss", words: "queue loss", told: As::Shares },
];

/// One line: every variant against the first, the one with the largest goodput first.
pub(super) fn verdict(variants: &[VariantResult], runs: u32) -> String {
    let [first, others @ ..] = variants else { return String::new() };
    if runs < 2 {
        return "one run tells no difference from chance; --runs 10 gives intervals".to_owned();
    }
    let is_clear = |difference: &Difference| difference.clear == Some(true);
    let metrics =
        || ["goodput"].into_iter().chain(of_groups(first)).chain(TOLD.map(|told| told.metric));
    let differs = |variant: &VariantResult| {
        metrics().any(|metric| variant.differences.get(metric).is_some_and(is_clear))
    };
    if !others.iter().any(differs) {
        let nothing = format!("no difference can be told from {runs} runs");
        let misjudged = variants
            .iter()
            .filter_map(|variant| Some(format!("{}: {}", variant.name, called_wireless(variant)?)));
        return [nothing].into_iter().chain(misjudged).collect::<Vec<_>>().join("; ");
    }
    let mut sentences: Vec<String> = ranked(variants)
        .into_iter()
        .map(|variant| {
            let of = variant.bottleneck_bps.filter(|_| bottlenecks_differ(variants));
            let parts = reached(variant, first, of).into_iter().chain(shifts(variant, first));
            let parts = parts.chain(changes(variant, first)).chain(beside(variant));
            let parts: Vec<String> = parts.chain(called_wireless(variant)).collect();
            format!("{}: {}", variant.name, parts.join(", "))
        })
        .collect();
    sentences.retain(|sentence| !sentence.ends_with(": "));
    sentences.join("; ")
}

/// The variants, the one with the largest goodput first.
pub(super) fn ranked(variants: &[VariantResult]) -> Vec<&VariantResult> {
    let mut ranked: Vec<&VariantResult> = variants.iter().collect();
    ranked.sort_by(|a, b| goodput(b).partial_cmp(&goodput(a)).unwrap_or(Ordering::Equal));
    ranked
}

fn goodput(variant: &VariantResult) -> Option<f64> {
    variant.metrics.get("goodput")?.value
}

/// Whether the variants' bottlenecks carry different rates: shares of them cannot be compared then.
pub(super) fn bottlenecks_differ(variants: &[VariantResult]) -> bool {
    variants.iter().any(|variant| variant.bottleneck_bps != variants[0].bottleneck_bps)
}

/// The metrics that tell the goodput of each group of measured flows; none if there is one group.
pub(super) fn of_groups(variant: &VariantResult) -> Vec<&str> {
    let names = variant.metrics.keys().map(String::as_str);
    let groups: Vec<&str> = names.filter(|name| name.starts_with(OF_GROUP)).collect();
    if groups.len() > 1 { groups } else { Vec::new() }
}

/// What the goodput of a group begins with, in front of the group's name.
const OF_GROUP: &str = "goodput_mean.";

/// Which groups of measured flows clearly gain or lose: "upload gains 12 % ± 3".
fn shifts(variant: &VariantResult, first: &VariantResult) -> Vec<String> {
    let shift = |metric: &str| {
        let difference = variant.differences.get(metric)?;
        let percent = difference.percent.filter(|_| difference.clear == Some(true))?;
        let ci95 = difference.percent_ci95.unwrap_or(0.0);
        let what = if percent > 0.0 { "gains" } else { "loses" };
        let [percent, interval] =
            [percent.abs(), ci95].map(|value| format!("{value:.*}", decimals(ci95)));
        let interval = difference.ci95.map_or(String::new(), |_| format!(" ± {interval}"));
        Some(format!("{} {what} {percent} %{interval}", metric.strip_prefix(OF_GROUP)?))
    };
    of_groups(first).into_iter().filter_map(shift).collect()
}

/// A rate, kb/s, as text.
fn rate_text(kbps: f64) -> String {
    match kbps {
        fast if fast >= 1_000.0 => format!("{} Mb/s", of_three_digits(fast / 1_000.0)),
        slow => format!("{} kb/s", of_three_digits(slow)),
    }
}

/// "8.34 Mb/s, 2.94 times none"; "as none" if chance explains the difference. With the rate of its
/// bottleneck, "8.34 Mb/s of 10.0 Mb/s".
fn reached(variant: &VariantResult, first: &VariantResult, of_bps: Option<u64>) -> Option<String> {
    let of = of_bps.map_or(String::new(), |bps| format!(" of {}", rate_text(bps as f64 / 1e3)));
    let text = rate_text(goodput(variant)?) + &of;
    let Some(difference) = variant.differences.get("goodput") else { return Some(text) };
    let name = &first.name;
    Some(match difference.percent {
        Some(percent) if difference.clear == Some(true) => {
            format!("{text}, {} times {name}", of_three_digits(1.0 + percent / 100.0))
        }
        _ => format!("{text}, no clear difference from {name}"),
    })
}

/// The other changes that are clear.
fn changes(variant: &VariantResult, first: &VariantResult) -> Vec<String> {
    TOLD.into_iter()
        .filter_map(|told| {
            let difference = variant.differences.get(told.metric)?;
            if difference.clear != Some(true) {
                return None;
            }
            match told.told {
                As::Shares => shares(told, variant, first),
                As::Percent | As::Change => changed(told, difference),
            }
        })
        .collect()
}

/// "queue loss 0.31 % instead of 0.00 %"; none if both are shown as the same.
fn shares(told: Told, variant: &VariantResult, first: &VariantResult) -> Option<String> {
    let share = |of: &VariantResult| Some(share_text(of.metrics.get(told.metric)?.value?));
    let (now, before) = (share(variant)?, share(first)?);
    (now != before).then(|| format!("{} {now} instead of {before}", told.words))
}

/// What a plain flow beside the variant keeps of what it has beside the first.
fn beside(variant: &VariantResult) -> Option<String> {
    let difference = variant.differences.get(BESIDE)?;
    let percent = difference.percent?;
    let ci95 = difference.percent_ci95.map_or(String::new(), |ci95| format!(" ± {ci95:.0}"));
    Some(format!("a plain flow beside it keeps {:.0} %{ci95}", 100.0 + percent))
}

/// The share of the queue's losses that the variant's algorithm calls wireless; none without an
/// algorithm.
fn called_wireless(variant: &VariantResult) -> Option<String> {
    let metric = Misjudged::Congestion.metric();
    let mut flows = variant.each_run.iter().flat_map(|run| &run.flows);
    flows.find(|flow| flow.measured && is_judged(flow))?;
    if let Some(few) = variant.few_losses(metric) {
        return Some(format!("{metric} {UNKNOWN} ({few})"));
    }
    let percent = variant.metrics.get(metric)?.value?;
    Some(format!("{metric} {percent:.0} %"))
}

/// 0.123, 1.23, 12.3, 123.
fn of_three_digits(value: f64) -> String {
    let decimals = if value < 1.0 { 3.0 } else { 2.0 - value.log10().floor() };
    format!("{value:.*}", decimals.max(0.0) as usize)
}

/// The change as it is told: its value, its interval, their unit. A change that is clear is told so
/// that its interval leaves zero out: a quotient of a value next to nothing is less certain than
/// the change itself.
fn told_as(told: Told, difference: &Difference) -> (f64, f64, &str) {
    let is_told = |percent: f64, ci95: f64| told.told == As::Percent && percent.abs() > ci95;
    match (difference.percent, difference.percent_ci95.unwrap_or(0.0)) {
        (Some(percent), ci95) if is_told(percent, ci95) => (percent, ci95, "%"),
        _ => (difference.value.unwrap_or(0.0), difference.ci95.unwrap_or(0.0), &difference.unit),
    }
}

/// "completion time -38 % ± 4", "queueing delay (p95) +7.0 ms ± 1.6"; none if the change and its
/// interval would be shown as zero.
fn changed(told: Told, difference: &Difference) -> Option<String> {
    let (value, ci95, unit) = told_as(told, difference);
    let least = 0.5 * 10f64.powi(-(decimals(ci95) as i32));
    if value.abs() < least && ci95 < least {
        return None;
    }
    let change = format!("{} {} {unit}", told.words, signed(value, ci95));
    Some(match difference.ci95 {
        None => change,
        Some(_) => format!("{change} ± {}", short(ci95)),
    })
}

/// A number with its sign, to the digits that its interval leaves.
fn signed(value: f64, ci95: f64) -> String {
    format!("{value:+.*}", decimals(ci95))
}

fn short(ci95: f64) -> String {
    format!("{ci95:.*}", decimals(ci95))
}

/// Decimals for one or two significant digits of an interval.
fn decimals(ci95: f64) -> usize {
    if ci95 >= 2.0 || ci95 == 0.0 { 0 } else { ((1.0 - ci95.log10()).ceil() as usize).min(2) }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use losscause_study::FlowMeasurements;
    use losscause_study::run::{MetricEstimate, RunMetrics};

    use super::*;

    fn variant(name: &str, differences: &[(&str, f64, f64)]) -> VariantResult {
        let difference = |&(metric, percent, ci95): &(&str, f64, f64)| {
            let difference = Difference {
                unit: "ms".to_owned(),
                value: Some(percent),
                ci95: Some(ci95),
                percent: Some(percent),
                percent_ci95: Some(ci95),
                runs: 10,
                clear: Some(percent.abs() > ci95),
            };
            (metric.to_owned(), difference)
        };
        VariantResult {
            name: name.to_owned(),
            settings: vec![],
            bottleneck_bps: None,
            metrics: IndexMap::new(),
            differences: differences.iter().map(difference).collect(),
            warnings: vec![],
            each_run: vec![],
        }
    }

    fn with_goodput(name: &str, kbps: f64, differences: &[(&str, f64, f64)]) -> VariantResult {
        let mut variant = variant(name, differences);
        let goodput = MetricEstimate {
            unit: "kb/s".to_owned(),
            value: Some(kbps),
            ci95: None,
            runs: 10,
            window: false,
        };
        variant.metrics.insert("goodput".to_owned(), goodput);
        variant
    }

    #[test]
    fn the_one_with_the_largest_goodput_comes_first() {
        let none = with_goodput("none", 2_834.0, &[]);
        let zbs = with_goodput("ZBS", 4_828.0, &[("goodput", 70.4, 8.0), ("beside", 0.3, 6.0)]);
        let spike = with_goodput(
            "Spike",
            8_335.0,
            &[("goodput", 194.0, 11.0), ("queueing_p95", 6.8, 1.6), ("beside", -2.4, 3.0)],
        );
        assert_eq!(
            verdict(&[none, zbs, spike], 10),
            "Spike: 8.34 Mb/s, 2.94 times none, queueing delay (p95) +6.8 ms ± 1.6, a plain flow beside it keeps 98 % ± 3; \
             ZBS: 4.83 Mb/s, 1.70 times none, a plain flow beside it keeps 100 % ± 6; \
             none: 2.83 Mb/s"
        );
    }

    #[test]
    fn variants_over_bottlenecks_of_several_rates_are_told_with_those() {
        let mut slow = with_goodput("slow", 4_823.0, &[]);
        let mut fast = with_goodput("fast", 19_284.0, &[("goodput", 299.8, 0.1)]);
        let told = "fast: 19.3 Mb/s, 4.00 times slow; slow: 4.82 Mb/s";
        assert_eq!(verdict(&[slow.clone(), fast.clone()], 10), told);
        (slow.bottleneck_bps, fast.bottleneck_bps) = (Some(5_000_000), Some(20_000_000));
        assert_eq!(
            verdict(&[slow, fast], 10),
            "fast: 19.3 Mb/s of 20.0 Mb/s, 4.00 times slow; slow: 4.82 Mb/s of 5.00 Mb/s"
        );
    }

    #[test]
    fn who_gains_and_who_loses_is_told_where_several_groups_share() {
        let [call, upload] = ["call", "upload"].map(|group| format!("{OF_GROUP}{group}"));
        let shift = [(&*call, -12.0, 3.0), (&*upload, 4.0, 1.5)];
        let mut none = with_goodput("none", 1_911.0, &[]);
        let codel =
            with_goodput("codel", 1_910.0, &[&[("goodput", 0.0, 5.0)][..], &shift].concat());
        for group in [&call, &upload] {
            none.metrics.insert(group.clone(), none.metrics["goodput"].clone());
        }
        let told = verdict(&[none.clone(), codel.clone()], 10);
        let expected = "codel: 1.91 Mb/s, no clear difference from none, call loses 12 % ± 3, \
                        upload gains 4.0 % ± 1.5";
        assert!(told.contains(expected), "{told}");
        none.metrics.shift_remove(&call);
        assert_eq!(verdict(&[none, codel], 10), "no difference can be told from 10 runs");
    }

    #[test]
    fn a_difference_that_chance_explains_is_not_told_as_a_gain() {
        let zbs =
            with_goodput("ZBS", 912.0, &[("goodput", 3.0, 4.1), ("completion_time", 40.0, 9.0)]);
        assert_eq!(
            verdict(&[with_goodput("none", 885.4, &[]), zbs], 10),
            "ZBS: 912 kb/s, no clear difference from none, completion time +40 % ± 9; none: 885 kb/s"
        );
    }

    #[test]
    fn a_delay_is_told_in_its_unit_as_it_may_grow_from_almost_none() {
        let spike = variant("Spike", &[("queueing_p95", 7.03, 1.6)]);
        assert_eq!(
            verdict(&[variant("none", &[]), spike], 10),
            "Spike: queueing delay (p95) +7.0 ms ± 1.6"
        );
        let zbs =
            variant("ZBS", &[("completion_time", 9.0, 5.0), ("queueing_p95", 0.0003, 0.00003)]);
        assert_eq!(verdict(&[variant("none", &[]), zbs], 10), "ZBS: completion time +9 % ± 5");
    }

    #[test]
    fn a_clear_change_is_told_with_an_interval_that_leaves_zero_out() {
        let mut zbs = variant("ZBS", &[("completion_time", 184.0, 365.0)]);
        let difference = &mut zbs.differences["completion_time"];
        (difference.unit, difference.value, difference.ci95) =
            ("s".to_owned(), Some(0.65), Some(0.41));
        difference.clear = Some(true);
        assert_eq!(
            verdict(&[variant("none", &[]), zbs], 10),
            "ZBS: completion time +0.65 s ± 0.41"
        );
    }

    #[test]
    fn a_share_of_lost_packets_is_told_beside_that_of_the_first() {
        let mut none = with_goodput("none", 885.4, &[]);
        let mut zbs = with_goodput("ZBS", 912.0, &[("congestion_loss", 184.0, 65.0)]);
        let losing = |share| MetricEstimate {
            unit: "fraction".to_owned(),
            value: Some(share),
            ..none.metrics["goodput"].clone()
        };
        let (before, now) = (losing(0.000_003), losing(0.003_1));
        none.metrics.insert("congestion_loss".to_owned(), before);
        zbs.metrics.insert("congestion_loss".to_owned(), now);
        assert!(
            verdict(&[none.clone(), zbs.clone()], 10)
                .starts_with("ZBS: 912 kb/s, queue loss 0.31 % instead of 0.00 %; ")
        );
        zbs.metrics["congestion_loss"].value = Some(0.000_004);
        assert!(verdict(&[none, zbs], 10).starts_with("ZBS: 912 kb/s; "), "shown as the same");
    }

    #[test]
    fn an_algorithm_is_told_with_its_share_of_misjudged_queue_losses() {
        let flow = FlowMeasurements {
            measured: true,
            lda: Some("ZBS".to_owned()),
            ..FlowMeasurements::default()
        };
        let run = RunMetrics { seed: 1, metrics: IndexMap::new(), flows: vec![flow] };
        let mut zbs = with_goodput("ZBS", 912.0, &[("goodput", 8.0, 4.1)]);
        zbs.each_run = vec![run];
        let none = || with_goodput("none", 885.4, &[]);
        assert_eq!(
            verdict(&[none(), zbs.clone()], 10),
            "ZBS: 912 kb/s, 1.08 times none, M_c unknown (no queue loss judged); none: 885 kb/s"
        );
        zbs.each_run[0].flows[0].judged_congestion = 9;
        assert!(verdict(&[none(), zbs.clone()], 10).contains(", M_c unknown (9 queue losses); "));
        zbs.each_run[0].flows[0].judged_congestion = 10;
        let estimate = MetricEstimate { value: Some(57.6), ..zbs.metrics["goodput"].clone() };
        zbs.metrics.insert("M_c".to_owned(), estimate);
        zbs.differences.clear();
        assert_eq!(
            verdict(&[none(), zbs], 10),
            "no difference can be told from 10 runs; ZBS: M_c 58 %"
        );
    }

    #[test]
    fn chance_is_called_chance() {
        let zbs = variant("ZBS", &[("goodput", 3.0, 4.1)]);
        let both = [variant("none", &[]), zbs];
        assert_eq!(verdict(&both, 10), "no difference can be told from 10 runs");
        assert_eq!(
            verdict(&both, 1),
            "one run tells no difference from chance; --runs 10 gives intervals"
        );
    }
}
