//! The settings of a connection. Both ends are made from the same value.

use core::fmt;

use losscause::Span;

pub use super::recovery::{Deflation, NewRenoRules, PartialAckTimer, RecoveryExit, VegasRules};
pub use super::response::{VegasParameters, WestwoodRules, WestwoodVtParameters};

/// The settings of a connection; windows and thresholds are counted in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Which packets are sent again, and when.
    pub recovery: RecoveryScheme,
    /// What the window does.
    pub response: ResponseScheme,
    /// Whether and how the receiver reports what it received beyond the cumulative acknowledgement (RFC 2018).
    pub sack: Option<SackOption>,
    /// Payload of a data segment, bytes (ns-2 `packetSize_`). At least 1.
    pub payload_bytes: u32,
    /// Headers of a data segment, bytes; payload and headers together are its size on the wire
    /// (ns-2.35 `tcpip_base_hdr_size_`; 0 is ns-2 without `useHeaders_`).
    pub header_bytes: u32,
    /// Size of an acknowledgement on the wire, bytes. At least 1.
    pub ack_bytes: u32,
    /// If set, the connection opens with a SYN of that many bytes on the wire, which takes packet number 0 and
    /// carries no payload (ns-2.35 `syn_` and `delay_growth_`). If not, data flows at once.
    pub syn_bytes: Option<u32>,
    /// Data packets to send; endless if not set.
    pub limit_pkts: Option<u64>,
    /// The receiver's window, packets (ns-2 `window_`). At least 1. What a connection remembers of its packets takes room as the
    /// window is used, so that a large one costs nothing by itself.
    pub max_window_pkts: u32,
    /// The congestion window when data starts to flow, packets (RFC 5681, section 3.1; ns-2 `windowInit_`).
    /// At least 1; becomes 1 if the SYN had to be sent again.
    pub initial_window_pkts: u32,
    /// By how much congestion avoidance opens the window, packets per round trip: 1 in RFC 5681. Finite and above 0. It
    /// is for [`ResponseScheme::Aimd`]; the other responses have steps of their own.
    pub additive_increase_pkts: f64,
    /// The first slow start threshold, packets; if not set, [`Config::max_window_pkts`] (RFC 5681, section 3.1:
    /// as high as the receiver's window allows; ns-2 likewise).
    pub initial_ssthresh_pkts: Option<u32>,
    /// Granularity of the clock that measures round-trip times (RFC 6298's G; ns-2 `tcpTick_`). At least 1 ns.
    /// The retransmission timeout is never below two ticks.
    pub tick: Span,
    /// How far into a tick that clock was at the driver's time zero, from 0 to below [`Config::tick`]. ns-2 draws
    /// it for every sender, uniformly; so should a simulator, for a tick that matters.
    pub tick_offset: Span,
    /// Smallest retransmission timeout, before back-off (ns-2 `minrto_`); zero: nothing but the two ticks.
    pub min_rto: Span,
    /// Largest retransmission timeout, back-off included (ns-2 `maxrto_`).
    pub max_rto: Span,
    /// Retransmission timeout before the first round-trip time is known (ns-2 `rtxcur_init_`).
    pub initial_rto: Span,
    /// What ends the exponential back-off.
    pub backoff_cleared: BackoffCleared,
    /// What [`Config::min_rto`] holds for.
    pub min_rto_of: MinRtoOf,
    /// Whether fast retransmit restarts the retransmission timer (ns-2 does, RFC 6298 does not mention it).
    pub fast_retransmit_restarts_timer: bool,
    /// Duplicate ACKs that trigger fast retransmit (RFC 5681, section 3.2). At least 1.
    pub dup_ack_threshold: u32,
    /// When fast retransmit may happen at all.
    pub fast_retransmit: FastRetransmit,
    /// What the first duplicate ACKs release.
    pub limited_transmit: LimitedTransmit,
    /// Which duplicate ACKs from the threshold on inflate the window (recoveries Reno and NewReno).
    pub inflation: Inflation,
    /// How a loss shrinks the window.
    pub halving: Halving,
    /// Whether the ACK that ends fast recovery also opens the window by its usual step (ns-2 does; RFC 5681,
    /// section 3.2, step 6 just deflates).
    pub grow_on_recovery_exit: bool,
    /// Longest delay of an ACK: every second packet is acknowledged, or the timer fires (RFC 5681, section 4.2;
    /// ns-2 `DelAck`). Without it, every packet is acknowledged.
    pub delayed_ack: Option<Span>,
    /// Whether segments may be marked instead of dropped, and marks count as losses (RFC 3168; ns-2 `ecn_`).
    pub ecn: bool,
}

