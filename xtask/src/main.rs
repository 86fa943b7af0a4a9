//! The project's development commands, run as `cargo xtask COMMAND`. None of this is part of the
//! product.

mod bench_capture;
mod bench_ns2;
mod bench_sweep;
mod captures;
mod checks;
mod costs;
mod dist;
mod event_loop;
mod fit_sift;
mod fuzz;
mod growth;
mod instructions;
mod iroh;
mod lab;
mod look;
mod measured;
mod package;
mod pages;
mod policing;
mod python;
mod record;
mod release;
#[cfg(test)]
mod repository;
mod results;
mod score;
mod shell;
mod site;
mod tools;
mod validate;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's development commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the tests; skips, lists and counts steps whose tools are missing. `ci` adds s2n-quic,
    /// the reports in a browser, the lab, the Python package and the pages
    Test,
    /// Compare our simulator with ns-2 over the sweeps of validation/ns2, or with the running kernel
    Validate(validate::Options),
    /// Time our simulator and ns-2 on Cen's wireless last hop and Barman's configuration 2; run it
    /// on an idle machine
    BenchNs2(bench_ns2::Options),
    /// Time `analyze` and tshark on captures of full-size packets; run it on an idle machine
    BenchCapture(bench_capture::Options),
    /// Time a local sweep with two threads beside one, and print its memory; on an idle machine
    BenchSweep(bench_sweep::Options),
    /// Fit Sift's weights to the training paths and print the errors; with --write also write them
    /// into the source
    FitSift(fit_sift::Options),
    /// Run a command and print its time and memory; the benchmarks use it for each run
    #[command(hide = true)]
    Measured { line: String },
    /// Count the event loop's instructions per packet-hop and compare them with
    /// benches/instructions.toml
    Instructions(Update),
    /// Run everything that a change must pass: installs missing tools, skips nothing, also checks
    /// format, lints and docs
    Ci(checks::Options),
    /// Print what the last run of `ci` cost beside the last landing; --update makes it the figures
    /// of the last landing
    Growth(Update),
    /// Run the simulator's fixed workload and print its packet-hops
    #[command(hide = true)]
    EventLoop(event_loop::Options),
    /// Load, use and unload the kernel's programs fifty times under a thousand connections; needs
    /// root
    Churn,
    /// Fuzz every parser and receiver; installs a nightly compiler if it is missing
    Fuzz(fuzz::Options),
    /// Build the example of iroh, which is outside the workspace, and send 10 MB over loopback
    Iroh,
    /// Count what every table and figure costs and compare with the costs.toml of each paper
    Costs(Update),
    /// Measure the five papers with two runs and compare every value and claim with
    /// validation/record
    Record(record::Options),
    /// Write the pages of measured tables in results/; --check checks their heads, and
    /// makes again what follows from data in the repository
    Results(results::Options),
    /// Open the reports in headless Chromium, check them and keep screenshots in target/look;
    /// installs Chromium if it is missing
    Look {
        /// Only these reports
        pages: Vec<String>,
    },
    /// Run the commands of README.md, docs/ and results/ and compare what they print with what the pages show
    Pages {
        /// Only these pages: "docs/own-link.md"
        pages: Vec<PathBuf>,
    },
    /// Build the Python package and test it in a virtual environment that is removed at the end
    Python(python::Options),
    /// Build the page in web/ into web/dist, with --test also test it
    Lab(lab::Options),
    /// Build the site into target/site: the documentation as a book, the lab, the papers' report,
    /// the crates' documentation
    Site(site::Options),
    /// Make the packages that install without a compiler, in target/dist: archive, Debian package,
    /// wheel, site; --check installs and runs each in an empty place
    Dist(dist::Options),
    /// Build, test and install the published crates from their packages alone, outside the
    /// repository
    Package {
        /// Check with the oldest compiler that every package and its tests compile instead of running
        /// them, leave out the optional features, which take minutes to compile, and install nothing
        #[arg(long)]
        short: bool,
    },
    /// Say what a release of this version changes; --write changes it, commits, tags and makes the
    /// packages
    Release(release::Options),
    /// Analyse captures of simulated runs, compare with the truth and write
    /// results/capture-accuracy.md
    CaptureAccuracy(captures::Options),
    /// Capture transfers of this machine's own TCP over an emulated link, analyse them and compare
    /// with what the link did; needs root, clang and libelf
    LinuxCaptures(captures::LinuxOptions),
    /// Make transfers of this machine's own TCP over the held-out networks of `losscause reproduce
    /// abroad`, judge their captures and record the verdicts; needs root, clang and libelf
    AbroadLinux,
    /// Diagnose captures whose names tell the cause, and count what is named right, wrong and not at
    /// all, beside the published test for policers
    Policing(policing::Options),
    /// Compare the program's scorecard with that of an independent script
    Score(score::Arguments),
}

/// For verbs that compare with what the repository keeps.
#[derive(Default, clap::Args)]
struct Update {
    /// Rewrite what is kept instead of comparing with it
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Test => checks::test(),
        Verb::Ci(options) => checks::ci(&options),
        Verb::Growth(Update { update }) => growth::growth(update),
        Verb::Validate(options) => validate::validate(&options),
        Verb::BenchNs2(options) => bench_ns2::bench_ns2(&options),
        Verb::BenchCapture(options) => bench_capture::bench_capture(&options),
        Verb::BenchSweep(options) => bench_sweep::bench_sweep(&options),
        Verb::FitSift(options) => fit_sift::fit_sift(&options),
        Verb::Measured { line } => measured::measured(&line),
        Verb::Instructions(Update { update }) => instructions::instructions(update),
        Verb::EventLoop(options) => event_loop::event_loop(&options),
        Verb::Churn => checks::churn(),
        Verb::Fuzz(options) => fuzz::fuzz(&options),
        Verb::Iroh => iroh::iroh(),
        Verb::Costs(Update { update }) => costs::costs(update),
        Verb::Record(options) => record::record(&options),
        Verb::Results(options) => results::results(&options),
        Verb::Look { pages } => look::look(&pages),
        Verb::Pages { pages } => pages::pages(&pages),
        Verb::Python(options) => python::python(&options),
        Verb::Lab(options) => lab::lab(&options),
        Verb::Site(options) => site::site(&options),
        Verb::Dist(options) => dist::dist(&options),
        Verb::Package { short } => package::package(short),
        Verb::Release(options) => release::release(&options),
        Verb::CaptureAccuracy(options) => captures::capture_accuracy(&options),
        Verb::LinuxCaptures(options) => captures::linux_captures(&options),
        Verb::AbroadLinux => captures::abroad_linux(),
        Verb::Policing(options) => policing::policing(&options),
        Verb::Score(arguments) => score::run(&arguments),
    };
    if let Err(error) = done {
        eprintln!("xtask: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
