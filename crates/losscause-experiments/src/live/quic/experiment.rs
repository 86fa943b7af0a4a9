//! The experiment: its record, its claims, and the stack that runs it.

use std::sync::LazyLock;

use losscause_laboratory::papers::record::{Paper, PaperTexts, ScenarioText};

use super::claims;
use crate::live::experiment::Ready;
use crate::live::{Cell, Experiment};

static TEXTS: PaperTexts = PaperTexts {
    key: "quic",
    published: include_str!("../../../experiments/quic/record.toml"),
    items: include_str!("../../../experiments/quic/items.toml"),
    explanations: include_str!("../../../experiments/quic/explanations.toml"),
    costs: "",
    scenarios: &[
        ScenarioText {
            name: "bottleneck",
            text: include_str!("../../../experiments/quic/scenarios/bottleneck.toml"),
        },
        ScenarioText {
            name: "satellite",
            text: include_str!("../../../experiments/quic/scenarios/satellite.toml"),
        },
    ],
    channel: None,
    patterns: &[],
};

/// quinn's controllers, alone and with loss differentiation, over the simulator's links in virtual
/// time.
pub static QUIC: Experiment = Experiment {
    record: LazyLock::new(|| Paper::of(&TEXTS)),
    predicates: claims::PREDICATES,
    answer: claims::answer,
    set_up,
};

#[cfg(feature = "quic")]
fn set_up(_: &[Cell]) -> Ready {
    Ok(Box::new(super::stack::VirtualStack::default()))
}

#[cfg(not(feature = "quic"))]
fn set_up(_: &[Cell]) -> Ready {
    Err(crate::live::LiveError::not_built("quic", "quic"))
}
