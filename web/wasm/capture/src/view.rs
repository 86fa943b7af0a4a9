//! What a page shows of a capture: sentences, rows of a table, and what it draws.

use losscause::Verdict;
use losscause_capture::{Analysis, First, Flow, LossKind, OverTime, Step};
use serde::Serialize;

/// What a page shows of a capture.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct View {
    /// The answer, as the program's first line has it.
    pub answer: String,
    /// Why packets were lost and what to do, by cause; nothing if nothing was lost.
    pub first: Vec<First>,
    /// If the file ends early: where and why, as a sentence.
    pub cut: Option<String>,
    /// What a reader must know to trust the numbers.
    pub notes: Vec<String>,
    /// Frames of all kinds.
    pub packets: u64,
    /// From the first to the last frame, seconds.
    pub duration_s: f64,
    /// The rows of the program's table, those with most losses first; at most 200.
    pub rows: Vec<[String; 10]>,
    /// Flows that have no row.
    pub without_row: u64,
    /// The flows that are drawn, those with most losses: the first ones of `rows`, at most eight.
    /// If nothing was lost, the largest one.
    pub drawn: Vec<FlowView>,
    /// Flows with losses that are not drawn.
    pub undrawn: u64,
}

/// A flow that is drawn.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FlowView {
    /// The flow's number in the capture.
    pub id: u64,
    /// The flow's ends: "10.0.0.1:443 to 10.0.0.2:50000".
    pub name: String,
    /// How many packets it lost and what the algorithm to follow calls them.
    pub answer: String,
    /// What the queueing delay at its losses says.
    pub evidence: Option<String>,
    /// How far to trust the verdicts.
    pub trust: Vec<String>,
    /// When it begins, seconds after the capture's first packet.
    pub from_s: f64,
    /// When it ends.
    pub to_s: f64,
    /// Queueing delay over time, a row per step: when, the smallest and the largest, milliseconds.
    pub queueing_ms: Vec<[f64; 3]>,
    /// Bytes in queues over time, as `queueing_ms`: an estimate.
    pub queue_bytes: Vec<[f64; 3]>,
    /// The rate of data over time, a row per step: from when on, seconds, and how much, kb/s.
    pub rate_kbps: Vec<(f64, f64)>,
    /// What the path takes, kb/s, if that was seen and did not change.
    pub path_kbps: Option<f64>,
    /// The kinds that its losses have.
    pub kinds: Vec<KindView>,
    /// The losses that are marked.
    pub losses: Losses,
    /// Losses that are not marked.
    pub unmarked: u64,
}

/// What losses are shown as.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KindView {
    /// In words, for a legend.
    pub words: &'static str,
    /// How they are drawn: `congestion`, `wireless`, `undecided` or `timer`.
    pub look: &'static str,
}

/// Losses, a number per loss in each list. Their order is that of the analysis.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Losses {
    /// When each showed, seconds after the capture's first packet.
    pub time_s: Vec<f64>,
    /// The queueing delay then, milliseconds, if it is known.
    pub queueing_ms: Vec<Option<f64>>,
    /// What the algorithm to follow calls it: 0 congestion, 1 wireless, 2 undecided.
    pub verdict: Vec<u8>,
    /// The place in [`FlowView::kinds`] of what it is shown as.
    pub kind: Vec<u8>,
}

/// Rows at most, and flows that are drawn at most, as in reports.
const MOST_ROWS: usize = 200;
const MOST_DRAWN: usize = 8;
/// Losses that are marked of each flow at most.
const MOST_MARKED: usize = 10_000;

impl View {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        // Flows are in the order of their losses.
        let lossy = analysis.flows.iter().take_while(|flow| flow.lost() > 0);
        let largest = analysis
            .flows
            .iter()
            .filter(|flow| flow.over_time.is_some())
            .max_by_key(|flow| flow.bytes);
        let lossless = largest.filter(|_| lossy.clone().next().is_none());
        let drawn: Vec<FlowView> =
            lossy.clone().take(MOST_DRAWN).chain(lossless).map(FlowView::of).collect();
        Self {
            answer: analysis.answer(),
            first: analysis.first(),
            cut: analysis.cut().map(|cut| format!("{}: {cut}.", analysis.file)),
            notes: analysis.notes(),
            packets: analysis.packets,
            duration_s: analysis.duration_s,
            rows: analysis.flows.iter().take(MOST_ROWS).map(Flow::cells).collect(),
            without_row: analysis.flows.len().saturating_sub(MOST_ROWS) as u64
                + analysis.unlisted_flows,
            undrawn: lossy.count().saturating_sub(drawn.len()) as u64,
            drawn,
        }
    }
}

impl FlowView {
    fn of(flow: &Flow) -> Self {
        let nothing = OverTime::default();
        let over_time = flow.over_time.as_ref().unwrap_or(&nothing);
        let kinds = flow.kinds();
        let place = |loss| {
            kinds.iter().position(|kind| *kind == flow.kind_of(loss)).unwrap_or_default() as u8
        };
        let marked = &flow.losses[..flow.losses.len().min(MOST_MARKED)];
        let steps = || over_time.queueing_ms.iter();
        let times = || marked.iter().map(|loss| loss.time_s).chain(steps().map(|step| step.at_s));
        let begun = flow.over_time.as_ref().map(|over_time| over_time.from_s);
        Self {
            id: flow.id,
            name: format!("{} to {}", flow.src, flow.dst),
            answer: answer(flow),
            evidence: flow.evidence(),
            trust: flow.trust(),
            from_s: times().chain(begun).fold(f64::INFINITY, f64::min),
            to_s: times().fold(over_time.to_s, f64::max),
            queueing_ms: steps().map(row).collect(),
            queue_bytes: over_time.queue_bytes(flow.link_bps()).iter().map(row).collect(),
            rate_kbps: over_time.rate_kbps.clone(),
            path_kbps: flow.steady_path_bps().map(|bps| bps / 1e3),
            kinds: kinds
                .iter()
                .map(|kind| KindView { words: kind.words(), look: look(*kind) })
                .collect(),
            losses: Losses {
                time_s: marked.iter().map(|loss| loss.time_s).collect(),
                queueing_ms: marked.iter().map(|loss| loss.queueing_before_ms).collect(),
                verdict: marked.iter().map(|loss| code(flow.verdict(loss))).collect(),
                kind: marked.iter().map(place).collect(),
            },
            unmarked: flow.lost() - marked.len() as u64,
        }
    }
}

/// Of a flow that lost nothing, what its sender waited for is the answer.
fn answer(flow: &Flow) -> String {
    let waits = flow.pace.filter(|_| flow.lost() == 0).and_then(|pace| pace.told_waits());
    [Some(flow.answer()), waits].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn row(step: &Step) -> [f64; 3] {
    [step.at_s, step.least, step.most]
}

fn look(kind: LossKind) -> &'static str {
    match kind {
        LossKind::CalledWireless => "wireless",
        LossKind::Policer
        | LossKind::FullQueue
        | LossKind::ShortQueue
        | LossKind::CalledCongestion => "congestion",
        LossKind::ByTimer => "timer",
        _ => "undecided",
    }
}

fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Congestion => 0,
        Verdict::Wireless => 1,
        Verdict::Undecided => 2,
    }
}
