//! The page of captures: the answer and how far to trust it, then flow by flow delay, rate and
//! sequence numbers over time with every loss, what each algorithm says, and the losses as a table.

use losscause::Verdict;
use losscause_capture::judge::trust::{Expected, Share};
use losscause_capture::{Analysis, Flow, Loss, Summary, Vantage, capitalised};
use minijinja::{Value, context};

use super::capture_timeline as timeline;
use losscause_study::tools::figures::{count, number};
use losscause_study::tools::table::{Cell, Table};

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

/// What the template shows.
pub(super) fn page(analyses: &[Analysis]) -> Value {
    let mut room = MOST_BYTES;
    let files: Vec<&str> = analyses.iter().map(|analysis| analysis.file.as_str()).collect();
    let captures = (1..).zip(analyses);
    let captures: Vec<Value> =
        captures.map(|(place, analysis)| capture(analysis, place, &mut room)).collect();
    context! { title => files.join(", "), captures, version => env!("CARGO_PKG_VERSION") }
}

fn capture(analysis: &Analysis, place: usize, room: &mut usize) -> Value {
    let anchor = format!("capture-{place}");
    let anchor_of = |flow: &Flow| format!("{anchor}-flow-{}", flow.id);
    let lossy = || analysis.flows.iter().filter(|flow| flow.lost() > 0);
    // Where nothing was lost, the largest transfer is drawn.
    let largest =
        analysis.flows.iter().filter(|flow| flow.over_time.is_some()).max_by_key(|flow| flow.bytes);
    let lossless = largest.filter(|_| lossy().next().is_none());
    let mut flows = Vec::new();
    let mut drawn = Vec::new();
    for flow in lossy().take(MOST_DRAWN).chain(lossless) {
        let (view, bytes) = flow_view(flow, &anchor_of(flow));
        // The first one is drawn in any case.
        let is_first = place == 1 && flows.is_empty();
        let Some(rest) = room.checked_sub(bytes).or(is_first.then_some(0)) else { break };
        *room = rest;
        drawn.push(flow.id);
        flows.push(view);
    }
    let mut left_out = Vec::new();
    let undrawn = lossy().count().saturating_sub(flows.len());
    if undrawn > 0 {
        left_out.push(format!(
            "{} with losses, fewer each, are not drawn; --format json and --losses have them.",
            more_flows(undrawn)
        ));
    }
    let beyond = analysis.flows.len().saturating_sub(MOST_ROWS) + analysis.unlisted_flows as usize;
    if beyond > 0 {
        let more = more_flows(beyond);
        left_out.push(format!("{more} are not in this list; --format json has them."));
    }
    let row = |flow: &Flow| {
        let class = if flow.minor { "soft" } else { "" };
        // Of joined captures, an algorithm is named with its end: spike@sender.
        let mut cells =
            flow.cells().map(|cell| Cell::from(cell.replace('@', " at the ")).class(class));
        if drawn.contains(&flow.id) {
            cells[0].link = anchor_of(flow);
        }
        cells
    };
    let rows = analysis.flows.iter().take(MOST_ROWS).map(row);
    context! {
        file => analysis.file,
        answer => analysis.answer(),
        // The answer's first sentences, and those that the rest of the first screen does not say.
        headline => analysis.headline(),
        beside => analysis.beside_headline(),
        firsts => analysis.first(),
        told_alone => analysis.told_alone(),
        facts => facts(analysis),
        notes => notes(analysis),
        table => Table::new(Flow::HEADS).numbers(..1).numbers(4..8).with_rows(rows).html(),
        left_out,
        flows,
        anchor,
    }
}

