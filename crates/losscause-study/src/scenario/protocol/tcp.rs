//! `[tcp]`: the settings of every TCP flow.

use schemars::JsonSchema;
use serde::Deserialize;

use losscause::Span;
use losscause_transport::tcp;

use super::super::expression::{Names, Quantity};
use super::super::format::Flow;
use super::super::reader::{Range, Reader};
use super::{Overlay, mirrored, replace};
use crate::InputError;

/// Settings of every TCP flow. Windows and thresholds count packets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {
    /// Where every setting that is not given comes from (default: rfc).
    #[serde(default)]
    pub mode: TcpMode,
    /// Which TCP (default: reno). A flow may name another.
    pub variant: Option<TcpVariant>,
    /// How losses are repaired, in place of the variant's own.
    pub recovery: Option<TcpRecovery>,
    /// What the window does, in place of the variant's own.
    pub response: Option<TcpResponse>,
    /// Which partial acknowledgements restart the retransmission timer (recovery newreno).
    pub partial_ack_timer: Option<PartialAckTimer>,
    /// What a partial acknowledgement does to the window (recovery newreno).
    pub deflation: Option<Deflation>,
    /// What the acknowledgement that ends fast recovery does to the window (recovery newreno).
    pub recovery_exit: Option<RecoveryExit>,
    /// Packets in queues below which the window grows (response vegas, ns-2 `v_alpha_`).
    pub vegas_alpha_pkts: Option<Quantity>,
    /// Packets in queues above which the window shrinks (response vegas, ns-2 `v_beta_`).
    pub vegas_beta_pkts: Option<Quantity>,
    /// Packets in queues above which slow start ends (response vegas, ns-2 `v_gamma_`).
    pub vegas_gamma_pkts: Option<Quantity>,
    /// Packets in queues below which a loss is wireless (response westwood-vt).
    pub westwood_vt_alpha_pkts: Option<Quantity>,
    /// Packets in queues above which a loss is congestion (response westwood-vt).
    pub westwood_vt_beta_pkts: Option<Quantity>,
    /// Size of an acknowledgement on the wire, bytes.
    pub ack_bytes: Option<Quantity>,
    /// Size of the SYN that opens the connection, bytes; 0: no SYN.
    pub syn_bytes: Option<Quantity>,
    /// The receiver's window, packets (ns-2 `window_`).
    pub max_window_pkts: Option<Quantity>,
    /// Largest congestion window that acknowledgements open, packets (ns-2 `maxcwnd_`; default no limit). Packets that duplicate
    /// acknowledgements let out come on top.
    pub max_cwnd_pkts: Option<Quantity>,
    /// The first congestion window, packets (ns-2 `windowInit_`).
    pub initial_window_pkts: Option<Quantity>,
    /// Packets by which congestion avoidance opens the window per round trip (response aimd; above 0, RFC 5681: 1).
    pub additive_increase_pkts: Option<Quantity>,
    /// The first slow start threshold, packets.
    pub initial_ssthresh_pkts: Option<Quantity>,
    /// Granularity of the clock that measures round-trip times, milliseconds (ns-2 `tcpTick_`).
    pub tick_ms: Option<Quantity>,
    /// Smallest retransmission timeout, milliseconds (ns-2 `minrto_`); 0: two ticks are the only minimum.
    pub min_rto_ms: Option<Quantity>,
    /// Largest retransmission timeout, milliseconds (ns-2 `maxrto_`).
    pub max_rto_ms: Option<Quantity>,
    /// Retransmission timeout before the first round-trip time is known, milliseconds.
    pub initial_rto_ms: Option<Quantity>,
    /// Longest delay of an acknowledgement, milliseconds; 0: every packet is acknowledged at once.
    pub delayed_ack_ms: Option<Quantity>,
    /// Duplicate acknowledgements that trigger fast retransmit.
    pub dup_ack_threshold: Option<Quantity>,
    /// When fast retransmit may happen at all.
    pub fast_retransmit: Option<FastRetransmit>,
    /// What the first duplicate acknowledgements release.
    pub limited_transmit: Option<LimitedTransmit>,
    /// How a loss shrinks the window.
    pub halving: Option<Halving>,
    /// What the smallest retransmission timeout holds for.
    pub min_rto_of: Option<MinRtoOf>,
    /// Which duplicate acknowledgements from the threshold on inflate the window (recovery reno or newreno).
    pub inflation: Option<Inflation>,
    /// Whether fast retransmit restarts the retransmission timer.
    pub fast_retransmit_restarts_timer: Option<bool>,
    /// Whether the acknowledgement that ends fast recovery also opens the window.
    pub grow_on_recovery_exit: Option<bool>,
    /// Whether queues may mark segments instead of dropping them, and marks count as losses (RFC 3168; default false).
    pub ecn: Option<bool>,
}

