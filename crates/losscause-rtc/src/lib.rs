//! Bandwidth estimation for webrtc-rs that tolerates losses which are not congestion.
//!
//! webrtc-rs estimates the bandwidth in `rtc-interceptor`: a [`BandwidthEstimator`] hears of every
//! packet when it left, when it arrived on the receiver's clock, or that it did not arrive. Its
//! estimator, Google Congestion Control ([`Gcc`]), takes the least of two estimates: one follows
//! delays, the other the share of lost packets. The second holds its rate above 2 % of losses and
//! lowers it above 10 %, whatever the cause.
//!
//! [`LossTolerant`] stands in front of an estimator. An algorithm of the crate `losscause` judges
//! every gap, with the inputs of a receiver as in Cen, Cosman and Voelker (2003): the relative
//! one-way trip time of each packet, and the time between arrivals. Reports of packets that it
//! takes for wireless losses are left out, so they are neither lost nor sent for the estimator.
//! All else is passed on.
//!
//! ```
//! use losscause_rtc::LossTolerant;
//! use rtc_interceptor::{BandwidthEstimator, Gcc};
//!
//! let estimator = LossTolerant::recommended(Gcc::new(1e6, 1e5, 2e7));
//! let monitor = estimator.monitor();
//! assert_eq!(estimator.target_bitrate(), 1e6);
//! assert_eq!(monitor.totals().wireless, 0);
//! ```
//!
//! Another algorithm, other caps, and what was decided:
//!
//! ```
//! use losscause::registry::Registry;
//! use losscause_rtc::{Caps, Counts, Error, LossTolerant, LossVerdict, Monitor, Overruled};
//! use rtc_interceptor::Gcc;
//!
//! let registry = Registry::built_in();
//! let named = |name| LossTolerant::named(Gcc::new(1e6, 1e5, 2e7), name, &registry);
//! let caps = Caps { max_run: 10, ..Caps::default() };
//! let estimator = named("ZBS")?.with_caps(caps)?;
//! let monitor: Monitor = estimator.monitor();
//! assert_eq!(monitor.totals(), Counts::default());
//! let by_brake =
//!     |verdict: &LossVerdict| matches!(verdict.overruled, Some(Overruled::Safeguard(_)));
//! assert!(!monitor.last_verdicts().iter().any(by_brake));
//! let refused: Option<Error> = named("as told").err();
//! assert!(refused.is_some(), "no receiver labels its packets");
//! # Ok::<(), Error>(())
//! ```
//!
//! # What is known about a loss
//!
//! | | from | |
//! |---|---|---|
//! | relative one-way trip time | arrival less departure | exact to the 0.25 ms of the feedback; its zero is arbitrary |
//! | time between arrivals | arrivals | the same |
//! | the lost packets of a gap | their reports | a feedback packet that is lost itself makes a gap of all that it reported |
//! | reordered packets | reported as arrived | no gap, unless the feedback overtook them |
//!
//! # What is never ignored
//!
//! - losses before a packet whose arrival time is not known. RFC 8888 feedback has none that can be
//!   used: rtc-interceptor 0.21 gives the time from the arrival to the report in its place;
//! - losses that the algorithm leaves undecided;
//! - losses for which the brake speaks ([`losscause::safeguard`]). The guard is silent: the
//!   estimator follows the delay itself;
//! - losses beyond the caps ([`losscause::caps`]). The run of `max_run` ends when the estimate falls.
//!
//! A size above that of any UDP datagram is passed on as 65,535 bytes.
//!
//! [`BandwidthEstimator`]: rtc_interceptor::BandwidthEstimator
//! [`Gcc`]: rtc_interceptor::Gcc
#![forbid(unsafe_code)]

mod error;
mod estimator;
mod monitor;
mod verdict;

pub use error::Error;
pub use estimator::{LossTolerant, PROVIDED};
pub use losscause::caps::Caps;
pub use monitor::Monitor;
pub use verdict::{Counts, LossVerdict, Overruled};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
