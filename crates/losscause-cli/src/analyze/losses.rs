//! `losscause analyze --losses FILE`: every loss as a row of CSV.

use std::collections::BTreeSet;
use std::path::Path;

use losscause_capture::{Analysis, Flow, Loss};
use losscause_study::{RunError, csv_file};

/// The columns before those of the algorithms.
const HEADER: [&str; 12] = [
    "capture",
    "flow",
    "src",
    "dst",
    "time_s",
    "seq",
    "bytes",
    "packets",
    "evidence",
    "queueing_ms",
    "verdict",
    "reason",
];

/// Writes the losses of all captures. `verdict` and `reason` are those of the flow's recommended algorithm. An algorithm's
/// cell is empty where it cannot judge the flow.
pub(super) fn write(file: &Path, analyses: &[Analysis]) -> Result<(), RunError> {
    let flows = || analyses.iter().flat_map(|analysis| analysis.flows.iter().map(move |flow| (analysis, flow)));
    let judged = flows().flat_map(|(_, flow)| flow.summary.keys().chain(flow.not_applicable.keys()));
    let algorithms: BTreeSet<&str> = judged.map(String::as_str).collect();
    let header = HEADER.iter().chain(&algorithms).map(|&name| name.to_owned()).collect();
    let rows = flows().flat_map(|(analysis, flow)| flow.losses.iter().map(move |loss| (analysis, flow, loss)));
    csv_file::write_records(file, header, rows.map(|(analysis, flow, loss)| row(analysis, flow, loss, &algorithms)))
}

fn row(analysis: &Analysis, flow: &Flow, loss: &Loss, algorithms: &BTreeSet<&str>) -> Vec<String> {
    let verdict = |name: &str| loss.verdicts.of(name).map(|verdict| verdict.to_string()).unwrap_or_default();
    let known = [
        analysis.file.clone(),
        flow.id.to_string(),
        flow.src.clone(),
        flow.dst.clone(),
        format!("{:.9}", loss.time_s),
        loss.seq.to_string(),
        loss.bytes.to_string(),
        loss.packets.to_string(),
        loss.evidence.to_string(),
        loss.queueing_ms.map(|ms| format!("{ms:.3}")).unwrap_or_default(),
        flow.recommended.as_deref().map(verdict).unwrap_or_default(),
        flow.judgement(loss).map(|judgement| judgement.reason.to_string()).unwrap_or_default(),
    ];
    known.into_iter().chain(algorithms.iter().map(|name| verdict(name))).collect()
}
