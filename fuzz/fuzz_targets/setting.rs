//! See [`losscause_fuzz::setting`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::setting(data));