/// What ends the exponential back-off of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffCleared {
    /// A round-trip time measured on a segment sent once (RFC 6298, section 5; ns-2).
    BySample,
    /// Any ACK of new data, as in many stacks.
    ByNewAck,
}

/// What the smallest retransmission timeout holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinRtoOf {
    /// What was estimated: each back-off doubles what is at least the minimum (RFC 6298, rules 2.4 and 5.5; ns-2 `rfc2988_`).
    Estimate,
    /// The timer, back-off included: short estimates are backed off below the minimum first, which costs nothing (ns-2
    /// without `rfc2988_`, before March 2002). The back-off ends at 64.
    Timer,
}

/// Which duplicate ACKs from the threshold on inflate the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inflation {
    /// Those of fast recovery (RFC 5681, section 3.2, step 4; ns-2 `exitFastRetrans_`).
    InRecovery,
    /// All, even where fast retransmit was not allowed (ns-2 without `exitFastRetrans_`, before July 2003): packets that were
    /// sent again after a timeout though they had arrived let out more of their kind.
    Always,
    /// None: fast retransmit without fast recovery, as in ns-2's `Agent/TCP` and in the authors' Westwood over Reno.
    Never,
}

/// When duplicate ACKs may trigger fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmit {
    /// Whenever the threshold is met (RFC 5681, section 3.2).
    Always,
    /// Only if more was acknowledged than had been sent when the last loss was found (ns-2 `bugFix_`): several
    /// losses in one window cost a timeout. Never while nothing has been acknowledged; always while just packet 0
    /// has (`bugfix_ss_`).
    OncePerWindow,
    /// The same, and from the start on (RFC 6582, section 3.2, step 2).
    AfterRecovery,
}

/// Which packets are sent again, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScheme {
    /// RFC 5681: fast recovery ends with the first ACK of new data.
    Reno,
    /// RFC 6582: it ends when everything is repaired, one packet per round trip.
    NewReno(NewRenoRules),
    /// RFC 6675: it ends when everything is repaired, as fast as cwnd allows. Takes [`Config::sack`].
    Sack,
    /// The same by the rules of ns-2.35's `Agent/TCP/Sack1`.
    Sack1,
    /// Brakmo and Peterson 1995: every packet has its own timeout, which duplicate ACKs make the sender look at.
    Vegas(VegasRules),
}

/// What the window does on acknowledgements and losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseScheme {
    /// RFC 5681: one packet more per round trip, half after a loss.
    Aimd,
    /// Brakmo and Peterson 1995: it keeps a few packets in queues.
    Vegas(VegasParameters),
    /// Fu and Liew 2003: it loses a fifth if few packets wait, else half.
    Veno,
    /// RFC 9438: a cubic function of the time since the last loss.
    Cubic,
    /// Mascolo et al. 2001: after a loss, what the path was seen to carry.
    Westwood(WestwoodRules),
    /// Koo, Mun and Choo 2007: the same if the queues are full, else nothing is cut.
    WestwoodVt(WestwoodVtParameters),
    /// Xu, Tian and Ansari 2005: what the path was seen to carry, when a queue warns. Takes [`Config::ecn`].
    NewJersey,
}

/// How a receiver reports what it received beyond the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackOption {
    /// Bytes that a report adds to an acknowledgement beside 8 for each block (RFC 2018: kind, length and two of padding;
    /// ns-2: none).
    pub fixed_bytes: u32,
}

/// What the duplicate ACKs below the threshold release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing (RFC 5681 without RFC 3042).
    Off,
    /// One unsent packet each (RFC 3042).
    UnsentPacket,
    /// The next packet in line each, which after a timeout is one that was sent before (ns-2.35 `singledup_`).
    NextPacket,
}

/// How a loss shrinks the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// ssthresh becomes half of the packets in flight, at least 2; it is held when the same packet times out
    /// again (RFC 5681, equation 4). Fast recovery ends with cwnd = ssthresh.
    FlightSize,
    /// Half of min(cwnd, receiver's window). ssthresh is rounded down, at least 2; after fast retransmit cwnd is
    /// the half itself, at least 1 (ns-2.35, `precisionReduce_`).
    Window,
    /// The same in whole packets: window and half are rounded down (ns-2 until January 2006).
    WholeWindow,
}

