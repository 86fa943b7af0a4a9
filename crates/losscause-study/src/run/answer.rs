//! The answer of a run in words.

use super::SimulationResult;
use crate::tools::figures::{plus_minus, to_the_digits_of};

impl SimulationResult {
    /// What came through, what was lost and why, and how the algorithms judged it: a sentence each.
    pub fn answer(&self) -> Vec<String> {
        let measured = || self.flows.iter().filter(|flow| flow.measured);
        let (who, whose) = match (measured().next(), measured().count()) {
            (None, _) => return vec!["No flow is measured.".to_owned()],
            (Some(only), 1) => (format!("The flow {}", only.flow), "its"),
            (Some(_), count) => (format!("The {count} measured flows together"), "their"),
        };
        let found = |name: &str| {
            self.metrics.get(name).and_then(|metric| Some((metric.value?, metric.ci95)))
        };
        let text = |(value, ci95): (f64, Option<f64>)| {
            format!("{} {}", to_the_digits_of(value, ci95), plus_minus(ci95)).trim_end().to_owned()
        };
        let count = |name| found(name).map_or_else(|| "0".to_owned(), text);
        let goodput = found("goodput")
            .map_or_else(|| "nothing".to_owned(), |rate| format!("{} kb/s of goodput", text(rate)));
        let complete = found("completion_time")
            .map(|time| format!(" and was complete after {} s", text(time)));
        let each = if self.runs > 1 { " per run" } else { "" };
        let lost = format!(
            "Queues dropped {} of {whose} packets{each}, the air corrupted {}.",
            count("queue_drops"),
            count("wireless_drops")
        );
        let mut names: Vec<&str> = measured().filter_map(|flow| flow.lda.as_deref()).collect();
        names.dedup();
        let misjudged: Vec<String> = [("M_c", "congestion"), ("M_w", "wireless")]
            .into_iter()
            .filter_map(|(metric, cause)| {
                let (share, ci95) = found(metric)?;
                let share = ci95.map_or_else(|| format!("{share:.0}"), |_| text((share, ci95)));
                Some(format!("{share} % of the {cause} losses"))
            })
            .collect();
        let judged = match (&names[..], &misjudged[..]) {
            ([], _) => "No algorithm judged them, so every loss counted as congestion.".to_owned(),
            (names, []) => format!("{} judged no loss.", names.join(" and ")),
            (names, shares) => {
                format!("{} misjudged {}.", names.join(" and "), shares.join(" and "))
            }
        };
        vec![format!("{who} got {goodput}{}.", complete.unwrap_or_default()), lost, judged]
    }
}
