//! A bandwidth estimator of losscause-rtc, fed with any feedback that a peer could make.

use std::time::{Duration, Instant};

use losscause::{BuiltIn, End, Time};
use losscause_rtc::LossTolerant;
use rtc_interceptor::{Acknowledgement, BandwidthEstimator, Gcc, History, PacketReport};

use super::bytes::Bytes;

/// The wrapped estimator's limits, bits per second.
const LEAST: f64 = 150_000.0;
const MOST: f64 = 3_000_000.0;

/// Batches of reports per input, and reports per batch.
const BATCHES: usize = 64;
const REPORTS: u8 = 64;

/// Every algorithm takes any reports: out of order, with gaps, repeated, with times that jump and
/// absurd sizes. The estimate stays within the wrapped estimator's limits, and every loss is counted
/// once.
pub fn rtc_reports(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let algorithm = BuiltIn::ALL[usize::from(choice) % BuiltIn::ALL.len()];
    // Some algorithms are for senders only, or need the truth.
    let Ok(lda) = algorithm.build(End::Receiver) else { return };
    let Ok(mut estimator) = LossTolerant::new(Gcc::new(1e6, LEAST, MOST), lda) else { return };
    let monitor = estimator.monitor();
    let zero = Instant::now();
    let template = template(zero);
    let mut now = Time::ZERO;
    let mut id = 0;
    let mut lost = 0;
    for _ in 0..BATCHES {
        let (Some(later), Some(many)) = (bytes.later(now), bytes.u8()) else { return };
        now = later;
        let mut reports = Vec::new();
        for _ in 0..many % REPORTS {
            let Some(report) = report(&mut bytes, &template, zero, now, &mut id) else { break };
            reports.push(report);
        }
        lost += reports.iter().filter(|report| !report.arrived).count() as u64;
        estimator.on_reports(instant(zero, now), &reports);
        let target = estimator.target_bitrate();
        assert!((LEAST..=MOST).contains(&target), "{target}");
        let counts = monitor.totals();
        assert_eq!(counts.congestion + counts.wireless + counts.undecided, lost);
    }
}

fn report(
    bytes: &mut Bytes,
    template: &PacketReport,
    zero: Instant,
    now: Time,
    id: &mut u64,
) -> Option<PacketReport> {
    let kind = bytes.u8()?;
    *id = bytes.seq(*id)?;
    let mut report = template.clone();
    report.id = *id;
    report.arrived = kind & 0x03 != 0;
    report.is_twcc = kind & 0x1c != 0;
    report.size = if kind & 0xe0 == 0 { bytes.u64()? as usize } else { bytes.u16()?.into() };
    report.departure = instant(zero, bytes.foreign_time(now)?);
    // The receiver's clock: near the sender's, any time at all, or none.
    report.arrival = match bytes.u8()? % 8 {
        0 => None,
        1 => Some(Duration::from_nanos(bytes.u64()?)),
        _ => Some(Duration::from_nanos(now.as_nanos() as u64 / 2 + u64::from(bytes.u32()?))),
    };
    Some(report)
}

/// The instant of a time; times that no instant can have are that of zero.
fn instant(zero: Instant, time: Time) -> Instant {
    let span = Duration::from_nanos(time.as_nanos().unsigned_abs());
    let moved = if time < Time::ZERO { zero.checked_sub(span) } else { zero.checked_add(span) };
    moved.unwrap_or(zero)
}

/// A report that a history made: only it can.
fn template(now: Instant) -> PacketReport {
    let mut history = History::new();
    history.add_outgoing(1, 0, true, 0, 1_200, now);
    let acknowledgement = Acknowledgement { arrived: true, ..Acknowledgement::lost(0) };
    history.on_twcc_feedback(now, acknowledgement);
    history.take_reports().remove(0)
}
