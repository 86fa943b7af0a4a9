//! The experiment: its record, its claims, and the stack that runs it.

use std::sync::LazyLock;

use losscause_laboratory::papers::record::{Paper, PaperTexts, ScenarioText};

use super::claims;
use crate::live::experiment::Ready;
use crate::live::{Cell, Experiment};

static TEXTS: PaperTexts = PaperTexts {
    key: "media",
    published: include_str!("../../../experiments/media/record.toml"),
    items: include_str!("../../../experiments/media/items.toml"),
    explanations: include_str!("../../../experiments/media/explanations.toml"),
    costs: "",
    scenarios: &[ScenarioText {
        name: "radio",
        text: include_str!("../../../experiments/media/scenarios/radio.toml"),
    }],
    channel: None,
    patterns: &[],
};

/// losscause-media's streams, with every algorithm of a receiver, over the simulator's links in
/// virtual time.
pub static MEDIA: Experiment = Experiment {
    record: LazyLock::new(|| Paper::of(&TEXTS)),
    predicates: claims::PREDICATES,
    answer: claims::answer,
    set_up,
};

#[cfg(feature = "media")]
fn set_up(_: &[Cell]) -> Ready {
    Ok(Box::new(super::stack::VirtualStack))
}

#[cfg(not(feature = "media"))]
fn set_up(_: &[Cell]) -> Ready {
    Err(crate::live::LiveError::not_built("media", "media"))
}
