//! Round-trip times and losses that a measurement recorded, as a delay and as losses of a link.
//!
//! Two formats are read by name:
//!
//! - irtt's JSON (`irtt client -o`, json_format 1): `round_trips`, each with `lost` (false, true,
//!   true_up, true_down), `delay.rtt` and `timestamps.client.send`, in nanoseconds.
//! - LENS (Zhao and Pan 2024, "LENS: a LEO satellite network measurement dataset"): its CSV of irtt
//!   (`timestamp,rtt,uplink,downlink`: nanoseconds since 1970 and milliseconds; -1 in the last
//!   columns or in rtt is a loss there, or somewhere), its CSV of ping (`timestamp,rtt`: seconds
//!   and milliseconds, without the lost ones), and its logs of `ping -D`, in which gaps of
//!   `icmp_seq` are losses.
//!
//! A delay or a loss holds from its probe until the next one; the first probe is time zero.

use std::sync::Arc;

use losscause::Span;
use losscause_sim::DelayPoint;
use serde::Deserialize;

use super::format::{LossDirection, RoundTripPart};
use super::reader::{LONGEST_S, Text};
use crate::InputError;

/// The tool or data set whose format a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Irtt,
    Lens,
}

/// A probe and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Probe {
    /// Seconds, from any zero.
    at: f64,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// Its round-trip time, milliseconds.
    Answered(f64),
    Lost,
    LostUp,
    LostDown,
}

/// What may be in such a file.
pub(super) const PROBES: Text = Text { expected: EXPECTED, largest: 512 << 20 };

const EXPECTED: &str = "irtt's JSON, or a CSV or ping log of LENS";

/// A delay trace of LeoCC.
pub(super) const LEOCC: Text = Text { expected: EXPECTED_LEOCC, largest: 64 << 20 };

const EXPECTED_LEOCC: &str = "a text file with a delay in whole milliseconds on each line";

/// Slots of a loss trace are this long.
pub(super) const SLOT: Span = Span::from_millis(1);

/// The longest loss trace, seconds.
const LONGEST_LOSSES_S: f64 = 86_400.0;

/// The delay of a link by the probes of a text, of which errors call the file `file`.
pub(super) fn delays(
    text: &str,
    file: &str,
    format: Format,
    round_trip: RoundTripPart,
) -> Result<Arc<[DelayPoint]>, InputError> {
    let part = match round_trip {
        RoundTripPart::Whole => 1.0,
        RoundTripPart::Half => 0.5,
    };
    let probes = probes(text, file, format)?;
    let first = probes.first().map_or(0.0, |first| first.at);
    let mut points: Vec<DelayPoint> = Vec::new();
    for Probe { at, outcome } in probes {
        let Outcome::Answered(ms) = outcome else { continue };
        let at = Span::from_secs_f64_rounded(at - first);
        // Two probes of the same instant: the first holds.
        if points.last().is_none_or(|last| at > last.at) {
            points.push(DelayPoint { at, delay: Span::from_secs_f64_rounded(ms * part / 1e3) });
        }
    }
    if points.is_empty() {
        return Err(error(file, "holds no round-trip time"));
    }
    Ok(points.into())
}

/// Whether the packets of each millisecond are lost, by the probes of a text.
pub(super) fn losses(
    text: &str,
    file: &str,
    format: Format,
    direction: LossDirection,
) -> Result<Arc<[bool]>, InputError> {
    if format == Format::Lens && is_ping_csv(text) {
        return Err(error(file, "is a CSV of ping, which leaves out what was lost"));
    }
    let probes = probes(text, file, format)?;
    let (Some(first), Some(last)) = (probes.first(), probes.last()) else {
        return Err(error(file, "holds no probe"));
    };
    // The last one holds for a mean interval.
    let length = last.at - first.at;
    let length = length + length / (probes.len() - 1).max(1) as f64;
    if length > LONGEST_LOSSES_S {
        return Err(error(file, "lasts longer than a day"));
    }
    let slot = |seconds: f64| (seconds * 1e3).round() as usize;
    let mut lost = vec![false; slot(length).max(1)];
    for (place, probe) in probes.iter().enumerate() {
        let is_lost = match probe.outcome {
            Outcome::Answered(_) => false,
            Outcome::Lost => direction == LossDirection::Any,
            Outcome::LostUp => direction != LossDirection::Down,
            Outcome::LostDown => direction != LossDirection::Up,
        };
        if is_lost {
            let from = slot(probe.at - first.at).min(lost.len() - 1);
            let next = probes.get(place + 1).map_or(lost.len(), |next| slot(next.at - first.at));
            let until = next.clamp(from + 1, lost.len());
            lost[from..until].fill(true);
        }
    }
    Ok(lost.into())
}

