//! A link's variable propagation delay: from a trace, or computed.

use std::sync::Arc;

use losscause::Span;
use losscause_sim::{AtEnd, Between, DelayPoint, JitterDistribution, JitterSpec, VariationSpec};

use super::expression::Names;
use super::expression::amount::Unit;
use super::format::{self, DelayFormat, DelayVariation};
use super::points::{Source, Values};
use super::probes;
use super::reader::{LONGEST_S, Range, Reader, Text};
use crate::{InputError, Limits};

/// What is added to the link's delay. `key` is the key of `variation`.
pub(super) fn variation(
    variation: &DelayVariation,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<VariationSpec, InputError> {
    let field = |field: &str| format!("{key}.{field}");
    let most = |key, quantity| {
        let ms =
            reader.number(&field(key), quantity, names, Range::NotNegative(LONGEST_S * 1e3))?;
        Ok::<_, InputError>((ms, millis(ms)))
    };
    Ok(match variation {
        DelayVariation::None => VariationSpec::Constant,
        DelayVariation::Trace {
            file,
            format,
            round_trip,
            interval_ms,
            points,
            between,
            at_end,
        } => {
            let is_round_trip = matches!(format, DelayFormat::Irtt | DelayFormat::Lens);
            if round_trip.is_some() && !is_round_trip {
                let problem = "needs the format irtt or lens, whose delays are round-trip times";
                return Err(reader.error(&field("round_trip"), problem));
            }
            if interval_ms.is_some() && *format != DelayFormat::Leocc {
                let problem = "needs the format leocc, whose lines have no times";
                return Err(reader.error(&field("interval_ms"), problem));
            }
            let read =
                |file: &str, kind| reader.text(&field("file"), &reader.directory.join(file), kind);
            let round_trip = round_trip.unwrap_or_default();
            let points = match Source::of(file.as_ref(), points.as_ref(), &field("file"), reader)? {
                Source::File(file) => match format {
                    DelayFormat::Pairs => {
                        let (text, file) = read(file, DELAYS.text)?;
                        delay_trace(&text, &file)?
                    }
                    DelayFormat::Irtt => {
                        let (text, file) = read(file, probes::PROBES)?;
                        probes::delays(&text, &file, probes::Format::Irtt, round_trip)?
                    }
                    DelayFormat::Lens => {
                        let (text, file) = read(file, probes::PROBES)?;
                        probes::delays(&text, &file, probes::Format::Lens, round_trip)?
                    }
                    DelayFormat::Leocc => {
                        let range = Range::Positive(LONGEST_S * 1e3);
                        let interval = interval_ms.as_ref().map_or(Ok(10.0), |ms| {
                            reader.number(&field("interval_ms"), ms, names, range)
                        })?;
                        let (text, file) = read(file, probes::LEOCC)?;
                        probes::leocc(&text, &file, millis(interval).max(Span::from_nanos(1)))?
                    }
                },
                Source::Listed(_) if *format != DelayFormat::Pairs => {
                    return Err(reader.error(&field("format"), "needs a file"));
                }
                Source::Listed(points) => {
                    delays(DELAYS.listed(points, &field("points"), reader, names)?)
                }
            };
            let between = match between {
                format::Between::Steps => Between::Steps,
                format::Between::Linear => Between::Linear,
            };
            let at_end = AtEnd::from(*at_end);
            if at_end == AtEnd::Repeat && points.last().is_none_or(|last| last.at == Span::ZERO) {
                let problem = "is repeat, expected hold: the trace ends at 0 s, so that a round would take no time";
                return Err(reader.error(&field("at_end"), problem));
            }
            if at_end == AtEnd::Repeat
                && let Some(last) = points.last()
            {
                Limits::check_round(points.len(), last.at)
                    .map_err(|problem| reader.error(&field("at_end"), problem))?;
            }
            VariationSpec::Trace { points, between, at_end }
        }
        DelayVariation::Sinusoid { most_ms, period_s } => VariationSpec::Sinusoid {
            most: most("most_ms", most_ms)?.1,
            period: reader.positive_seconds(&field("period_s"), period_s, names)?,
        },
        DelayVariation::Batches { hold_ms, drawn } => {
            VariationSpec::Batches { most: most("hold_ms", hold_ms)?.1, drawn: *drawn }
        }
        DelayVariation::Jitter { distribution, mean_ms, deviation_ms, correlation, reorders } => {
            let (mean_ms, mean) = most("mean_ms", mean_ms)?;
            let (distribution, most_ms) = match distribution {
                // The least draw is mean - sqrt(3) deviation.
                format::JitterDistribution::Uniform => {
                    (JitterDistribution::Uniform, mean_ms / 3.0_f64.sqrt())
                }
                format::JitterDistribution::Normal => (JitterDistribution::Normal, LONGEST_S * 1e3),
                format::JitterDistribution::Pareto => (JitterDistribution::Pareto, LONGEST_S * 1e3),
                format::JitterDistribution::Exponential => {
                    (JitterDistribution::Exponential, mean_ms)
                }
            };
            let deviation = match (distribution, deviation_ms) {
                (JitterDistribution::Exponential, None) => mean,
                (JitterDistribution::Exponential, Some(_)) => {
                    let problem = "is the mean with distribution exponential; remove it";
                    return Err(reader.error(&field("deviation_ms"), problem));
                }
                (_, None) => {
                    let problem = "is missing, expected the standard deviation";
                    return Err(reader.error(&field("deviation_ms"), problem));
                }
                (_, Some(deviation)) => {
                    let range = Range::NotNegative(most_ms);
                    millis(reader.number(&field("deviation_ms"), deviation, names, range)?)
                }
            };
            let key = field("correlation");
            let correlation = correlation.as_ref().map_or(Ok(0.0), |correlation| {
                reader.number(&key, correlation, names, Range::Share)
            })?;
            if correlation >= 1.0 {
                return Err(reader.error(&key, "is 1, expected less: the delay would not vary"));
            }
            let reorders = *reorders;
            let jitter = JitterSpec { distribution, mean, deviation, correlation, reorders };
            // Rounded to whole nanoseconds, it may be one too long.
            let deviation = deviation.min(jitter.most_deviation());
            VariationSpec::Jitter(JitterSpec { deviation, ..jitter })
        }
        DelayVariation::Walk { most_ms, step_ms, every_s } => {
            let (most_ms, most) = most("most_ms", most_ms)?;
            let step =
                reader.number(&field("step_ms"), step_ms, names, Range::NotNegative(most_ms))?;
            let every = reader.number(
                &field("every_s"),
                every_s,
                names,
                Range::Between(Limits::SHORTEST_WALK_S, LONGEST_S),
            )?;
            let step = millis(step).min(most);
            VariationSpec::Walk { most, step, every: Span::from_secs_f64_rounded(every) }
        }
    })
}

fn millis(ms: f64) -> Span {
    Span::from_secs_f64_rounded(ms / 1e3)
}

const DELAYS: Values = Values {
    name: "delay",
    unit: Unit::MILLIS,
    most: LONGEST_S * 1e3,
    pair: "a time in seconds and a delay in milliseconds",
    text: Text {
        expected: "a text file with a time in seconds and a delay in milliseconds on each line",
        largest: 64 << 20,
    },
};

fn delays(points: Vec<(Span, f64)>) -> Arc<[DelayPoint]> {
    let point = |(at, ms)| DelayPoint { at, delay: millis(ms) };
    points.into_iter().map(point).collect()
}

/// Reads a delay trace from a text: on each line a time in seconds and a delay in milliseconds,
/// separated by blanks or a comma. Times must rise. Empty lines and comments (from `#` on) are
/// skipped. Errors use `file_name`.
///
/// # Errors
/// A line is something else, or there is no point.
pub fn delay_trace(text: &str, file_name: &str) -> Result<Arc<[DelayPoint]>, InputError> {
    DELAYS.read(text, file_name).map(delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(f64, f64)>, String> {
        let point = |point: &DelayPoint| (point.at.as_secs_f64(), point.delay.as_millis_f64());
        delay_trace(text, "d.txt")
            .map(|points| points.iter().map(point).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_are_parted_by_blanks_or_a_comma_and_comments_ignored() {
        let expected = vec![(0.0, 20.0), (1.5, 35.25), (60.0, 0.0)];
        assert_eq!(read("0 20\n1.5 35.25\n60 0\n").as_ref(), Ok(&expected));
        assert_eq!(
            read("# time_s, delay_ms\n0, 20\n\n 1.5,35.25 # a new route\n6e1,\t0"),
            Ok(expected)
        );
    }

    #[test]
    fn a_bad_trace_is_told_with_its_line() {
        let rising = "is not later than the one before it, expected rising times";
        for (text, problem) in [
            (
                "",
                ": holds no point, expected a text file with a time in seconds and a delay in milliseconds on each line",
            ),
            (
                "# nothing\n\n",
                ": holds no point, expected a text file with a time in seconds and a delay in milliseconds on each line",
            ),
            ("0 20\n1\n", ", line 2: has 1 numbers, expected a time and a delay"),
            ("0 20 30", ", line 1: has 3 numbers, expected a time and a delay"),
            ("0 20\n\n1 fast", ", line 3: the delay is \"fast\", expected a number from 0 to 1e9"),
            ("0 NaN", ", line 1: the delay is \"NaN\", expected a number from 0 to 1e9"),
            ("0 20\n1 -5", ", line 2: the delay is \"-5\", expected a number from 0 to 1e9"),
            ("-1 20", ", line 1: the time is \"-1\", expected a number from 0 to 1e6"),
            ("0 20\n2 30\n1 20", &format!(", line 3: the time 1 {rising}")),
            ("0 20\n0 30", &format!(", line 2: the time 0 {rising}")),
        ] {
            assert_eq!(read(text), Err(format!("d.txt{problem}")));
        }
    }
}
