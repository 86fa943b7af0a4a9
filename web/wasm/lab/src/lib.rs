//! A run for a page. [`Lab`] advances a run, changes its links, takes it back to an earlier
//! instant, and says what is to be drawn. It is the same simulator and the same code as `losscause
//! simulate`: the same scenario, settings and seed give the same bytes ([`Lab::result`]).
//!
//! On wasm32 the module exports a few functions (`exported.rs`). A page writes a request in JSON
//! ([`request`]) and reads an answer in JSON; what changes with every frame it reads as numbers
//! from the module's memory ([`Numbers`]).

mod bottleneck;
#[cfg(target_arch = "wasm32")]
mod exported;
mod info;
mod lab;
#[cfg(target_arch = "wasm32")]
mod memory;
pub mod request;
mod samples;

pub use info::{Adjustable, FlowInfo, Info};
pub use lab::{Lab, Numbers};
