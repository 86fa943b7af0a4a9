//! See [`losscause_fuzz::trace`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::trace(data));
