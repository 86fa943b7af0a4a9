//! The loss differentiation algorithms, one file each.

use crate::{Arrival, Judgement, Loss};

/// A loss differentiation algorithm at the receiver.
///
/// It is fed **every** packet that arrives in order, and asked at the first arrival after a gap, after it has
/// taken that arrival in.
pub trait Lda {
    /// The published name: "ZigZag", "mBiaz".
    fn name(&self) -> &'static str;

    /// What the algorithm needs to be told. Whoever cannot provide it refuses instead of guessing.
    fn needs(&self) -> Needs;

    /// Takes in an arrival.
    fn on_arrival(&mut self, arrival: &Arrival);

    /// Judges one lost packet. Asking again gives the same answer.
    fn judge(&self, loss: &Loss) -> Judgement;

    /// The base scheme in force, by its published name: the algorithm's own, except for hybrids.
    fn scheme(&self) -> &'static str {
        self.name()
    }
}

/// The inputs an algorithm cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// The sender's timestamp in every packet ([`Arrival::rott`]).
    pub sender_timestamp: bool,
    /// Packets of equal size, each with its own arrival time: inter-arrival times mean transmission times.
    pub inter_arrival: bool,
    /// The true cause ([`Loss::truth`]): simulators only.
    pub truth: bool,
}
