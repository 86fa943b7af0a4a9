//! See [`losscause_fuzz::sender_lda`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::sender_lda(data));
