//! The experiment: its record, its claims, and the stack that runs it.

use losscause_laboratory::papers::reproduce::Configuration;

use super::claims;
use crate::live::Experiment;
use crate::live::experiment::{Ready, record};

/// losscause-media's streams, with every algorithm of a receiver, over the simulator's links in
/// virtual time.
pub static MEDIA: Experiment = Experiment {
    record: record!("media", ["radio"], claims::PREDICATES),
    answer: claims::answer,
    set_up,
};

#[cfg(feature = "media")]
fn set_up(cells: &[Configuration]) -> Ready {
    Ok(cells.iter().map(|_| Box::new(super::MediaStack) as _).collect())
}

#[cfg(not(feature = "media"))]
fn set_up(_: &[Configuration]) -> Ready {
    Err(crate::live::LiveError::not_built("media", "media").into())
}
