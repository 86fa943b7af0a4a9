//! See [`losscause_fuzz::tcp_sender`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::tcp_sender(data));
