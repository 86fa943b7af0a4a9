//! The queue discipline of a link: `queue = { kind = "red", … }`.

use losscause::Span;
use losscause_sim::{CoDelSpec, Limit, QueueSpec, RedSpec};

use super::expression::{Names, Quantity};
use super::format::QueueKind;
use super::reader::{LONGEST_S, Range, Reader};
use crate::InputError;

/// Largest threshold, packets.
const MOST_PACKETS: f64 = 1e9;

/// The queue discipline in the simulator's types. `key` is its key in the file, `packet_bytes` the scenario's value.
pub(super) fn spec(
    queue: &QueueKind,
    limit: Limit,
    key: &str,
    packet_bytes: Option<&Quantity>,
    reader: &Reader,
    names: &Names,
) -> Result<QueueSpec, InputError> {
    let field = |field: &str| format!("{key}.{field}");
    Ok(match queue {
        QueueKind::DropTail { ecn: Some(true), .. } => {
            let problem = "stands in a drop-tail queue, which marks nothing by itself, expected mark_from_packets, or \
                           kind red or codel";
            return Err(reader.error(&field("ecn"), problem));
        }
        QueueKind::DropTail { mark_from_packets: None, .. } => QueueSpec::DropTail { limit },
        QueueKind::DropTail { mark_from_packets: Some(packets), .. } => {
            let mark_from_pkts = reader.whole(&field("mark_from_packets"), packets, names, 1, u32::MAX)?;
            QueueSpec::StepMark { limit, mark_from_pkts }
        }
        QueueKind::Red { .. } => QueueSpec::Red(red(queue, limit, &field, packet_bytes, reader, names)?),
        QueueKind::CoDel { target_ms, interval_ms, mtu_bytes, ecn } => {
            let default = CoDelSpec::new(limit);
            let time = |name: &str, given: &Option<Quantity>, default: Span| match given {
                None => Ok(default),
                Some(ms) => {
                    let ms = reader.number(&field(name), ms, names, Range::Positive(LONGEST_S * 1e3))?;
                    Ok(Span::from_secs_f64_rounded(ms / 1e3).max(Span::from_nanos(1)))
                }
            };
            let (target, interval) =
                (time("target_ms", target_ms, default.target)?, time("interval_ms", interval_ms, default.interval)?);
            if interval < target {
                let problem = format!("is {interval}, expected at least the target, which is {target}");
                return Err(reader.error(&field("interval_ms"), problem));
            }
            let mtu_bytes = match mtu_bytes {
                None => default.mtu_bytes,
                Some(bytes) => reader.whole(&field("mtu_bytes"), bytes, names, 0, u32::MAX)?,
            };
            QueueSpec::CoDel(CoDelSpec { limit, target, interval, mtu_bytes, ecn: *ecn })
        }
    })
}

fn red(
    queue: &QueueKind,
    limit: Limit,
    field: &impl Fn(&str) -> String,
    packet_bytes: Option<&Quantity>,
    reader: &Reader,
    names: &Names,
) -> Result<RedSpec, InputError> {
    let mut spec = RedSpec::new(limit);
    let QueueKind::Red { min_th_packets, max_th_packets, max_p, w_q, gentle, ecn, typical_packet_bytes } = queue else {
        return Ok(spec);
    };
    let number = |name: &str, given: &Option<Quantity>, range: Range, target: &mut f64| -> Result<(), InputError> {
        if let Some(given) = given {
            *target = reader.number(&field(name), given, names, range)?;
        }
        Ok(())
    };
    number("min_th_packets", min_th_packets, Range::NotNegative(MOST_PACKETS), &mut spec.min_th_pkts)?;
    number("max_th_packets", max_th_packets, Range::Positive(MOST_PACKETS), &mut spec.max_th_pkts)?;
    number("max_p", max_p, Range::Positive(1.0), &mut spec.max_p)?;
    number("w_q", w_q, Range::Positive(1.0), &mut spec.w_q)?;
    if spec.max_th_pkts <= spec.min_th_pkts {
        let (max, min) = (spec.max_th_pkts, spec.min_th_pkts);
        let problem = format!("is {max}, expected more than min_th_packets, which is {min}");
        return Err(reader.error(&field("max_th_packets"), problem));
    }
    let typical = match (typical_packet_bytes, packet_bytes) {
        (Some(own), _) => Some((field("typical_packet_bytes"), own)),
        (None, Some(common)) => Some(("packet_bytes".to_owned(), common)),
        (None, None) => None,
    };
    if let Some((key, bytes)) = typical {
        spec.typical_packet_bytes = reader.whole(&key, bytes, names, 1, 65_535)?;
    }
    (spec.gentle, spec.ecn) = (*gentle, *ecn);
    Ok(spec)
}
