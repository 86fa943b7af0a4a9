//! See [`losscause_fuzz::channel`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::channel(data));
