//! `losscause analyze --losses FILE`: every loss as a row.

use std::collections::BTreeSet;
use std::path::Path;

use losscause_capture::{Analysis, Flow, Loss};
use losscause_study::RunError;
use losscause_study::tools::atomic::AtomicFile;
use losscause_study::tools::row_file::{Cell, Column, RowFile};

/// The columns before those of the algorithms.
fn known_columns() -> Vec<Column> {
    vec![
        Column::words("capture"),
        Column::integers("flow"),
        Column::words("src"),
        Column::words("dst"),
        Column::numbers("time_s"),
        Column::integers("seq"),
        Column::integers("bytes"),
        Column::integers("packets"),
        Column::integers("frame"),
        Column::integers("frame_again"),
        Column::words("time_utc"),
        Column::words("evidence"),
        Column::numbers("queueing_ms"),
        Column::words("verdict"),
        Column::words("reason"),
    ]
}

/// A file of the losses of all captures, without its name yet. `verdict` and `reason` are those of
/// the flow's recommended algorithm. An algorithm's cell is empty where it cannot judge the flow.
pub(super) fn whole(file: &Path, analyses: &[Analysis]) -> Result<Option<AtomicFile>, RunError> {
    let flows = || {
        analyses.iter().flat_map(|analysis| analysis.flows.iter().map(move |flow| (analysis, flow)))
    };
    let judged =
        flows().flat_map(|(_, flow)| flow.summary.keys().chain(flow.not_applicable.keys()));
    let algorithms: BTreeSet<&str> = judged.map(String::as_str).collect();
    let columns: Vec<Column> = known_columns()
        .into_iter()
        .chain(algorithms.iter().map(|name| Column::words(name)))
        .collect();
    let mut rows = RowFile::create(file, &columns)?;
    for (analysis, flow) in flows() {
        flow.losses
            .iter()
            .for_each(|loss| write_loss(&mut rows, (analysis, flow, loss), &algorithms));
    }
    rows.into_file()
}

fn write_loss(
    rows: &mut RowFile,
    (analysis, flow, loss): (&Analysis, &Flow, &Loss),
    algorithms: &BTreeSet<&str>,
) {
    let verdict = |name: &str| loss.verdicts.of(name).map(|verdict| verdict.to_string());
    let evidence = loss.evidence.to_string();
    let time_utc = loss.time_utc.map(|time| time.to_string());
    let followed = flow.recommended.as_deref().and_then(verdict);
    let reason = flow.judgement(loss).map(|judgement| judgement.reason.to_string());
    let verdicts: Vec<Option<String>> = algorithms.iter().map(|name| verdict(name)).collect();
    let known = [
        Cell::Word(&analysis.file),
        Cell::integer(Some(flow.id)),
        Cell::Word(&flow.src),
        Cell::Word(&flow.dst),
        Cell::number(Some(loss.time_s), 9),
        Cell::integer(Some(loss.seq)),
        Cell::integer(Some(loss.bytes)),
        Cell::integer(Some(loss.packets)),
        Cell::integer(loss.frame),
        Cell::integer(loss.frame_again),
        Cell::word(time_utc.as_deref()),
        Cell::Word(&evidence),
        Cell::number(loss.queueing_ms, 3),
        Cell::word(followed.as_deref()),
        Cell::word(reason.as_deref()),
    ];
    let said = verdicts.iter().map(|verdict| Cell::word(verdict.as_deref()));
    rows.write(&known.into_iter().chain(said).collect::<Vec<_>>());
}
