//! See [`losscause_fuzz::stream_data`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::stream_data(data));
