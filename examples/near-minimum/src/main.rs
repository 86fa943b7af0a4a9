//! The whole command `losscause`, with one algorithm more: `near-minimum simulate cen2003/WLH --set "flow.test.lda=near minimum"`.
use std::process::ExitCode;

use near_minimum::NearMinimumConfig;

fn main() -> ExitCode {
    losscause_cli::main_with(losscause_cli::registry().with(NearMinimumConfig::default()))
}