impl Config {
    /// RFC 5681 with RFC 3042 and RFC 6298: 1460 bytes of payload, an exact clock, no SYN, no delayed ACK.
    pub const fn rfc() -> Self {
        Self {
            recovery: RecoveryScheme::Reno,
            response: ResponseScheme::Aimd,
            sack: None,
            payload_bytes: 1460,
            header_bytes: 40,
            ack_bytes: 40,
            syn_bytes: None,
            limit_pkts: None,
            // The largest window with the window scale option (RFC 7323, section 2.3): 65,535 * 2^14 bytes.
            max_window_pkts: 735_428,
            // RFC 5681, equation 1, for segments of 1096 to 2190 bytes.
            initial_window_pkts: 3,
            additive_increase_pkts: 1.0,
            initial_ssthresh_pkts: None,
            tick: Span::from_nanos(1),
            tick_offset: Span::ZERO,
            min_rto: Span::from_secs(1),
            max_rto: Span::from_secs(60),
            initial_rto: Span::from_secs(1),
            backoff_cleared: BackoffCleared::BySample,
            min_rto_of: MinRtoOf::Estimate,
            fast_retransmit_restarts_timer: false,
            dup_ack_threshold: 3,
            fast_retransmit: FastRetransmit::Always,
            limited_transmit: LimitedTransmit::UnsentPacket,
            inflation: Inflation::InRecovery,
            halving: Halving::FlightSize,
            grow_on_recovery_exit: false,
            delayed_ack: None,
            ecn: false,
        }
    }

    /// `Agent/TCP/Reno` and `Agent/TCPSink` with the defaults of ns-2.35.
    pub const fn ns2() -> Self {
        Self {
            recovery: RecoveryScheme::Reno,
            response: ResponseScheme::Aimd,
            sack: None,
            payload_bytes: 1000,
            header_bytes: 40,
            ack_bytes: 40,
            syn_bytes: Some(40),
            limit_pkts: None,
            max_window_pkts: 20,
            initial_window_pkts: 2,
            additive_increase_pkts: 1.0,
            initial_ssthresh_pkts: None,
            tick: Span::from_millis(10),
            tick_offset: Span::ZERO,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(60),
            initial_rto: Span::from_secs(3),
            backoff_cleared: BackoffCleared::BySample,
            min_rto_of: MinRtoOf::Estimate,
            fast_retransmit_restarts_timer: true,
            dup_ack_threshold: 3,
            fast_retransmit: FastRetransmit::OncePerWindow,
            limited_transmit: LimitedTransmit::NextPacket,
            inflation: Inflation::InRecovery,
            halving: Halving::Window,
            grow_on_recovery_exit: true,
            delayed_ack: None,
            ecn: false,
        }
    }

    /// ns-2 as the papers around 2000 ran it: a tick of 0.1 s, a minimum timeout of 1 s, no limited transmit, no
    /// SYN, packets counted without headers, an initial window of 1, whole windows halved, 6 s before the first
    /// round-trip time. ns-2 had no minimum before 27 May 2001 (its list of changes): set `min_rto` to zero for that.
    pub const fn ns2_classic() -> Self {
        Self {
            header_bytes: 0,
            syn_bytes: None,
            initial_window_pkts: 1,
            tick: Span::from_millis(100),
            min_rto: Span::from_secs(1),
            initial_rto: Span::from_secs(6),
            limited_transmit: LimitedTransmit::Off,
            halving: Halving::WholeWindow,
            ..Self::ns2()
        }
    }

    /// ns-2.1b8, of June 2001, by its list of changes: [`Config::ns2_classic`] with a SYN and an initial window of 2 (since May
    /// 2001), a minimum timeout of 1 s that holds for the backed-off timer (until March 2002), windows that every duplicate
    /// ACK inflates (until July 2003), and no largest timeout that matters (until March 2007). NewReno: [`NewRenoRules::NS2_2001`].
    pub const fn ns2_2001() -> Self {
        Self {
            syn_bytes: Some(40),
            initial_window_pkts: 2,
            max_rto: Span::from_secs(100_000),
            min_rto_of: MinRtoOf::Timer,
            inflation: Inflation::Always,
            ..Self::ns2_classic()
        }
    }

