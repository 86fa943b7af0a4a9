//! What is kept of a flow's course until its cause is known: for what its losses cost, and for the
//! link that it met.

use losscause::diagnosis::RecentDelay;
use losscause::{Span, Time};

use crate::Pace;
use crate::flow::{self, Carried, Course};

/// What was measured of a flow that lost packets.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The rate of new data in each step, bits per second.
    pub(crate) rates: Vec<f32>,
    /// When the first step begins, seconds after the capture's first packet.
    pub(crate) from_s: f64,
    /// The length of a step, seconds.
    pub(crate) step_s: f64,
    /// How its data were carried, if that is known.
    pub(crate) packets: Option<Packets>,
    /// When its packets passed.
    pub(crate) course: Course,
    /// Of packets that were not lost.
    pub(crate) recent_delays: Vec<RecentDelay>,
}

/// How a flow's data were carried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packets {
    /// A full packet with its headers from IP on, bytes.
    pub(crate) full_bytes: u64,
    /// The headers of a full packet, from IP on, bytes.
    pub(crate) header_bytes: u64,
    /// The round trip of a full packet through empty queues, milliseconds; none if it was not
    /// measured.
    pub(crate) rtt_ms: Option<f64>,
    /// The receiver's window if it held the sender up for most of the time, bytes.
    pub(crate) window_bytes: Option<u64>,
}

impl Measured {
    /// Of a flow whose capture began at `begun`.
    pub(crate) fn of(
        pace: &flow::Pace,
        packets: Option<Packets>,
        course: Course,
        recent_delays: Vec<RecentDelay>,
        begun: Time,
    ) -> Self {
        let (rates, step_s) =
            pace.rates().map_or((Vec::new(), 0.0), |(rates, step)| (rates, step.as_secs_f64()));
        let from_s = pace.rates_from().map_or(0.0, |from| (from - begun).as_secs_f64());
        let rates = rates.into_iter().map(|rate| rate as f32).collect();
        Self { rates, from_s, step_s, packets, course, recent_delays }
    }
}

impl Packets {
    /// Of a flow as its sender's side sees it.
    pub(crate) fn of(carried: &Carried, pace: &Pace) -> Self {
        let held_up = |sending: crate::pace::Sending| sending.window_full_s >= pace.lasted_s / 2.0;
        Self {
            full_bytes: carried.payload_bytes + carried.header_bytes,
            header_bytes: carried.header_bytes,
            rtt_ms: carried.standing.base().map(Span::as_millis_f64),
            window_bytes: carried.window_bytes.filter(|_| pace.sending.is_some_and(held_up)),
        }
    }

    /// The share of what passes that is payload.
    pub(crate) fn payload_share(self) -> f64 {
        1.0 - self.header_bytes as f64 / self.full_bytes.max(1) as f64
    }
}