fn more_flows(count: usize) -> String {
    format!("{count} more flow{}", if count == 1 { "" } else { "s" })
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

/// What the template shows of a flow, and about how many bytes it is.
fn flow_view(flow: &Flow, anchor: &str) -> (Value, usize) {
    let name = format!("{} to {}", flow.src, flow.dst);
    let cause =
        flow.named_cause().map(|cause| format!("{}.", capitalised(&cause))).unwrap_or_default();
    let cost = flow.diagnosis.as_ref().and_then(|told| told.cost);
    let cost = cost.map(|cost| format!(" Its goodput: {}.", cost.told())).unwrap_or_default();
    let timeline = timeline::drawing(flow, &name).svg();
    let losses = losses_table(flow).html();
    let csv = csv(flow);
    // Encoding for a link makes three bytes of a blank or a comma.
    let bytes = timeline.len() + losses.len() + 2 * csv.len();
    let view = context! {
        id => flow.id,
        // The losses' cause and cost, if they are told together.
        cause => format!("{cause}{cost}").trim(),
        // If nothing was lost: what limited it.
        limit => if flow.lost() == 0 { limit(flow) } else { String::new() },
        is_told_one_by_one => flow.is_told_one_by_one(),
        anchor,
        evidence => flow.evidence().unwrap_or_default(),
        trust => flow.trust(),
        facts => flow_facts(flow),
        timeline,
        legend => timeline::legend(flow),
        agreement => agreement(flow),
        algorithms => algorithms(flow),
        not_applicable => flow.not_applicable.iter().collect::<Vec<_>>(),
        losses,
        listed => flow.losses.len().min(MOST_LISTED),
        all_losses => flow.lost(),
        csv,
        in_csv => flow.losses.len().min(MOST_IN_CSV),
        name,
    };
    (view, bytes)
}

/// What limited a flow that lost nothing.
fn limit(flow: &Flow) -> String {
    let unseen = || "That shows in a capture at its sender only.".to_owned();
    flow.pace.and_then(|pace| pace.told_waits()).unwrap_or_else(unseen)
}

fn flow_facts(flow: &Flow) -> String {
    let lost = (flow.lost() > 0).then(|| format!("{} lost", flow.lost()));
    let counts: Vec<String> = lost.into_iter().chain(flow.counts_told()).collect();
    let counts =
        if counts.is_empty() { "none lost or sent again".to_owned() } else { counts.join(", ") };
    let place = match flow.vantage {
        Vantage::Both => "at both ends".to_owned(),
        Vantage::Middle => "between the ends".to_owned(),
        Vantage::Unknown => "at a place that the capture does not tell".to_owned(),
        end => format!("at the {end}"),
    };
    let pace = flow.pace.map(|pace| format!(" {}.", pace.told())).unwrap_or_default();
    let protocol = flow.protocol.name();
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
    Table::new(heads).numbers(1..7).with_rows(all.into_iter().map(row)).html()
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

/// The first losses with what was compared. A date that all losses have stands above its column.
fn losses_table(flow: &Flow) -> Table {
    let shared = shared_date(flow);
    let utc = |loss: &Loss| match loss.time_utc.and_then(date_and_time) {
        None => count(None),
        Some((date, time)) if Some(&date) == shared.as_ref() => time,
        Some((date, time)) => format!("{date} {time}"),
    };
    let row = |loss: &Loss| {
        let verdict = flow.verdict(loss);
        let reason = flow.judgement(loss).map(|judgement| judgement.reason.to_string());
        [
            Cell::from(format!("{:.3}", loss.time_s)),
            count(loss.frame).into(),
            count(loss.frame_again).into(),
            Cell::from(utc(loss)).class("plain clock"),
            loss.seq.to_string().into(),
            Cell::from(loss.evidence.to_string()).class("plain"),
            loss.queueing_before_ms.map_or_else(|| count(None), |ms| format!("{ms:.1}")).into(),
            Cell::from(verdict.to_string()).class("plain").swatch(timeline::class(verdict)),
            reason.unwrap_or_default().into(),
        ]
    };
    let utc_head = shared.as_ref().map_or_else(|| "UTC".to_owned(), |date| format!("UTC, {date}"));
    let heads = ["seconds", "frame", "again in", &utc_head, "sequence number", "found by"];
    let heads = heads.into_iter().chain(["queueing ms before", "verdict", "what was compared"]);
    let table = Table::new(heads).numbers(..3).numbers(4..5).numbers(6..7);
    table.with_rows(flow.losses.iter().take(MOST_LISTED).map(row))
}

/// The losses of a flow with every verdict.
fn csv(flow: &Flow) -> String {
    let own = ["time_s", "frame", "frame_again", "time_utc", "seq", "bytes", "evidence"];
    let names: Vec<&str> = flow.summary.keys().map(String::as_str).collect();
    let heads = own.into_iter().chain(["queueing_ms", "verdict"]).chain(names.iter().copied());
    let text = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    let record = |loss: &Loss| {
        let own = [
            format!("{:.6}", loss.time_s),
            text(loss.frame),
            text(loss.frame_again),
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
        own.into_iter().chain(said).collect::<Vec<_>>()
    };
    Table::new(heads).with_rows(flow.losses.iter().take(MOST_IN_CSV).map(record)).csv()
}
