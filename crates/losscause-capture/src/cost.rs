//! What its losses cost a flow.
//!
//! | figure | is |
//! |---|---|
//! | goodput | distinct data over the time in which the sender waited for the path: neither for its application nor for the receiver's window |
//! | the path's rate | a policer's, if no other flow of the two hosts shares it; else how fast the link emptied the queue that stood. Of a rate that changes, its mean, if a queue stood for at least half of the time. Without headers |
//! | slow | the time after the first loss in which less than four fifths of that rate passed, without all time that the application or the receiver took: it was at least so long. Not of a rate that changes |
//! | repair | the time in which a lost packet had been sent and was not sent again yet; of several at once it counts once |
//! | timers | the same of the losses that only a timer showed |
//! | again | the share of packets that were sent again |
//!
//! What was not seen is none, never zero.

use losscause::diagnosis::Cause;
use serde::Serialize;

use crate::fit::Fit;
use crate::measured::Measured;
use crate::units;
use crate::{Flow, Loss, Vantage};

/// What its losses cost a flow. Times are seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// Distinct data over the time in which its sender waited for the path, bits per second. Where
    /// that time is not seen, as at a receiver, over all of its time.
    pub goodput_bps: f64,
    /// What the path takes of such data, bits per second; none if that was not seen.
    pub path_rate_bps: Option<f64>,
    /// Whether that is the mean of a rate that changed.
    pub path_rate_changes: bool,
    /// The goodput over that, from 0 to 1.
    pub used: Option<f64>,
    /// From the first loss to the flow's last whole step of time.
    pub after_first_loss_s: f64,
    /// For at least so long of that it was below four fifths of the path's rate; none if that is
    /// not known.
    pub slow_s: Option<f64>,
    /// A lost packet was not sent again yet; none if the capture is not one at the sender.
    pub repair_s: Option<f64>,
    /// Of that, a timer was waited for.
    pub timer_s: Option<f64>,
    /// The share of its packets that were sent again, from 0 to 1; none if the capture is not one at
    /// the sender.
    pub again: Option<f64>,
}

/// Below this part of its rate, a path is not used: steps of time measure the rate within a few
/// packets.
const USED: f64 = 0.8;
/// A path is used up if a flow got this part of its rate: of 37 simulated transfers with that much
/// of what a policer leaves, a shaper at 98 % of the rate brought one 6 % more, and the others less.
pub(crate) const USED_UP: f64 = 0.9;
/// A mean of a changing rate needs a queue for so much of the time.
const MOST_OF_TIME: f64 = 0.5;

impl Cost {
    /// Of a flow whose losses have this cause; `is_shared` if other flows of its hosts have a part
    /// of the path. None if its data passed at once.
    pub(crate) fn of(flow: &Flow, cause: Cause, is_shared: bool) -> Option<Self> {
        let pace = flow.pace?;
        let measured = flow.measured.as_ref()?;
        let held_s = pace.sending.map_or(0.0, |sending| sending.idle_s + sending.window_full_s);
        let waited_s = pace.lasted_s - held_s;
        if waited_s <= 0.0 {
            return None;
        }
        let goodput_bps = 8.0 * flow.bytes as f64 / waited_s;
        let path = path_rate(flow, measured, cause, is_shared);
        let path_rate_bps = path.map(|path| path.0);
        let steady_bps = path.filter(|path| path.1).map(|path| path.0);
        let first_s = flow.losses.first().map_or(f64::INFINITY, |loss| loss.time_s);
        let after = (0..measured.rates.len())
            .filter(|&step| measured.from_s + measured.step_s * step as f64 >= first_s);
        let after: Vec<f64> = after.map(|step| f64::from(measured.rates[step])).collect();
        let slow = |path: f64| {
            after.iter().filter(|rate| **rate < USED * path).count() as f64 * measured.step_s
        };
        let is_at_sender = flow.vantage == Vantage::Sender && flow.unlisted_losses == 0;
        let repair = |is_meant: fn(&Loss) -> bool| {
            is_at_sender.then(|| repair_s(flow.losses.iter().filter(|loss| is_meant(loss))))
        };
        Some(Self {
            goodput_bps,
            path_rate_bps,
            path_rate_changes: path.is_some_and(|path| !path.1),
            used: path_rate_bps.map(|path| (goodput_bps / path).min(1.0)),
            after_first_loss_s: after.len() as f64 * measured.step_s,
            slow_s: steady_bps
                .filter(|_| pace.sending.is_some())
                .map(|path| (slow(path) - held_s).max(0.0)),
            repair_s: repair(|_| true),
            timer_s: repair(Loss::is_by_timer),
            again: is_at_sender.then(|| flow.sent_again as f64 / flow.packets.max(1) as f64),
        })
    }

