//! Values that are counted, not run.

use losscause_study::{InputError, Registry};

use crate::papers::record::{self, Paper, Parameters, Value};

/// A metric of the pattern of packet errors that the parameter `loss` names, in the metric's unit.
pub(super) fn of_pattern(
    paper: &Paper,
    metric: &str,
    parameters: &Parameters,
) -> Result<Option<f64>, InputError> {
    let Some(name) = parameters.get("loss") else { return Ok(None) };
    let found = record::pattern(&format!("{}/{name}", paper.key()))?.statistics();
    Ok(match metric {
        "wireless_loss" => Some(100.0 * found.loss),
        "ber" => Some(found.bit_error_rate),
        "share_of_loss_events_with_two_packets" => {
            found.two_packet_events.map(|share| 100.0 * share)
        }
        _ => None,
    })
}

/// Operations of the system's algorithm, as the algorithm declares them; none if they are not
/// declared.
pub(super) fn count_operations(
    registry: &Registry,
    paper: &Paper,
    system: &str,
    parameters: &Parameters,
) -> Option<f64> {
    let algorithm = registry.find(paper.system(system)?.lda.as_deref()?)?;
    let cost = algorithm.info().operations?;
    let text = |name: &str| match parameters.get(name) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let count = match (text("op"), text("moment")) {
        ("addition", "arrival") => cost.additions_per_arrival,
        ("addition", "loss") => cost.additions_after_loss,
        ("multiplication", "arrival") => cost.multiplications_per_arrival,
        ("multiplication", "loss") => cost.multiplications_after_loss,
        _ => return None,
    };
    Some(f64::from(count))
}
