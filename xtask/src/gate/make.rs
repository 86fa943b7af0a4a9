//! Makes the transfers: the kernel's TCP over the links that the seeds draw.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use losscause_linux::emulator::Path as EmulatedPath;
use losscause_sim::FlowId;
use losscause_sim::truth::Cause;
use losscause_study::Scenario;

use super::Making;
use super::kind::{Drawn, Kind};
use super::label::{Known, LABEL};
use crate::linux::side_by_side;
use crate::linux::transfer::{self, Transfer};

/// The link of a transfer, beside its capture.
const LINK: &str = "link.toml";

/// Makes the transfers that are asked for, each in a folder of its own.
pub(super) fn make(folder: &Path, asked: &Making) -> Result<()> {
    let interrupted = side_by_side::prepare()?;
    let kinds = if asked.kinds.is_empty() { Kind::ALL.to_vec() } else { asked.kinds.clone() };
    let all = asked.seeds.iter().flat_map(|&seed| kinds.iter().map(move |kind| kind.draw(seed)));
    side_by_side::each(all, asked.jobs, &interrupted, |drawn| {
        let name = format!("{}-{:03}", drawn.kind.name(), drawn.seed);
        eprintln!("{name}: {} s of {}", drawn.seconds, drawn.control);
        make_one(&drawn, &folder.join(&name), &interrupted).context(name)
    })?;
    Ok(())
}

fn make_one(drawn: &Drawn, folder: &Path, interrupted: &AtomicBool) -> Result<()> {
    let network = Scenario::parse(&drawn.scenario, LINK, &losscause_study::Context::default())?
        .experiment()?
        .network;
    let transfer = Transfer {
        path: EmulatedPath::new(&network, FlowId(0), drawn.seed)?,
        control: drawn.control.to_owned(),
        sack: true,
        timestamps: true,
        seconds: drawn.seconds,
        connections: 1,
        both_ends: false,
    };
    let made = transfer::make(&transfer, folder, interrupted)?;
    let known = Known {
        kind: drawn.kind.name().to_owned(),
        seed: drawn.seed,
        control: drawn.control.to_owned(),
        seconds: drawn.seconds,
        policer_bps: drawn.policer_bps,
        queue_drops: made.drops(Cause::Congestion),
        air_drops: made.drops(Cause::Wireless),
        late_p99_us: made.lateness.p99_us,
        late_worst_us: made.lateness.worst_us,
        kernel: made.kernel,
    };
    fs::write(folder.join(LINK), &drawn.scenario).context(LINK)?;
    fs::write(folder.join(LABEL), serde_json::to_string_pretty(&known)?).context(LABEL)
}
