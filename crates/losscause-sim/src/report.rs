//! The results of a flow so far, and the accuracy of its verdicts.
//!
//! ```
//! use losscause::lda::BuiltIn;
//! use losscause::{End, Span, Time};
//! use losscause_sim::tcp::Config;
//! use losscause_sim::{
//!     ChannelSpec, FlowId, FlowReport, FlowSpec, Limit, LinkId, LinkSpec, LossCounts, Network,
//!     QueueSpec, Simulation, TcpLda, Traffic, VerdictTally, Verdicts,
//! };
//!
//! // TCP whose receiver asks Spike. The sender does not use the verdicts.
//! let lda = TcpLda::Receiver { lda: BuiltIn::Spike.build(End::Receiver)?, heeded: false };
//! let traffic = Traffic::Tcp { config: Config::default(), lda };
//! let queue = QueueSpec::DropTail { limit: Limit::Packets(20) };
//! let wired = LinkSpec::wired("radio", 1_000_000, Span::from_millis(20), queue);
//! let radio = LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.02 }, ..wired.clone() };
//! let flow = FlowSpec::new("download", &[LinkId(0)], &[LinkId(1)], traffic);
//! let network = Network { links: vec![radio, wired.mirrored("back")], flows: vec![flow] };
//!
//! let mut simulation = Simulation::new(&network, 1)?;
//! simulation.run_until(Time::ZERO + Span::from_secs(60), &mut ());
//! let FlowReport { lost, verdicts, .. } = simulation.flow(FlowId(0));
//! let LossCounts { congestion, wireless } = lost;
//! let VerdictTally {
//!     wireless: Verdicts { called_wireless, called_congestion, undecided, undetected },
//!     ..
//! } = verdicts;
//! assert_eq!(called_wireless + called_congestion + undecided + undetected, wireless);
//! assert!(wireless > 20 && congestion < 50, "{lost:?}");
//! assert!(verdicts.m_w() < Some(0.5), "most are recognised: {verdicts:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::AddAssign;

use crate::truth::Cause;
use losscause::{Time, Verdict};
use losscause_transport::tcp;

/// One flow, at the time at which the simulation stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowReport {
    /// When it started; none if it has not started yet.
    pub started_at: Option<Time>,
    /// When it stops or stopped; none if it never does.
    pub stops_at: Option<Time>,
    /// Data packets sent, including retransmissions.
    pub sent_packets: u64,
    /// Data packets that reached the receiver, including those that the sender sent again without
    /// need, but not the copies that a link made.
    pub received_packets: u64,
    /// Payload of the received packets, bytes (throughput counts these).
    pub received_payload_bytes: u64,
    /// Copies made by a link ([`DuplicationSpec`](crate::DuplicationSpec)) that reached the
    /// receiver after the packet or another copy.
    pub received_copies: u64,
    /// Distinct data packets delivered to the application.
    pub delivered_packets: u64,
    /// Payload of the delivered packets, bytes (goodput counts these).
    pub delivered_payload_bytes: u64,
    /// Data packets lost, by true cause.
    pub lost: LossCounts,
    /// The verdicts; all zero for flows that do not differentiate.
    pub verdicts: VerdictTally,
    /// Received packets during which each base scheme was in force, by the scheme's published name,
    /// in order of first use. One entry for algorithms that are not hybrids, none for flows that do
    /// not differentiate.
    pub schemes: Vec<(&'static str, u64)>,
    /// A TCP sender's counters; none for other traffic.
    pub tcp: Option<tcp::Stats>,
    /// Whether all of a transfer of limited size ([`tcp::Config::limit_pkts`]) is delivered;
    /// `stops_at` is when it was.
    pub is_complete: bool,
    /// Whether a TCP or TFRC sender has been in slow start only, without a loss; none for other
    /// traffic.
    pub in_slow_start: Option<bool>,
}

/// Lost packets by true cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// Dropped by queues.
    pub congestion: u64,
    /// Corrupted by channels.
    pub wireless: u64,
}

/// Verdicts on losses, by their true causes. If the receiver judges, every lost packet counts once.
/// If a TCP sender judges, every loss event that duplicate acknowledgements revealed counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictTally {
    /// Packets dropped by a queue.
    pub congestion: Verdicts,
    /// Packets corrupted by a channel.
    pub wireless: Verdicts,
}

/// The verdicts on lost packets of one true cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Called congestion.
    pub called_congestion: u64,
    /// Called wireless.
    pub called_wireless: u64,
    /// Undecided.
    pub undecided: u64,
    /// Not judged so far: no packet sent after it has arrived, or none sent before it.
    pub undetected: u64,
}

impl LossCounts {
    pub(crate) fn count(&mut self, cause: Cause) {
        match cause {
            Cause::Congestion => self.congestion += 1,
            Cause::Wireless => self.wireless += 1,
        }
    }
}

impl VerdictTally {
    /// The verdicts on packets of this true cause.
    pub fn of(&mut self, cause: Cause) -> &mut Verdicts {
        match cause {
            Cause::Congestion => &mut self.congestion,
            Cause::Wireless => &mut self.wireless,
        }
    }

    /// M_c: the share of judged congestion losses that were called wireless; none if none was
    /// judged.
    pub fn m_c(&self) -> Option<f64> {
        share(self.congestion.called_wireless, self.congestion.judged())
    }

    /// M_w: the share of judged wireless losses that were called congestion; none if none was
    /// judged. An undecided loss is not an error here: see [`Verdicts::undecided`].
    pub fn m_w(&self) -> Option<f64> {
        share(self.wireless.called_congestion, self.wireless.judged())
    }
}

impl Verdicts {
    /// Counts a packet that was judged.
    pub fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Congestion => self.called_congestion += 1,
            Verdict::Wireless => self.called_wireless += 1,
            Verdict::Undecided => self.undecided += 1,
        }
    }

    /// Lost packets that were judged.
    pub fn judged(&self) -> u64 {
        self.called_congestion + self.called_wireless + self.undecided
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl AddAssign for Verdicts {
    fn add_assign(&mut self, other: Self) {
        self.called_congestion += other.called_congestion;
        self.called_wireless += other.called_wireless;
        self.undecided += other.undecided;
        self.undetected += other.undetected;
    }
}

impl AddAssign for VerdictTally {
    fn add_assign(&mut self, other: Self) {
        self.congestion += other.congestion;
        self.wireless += other.wireless;
    }
}
