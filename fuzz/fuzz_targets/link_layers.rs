//! See [`losscause_fuzz::link_layers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::link_layers(data));
