//! See [`losscause_fuzz::tcp_options`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::tcp_options(data));
