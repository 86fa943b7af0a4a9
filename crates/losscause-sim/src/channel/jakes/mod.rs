//! A fading channel computed from the physics: packets are encoded, interleaved, spread, sent over
//! fading paths, received with noise and interference of other users, and decoded. A packet with a
//! wrong bit is lost.
//!
//! - `fading`: Rayleigh fading on several paths (Jakes; Dent, Bottomley and Croft 1993).
//! - `rake`: how the receiver combines paths, noise and other users.
//! - `interleaver`: the order in which coded bits are sent.
//! - `convolutional`: the code and its Viterbi decoder.
//! - `uplink`: the whole chain, trial by trial.
//!
//! The system is that of Cen, Cosman and Voelker (2003), section V-B. A trial is a pure function of
//! parameters, seed and its number; draws come from named streams and all transcendental functions
//! from `libm`, so a pattern is byte-identical on every machine. A hundred simulated seconds take
//! seconds to compute, so patterns are made once and then used as traces
//! ([`ChannelSpec::Trace`](crate::ChannelSpec::Trace)).
//!
//! Deviations: what the paper leaves open is a parameter; docs/channels/jakes.md gives the choices
//! and their reasons.
//!
//! ```
//! use losscause::Span;
//! use losscause_sim::jakes::{
//!     Alignment, Decision, DopplerPer, EnergyOn, ParameterProblem, Parameters, Unit, Uplink,
//! };
//!
//! let parameters = Parameters {
//!     packet_bytes: 100,
//!     rate_bps: 80_000,
//!     trial: Span::from_secs(1),
//!     spreading_gain: 32,
//!     chips_of: Unit::CodedBit,
//!     users: 4,
//!     paths: 2,
//!     path_decay_db: 3.0,
//!     eb_n0_db: 7.0,
//!     energy_of: Unit::Bit,
//!     energy_on: EnergyOn::AllPaths,
//!     implementation_loss_db: 0.0,
//!     alignment: Alignment::Asynchronous,
//!     self_interference: true,
//!     doppler: 0.001,
//!     doppler_per: DopplerPer::CodedBit,
//!     oscillators: 16,
//!     constraint_length: 7,
//!     decision: Decision::Soft,
//!     interleaver_packets: 1,
//!     interleaver_columns: 40,
//! };
//! let uplink = Uplink::new(parameters.clone())?;
//! let wrong_bits = uplink.trial(1, 0);
//! assert_eq!(wrong_bits.len(), uplink.packets_per_trial());
//! let refused = Uplink::new(Parameters { users: 0, ..parameters }).map(|_| ());
//! assert!(matches!(refused, Err(ParameterProblem { parameter: "users", .. })));
//! # Ok::<(), ParameterProblem>(())
//! ```

mod convolutional;
mod fading;
mod interleaver;
mod parameters;
mod rake;
mod uplink;

pub use parameters::{
    Alignment, Decision, DopplerPer, EnergyOn, ParameterProblem, Parameters, Unit,
};
pub use uplink::Uplink;
