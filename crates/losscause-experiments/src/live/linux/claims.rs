//! What the runs of `live` are to show: one predicate per claim of the record.

use losscause_laboratory::papers::claims::{Answer, Measured, Predicate, Unmeasured};
use losscause_laboratory::papers::record::Value;

type Mean = Result<f64, Unmeasured>;

/// Those of which the record claims that they share and fill a link as reno does: all of ours but
/// lc_veno.
const SYSTEMS: [&str; 7] = [
    "lc_spike",
    "lc_cubic_spike",
    "lc_zbs",
    "lc_cubic_zbs",
    "lc_westwood_vt",
    "lc_newreno_ff",
    "lc_zigzag",
];

/// Predicates by the claims' names. Those of sharing are the same for each system.
pub(super) const PREDICATES: &[(&str, Predicate)] = &[
    ("clean-goodput", clean_goodput),
    ("gain-1-percent", |measured| gains(measured, 0.01, 2.5)),
    ("gain-2-percent", |measured| gains(measured, 0.02, 3.0)),
    ("queue-drops", queue_drops),
    ("share-reno.lc_spike", |measured| half_beside_reno(measured, "lc_spike")),
    ("share-reno.lc_cubic_spike", |measured| half_beside_reno(measured, "lc_cubic_spike")),
    ("share-reno.lc_zbs", |measured| half_beside_reno(measured, "lc_zbs")),
    ("share-reno.lc_cubic_zbs", |measured| half_beside_reno(measured, "lc_cubic_zbs")),
    ("share-reno.lc_westwood_vt", |measured| half_beside_reno(measured, "lc_westwood_vt")),
    ("share-reno.lc_newreno_ff", |measured| half_beside_reno(measured, "lc_newreno_ff")),
    ("share-reno.lc_zigzag", |measured| half_beside_reno(measured, "lc_zigzag")),
    ("share-reno.lc_sift", |measured| half_beside_reno(measured, "lc_sift")),
    ("share-reno.lc_cubic_sift", |measured| half_beside_reno(measured, "lc_cubic_sift")),
    ("share-cubic.lc_spike", |measured| as_reno_beside_cubic(measured, "lc_spike")),
    ("share-cubic.lc_cubic_spike", |measured| as_reno_beside_cubic(measured, "lc_cubic_spike")),
    ("share-cubic.lc_zbs", |measured| as_reno_beside_cubic(measured, "lc_zbs")),
    ("share-cubic.lc_cubic_zbs", |measured| as_reno_beside_cubic(measured, "lc_cubic_zbs")),
    ("share-cubic.lc_westwood_vt", |measured| as_reno_beside_cubic(measured, "lc_westwood_vt")),
    ("share-cubic.lc_newreno_ff", |measured| as_reno_beside_cubic(measured, "lc_newreno_ff")),
    ("share-cubic.lc_zigzag", |measured| as_reno_beside_cubic(measured, "lc_zigzag")),
    ("share-cubic.lc_sift", |measured| as_reno_beside_cubic(measured, "lc_sift")),
    ("share-cubic.lc_cubic_sift", |measured| as_reno_beside_cubic(measured, "lc_cubic_sift")),
];

/// The rate of the link of the first table, kb/s.
const LINK_KBPS: f64 = 10_000.0;

/// A metric of the first table, at this share of random losses.
fn of_one_flow(measured: &Measured<'_>, metric: &str, system: &str, loss: f64) -> Mean {
    // Tables on demand have the same scenario on a faster link, or behind another queue.
    let at = [
        ("loss", Value::from(loss)),
        ("queue", Value::from("bdp")),
        ("rate_mbps", Value::from(10)),
    ];
    measured.value(metric, system, "one-flow", &at)
}

fn share(measured: &Measured<'_>, system: &str, against: &str) -> Mean {
    measured.value("share", system, "sharing", &[("against", Value::from(against))])
}

fn clean_goodput(measured: &Measured<'_>) -> Answer {
    let reno = of_one_flow(measured, "goodput", "reno", 0.0)?;
    let mut all_are_near = true;
    for system in SYSTEMS {
        all_are_near &=
            (of_one_flow(measured, "goodput", system, 0.0)? - reno).abs() <= 0.03 * reno;
    }
    Ok(all_are_near)
}

/// The system of ours with the largest goodput at this loss, and that goodput.
fn best(measured: &Measured<'_>, loss: f64) -> Result<(&'static str, f64), Unmeasured> {
    let mut best = ("", f64::NEG_INFINITY);
    for system in SYSTEMS {
        let goodput = of_one_flow(measured, "goodput", system, loss)?;
        if goodput > best.1 {
            best = (system, goodput);
        }
    }
    Ok(best)
}

fn gains(measured: &Measured<'_>, loss: f64, times: f64) -> Answer {
    let reno = of_one_flow(measured, "goodput", "reno", loss)?;
    let (_, goodput) = best(measured, loss)?;
    Ok(goodput >= times * reno && goodput >= 0.8 * LINK_KBPS)
}