/// The probes in order of time.
fn probes(text: &str, file: &str, format: Format) -> Result<Vec<Probe>, InputError> {
    let mut probes = match format {
        Format::Irtt => of_irtt(text, file)?,
        Format::Lens if text.trim_start().starts_with('{') => of_irtt(text, file)?,
        Format::Lens if text.starts_with(CSV) => of_csv(text, file)?,
        Format::Lens => of_ping(text, file)?,
    };
    probes.sort_by(|one, other| one.at.total_cmp(&other.at));
    let first = probes.first().map_or(0.0, |first| first.at);
    let is_possible = |probe: &Probe| {
        let delay = match probe.outcome {
            Outcome::Answered(ms) => (0.0..=LONGEST_S * 1e3).contains(&ms),
            Outcome::Lost | Outcome::LostUp | Outcome::LostDown => true,
        };
        delay && (0.0..=LONGEST_S).contains(&(probe.at - first))
    };
    match probes.iter().find(|probe| !is_possible(probe)) {
        Some(probe) => Err(error(file, &format!("holds a probe at {} s that cannot be", probe.at))),
        None => Ok(probes),
    }
}

/// The part of irtt's JSON that is read.
#[derive(Deserialize)]
struct Report {
    round_trips: Vec<Round>,
}

#[derive(Deserialize)]
struct Round {
    lost: Lost,
    timestamps: Timestamps,
    #[serde(default)]
    delay: Delay,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Lost {
    Known(bool),
    Named(LostName),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LostName {
    False,
    True,
    TrueUp,
    TrueDown,
}

#[derive(Deserialize)]
struct Timestamps {
    client: Client,
}

#[derive(Deserialize)]
struct Client {
    send: Instant,
}

/// Nanoseconds.
#[derive(Deserialize)]
struct Instant {
    wall: Option<i64>,
    monotonic: Option<i64>,
}

/// Nanoseconds.
#[derive(Default, Deserialize)]
struct Delay {
    rtt: Option<f64>,
}

fn of_irtt(text: &str, file: &str) -> Result<Vec<Probe>, InputError> {
    let report: Report = serde_json::from_str(text).map_err(|reason| InputError::Syntax {
        file: file.to_owned(),
        line: reason.line(),
        problem: format!("is not irtt's JSON: {reason}"),
    })?;
    let sent = |round: &Round| {
        let Instant { wall, monotonic } = round.timestamps.client.send;
        monotonic.or(wall)
    };
    let first = report.round_trips.first().and_then(sent).unwrap_or(0);
    let mut probes = Vec::with_capacity(report.round_trips.len());
    for (number, round) in report.round_trips.iter().enumerate() {
        let problem = |what| error(file, &format!("round trip {number} has no {what}"));
        let at = sent(round).ok_or_else(|| problem("time of sending"))?;
        let outcome = match round.lost {
            Lost::Known(true) | Lost::Named(LostName::True) => Outcome::Lost,
            Lost::Named(LostName::TrueUp) => Outcome::LostUp,
            Lost::Named(LostName::TrueDown) => Outcome::LostDown,
            Lost::Known(false) | Lost::Named(LostName::False) => {
                let rtt = round.delay.rtt.ok_or_else(|| problem("delay"))?;
                Outcome::Answered(rtt / 1e6)
            }
        };
        probes.push(Probe { at: at.saturating_sub(first) as f64 / 1e9, outcome });
    }
    Ok(probes)
}

/// The beginning of LENS's CSV files.
const CSV: &str = "timestamp,rtt";
const CSV_OF_IRTT: &str = "timestamp,rtt,uplink,downlink";

fn is_ping_csv(text: &str) -> bool {
    text.lines().next().is_some_and(|header| header.trim_end() == CSV)
}

fn of_csv(text: &str, file: &str) -> Result<Vec<Probe>, InputError> {
    let of_irtt = text.starts_with(CSV_OF_IRTT);
    let mut probes = Vec::new();
    let mut first = None;
    for (line, content) in (1..).zip(text.lines()).skip(1).filter(|(_, row)| !row.is_empty()) {
        let problem = || InputError::Syntax {
            file: file.to_owned(),
            line,
            problem: format!("is not a row of {}", if of_irtt { CSV_OF_IRTT } else { CSV }),
        };
        let mut fields = content.trim_end().split(',');
        let time = fields.next().unwrap_or_default();
        let at = if of_irtt {
            let nanos: i64 = time.parse().map_err(|_| problem())?;
            nanos.saturating_sub(*first.get_or_insert(nanos)) as f64 / 1e9
        } else {
            time.parse().map_err(|_| problem())?
        };
        let mut number = || fields.next().and_then(|field| field.parse::<f64>().ok());
        let rtt = number().ok_or_else(problem)?;
        let (up, down) = if of_irtt {
            (number().ok_or_else(problem)?, number().ok_or_else(problem)?)
        } else {
            (0.0, 0.0)
        };
        // One-way delays are relative to two clocks, and may be any number.
        let outcome = match (rtt, up, down) {
            (-1.0, _, _) => Outcome::Lost,
            (0.0, -1.0, _) => Outcome::LostUp,
            (0.0, _, -1.0) => Outcome::LostDown,
            _ => Outcome::Answered(rtt),
        };
        probes.push(Probe { at, outcome });
    }
    Ok(probes)
}

/// A log of `ping -D`: `[1700182800.410606] 64 bytes from …: icmp_seq=1 ttl=63 time=60.6 ms`. Other
/// lines are skipped.
fn of_ping(text: &str, file: &str) -> Result<Vec<Probe>, InputError> {
    let mut answers: Vec<(i64, f64, f64)> = Vec::new();
    for (at, seq, rtt) in text.lines().filter_map(answer) {
        // Numbers have 16 bits; an answer may be late.
        let number = answers.last().map_or(i64::from(seq), |&(before, ..)| {
            before + i64::from(seq.wrapping_sub(before as u16).cast_signed())
        });
        answers.push((number, at, rtt));
    }
    answers.sort_by_key(|(number, ..)| *number);
    answers.dedup_by_key(|(number, ..)| *number);
    let mut probes: Vec<Probe> = Vec::new();
    let mut before: Option<(i64, f64)> = None;
    for (number, at, rtt) in answers {
        if let Some((from, then)) = before {
            let gap = number - from;
            for missing in 1..gap {
                let at = then + (at - then) * missing as f64 / gap as f64;
                probes.push(Probe { at, outcome: Outcome::Lost });
            }
        }
        before = Some((number, at));
        probes.push(Probe { at, outcome: Outcome::Answered(rtt) });
    }
    if probes.is_empty() { Err(error(file, "holds no answer of ping -D")) } else { Ok(probes) }
}

/// Time in seconds, number, and round-trip time in milliseconds of an answered ping.
fn answer(line: &str) -> Option<(f64, u16, f64)> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let value = |key: &str| rest.split_whitespace().find_map(|word| word.strip_prefix(key));
    let seq = value("icmp_seq=")?.parse::<u64>().ok()?;
    Some((time.parse().ok()?, seq as u16, value("time=")?.parse().ok()?))
}

fn error(file: &str, problem: &str) -> InputError {
    InputError::file(file, problem, EXPECTED)
}

/// Reads a delay trace of LeoCC's replayer (`mm-delay INTERVAL FILE` in LeoReplayer): on each line
/// the delay of one direction in whole milliseconds, one line per interval. The last delay holds
/// for an interval too.
pub(super) fn leocc(
    text: &str,
    file: &str,
    interval: Span,
) -> Result<Arc<[DelayPoint]>, InputError> {
    let mut points: Vec<DelayPoint> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let delay = content.trim().parse::<u32>().map_err(|_| InputError::Syntax {
            file: file.to_owned(),
            line,
            problem: "is not a delay, expected whole milliseconds".to_owned(),
        })?;
        let at = Span::from_nanos(interval.as_nanos().saturating_mul(points.len() as i64));
        points.push(DelayPoint { at, delay: Span::from_millis(delay.into()) });
    }
    let Some(&last) = points.last() else {
        return Err(InputError::file(file, "holds no delay", EXPECTED_LEOCC));
    };
    points.push(DelayPoint { at: last.at + interval, ..last });
    Ok(points.into())
}

#[cfg(test)]
mod tests;
