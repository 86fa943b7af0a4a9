//! See [`losscause_fuzz::sweep`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::sweep(data));
