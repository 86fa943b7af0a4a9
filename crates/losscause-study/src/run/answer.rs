//! The answer of a run in words.

use super::measure::group;
use super::{FlowMeasurements, MetricEstimate, Misjudged, SimulationResult};
use crate::scenario::recommended_lda;
use crate::statistics::mean;
use crate::tools::figures::estimate;

impl SimulationResult {
    /// What came through, what was lost and why, and how the algorithms judged it: a sentence each.
    pub fn answer(&self) -> Vec<String> {
        let measured = || self.flows.iter().filter(|flow| flow.measured);
        let (who, whose) = match (measured().next(), measured().count()) {
            (None, _) => return vec!["No flow is measured.".to_owned()],
            (Some(only), 1) => (format!("The flow {}", only.flow), "its"),
            (Some(_), count) => (format!("The {count} measured flows together"), "their"),
        };
        let found = |name: &str| self.found(name);
        let count = |name| found(name).map_or_else(|| "0".to_owned(), text);
        let transfers = self.transfers();
        let goodput = found("goodput")
            .map_or_else(|| "nothing".to_owned(), |rate| format!("{} of goodput", rate_text(rate)));
        let complete = found("completion_time")
            .filter(|_| transfers.is_none())
            .map(|time| format!(" and was complete after {} s", text(time)));
        let each = if self.runs > 1 { " per run" } else { "" };
        let lost = format!(
            "Queues dropped {} of {whose} packets{each}, the air corrupted {}.",
            count("queue_drops"),
            count("wireless_drops")
        );
        let mut names: Vec<&str> = measured().filter_map(|flow| flow.lda.as_deref()).collect();
        names.dedup();
        let misjudged: Vec<String> = Misjudged::ALL
            .into_iter()
            .filter_map(|cause| {
                let (share, ci95) = found(cause.metric())?;
                let base = self.base(cause);
                let share = match cause.unknown(self.judged(cause)) {
                    Some(_) => "an unknown share".to_owned(),
                    None => format!("{} %", percent((share, ci95))),
                };
                Some(format!("{share} of the {} losses ({base})", cause.cause()))
            })
            .collect();
        let air_lost = found("wireless_drops").is_some_and(|(drops, _)| drops > 0.0);
        let judged = match (&names[..], &misjudged[..]) {
            ([], _) if air_lost => measured().next().map(|flow| {
                format!(
                    "No algorithm judged them, so every loss counted as congestion; --set flow.{}.lda={} sets one.",
                    group(&flow.flow),
                    recommended_lda()
                )
            }),
            ([], _) => None,
            (names, []) => Some(format!("{} judged no loss.", names.join(" and "))),
            (names, shares) => {
                Some(format!("{} misjudged {}.", names.join(" and "), shares.join(" and ")))
            }
        };
        let filled =
            found("thput").map(|(share, _)| format!(" and filled {share:.0} % of the bottleneck"));
        let rest = self.spread().into_iter().chain(complete.or(filled)).collect::<String>();
        let got = format!("{who} got {goodput}{rest}.");
        let all_are_transfers = measured().all(|flow| flow.offered_bytes.is_some());
        let got = Some(got).filter(|_| transfers.is_none() || !all_are_transfers);
        let clients = [self.responses(), self.played()].into_iter().flatten();
        got.into_iter().chain(transfers).chain(clients).chain([lost]).chain(judged).collect()
    }

    /// " (from 967 kb/s for long to 8.757 Mb/s for short-3)": the groups of flows with the least and the
    /// most goodput per flow; none if there is one group.
    fn spread(&self) -> Option<String> {
        let of_group = |(name, metric): (&String, &MetricEstimate)| {
            Some((metric.value?, name.strip_prefix("goodput_mean.")?.to_owned()))
        };
        let mut groups: Vec<(f64, String)> = self.metrics.iter().filter_map(of_group).collect();
        groups.sort_by(|one, other| one.0.total_cmp(&other.0));
        let [least, .., most] = &groups[..] else { return None };
        let told =
            |(kbps, name): &(f64, String)| format!("{} for {name}", rate_text((*kbps, None)));
        Some(format!(" (from {} to {})", told(least), told(most)))
    }

    /// The measured flows of every run.
    fn measured_flows(&self) -> impl Iterator<Item = &FlowMeasurements> {
        let first = if self.each_run.is_empty() { &self.flows[..] } else { &[] };
        let all = first.iter().chain(self.each_run.iter().flat_map(|run| &run.flows));
        all.filter(|flow| flow.measured)
    }

    /// The judged losses of this cause over all runs.
    pub fn judged(&self, share: Misjudged) -> u64 {
        share.judged_in_all(self.measured_flows())
    }

