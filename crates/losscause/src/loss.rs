//! A loss: which packets, what declared it, and the observation that revealed it.

use crate::observe::{Numbers, Observation};
use crate::{Scope, Span, Time, Verdict};

/// The signal of a loss or of congestion on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Signal {
    /// Later packets arrived: a gap, duplicate ACKs, a packet threshold, a time threshold.
    Gap,
    /// The retransmission or probe timer expired (RFC 6298; RFC 9002, section 6.2).
    Timeout,
    /// A queue marked a packet (RFC 3168; RFC 9002, section 7.1). Nothing was lost.
    EcnMark,
    /// Everything sent during a long period was lost (RFC 9002, section 7.6).
    PersistentCongestion,
}

impl Signal {
    /// Whether the signal by itself means congestion, so that no algorithm is asked. True for all
    /// but [`Signal::Gap`].
    pub const fn means_congestion(self) -> bool {
        !matches!(self, Signal::Gap)
    }
}

/// Lost packets, put to an algorithm: one at a receiver, the packets of a loss event at a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// When the gap was seen at a receiver, or the loss was declared at a sender.
    pub at: Time,
    /// Why it was declared.
    pub signal: Signal,
    /// The numbers of the lost packets: the first and the last. None if the transport names no
    /// numbers.
    pub numbers: Option<Numbers>,
    /// How many packets were lost, as far as known now. 0 for a mark.
    pub lost_pkts: u32,
    /// Whether a recovery is under way already, which an earlier loss opened.
    pub is_further: bool,
    /// The observation that revealed the gap; the algorithm has taken it in already. None if no
    /// observation did, or it is too long ago.
    pub revealed_by: Option<Observation>,
    /// When the newest of the packets was sent, by the sender's clock. None at a receiver.
    pub sent_at: Option<Time>,
    /// Packets unacknowledged at that time, lost ones included. 0 at a receiver.
    pub in_flight_pkts: u64,
    /// The congestion window at that time, packets, if the transport has one.
    pub cwnd_pkts: Option<f64>,
    /// What the receiver's algorithm says of the first lost packet, if the receiver reports it.
    pub label: Option<Verdict>,
}

impl Loss {
    /// One packet lost, declared at `at` because of `signal`; nothing else is known.
    pub const fn new(at: Time, signal: Signal) -> Self {
        Self {
            at,
            signal,
            numbers: None,
            lost_pkts: 1,
            is_further: false,
            revealed_by: None,
            sent_at: None,
            in_flight_pkts: 0,
            cwnd_pkts: None,
            label: None,
        }
    }

    /// Packet `seq`, in the gap before `revealed_by`, at a receiver.
    pub const fn in_gap(seq: u64, revealed_by: Observation) -> Self {
        let loss = Self::new(revealed_by.at, Signal::Gap);
        Self { numbers: Some(Numbers::one(seq)), revealed_by: Some(revealed_by), ..loss }
    }

    /// The loss as a sender declares it within `scope`: only an algorithm that observes every loss
    /// is told the numbers of all lost packets; the others are asked about the first.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        let numbers = match self.numbers {
            Some(numbers) if !scope.observes_every_loss => Some(Numbers::one(numbers.first)),
            numbers => numbers,
        };
        Self { numbers, ..self }
    }

    /// The number of the first lost packet, if the transport names numbers.
    pub fn seq(&self) -> Option<u64> {
        Some(self.numbers?.first)
    }

    /// The delay of the arrival that revealed the gap, if it is known.
    pub fn delay(&self) -> Option<Span> {
        self.revealed_by?.delay
    }

    /// Packets lost in the same gap (the papers' n); 0 if the gap is not known.
    pub fn lost_in_gap(&self) -> u32 {
        self.revealed_by.map_or(0, |revealed_by| revealed_by.missing)
    }
}

/// A recovery that is over: everything sent before its start was acknowledged or declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// When the loss that opened it was declared.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// Packets lost during it.
    pub lost_pkts: u64,
}

impl Recovery {
    /// A recovery from `began` to `ended` that lost `lost_pkts` packets.
    pub const fn new(began: Time, ended: Time, lost_pkts: u64) -> Self {
        Self { began, ended, lost_pkts }
    }
}
