//! Lost packets as marks: the colour and the lane tell the true cause, the shape tells the verdict,
//! an outline that it was wrong.

use losscause::Verdict;
use losscause_sim::truth::Cause;

use super::chart::{Legend, Shape};
use super::marks::Mark;
use super::time::Lane;
use losscause_study::run::LostPacket;

/// The verdict of an algorithm; none where every loss counts as congestion.
fn verdict(loss: &LostPacket) -> Option<Verdict> {
    loss.algorithm.and_then(|_| loss.verdict())
}

/// Whether an algorithm was wrong.
fn is_wrong(loss: &LostPacket) -> bool {
    loss.algorithm.is_some() && loss.is_right() == Some(false)
}

/// The shape of a verdict.
fn shape(loss: &LostPacket) -> Shape {
    match verdict(loss) {
        None => Shape::Bar,
        Some(Verdict::Congestion) => Shape::Square,
        Some(Verdict::Wireless) => Shape::Circle,
        Some(Verdict::Undecided) => Shape::Diamond,
    }
}

/// The colour of a cause.
fn class(loss: &LostPacket) -> &'static str {
    match (loss.cause, is_wrong(loss)) {
        (Some(Cause::Congestion), true) => "congestion wrong",
        (Some(Cause::Congestion), false) => "congestion",
        (Some(Cause::Wireless), true) => "wireless wrong",
        (Some(Cause::Wireless), false) => "wireless",
        (None, _) => "unlost",
    }
}

/// What happened, and why the algorithm said what it said.
fn title(loss: &LostPacket) -> String {
    let what = match (&loss.lost, loss.cause) {
        (Some((_, link)), Some(Cause::Congestion)) => {
            format!("lost to congestion (queue of {link})")
        }
        (Some((_, link)), _) => format!("lost in the air (channel of {link})"),
        (None, Some(cause)) => format!("begins a loss event; true cause: {cause}"),
        (None, None) => "was not lost".to_owned(),
    };
    let verdict = reason(loss).map(|reason| format!("\n{reason}")).unwrap_or_default();
    format!("{:.3} s, {}, packet {}: {what}{verdict}", loss.at_s(), loss.flow, loss.seq)
}

/// "ZBS, ZigZag: relative ROTT 61.200 ms is below 65.000 ms for 3 lost packets: wireless (right)".
pub(super) fn reason(loss: &LostPacket) -> Option<String> {
    let algorithm = loss.algorithm?;
    let (_, judgement) = loss.judged?;
    let scheme = judgement.reason.scheme();
    let hybrid = match scheme {
        Some(scheme) if algorithm == scheme => String::new(),
        Some(_) => format!("{algorithm}, "),
        None => format!("{algorithm}: "),
    };
    let right = match loss.is_right() {
        Some(true) => " (right)",
        Some(false) => " (wrong)",
        None => "",
    };
    Some(format!("{hybrid}{judgement}{right}"))
}

/// A loss as a mark at this height.
pub(super) fn mark(loss: &LostPacket, value: f64) -> Mark {
    let shape = shape(loss);
    Mark { at_s: loss.at_s(), value, shape, class: class(loss), title: title(loss) }
}

/// One lane per flow and cause in which anything happened.
pub(super) fn lanes(losses: &[LostPacket], flows: &[&str]) -> Vec<Lane> {
    let mut lanes = Vec::new();
    for flow in flows {
        let of = if flows.len() > 1 { format!("{flow}, ") } else { String::new() };
        let causes = [
            (Some(Cause::Congestion), "lost to congestion"),
            (Some(Cause::Wireless), "lost in the air"),
            (None, "not lost"),
        ];
        for (cause, name) in causes {
            let mine = losses.iter().filter(|loss| loss.flow == *flow && loss.cause == cause);
            let marks: Vec<Mark> = mine.map(|loss| mark(loss, 0.0)).collect();
            if !marks.is_empty() {
                lanes.push(Lane { name: format!("{of}{name}"), marks });
            }
        }
    }
    lanes
}

/// What colours and shapes mean: a sample and words, for those that occur.
pub(super) fn legend(losses: &[&LostPacket]) -> Legend {
    let any = |of: &dyn Fn(&LostPacket) -> bool| losses.iter().any(|loss| of(loss));
    let swatch = |class: &str| format!(r#"<span class="swatch {class}"></span>"#);
    let cause =
        |cause, class: &str, words| (any(&|loss| loss.cause == Some(cause)), swatch(class), words);
    let verdict =
        |wanted: Shape, words| (any(&|loss| shape(loss) == wanted), wanted.sample("unlost"), words);
    let entries = [
        cause(Cause::Congestion, "congestion", "lost to congestion"),
        cause(Cause::Wireless, "wireless", "lost in the air"),
        verdict(Shape::Square, "called congestion"),
        verdict(Shape::Circle, "called wireless"),
        verdict(Shape::Diamond, "undecided"),
        verdict(Shape::Bar, "no verdict on it"),
        (any(&is_wrong), Shape::Square.sample("unlost wrong"), "outlined: wrong"),
    ];
    let occurring = entries.into_iter().filter(|(occurs, ..)| *occurs);
    occurring.map(|(_, sample, words)| (sample, words.to_owned())).collect()
}
