//! The whole command `losscause`, with one TCP more: `own-tcp simulate FILE --set
//! tcp.variant=gentle`.
use std::process::ExitCode;

fn main() -> ExitCode {
    losscause_cli::main_with(losscause_cli::registry().with_tcp(own_tcp::GENTLE))
}
