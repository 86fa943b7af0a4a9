//! Rules in which ns-2 and Linux differ from the RFCs and papers, or in which ns-2 versions differ.
//!
//! [`super::Config`] holds a user's settings. Quirks are set only to reproduce ns-2: as a named set
//! below, or one rule at a time. ns-2 means version 2.35 unless another is named; dates are from
//! its list of changes.

use losscause::Span;

/// Rules that imitate a version of ns-2 or Linux; [`Quirks::RFC`] imitates none.
///
/// ```
/// use losscause_transport::tcp::{
///     BackoffEnds, Config, ConfigError, Deflation, FastRetransmit, Halving, Inflation,
///     LimitedTransmit, MinRtoOf, NewRenoRules, PartialAckTimer, Quirks, RecoveryExit, SackRules,
///     VegasRules, WestwoodRules,
/// };
///
/// // ns-2.35 with the rules of an older version, one at a time.
/// let quirks = Quirks {
///     min_rto_of: MinRtoOf::Timer,
///     fast_retransmit: Some(FastRetransmit::OncePerWindow),
///     limited_transmit: LimitedTransmit::Off,
///     inflation: Inflation::Always,
///     halving: Halving::WholeWindow,
///     backoff_ends: BackoffEnds::TimedSegment,
///     new_reno: NewRenoRules {
///         timer: PartialAckTimer::SlowButSteady,
///         deflation: Deflation::All,
///         exit: RecoveryExit::AsDeflated,
///         ..NewRenoRules::NS2
///     },
///     vegas: VegasRules::Ns2,
///     westwood: WestwoodRules::Ns2In2001,
///     ..Quirks::NS2_2_35
/// };
/// assert_eq!(quirks, Quirks { syn_bytes: Some(40), tick: quirks.tick, ..Quirks::NS2_2001 });
/// // The rules of Linux hold only with Linux's recovery.
/// let config = Config { quirks: Quirks { sack: SackRules::Linux, ..quirks }, ..Config::ns2() };
/// assert_eq!(config.validate(), Err(ConfigError::LinuxRecovery));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// If set, the connection opens with a SYN of this many bytes on the wire, at least 1. It takes
    /// packet number 0 and carries no payload (ns-2 `syn_` and `delay_growth_`). If not set, data
    /// flows at once. The SYN of [`VegasRules::Ns2`] is as long as a data segment.
    pub syn_bytes: Option<u32>,
    /// Granularity of the clock that measures round-trip times (RFC 6298's G; ns-2 `tcpTick_`). At
    /// least 1 ns. The retransmission timeout is never below two ticks. Of Linux: the tick of the
    /// timers (1/HZ).
    pub tick: Span,
    /// The clock's phase at time zero, from 0 to below [`Quirks::tick`]. ns-2 draws it uniformly
    /// for each sender; a simulator should do the same if the tick matters.
    pub tick_offset: Span,
    /// What [`super::Config::min_rto`] bounds.
    pub min_rto_of: MinRtoOf,
    /// Whether fast retransmit restarts the retransmission timer (ns-2 does; RFC 6298 does not
    /// mention it).
    pub fast_retransmit_restarts_timer: bool,
    /// When duplicate ACKs may trigger fast retransmit. If not set, the recovery's own rule holds:
    /// for Reno [`FastRetransmit::Always`], for NewReno [`FastRetransmit::AfterRecovery`].
    pub fast_retransmit: Option<FastRetransmit>,
    /// What the first duplicate ACKs release.
    pub limited_transmit: LimitedTransmit,
    /// Which duplicate ACKs from the threshold on inflate the window (recoveries Reno and NewReno).
    pub inflation: Inflation,
    /// How a loss shrinks the window.
    pub halving: Halving,
    /// What ends the back-off of the retransmission timeout.
    pub backoff_ends: BackoffEnds,
    /// Largest cwnd to which ACKs of new data grow the window, packets (ns-2 `maxcwnd_`); no limit
    /// if not set. At least
    /// 1. Packets released by duplicate ACKs come on top.
    pub max_cwnd_pkts: Option<u32>,
    /// Whether the ACK that ends fast recovery also grows the window by the usual step (recoveries
    /// Reno and NewReno; in ns-2 it does; in RFC 5681, section 3.2, step 6 it only deflates).
    pub grow_on_recovery_exit: bool,
    /// Rules of the recovery NewReno.
    pub new_reno: NewRenoRules,
    /// Rules of the recovery SACK.
    pub sack: SackRules,
    /// Rules of the recovery and the response Vegas.
    pub vegas: VegasRules,
    /// Rules of the responses Westwood and WestwoodVT.
    pub westwood: WestwoodRules,
}

