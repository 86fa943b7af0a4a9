//! The page of captures: the answer and how far to trust it, then flow by flow delay, rate and
//! sequence numbers over time with every loss, what each algorithm says, and the losses as a table.

use losscause::Verdict;
use losscause_capture::judge::trust::{Expected, Share};
use losscause_capture::{Analysis, First, Flow, Loss, Summary, capitalised};
use serde::Serialize;

use super::capture_timeline as timeline;
use super::chart::Legend;
use losscause_study::tools::csv_file;
use losscause_study::tools::figures::number;
use losscause_study::tools::table::{Cell, Table};

#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    captures: Vec<CaptureView>,
    version: &'static str,
}

#[derive(Serialize)]
struct CaptureView {
    anchor: String,
    file: String,
    answer: String,
    /// The answer's first sentences, and those that the rest of the first screen does not say.
    headline: String,
    beside: Vec<String>,
    /// Why most losses happened, and what to do; none if nothing was lost.
    first: Option<First>,
    /// Of two joined captures: what each of them tells alone.
    told_alone: Option<String>,
    facts: String,
    notes: Vec<String>,
    /// The flows that are drawn.
    flows: Vec<FlowView>,
    rows: Vec<RowView>,
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct FlowView {
    id: u64,
    anchor: String,
    name: String,
    /// The losses' cause and cost, if they are told together.
    cause: String,
    /// If nothing was lost: what limited it.
    limit: String,
    /// Whether the verdicts on single losses add to the cause.
    is_told_one_by_one: bool,
    evidence: String,
    trust: Vec<String>,
    facts: String,
    timeline: String,
    legend: Legend,
    agreement: String,
    /// What each algorithm says about its losses.
    algorithms: String,
    not_applicable: Vec<(String, String)>,
    /// The date of all its losses, if they have one.
    date: Option<String>,
    losses: Vec<LossView>,
    all_losses: u64,
    csv: String,
    in_csv: usize,
}

#[derive(Serialize)]
struct LossView {
    at: String,
    utc: String,
    frame: String,
    again: String,
    seq: u64,
    evidence: String,
    queueing: String,
    verdict: String,
    class: &'static str,
    reason: String,
}

/// A flow in the list of all.
#[derive(Serialize)]
struct RowView {
    /// The flow's number in the capture.
    id: u64,
    is_minor: bool,
    /// The flow's own part of the page, if it has one.
    anchor: String,
    cells: Vec<String>,
}

/// Flows that are drawn at most, and losses that are listed of each at most, on the page and in its
/// CSV.
const MOST_DRAWN: usize = 8;
const MOST_LISTED: usize = 300;
const MOST_IN_CSV: usize = 1_000;
/// Flows in the list of all at most.
const MOST_ROWS: usize = 200;
/// A flow that would make the page larger is not drawn, bytes. All pages together stay below 3 MB
/// with it.
const MOST_BYTES: usize = 2_000_000;

/// The view of the whole page.
pub(super) fn page(analyses: &[Analysis]) -> PageView {
    let mut room = MOST_BYTES;
    let files: Vec<&str> = analyses.iter().map(|analysis| analysis.file.as_str()).collect();
    PageView {
        title: files.join(", "),
        captures: (1..)
            .zip(analyses)
            .map(|(place, analysis)| capture(analysis, place, &mut room))
            .collect(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

fn capture(analysis: &Analysis, place: usize, room: &mut usize) -> CaptureView {
    let anchor = format!("capture-{place}");
    let lossy = || analysis.flows.iter().filter(|flow| flow.lost() > 0);
    // Where nothing was lost, the largest transfer is drawn.
    let largest =
        analysis.flows.iter().filter(|flow| flow.over_time.is_some()).max_by_key(|flow| flow.bytes);
    let lossless = largest.filter(|_| lossy().next().is_none());
    let mut flows = Vec::new();
    for flow in lossy().take(MOST_DRAWN).chain(lossless) {
        let view = flow_view(flow, format!("{anchor}-flow-{}", flow.id));
        // The first one is drawn in any case.
        let Some(rest) =
            room.checked_sub(view.bytes()).or((place == 1 && flows.is_empty()).then_some(0))
        else {
            break;
        };
        *room = rest;
        flows.push(view);
    }
    let mut left_out = Vec::new();
    let undrawn = lossy().count().saturating_sub(flows.len());
    if undrawn > 0 {
        let most = "--format json and --losses have them";
        left_out.push(format!(
            "{undrawn} more flow{} with losses, fewer each, are not drawn; {most}.",
            plural(undrawn)
        ));
    }
    let beyond = analysis.flows.len().saturating_sub(MOST_ROWS) + analysis.unlisted_flows as usize;
    if beyond > 0 {
        left_out.push(format!(
            "{beyond} more flow{} are not in this list; --format json has them.",
            plural(beyond)
        ));
    }
    let anchor_of = |flow: &Flow| {
        flows
            .iter()
            .map(|view| &view.anchor)
            .find(|own| **own == format!("{anchor}-flow-{}", flow.id))
    };
    CaptureView {
        file: analysis.file.clone(),
        answer: analysis.answer(),
        headline: analysis.headline(),
        beside: analysis.beside_headline(),
        first: analysis.first(),
        told_alone: analysis.told_alone(),
        facts: facts(analysis),
        notes: notes(analysis),
        rows: analysis
            .flows
            .iter()
            .take(MOST_ROWS)
            .map(|flow| row(flow, anchor_of(flow)))
            .collect(),
        left_out,
        anchor,
        flows,
    }
}

fn facts(analysis: &Analysis) -> String {
    let Analysis { file, packets, duration_s, .. } = analysis;
    format!("{file}: {packets} packets in {} s.", number(Some(*duration_s)))
}

/// What a reader must know before everything else: where the file ends early comes first.
fn notes(analysis: &Analysis) -> Vec<String> {
    let cut = analysis.cut().map(|cut| format!("The file {cut}."));
    cut.into_iter()
        .chain(analysis.notes().into_iter().map(|note| format!("{}.", capitalised(&note))))
        .collect()
}

fn flow_view(flow: &Flow, anchor: String) -> FlowView {
    let name = format!("{} to {}", flow.src, flow.dst);
    let date = shared_date(flow);
    let cause =
        flow.named_cause().map(|cause| format!("{}.", capitalised(&cause))).unwrap_or_default();
    let cost = flow.diagnosis.as_ref().and_then(|told| told.cost);
    let cost = cost.map(|cost| format!(" Its goodput: {}.", cost.told())).unwrap_or_default();
    FlowView {
        id: flow.id,
        cause: format!("{cause}{cost}").trim().to_owned(),
        limit: if flow.lost() == 0 { limit(flow) } else { String::new() },
        is_told_one_by_one: flow.is_told_one_by_one(),
        anchor,
        evidence: flow.evidence().unwrap_or_default(),
        trust: flow.trust(),
        facts: flow_facts(flow),
        timeline: timeline::drawing(flow, &name).svg(),
        legend: timeline::legend(flow),
        agreement: agreement(flow),
        algorithms: algorithms(flow),
        not_applicable: flow
            .not_applicable
            .iter()
            .map(|(name, why)| (name.clone(), why.clone()))
            .collect(),
        losses: flow
            .losses
            .iter()
            .take(MOST_LISTED)
            .map(|loss| loss_view(flow, loss, date.as_ref()))
            .collect(),
        date,
        all_losses: flow.lost(),
        csv: csv(flow),
        in_csv: flow.losses.len().min(MOST_IN_CSV),
        name,
    }
}

impl FlowView {
    /// About what it adds to the page.
    fn bytes(&self) -> usize {
        // Encoding for a link makes three bytes of a blank or a comma.
        let row = |loss: &LossView| 220 + loss.reason.len();
        self.timeline.len() + 2 * self.csv.len() + self.losses.iter().map(row).sum::<usize>()
    }
}

/// What limited a flow that lost nothing.
fn limit(flow: &Flow) -> String {
    let unseen = || "That shows in a capture at its sender only.".to_owned();
    flow.pace.and_then(|pace| pace.told_waits()).unwrap_or_else(unseen)
}

fn flow_facts(flow: &Flow) -> String {
    let counts = [
        (flow.lost(), "lost"),
        (flow.sent_again, "sent again"),
        (flow.reordered, "reordered"),
        (flow.duplicates, "twice"),
        (flow.spurious, "retransmitted without need"),
        (flow.capture_drops, "not captured"),
        (flow.marked, "with a congestion mark"),
        (flow.batched, "handed up in batches"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let protocol = match flow.protocol {
        losscause_capture::Protocol::Tcp => "TCP",
        losscause_capture::Protocol::Rtp => "RTP",
        losscause_capture::Protocol::Quic => "QUIC",
        _ => "a protocol",
    };
    let at = match flow.vantage {
        losscause_capture::Vantage::Both => "both ends".to_owned(),
        losscause_capture::Vantage::Middle => "between the ends".to_owned(),
        losscause_capture::Vantage::Unknown => "a place that the capture does not tell".to_owned(),
        end => format!("the {end}"),
    };
    let place = if at.starts_with("between") { at } else { format!("at {at}") };
    let counts =
        if counts.is_empty() { "none lost or sent again".to_owned() } else { counts.join(", ") };
    let pace = flow.pace.map(|pace| format!(" {}.", pace.told())).unwrap_or_default();
    format!("{protocol} seen {place}; of {} packets: {counts}.{pace}", flow.packets)
}

/// Of how many losses most algorithms say the same as the one that is followed.
fn agreement(flow: &Flow) -> String {
    let asked = flow.summary.len();
    if asked < 2 || flow.losses.is_empty() {
        return String::new();
    }
    let shared = |loss: &&Loss| {
        let decided = loss.verdicts.iter().map(|(_, judgement)| judgement.verdict);
        let decided: Vec<Verdict> =
            decided.filter(|verdict| *verdict != Verdict::Undecided).collect();
        let same = decided.iter().filter(|verdict| **verdict == flow.verdict(loss)).count();
        2 * same > decided.len()
    };
    let shared = flow.losses.iter().filter(shared).count();
    let losses = flow.losses.len();
    let followed = flow.recommended.as_deref().unwrap_or("it").replace('@', " at the ");
    format!(
        "Of the {asked} algorithms with a verdict, most say what {followed} says of {shared} of {losses} losses."
    )
}

/// What each algorithm says of the losses, the one that is followed first; empty if none was asked.
fn algorithms(flow: &Flow) -> String {
    let percent = |share: f64| format!("{} %", share.round());
    let share = |of: Option<Share>| of.map_or_else(|| "–".to_owned(), |share| percent(share.mean));
    let is_followed = |name: &str| flow.recommended.as_deref() == Some(name);
    let mut all: Vec<(&String, &Summary)> = flow.summary.iter().collect();
    all.sort_by_key(|(name, _)| !is_followed(name));
    let row = |(name, summary): (&String, &Summary)| {
        let same = |loss: &&Loss| loss.verdicts.of(name) == Some(flow.verdict(loss));
        let same = flow.losses.iter().filter(same).count() as f64;
        let agrees = match is_followed(name) {
            true => "–".to_owned(),
            false => percent(100.0 * same / flow.losses.len().max(1) as f64),
        };
        let expected = flow.expected.get(name);
        let fails = expected.is_some_and(Expected::fails);
        let notes = [(is_followed(name), "followed here"), (fails, "known to fail here")];
        let notes = notes.into_iter().filter_map(|(holds, note)| holds.then_some(note));
        let notes = Cell::from(notes.collect::<Vec<_>>().join(", "));
        [
            name.replace('@', " at the ").into(),
            summary.wireless.to_string().into(),
            summary.congestion.to_string().into(),
            summary.undecided.to_string().into(),
            agrees.into(),
            share(expected.and_then(|expected| expected.m_c)).into(),
            share(expected.and_then(|expected| expected.m_w)).into(),
            if fails { notes.class("bad") } else { notes },
        ]
    };
    let heads =
        ["algorithm", "wireless", "congestion", "undecided", "same verdict", "M_c", "M_w", ""];
    let table = Table::new(heads).numbers(1..7).with_rows(all.into_iter().map(row));
    if table.rows.is_empty() { String::new() } else { table.html() }
}

/// A date, and the time to microseconds.
fn date_and_time(utc: losscause_capture::Utc) -> Option<(String, String)> {
    let text = utc.to_string();
    let (date, time) = text.split_once('T')?;
    Some((
        date.to_owned(),
        time.trim_end_matches('Z').chars().take("09:30:00.123456".len()).collect(),
    ))
}

/// The date of all losses, if they have one.
fn shared_date(flow: &Flow) -> Option<String> {
    let mut dates =
        flow.losses.iter().map(|loss| loss.time_utc.and_then(date_and_time).map(|(date, _)| date));
    let first = dates.next()??;
    dates.all(|date| date.as_ref() == Some(&first)).then_some(first)
}

/// `shared` is the date that stands above the column.
fn loss_view(flow: &Flow, loss: &Loss, shared: Option<&String>) -> LossView {
    let verdict = flow.verdict(loss);
    let utc = loss.time_utc.and_then(date_and_time);
    let number =
        |frame: Option<u64>| frame.map_or_else(|| "–".to_owned(), |frame| frame.to_string());
    LossView {
        at: format!("{:.3}", loss.time_s),
        utc: utc.map_or_else(
            || "–".to_owned(),
            |(date, time)| if Some(&date) == shared { time } else { format!("{date} {time}") },
        ),
        frame: number(loss.frame),
        again: number(loss.frame_again),
        seq: loss.seq,
        evidence: loss.evidence.to_string(),
        queueing: loss.queueing_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.1}")),
        verdict: verdict.to_string(),
        class: timeline::class(verdict),
        reason: flow
            .judgement(loss)
            .map(|judgement| judgement.reason.to_string())
            .unwrap_or_default(),
    }
}

/// The losses of a flow with every verdict.
fn csv(flow: &Flow) -> String {
    let header = [
        "time_s",
        "frame",
        "frame_again",
        "time_utc",
        "seq",
        "bytes",
        "evidence",
        "queueing_ms",
        "verdict",
    ]
    .map(str::to_owned);
    let names: Vec<&String> = flow.summary.keys().collect();
    let record = |loss: &Loss| {
        let own = [
            format!("{:.6}", loss.time_s),
            loss.frame.map(|frame| frame.to_string()).unwrap_or_default(),
            loss.frame_again.map(|frame| frame.to_string()).unwrap_or_default(),
            loss.time_utc.map(|time| time.to_string()).unwrap_or_default(),
            loss.seq.to_string(),
            loss.bytes.to_string(),
            loss.evidence.to_string(),
            loss.queueing_ms.map(|ms| format!("{ms:.3}")).unwrap_or_default(),
            flow.verdict(loss).to_string(),
        ];
        let said = names
            .iter()
            .map(|name| loss.verdicts.of(name).unwrap_or(Verdict::Undecided).to_string());
        own.into_iter().chain(said).collect()
    };
    let header = header.into_iter().chain(names.iter().map(|name| (*name).clone())).collect();
    csv_file::text_of_records(header, flow.losses.iter().take(MOST_IN_CSV).map(record))
}

fn row(flow: &Flow, anchor: Option<&String>) -> RowView {
    RowView {
        id: flow.id,
        is_minor: flow.minor,
        anchor: anchor.cloned().unwrap_or_default(),
        // Of joined captures, an algorithm is named with its end: spike@sender.
        cells: flow.cells().map(|cell| cell.replace('@', " at the ")).to_vec(),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
