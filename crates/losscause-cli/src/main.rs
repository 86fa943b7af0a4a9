//! The `losscause` command, with the algorithms of this project.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    losscause_cli::main_with(Ok(losscause_cli::registry()))
}
