//! `losscause init`: a scenario to start from.

use std::io::{self, Write};
use std::path::PathBuf;

use losscause_study::tools::atomic;
use losscause_study::{InputError, RunError};

use crate::failure::Failure;
use crate::output;
use crate::templates::{TEMPLATES, Template};

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The kind of link: wifi, lte, leo, geo, dsl, cable or wired. Without one, the kinds are
    /// listed.
    kind: Option<String>,
    /// The file to write, - for standard output; a file that exists is not replaced [default:
    /// KIND.toml]
    #[arg(short, long, value_name = "FILE", requires = "kind")]
    output: Option<PathBuf>,
}

/// Writes the scenario, or lists the kinds.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(kind) = &arguments.kind else {
        for template in TEMPLATES {
            output::line(&format!("{:<6} {}", template.kind, template.title()))?;
        }
        return Ok(output::line(
            "\nlosscause init wifi writes wifi.toml; -o FILE chooses another name.",
        )?);
    };
    let template = Template::find(kind)?;
    let file = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{kind}.toml")));
    let name = file.display().to_string();
    if name == "-" {
        io::stdout().write_all(template.text_for(&format!("{kind}.toml")).as_bytes())?;
        return Ok(());
    }
    atomic::write_new(&file, template.text_for(&name).as_bytes()).map_err(|error| match error {
        RunError::Unwritable { reason, .. } if reason.kind() == io::ErrorKind::AlreadyExists => {
            Failure::from(InputError::Option {
                option: format!("init -o {name}"),
                problem: "the file exists, expected a new one (-o FILE)".to_owned(),
            })
        }
        error => error.into(),
    })?;
    output::line(&format!("{name}: {}", template.title()))?;
    Ok(output::line(&format!(
        "losscause simulate {name} runs it; its comments say what to change and to compare."
    ))?)
}
