//! What a flow runs, and the settings that all TFRC flows or all TCP flows of a scenario share.
//!
//! A setting that is not given keeps the value that its mode has in `losscause-transport`: a default has one home.

use schemars::JsonSchema;
use serde::Deserialize;

use losscause::Span;
use losscause_sim::Traffic;
use losscause_transport::{tcp, tfrc};

use super::expression::{Names, Quantity};
use super::format::{Document, Flow, Protocol};
use super::lda;
use super::reader::{LONGEST_S, Range, Reader};
use crate::InputError;

/// Settings of every TFRC flow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TfrcSettings {
    /// Where every setting that is not given comes from (default: rfc5348).
    #[serde(default)]
    pub mode: TfrcMode,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: Option<Quantity>,
}

/// The sets of TFRC settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TfrcMode {
    /// The standard, RFC 5348.
    #[default]
    Rfc5348,
    /// `Agent/TFRC` of ns-2.35.
    Ns2,
}

/// Settings of every TCP flow. Windows and thresholds count packets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {
    /// Where every setting that is not given comes from (default: rfc).
    #[serde(default)]
    pub mode: TcpMode,
    /// Size of an acknowledgement on the wire, bytes.
    pub ack_bytes: Option<Quantity>,
    /// Size of the SYN that opens the connection, bytes; 0: no SYN.
    pub syn_bytes: Option<Quantity>,
    /// The receiver's window, packets (ns-2 `window_`).
    pub max_window_pkts: Option<Quantity>,
    /// The first congestion window, packets (ns-2 `windowInit_`).
    pub initial_window_pkts: Option<Quantity>,
    /// The first slow start threshold, packets.
    pub initial_ssthresh_pkts: Option<Quantity>,
    /// Granularity of the clock that measures round-trip times, milliseconds (ns-2 `tcpTick_`).
    pub tick_ms: Option<Quantity>,
    /// Smallest retransmission timeout, milliseconds (ns-2 `minrto_`).
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
    /// What ends the exponential back-off of the retransmission timeout.
    pub backoff_cleared: Option<BackoffCleared>,
    /// Whether fast retransmit restarts the retransmission timer.
    pub fast_retransmit_restarts_timer: Option<bool>,
    /// Whether the acknowledgement that ends fast recovery also opens the window.
    pub grow_on_recovery_exit: Option<bool>,
}

/// The sets of TCP settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpMode {
    /// RFC 5681, 3042 and 6298.
    #[default]
    Rfc,
    /// `Agent/TCP/Reno` of ns-2.35.
    Ns2,
    /// ns-2 as the papers around 2000 ran it.
    Ns2Classic,
}

/// When fast retransmit may happen at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmit {
    /// Whenever the threshold is met.
    Always,
    /// Once per window: several losses in one window cost a timeout (ns-2 `bugFix_`).
    OncePerWindow,
}

/// What the duplicate acknowledgements below the threshold release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedTransmit {
    /// Nothing.
    Off,
    /// One unsent packet each (RFC 3042).
    UnsentPacket,
    /// The next packet in line each (ns-2 `singledup_`).
    NextPacket,
}

/// How a loss shrinks the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Halving {
    /// To half of the packets in flight (RFC 5681).
    FlightSize,
    /// To half of the window (ns-2.35).
    Window,
    /// To half of the window in whole packets (ns-2 until January 2006).
    WholeWindow,
}

/// What ends the exponential back-off of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffCleared {
    /// A round-trip time measured on a segment sent once (RFC 6298, ns-2).
    BySample,
    /// Any acknowledgement of new data.
    ByNewAck,
}

/// What `flow` runs, with the scenario's settings.
pub(super) fn traffic(document: &Document, flow: &Flow, reader: &Reader, names: &Names) -> Result<Traffic, InputError> {
    let key = |field: &str| format!("flow.{}.{field}", flow.name);
    refuse_foreign_keys(flow, reader)?;
    let needed = |field: &str, quantity: &'_ Option<Quantity>| {
        quantity
            .clone()
            .ok_or_else(|| reader.error(&key(field), "is missing, expected it in a flow that sends at a given rate"))
    };
    Ok(match flow.protocol {
        Protocol::Tcp => {
            let mut config = document.tcp.config(reader, names)?;
            (config.payload_bytes, config.header_bytes) =
                sizes(document, flow, reader, names, (config.payload_bytes, config.header_bytes))?;
            config.validate().map_err(|error| reader.error("tcp", error.to_string()))?;
            Traffic::Tcp(config)
        }
        Protocol::Tfrc => {
            let mut config = document.tfrc.config(reader, names)?;
            (config.payload_bytes, config.header_bytes) =
                sizes(document, flow, reader, names, (config.payload_bytes, config.header_bytes))?;
            config.validate().map_err(|error| reader.error("tfrc", error.to_string()))?;
            let name = flow.lda.as_deref().unwrap_or(lda::DEFAULT);
            let lda = document.lda.spec(name, &key("lda"), reader)?;
            Traffic::Tfrc { config, lda }
        }
        Protocol::Cbr => Traffic::Cbr {
            rate_bps: reader.rate(&key("rate_bps"), &needed("rate_bps", &flow.rate_bps)?, names)?,
            packet_bytes: packet_bytes(document, flow, reader, names)?.unwrap_or(DEFAULT_PACKET_BYTES),
        },
        Protocol::OnOff => Traffic::OnOff {
            rate_bps: reader.rate(&key("rate_bps"), &needed("rate_bps", &flow.rate_bps)?, names)?,
            packet_bytes: packet_bytes(document, flow, reader, names)?.unwrap_or(DEFAULT_PACKET_BYTES),
            mean_on: reader.positive_seconds(&key("mean_on_s"), &needed("mean_on_s", &flow.mean_on_s)?, names)?,
            mean_off: reader.seconds(&key("mean_off_s"), &needed("mean_off_s", &flow.mean_off_s)?, names)?,
        },
    })
}

