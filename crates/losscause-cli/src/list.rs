//! `losscause list`.

use crate::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: Arguments) -> Result<(), Failure> {
    Err(Failure::Usage("losscause list: is not built yet".into()))
}
