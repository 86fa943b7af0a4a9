//! Running estimates that several algorithms share, each written once.
//!
//! Relative one-way trip times carry the offset between two clocks. Every filter here first takes an integer
//! difference to a value it saw before, wrapping around where the clocks are far apart, and only then does float
//! arithmetic. So an offset of the sender's clock changes no bit of any estimate.

mod backlog;
mod extremes;
mod flip_flop;
mod lookback;
mod mean;
mod quantile;
mod real;

pub use backlog::Backlog;
pub use extremes::{Extremes, Minimum, Position};
pub use flip_flop::{FlipFlop, FlipFlopReadings, LowerLimit, Neighbour};
pub use lookback::{Lookback, PARTS};
pub use mean::{DeviationFrom, FirstDeviation, Mean, MeanDeviation, Spread};
pub use quantile::Quantile;
pub use real::Real;
