//! See [`losscause_fuzz::tfrc_receiver`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::tfrc_receiver(data));
