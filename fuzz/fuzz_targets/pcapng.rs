//! See [`losscause_fuzz::pcapng`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::pcapng(data));