/// The sets of TCP settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpMode {
    /// RFC 5681, 3042 and 6298.
    #[default]
    Rfc,
    /// `Agent/TCP/Reno`, `Newreno`, `Sack1` or `Vegas` of ns-2.35.
    Ns2,
    /// ns-2 as the papers around 2000 ran it.
    Ns2Classic,
    /// ns-2.1b8 (June 2001), with the rules that its list of changes dates after it undone.
    #[serde(rename = "ns2-2001")]
    Ns2In2001,
}

impl TcpSettings {
    /// The settings of a flow.
    pub(super) fn config_of(&self, flow: &Flow, reader: &Reader, names: &Names) -> Result<tcp::Config, InputError> {
        let mut config = self.config(flow.variant, reader, names)?;
        if let Some(increase) = &flow.additive_increase_pkts {
            let key = format!("flow.{}.additive_increase_pkts", flow.name);
            if config.response != tcp::ResponseScheme::Aimd {
                return Err(reader.error(&key, "is for response aimd, which this flow has not, expected no such key"));
            }
            config.additive_increase_pkts = reader.number(&key, increase, names, Range::Positive(LARGEST_INCREASE))?;
        }
        Ok(config)
    }

    /// The settings of the flows that name no variant, or of those that name this one.
    pub(super) fn config(
        &self,
        variant: Option<TcpVariant>,
        reader: &Reader,
        names: &Names,
    ) -> Result<tcp::Config, InputError> {
        let mut config = self.base(variant);
        self.put_variant_settings(&mut config, reader, names)?;
        let overlay = Overlay { section: "tcp", reader, names };
        let windows = tcp::Config::LARGEST_WINDOW_PKTS;
        overlay.whole("ack_bytes", self.ack_bytes.as_ref(), 1, 65_535, &mut config.ack_bytes)?;
        overlay.whole("max_window_pkts", self.max_window_pkts.as_ref(), 1, windows, &mut config.max_window_pkts)?;
        let initial = &mut config.initial_window_pkts;
        overlay.whole("initial_window_pkts", self.initial_window_pkts.as_ref(), 1, windows, initial)?;
        if let Some(increase) = &self.additive_increase_pkts {
            let range = Range::Positive(LARGEST_INCREASE);
            config.additive_increase_pkts = reader.number("tcp.additive_increase_pkts", increase, names, range)?;
        }
        overlay.whole("dup_ack_threshold", self.dup_ack_threshold.as_ref(), 1, 1000, &mut config.dup_ack_threshold)?;
        let quirks = &mut config.quirks;
        if let Some(bytes) = &self.syn_bytes {
            let bytes = reader.whole("tcp.syn_bytes", bytes, names, 0, 65_535)?;
            quirks.syn_bytes = (bytes > 0).then_some(bytes);
        }
        if let Some(packets) = &self.max_cwnd_pkts {
            config.max_cwnd_pkts = Some(reader.whole("tcp.max_cwnd_pkts", packets, names, 1, windows)?);
        }
        if let Some(packets) = &self.initial_ssthresh_pkts {
            config.initial_ssthresh_pkts =
                Some(reader.whole("tcp.initial_ssthresh_pkts", packets, names, 1, windows)?);
        }
        overlay.milliseconds("tick_ms", self.tick_ms.as_ref(), &mut quirks.tick)?;
        if let Some(minimum) = &self.min_rto_ms {
            config.min_rto = overlay.milliseconds_or_off("min_rto_ms", minimum)?.unwrap_or(Span::ZERO);
        }
        overlay.milliseconds("max_rto_ms", self.max_rto_ms.as_ref(), &mut config.max_rto)?;
        overlay.milliseconds("initial_rto_ms", self.initial_rto_ms.as_ref(), &mut config.initial_rto)?;
        if let Some(delay) = &self.delayed_ack_ms {
            config.delayed_ack = overlay.milliseconds_or_off("delayed_ack_ms", delay)?;
        }
        if let Some(when) = self.fast_retransmit {
            quirks.fast_retransmit = Some(when.into());
        }
        replace(&mut quirks.limited_transmit, self.limited_transmit);
        replace(&mut quirks.halving, self.halving);
        replace(&mut quirks.min_rto_of, self.min_rto_of);
        replace(&mut quirks.inflation, self.inflation);
        replace(&mut quirks.fast_retransmit_restarts_timer, self.fast_retransmit_restarts_timer);
        replace(&mut quirks.grow_on_recovery_exit, self.grow_on_recovery_exit);
        replace(&mut config.ecn, self.ecn);
        Ok(config)
    }

