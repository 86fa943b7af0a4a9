//! A compressed capture for a page: the bytes of what gzip, xz or zstd compressed, piece by piece.
//! [`losscause_capture::frames::decompressed`] is what the command line reads with.
//!
//! On wasm32 the module imports one function, which gives it the file piece by piece, and exports a
//! few (`exported.rs`). It is apart from the module that analyses, so that a page loads it only for
//! a file that is compressed.

#[cfg(target_arch = "wasm32")]
mod exported;
#[cfg(target_arch = "wasm32")]
mod file;
