//! A fading channel from the physics up: packets are encoded, interleaved, spread, sent over paths that fade, received
//! among noise and other users, and decoded. Which packets are lost follows.
//!
//! - `fading`: Rayleigh fading on several paths (Jakes; Dent, Bottomley and Croft 1993).
//! - `rake`: what the receiver makes of the paths, noise and other users.
//! - `interleaver`: in which order coded bits are sent.
//! - `convolutional`: the code and its Viterbi decoder.
//! - `uplink`: all of it together, one trial after the other.
//!
//! The system is that of Cen, Cosman and Voelker (2003), section V-B. A trial is a pure function of parameters, seed and its
//! number; draws come from named streams and all transcendental functions from `libm`, so that a pattern is the same to
//! the byte on every machine. It takes seconds of work per hundred simulated seconds: patterns are made once and then
//! used as traces ([`ChannelSpec::Trace`](crate::ChannelSpec::Trace)).
//!
//! Deviations: what the paper leaves open is a parameter; docs/channels/jakes.md gives the choices and their reasons.

mod convolutional;
mod fading;
mod interleaver;
mod normal;
mod parameters;
mod rake;
mod uplink;

pub use parameters::{Alignment, Decision, DopplerPer, EnergyOn, ParameterProblem, Parameters, Unit};
pub use uplink::Uplink;
