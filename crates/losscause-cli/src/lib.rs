//! The `losscause` command as a library, for programs that add their own algorithms and TCPs.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     // `losscause_cli::registry().with_own(…)` has one more algorithm, `.with_tcp(…)` one more TCP.
//!     losscause_cli::main_with(Ok(losscause_cli::registry()))
//! }
//! ```
//!
//! Exit status: 0 on success, 1 if a run failed or `reproduce --check` found something worse, 2 if
//! the input cannot be used; `emulate` passes on the status of its command. An error is one plain
//! sentence on standard error.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use losscause_laboratory::sweep::SweepResult;
pub use losscause_study::registry;
use losscause_study::tools::table::Table;
use losscause_study::{Registry, RegistryError, RunError, Workers};
pub use reproduce::drawn::Drawn;
pub use templates::named_in;

mod analyze;
mod check;
mod compare;
mod docs;
mod earlier;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod emulate;
mod fade;
mod failure;
mod init;
mod ink;
mod input;
mod interrupt;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod kernel;
mod keys;
mod lab;
mod list;
mod manual;
mod notice;
mod optional;
mod output;
mod overview;
mod pivot;
mod progress;
mod reproduce;
mod served;
mod simulate;
#[cfg(feature = "media")]
mod stream;
mod summary;
mod sweep;
mod tables;
mod templates;
mod usage;
mod values;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod watch;

use failure::Failure;

/// Tells why packets were lost: congestion or wireless.
#[derive(Debug, Parser)]
#[command(name = "losscause", version = optional::version(), propagate_version = true, max_term_width = 100)]
struct Arguments {
    /// Print no progress and no closing line; errors and warnings are still printed.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

// The types of the arguments have no doc comments, which would take the place of these in a verb's help.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Run the papers' experiments and compare the values with the published ones.
    Reproduce(reproduce::Arguments),
    /// Write a scenario or a sweep to start from: a kind of link, such as wifi, or a lesson.
    Init(init::Arguments),
    /// Run one scenario, once or with several seeds.
    Simulate(simulate::Arguments),
    /// Compare algorithms or settings on a link.
    Compare(compare::Arguments),
    /// Run a scenario over a grid of settings.
    Sweep(sweep::Arguments),
    /// Tell why a capture lost its packets, how sure that is, and what to do.
    Analyze(analyze::Arguments),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[command(about = optional::EMULATE)]
    Emulate(emulate::Arguments),
    /// Make patterns of packet errors from the physics of a fading channel.
    Fade(fade::Arguments),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[command(about = optional::KERNEL)]
    Kernel(kernel::Arguments),
    #[cfg(feature = "media")]
    #[command(about = optional::STREAM)]
    Stream(stream::Arguments),
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[command(about = optional::WATCH)]
    Watch(watch::Arguments),
    /// Serve the lab and the documentation to this computer's browser.
    Lab(lab::Arguments),
    /// List algorithms, protocols, scenarios and papers.
    List(list::Arguments),
    /// Print a page of the documentation, or list the pages.
    Docs(docs::Arguments),
    /// Print completions for a shell.
    Completions(manual::CompletionArguments),
    /// Print the manual page of the program or of a command.
    Man(manual::ManArguments),
}

/// Runs the command that the program's arguments select. Names of algorithms and TCPs are those of
/// `registry`. One that cannot be added to the registry ends the program with exit status 2.
pub fn main_with(registry: Result<Registry, RegistryError>) -> ExitCode {
    ExitCode::from(status_of(std::env::args_os(), registry))
}

/// [`main_with`] for `arguments`, the program's name first. Returns the exit status.
pub fn status_of<A: Into<OsString>>(
    arguments: impl IntoIterator<Item = A>,
    registry: Result<Registry, RegistryError>,
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    #[cfg(all(feature = "linux", target_os = "linux"))]
    if let Some(status) = losscause_linux::emulator::intercept(arguments.clone()) {
        return status;
    }
    interrupt::watch();
    let status = failure::report(outcome_of(&arguments, registry));
    // Only a program of Rust does this at its end. A reader that is gone is no failure.
    _ = io::stdout().flush();
    status
}

