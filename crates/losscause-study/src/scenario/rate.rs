//! A link's rate that varies: in steps, or by mahimahi's delivery opportunities. And retransmission
//! by the link layer.

use std::sync::Arc;

use losscause::Span;
use losscause_sim::{AtEnd, RatePoint, RateSpec, RetransmissionSpec};

use super::expression::Names;
use super::expression::amount::Unit;
use super::format::{RateVariation, Retransmission};
use super::points::{Source, Values, shown};
use super::reader::{LONGEST_S, Range, Reader, Text};
use crate::{InputError, Limits};

/// Bytes of one of mahimahi's delivery opportunities.
const OPPORTUNITY_BYTES: u32 = 1504;

/// How the rate varies of the link whose `rate_variation` stands at `key`.
pub(super) fn variation(
    variation: &RateVariation,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<RateSpec, InputError> {
    let field = |field: &str| format!("{key}.{field}");
    Ok(match variation {
        RateVariation::None => RateSpec::Constant,
        RateVariation::Steps { file, points, at_end } => {
            let points = match Source::of(file.as_ref(), points.as_ref(), &field("file"), reader)? {
                Source::File(file) => {
                    let (text, file) =
                        reader.text(&field("file"), &reader.directory.join(file), RATES.text)?;
                    rate_trace(&text, &file)?
                }
                Source::Listed(points) => {
                    rates(RATES.listed(points, &field("points"), reader, names)?)
                }
            };
            let at_end = AtEnd::from(*at_end);
            checked(RateSpec::Steps { points, at_end }, &field("at_end"), reader)?
        }
        RateVariation::Mahimahi { file, opportunity_bytes } => {
            let bytes = match opportunity_bytes {
                None => OPPORTUNITY_BYTES,
                Some(bytes) => {
                    reader.whole(&field("opportunity_bytes"), bytes, names, 1, u32::MAX)?
                }
            };
            let (text, file) =
                reader.text(&field("file"), &reader.directory.join(file), OPPORTUNITIES)?;
            RateSpec::Opportunities { at: mahimahi_trace(&text, &file)?, bytes }
        }
    })
}

/// The retransmission whose settings stand at `key`.
pub(super) fn retransmission(
    settings: &Retransmission,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<RetransmissionSpec, InputError> {
    let attempts = reader.whole(&format!("{key}.attempts"), &settings.attempts, names, 2, 1000)?;
    let delay_ms = match &settings.delay_ms {
        None => 0.0,
        Some(ms) => reader.number(
            &format!("{key}.delay_ms"),
            ms,
            names,
            Range::NotNegative(LONGEST_S * 1e3),
        )?,
    };
    Ok(RetransmissionSpec { attempts, delay: Span::from_secs_f64_rounded(delay_ms / 1e3) })
}

/// What is wrong with the steps as a whole is said of `key`.
fn checked(spec: RateSpec, key: &str, reader: &Reader) -> Result<RateSpec, InputError> {
    spec.validate()
        .map_err(|problem| reader.error(key, format!("does not fit the steps: {problem}")))?;
    if let RateSpec::Steps { points, at_end: AtEnd::Repeat } = &spec
        && let Some(last) = points.last()
    {
        Limits::check_round(points.len(), last.at).map_err(|problem| reader.error(key, problem))?;
    }
    Ok(spec)
}

/// Rates of steps, bits per second.
const RATES: Values = Values {
    name: "rate",
    unit: Unit::BPS,
    most: 1e12,
    pair: "a time in seconds and a rate in bits per second",
    text: Text {
        expected: "a text file with a time in seconds and a rate in bits per second on each line",
        largest: 64 << 20,
    },
};

fn rates(points: Vec<(Span, f64)>) -> Arc<[RatePoint]> {
    let point = |(at, bps): (Span, f64)| RatePoint { at, rate_bps: bps.round() as u64 };
    points.into_iter().map(point).collect()
}

const OPPORTUNITIES: Text = Text { expected: EXPECTED_OPPORTUNITIES, largest: 256 << 20 };

const EXPECTED_OPPORTUNITIES: &str = "a text file with a time in whole milliseconds on each line";

/// Reads the steps of a rate from a text: on each line a time in seconds and a rate in bits per
/// second (0: an outage), separated by blanks or a comma. Times rise. Empty lines and what follows
/// a `#` do not count. `file_name` is what errors call it.
///
/// # Errors
/// Anything else stands in the text, or no point at all.
pub fn rate_trace(text: &str, file_name: &str) -> Result<Arc<[RatePoint]>, InputError> {
    RATES.read(text, file_name).map(rates)
}

/// Reads mahimahi's delivery opportunities from a text: on each line a time in whole milliseconds.
/// Times do not fall, and the last one, the length of the trace, is not 0. `file_name` is what
/// errors call it.
///
/// # Errors
/// Anything else stands in the text, or no opportunity at all.
pub fn mahimahi_trace(text: &str, file_name: &str) -> Result<Arc<[Span]>, InputError> {
    let mut at: Vec<Span> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let error = |problem| InputError::Syntax { file: file_name.to_owned(), line, problem };
        let word = content.trim();
        if word.is_empty() {
            continue;
        }
        let ms = word.parse::<u32>().map_err(|_| {
            error(format!(
                "\"{}\" is out of place, expected a time in whole milliseconds",
                shown(word)
            ))
        })?;
        let time = Span::from_millis(ms.into());
        if at.last().is_some_and(|&last| time < last) {
            return Err(error(format!(
                "the time {ms} is earlier than the one before it, expected times that do not fall"
            )));
        }
        at.push(time);
    }
    let problem = match at.last() {
        None => "holds no delivery opportunity",
        Some(&Span::ZERO) => "ends at 0 ms, so that a round would take no time",
        Some(_) => return Ok(at.into()),
    };
    Err(InputError::file(file_name, problem, EXPECTED_OPPORTUNITIES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Result<Vec<(f64, u64)>, String> {
        let point = |point: &RatePoint| (point.at.as_secs_f64(), point.rate_bps);
        rate_trace(text, "r.txt")
            .map(|points| points.iter().map(point).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn steps_are_pairs_of_seconds_and_bits_per_second() {
        assert_eq!(
            steps("# lte\n0 1e6\n1.5, 250000 # shadow\n\n3\t0\n"),
            Ok(vec![(0.0, 1_000_000), (1.5, 250_000), (3.0, 0)])
        );
    }

    #[test]
    fn bad_steps_are_refused_with_their_line() {
        let rising =
            "r.txt, line 2: the time 1 is not later than the one before it, expected rising times";
        assert_eq!(steps("1 5\n1 6\n").unwrap_err(), rising);
        let number = "r.txt, line 1: the rate is \"fast\", expected a number from 0 to 1e12";
        assert_eq!(steps("1 fast").unwrap_err(), number);
        assert_eq!(
            steps("1 2 3").unwrap_err(),
            "r.txt, line 1: has 3 numbers, expected a time and a rate"
        );
        assert_eq!(
            steps("\n").unwrap_err(),
            format!("r.txt: holds no point, expected {}", RATES.text.expected)
        );
    }

    fn opportunities(text: &str) -> Result<Vec<i64>, String> {
        let ms = |at: &Span| at.as_nanos() / 1_000_000;
        mahimahi_trace(text, "up.trace")
            .map(|at| at.iter().map(ms).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn several_opportunities_may_stand_at_one_millisecond() {
        assert_eq!(opportunities("0\n3\n3\n10\n"), Ok(vec![0, 3, 3, 10]));
    }

    #[test]
    fn bad_opportunities_are_refused_with_their_line() {
        let falling = "up.trace, line 2: the time 4 is earlier than the one before it, expected times that do not fall";
        assert_eq!(opportunities("5\n4\n").unwrap_err(), falling);
        let word =
            "up.trace, line 1: \"1.5\" is out of place, expected a time in whole milliseconds";
        assert_eq!(opportunities("1.5").unwrap_err(), word);
        let zero = format!(
            "up.trace: ends at 0 ms, so that a round would take no time, expected {EXPECTED_OPPORTUNITIES}"
        );
        assert_eq!(opportunities("0\n0\n").unwrap_err(), zero);
    }
}
