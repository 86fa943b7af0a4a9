//! A scenario's text and a seed in, its measurements out as JSON.
//!
//! [`measurements`] is what is compared. On `wasm32-unknown-unknown` a host calls it through the exported functions, which
//! pass texts byte by byte, so that neither side needs a pointer into the other's memory:
//!
//! 1. `input(byte)` for each byte of the scenario,
//! 2. `run(seed)`, which returns the length of the JSON,
//! 3. `output(index)` for each of its bytes.

use std::error::Error;

use losscause_study::run::SimulationResult;
use losscause_study::{Run, Scenario};

/// The result of `scenario`, a scenario file in TOML, run with `seed`, as JSON; or why there is none.
pub fn measurements(scenario: &str, seed: u64) -> String {
    result(scenario, seed).unwrap_or_else(|error| error.to_string())
}

fn result(scenario: &str, seed: u64) -> Result<String, Box<dyn Error>> {
    let scenario = Scenario::parse(scenario, "scenario.toml")?;
    let mut run = Run::new(&scenario.experiment()?, seed)?;
    run.finish(&mut ());
    Ok(serde_json::to_string_pretty(&SimulationResult::of(&scenario, &[], &run))?)
}

#[cfg(target_arch = "wasm32")]
mod exported {
    use std::cell::RefCell;

    thread_local! {
        static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }

    #[expect(unsafe_code, reason = "the name of an exported function must be unique, which no compiler checks")]
    #[unsafe(no_mangle)]
    extern "C" fn input(byte: u32) {
        INPUT.with_borrow_mut(|input| input.push(byte as u8));
    }

    #[expect(unsafe_code, reason = "as above")]
    #[unsafe(no_mangle)]
    extern "C" fn run(seed: u64) -> u32 {
        let scenario = INPUT.take();
        let json = super::measurements(&String::from_utf8_lossy(&scenario), seed);
        OUTPUT.replace(json.into_bytes());
        OUTPUT.with_borrow(Vec::len) as u32
    }

    #[expect(unsafe_code, reason = "as above")]
    #[unsafe(no_mangle)]
    extern "C" fn output(index: u32) -> u32 {
        OUTPUT.with_borrow(|output| output.get(index as usize).copied().unwrap_or_default().into())
    }
}
