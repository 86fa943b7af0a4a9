//! `losscause completions` and `losscause man`: what a shell and `man` need to know of the
//! commands.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use losscause_study::InputError;
use losscause_study::error::unknown;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArguments {
    /// The shell: `losscause completions bash >
    /// ~/.local/share/bash-completion/completions/losscause`.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// The command, such as simulate [default: the program]; `losscause man simulate | man -l -`
    /// shows the page.
    #[arg(value_name = "COMMAND")]
    verb: Option<String>,
}

/// Prints the completions of `program`.
pub(crate) fn completions(
    arguments: &CompletionArguments,
    mut program: Command,
) -> Result<(), Failure> {
    // The generator stops the program if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "losscause", &mut text);
    Ok(io::stdout().lock().write_all(&text)?)
}

/// Prints the manual page of `program` or of one of its commands.
pub(crate) fn man(arguments: &ManArguments, mut program: Command) -> Result<(), Failure> {
    program.build();
    let page = match &arguments.verb {
        None => program,
        Some(verb) => match program.find_subcommand(verb) {
            Some(command) => command.clone(),
            None => {
                let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                return Err(InputError::option("man", unknown(verb, &known)).into());
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(io::stdout().lock().write_all(&text)?)
}
