//! `losscause init`: a scenario or a sweep to start from.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use losscause_study::tools::atomic;
use losscause_study::{InputError, RunError};

use crate::failure::Failure;
use crate::input::is_standard;
use crate::output;
use crate::templates::{GROUPS, Template};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to start from: a kind of link (wifi, lte, leo, geo, dsl, cable or wired), a lesson or a
    /// sweep. Without one, all are listed.
    kind: Option<String>,
    /// The file to write, - for standard output; a file that exists is not replaced [default:
    /// KIND.toml]
    #[arg(short, long, value_name = "FILE", requires = "kind")]
    output: Option<PathBuf>,
}

/// Writes the scenario or the sweep and the files that it reads, or lists what there is.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(kind) = &arguments.kind else { return Ok(list()?) };
    let template = Template::find(kind)?;
    let file = arguments.output.clone().unwrap_or_else(|| template.default_file().into());
    if is_standard(&file) {
        let text = template.text_for(&template.default_file());
        return Ok(io::stdout().write_all(text.as_bytes())?);
    }
    let name = file.display().to_string();
    if !is_new(&file, &template.text_for(&name))? {
        let problem = "the file exists, expected a new one (-o FILE)";
        return Err(InputError::option(format!("init -o {name}"), problem).into());
    }
    output::line(&format!("{name}: {}", template.title()))?;
    for (beside, text) in template.beside() {
        let beside = file.with_file_name(beside);
        let what = if is_new(&beside, &text)? { "" } else { ", which exists and stays as it is" };
        output::line(&format!("It reads {}{what}.", beside.display()))?;
    }
    let verb = if template.is_sweep() { "sweep" } else { "simulate" };
    Ok(output::line(&format!(
        "losscause {verb} {name} runs it; its comments say what to change and to compare."
    ))?)
}

fn list() -> io::Result<()> {
    for group in GROUPS {
        output::line(&format!("{}:", group.heading))?;
        let width = group.templates.iter().map(|template| template.kind.len()).max().unwrap_or(0);
        for template in group.templates {
            output::line(&format!("  {:<width$} {}", template.kind, template.title()))?;
        }
    }
    output::line("\nlosscause init wifi writes wifi.toml; -o FILE chooses another name.")
}

/// Writes a file that is not there yet; false if it is.
fn is_new(file: &Path, text: &str) -> Result<bool, RunError> {
    match atomic::write_new(file, text.as_bytes()) {
        Ok(_) => Ok(true),
        Err(RunError::Unwritable { reason, .. })
            if reason.kind() == io::ErrorKind::AlreadyExists =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
