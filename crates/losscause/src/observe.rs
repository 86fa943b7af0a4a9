//! What an end of a flow sees of its packets, for both ends in one type.
//!
//! | | at a receiver | at a sender |
//! |---|---|---|
//! | an observation is | a packet that arrived in order | an acknowledgement |
//! | [`Observation::delay`] | relative one-way trip time | round-trip time |
//! | [`Observation::spanned`] | packets since the last arrival | packets by which the newest known arrival advances |
//! | [`Observation::acked`] | none | what only a sender knows |
//!
//! Trackers make observations: [`ArrivalTracker`](crate::ArrivalTracker) from packets,
//! [`AckTracker`](crate::AckTracker) from acknowledgements of single packets (SACK, QUIC), and
//! [`DuplicateAcks`](crate::DuplicateAcks) from cumulative ones.

use crate::{Span, Time};

/// A packet that arrived, or an acknowledgement that tells of arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// When it came, by this end's clock.
    pub at: Time,
    /// The number of the newest arrival: its sequence number at a receiver, how many packets are
    /// accounted for at a sender.
    pub seq: u64,
    /// At a receiver: arrival by its clock less departure by the sender's; the zero is arbitrary,
    /// and it may be negative. At a sender: the round-trip time of the newest arrival. None if it
    /// is not known.
    pub delay: Option<Span>,
    /// Packets since the newest arrival before, this one included: 1 if the two were sent one after
    /// the other. 0 for an acknowledgement that only fills older gaps: it shows no newer arrival.
    pub spanned: u32,
    /// How many of the spanned packets are missing (the papers' n). Less than
    /// [`Observation::spanned`].
    pub missing: u32,
    /// Since the newest arrival before. None for the first.
    pub since_last: Option<Interval>,
    /// What only a sender knows.
    pub acked: Option<Acked>,
}

/// The time between two arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The length (the papers' T_i, T_g, inter_arr_time), never negative: 0 if a clock is set back.
    pub span: Span,
    /// The delay of the packet at its start, if known: after a gap, of the last packet before it.
    pub delay_before: Option<Span>,
}

/// What only a sender knows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Acked {
    /// Packets that are acknowledged for the first time. 0 for a duplicate ACK without SACK, which
    /// reports that some packet arrived, but not which one.
    pub newly_acked_pkts: u64,
    /// The numbers of the missing packets: the first and the last of them.
    pub missing: Option<Numbers>,
    /// Packets still unacknowledged.
    pub in_flight_pkts: u64,
    /// The congestion window before, packets, if the transport has one.
    pub cwnd_pkts: Option<f64>,
}

/// Packet numbers from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first number.
    pub first: u64,
    /// The last number, not below the first.
    pub last: u64,
}

impl Observation {
    /// The first packet of a stream, of unknown delay.
    pub const fn first(seq: u64, at: Time) -> Self {
        Self { at, seq, delay: None, spanned: 1, missing: 0, since_last: None, acked: None }
    }

    /// The same with a delay.
    #[must_use]
    pub const fn with_delay(self, delay: Option<Span>) -> Self {
        Self { delay, ..self }
    }

    /// The same `span` after the arrival before it.
    #[must_use]
    pub const fn after(self, span: Span) -> Self {
        Self { since_last: Some(Interval { span, delay_before: None }), ..self }
    }

    /// The same behind a gap of `missing` packets.
    #[must_use]
    pub const fn with_gap(self, missing: u32) -> Self {
        Self { spanned: missing.saturating_add(1), missing, ..self }
    }

    /// The same at a sender.
    #[must_use]
    pub const fn with_acked(self, acked: Acked) -> Self {
        Self { acked: Some(acked), ..self }
    }

    /// Whether it shows a newer arrival.
    #[inline]
    pub const fn is_arrival(&self) -> bool {
        self.spanned > 0
    }

    /// Whether packets are missing before it.
    #[inline]
    pub const fn reveals_gap(&self) -> bool {
        self.missing > 0
    }

    /// Packets that arrived since the one before, at least 1. More than 1 if one acknowledgement
    /// tells of several.
    #[inline]
    pub const fn arrived(&self) -> u32 {
        let arrived = self.spanned.saturating_sub(self.missing);
        if arrived == 0 { 1 } else { arrived }
    }

    /// Whether it acknowledges nothing new: a duplicate ACK.
    pub fn is_duplicate(&self) -> bool {
        self.acked.is_some_and(|acked| acked.newly_acked_pkts == 0)
    }

    /// Packets that are acknowledged for the first time.
    pub fn newly_acked_pkts(&self) -> u64 {
        self.acked.map_or(0, |acked| acked.newly_acked_pkts)
    }

    /// Packets still unacknowledged.
    pub fn in_flight_pkts(&self) -> u64 {
        self.acked.map_or(0, |acked| acked.in_flight_pkts)
    }

    /// The congestion window, packets, if it is known.
    pub fn cwnd_pkts(&self) -> Option<f64> {
        self.acked?.cwnd_pkts
    }
}

impl Acked {
    /// `pkts` packets acknowledged for the first time; nothing else is known.
    pub const fn new(pkts: u64) -> Self {
        Self { newly_acked_pkts: pkts, missing: None, in_flight_pkts: 0, cwnd_pkts: None }
    }
}

impl Numbers {
    /// One packet.
    pub const fn one(number: u64) -> Self {
        Self { first: number, last: number }
    }

    /// Whether the two ranges share a number.
    pub const fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The newest arrival that a sender knows of, from which the next observation has its interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newest {
    seq: u64,
    last: Option<(Time, Option<Span>)>,
}

impl Newest {
    /// An acknowledgement at `at` advances the newest arrival by `spanned` packets, `missing` of
    /// them missing; its round-trip time is `rtt`.
    #[inline]
    pub fn advance(
        &mut self,
        at: Time,
        rtt: Option<Span>,
        [spanned, missing]: [u32; 2],
    ) -> Observation {
        if spanned == 0 {
            return Observation { spanned, ..Observation::first(self.seq, at) };
        }
        self.seq += u64::from(spanned);
        let since_last = self.last.replace((at, rtt)).map(|(last_at, delay_before)| Interval {
            span: (at - last_at).max(Span::ZERO),
            delay_before,
        });
        Observation { spanned, missing, since_last, delay: rtt, ..Observation::first(self.seq, at) }
    }

    /// The round-trip time of the newest arrival is none of the path's.
    pub fn forget_delay(&mut self) {
        if let Some((_, delay)) = &mut self.last {
            *delay = None;
        }
    }
}