    /// What a share of misjudged losses is of, over all runs: "of 216 judged; 1042 fell into
    /// recoveries under way".
    fn base(&self, share: Misjudged) -> String {
        let judged = self.judged(share);
        let lost: u64 = self.measured_flows().map(|flow| share.lost(flow)).sum();
        match lost.saturating_sub(judged) {
            0 => format!("of {judged} judged"),
            others => format!("of {judged} judged; {others} fell into recoveries under way"),
        }
    }

    /// A metric's mean and the half-width of its interval.
    fn found(&self, name: &str) -> Option<(f64, Option<f64>)> {
        self.metrics.get(name).and_then(|metric| Some((metric.value?, metric.ci95)))
    }

    /// The sentence about the transfers, if there are several.
    fn transfers(&self) -> Option<String> {
        let count = text(self.found("transfers")?);
        let measured = self.flows.iter().filter(|flow| flow.measured);
        let sizes: Vec<f64> =
            measured.filter_map(|flow| flow.offered_bytes).map(|bytes| bytes as f64).collect();
        let size = bytes(mean(&sizes)?);
        let on_average =
            if sizes.iter().all(|size| *size == sizes[0]) { "" } else { " on average" };
        let took = self.took("completion_time");
        let incomplete = self.found("incomplete").filter(|(count, _)| *count > 0.0);
        let incomplete = incomplete.map(|count| format!(", {} not complete", text(count)));
        let load = self.found("offered_load");
        let load = load.map(|load| format!(", offered load {} %", percent(load)));
        let rest = [incomplete, load].into_iter().flatten().collect::<String>();
        let transfers = if count == "1" { "transfer" } else { "transfers" };
        Some(format!("{count} {transfers} of {size}{on_average}: {took}{rest}."))
    }

    /// The sentence about the responses that clients of applications got.
    fn responses(&self) -> Option<String> {
        let count = text(self.found("responses")?);
        Some(format!("Complete responses: {count}; {}.", self.took("response_time")))
    }

    /// The sentence about players of video, once one plays.
    fn played(&self) -> Option<String> {
        let [startup, stalls, rebuffering] =
            ["startup", "stalls", "rebuffering"].map(|name| self.found(name).map(text));
        Some(format!(
            "Video began after {} s; stalls: {}, {} s in all.",
            startup?, stalls?, rebuffering?
        ))
    }

    /// The mean of a time and its 95th percentile, as a part of a sentence.
    fn took(&self, time: &str) -> String {
        match (self.found(time), self.found(&format!("{time}_p95"))) {
            (Some(mean), Some(p95)) => {
                format!("mean {} s, 95 % within {} s", text(mean), text(p95))
            }
            _ => "none was complete".to_owned(),
        }
    }
}

/// A mean and its interval: "2853 ± 86".
fn text((value, ci95): (f64, Option<f64>)) -> String {
    estimate(value, ci95)
}

/// A rate, kb/s, with its interval, in the unit for people: "2.853 ± 0.086 Mb/s".
fn rate_text((kbps, ci95): (f64, Option<f64>)) -> String {
    if kbps < 1_000.0 {
        return format!("{} kb/s", text((kbps, ci95)));
    }
    format!("{} Mb/s", text((kbps / 1e3, ci95.map(|ci95| ci95 / 1e3))))
}

/// The same; without an interval a whole number.
fn percent((value, ci95): (f64, Option<f64>)) -> String {
    ci95.map_or_else(|| format!("{value:.0}"), |_| text((value, ci95)))
}

/// A size to two significant digits: "100 kB", "1.5 MB".
fn bytes(bytes: f64) -> String {
    let step = 10_f64.powi((bytes.log10().floor() as i32 - 1).max(0));
    let rounded = (bytes / step).round() * step;
    let (unit, name) = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        .into_iter()
        .find(|(unit, _)| rounded >= *unit)
        .unwrap_or((1.0, "B"));
    format!("{} {name}", (rounded / unit * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_in_megabits_from_a_thousand_kilobits() {
        assert_eq!(rate_text((999.0, None)), "999 kb/s");
        assert_eq!(rate_text((2853.4, Some(86.2))), "2.853 ± 0.086 Mb/s");
    }

    #[test]
    fn a_size_has_two_significant_digits() {
        let texts = [7.0, 999.0, 14_480.0, 100_740.0, 1_500_000.0, 2e9].map(bytes);
        assert_eq!(texts, ["7 B", "1 kB", "14 kB", "100 kB", "1.5 MB", "2 GB"]);
    }
}
