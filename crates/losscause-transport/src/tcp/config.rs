//! The settings of a connection. Both ends use the same value.

mod error;

use losscause::{Safeguards, Span};

pub use error::ConfigError;

use super::control::ResponseScheme;
use super::quirks::{Quirks, SackRules, VegasRules};
use super::recovery::RecoveryScheme;

/// The settings of a connection; windows and thresholds are counted in packets.
///
/// ```
/// use losscause_transport::tcp::{
///     Config, ConfigError, ResponseScheme, VegasParameters, WestwoodVtParameters,
/// };
///
/// let more_queued = VegasParameters { alpha_pkts: 2, beta_pkts: 4, ..VegasParameters::PUBLISHED };
/// let vegas = Config { response: ResponseScheme::Vegas(more_queued), ..Config::rfc() };
/// assert_eq!(vegas.validate(), Ok(()));
/// // WestwoodVT's alpha is 14.
/// let swapped = WestwoodVtParameters { beta_pkts: 10, ..WestwoodVtParameters::PUBLISHED };
/// let westwood = Config { response: ResponseScheme::WestwoodVt(swapped), ..Config::rfc() };
/// assert_eq!(westwood.validate(), Err(ConfigError::WestwoodVtThresholds { alpha: 14, beta: 10 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Which packets are sent again, and when.
    pub recovery: RecoveryScheme,
    /// What the window does.
    pub response: ResponseScheme,
    /// Payload of a data segment, bytes (ns-2 `packetSize_`). At least 1.
    pub payload_bytes: u32,
    /// Headers of a data segment, bytes; payload and headers together are its size on the wire
    /// (ns-2.35 `tcpip_base_hdr_size_`; 0 is ns-2 without `useHeaders_`).
    pub header_bytes: u32,
    /// Size of an acknowledgement on the wire, bytes. At least 1.
    pub ack_bytes: u32,
    /// Data packets to send; endless if not set.
    pub limit_pkts: Option<u64>,
    /// The receiver's window, packets (ns-2 `window_`). At least 1. Per-packet storage grows as the
    /// window is used, so a large value costs nothing by itself.
    pub max_window_pkts: u32,
    /// The congestion window when data starts to flow, packets (RFC 5681, section 3.1; ns-2
    /// `windowInit_`). At least 1; becomes 1 if the SYN had to be sent again.
    pub initial_window_pkts: u32,
    /// The first slow start threshold, packets; if not set, [`Config::max_window_pkts`] (RFC 5681,
    /// section 3.1: as high as the receiver's window allows; ns-2 likewise).
    pub initial_ssthresh_pkts: Option<u32>,
    /// By how much congestion avoidance opens the window, packets per round trip: 1 in RFC 5681.
    /// Finite and above 0. Only [`ResponseScheme::Aimd`] reads it; the other responses have steps
    /// of their own.
    pub additive_increase_pkts: f64,
    /// Smallest retransmission timeout, before back-off (ns-2 `minrto_`); zero: only two ticks of
    /// the clock ([`Quirks::tick`]).
    pub min_rto: Span,
    /// Largest retransmission timeout, back-off included (ns-2 `maxrto_`).
    pub max_rto: Span,
    /// Retransmission timeout before the first round-trip time is known (ns-2 `rtxcur_init_`).
    pub initial_rto: Span,
    /// Duplicate ACKs that trigger fast retransmit (RFC 5681, section 3.2). At least 1.
    pub dup_ack_threshold: u32,
    /// Longest delay of an ACK: every second packet is acknowledged, or the timer fires (RFC 5681,
    /// section 4.2; ns-2 `DelAck`). If not set, every packet is acknowledged. Linux: the smallest
    /// delay; if not set, one tick.
    pub delayed_ack: Option<Span>,
    /// How long the receiver takes packets in before it answers them all with one ACK, as a host
    /// that merges packets does (GRO); zero: it answers as they arrive. Not negative.
    pub ack_hold: Span,
    /// Whether segments may be marked instead of dropped, and marks count as losses (RFC 3168; ns-2
    /// `ecn_`).
    pub ecn: bool,
    /// Whether packets leave at the rate that cwnd and the round-trip time allow, instead of when
    /// ACKs come (Linux: the queue discipline `fq`). Only Linux's machine reads it; a response with a
    /// rate of its own ([`ResponseScheme::Bbr`]) is paced anyway.
    pub pacing: bool,
    /// What makes a loss congestion although the algorithm calls it wireless. Only Linux's machine
    /// reads it, unless the response follows delivery rates ([`ResponseScheme::Bbr`]) or the
    /// algorithm is told the truth ([`Safeguards::above`]).
    pub safeguards: Safeguards,
    /// Seed of what a sender draws: the first gain that [`ResponseScheme::Bbr`] probes with. A
    /// simulator gives each sender its own.
    pub random_seed: u64,
    /// The rules that imitate a version of ns-2.
    pub quirks: Quirks,
}

