//! Captures whose causes of loss are known: what `losscause analyze` finds in them.
//!
//! ```text
//! MemoryCaptures, the emulator  → KnownCaptures   a capture at each end, and what the links lost
//! truth                         → what became of every packet, and which losses can show
//! score                         → what an analysis found of them, and every algorithm's errors
//! said, policing                → what is said of whole flows; the published test for policers
//! stack                         → all that as metrics of a run, for sweeps
//! ```
//!
//! A sweep names the stack `captures` (simulated) or `kernel-captures` (the running kernel's TCP over
//! the emulator).

pub mod policing;
pub mod said;
pub mod score;
pub mod stack;
mod truth;

pub use said::{Said, Told};
pub use score::{Found, JudgedFlow, RECOMMENDED, Scored};
pub use stack::CaptureStack;