fn queue_drops(measured: &Measured<'_>) -> Answer {
    let reno = of_one_flow(measured, "queue_drops", "reno", 0.0)?;
    let mut few = true;
    for loss in [0.01, 0.02] {
        let (system, _) = best(measured, loss)?;
        few &= of_one_flow(measured, "queue_drops", system, loss)? <= 1.5 * reno;
    }
    Ok(few)
}

fn half_beside_reno(measured: &Measured<'_>, system: &str) -> Answer {
    Ok((45.0..=55.0).contains(&share(measured, system, "reno")?))
}

fn as_reno_beside_cubic(measured: &Measured<'_>, system: &str) -> Answer {
    let reno = share(measured, "reno", "cubic")?;
    Ok((share(measured, system, "cubic")? - reno).abs() <= 5.0)
}

#[cfg(test)]
pub(super) mod tests {
    use losscause_laboratory::papers::claims::settle_with;
    use losscause_laboratory::papers::record::Item;

    use super::*;
    use crate::live::linux::LIVE;

    /// Items of the record with these values.
    pub(crate) fn items(value: impl Fn(&Item) -> Option<f64>) -> Vec<Item> {
        crate::live::testing::items(LIVE.record(), |_| true, value)
    }

    fn holds(id: &str, value: impl Fn(&Item) -> Option<f64>) -> Option<bool> {
        let outcomes = settle_with(LIVE.record().published(), PREDICATES, &items(value));
        outcomes.into_iter().find(|outcome| outcome.id == id).unwrap().holds
    }

    fn loss(item: &Item) -> f64 {
        item.parameters["loss"].as_number().unwrap()
    }

    #[test]
    fn a_goodput_within_three_percent_is_near_and_veno_is_anywhere() {
        let with = |lc_zbs: f64| {
            holds("clean-goodput", |item| {
                Some(match item.system.as_str() {
                    "lc_zbs" => lc_zbs,
                    "lc_veno" => 1.0,
                    _ => 9_000.0,
                })
            })
        };
        assert_eq!(
            [9_270.0, 8_730.0, 9_271.0, 8_729.0].map(with),
            [true, true, false, false].map(Some)
        );
    }

    #[test]
    fn the_best_needs_both_the_multiple_and_four_fifths_of_the_link() {
        let with = |reno: f64, ours: f64| {
            let value = |item: &Item| Some(if item.system == "lc_spike" { ours } else { reno });
            [holds("gain-1-percent", value), holds("gain-2-percent", value)].map(Option::unwrap)
        };
        assert_eq!(with(3_200.0, 8_000.0), [true, false]);
        assert_eq!(with(2_600.0, 7_999.0), [false, false]);
        assert_eq!(with(2_600.0, 8_000.0), [true, true]);
    }

    #[test]
    fn the_queue_drops_are_those_of_the_best_at_each_loss() {
        let with = |spike: f64, zbs: f64| {
            holds("queue-drops", |item| {
                let best = if loss(item) == 0.01 { "lc_spike" } else { "lc_zbs" };
                Some(match (item.metric.as_str(), item.system.as_str()) {
                    ("goodput", system) => {
                        if system == best {
                            2.0
                        } else {
                            1.0
                        }
                    }
                    (_, "lc_spike") => spike,
                    (_, "lc_zbs") => zbs,
                    _ => 6.0,
                })
            })
        };
        assert_eq!(
            [with(9.0, 9.0), with(9.1, 9.0), with(9.0, 9.1)],
            [true, false, false].map(Some)
        );
    }

    #[test]
    fn shares_are_half_beside_reno_and_those_of_reno_beside_cubic() {
        let with = |reno: f64, cubic: f64| {
            let value = |item: &Item| {
                let of_spike = if item.parameters.get("against")? == &Value::from("reno") {
                    reno
                } else {
                    cubic
                };
                Some(if item.system == "lc_spike" { of_spike } else { 43.0 })
            };
            [holds("share-reno.lc_spike", value), holds("share-cubic.lc_spike", value)]
                .map(Option::unwrap)
        };
        assert_eq!(with(45.0, 38.0), [true, true]);
        assert_eq!(with(44.9, 48.0), [false, true]);
        assert_eq!(with(55.1, 48.1), [false, false]);
    }

    #[test]
    fn a_faster_link_or_other_queue_settles_no_first_table_claim() {
        let is_other = |item: &Item| {
            item.scenario == "one-flow"
                && (item.parameters["queue"] != Value::from("bdp")
                    || item.parameters["rate_mbps"] != Value::from(10))
        };
        let outcomes = settle_with(
            LIVE.record().published(),
            PREDICATES,
            &items(|item| is_other(item).then_some(1.0)),
        );
        assert!(outcomes.iter().all(|outcome| outcome.holds.is_none()), "{outcomes:?}");
    }

    #[test]
    fn a_claim_whose_cells_were_not_measured_is_open() {
        let unmeasured = |id| holds(id, |item| (item.scenario == "one-flow").then_some(1.0));
        assert_eq!(unmeasured("share-reno.lc_spike"), None);
        assert_eq!(unmeasured("clean-goodput"), Some(true));
    }
}
