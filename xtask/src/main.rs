//! The project's own verbs, run as `cargo xtask VERB`. None of this is part of the product.

mod bench_ns2;
mod checks;
mod fuzz;
mod instructions;
mod package;
mod record;
mod score;
mod shell;
mod tools;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own verbs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run all tests; what this machine lacks is skipped, named and counted
    Test,
    /// Compare our simulator with ns-2 over validation/ns2/grid.toml
    Validate(validate::Options),
    /// Time our simulator and ns-2 on Cen's wireless last hop and Barman's configuration 2; a report for a quiet machine
    BenchNs2(bench_ns2::Options),
    /// Run a command and print what it took; `bench-ns2` does, once per run
    #[command(hide = true)]
    Measured(bench_ns2::Measured),
    /// Count the event loop's instructions per packet-hop and compare them with benches/instructions.toml
    Instructions(instructions::Options),
    /// Run everything a change must pass: install what is missing, skip nothing, and check format, lints and docs too
    Ci,
    /// Fuzz everything that reads what others wrote; needs a nightly compiler, which is installed if it is missing
    Fuzz(fuzz::Options),
    /// Measure the five papers with two runs and compare every value and claim with validation/record
    Record(record::Options),
    /// Build, test and install the published crates from their packages alone, outside the repository
    Package(package::Options),
    /// Hold the program's scorecard against an independent script
    Score(score::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Test => checks::test(),
        Verb::Ci => checks::ci(),
        Verb::Validate(options) => validate::validate(&options),
        Verb::BenchNs2(options) => bench_ns2::bench_ns2(&options),
        Verb::Measured(command) => bench_ns2::measured(&command),
        Verb::Instructions(options) => instructions::instructions(&options),
        Verb::Fuzz(options) => fuzz::fuzz(&options),
        Verb::Record(options) => record::record(&options),
        Verb::Package(options) => package::package(&options),
        Verb::Score(arguments) => score::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
