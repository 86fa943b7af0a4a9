//! The `losscause` command.
//!
//! Exit status: 0 if all went well, 1 if a run failed, 2 if the input cannot be used. An error is one plain sentence on
//! standard error.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod fade;
mod failure;
mod list;
mod output;
mod progress;
mod reproduce;
mod simulate;
mod sweep;
mod tables;

use failure::Failure;

/// Tells why packets were lost: congestion or wireless.
#[derive(Debug, Parser)]
#[command(name = "losscause", version, propagate_version = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the papers' items and hold the measured values against the published ones.
    Reproduce(reproduce::Arguments),
    /// Run one scenario once.
    Simulate(simulate::Arguments),
    /// Run a scenario over a grid of settings.
    Sweep(sweep::Arguments),
    /// Make patterns of packet errors from the physics of a fading channel.
    Fade(fade::Arguments),
    /// List what the program knows.
    List(list::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(Arguments { command }) => match command {
            Command::Reproduce(arguments) => reproduce::run(arguments),
            Command::Simulate(arguments) => simulate::run(arguments),
            Command::Sweep(arguments) => sweep::run(&arguments),
            Command::Fade(arguments) => fade::run(&arguments),
            Command::List(arguments) => list::run(&arguments),
        },
        Err(error) => failure::usage(&error),
    };
    failure::report(outcome)
}