impl Quirks {
    /// The RFCs and the papers: an exact clock, no SYN.
    pub const RFC: Self = Self {
        syn_bytes: None,
        tick: Span::from_nanos(1),
        tick_offset: Span::ZERO,
        min_rto_of: MinRtoOf::Estimate,
        fast_retransmit_restarts_timer: false,
        fast_retransmit: None,
        limited_transmit: LimitedTransmit::UnsentPacket,
        inflation: Inflation::InRecovery,
        halving: Halving::FlightSize,
        backoff_ends: BackoffEnds::Timestamp,
        max_cwnd_pkts: None,
        grow_on_recovery_exit: false,
        new_reno: NewRenoRules::RFC,
        sack: SackRules::Rfc6675,
        vegas: VegasRules::Published,
        westwood: WestwoodRules::Published,
    };

    /// ns-2.35 with its defaults: `Agent/TCP/Reno`, `Newreno`, `Sack1` and `Vegas`. It has no
    /// comparable Veno, CUBIC, Westwood or New Jersey: these use the published responses (Westwood:
    /// its authors' agent) over ns-2's recoveries.
    pub const NS2_2_35: Self = Self {
        syn_bytes: Some(40),
        tick: Span::from_millis(10),
        fast_retransmit_restarts_timer: true,
        fast_retransmit: Some(FastRetransmit::OncePerWindow),
        limited_transmit: LimitedTransmit::NextPacket,
        halving: Halving::Window,
        backoff_ends: BackoffEnds::TimedSegment,
        grow_on_recovery_exit: true,
        new_reno: NewRenoRules::NS2,
        sack: SackRules::Ns2,
        vegas: VegasRules::Ns2,
        westwood: WestwoodRules::Ns2,
        ..Self::RFC
    };

    /// ns-2 as the papers around 2000 ran it: a tick of 0.1 s, no limited transmit, no SYN, whole
    /// windows halved.
    pub const NS2_CLASSIC: Self = Self {
        syn_bytes: None,
        tick: Span::from_millis(100),
        limited_transmit: LimitedTransmit::Off,
        halving: Halving::WholeWindow,
        ..Self::NS2_2_35
    };

    /// ns-2.1b8, of June 2001: [`Quirks::NS2_CLASSIC`] with a SYN (since May 2001), a minimum
    /// timeout that bounds the backed-off timer (until March 2002), windows that every duplicate
    /// ACK inflates (until July 2003), and the NewReno and Westwood of that time.
    pub const NS2_2001: Self = Self {
        syn_bytes: Some(40),
        min_rto_of: MinRtoOf::Timer,
        inflation: Inflation::Always,
        new_reno: NewRenoRules::NS2_2001,
        westwood: WestwoodRules::Ns2In2001,
        ..Self::NS2_CLASSIC
    };
}

impl Quirks {
    /// Linux 6.18 with a tick of 4 ms (HZ = 250) and a SYN with all its options. Only the SYN and
    /// the tick may differ: Linux's sender and receiver read no other rule.
    pub const LINUX: Self = Self {
        syn_bytes: Some(60),
        tick: Span::from_millis(4),
        sack: SackRules::Linux,
        ..Self::RFC
    };
}

impl Default for Quirks {
    fn default() -> Self {
        Self::RFC
    }
}

/// What the smallest retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinRtoOf {
    /// The estimate: each back-off doubles a value that is at least the minimum (RFC 6298, rules
    /// 2.4 and 5.5; ns-2 `rfc2988_`).
    Estimate,
    /// The timer, back-off included: while a backed-off short estimate is below the minimum,
    /// doubling it has no effect (ns-2 without `rfc2988_`, before March 2002). The back-off ends at
    /// 64.
    Timer,
}

/// What ends the back-off of the retransmission timeout (RFC 6298, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffEnds {
    /// Any ACK of new data: the timestamp that it echoes measures a retransmission too (RFC 7323,
    /// section 4.1).
    Timestamp,
    /// Only the ACK of a segment that was sent once (Karn's rule, RFC 6298, section 3; ns-2). If
    /// every repair is itself retransmitted, the timeout doubles with each.
    TimedSegment,
}

/// When duplicate ACKs may trigger fast retransmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastRetransmit {
    /// Whenever the threshold is met (RFC 5681, section 3.2).
    Always,
    /// Only if more is acknowledged than was sent when the last loss was detected (ns-2 `bugFix_`),
    /// so several losses in one window cost a timeout. Never before anything is acknowledged;
    /// always while only packet 0 is (`bugfix_ss_`).
    OncePerWindow,
    /// The same, but also before anything has been acknowledged (RFC 6582, section 3.2, steps 1 and
    /// 2).
    AfterRecovery,
}

