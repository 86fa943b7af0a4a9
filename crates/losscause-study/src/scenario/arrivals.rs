//! When the members of a flow group come and go.

use losscause::{Span, Time};
use losscause_sim::{FlowId, Turnover};

use super::expression::Names;
use super::format::{Arrivals, Flow};
use super::protocol;
use super::reader::{Range, Reader};
use crate::{InputError, Limits};

/// Start and stop of one flow, in the simulator's types.
pub(super) struct Life {
    pub(super) start: Time,
    pub(super) start_spread: Span,
    pub(super) stop: Option<Time>,
    pub(super) turnover: Option<Turnover>,
}

/// Number of members of the group; none for a single flow.
pub(super) fn count(
    flow: &Flow,
    reader: &Reader,
    names: &Names,
) -> Result<Option<u32>, InputError> {
    let key = format!("flow.{}.count", flow.name);
    match (&flow.arrivals, &flow.count) {
        (Some(Arrivals::List { times_s }), None) => match u32::try_from(times_s.len()) {
            Ok(count @ ..=Limits::FLOWS) => Ok(Some(count)),
            _ => {
                let key = format!("flow.{}.arrivals.times_s", flow.name);
                Err(reader.error(
                    &key,
                    format!("names {} flows, expected at most {}", times_s.len(), Limits::FLOWS),
                ))
            }
        },
        (Some(Arrivals::List { .. }), Some(_)) => Err(reader.error(
            &key,
            "cannot be combined with a list of times, which sets the number of flows; remove it",
        )),
        (Some(Arrivals::Poisson { .. }), None) => {
            Err(reader.error(&key, "is missing, expected the most flows that may come"))
        }
        (_, count) => count
            .as_ref()
            .map(|count| reader.whole(&key, count, names, 0, Limits::FLOWS))
            .transpose(),
    }
}

/// Start and stop of member `number` of a group, counted from 0. It is flow `index` of the network.
pub(super) fn life(
    flow: &Flow,
    number: usize,
    index: usize,
    reader: &Reader,
    names: &Names,
) -> Result<Life, InputError> {
    let key = |field: &str| format!("flow.{}.{field}", flow.name);
    let refuse = |field: &str, given: bool| {
        let problem =
            "cannot be combined with arrivals, which set when flows start and stop; remove it";
        if given { Err(reader.error(&key(field), problem)) } else { Ok(()) }
    };
    if flow.arrivals.is_some() {
        // A spread of 0 is allowed: a setting can set a key to 0, but cannot remove it.
        let spread = flow
            .start_spread_s
            .as_ref()
            .map(|s| reader.seconds(&key("start_spread_s"), s, names))
            .transpose()?;
        refuse("start_spread_s", spread.is_some_and(|spread| spread > Span::ZERO))?;
    }
    if let Some(Arrivals::List { times_s }) = &flow.arrivals {
        refuse("start_s", flow.start_s.is_some())?;
        refuse("stop_s", flow.stop_s.is_some())?;
        let key = key(&format!("arrivals.times_s.{}", number + 1));
        let [start, stop] = &times_s[number];
        let start = Time::ZERO + reader.seconds(&key, start, names)?;
        let stop = Time::ZERO + reader.seconds(&key, stop, names)?;
        if stop <= start {
            let start = start.as_secs_f64();
            let stop = stop.as_secs_f64();
            return Err(reader
                .error(&key, format!("is {start} to {stop}, expected a stop after the start")));
        }
        return Ok(Life { start, start_spread: Span::ZERO, stop: Some(stop), turnover: None });
    }
    let turnover = match &flow.arrivals {
        Some(Arrivals::Poisson { rate_per_s, mean_duration_s, durations, shape }) => {
            let key = |field: &str| key(&format!("arrivals.{field}"));
            let rate = reader.number(
                &key("rate_per_s"),
                rate_per_s,
                names,
                Range::Between(1.0 / Limits::LONGEST_S, 1e6),
            )?;
            Some(Turnover {
                // The members of a group have consecutive numbers in the network.
                after: (number > 0).then(|| FlowId(index as u32 - 1)),
                mean_gap: Span::from_secs_f64_rounded(1.0 / rate),
                mean_duration: mean_duration_s
                    .as_ref()
                    .map(|mean| reader.positive_seconds(&key("mean_duration_s"), mean, names))
                    .transpose()?,
                durations: protocol::lengths(
                    *durations,
                    shape.as_ref(),
                    &key("shape"),
                    reader,
                    names,
                )?,
            })
        }
        Some(Arrivals::List { .. }) | None => None,
    };
    let stop = flow.stop_s.as_ref();
    let spread = flow.start_spread_s.as_ref();
    Ok(Life {
        start: reader.instant(&key("start_s"), flow.start_s.as_ref(), names, Time::ZERO)?,
        start_spread: spread
            .map_or(Ok(Span::ZERO), |s| reader.seconds(&key("start_spread_s"), s, names))?,
        stop: stop.map(|_| reader.instant(&key("stop_s"), stop, names, Time::MAX)).transpose()?,
        turnover,
    })
}