    /// Refuses a setting of NewReno, Vegas or WestwoodVT where no flow is one.
    pub(super) fn refuse_unused(&self, flows: &[Flow], reader: &Reader) -> Result<(), InputError> {
        let variants = flows.iter().map(|flow| flow.variant).chain([None]);
        let used: Vec<tcp::Config> = variants.map(|variant| self.base(variant)).collect();
        let newreno = used.iter().any(|config| config.recovery == tcp::RecoveryScheme::NewReno);
        let vegas = used.iter().any(|config| matches!(config.response, tcp::ResponseScheme::Vegas(_)));
        let aimd = used.iter().any(|config| config.response == tcp::ResponseScheme::Aimd);
        let vt = used.iter().any(|config| matches!(config.response, tcp::ResponseScheme::WestwoodVt(_)));
        let keys = [
            ("additive_increase_pkts", self.additive_increase_pkts.is_some(), aimd, "response aimd"),
            ("partial_ack_timer", self.partial_ack_timer.is_some(), newreno, "recovery newreno"),
            ("deflation", self.deflation.is_some(), newreno, "recovery newreno"),
            ("recovery_exit", self.recovery_exit.is_some(), newreno, "recovery newreno"),
            ("vegas_alpha_pkts", self.vegas_alpha_pkts.is_some(), vegas, "response vegas"),
            ("vegas_beta_pkts", self.vegas_beta_pkts.is_some(), vegas, "response vegas"),
            ("vegas_gamma_pkts", self.vegas_gamma_pkts.is_some(), vegas, "response vegas"),
            ("westwood_vt_alpha_pkts", self.westwood_vt_alpha_pkts.is_some(), vt, "response westwood-vt"),
            ("westwood_vt_beta_pkts", self.westwood_vt_beta_pkts.is_some(), vt, "response westwood-vt"),
        ];
        match keys.iter().find(|(_, given, used, _)| *given && !used) {
            None => Ok(()),
            Some((key, _, _, needs)) => {
                let problem = format!("is for {needs}, which no flow has, expected no such key");
                Err(reader.error(&format!("tcp.{key}"), problem))
            }
        }
    }

    /// The mode's settings for the TCP that is asked for.
    fn base(&self, variant: Option<TcpVariant>) -> tcp::Config {
        let config = match self.mode {
            TcpMode::Rfc => tcp::Config::rfc(),
            TcpMode::Ns2 => tcp::Config::ns2(),
            TcpMode::Ns2Classic => tcp::Config::ns2_classic(),
            TcpMode::Ns2In2001 => tcp::Config::ns2_2001(),
        };
        let named = variant.or(self.variant).map_or(tcp::Variant::Reno, Into::into);
        let (recovery, response) = named.parts(&config.quirks);
        let recovery = self.recovery.map_or(recovery, Into::into);
        let response = self.response.map_or(response, Into::into);
        config.with_parts(recovery, response)
    }

