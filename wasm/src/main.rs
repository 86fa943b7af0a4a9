//! Runs `scenario.toml` natively and, in an interpreter, as compiled for `wasm32-unknown-unknown`; the two must print the
//! same bytes. `cargo xtask test` builds the module and calls this with its path.

use anyhow::{Context, Result, bail};
use wasmi::{Engine, Linker, Module, Store};

const SCENARIO: &str = include_str!("../scenario.toml");

const SEED: u64 = 1;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("usage: wasm-check MODULE.wasm")?;
    let module = std::fs::read(&path).with_context(|| format!("{path} cannot be read"))?;
    let native = wasm_check::measurements(SCENARIO, SEED);
    let metrics = metrics(&native)?;
    let interpreted = interpreted(&module, SCENARIO, SEED)?;
    if let Some(difference) = difference(&native, &interpreted) {
        bail!("{difference}");
    }
    println!("{metrics} metrics, {} bytes of JSON: the same natively and on wasm32", native.len());
    Ok(())
}

/// The first line in which the two texts differ, or their lengths; none if they are the same to the byte.
fn difference(native: &str, interpreted: &str) -> Option<String> {
    let mut lines = (1..).zip(native.lines().zip(interpreted.lines()));
    if let Some((line, (native, interpreted))) = lines.find(|(_, (native, interpreted))| native != interpreted) {
        return Some(format!("line {line} of the JSON is `{native}` natively, but `{interpreted}` on wasm32"));
    }
    let (native_bytes, bytes) = (native.len(), interpreted.len());
    (native != interpreted).then(|| format!("the JSON has {native_bytes} bytes natively, but {bytes} on wasm32"))
}

/// How many metrics of the run have a value; an error if the run failed.
fn metrics(json: &str) -> Result<usize> {
    let measured: serde_json::Value = serde_json::from_str(json).with_context(|| format!("the run failed: {json}"))?;
    let metrics = measured["metrics"].as_object().context("the measurements have no metrics")?;
    Ok(metrics.values().filter(|metric| !metric["value"].is_null()).count())
}

/// What the module's `run` answers.
fn interpreted(module: &[u8], scenario: &str, seed: u64) -> Result<String> {
    let engine = Engine::default();
    let module = Module::new(&engine, module)?;
    let mut store = Store::new(&engine, ());
    // The module imports nothing: it has no clock, file, thread or randomness of its own.
    let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module)?;
    let input = instance.get_typed_func::<u32, ()>(&store, "input")?;
    let run = instance.get_typed_func::<u64, u32>(&store, "run")?;
    let output = instance.get_typed_func::<u32, u32>(&store, "output")?;
    for byte in scenario.bytes() {
        input.call(&mut store, byte.into())?;
    }
    let length = run.call(&mut store, seed)?;
    let bytes: Vec<u8> = (0..length).map(|index| Ok(output.call(&mut store, index)? as u8)).collect::<Result<_>>()?;
    Ok(String::from_utf8(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_draws_and_measures() {
        let one = wasm_check::measurements(SCENARIO, 1);
        assert!(metrics(&one).is_ok_and(|metrics| metrics > 10), "{one}");
        assert_ne!(one, wasm_check::measurements(SCENARIO, 2));
    }

    #[test]
    fn the_last_digit_of_one_metric_is_a_difference() {
        assert_eq!(difference("{\n1.25\n}", "{\n1.25\n}"), None);
        let said = difference("{\n1.25\n}", "{\n1.26\n}");
        assert_eq!(said.as_deref(), Some("line 2 of the JSON is `1.25` natively, but `1.26` on wasm32"));
        assert_eq!(difference("1\n", "1").as_deref(), Some("the JSON has 2 bytes natively, but 1 on wasm32"));
    }

    #[test]
    fn a_scenario_that_cannot_run_is_no_measurement() {
        assert!(metrics(&wasm_check::measurements("title = 1", 1)).is_err());
    }
}