impl Config {
    /// RFC 5681 with RFC 3042 and RFC 6298: 1460 bytes of payload, an exact clock, no SYN, no
    /// delayed ACK.
    pub const fn rfc() -> Self {
        Self {
            recovery: RecoveryScheme::Reno,
            response: ResponseScheme::Aimd,
            payload_bytes: 1460,
            header_bytes: 40,
            ack_bytes: 40,
            limit_pkts: None,
            // The largest window with the window scale option (RFC 7323, section 2.3): 65,535 *
            // 2^14 bytes.
            max_window_pkts: 735_428,
            // RFC 5681, equation 1, for segments of 1096 to 2190 bytes.
            initial_window_pkts: 3,
            initial_ssthresh_pkts: None,
            additive_increase_pkts: 1.0,
            min_rto: Span::from_secs(1),
            max_rto: Span::from_secs(60),
            initial_rto: Span::from_secs(1),
            dup_ack_threshold: 3,
            delayed_ack: None,
            ack_hold: Span::ZERO,
            ecn: false,
            pacing: false,
            safeguards: Safeguards::OFF,
            random_seed: 0,
            quirks: Quirks::RFC,
        }
    }

    /// `Agent/TCP/Reno` and `Agent/TCPSink` with the defaults of ns-2.35.
    pub const fn ns2() -> Self {
        Self {
            payload_bytes: 1000,
            max_window_pkts: 20,
            initial_window_pkts: 2,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(3),
            quirks: Quirks::NS2_2_35,
            ..Self::rfc()
        }
    }

    /// ns-2 as the papers around 2000 ran it ([`Quirks::NS2_CLASSIC`]): a minimum timeout of 1 s,
    /// packets counted without headers, an initial window of 1, 6 s before the first round-trip
    /// time. ns-2 had no minimum timeout before 27 May 2001 (its list of changes): set `min_rto` to
    /// zero for that.
    pub const fn ns2_classic() -> Self {
        Self {
            header_bytes: 0,
            initial_window_pkts: 1,
            min_rto: Span::from_secs(1),
            initial_rto: Span::from_secs(6),
            quirks: Quirks::NS2_CLASSIC,
            ..Self::ns2()
        }
    }

    /// ns-2.1b8, of June 2001, by its list of changes ([`Quirks::NS2_2001`]):
    /// [`Config::ns2_classic`] with an initial window of 2 (since May 2001) and a largest timeout
    /// of 100,000 s (until March 2007).
    pub const fn ns2_2001() -> Self {
        Self {
            initial_window_pkts: 2,
            max_rto: Span::from_secs(100_000),
            quirks: Quirks::NS2_2001,
            ..Self::ns2_classic()
        }
    }

