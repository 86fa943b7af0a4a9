//! See [`losscause_fuzz::scenario`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::scenario(data));
