//! `cargo xtask fit-sift`: fits the weights of Sift to the training paths. The fit itself is an
//! example of losscause-experiments, so that this program needs no part of the simulator. It is
//! optimised, as the release is not: it solves equations of 1,417 unknowns up to sixty times per end.

use anyhow::Result;

use crate::shell::{cargo, run};

/// What to do with the weights.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write them into crates/losscause/src/lda/sift/weights.rs, and those of senders into
    /// crates/losscause-linux/bpf/lda/sift_weights.h
    #[arg(long)]
    write: bool,
    /// Fit again without each reading, and print the errors as a table
    #[arg(long)]
    ablations: bool,
    /// Print the octiles of the readings, from which the limits of their intervals are chosen
    #[arg(long)]
    octiles: bool,
    /// Choose the threes of readings that are weighed together anew, and compare the errors with
    /// them and with the card's; writes nothing
    #[arg(long, conflicts_with_all = ["write", "ablations", "octiles"])]
    choose: bool,
}

/// Runs the example.
pub(crate) fn fit_sift(options: &Options) -> Result<()> {
    let mut fit = cargo(
        "run --release --locked --config profile.release.package.losscause-experiments.opt-level=3 \
         -p losscause-experiments --example fit-sift --",
    );
    fit.args(options.write.then_some("--write"));
    fit.args(options.ablations.then_some("--ablations"));
    fit.args(options.octiles.then_some("--octiles"));
    fit.args(options.choose.then_some("--choose"));
    run(fit)
}
