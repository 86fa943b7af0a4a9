//! See [`losscause_fuzz::rate_trace`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::rate_trace(data));
