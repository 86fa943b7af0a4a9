//! `losscause analyze --scenario FILE`: the link that a captured flow met, as a scenario.

use std::path::Path;

use losscause_capture::{Analysis, Protocol};
use losscause_study::fitted;
use losscause_study::tools::atomic;

use crate::failure::Failure;

/// Writes the scenario of the largest TCP flow, and tells what it has and what it lacks.
pub(super) fn write(file: &Path, analysis: &Analysis) -> Result<Vec<String>, Failure> {
    let refused = |problem: String| Failure::NoFlow { file: analysis.file.clone(), problem };
    let tcp = analysis.flows.iter().filter(|flow| flow.protocol == Protocol::Tcp);
    let Some(flow) = tcp.max_by_key(|flow| flow.bytes) else {
        return Err(refused("no TCP data, expected a transfer to fit a link to".to_owned()));
    };
    let fit = flow
        .fitted()
        .map_err(|why| refused(format!("no scenario, {} to {} {why}", flow.src, flow.dst)))?;
    let name = file.display().to_string();
    let (text, doubt) = fitted::scenario(&fit, flow, &analysis.file, &name);
    atomic::whole(file, text.as_bytes())?.finish_new()?;
    let doubt = doubt.map(|doubt| format!("Not seen: {doubt}"));
    let told = [
        format!("\n{name}: {}: the link that {} to {} met.", fit.in_short(), flow.src, flow.dst),
        format!(
            "Not seen: traffic that is always there, the congestion control (cubic is taken); {name} says more."
        ),
    ];
    Ok(told.into_iter().chain(doubt).collect())
}