/// Packets of CBR and on-off flows where the scenario gives no size, bytes.
const DEFAULT_PACKET_BYTES: u32 = 1000;

/// A key that the flow's protocol does not read is an error, not a surprise.
fn refuse_foreign_keys(flow: &Flow, reader: &Reader) -> Result<(), InputError> {
    use Protocol::{Cbr, OnOff, Tcp, Tfrc};
    let keys: [(&str, bool, &[Protocol], &str); 5] = [
        ("lda", flow.lda.is_some(), &[Tfrc], "tfrc"),
        ("header_bytes", flow.header_bytes.is_some(), &[Tfrc, Tcp], "tfrc and tcp"),
        ("rate_bps", flow.rate_bps.is_some(), &[Cbr, OnOff], "cbr and on-off"),
        ("mean_on_s", flow.mean_on_s.is_some(), &[OnOff], "on-off"),
        ("mean_off_s", flow.mean_off_s.is_some(), &[OnOff], "on-off"),
    ];
    match keys.iter().find(|(_, given, protocols, _)| *given && !protocols.contains(&flow.protocol)) {
        None => Ok(()),
        Some((key, _, _, protocols)) => {
            let problem = format!("is for {protocols} flows only, expected no such key in this flow");
            Err(reader.error(&format!("flow.{}.{key}", flow.name), problem))
        }
    }
}

/// Size on the wire, if the flow or the scenario gives one.
fn packet_bytes(document: &Document, flow: &Flow, reader: &Reader, names: &Names) -> Result<Option<u32>, InputError> {
    size(flow, "packet_bytes", flow.packet_bytes.as_ref(), document.packet_bytes.as_ref(), 1, reader, names)
}

/// Payload and header bytes; `default` holds those of the protocol's mode.
fn sizes(
    document: &Document,
    flow: &Flow,
    reader: &Reader,
    names: &Names,
    default: (u32, u32),
) -> Result<(u32, u32), InputError> {
    let packet = packet_bytes(document, flow, reader, names)?;
    let header =
        size(flow, "header_bytes", flow.header_bytes.as_ref(), document.header_bytes.as_ref(), 0, reader, names)?;
    let header = header.unwrap_or(default.1);
    match packet {
        None => Ok((default.0, header)),
        Some(packet) if packet > header => Ok((packet - header, header)),
        Some(packet) => {
            let problem = format!("is {packet}, expected more than the {header} bytes of headers");
            Err(reader.error(&format!("flow.{}.packet_bytes", flow.name), problem))
        }
    }
}

fn size(
    flow: &Flow,
    field: &str,
    own: Option<&Quantity>,
    common: Option<&Quantity>,
    least: u32,
    reader: &Reader,
    names: &Names,
) -> Result<Option<u32>, InputError> {
    let (key, quantity) = match (own, common) {
        (Some(own), _) => (format!("flow.{}.{field}", flow.name), own),
        (None, Some(common)) => (field.to_owned(), common),
        (None, None) => return Ok(None),
    };
    reader.whole(&key, quantity, names, least, 65_535).map(Some)
}

impl TfrcSettings {
    fn config(&self, reader: &Reader, names: &Names) -> Result<tfrc::Config, InputError> {
        let mut config = match self.mode {
            TfrcMode::Rfc5348 => tfrc::Config::rfc5348(),
            TfrcMode::Ns2 => tfrc::Config::ns2(),
        };
        let overlay = Overlay { section: "tfrc", reader, names };
        overlay.whole("feedback_bytes", self.feedback_bytes.as_ref(), 1, 65_535, &mut config.feedback_bytes)?;
        Ok(config)
    }
}

