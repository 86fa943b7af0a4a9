//! Prints a JSON schema that is generated from the types: `scenario`, of scenario files, or
//! `result`, of `simulate`'s JSON.

use losscause_study::{run::SimulationResult, scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = match std::env::args().nth(1).as_deref() {
        Some("scenario") => scenario::generated_schema(),
        Some("result") => SimulationResult::generated_schema(),
        _ => return Err("expected scenario or result".into()),
    };
    println!("{}", serde_json::to_string_pretty(&schema)?);
    Ok(())
}
