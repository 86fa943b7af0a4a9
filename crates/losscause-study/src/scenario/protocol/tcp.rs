//! `[tcp]`: the settings of every TCP flow.

use serde::Deserialize;

use losscause::Span;
use losscause_transport::tcp::{self, Tcp, Variant};

use super::{Overlay, replace};
use crate::InputError;
use crate::scenario::expression::{Names, Quantity};
use crate::scenario::reader::{Range, Reader};

mod quirks;
mod schemes;

pub use quirks::{
    Deflation, FastRetransmit, Halving, Inflation, LimitedTransmit, MinRtoOf, PartialAckTimer,
    RecoveryExit, TcpQuirks,
};
pub use schemes::{TcpRecovery, TcpResponse, TcpVariant, Vegas, WestwoodVt};

/// Keys that have moved, each with its new place.
pub(crate) const MOVED: &[(&str, &str)] = &[
    ("tcp.syn_bytes", "tcp.quirks.syn_bytes"),
    ("tcp.tick_ms", "tcp.quirks.tick_ms"),
    ("tcp.min_rto_of", "tcp.quirks.min_rto_of"),
    ("tcp.fast_retransmit_restarts_timer", "tcp.quirks.fast_retransmit_restarts_timer"),
    ("tcp.fast_retransmit", "tcp.quirks.fast_retransmit"),
    ("tcp.limited_transmit", "tcp.quirks.limited_transmit"),
    ("tcp.inflation", "tcp.quirks.inflation"),
    ("tcp.halving", "tcp.quirks.halving"),
    ("tcp.grow_on_recovery_exit", "tcp.quirks.grow_on_recovery_exit"),
    ("tcp.partial_ack_timer", "tcp.quirks.partial_ack_timer"),
    ("tcp.deflation", "tcp.quirks.deflation"),
    ("tcp.recovery_exit", "tcp.quirks.recovery_exit"),
    ("tcp.vegas_alpha_pkts", "tcp.vegas.alpha_pkts"),
    ("tcp.vegas_beta_pkts", "tcp.vegas.beta_pkts"),
    ("tcp.vegas_gamma_pkts", "tcp.vegas.gamma_pkts"),
    ("tcp.westwood_vt_alpha_pkts", "tcp.westwood_vt.alpha_pkts"),
    ("tcp.westwood_vt_beta_pkts", "tcp.westwood_vt.beta_pkts"),
];

