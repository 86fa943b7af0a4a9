//! One link: rate, delay, queue, channel.

use std::sync::Arc;

use losscause::Span;
use losscause_sim::{ChannelSpec, ErrorPosition, Limit, LinkSpec, LoadPoint, Slots, TraceStart};

use super::delay;
use super::disorder;
use super::expression::{Names, Quantity};
use super::fading;
use super::format::{self, Channel, Document, Link, LossFormat};
use super::probes;
use super::queue;
use super::rate;
use super::reader::{LONGEST_S, Range, Reader, Text};
use crate::{InputError, Limits};

/// The link in the simulator's types, with its name in the file.
pub(super) fn template(
    link: &Link,
    document: &Document,
    reader: &Reader,
    names: &Names,
) -> Result<LinkSpec, InputError> {
    let key = |field: &str| format!("link.{}.{field}", link.name);
    let rate_bps = reader.rate(&key("rate_bps"), &link.rate_bps, names)?;
    let delay_ms = reader.number(
        &key("delay_ms"),
        &link.delay_ms,
        names,
        Range::NotNegative(LONGEST_S * 1e3),
    )?;
    let own = names.clone().with("rate_bps", rate_bps as f64).with("delay_ms", delay_ms);
    let limit = match (&link.queue_packets, &link.queue_bytes) {
        (Some(packets), None) => {
            Limit::Packets(reader.whole(&key("queue_packets"), packets, &own, 0, u32::MAX)?)
        }
        (None, Some(bytes)) => {
            Limit::Bytes(reader.whole(&key("queue_bytes"), bytes, &own, 0, u32::MAX)?.into())
        }
        (None, None) => {
            return Err(
                reader.error(&key("queue_packets"), "is missing, expected it or queue_bytes")
            );
        }
        (Some(_), Some(_)) => {
            return Err(reader.error(
                &key("queue_bytes"),
                "cannot be combined with queue_packets; give one of them",
            ));
        }
    };
    fits(link, reader)?;
    let slots = match (&link.slots_per_packet, &link.slot_ms) {
        (None, None) if has_instants(&link.channel) => Slots::PerTime(probes::SLOT),
        (None, None) => Slots::default(),
        (Some(slots), None) => {
            Slots::PerPacket(reader.whole(&key("slots_per_packet"), slots, &own, 1, 65_536)?)
        }
        (None, Some(length)) => {
            let ms =
                reader.number(&key("slot_ms"), length, &own, Range::Positive(LONGEST_S * 1e3))?;
            let shortest = Limits::SHORTEST_PERIOD_MS;
            if ms < shortest {
                let problem = format!(
                    "is {ms}, expected {shortest} or more: the channel takes a step in every slot"
                );
                return Err(reader.error(&key("slot_ms"), problem));
            }
            Slots::PerTime(Span::from_secs_f64_rounded(ms / 1e3))
        }
        (Some(_), Some(_)) => {
            return Err(reader.error(
                &key("slot_ms"),
                "cannot be combined with slots_per_packet; give one of them",
            ));
        }
    };
    Ok(LinkSpec {
        name: link.name.clone(),
        rate_bps,
        rate: rate::variation(&link.rate_variation, &key("rate_variation"), reader, &own)?,
        delay: Span::from_secs_f64_rounded(delay_ms / 1e3),
        variation: delay::variation(&link.delay_variation, &key("delay_variation"), reader, &own)?,
        queue: queue::spec(
            &link.queue,
            limit,
            &key("queue"),
            document.packet_bytes.as_ref(),
            reader,
            &own,
        )?,
        channel: match &link.channel {
            Channel::Fading => fading::channel(document.fading.as_ref(), reader)?,
            other => channel(other, &key("channel"), reader, &own)?,
        },
        error_position: match link.error_position {
            format::ErrorPosition::AfterTransmission => ErrorPosition::AfterTransmission,
            format::ErrorPosition::BeforeQueue => ErrorPosition::BeforeQueue,
        },
        slots,
        retransmission: match &link.retransmission {
            None => None,
            Some(_) if link.error_position == format::ErrorPosition::BeforeQueue => {
                let problem = "repeats transmissions, but error_position is before-queue, expected after-transmission";
                return Err(reader.error(&key("retransmission"), problem));
            }
            Some(settings) => {
                Some(rate::retransmission(settings, &key("retransmission"), reader, &own)?)
            }
        },
        reordering: link
            .reordering
            .as_ref()
            .map(|settings| disorder::reordering(settings, &key("reordering"), reader, &own))
            .transpose()?,
        duplication: link
            .duplication
            .as_ref()
            .map(|settings| disorder::duplication(settings, &key("duplication"), reader, &own))
            .transpose()?,
    })
}

/// Whether the channel's losses are those of their instants.
fn has_instants(channel: &Channel) -> bool {
    matches!(channel, Channel::Trace { format: LossFormat::Irtt | LossFormat::Lens, .. })
}

