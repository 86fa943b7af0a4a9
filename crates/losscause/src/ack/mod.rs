//! The sender's inputs: acknowledgements, and the losses that the sender declares from them.
//!
//! The counterpart of [`crate::observe`], which is for receivers. The types are separate, because the same number means
//! different things at the two ends.
//!
//! An algorithm at the sender ([`SenderLda`]) gets an [`AckSample`] per ACK. Two trackers make these samples:
//! [`AckTracker`] if the peer acknowledges packets individually (SACK, QUIC), and [`DuplicateAcks`] for TCP without
//! SACK. [`SenderDifferentiator`] combines an algorithm with a tracker. [`RecoveryTracker`] follows recoveries.

mod differentiator;
mod duplicates;
mod memory;
mod recoveries;
mod tracker;

pub use differentiator::SenderDifferentiator;
pub use duplicates::DuplicateAcks;
#[cfg(feature = "alloc")]
pub use memory::Growing;
pub use memory::{Fixed, Memory, Sent};
pub use recoveries::RecoveryTracker;
pub use tracker::AckTracker;

use crate::truth::Truth;
use crate::{Judgement, Span, Time, Verdict};

/// An acknowledgement, as it reached the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AckSample {
    /// When it arrived, by the sender's clock.
    pub at: Time,
    /// Round-trip time of the newest packet that it acknowledges, if known unambiguously.
    pub rtt: Option<Span>,
    /// Packets that it acknowledges for the first time. 0 for a duplicate ACK without SACK, which reports that some
    /// packet arrived, but not which one.
    pub newly_acked_pkts: u64,
    /// By how many packets it advances the newest known arrival. 0 if it only fills older gaps.
    pub spanned_pkts: u32,
    /// How many of the spanned packets are missing. Less than [`AckSample::spanned_pkts`].
    pub newly_missing_pkts: u32,
    /// The numbers of the newly missing packets: the first and the last of them.
    pub newly_missing: Option<Numbers>,
    /// Packets still unacknowledged after it.
    pub in_flight_pkts: u64,
    /// The congestion window before it, packets, if the transport has one.
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

impl AckSample {
    /// An acknowledgement of one packet that leaves no gap: one packet spanned, none missing, nothing else known.
    pub const fn new(at: Time) -> Self {
        Self {
            at,
            rtt: None,
            newly_acked_pkts: 1,
            spanned_pkts: 1,
            newly_missing_pkts: 0,
            newly_missing: None,
            in_flight_pkts: 0,
            cwnd_pkts: None,
        }
    }

    /// The same with a round-trip time.
    #[must_use]
    pub const fn with_rtt(self, rtt: Option<Span>) -> Self {
        Self { rtt, ..self }
    }

    /// The same for `pkts` newly acknowledged packets, all of which it spans.
    #[must_use]
    pub const fn with_newly_acked(self, pkts: u32) -> Self {
        Self { newly_acked_pkts: pkts as u64, spanned_pkts: pkts, ..self }
    }

    /// The same with the congestion window, packets.
    #[must_use]
    pub const fn with_cwnd(self, pkts: f64) -> Self {
        Self { cwnd_pkts: Some(pkts), ..self }
    }

    /// Whether it acknowledges nothing new.
    pub const fn is_duplicate(&self) -> bool {
        self.newly_acked_pkts == 0
    }
}

/// The signal of a loss or of congestion on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Signal {
    /// Later packets were acknowledged: duplicate ACKs, a packet threshold, a time threshold.
    Gap,
    /// The retransmission or probe timer expired (RFC 6298; RFC 9002, section 6.2).
    Timeout,
    /// A queue marked a packet (RFC 3168; RFC 9002, section 7.1). Nothing was lost.
    EcnMark,
    /// Everything sent during a long period was lost (RFC 9002, section 7.6).
    PersistentCongestion,
}

impl Signal {
    /// Whether the signal by itself means congestion, so that no algorithm is asked. True for all but [`Signal::Gap`].
    pub const fn means_congestion(self) -> bool {
        !matches!(self, Signal::Gap)
    }
}

/// A loss event that a sender declares, with what is known about it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeclaredLoss {
    /// When it was declared, by the sender's clock.
    pub at: Time,
    /// Why it was declared.
    pub signal: Signal,
    /// The numbers of the lost packets: the first and the last. None if the transport names no numbers.
    pub numbers: Option<Numbers>,
    /// How many packets were lost, as far as known now. 0 for a mark.
    pub lost_pkts: u32,
    /// When the newest of them was sent, by the sender's clock.
    pub sent_at: Option<Time>,
    /// Packets unacknowledged at that time, lost ones included.
    pub in_flight_pkts: u64,
    /// The congestion window at that time, packets, if the transport has one.
    pub cwnd_pkts: Option<f64>,
    /// The verdict of the receiver's algorithm on the first lost packet, if the receiver reports one.
    pub label: Option<Verdict>,
    /// The true cause: simulators only. See [`crate::truth`].
    pub truth: Option<Truth>,
}

