//! A link's packets that arrive late or twice.

use losscause::Span;
use losscause_sim::{DuplicationSpec, Lateness, ReorderingSpec};

use super::expression::{Names, Quantity};
use super::format::{Duplication, Reordering};
use super::reader::{LONGEST_S, Range, Reader};
use crate::InputError;

/// A packet goes on after this if too few overtake it, unless the scenario says otherwise.
const AT_MOST_MS: f64 = 100.0;

/// The reordering whose settings stand at `key`.
pub(super) fn reordering(
    settings: &Reordering,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<ReorderingSpec, InputError> {
    let field = |field: &str| format!("{key}.{field}");
    let Reordering { share, delay_ms, drawn, packets, at_most_ms } = settings;
    let by = match (delay_ms, packets) {
        (Some(delay), None) => {
            if at_most_ms.is_some() {
                return Err(reader.error(&field("at_most_ms"), "needs packets, not delay_ms"));
            }
            let most = not_negative(&field("delay_ms"), delay, reader, names)?;
            Lateness::Time { most, drawn: *drawn }
        }
        (None, Some(packets)) => {
            if *drawn {
                return Err(reader.error(&field("drawn"), "needs delay_ms, not packets"));
            }
            let packets = reader.whole(&field("packets"), packets, names, 1, 1_000_000)?;
            let at_most = at_most_ms.as_ref().map_or(Ok(AT_MOST_MS), |most| {
                let range = Range::Positive(LONGEST_S * 1e3);
                reader.number(&field("at_most_ms"), most, names, range)
            })?;
            Lateness::Packets { packets, most: millis(at_most).max(Span::from_nanos(1)) }
        }
        (None, None) => {
            return Err(reader.error(&field("delay_ms"), "is missing, expected it or packets"));
        }
        (Some(_), Some(_)) => {
            return Err(reader
                .error(&field("packets"), "cannot be combined with delay_ms; give one of them"));
        }
    };
    let share = reader.number(&field("share"), share, names, Range::Share)?;
    Ok(ReorderingSpec { share, by })
}

/// The duplication whose settings stand at `key`.
pub(super) fn duplication(
    settings: &Duplication,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<DuplicationSpec, InputError> {
    let Duplication { share, delay_ms } = settings;
    let share = reader.number(&format!("{key}.share"), share, names, Range::Share)?;
    let key = format!("{key}.delay_ms");
    let delay = delay_ms
        .as_ref()
        .map_or(Ok(Span::ZERO), |delay| not_negative(&key, delay, reader, names))?;
    Ok(DuplicationSpec { share, delay })
}

fn not_negative(
    key: &str,
    quantity: &Quantity,
    reader: &Reader,
    names: &Names,
) -> Result<Span, InputError> {
    reader.number(key, quantity, names, Range::NotNegative(LONGEST_S * 1e3)).map(millis)
}

fn millis(ms: f64) -> Span {
    Span::from_secs_f64_rounded(ms / 1e3)
}
