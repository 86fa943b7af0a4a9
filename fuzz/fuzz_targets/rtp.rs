//! See [`losscause_fuzz::rtp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::rtp(data));
