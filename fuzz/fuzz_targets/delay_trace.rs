//! See [`losscause_fuzz::delay_trace`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::delay_trace(data));