/// States the words that start a program which is no file of its own but a script: `emulate` starts
/// it again, and `kernel install` writes them into a unit.
pub fn state_itself(words: Vec<OsString>) {
    #[cfg(all(feature = "linux", target_os = "linux"))]
    losscause_linux::emulator::state_itself(words);
    #[cfg(not(all(feature = "linux", target_os = "linux")))]
    drop(words);
}

/// States the commit that the program was built from, for the [`Origin`](losscause_study::Origin) of
/// results. [`main_with`] does so.
pub fn state_commit() {
    losscause_study::origin::state_commit(optional::COMMIT);
}

/// A table as the command prints it, its rows broken into lines within this width.
pub fn table_text(table: &Table, width: u16) -> String {
    output::drawn(table, Some(width))
}

/// What `losscause reproduce` with these words behind it finds, which name drawn networks, as "abroad"
/// does; for a program that has no terminal. `done(n, all)` is told how many runs are finished.
///
/// # Errors
/// The words cannot be used, or a run fails.
pub fn drawn(
    words: &[String],
    registry: &Registry,
    workers: &Workers,
    done: impl FnMut(usize, usize),
) -> Result<Drawn, RunError> {
    reproduce::drawn::found(words, registry, workers, done)
}

/// Whether `losscause reproduce` with these items draws networks.
pub fn is_drawn(items: &[String]) -> bool {
    reproduce::drawn::named(items).is_some()
}

fn outcome_of(
    arguments: &[OsString],
    registry: Result<Registry, RegistryError>,
) -> Result<(), Failure> {
    state_commit();
    if arguments.len() == 1 {
        return Ok(output::line(&overview::of(&program()))?);
    }
    let matches = match program().try_get_matches_from(arguments) {
        Err(error) if error.use_stderr() => whole().try_get_matches_from(arguments),
        told => told,
    };
    let matches = match matches {
        Ok(matches) => matches,
        Err(error) => return usage::outcome(&error, whole, arguments),
    };
    optional::refuse_missing(&matches)?;
    match Arguments::from_arg_matches(&matches) {
        Ok(Arguments { quiet, command }) => {
            notice::set_quiet(quiet);
            run(command, &registry?)
        }
        Err(error) => usage::outcome(&error.format(&mut whole()), whole, arguments),
    }
}

/// The program's verbs. Each gets its options when it is asked for.
fn program() -> clap::Command {
    overview::grouped(optional::with_missing_verbs(Arguments::command()))
}

/// The program with the options of all verbs, for what [`program`] refuses.
fn whole() -> clap::Command {
    let mut program = program();
    program.build();
    // "--runs -1" is a value out of range, not an unknown option.
    program.mut_subcommands(with_negative_numbers)
}

/// A verb whose options take negative numbers for values, and refuse them in a sentence of their own;
/// but a file or a folder that looks like an option is one that lacks its value.
fn with_negative_numbers(verb: clap::Command) -> clap::Command {
    let path = clap::builder::ValueParser::path_buf().type_id();
    let takes_values = move |argument: &clap::Arg| {
        let is_path = argument.get_value_parser().type_id() == path;
        !argument.is_positional() && !is_path && argument.get_action().takes_values()
    };
    verb.mut_args(move |argument| {
        let takes = takes_values(&argument);
        if takes { argument.allow_negative_numbers(true) } else { argument }
    })
    .mut_subcommands(with_negative_numbers)
}

/// The tables that `losscause sweep` prints of a result, as wide as the terminal.
pub fn sweep_tables(result: &SweepResult) -> String {
    pivot::tables(result, output::width())
}

fn run(command: Command, registry: &Registry) -> Result<(), Failure> {
    match command {
        Command::Reproduce(arguments) => reproduce::run(arguments, registry),
        Command::Init(arguments) => init::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments, registry),
        Command::Compare(arguments) => compare::run(&arguments, registry),
        Command::Sweep(arguments) => sweep::run(&arguments, registry),
        Command::Analyze(arguments) => analyze::run(&arguments, registry),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Emulate(arguments) => emulate::run(arguments, registry),
        Command::Fade(arguments) => fade::run(&arguments),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Kernel(arguments) => kernel::run(&arguments),
        #[cfg(feature = "media")]
        Command::Stream(arguments) => stream::run(&arguments, registry),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::List(arguments) => list::run(&arguments, registry),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, program()),
        Command::Man(arguments) => manual::man(&arguments, program()),
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
