//! See [`losscause_fuzz::pcap`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| losscause_fuzz::pcap(data));
