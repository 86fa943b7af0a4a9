//! Running estimates that several algorithms share.
//!
//! Relative one-way trip times include the offset between two clocks. Each filter therefore first
//! takes an integer difference to an earlier value, with wrap-around, and only then uses floats. So
//! an offset of the sender's clock changes no bit of any estimate.
//!
//! ```
//! use losscause::filter::{
//!     Extremes, FlipFlop, FlipFlopReadings, Lookback, Minimum, Position, Quantile,
//! };
//! use losscause::{Span, Time};
//!
//! let window = Lookback { pkts: 8, ..Lookback::ALL };
//! let mut extremes = Extremes::over(window);
//! let mut minimum = Minimum::over(window);
//! let mut median = Quantile::new(0.5);
//! let mut outliers = FlipFlop::new(FlipFlopReadings::default());
//! for value in [30, 31, 30, 32, 30, 31].map(Span::from_millis) {
//!     extremes.observe(value, Time::ZERO);
//!     minimum.observe(value);
//!     median.observe(value);
//!     outliers.observe(value);
//! }
//! assert_eq!(minimum.get(), Some(Span::from_millis(30)));
//! let late = Span::from_millis(90);
//! median.observe(late);
//! assert!(median.get() < Some(Span::from_millis(32)), "one outlier hardly moves it");
//! assert!(outliers.observe(late));
//! let Position { above_min, new_extreme } = extremes.observe(late, Time::ZERO);
//! assert!(new_extreme && above_min == Span::from_millis(60));
//! ```
//!
//! Means, and the estimates of a sender:
//!
//! ```
//! use losscause::filter::{
//!     Backlog, DeviationFrom, FirstDeviation, Mean, MeanDeviation, Round, Rounds, Spread,
//! };
//! use losscause::{Span, Time};
//!
//! let mut mean = Mean::new(0.5);
//! let mut deviation = MeanDeviation::new(0.25, DeviationFrom::NewMean, FirstDeviation::Zero);
//! let mut backlog = Backlog::default();
//! let mut rounds = Rounds::default();
//! let mut finished = Vec::new();
//! for (at_ms, rtt_ms) in [(0, 40), (20, 40), (40, 44), (60, 50)] {
//!     let rtt = Span::from_millis(rtt_ms);
//!     finished.extend(rounds.turn(Time::ZERO + Span::from_millis(at_ms), rtt));
//!     rounds.observe(rtt);
//!     mean.observe(rtt.as_millis_f64());
//!     deviation.observe(rtt);
//!     backlog.observe(rtt);
//! }
//! assert_eq!(mean.get(), Some(46.0));
//! let Spread { value, mean, deviation } =
//!     deviation.spread(Span::from_millis(50)).expect("four values");
//! assert!(value.as_nanos_f64() > mean + deviation);
//! assert_eq!(backlog.pkts(10.0), Some(2.0), "a fifth of the window is queued");
//! let Round { min, max, samples } = finished[0];
//! assert_eq!((min, max, samples), (Span::from_millis(40), Span::from_millis(44), 3));
//! ```

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