    /// Linux 6.18 with its defaults and the congestion control `reno`: packets of 1500 bytes with
    /// timestamps, a receive window up to `net.ipv4.tcp_rmem`'s 32 MB.
    pub const fn linux() -> Self {
        Self {
            recovery: RecoveryScheme::RackTlp,
            payload_bytes: 1448,
            header_bytes: 52,
            ack_bytes: 52,
            // A packet takes 2304 bytes of the receive buffer.
            max_window_pkts: (32 << 20) / 2_304,
            initial_window_pkts: 10,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(120),
            delayed_ack: Some(Span::from_millis(40)),
            safeguards: Safeguards::ON,
            quirks: Quirks::LINUX,
            ..Self::rfc()
        }
    }

    /// Size of a data segment on the wire, bytes.
    pub const fn wire_bytes(&self) -> u32 {
        self.payload_bytes.saturating_add(self.header_bytes)
    }

    /// Size of the SYN on the wire, bytes, if the connection opens with one.
    pub const fn syn_bytes(&self) -> Option<u32> {
        match self.quirks.syn_bytes {
            Some(_) if self.is_vegas_of_ns2() => Some(self.wire_bytes()),
            bytes => bytes,
        }
    }

    /// Bytes that a report of what arrived adds to an acknowledgement beside 8 for each block; none
    /// if the receiver does not report (RFC 2018).
    pub(super) fn sack_bytes(&self) -> Option<u32> {
        self.uses_sack().then(|| self.quirks.sack.fixed_bytes())
    }

    /// Whether the receiver reports what arrived (RFC 2018).
    pub const fn uses_sack(&self) -> bool {
        matches!(self.recovery, RecoveryScheme::Sack | RecoveryScheme::RackTlp)
    }

    /// Whether the ACK that ends fast recovery also opens the window. It never does with SACK.
    pub(super) fn grows_on_recovery_exit(&self) -> bool {
        self.quirks.grow_on_recovery_exit && self.recovery != RecoveryScheme::Sack
    }

    /// Whether packets have the sizes of ns-2's `Agent/TCP/Vegas`.
    pub(super) const fn is_vegas_of_ns2(&self) -> bool {
        matches!((self.recovery, self.quirks.vegas), (RecoveryScheme::Vegas, VegasRules::Ns2))
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
            ("quirks.syn_bytes", self.quirks.syn_bytes.unwrap_or(1)),
            ("max_window_pkts", self.max_window_pkts),
            ("quirks.max_cwnd_pkts", self.quirks.max_cwnd_pkts.unwrap_or(1)),
            ("initial_window_pkts", self.initial_window_pkts),
            ("initial_ssthresh_pkts", self.initial_ssthresh_pkts.unwrap_or(1)),
            ("dup_ack_threshold", self.dup_ack_threshold),
        ] {
            if value == 0 {
                return Err(E::Zero { key });
            }
        }
        for (key, value) in [
            ("quirks.tick", self.quirks.tick),
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
        if (self.recovery == RecoveryScheme::RackTlp) != (self.quirks.sack == SackRules::Linux) {
            return Err(E::LinuxRecovery);
        }
        if self.recovery == RecoveryScheme::RackTlp && !self.response.is_linux() {
            return Err(E::LinuxResponse);
        }
        if self.recovery != RecoveryScheme::RackTlp {
            let key = if self.pacing { Some("pacing") } else { None };
            let bbr = (self.response == ResponseScheme::Bbr).then_some("response bbr");
            if let Some(key) = key.or(bbr) {
                return Err(E::OnlyLinux { key });
            }
        }
        if self.response == ResponseScheme::NewJersey && !self.ecn {
            return Err(E::MarksMissing);
        }
        if !(self.additive_increase_pkts.is_finite() && self.additive_increase_pkts > 0.0) {
            return Err(E::AdditiveIncrease { value: self.additive_increase_pkts });
        }
        if self.max_window_pkts > Self::LARGEST_WINDOW_PKTS {
            return Err(E::WindowTooLarge { value: self.max_window_pkts });
        }
        for (key, value) in [("min_rto", self.min_rto), ("ack_hold", self.ack_hold)] {
            if value < Span::ZERO {
                return Err(E::Negative { key, value });
            }
        }
        if self.max_rto < self.min_rto {
            return Err(E::RtoRange { min: self.min_rto, max: self.max_rto });
        }
        let Quirks { tick, tick_offset, .. } = self.quirks;
        if tick_offset < Span::ZERO || tick_offset >= tick {
            return Err(E::TickOffset { value: tick_offset, tick });
        }
        Ok(())
    }

