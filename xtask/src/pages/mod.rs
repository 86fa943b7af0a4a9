//! `cargo xtask pages`: runs the commands of README.md and of the pages in `docs/` and `results/`,
//! and compares what they print with what the page shows.
//!
//! A command stands in a `console` block after `$ `, with its output below; in an indented block;
//! or within a sentence as `losscause …`. [`shown`] has the rule of comparison, [`command`] the
//! short list of commands that are not run. The commands of a page run in its order in one empty
//! directory, in which `papers/` and `scenarios/` are the repository's, and which holds the files
//! that the page tells its reader to save.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Printed, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::shell::{files, losscause, read, root, write};

mod command;
pub(crate) mod markdown;
mod shown;

use command::{Output, Shown, Test};
use markdown::{Kind, Part};

/// Runs the commands of these pages, such as "docs/own-link.md", or of all.
///
/// # Errors
/// A command fails or prints something else; all of them are printed first.
pub(crate) fn pages(only: &[PathBuf]) -> Result<()> {
    let program = losscause()?;
    let all = ["README.md", "docs/*.md", "results/*.md"];
    let names = if only.is_empty() { files(&all)? } else { only.to_owned() };
    let mut failures = Vec::new();
    for name in names {
        let parts = markdown::parts(&read(&name)?);
        let commands = command::commands(&parts);
        if commands.is_empty() {
            continue;
        }
        let begun = Instant::now();
        let place = Place::new(&program, &parts)?;
        let [mut run, mut compared, mut checked] = [0; 3];
        // A page may name a command again, and show what it prints in one place.
        let is_compared = |shown: &Shown| matches!(shown.output, Output::Text(_));
        let compared_ones = commands.iter().filter(|shown| is_compared(shown));
        let mut done: BTreeSet<&String> = compared_ones.map(|shown| &shown.command).collect();
        for shown in &commands {
            let is_compared = is_compared(shown);
            if !is_compared && !done.insert(&shown.command) {
                continue;
            }
            let outcome = match command::test(shown) {
                Test::Run => {
                    run += 1;
                    compared += usize::from(is_compared);
                    place.run(shown)
                }
                Test::Check => {
                    checked += 1;
                    place.check(&shown.command)
                }
                Test::Skip => {
                    println!("{}:{}: `{}`: skipped", name.display(), shown.line, shown.command);
                    Ok(())
                }
            };
            if let Err(error) = outcome {
                let place = format!("{}:{}: `{}`", name.display(), shown.line, shown.command);
                println!("{place}: {error:#}");
                failures.push(place);
            }
        }
        let took = begun.elapsed().as_secs_f64();
        println!(
            "{}: {run} commands run, {compared} outputs compared, {checked} commands only checked, {took:.1} s",
            name.display()
        );
    }
    if !failures.is_empty() {
        bail!("{} commands do not do what the pages say: {}", failures.len(), failures.join(", "));
    }
    Ok(())
}

/// The directory in which a page's commands run.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    /// An empty directory with the repository's scenarios (those of experiments are below
    /// `crates`), and the files that `parts` tell to save.
    fn new(program: &Path, parts: &[Part]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("losscause-page-").tempdir()?;
        for shared in ["crates", "examples", "papers", "scenarios"] {
            std::os::unix::fs::symlink(root().join(shared), folder.path().join(shared))?;
        }
        for part in parts {
            let Kind::Fenced { before, .. } = &part.kind else { continue };
            // "Save this as `last-hop.toml`:"
            if let Some((_, rest)) = before.split_once("Save this as `") {
                let name = rest.split('`').next().unwrap_or_default();
                write(folder.path().join(name), &part.text)?;
            }
        }
        Ok(Self { folder, program: program.to_owned() })
    }

    /// Runs a command and compares its output.
    fn run(&self, shown: &Shown) -> Result<()> {
        let printed = self.printed(&shown.command)?;
        let stdout = String::from_utf8(printed.stdout).context("it does not print text")?;
        if !printed.status.success() {
            bail!("ended with {}\n{}", printed.status, String::from_utf8_lossy(&printed.stderr));
        }
        match &shown.output {
            Output::InSentence | Output::NotShown => Ok(()),
            Output::Text(text) if text.starts_with('{') => shown::compare_json(text, &stdout),
            Output::Text(text) => shown::compare(text, &stdout),
        }
    }

    fn printed(&self, command: &str) -> Result<Printed> {
        // `cargo run` in the repository runs the program that was built before the pages.
        let command = command.replacen(OWN, "losscause ", 1);
        let folder =
            if command.starts_with("cargo ") { root() } else { self.folder.path().to_owned() };
        let own = self.program.parent().context("the program is in no folder")?;
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder).stdin(Stdio::null());
        // Tables are as wide as in a pipe, whatever the terminal of this program.
        shell.env("PATH", path).env_remove("COLUMNS");
        shell.output().context("`sh` cannot be started")
    }

    /// The verb and the options exist, and the repository's files. With the option `--help` at its end
    /// a command does nothing but read what stands before it.
    fn check(&self, command: &str) -> Result<()> {
        let this = std::env::current_exe()?.display().to_string();
        let own = command.replacen("cargo xtask", &this, 1).replacen(OWN, "losscause ", 1);
        if own.starts_with("cargo ") {
            bail!("it is neither run nor can it be checked");
        }
        // What a reader puts his own for is no redirection.
        let printed = self.printed(&(own.replace(['<', '>'], "") + " --help"))?;
        let problem = String::from_utf8_lossy(&printed.stderr);
        if UNKNOWN.iter().any(|text| problem.contains(text)) {
            bail!("{problem}");
        }
        for word in command.split_whitespace() {
            let is_ours = word.starts_with("papers/") || word.starts_with("scenarios/");
            if is_ours && word.ends_with(".toml") && !root().join(word).is_file() {
                bail!("the repository has no {word}");
            }
        }
        Ok(())
    }
}

/// How the program is run in the repository.
const OWN: &str = "cargo run --release -- ";

/// What programs say of a verb or an option that they lack.
const UNKNOWN: [&str; 4] =
    ["unexpected argument", "unrecognized subcommand", "has no option", "there is no such command"];