    /// The settings that some variants have.
    fn put_variant_settings(&self, config: &mut tcp::Config, reader: &Reader, names: &Names) -> Result<(), InputError> {
        let overlay = Overlay { section: "tcp", reader, names };
        let mut vegas = tcp::VegasParameters::PUBLISHED;
        if let tcp::ResponseScheme::Vegas(parameters) = config.response {
            vegas = parameters;
        }
        overlay.whole("vegas_alpha_pkts", self.vegas_alpha_pkts.as_ref(), 0, 1_000_000, &mut vegas.alpha_pkts)?;
        overlay.whole("vegas_beta_pkts", self.vegas_beta_pkts.as_ref(), 0, 1_000_000, &mut vegas.beta_pkts)?;
        overlay.whole("vegas_gamma_pkts", self.vegas_gamma_pkts.as_ref(), 0, 1_000_000, &mut vegas.gamma_pkts)?;
        if let tcp::ResponseScheme::Vegas(parameters) = &mut config.response {
            *parameters = vegas;
        }
        let mut vt = tcp::WestwoodVtParameters::PUBLISHED;
        if let tcp::ResponseScheme::WestwoodVt(parameters) = config.response {
            vt = parameters;
        }
        let (alpha, beta) = (self.westwood_vt_alpha_pkts.as_ref(), self.westwood_vt_beta_pkts.as_ref());
        overlay.whole("westwood_vt_alpha_pkts", alpha, 0, 1_000_000, &mut vt.alpha_pkts)?;
        overlay.whole("westwood_vt_beta_pkts", beta, 0, 1_000_000, &mut vt.beta_pkts)?;
        if let tcp::ResponseScheme::WestwoodVt(parameters) = &mut config.response {
            *parameters = vt;
        }
        let new_reno = &mut config.quirks.new_reno;
        replace(&mut new_reno.timer, self.partial_ack_timer);
        replace(&mut new_reno.deflation, self.deflation);
        replace(&mut new_reno.exit, self.recovery_exit);
        Ok(())
    }
}

/// Far beyond every use.
const LARGEST_INCREASE: f64 = 1e6;

