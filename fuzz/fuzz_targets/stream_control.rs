//! See [`losscause_fuzz::stream_control`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::stream_control(data));
