//! What the experiment claims, each claim one predicate on measured medians, and its answer in one
//! sentence.

use losscause_laboratory::papers::claims::{Answer, Measured, Predicate, Unmeasured};
use losscause_laboratory::papers::record::{Item, Value};

/// Cen's networks.
const NETWORKS: [&str; 2] = ["WLH", "WB"];

/// The levels of loss of Cen's table I.
const LOSSES: [&str; 3] = ["high", "medium", "low"];

/// Of the radio link.
const RADIO_LOSSES: [f64; 3] = [0.0, 0.01, 0.02];

/// Every system.
pub(super) const SYSTEMS: [&str; 9] =
    ["none", "oracle", "Biaz", "mBiaz", "Spike", "Spike-Tobe", "ZigZag", "ZBS", "always wireless"];

/// Largest difference to simulated TFRC, percent.
const NEAR_PERCENT: f64 = 10.0;

/// What ZBS must use of Cen's last link at high loss, percent.
const FULL_PERCENT: f64 = 95.0;

/// By the claims' names in record.toml.
pub(super) const PREDICATES: &[(&str, Predicate)] = &[
    ("rate-of-simulated", |of| {
        for network in NETWORKS {
            if !is_near_simulated(of, network, &LOSSES.map(Value::from))? {
                return Ok(false);
            }
        }
        Ok(true)
    }),
    ("rate-of-simulated.radio", |of| {
        is_near_simulated(of, "radio", &RADIO_LOSSES.map(Value::from))
    }),
    ("zbs-fills-the-last-hop", |of| Ok(usage_of_last_hop(of, "ZBS")? >= FULL_PERCENT)),
    ("plain-does-not", |of| plain_is_below(of)),
];

/// None where nothing measured it.
pub(super) fn answer(items: &[Item]) -> Option<String> {
    sentence(&Measured::new(items)).ok()
}

fn sentence(of: &Measured<'_>) -> Result<String, Unmeasured> {
    let zbs = usage_of_last_hop(of, "ZBS")?;
    let plain = usage_of_last_hop(of, "none")?;
    let oracle = usage_of_last_hop(of, "oracle")?;
    Ok(format!(
        "On Cen's wireless last hop with one flow and high loss, a stream with ZBS uses {zbs:.1} % of the link, without \
         an algorithm {plain:.1} %, and with the truth {oracle:.1} %."
    ))
}

/// Whether every system's rate is near that of simulated TFRC at each of these levels of loss.
fn is_near_simulated(of: &Measured<'_>, network: &str, losses: &[Value]) -> Answer {
    for loss in losses {
        for system in SYSTEMS {
            let at = [("loss", loss.clone())];
            let (least, most) = of.interval("goodput_of_simulated", system, network, &at)?;
            if least < 100.0 - NEAR_PERCENT || most > 100.0 + NEAR_PERCENT {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn plain_is_below(of: &Measured<'_>) -> Answer {
    Ok(usage_of_last_hop(of, "none")? <= usage_of_last_hop(of, "ZBS")? - 10.0)
}

fn usage_of_last_hop(of: &Measured<'_>, system: &str) -> Result<f64, Unmeasured> {
    of.value("usage", system, "WLH", &at("high"))
}

fn at(loss: &str) -> [(&'static str, Value); 1] {
    [("loss", Value::from(loss))]
}