    /// Largest receiver's window, packets: a forged segment may make a receiver reserve a bit for
    /// each.
    pub const LARGEST_WINDOW_PKTS: u32 = 1 << 24;
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{VegasParameters, WestwoodVtParameters};

    #[test]
    fn every_named_set_is_valid() {
        for config in [
            Config::rfc(),
            Config::ns2(),
            Config::ns2_classic(),
            Config::ns2_2001(),
            Config::linux(),
        ] {
            assert_eq!(config.validate(), Ok(()));
        }
        assert_eq!(Config::default(), Config::rfc());
    }

    #[test]
    fn a_setting_out_of_range_is_named() {
        let ns2 = Config::ns2();
        let says = |config: Config| config.validate().unwrap_err().to_string();
        assert_eq!(
            says(Config { payload_bytes: 0, ..ns2 }),
            "payload_bytes must be at least 1, but is 0"
        );
        let with = |quirks: Quirks| Config { quirks, ..ns2 };
        assert_eq!(
            says(with(Quirks { syn_bytes: Some(0), ..ns2.quirks })),
            "quirks.syn_bytes must be at least 1, but is 0"
        );
        assert_eq!(
            says(with(Quirks { tick: Span::ZERO, ..ns2.quirks })),
            "quirks.tick must be above zero, but is 0.000 ms"
        );
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
            says(with(Quirks { tick_offset: ns2.quirks.tick, ..ns2.quirks })),
            "quirks.tick_offset must be from zero to below quirks.tick (10.000 ms), but is 10.000 ms"
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
        let parameters = VegasParameters { alpha_pkts: 4, ..VegasParameters::PUBLISHED };
        assert_eq!(
            says(Config { response: ResponseScheme::Vegas(parameters), ..ns2 }),
            "Vegas' beta must be at least its alpha (4 packets), but is 3"
        );
        let parameters = WestwoodVtParameters { beta_pkts: 13, ..WestwoodVtParameters::PUBLISHED };
        assert_eq!(
            says(Config { response: ResponseScheme::WestwoodVt(parameters), ..ns2 }),
            "WestwoodVT's beta must be at least its alpha (14 packets), but is 13"
        );
        let equal = WestwoodVtParameters { beta_pkts: 14, ..parameters };
        assert_eq!(
            Config { response: ResponseScheme::WestwoodVt(equal), ..ns2 }.validate(),
            Ok(())
        );
        assert_eq!(
            says(Config { response: ResponseScheme::NewJersey, ..ns2 }),
            "ecn must be set for New Jersey, which responds to marks, but is not"
        );
        let linux = Config::linux();
        assert_eq!(
            says(Config { response: ResponseScheme::Veno, ..linux }),
            "Linux's TCP here is reno, cubic or bbr, but its response is another"
        );
        assert_eq!(
            says(Config { response: ResponseScheme::Bbr, ..ns2 }),
            "response bbr belongs to mode linux, but the mode is another"
        );
        assert_eq!(
            says(Config { pacing: true, ..ns2 }),
            "pacing belongs to mode linux, but the mode is another"
        );
        let recovery =
            "recovery rack-tlp and mode linux belong together, but only one of them is set";
        assert_eq!(says(Config { recovery: RecoveryScheme::Sack, ..linux }), recovery);
        assert_eq!(says(Config { recovery: RecoveryScheme::RackTlp, ..ns2 }), recovery);
        assert!(
            with(Quirks { tick_offset: Span::from_millis(-1), ..ns2.quirks }).validate().is_err()
        );
        assert!(Config { delayed_ack: Some(Span::ZERO), ..ns2 }.validate().is_err());
    }
}