mirrored! {
    /// The TCPs that have a name: a recovery and a response.
    pub enum TcpVariant => tcp::Variant {
        /// Reno: one loss per window is repaired without a timeout; the window grows by a packet per round trip and is halved.
        Reno,
        /// NewReno (RFC 6582): one loss per round trip is repaired without a timeout.
        NewReno as "newreno",
        /// SACK (RFC 6675): the receiver reports what arrived, all losses of a window are repaired at once.
        Sack,
        /// Vegas: keeps a few packets in queues and looks at every packet's own timeout.
        Vegas,
        /// Veno: Reno that loses a fifth instead of half while few packets wait.
        Veno,
        /// CUBIC (RFC 9438) over SACK.
        Cubic,
        /// Westwood: Reno that falls to what the path was seen to carry.
        Westwood,
        /// Westwood over NewReno.
        WestwoodNr,
        /// WestwoodVT: WestwoodNR that cuts only if queues are full.
        WestwoodVt,
        /// New Jersey: NewReno that takes what the path was seen to carry when a queue warns by marks, and cuts for no other loss.
        NewJersey,
    }

    /// How losses are repaired.
    pub enum TcpRecovery => tcp::RecoveryScheme {
        /// Fast recovery until the first new acknowledgement (RFC 5681).
        Reno,
        /// None: the third duplicate acknowledgement sends a packet again, and nothing else until it is acknowledged.
        FastRetransmit,
        /// Fast recovery until everything is repaired (RFC 6582).
        NewReno as "newreno",
        /// By what the receiver reports (RFC 6675; ns-2: Sack1).
        Sack,
        /// By every packet's own timeout.
        Vegas,
    }

    /// Which partial acknowledgements restart the retransmission timer.
    pub enum PartialAckTimer => tcp::PartialAckTimer {
        /// The first of a recovery (ns-2 `newreno_changes1_` 1).
        Impatient,
        /// Every one (ns-2 `newreno_changes1_` 0).
        SlowButSteady,
    }

    /// What a partial acknowledgement does to the window.
    pub enum Deflation => tcp::Deflation {
        /// Takes away what it acknowledges, but for one packet (ns-2 `partial_window_deflation_` 1).
        ByAcked,
        /// Takes away all that duplicates added (ns-2 `partial_window_deflation_` 0).
        All,
    }

    /// What the acknowledgement that ends fast recovery does to the window.
    pub enum RecoveryExit => tcp::RecoveryExit {
        /// Back, but to one packet more than is in flight at most (ns-2 `exit_recovery_fix_` 1).
        NoBurst,
        /// It stays as partial acknowledgements left it (ns-2 `exit_recovery_fix_` 0).
        AsDeflated,
    }

    /// When fast retransmit may happen at all.
    pub enum FastRetransmit => tcp::FastRetransmit {
        /// Whenever the threshold is met.
        Always,
        /// Once per window: several losses in one window cost a timeout (ns-2 `bugFix_`).
        OncePerWindow,
        /// The same, and from the start on (RFC 6582).
        AfterRecovery,
    }

    /// What the duplicate acknowledgements below the threshold release.
    pub enum LimitedTransmit => tcp::LimitedTransmit {
        /// Nothing.
        Off,
        /// One unsent packet each (RFC 3042).
        UnsentPacket,
        /// The next packet in line each (ns-2 `singledup_`).
        NextPacket,
    }

    /// How a loss shrinks the window.
    pub enum Halving => tcp::Halving {
        /// To half of the packets in flight (RFC 5681).
        FlightSize,
        /// To half of the window (ns-2.35).
        Window,
        /// To half of the window in whole packets (ns-2 until January 2006).
        WholeWindow,
    }

    /// What the smallest retransmission timeout holds for.
    pub enum MinRtoOf => tcp::MinRtoOf {
        /// The estimate, before back-off (RFC 6298, ns-2 `rfc2988_`).
        Estimate,
        /// The timer, after back-off (ns-2 before March 2002).
        Timer,
    }

    /// Which duplicate acknowledgements from the threshold on inflate the window.
    pub enum Inflation => tcp::Inflation {
        /// Those of fast recovery (RFC 5681, ns-2 `exitFastRetrans_`).
        InRecovery,
        /// All (ns-2 before July 2003).
        Always,
        /// None: fast retransmit without fast recovery.
        Never,
    }
}

/// What the window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpResponse {
    /// Additive increase, multiplicative decrease (RFC 5681).
    Aimd,
    /// Vegas: it follows the packets in queues.
    Vegas,
    /// Veno: it loses less while few packets wait.
    Veno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// Westwood: after a loss it falls to the estimated bandwidth-delay product.
    Westwood,
    /// The same, if queues are full.
    WestwoodVt,
    /// New Jersey: on ECN marks it becomes the estimated bandwidth-delay product.
    NewJersey,
}

impl From<TcpResponse> for tcp::ResponseScheme {
    fn from(response: TcpResponse) -> Self {
        match response {
            TcpResponse::Aimd => Self::Aimd,
            TcpResponse::Vegas => Self::Vegas(tcp::VegasParameters::PUBLISHED),
            TcpResponse::Veno => Self::Veno,
            TcpResponse::Cubic => Self::Cubic,
            TcpResponse::Westwood => Self::Westwood,
            TcpResponse::WestwoodVt => Self::WestwoodVt(tcp::WestwoodVtParameters::PUBLISHED),
            TcpResponse::NewJersey => Self::NewJersey,
        }
    }
}
