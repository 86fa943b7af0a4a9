//! See [`losscause_fuzz::expression`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::expression(data));