/// Settings of every TCP flow. Windows and thresholds count packets.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {
    /// Where every setting that is not given comes from, those of `[tcp.quirks]` included (default:
    /// rfc).
    #[serde(default)]
    pub mode: TcpMode,
    /// Which TCP (default: reno). A flow may name another.
    pub variant: Option<TcpVariant>,
    /// How losses are repaired, in place of the variant's own.
    pub recovery: Option<TcpRecovery>,
    /// What the window does, in place of the variant's own.
    pub response: Option<TcpResponse>,
    /// Size of an acknowledgement on the wire, bytes.
    pub ack_bytes: Option<Quantity>,
    /// The receiver's window, packets (ns-2 `window_`).
    pub max_window_pkts: Option<Quantity>,
    /// The first congestion window, packets (ns-2 `windowInit_`).
    pub initial_window_pkts: Option<Quantity>,
    /// The first slow start threshold, packets.
    pub initial_ssthresh_pkts: Option<Quantity>,
    /// Packets by which congestion avoidance opens the window per round trip (response aimd; above
    /// 0, RFC 5681: 1).
    pub additive_increase_pkts: Option<Quantity>,
    /// Smallest retransmission timeout, milliseconds (ns-2 `minrto_`); 0: two ticks of the clock
    /// are the only minimum.
    pub min_rto_ms: Option<Quantity>,
    /// Largest retransmission timeout, milliseconds (ns-2 `maxrto_`).
    pub max_rto_ms: Option<Quantity>,
    /// Retransmission timeout before the first round-trip time is known, milliseconds.
    pub initial_rto_ms: Option<Quantity>,
    /// Duplicate acknowledgements that trigger fast retransmit.
    pub dup_ack_threshold: Option<Quantity>,
    /// Longest delay of an acknowledgement, milliseconds; 0: every packet is acknowledged at once.
    pub delayed_ack_ms: Option<Quantity>,
    /// How long the receiver takes packets in before it answers them all with one acknowledgement, as
    /// hosts that merge packets do (GRO), milliseconds; 0 (default): it answers as they arrive.
    pub ack_hold_ms: Option<Quantity>,
    /// Whether queues may mark segments instead of dropping them, and marks count as losses (RFC
    /// 3168; default false).
    pub ecn: Option<bool>,
    /// Whether packets leave at the rate of cwnd and the round-trip time, as with the queue
    /// discipline fq, instead of when ACKs come (mode linux, variants reno and cubic; default false;
    /// bbr always does).
    pub pacing: Option<bool>,
    /// Whether a loss is congestion, whatever the sender's algorithm says, if the link stays full
    /// after the reduction (mode linux, variants reno and cubic; default true).
    pub guard: Option<bool>,
    /// Whether losses are congestion, whatever the sender's algorithm says, after a round that lost
    /// more of its flight than independent losses explain (mode linux, variants reno and cubic;
    /// default true).
    pub brake: Option<bool>,
    /// Thresholds of the response vegas.
    #[serde(default)]
    pub vegas: Vegas,
    /// Thresholds of the response westwood-vt.
    #[serde(default)]
    pub westwood_vt: WestwoodVt,
    /// Rules that imitate a version of ns-2, one by one; only reproductions need them.
    #[serde(default)]
    pub quirks: TcpQuirks,
}

/// The sets of TCP settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TcpMode {
    /// RFC 5681, 3042 and 6298.
    #[default]
    Rfc,
    /// `Agent/TCP/Reno`, `Newreno`, `Sack1` or `Vegas` of ns-2.35.
    Ns2,
    /// ns-2 as the papers around 2000 ran it.
    Ns2Classic,
    /// Linux 6.18; variant reno, cubic or bbr.
    Linux,
    /// ns-2.1b8 (June 2001): without the rules that came later by ns-2's list of changes.
    #[serde(rename = "ns2-2001")]
    Ns2In2001,
}

/// A key that only some TCP variants read.
struct Scoped {
    key: &'static str,
    given: bool,
    /// Whether a TCP with this configuration reads it.
    read_by: fn(&tcp::Config) -> bool,
    /// Which variants read it, in words.
    needs: &'static str,
}

impl TcpMode {
    /// Whether it describes TCP as it is, and not as a version of ns-2 has it.
    pub(super) fn is_for_users(self) -> bool {
        matches!(self, Self::Rfc | Self::Linux)
    }
}

/// The SYN of a transfer in mode `rfc`: headers of IPv4 and TCP, and the option for the segment's
/// size (RFC 9293, section 3.7.1), bytes.
const SYN_BYTES: u32 = 44;

impl TcpSettings {
    /// The settings of a flow that names `variant`, and for `additive_increase_pkts` this key and
    /// value.
    pub(super) fn config_of(
        &self,
        variant: Option<Tcp>,
        increase: Option<(&str, &Quantity)>,
        reader: &Reader,
        names: &Names,
    ) -> Result<tcp::Config, InputError> {
        let mut config = self.config(variant, reader, names)?;
        if let Some((key, increase)) = increase {
            if !quirks::not_linux(&config) {
                return Err(reader.error(key, only_valid_with(quirks::NOT_LINUX)));
            }
            if config.response != tcp::ResponseScheme::Aimd {
                return Err(reader.error(key, only_valid_with("response \"aimd\"")));
            }
            config.additive_increase_pkts =
                reader.number(key, increase, names, Range::Positive(LARGEST_INCREASE))?;
        }
        Ok(config)
    }

