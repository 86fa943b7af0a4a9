//! See [`losscause_fuzz::qlog`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::qlog(data));
