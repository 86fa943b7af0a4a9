//! One program for all targets, because linking it takes longer than compiling it. The variable
//! `FUZZ_TARGET` names the target.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let known = losscause_fuzz::TARGETS.iter().find(|(known, _)| *known == name);
    known
        .unwrap_or_else(|| {
            panic!("FUZZ_TARGET is \"{name}\", expected a name of losscause_fuzz::TARGETS")
        })
        .1
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
