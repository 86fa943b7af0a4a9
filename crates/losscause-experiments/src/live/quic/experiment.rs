//! The experiment: its record, its claims, and the stack that runs it.

use losscause_laboratory::papers::reproduce::Configuration;

use super::claims;
use crate::live::Experiment;
use crate::live::experiment::{Ready, record};

/// quinn's controllers, alone and with loss differentiation, over the simulator's links in virtual
/// time.
pub static QUIC: Experiment = Experiment {
    record: record!("quic", ["bottleneck", "satellite"], claims::PREDICATES),
    answer: claims::answer,
    set_up,
};

#[cfg(feature = "quic")]
fn set_up(cells: &[Configuration]) -> Ready {
    super::stack::of(cells)
}

#[cfg(not(feature = "quic"))]
fn set_up(_: &[Configuration]) -> Ready {
    Err(crate::live::LiveError::not_built("quic", "quic").into())
}