/// What the duplicate ACKs below the threshold release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing (RFC 5681 without RFC 3042).
    Off,
    /// One unsent packet per duplicate (RFC 3042).
    UnsentPacket,
    /// The next packet in sequence per duplicate; after a timeout that may be a retransmission
    /// (ns-2 `singledup_`).
    NextPacket,
}

/// Which duplicate ACKs from the threshold on inflate the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inflation {
    /// Those of fast recovery (RFC 5681, section 3.2, step 4; ns-2 `exitFastRetrans_`).
    InRecovery,
    /// All, even where fast retransmit was not allowed (ns-2 without `exitFastRetrans_`, before
    /// July 2003): packets needlessly sent again after a timeout cause duplicate ACKs that release
    /// more such packets.
    Always,
    /// None, as in ns-2's `Agent/TCP` and in the authors' Westwood over Reno.
    Never,
}

/// How a loss shrinks the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// ssthresh becomes half of the packets in flight, at least 2. It is unchanged if the same
    /// packet times out again (RFC 5681, equation 4). Fast recovery ends with cwnd = ssthresh.
    FlightSize,
    /// Half of min(cwnd, receiver's window). ssthresh is rounded down, at least 2; after fast
    /// retransmit cwnd is the half itself, at least 1 (ns-2 `precisionReduce_`).
    Window,
    /// The same in whole packets: window and half are rounded down (ns-2 until January 2006).
    WholeWindow,
}

/// Rules of NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRenoRules {
    /// Which partial ACKs restart the retransmission timer.
    pub timer: PartialAckTimer,
    /// What a partial ACK does to the window.
    pub deflation: Deflation,
    /// What the ACK that ends fast recovery does to cwnd.
    pub exit: RecoveryExit,
    /// Most in-sequence packets that each ACK from the third duplicate on may release (ns-2: 2),
    /// not counting the retransmission.
    pub burst_pkts: Option<u32>,
}

impl NewRenoRules {
    /// RFC 6582, with the options that it recommends.
    pub const RFC: Self = Self {
        timer: PartialAckTimer::Impatient,
        deflation: Deflation::ByAcked,
        exit: RecoveryExit::NoBurst,
        burst_pkts: None,
    };

    /// ns-2.35's defaults.
    pub const NS2: Self = Self { exit: RecoveryExit::AsDeflated, burst_pkts: Some(2), ..Self::RFC };

    /// ns-2's until 5 May 2003, when its defaults followed RFC 2582.
    pub const NS2_2001: Self =
        Self { timer: PartialAckTimer::SlowButSteady, deflation: Deflation::All, ..Self::NS2 };
}

/// Which partial ACKs restart the retransmission timer (RFC 6582, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first of a recovery: many losses in one window end in a timeout and slow start (ns-2
    /// `newreno_changes1_` 1).
    Impatient,
    /// Every one: one packet per round trip, however long it takes (ns-2 `newreno_changes1_` 0).
    SlowButSteady,
}

/// What a partial ACK does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deflation {
    /// Takes away what it acknowledges, but for one packet (RFC 6582; ns-2
    /// `partial_window_deflation_` 1).
    ByAcked,
    /// Takes away all that duplicate ACKs added (ns-2 `partial_window_deflation_` 0).
    All,
}

/// What the ACK that ends fast recovery does to cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// Restores it to the response's value, but to at most one packet more than is in flight, which
    /// avoids a burst (RFC 6582, section 3.2, step 3, option 1; ns-2 `exit_recovery_fix_` 1).
    NoBurst,
    /// Leaves it as partial ACKs left it (ns-2 `exit_recovery_fix_` 0).
    AsDeflated,
}

/// Rules of SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRules {
    /// RFC 6675; a report takes 4 bytes and 8 for each block (RFC 2018: kind, length and two bytes
    /// of padding).
    Rfc6675,
    /// ns-2's `Agent/TCP/Sack1`; a report takes 8 bytes for each block.
    Ns2,
    /// RFC 8985 as in Linux; a report has the size of [`SackRules::Rfc6675`].
    Linux,
}

impl SackRules {
    /// Bytes that a report adds to an ACK, besides 8 per block.
    pub(super) const fn fixed_bytes(self) -> u32 {
        match self {
            Self::Rfc6675 | Self::Linux => 4,
            Self::Ns2 => 0,
        }
    }
}

/// Rules of Vegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VegasRules {
    /// Brakmo and Peterson 1995.
    Published,
    /// ns-2's `Agent/TCP/Vegas`.
    Ns2,
}

/// Rules of Westwood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WestwoodRules {
    /// The paper's.
    Published,
    /// The authors' agent for ns-2 over NewReno, as later revised.
    Ns2,
    /// The authors' agents for ns-2 of 2001 and 2002.
    Ns2In2001,
}
