//! A fading channel computed from the physics: packets are encoded, interleaved, spread, sent over fading paths,
//! received with noise and interference of other users, and decoded. A packet with a wrong bit is lost.
//!
//! - `fading`: Rayleigh fading on several paths (Jakes; Dent, Bottomley and Croft 1993).
//! - `rake`: how the receiver combines paths, noise and other users.
//! - `interleaver`: the order in which coded bits are sent.
//! - `convolutional`: the code and its Viterbi decoder.
//! - `uplink`: the whole chain, trial by trial.
//!
//! The system is that of Cen, Cosman and Voelker (2003), section V-B. A trial is a pure function of parameters, seed
//! and its number; draws come from named streams and all transcendental functions from `libm`, so a pattern is
//! byte-identical on every machine. A hundred simulated seconds take seconds to compute, so patterns are made once and
//! then used as traces ([`ChannelSpec::Trace`](crate::ChannelSpec::Trace)).
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
