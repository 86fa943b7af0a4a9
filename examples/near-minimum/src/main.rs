//! The whole command `losscause`, with one algorithm more: `near-minimum simulate cen2003/WLH --set
//! "flow.test.lda=near minimum"`.
use near_minimum::NearMinimum;

fn main() -> std::process::ExitCode {
    losscause_cli::main_with(
        losscause_cli::registry().with_own(NearMinimum { within_ms: 10.0, rott_min: None }),
    )
}