/// Refuses steps and positions that the channel cannot have.
fn fits(link: &Link, reader: &Reader) -> Result<(), InputError> {
    let key = |field: &str| format!("link.{}.{field}", link.name);
    let by_load = matches!(link.channel, Channel::Load { .. });
    if by_load && link.error_position == format::ErrorPosition::BeforeQueue {
        let problem = "is before-queue, expected after-transmission: the load is the transmitter's";
        return Err(reader.error(&key("error_position"), problem));
    }
    let given = [
        ("slots_per_packet", link.slots_per_packet.is_some()),
        ("slot_ms", link.slot_ms.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((field, _)) if by_load || has_instants(&link.channel) => {
            Err(reader
                .error(&key(field), "does not fit this channel, which has no steps; remove it"))
        }
        _ => Ok(()),
    }
}

fn channel(
    channel: &Channel,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<ChannelSpec, InputError> {
    let field = |field: &str| format!("{key}.{field}");
    Ok(match channel {
        Channel::Perfect | Channel::Fading => ChannelSpec::Perfect,
        Channel::Bernoulli { loss } => ChannelSpec::Bernoulli {
            loss: reader.number(&field("loss"), loss, names, Range::Share)?,
        },
        Channel::GilbertElliott { loss, mean_burst_packets } => {
            let loss = reader.number(&field("loss"), loss, names, Range::Share)?;
            if loss >= 1.0 {
                return Err(reader.error(&field("loss"), "is 1, expected less: a burst must end"));
            }
            let mean = reader.number(
                &field("mean_burst_packets"),
                mean_burst_packets,
                names,
                Range::Positive(1e9),
            )?;
            // Between two bursts there is at least one good packet.
            let least = (loss / (1.0 - loss)).max(1.0);
            if mean < least {
                let problem = format!("is {mean}, expected {least} or more for this loss");
                return Err(reader.error(&field("mean_burst_packets"), problem));
            }
            ChannelSpec::GilbertElliott { loss, mean_burst_packets: mean }
        }
        Channel::Load { points, window_s } => ChannelSpec::Load {
            points: by_load(points, &field("points"), reader, names)?,
            window: reader.positive_seconds(&field("window_s"), window_s, names)?,
        },
        Channel::Trace { file, format, start, direction } => {
            let probes = match format {
                LossFormat::Slots => None,
                LossFormat::Irtt => Some(probes::Format::Irtt),
                LossFormat::Lens => Some(probes::Format::Lens),
            };
            let kind = if probes.is_some() { probes::PROBES } else { TRACE };
            let (text, file) = reader.text(&field("file"), &reader.directory.join(file), kind)?;
            if let Some(probes) = probes {
                if start.is_some() {
                    let problem = "does not fit this format, whose losses have times; remove it";
                    return Err(reader.error(&field("start"), problem));
                }
                let direction = direction.unwrap_or_default();
                let lost = probes::losses(&text, &file, probes, direction)?;
                return Ok(ChannelSpec::Trace { lost, start: TraceStart::Slot(0) });
            }
            if direction.is_some() {
                let problem = "needs the format irtt or lens, whose losses have directions";
                return Err(reader.error(&field("direction"), problem));
            }
            let lost = error_trace(&text, &file)?;
            let last = u32::try_from(lost.len() - 1).unwrap_or(u32::MAX);
            let start = match start {
                Some(start) => {
                    TraceStart::Slot(reader.whole(&field("start"), start, names, 0, last)? as usize)
                }
                None => TraceStart::Drawn,
            };
            ChannelSpec::Trace { lost, start }
        }
    })
}

/// The losses at rising loads.
fn by_load(
    listed: &[[Quantity; 2]],
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<Arc<[LoadPoint]>, InputError> {
    let mut points: Vec<LoadPoint> = Vec::with_capacity(listed.len());
    for (number, [load, loss]) in (1..).zip(listed) {
        let key = format!("{key}.{number}");
        let load = reader.number(&key, load, names, Range::Share)?;
        let loss = reader.number(&key, loss, names, Range::Share)?;
        if points.last().is_some_and(|last| load <= last.load) {
            let problem = format!("is for a load of {load}, expected more than the one before it");
            return Err(reader.error(&key, problem));
        }
        points.push(LoadPoint { load, loss });
    }
    if points.is_empty() {
        return Err(reader.error(key, "is empty, expected pairs of a load and a loss"));
    }
    Ok(points.into())
}

const TRACE: Text = Text { expected: EXPECTED, largest: 256 << 20 };

const EXPECTED: &str = "a text file of 0 (received) and 1 (lost)";

/// Reads an error trace from a text: `0` (received) or `1` (lost) for each slot, separated by
/// blanks or line ends. Errors use `file_name`.
///
/// # Errors
/// A word is something else, or the text is empty.
pub fn error_trace(text: &str, file_name: &str) -> Result<Arc<[bool]>, InputError> {
    let mut lost = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        for word in words.split_whitespace() {
            lost.push(match word {
                "0" => false,
                "1" => true,
                _ => {
                    // A binary file may hold a very long word.
                    let shown: String =
                        word.chars().take(20).flat_map(char::escape_default).collect();
                    let problem =
                        format!("\"{shown}\" is out of place, expected 0 (received) or 1 (lost)");
                    return Err(InputError::Syntax { file: file_name.to_owned(), line, problem });
                }
            });
        }
    }
    if lost.is_empty() {
        return Err(InputError::file(file_name, "is empty", EXPECTED));
    }
    Ok(lost.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<bool>, String> {
        error_trace(text, "errors.txt").map(|lost| lost.to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_trace_may_stand_in_lines_or_apart_by_blanks() {
        assert_eq!(read("0\n1\n0\n"), Ok(vec![false, true, false]));
        assert_eq!(read("0 0 1\n\n1 0"), Ok(vec![false, false, true, true, false]));
    }

    #[test]
    fn a_bad_trace_is_told_with_its_line() {
        assert_eq!(
            read("0\n1\n2\n").unwrap_err(),
            "errors.txt, line 3: \"2\" is out of place, expected 0 (received) or 1 (lost)"
        );
        assert_eq!(
            read(" \n").unwrap_err(),
            "errors.txt: is empty, expected a text file of 0 (received) and 1 (lost)"
        );
    }
}
