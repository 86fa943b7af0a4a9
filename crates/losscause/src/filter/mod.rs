//! Running estimates that several algorithms share.
//!
//! Relative one-way trip times include the offset between two clocks. Each filter therefore first takes an integer
//! difference to an earlier value, with wrap-around, and only then uses floats. So an offset of the sender's clock
//! changes no bit of any estimate.

mod backlog;
mod extremes;
mod flip_flop;
mod lookback;
mod mean;
mod quantile;
mod rounds;

pub use backlog::Backlog;
pub use extremes::{Extremes, Minimum, Position};
pub use flip_flop::{FlipFlop, FlipFlopReadings, LowerLimit, Neighbour};
pub use lookback::{Lookback, PARTS};
pub use mean::{DeviationFrom, FirstDeviation, Mean, MeanDeviation, Spread};
pub use quantile::Quantile;
pub use rounds::{Round, Rounds};