    /// Size of a data segment on the wire, bytes.
    pub const fn wire_bytes(&self) -> u32 {
        self.payload_bytes.saturating_add(self.header_bytes)
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    ///
    /// The first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        use ConfigError as E;
        for (key, value) in [
            ("payload_bytes", self.payload_bytes),
            ("ack_bytes", self.ack_bytes),
            ("syn_bytes", self.syn_bytes.unwrap_or(1)),
            ("max_window_pkts", self.max_window_pkts),
            ("initial_window_pkts", self.initial_window_pkts),
            ("initial_ssthresh_pkts", self.initial_ssthresh_pkts.unwrap_or(1)),
            ("dup_ack_threshold", self.dup_ack_threshold),
        ] {
            if value == 0 {
                return Err(E::Zero { key });
            }
        }
        for (key, value) in [
            ("tick", self.tick),
            ("max_rto", self.max_rto),
            ("initial_rto", self.initial_rto),
            ("delayed_ack", self.delayed_ack.unwrap_or(Span::from_nanos(1))),
        ] {
            if value <= Span::ZERO {
                return Err(E::NotPositive { key, value });
            }
        }
        if let ResponseScheme::Vegas(vegas) = self.response
            && vegas.beta_pkts < vegas.alpha_pkts
        {
            return Err(E::VegasThresholds { alpha: vegas.alpha_pkts, beta: vegas.beta_pkts });
        }
        if let ResponseScheme::WestwoodVt(vt) = self.response
            && vt.beta_pkts < vt.alpha_pkts
        {
            return Err(E::WestwoodVtThresholds { alpha: vt.alpha_pkts, beta: vt.beta_pkts });
        }
        if self.response == ResponseScheme::NewJersey && !self.ecn {
            return Err(E::MarksMissing);
        }
        if matches!(self.recovery, RecoveryScheme::Sack | RecoveryScheme::Sack1) && self.sack.is_none() {
            return Err(E::SackMissing);
        }
        if !(self.additive_increase_pkts.is_finite() && self.additive_increase_pkts > 0.0) {
            return Err(E::AdditiveIncrease { value: self.additive_increase_pkts });
        }
        if self.max_window_pkts > Self::LARGEST_WINDOW_PKTS {
            return Err(E::WindowTooLarge { value: self.max_window_pkts });
        }
        if self.min_rto < Span::ZERO {
            return Err(E::Negative { key: "min_rto", value: self.min_rto });
        }
        if self.max_rto < self.min_rto {
            return Err(E::RtoRange { min: self.min_rto, max: self.max_rto });
        }
        if self.tick_offset < Span::ZERO || self.tick_offset >= self.tick {
            return Err(E::TickOffset { value: self.tick_offset, tick: self.tick });
        }
        Ok(())
    }

    /// Largest receiver's window, packets: a forged segment may make a receiver reserve a bit for each.
    pub const LARGEST_WINDOW_PKTS: u32 = 1 << 24;
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc()
    }
}