    /// The settings of flows that name this variant (or none).
    pub(super) fn config(
        &self,
        variant: Option<Tcp>,
        reader: &Reader,
        names: &Names,
    ) -> Result<tcp::Config, InputError> {
        let mut config = self.base(variant, reader)?;
        let overlay = Overlay { section: "tcp", reader, names };
        let windows = tcp::Config::LARGEST_WINDOW_PKTS;
        overlay.whole("ack_bytes", self.ack_bytes.as_ref(), 1, 65_535, &mut config.ack_bytes)?;
        overlay.whole(
            "max_window_pkts",
            self.max_window_pkts.as_ref(),
            1,
            windows,
            &mut config.max_window_pkts,
        )?;
        let initial = &mut config.initial_window_pkts;
        overlay.whole(
            "initial_window_pkts",
            self.initial_window_pkts.as_ref(),
            1,
            windows,
            initial,
        )?;
        if let Some(packets) = &self.initial_ssthresh_pkts {
            config.initial_ssthresh_pkts =
                Some(reader.whole("tcp.initial_ssthresh_pkts", packets, names, 1, windows)?);
        }
        if let Some(increase) = &self.additive_increase_pkts {
            let range = Range::Positive(LARGEST_INCREASE);
            config.additive_increase_pkts =
                reader.number("tcp.additive_increase_pkts", increase, names, range)?;
        }
        if let Some(minimum) = &self.min_rto_ms {
            config.min_rto =
                overlay.milliseconds_or_off("min_rto_ms", minimum)?.unwrap_or(Span::ZERO);
        }
        overlay.milliseconds("max_rto_ms", self.max_rto_ms.as_ref(), &mut config.max_rto)?;
        overlay.milliseconds(
            "initial_rto_ms",
            self.initial_rto_ms.as_ref(),
            &mut config.initial_rto,
        )?;
        overlay.whole(
            "dup_ack_threshold",
            self.dup_ack_threshold.as_ref(),
            1,
            1000,
            &mut config.dup_ack_threshold,
        )?;
        if let Some(delay) = &self.delayed_ack_ms {
            config.delayed_ack = overlay.milliseconds_or_off("delayed_ack_ms", delay)?;
        }
        if let Some(hold) = &self.ack_hold_ms {
            config.ack_hold =
                overlay.milliseconds_or_off("ack_hold_ms", hold)?.unwrap_or(Span::ZERO);
        }
        replace(&mut config.ecn, self.ecn);
        replace(&mut config.pacing, self.pacing);
        replace(&mut config.safeguards.guard, self.guard);
        replace(&mut config.safeguards.brake, self.brake);
        self.vegas.put(&mut config.response, reader, names)?;
        self.westwood_vt.put(&mut config.response, reader, names)?;
        self.quirks.put(&mut config.quirks, reader, names)?;
        Ok(config)
    }

    /// Gives a transfer of limited size its SYN in mode `rfc`, unless `tcp.quirks.syn_bytes` is set.
    /// The other modes have their own rule.
    pub(super) fn open_transfer(&self, config: &mut tcp::Config) {
        if self.mode == TcpMode::Rfc && self.quirks.syn_bytes.is_none() {
            config.quirks.syn_bytes = Some(SYN_BYTES);
        }
    }

    /// Refuses a variant that the mode does not have; `key` names it.
    pub(super) fn refuse_foreign_variant(
        &self,
        variant: Option<Tcp>,
        key: &str,
        reader: &Reader,
    ) -> Result<(), InputError> {
        let named = self.named(variant, reader)?;
        let known = matches!(
            named,
            Tcp::Published(Variant::Reno | Variant::Cubic | Variant::Bbr) | Tcp::Own(_)
        );
        if self.mode == TcpMode::Linux && !known {
            let problem = format!(
                "mode \"linux\" has no \"{}\", expected one of reno, cubic, bbr, or tcp.mode \"rfc\"",
                named.name()
            );
            return Err(reader.error(key, problem));
        }
        if self.mode != TcpMode::Linux && named == Tcp::Published(Variant::Bbr) {
            let problem = format!(
                "\"bbr\" needs tcp.mode \"linux\", in a variant to compare as tcp.mode=linux; {key}=bbr"
            );
            return Err(reader.error(key, problem));
        }
        Ok(())
    }

