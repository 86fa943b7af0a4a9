//! How late the emulator delivers, beside how late this machine wakes a thread up.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use losscause::{Span, Time};
use losscause_linux::emulator::{Histogram, Quantiles, take_real_time_priority};
use serde::{Deserialize, Serialize};

/// Quantiles of delays, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Late {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

/// The emulator's lateness in one transfer, and the machine's own right after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lateness {
    pub(super) emulator: Late,
    pub(super) machine: Late,
}

/// The most by which the emulator may be later than the machine itself.
const EXCESS: Late = Late { p50_ms: 0.2, p99_ms: 1.0 };

impl Lateness {
    /// Whether the transfer crossed the link that the scenario describes.
    pub(super) fn is_bounded(&self) -> bool {
        self.emulator.p50_ms - self.machine.p50_ms < EXCESS.p50_ms
            && self.emulator.p99_ms - self.machine.p99_ms < EXCESS.p99_ms
    }
}

impl Late {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let Quantiles { p50_ms, p99_ms, .. } = histogram.quantiles();
        Self { p50_ms: p50_ms.unwrap_or_default(), p99_ms: p99_ms.unwrap_or_default() }
    }
}

/// Collects what the link's thread does with its time: how late it is, and how long it sleeps until
/// a delivery.
#[derive(Default)]
pub(super) struct Watch {
    late: Histogram,
    written: Option<Time>,
    sleeps: Vec<Span>,
}

/// The machine is measured for this long.
const MEASURED: Span = Span::from_secs(2);

impl Watch {
    /// A packet that was due then was written now.
    pub(super) fn delivered(&mut self, due: Time, written: Time) {
        self.late.add(written - due);
        if let Some(before) = self.written.replace(written).filter(|before| *before < due) {
            self.sleeps.push(due - before);
        }
    }

    /// The emulator's lateness, and that of a thread of the same priority that sleeps for the last
    /// of the same spans.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn lateness(&self) -> Result<Lateness> {
        let mut total = Span::ZERO;
        let within = |span: &&Span| {
            total += **span;
            total < MEASURED
        };
        let spans: Vec<Span> = self.sleeps.iter().rev().take_while(within).copied().collect();
        let measured = thread::spawn(move || own_lateness(&spans))
            .join()
            .map_err(|_| anyhow!("a thread panicked"))?;
        Ok(Lateness { emulator: Late::of(&self.late), machine: Late::of(&measured) })
    }
}

/// Sleeps for each span. Returns by how much longer it took.
fn own_lateness(spans: &[Span]) -> Histogram {
    take_real_time_priority();
    let mut late = Histogram::default();
    for span in spans {
        let begun = Instant::now();
        let asked = Duration::from_nanos(span.as_nanos().unsigned_abs());
        thread::sleep(asked);
        late.add(Span::from_nanos(begun.elapsed().saturating_sub(asked).as_nanos() as i64));
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_thread_slept_from_a_delivery_until_the_next_is_due() {
        let mut watch = Watch::default();
        // The third packet was due while the second was written.
        for (due, written) in [(10, 11), (15, 16), (16, 17), (20, 21)] {
            watch.delivered(at(due), at(written));
        }
        assert_eq!(watch.sleeps, [4, 3].map(Span::from_millis));
        assert_eq!(watch.late.count(), 4);
    }

    #[test]
    fn a_slow_machine_excuses_as_much_lateness_as_its_own() {
        let lateness = |emulator, machine| Lateness { emulator, machine };
        let late = |p50_ms, p99_ms| Late { p50_ms, p99_ms };
        assert!(lateness(late(0.1, 0.9), late(0.0, 0.0)).is_bounded());
        assert!(!lateness(late(0.3, 0.9), late(0.05, 0.0)).is_bounded());
        assert!(!lateness(late(0.1, 2.1), late(0.08, 1.0)).is_bounded());
        assert!(lateness(late(0.1, 2.1), late(0.08, 1.2)).is_bounded());
    }
}
