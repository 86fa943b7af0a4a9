//! Runs cells, one at a time: each needs the machine for itself.

use std::fs;

use losscause::Span;
use losscause_laboratory::papers::record::Value;
use losscause_linux::emulator::{Host, SENDER};
use losscause_study::Stop;

use super::transfer::{self, Transferred};
use crate::live::quic::System;
use crate::live::{Attempt, Cell, LiveError, Stack, Values};

/// Two hosts with real sockets and the emulator's link between them.
pub(super) struct Sockets;

/// A run counts if 99 % of the packets were late by no more: a twentieth of the round trip.
const LATEST: Span = Span::from_millis(2);

impl Sockets {
    /// Looks whether the machine and the names allow the runs.
    pub(super) fn set_up(cells: &[Cell]) -> Result<Self, LiveError> {
        drop(Host::new(SENDER, &[])?);
        cells.iter().try_for_each(|cell| System::parse(&cell.system).map(drop))?;
        Ok(Self)
    }
}

impl Stack for Sockets {
    fn run(&self, cell: &Cell, seed: u64, stop: &Stop) -> Result<Attempt, LiveError> {
        let system = System::parse(&cell.system)?;
        let is_busy = cell.parameters.get("machine") == Some(&Value::from("busy"));
        let load = load_average();
        let transferred = transfer::run(cell, &system, is_busy, seed, stop)?;
        if let Some(why) = disturbance(&transferred) {
            return Ok(Attempt::Spoiled(why));
        }
        let mut values = values(&transferred);
        values.extend(load.map(|load| ("load_average", load)));
        Ok(Attempt::Made(values))
    }

    fn is_demanding(&self, _: &Cell) -> bool {
        true
    }
}

/// Why the run does not count.
fn disturbance(transferred: &Transferred) -> Option<String> {
    if transferred.device_drops > 0 {
        let drops = transferred.device_drops;
        return Some(format!("a TUN device dropped {drops} packets by itself"));
    }
    let late = transferred.crossed.late.quantile(0.99).filter(|late| *late > LATEST)?;
    Some(format!(
        "the emulator was late by up to {:.1} ms in 99 % of the packets, expected at most {:.0} ms",
        late.as_millis_f64(),
        LATEST.as_millis_f64()
    ))
}

fn values(transferred: &Transferred) -> Values {
    let Transferred { goodput_kbps, crossed, judged, .. } = transferred;
    let mut values = Values::from([("goodput", *goodput_kbps), ("goodput_least", *goodput_kbps)]);
    let percent = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
    let ms = |span: Option<Span>| span.map(Span::as_millis_f64);
    let all = judged.wireless + judged.congestion + judged.undecided;
    let further = [
        ("queue_drops", percent(crossed.queue_drops, crossed.came)),
        ("queueing_p50", ms(crossed.waited.quantile(0.5))),
        ("called_wireless", percent(judged.wireless, all)),
        ("late_worst", ms(crossed.late.worst())),
    ];
    values.extend(further.into_iter().filter_map(|(name, value)| Some((name, value?))));
    values
}

/// The kernel's load average over a minute.
fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
