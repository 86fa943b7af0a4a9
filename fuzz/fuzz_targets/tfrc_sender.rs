//! See [`losscause_fuzz::tfrc_sender`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::tfrc_sender(data));