    /// Refuses a setting that no flow's TCP reads. `variants` are those that the flows name.
    pub(super) fn refuse_unused(
        &self,
        variants: impl Iterator<Item = Option<Tcp>>,
        reader: &Reader,
    ) -> Result<(), InputError> {
        let bases = variants.chain([None]).map(|variant| self.base(variant, reader));
        let used: Vec<tcp::Config> = bases.collect::<Result<_, _>>()?;
        let increase = Scoped {
            key: "tcp.additive_increase_pkts",
            given: self.additive_increase_pkts.is_some(),
            read_by: |config| config.response == tcp::ResponseScheme::Aimd,
            needs: "response \"aimd\"",
        };
        let of_linux = [
            ("tcp.pacing", self.pacing.is_some()),
            ("tcp.guard", self.guard.is_some()),
            ("tcp.brake", self.brake.is_some()),
        ];
        let of_linux = of_linux.map(|(key, given)| Scoped {
            key,
            given,
            read_by: |config| {
                !quirks::not_linux(config) && config.response != tcp::ResponseScheme::Bbr
            },
            needs: "variant \"reno\" or \"cubic\" in mode \"linux\"",
        });
        let others = [
            ("tcp.recovery", self.recovery.is_some()),
            ("tcp.response", self.response.is_some()),
            ("tcp.additive_increase_pkts", self.additive_increase_pkts.is_some()),
        ];
        let others = others.map(|(key, given)| Scoped {
            key,
            given,
            read_by: quirks::not_linux,
            needs: quirks::NOT_LINUX,
        });
        let keys = [increase]
            .into_iter()
            .chain(of_linux)
            .chain(others)
            .chain(self.vegas.scoped())
            .chain(self.westwood_vt.scoped());
        match keys
            .chain(self.quirks.scoped())
            .find(|key| key.given && !used.iter().any(key.read_by))
        {
            None => Ok(()),
            Some(key) => Err(reader.error(key.key, only_valid_with(key.needs))),
        }
    }

    /// The TCP of a flow that names `variant`.
    fn named(&self, variant: Option<Tcp>, reader: &Reader) -> Result<Tcp, InputError> {
        match (variant, &self.variant) {
            (Some(variant), _) => Ok(variant),
            (None, Some(name)) => name.find("tcp.variant", reader),
            (None, None) => Ok(Tcp::Published(Variant::Reno)),
        }
    }

    /// The mode's settings for this variant.
    fn base(&self, variant: Option<Tcp>, reader: &Reader) -> Result<tcp::Config, InputError> {
        let config = match self.mode {
            TcpMode::Rfc => tcp::Config::rfc(),
            TcpMode::Ns2 => tcp::Config::ns2(),
            TcpMode::Ns2Classic => tcp::Config::ns2_classic(),
            TcpMode::Ns2In2001 => tcp::Config::ns2_2001(),
            TcpMode::Linux => tcp::Config::linux(),
        };
        let (recovery, response) = self.named(variant, reader)?.parts(&config.quirks);
        let recovery = self.recovery.map_or(recovery, Into::into);
        let response = match &self.response {
            Some(name) => name.find("tcp.response", reader)?,
            None => response,
        };
        Ok(config.with_parts(recovery, response))
    }
}

fn only_valid_with(needs: &str) -> String {
    format!("only valid with {needs}; remove it")
}

/// Largest additive increase, packets per round-trip time: far beyond every use.
const LARGEST_INCREASE: f64 = 1e6;
