//! What to do about a cause.

use core::fmt;

use super::words::{Rate, ThreeDigits};
use super::{Cause, Diagnosis, Unknown};
use crate::Span;

/// How fast a path was seen to empty a queue that stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRate {
    /// The rate, bits per second, headers included: what other traffic left of it, if there was
    /// any.
    pub rate_bps: u64,
    /// A tenth of the time it was lower, bits per second.
    pub least_bps: u64,
    /// The round trip through empty queues.
    pub round_trip: Span,
}

impl PathRate {
    /// Whether the rate stays near one value.
    pub fn is_steady(&self) -> bool {
        self.least_bps as f64 >= STEADY * self.rate_bps as f64
    }

    /// What a queue of a round trip holds, bytes.
    pub fn round_trip_bytes(&self) -> f64 {
        self.rate_bps as f64 / 8.0 * self.round_trip.as_secs_f64()
    }
}

/// What to do about a cause.
pub(super) struct Advice<'a> {
    pub(super) diagnosis: &'a Diagnosis,
    pub(super) path: Option<PathRate>,
}

/// A policer's bucket drops nothing of a flow that stays below its rate. Rates that are named err by
/// a few percent, and a queue in front that is so little above the rate still saves nearly all
/// drops; what it is below, the flow loses.
const BELOW_RATE: f64 = 0.98;
/// A shaper in front of a link has the queue if it is so much slower.
const IN_FRONT: f64 = 0.9;
/// A rate of which a tenth is lower than this part changes.
const STEADY: f64 = 0.8;

impl Cause {
    /// The rate at which a shaper leaves it no packet to drop, bits per second, rounded down to
    /// three digits, on a path that was seen to be so fast. None if a shaper does not help, or no
    /// fixed rate is known.
    pub fn shaped_bps(self, path: Option<PathRate>) -> Option<u64> {
        let bps = match (self, path) {
            (Self::Policer { rate_bps, .. }, _) => (rate_bps? as f64 * BELOW_RATE) as u64,
            (Self::FullQueue, Some(path)) if path.is_steady() => {
                (path.rate_bps as f64 * IN_FRONT) as u64
            }
            _ => return None,
        };
        let unit = 10_u64.pow(bps.checked_ilog10().unwrap_or(0).saturating_sub(2));
        Some(bps / unit * unit)
    }
}

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.diagnosis.cause;
        let path = self.path;
        let shaped = cause.shaped_bps(path).map(ThreeDigits);
        f.write_str(match (cause, shaped, path) {
            (Cause::Policer { .. }, Some(shaped), _) => {
                return write!(
                    f,
                    "Shape to {shaped} (98 % of its rate): packets then wait in the shaper's queue where the policer would drop them"
                );
            }
            (Cause::Policer { .. }, None, _) => "Shape below the rate that the contract allows",
            (Cause::FullQueue, Some(shaped), Some(path)) => {
                let rate = Rate(path.rate_bps);
                return write!(
                    f,
                    "Put fq_codel in front of the slow link, at {shaped} (90 % of its {rate}): it aims at 5 ms of queueing delay"
                );
            }
            (Cause::FullQueue, _, Some(path)) => {
                let least = Rate(path.least_bps);
                let rate = Rate(path.rate_bps);
                return write!(
                    f,
                    "Put fq_codel where the slow link's queue is; a shaper in front of it would have to follow its rate, \
                     which was {least} to {rate}"
                );
            }
            (Cause::FullQueue, ..) => {
                "Put fq_codel where the slow link's queue is; a shaper in front of it needs the link's rate, which was not seen"
            }
            (Cause::ManagedQueue, _, Some(path)) if path.is_steady() => {
                let bytes = path.round_trip_bytes() / 1e3;
                let rate = Rate(path.rate_bps);
                return write!(
                    f,
                    "If it is managed, its drops are how it tells senders; if it is small, let it hold a round trip \
                     ({bytes:.0} kB at {rate}) or pace the senders"
                );
            }
            (Cause::ManagedQueue, ..) => {
                "If it is managed, its drops are how it tells senders; if it is small, enlarge it or pace the senders"
            }
            (Cause::Air, ..) => {
                "Look at the radio or the cable; the sender keeps its rate with a congestion control that tells such losses apart"
            }
            (Cause::Outage, ..) => "Look for handovers, roaming and a link that went down at these times",
            (Cause::NotLost, ..) => "Look for the other reasons of a slow transfer",
            (Cause::NotShown(unknown), ..) => match unknown {
                Unknown::NoDelays => "The other end's capture, or TCP timestamps on, would tell",
                Unknown::TooFew => "A longer capture would tell",
                Unknown::OnlyTimers => "The other end's capture would tell",
                Unknown::CutOptions => "A capture of 128 bytes of each packet (tcpdump -s 128) would tell",
                Unknown::Mixed => "A capture of this connection alone would tell",
                Unknown::NotObserved | Unknown::NoPlace => "A whole capture at the sender would tell",
                Unknown::BehindQueue | Unknown::QueueOrAir | Unknown::PolicerOrAir => {
                    "A longer capture, or one of both ends, may tell"
                }
            },
        })
    }
}