impl TcpSettings {
    fn config(&self, reader: &Reader, names: &Names) -> Result<tcp::Config, InputError> {
        let mut config = match self.mode {
            TcpMode::Rfc => tcp::Config::rfc(),
            TcpMode::Ns2 => tcp::Config::ns2(),
            TcpMode::Ns2Classic => tcp::Config::ns2_classic(),
        };
        let overlay = Overlay { section: "tcp", reader, names };
        let windows = tcp::Config::LARGEST_WINDOW_PKTS;
        overlay.whole("ack_bytes", self.ack_bytes.as_ref(), 1, 65_535, &mut config.ack_bytes)?;
        overlay.whole("max_window_pkts", self.max_window_pkts.as_ref(), 1, windows, &mut config.max_window_pkts)?;
        let initial = &mut config.initial_window_pkts;
        overlay.whole("initial_window_pkts", self.initial_window_pkts.as_ref(), 1, windows, initial)?;
        overlay.whole("dup_ack_threshold", self.dup_ack_threshold.as_ref(), 1, 1000, &mut config.dup_ack_threshold)?;
        if let Some(bytes) = &self.syn_bytes {
            let bytes = reader.whole("tcp.syn_bytes", bytes, names, 0, 65_535)?;
            config.syn_bytes = (bytes > 0).then_some(bytes);
        }
        if let Some(packets) = &self.initial_ssthresh_pkts {
            config.initial_ssthresh_pkts =
                Some(reader.whole("tcp.initial_ssthresh_pkts", packets, names, 1, windows)?);
        }
        overlay.milliseconds("tick_ms", self.tick_ms.as_ref(), &mut config.tick)?;
        overlay.milliseconds("min_rto_ms", self.min_rto_ms.as_ref(), &mut config.min_rto)?;
        overlay.milliseconds("max_rto_ms", self.max_rto_ms.as_ref(), &mut config.max_rto)?;
        overlay.milliseconds("initial_rto_ms", self.initial_rto_ms.as_ref(), &mut config.initial_rto)?;
        if let Some(delay) = &self.delayed_ack_ms {
            let ms = reader.number("tcp.delayed_ack_ms", delay, names, Range::NotNegative(LONGEST_S * 1e3))?;
            config.delayed_ack = (ms > 0.0).then(|| Span::from_secs_f64_rounded(ms / 1e3));
        }
        if let Some(rule) = self.fast_retransmit {
            config.fast_retransmit = match rule {
                FastRetransmit::Always => tcp::FastRetransmit::Always,
                FastRetransmit::OncePerWindow => tcp::FastRetransmit::OncePerWindow,
            };
        }
        if let Some(rule) = self.limited_transmit {
            config.limited_transmit = match rule {
                LimitedTransmit::Off => tcp::LimitedTransmit::Off,
                LimitedTransmit::UnsentPacket => tcp::LimitedTransmit::UnsentPacket,
                LimitedTransmit::NextPacket => tcp::LimitedTransmit::NextPacket,
            };
        }
        if let Some(rule) = self.halving {
            config.halving = match rule {
                Halving::FlightSize => tcp::Halving::FlightSize,
                Halving::Window => tcp::Halving::Window,
                Halving::WholeWindow => tcp::Halving::WholeWindow,
            };
        }
        if let Some(rule) = self.backoff_cleared {
            config.backoff_cleared = match rule {
                BackoffCleared::BySample => tcp::BackoffCleared::BySample,
                BackoffCleared::ByNewAck => tcp::BackoffCleared::ByNewAck,
            };
        }
        let restarts = &mut config.fast_retransmit_restarts_timer;
        *restarts = self.fast_retransmit_restarts_timer.unwrap_or(*restarts);
        config.grow_on_recovery_exit = self.grow_on_recovery_exit.unwrap_or(config.grow_on_recovery_exit);
        Ok(config)
    }
}

/// Puts the settings of one section over a mode's own.
struct Overlay<'a> {
    section: &'static str,
    reader: &'a Reader<'a>,
    names: &'a Names,
}

impl Overlay<'_> {
    fn whole(
        &self,
        field: &str,
        quantity: Option<&Quantity>,
        least: u32,
        most: u32,
        target: &mut u32,
    ) -> Result<(), InputError> {
        if let Some(quantity) = quantity {
            *target = self.reader.whole(&format!("{}.{field}", self.section), quantity, self.names, least, most)?;
        }
        Ok(())
    }

    /// A time above zero.
    fn milliseconds(&self, field: &str, quantity: Option<&Quantity>, target: &mut Span) -> Result<(), InputError> {
        if let Some(quantity) = quantity {
            let key = format!("{}.{field}", self.section);
            let ms = self.reader.number(&key, quantity, self.names, Range::Positive(LONGEST_S * 1e3))?;
            *target = Span::from_secs_f64_rounded(ms / 1e3).max(Span::from_nanos(1));
        }
        Ok(())
    }
}
