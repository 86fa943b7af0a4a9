//! See [`losscause_fuzz::differentiator`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::differentiator(data));
