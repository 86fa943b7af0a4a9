//! A capture for a page: the analysis of `losscause analyze`, with the same JSON
//! ([`Capture::write_json`]) and the same sentences, and what a page draws of it
//! ([`Capture::view`]).
//!
//! On wasm32 the module imports one function, which gives it the file piece by piece, and exports a
//! few (`exported.rs`). The file is never in memory as a whole.

mod capture;
#[cfg(target_arch = "wasm32")]
mod exported;
#[cfg(target_arch = "wasm32")]
#[path = "../../decompress/src/file.rs"]
mod file;
#[cfg(target_arch = "wasm32")]
#[path = "../../lab/src/memory.rs"]
mod memory;
mod view;

pub use capture::Capture;
pub use view::{FlowView, Losses, View};
