//! What a congestion control is told about acknowledgements and timeouts.

use losscause::{Span, Time};

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub at: Time,
    /// Packets that it acknowledges for the first time. By the cumulative ACK number they are at
    /// least 1; Linux's machine counts what is acknowledged or reported for the first time, which
    /// may be none.
    pub newly_acked_pkts: u64,
    /// The round-trip time that it measures, if it measures one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time (RFC 6298); `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Every packet below is acknowledged (SND.UNA).
    pub una: u64,
    /// The next packet in sequence (SND.NXT); a timeout moves it back, but for Linux's machine.
    pub next: u64,
    /// Whether the window may grow.
    pub growth: Growth,
}

impl AckEvent {
    /// Packets sent and not acknowledged (RFC 5681's FlightSize).
    #[inline]
    pub fn flight_pkts(&self) -> u64 {
        self.next - self.una
    }
}

/// Whether an ACK of new data may open the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The window may grow.
    Due,
    /// No growth: a loss is under repair, or the ACK echoes a mark or acknowledges the SYN.
    Repairing,
    /// No growth: the receiver's window or the end of the data limits the sender, so cwnd was not
    /// used (RFC 9438, section 5.8).
    Unused,
}

impl Growth {
    /// Whether the window may grow.
    #[inline]
    pub fn is_due(self) -> bool {
        self == Self::Due
    }
}

/// A measured round-trip time.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// When the ACK arrived.
    pub at: Time,
    /// The round-trip time of the newest packet, above zero.
    pub rtt: Span,
    /// Every packet below is acknowledged.
    pub una: u64,
    /// Every packet below was sent.
    pub next: u64,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutEvent {
    /// When.
    pub at: Time,
    /// Packets in flight; [`Window::in_network`](crate::tcp::Window::in_network) limits how many
    /// count.
    pub flight_pkts: u64,
    /// Whether it follows another one for the same data, so that ssthresh stays (RFC 5681, section
    /// 3.1).
    pub again: bool,
    /// Losses found since the start, this timeout's included. Only Linux's machine counts them.
    pub lost_pkts: u64,
}

/// What an ACK tells a control that follows delivery rates
/// ([`CongestionControl::follows_rate`](crate::tcp::CongestionControl::follows_rate)).
///
/// A control that sends at the last rate at which the network delivered, and holds twice what that
/// rate carries in a round trip:
///
/// ```
/// use losscause_transport::tcp::{
///     AckEvent, Answer, CongestionControl, Delivery, LossEvent, Pacing, RateSample, Repair, TimeoutEvent,
///     Window,
/// };
///
/// #[derive(Clone, Debug, Default)]
/// struct AtItsRate {
///     pkts_per_s: f64,
/// }
///
/// impl CongestionControl for AtItsRate {
///     fn name(&self) -> &'static str {
///         "AtItsRate"
///     }
///     fn follows_rate(&self) -> bool {
///         true
///     }
///     fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
///         let (Some(rtt), Some(RateSample { delivered_pkts, interval, is_limited: false, .. })) =
///             (delivery.srtt, delivery.rate)
///         else {
///             return;
///         };
///         // What a timeout leaves says nothing of the path.
///         if delivery.repair < Repair::Timeout {
///             self.pkts_per_s = delivered_pkts as f64 / interval.as_secs_f64();
///             window.cwnd = (2.0 * self.pkts_per_s * rtt.as_secs_f64()).max(4.0);
///         }
///     }
///     fn pacing(&self) -> Option<Pacing> {
///         let bytes_per_s = (self.pkts_per_s * 1448.0) as u64;
///         (bytes_per_s > 0).then_some(Pacing { bytes_per_s, least_burst_pkts: 1 })
///     }
///     fn on_ack(&mut self, _: &mut Window, _: &AckEvent) {}
///     fn on_loss(&mut self, _: &mut Window, _: &LossEvent) -> Answer {
///         Answer::Kept
///     }
///     fn on_timeout(&mut self, window: &mut Window, _: &TimeoutEvent) {
///         window.cwnd = 1.0;
///     }
/// }
///
/// assert_eq!(AtItsRate { pkts_per_s: 100.0 }.pacing().map(|pacing| pacing.bytes_per_s), Some(144_800));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When the ACK arrived.
    pub at: Time,
    /// Packets that it acknowledges or reports for the first time; may be none.
    pub newly_delivered_pkts: u64,
    /// Packets found lost because of it.
    pub newly_lost_pkts: u64,
    /// Packets delivered since the start, the SYN included.
    pub delivered_pkts: u64,
    /// When the last of them was.
    pub delivered_at: Time,
    /// Losses found since the start; a packet that is lost again counts again.
    pub lost_pkts: u64,
    /// Packets in flight before the ACK.
    pub prior_in_flight_pkts: u64,
    /// Packets in flight now.
    pub in_flight_pkts: u64,
    /// The round-trip time of the newest packet that the ACK delivers, if it measures one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Span>,
    /// The delivery rate, if the ACK delivers a packet and the interval is no shorter than the
    /// smallest round-trip time.
    pub rate: Option<RateSample>,
    /// What is under repair now.
    pub repair: Repair,
    /// When pacing lets the next packet leave; not before `at`.
    pub departs_at: Time,
}

/// The rate at which the network delivered packets between the transmission of a packet and its
/// ACK (draft-cheng-iccrg-delivery-rate-estimation-00, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Packets delivered in the interval, at least 1.
    pub delivered_pkts: u64,
    /// The longer of the times that sending and acknowledging them took, above zero.
    pub interval: Span,
    /// Packets delivered before the packet was sent.
    pub prior_delivered_pkts: u64,
    /// Whether the sender had no data to send for a part of the interval, so that the path may
    /// carry more.
    pub is_limited: bool,
}

/// What a sender of Linux's machine repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// No loss.
    Nothing,
    /// Losses that ACKs showed.
    Recovery,
    /// What a timeout left.
    Timeout,
}

/// How fast packets leave (the kernel's `sk_pacing_rate` and `min_tso_segs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Payload, bytes per second. At least 1.
    pub bytes_per_s: u64,
    /// Packets that leave together at least, if there are so many. At least 1.
    pub least_burst_pkts: u32,
}