    /// What it cost: "The flow got 4.1 Mb/s of its path's 9.6 Mb/s", if the path was hardly used and
    /// that is certain; that it cost little, if the path was used up; behind a policer in any case.
    pub(crate) fn in_short(&self, is_policer: bool) -> Option<String> {
        let used = self.used?;
        let goodput = units::rate(self.goodput_bps);
        let path = units::rate(self.path_rate_bps?);
        let percent = 100.0 * used;
        Some(match is_policer {
            // As behind a bucket that was full.
            true if used >= 1.0 => {
                format!("The flow got {goodput}, no less than the policer leaves for data ({path})")
            }
            true => format!(
                "The flow got {goodput} of the {path} that the policer leaves for data ({percent:.0} %)"
            ),
            false if used >= USED_UP => format!(
                "Losses cost the flow little: it got {goodput} of its path's {path}{} ({percent:.0} %)",
                self.mean()
            ),
            false if used < USED && !self.path_rate_changes => {
                format!("The flow got {goodput} of its path's {path}")
            }
            false => return None,
        })
    }

    /// What is said behind a path's rate that is a mean.
    fn mean(&self) -> &'static str {
        if self.path_rate_changes { " on average" } else { "" }
    }

    /// In one line: "2.3 of 2.9 Mb/s (80 %); below four fifths of that for at least 11.8 of 28.4 s;
    /// lost data waited 3.1 s to be sent again, 0.4 s of it for a timer".
    pub fn told(&self) -> String {
        let mut told = match (self.path_rate_bps, self.used) {
            (Some(path), Some(used)) => {
                let mean = self.mean();
                let goodput = units::rate(self.goodput_bps);
                let path = units::rate(path);
                match used < 1.0 {
                    true => format!("{goodput} of the path's {path}{mean} ({:.0} %)", 100.0 * used),
                    // As behind a bucket that was full.
                    false => format!("{goodput}, no less than the path's {path}{mean}"),
                }
            }
            _ => format!("{}; what the path takes was not seen", units::rate(self.goodput_bps)),
        };
        if let Some(slow_s) = self.slow_s {
            let after_s = self.after_first_loss_s;
            told += &format!(
                "; below four fifths of that for at least {slow_s:.1} of the {after_s:.1} s after the first loss"
            );
        }
        if let (Some(repair_s), Some(timer_s)) = (self.repair_s, self.timer_s) {
            told += &format!("; lost data waited {repair_s:.1} s to be sent again");
            if timer_s >= 0.05 {
                told += &format!(", {timer_s:.1} s of it for a timer");
            }
        }
        told
    }
}

/// What the path takes of payload, bits per second, and whether that stays the same.
fn path_rate(
    flow: &Flow,
    measured: &Measured,
    cause: Cause,
    is_shared: bool,
) -> Option<(f64, bool)> {
    let share = measured.packets?.payload_share();
    if let Cause::Policer { rate_bps, .. } = cause {
        return rate_bps.filter(|_| !is_shared).map(|rate| (rate as f64 * share, true));
    }
    let fit = flow.fit.as_ref()?;
    if fit.is_steady() {
        return Some((fit.rate_bps * share, true));
    }
    let stood = fit.standing_s >= MOST_OF_TIME * flow.pace?.lasted_s;
    stood.then(|| (fit.mean_bps() * share, false))
}

/// How long one of these losses or more was sent and not sent again yet, seconds.
fn repair_s<'a>(losses: impl Iterator<Item = &'a Loss>) -> f64 {
    let mut spans: Vec<_> = losses.map(|loss| (loss.passage.at, loss.time)).collect();
    spans.sort();
    let mut all = losscause::Span::ZERO;
    let mut until = None;
    for (from, to) in spans {
        let from = until.map_or(from, |until| from.max(until));
        if to > from {
            all += to - from;
            until = Some(to);
        }
    }
    all.as_secs_f64()
}

impl Flow {
    /// What its path takes of payload, if that was seen and stays the same, bits per second.
    pub fn steady_path_bps(&self) -> Option<f64> {
        let cost = self.diagnosis.as_ref()?.cost.filter(|cost| !cost.path_rate_changes)?;
        cost.path_rate_bps
    }

    /// What its link passes on at most, bits per second, if it was seen to empty a queue.
    pub fn link_bps(&self) -> Option<f64> {
        self.fit.as_ref().filter(|fit| fit.policer.is_none()).map(|fit| fit.rate_p90_bps)
    }

    /// The goodput, kb/s, each from a time on (s after the capture's first packet) until the next.
    /// Only of a flow that lost packets: elsewhere the rate of data is the same.
    pub fn goodput_kbps(&self) -> Vec<(f64, f64)> {
        let steps = |measured: &Measured| {
            let at = |(place, rate): (usize, &f32)| {
                (measured.from_s + measured.step_s * place as f64, f64::from(*rate) / 1e3)
            };
            measured.rates.iter().enumerate().map(at).collect()
        };
        self.measured.as_deref().map(steps).unwrap_or_default()
    }
}

impl Fit {
    /// Whether the rate stayed near one value while a queue stood.
    pub(crate) fn is_steady(&self) -> bool {
        self.rate_p10_bps >= USED * self.rate_p90_bps
    }

    /// The mean rate while a queue stood, bits per second.
    pub(crate) fn mean_bps(&self) -> f64 {
        8.0 * (self.standing_packets * self.packet_bytes) as f64 / self.standing_s
    }
}