/// A setting out of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigError {
    /// A count or size that must be at least 1 is 0.
    Zero {
        /// The field's name.
        key: &'static str,
    },
    /// A time that must be positive is not.
    NotPositive {
        /// The field's name.
        key: &'static str,
        /// Its value.
        value: Span,
    },
    /// A time that must not be negative is.
    Negative {
        /// The field's name.
        key: &'static str,
        /// Its value.
        value: Span,
    },
    /// The step of congestion avoidance is none.
    AdditiveIncrease {
        /// Its value, packets.
        value: f64,
    },
    /// The receiver's window exceeds [`Config::LARGEST_WINDOW_PKTS`].
    WindowTooLarge {
        /// Its value, packets.
        value: u32,
    },
    /// The largest timeout is below the smallest.
    RtoRange {
        /// The smallest.
        min: Span,
        /// The largest.
        max: Span,
    },
    /// Vegas' upper threshold is below its lower one.
    VegasThresholds {
        /// The lower one, packets.
        alpha: u32,
        /// The upper one, packets.
        beta: u32,
    },
    /// WestwoodVT's upper threshold is below its lower one.
    WestwoodVtThresholds {
        /// The lower one, packets.
        alpha: u32,
        /// The upper one, packets.
        beta: u32,
    },
    /// A recovery that needs the receiver's reports goes without.
    SackMissing,
    /// A response that needs the queues' marks goes without.
    MarksMissing,
    /// The offset is not within one tick.
    TickOffset {
        /// Its value.
        value: Span,
        /// The tick.
        tick: Span,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { key } => write!(f, "{key} must be at least 1, but is 0"),
            Self::NotPositive { key, value } => write!(f, "{key} must be above zero, but is {value}"),
            Self::Negative { key, value } => write!(f, "{key} must not be negative, but is {value}"),
            Self::AdditiveIncrease { value } => {
                write!(f, "additive_increase_pkts must be finite and above 0, but is {value}")
            }
            Self::WindowTooLarge { value } => {
                write!(f, "max_window_pkts must be at most {}, but is {value}", Config::LARGEST_WINDOW_PKTS)
            }
            Self::RtoRange { min, max } => write!(f, "max_rto must be at least min_rto ({min}), but is {max}"),
            Self::VegasThresholds { alpha, beta } => {
                write!(f, "Vegas' beta must be at least its alpha ({alpha} packets), but is {beta}")
            }
            Self::WestwoodVtThresholds { alpha, beta } => {
                write!(f, "WestwoodVT's beta must be at least its alpha ({alpha} packets), but is {beta}")
            }
            Self::MarksMissing => write!(f, "ecn must be set for New Jersey, which rests on marks, but is not"),
            Self::SackMissing => {
                write!(f, "sack must be set for a recovery that rests on selective acknowledgements, but is not")
            }
            Self::TickOffset { value, tick } => {
                write!(f, "tick_offset must be from zero to below tick ({tick}), but is {value}")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_set_is_valid() {
        for config in [Config::rfc(), Config::ns2(), Config::ns2_classic(), Config::ns2_2001()] {
            assert_eq!(config.validate(), Ok(()));
        }
        assert_eq!(Config::default(), Config::rfc());
    }

    #[test]
    fn a_setting_out_of_range_is_named() {
        let ns2 = Config::ns2();
        let says = |config: Config| config.validate().unwrap_err().to_string();
        assert_eq!(says(Config { payload_bytes: 0, ..ns2 }), "payload_bytes must be at least 1, but is 0");
        assert_eq!(says(Config { syn_bytes: Some(0), ..ns2 }), "syn_bytes must be at least 1, but is 0");
        assert_eq!(says(Config { tick: Span::ZERO, ..ns2 }), "tick must be above zero, but is 0.000 ms");
        assert_eq!(
            says(Config { min_rto: Span::from_nanos(-1), ..ns2 }),
            "min_rto must not be negative, but is -0.000001 ms"
        );
        assert_eq!(Config { min_rto: Span::ZERO, ..ns2 }.validate(), Ok(()));
        assert_eq!(
            says(Config { max_rto: Span::from_millis(100), ..ns2 }),
            "max_rto must be at least min_rto (200.000 ms), but is 100.000 ms"
        );
        assert_eq!(
            says(Config { tick_offset: ns2.tick, ..ns2 }),
            "tick_offset must be from zero to below tick (10.000 ms), but is 10.000 ms"
        );
        assert_eq!(
            says(Config { max_window_pkts: u32::MAX, ..ns2 }),
            "max_window_pkts must be at most 16777216, but is 4294967295"
        );
        for value in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(
                says(Config { additive_increase_pkts: value, ..ns2 }),
                format!("additive_increase_pkts must be finite and above 0, but is {value}")
            );
        }
        let parameters = VegasParameters { alpha_pkts: 4, ..VegasParameters::new(VegasRules::Ns2) };
        assert_eq!(
            says(Config { response: ResponseScheme::Vegas(parameters), ..ns2 }),
            "Vegas' beta must be at least its alpha (4 packets), but is 3"
        );
        assert_eq!(
            says(Config { recovery: RecoveryScheme::Sack, ..ns2 }),
            "sack must be set for a recovery that rests on selective acknowledgements, but is not"
        );
        let parameters = WestwoodVtParameters { beta_pkts: 13, ..WestwoodVtParameters::new(WestwoodRules::Ns2) };
        assert_eq!(
            says(Config { response: ResponseScheme::WestwoodVt(parameters), ..ns2 }),
            "WestwoodVT's beta must be at least its alpha (14 packets), but is 13"
        );
        let equal = WestwoodVtParameters { beta_pkts: 14, ..parameters };
        assert_eq!(Config { response: ResponseScheme::WestwoodVt(equal), ..ns2 }.validate(), Ok(()));
        assert_eq!(
            says(Config { response: ResponseScheme::NewJersey, ..ns2 }),
            "ecn must be set for New Jersey, which rests on marks, but is not"
        );
        assert!(Config { tick_offset: Span::from_millis(-1), ..ns2 }.validate().is_err());
        assert!(Config { delayed_ack: Some(Span::ZERO), ..ns2 }.validate().is_err());
    }
}