impl DeclaredLoss {
    /// One packet lost, declared at `at` because of `signal`; nothing else is known.
    pub const fn new(at: Time, signal: Signal) -> Self {
        Self {
            at,
            signal,
            numbers: None,
            lost_pkts: 1,
            sent_at: None,
            in_flight_pkts: 0,
            cwnd_pkts: None,
            label: None,
            truth: None,
        }
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

/// Inputs at a sender: what an algorithm needs ([`SenderLda::needs`]), or what a transport provides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SenderInputs {
    /// A round-trip time with every acknowledgement, duplicates included ([`AckSample::rtt`]).
    pub rtt_per_packet: bool,
    /// Acknowledgements that reach the sender spaced as the packets reached the receiver.
    pub ack_spacing: bool,
    /// The true size of a gap. Duplicate ACKs without SACK count every gap as one packet.
    pub gap_size: bool,
    /// The congestion window ([`AckSample::cwnd_pkts`]).
    pub cwnd: bool,
    /// The receiver's label ([`DeclaredLoss::label`]).
    pub label: bool,
    /// The true cause: simulators only ([`DeclaredLoss::truth`]).
    pub truth: bool,
}

impl SenderInputs {
    /// Nothing.
    pub const NONE: Self =
        Self { rtt_per_packet: false, ack_spacing: false, gap_size: false, cwnd: false, label: false, truth: false };

    /// These, and a round-trip time with every acknowledgement.
    #[must_use]
    pub const fn with_rtt_per_packet(self) -> Self {
        Self { rtt_per_packet: true, ..self }
    }

    /// These, and acknowledgements spaced like the packets.
    #[must_use]
    pub const fn with_ack_spacing(self) -> Self {
        Self { ack_spacing: true, ..self }
    }

    /// These, and the true size of a gap.
    #[must_use]
    pub const fn with_gap_size(self) -> Self {
        Self { gap_size: true, ..self }
    }

    /// These, and the congestion window.
    #[must_use]
    pub const fn with_cwnd(self) -> Self {
        Self { cwnd: true, ..self }
    }

    /// These, and the receiver's label.
    #[must_use]
    pub const fn with_label(self) -> Self {
        Self { label: true, ..self }
    }

    /// These, and the true cause.
    #[must_use]
    pub const fn with_truth(self) -> Self {
        Self { truth: true, ..self }
    }

    /// The first of these inputs that `provided` lacks, as a noun phrase.
    pub fn first_missing_from(self, provided: Self) -> Option<&'static str> {
        [
            (self.rtt_per_packet, provided.rtt_per_packet, "a round-trip time with every acknowledgement"),
            (self.ack_spacing, provided.ack_spacing, "acknowledgements spaced like the packets"),
            (self.gap_size, provided.gap_size, "the size of a gap"),
            (self.cwnd, provided.cwnd, "a congestion window"),
            (self.label, provided.label, "the receiver's label"),
            (self.truth, provided.truth, "the true cause"),
        ]
        .into_iter()
        .find_map(|(needed, given, name)| (needed && !given).then_some(name))
    }
}

/// A loss differentiation algorithm at the sender.
///
/// It gets **every** ACK, and is asked when the transport declares a loss. `()` differentiates nothing, at no cost:
/// every loss is congestion.
pub trait SenderLda {
    /// The published name.
    fn name(&self) -> &'static str;

    /// What the algorithm needs. A transport that cannot provide it should refuse the algorithm; otherwise the verdict
    /// is undecided and names the missing input.
    fn needs(&self) -> SenderInputs;

    /// Takes in an ACK.
    fn on_ack(&mut self, sample: &AckSample);

    /// Takes in a declared loss. Called once per declared loss, whatever its signal, before [`SenderLda::judge`]. Losses
    /// within a recovery are declared only on request ([`SenderLda::observes_every_loss`]).
    fn on_loss(&mut self, loss: &DeclaredLoss) {
        let _ = loss;
    }

    /// Judges a loss. Repeated calls give the same answer. A transport asks only about losses whose signal does not
    /// mean congestion by itself ([`Signal::means_congestion`]).
    fn judge(&self, loss: &DeclaredLoss) -> Judgement;

    /// A recovery ended. An algorithm may now revise its verdict on the loss that opened the recovery. If the new
    /// verdict is wireless, a transport that can undo its reduction does so, but never back into slow start.
    fn on_recovery_end(&mut self, recovery: &Recovery) -> Option<Judgement> {
        let _ = recovery;
        None
    }

    /// Whether it judges every loss of a recovery, not only the one that opens it. A transport that has left its window
    /// unchanged then reduces it at the first loss that is called congestion. All published algorithms judge the first
    /// loss only.
    fn judges_every_loss(&self) -> bool {
        false
    }

    /// Whether it is told of every loss of a recovery ([`SenderLda::on_loss`]), with the numbers of all lost packets, and
    /// not only of the loss that opens it. An algorithm that judges every loss is; one that only watches may ask for it.
    fn observes_every_loss(&self) -> bool {
        self.judges_every_loss()
    }

    /// Whether it judges losses detected only by the retransmission timer too. All published algorithms treat those as
    /// congestion.
    fn judges_timeouts(&self) -> bool {
        false
    }
}

impl SenderLda for () {
    fn name(&self) -> &'static str {
        "always congestion"
    }

    fn needs(&self) -> SenderInputs {
        SenderInputs::NONE
    }

    #[inline]
    fn on_ack(&mut self, _: &AckSample) {}

    #[inline]
    fn judge(&self, _: &DeclaredLoss) -> Judgement {
        Judgement::stated(Verdict::Congestion, "always congestion", "whatever was observed")
    }
}
