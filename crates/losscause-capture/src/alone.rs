//! What each of two joined captures tells alone.

use serde::Serialize;

/// What each of two captures tells alone about a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Alone {
    /// The sender's capture.
    pub sender: Tally,
    /// The receiver's capture.
    pub receiver: Tally,
}

/// How a single capture's losses compare with those that two captures show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// Known losses that its analysis found.
    pub found: u64,
    /// Known losses that its analysis missed.
    pub missed: u64,
    /// Losses of its analysis that are not known: false ones, and those outside of what both
    /// captures have.
    pub others: u64,
}
