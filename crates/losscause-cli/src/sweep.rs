//! `losscause sweep`.

use crate::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: Arguments) -> Result<(), Failure> {
    Err(Failure::Usage("losscause sweep: is not built yet".into()))
}
