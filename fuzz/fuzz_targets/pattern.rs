//! See [`losscause_fuzz::pattern`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::pattern(data));
