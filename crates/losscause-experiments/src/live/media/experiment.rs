//! The experiment: its record, its claims, and the stack that runs it.

use std::sync::LazyLock;

use losscause_laboratory::papers::claims::Predicate;
use losscause_laboratory::papers::record::{Item, Paper, PaperTexts, ScenarioText};

use super::claims;
use crate::live::{Cell, Experiment, LiveError, Stack};

/// losscause-media's streams, with every algorithm of a receiver, over the simulator's links in
/// virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Media;

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

impl Experiment for Media {
    fn record(&self) -> &'static Paper {
        static RECORD: LazyLock<Paper> = LazyLock::new(|| Paper::of(&TEXTS));
        &RECORD
    }

    fn predicates(&self) -> &'static [(&'static str, Predicate)] {
        claims::PREDICATES
    }

    fn answer(&self, items: &[Item]) -> Option<String> {
        claims::answer(items)
    }

    #[cfg(feature = "media")]
    fn set_up(&self, _: &[Cell]) -> Result<Box<dyn Stack>, LiveError> {
        Ok(Box::new(super::stack::VirtualStack))
    }

    #[cfg(not(feature = "media"))]
    fn set_up(&self, _: &[Cell]) -> Result<Box<dyn Stack>, LiveError> {
        Err(LiveError::not_built("media", "media"))
    }
}
