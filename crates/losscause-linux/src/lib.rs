//! Loss differentiation on real Linux.
//!
//! ```text
//! emulator   a link between two network namespaces, made of the simulator's queues and channels, with a real clock
//! kernel     congestion control for the running kernel: eBPF programs, and their loader (feature `kernel`)
//! watch      every TCP connection that sends, judged and not changed (feature `kernel`)
//! ```
//!
//! On other systems the crate is empty.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_os = "linux")]
pub mod emulator;
#[cfg(all(target_os = "linux", feature = "kernel"))]
mod filter;
#[cfg(all(target_os = "linux", feature = "kernel"))]
pub mod kernel;
#[cfg(all(target_os = "linux", feature = "kernel"))]
pub mod watch;

#[cfg(all(doctest, target_os = "linux", feature = "kernel"))]
#[doc = include_str!("../README.md")]
struct Readme;
