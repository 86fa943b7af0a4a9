//! The experiment: its record, its claims, and the stack that runs it.

use std::sync::LazyLock;

use losscause_laboratory::papers::claims::Predicate;
use losscause_laboratory::papers::record::{Item, Paper, PaperTexts, ScenarioText};

use super::claims;
use crate::live::{Cell, Experiment, LiveError, Stack};

/// quinn's controllers, alone and with loss differentiation, over the simulator's links in virtual
/// time.
#[derive(Clone, Copy, Debug)]
pub struct Quic;

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

impl Experiment for Quic {
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

    #[cfg(feature = "quic")]
    fn set_up(&self, _: &[Cell]) -> Result<Box<dyn Stack>, LiveError> {
        Ok(Box::new(super::stack::VirtualStack::default()))
    }

    #[cfg(not(feature = "quic"))]
    fn set_up(&self, _: &[Cell]) -> Result<Box<dyn Stack>, LiveError> {
        Err(LiveError::not_built("quic", "quic"))
    }
}
