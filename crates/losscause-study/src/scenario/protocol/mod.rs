//! What a flow runs, and the settings that all TFRC flows or all TCP flows of a scenario share.
//!
//! A setting that is not given has its mode's value, which `losscause-transport` defines.

use losscause::{AnyAlgorithm, Span};
use losscause_sim::{ApplicationSpec, Lengths, TcpLda, Traffic, Waits};
use losscause_transport::tcp::Tcp;
use losscause_transport::tfrc as tfrc_sender;

use super::expression::{Names, Quantity};
use super::format::{Application, Document, Flow, LdaAt, Periods, Protocol, Thinking};
use super::lda;
use super::reader::{LONGEST_S, Range, Reader};
use crate::{InputError, Limits};

pub mod tcp;
pub mod tfrc;

/// Keys of earlier versions of the format, each with its new place; one list per section.
pub(super) const MOVED: &[&[(&str, &str)]] = &[tcp::MOVED, tfrc::MOVED];

/// The settings of a scenario, evaluated. Their ranges are checked even if no flow uses them.
pub(super) struct Settings<'a> {
    document: &'a Document,
    tfrc: tfrc_sender::Config,
}

impl<'a> Settings<'a> {
    pub(super) fn of(
        document: &'a Document,
        reader: &Reader,
        names: &Names,
    ) -> Result<Self, InputError> {
        document.tcp.refuse_foreign_variant(None, "tcp.variant", reader)?;
        let variants = document.flow.iter().map(|flow| variant_of(flow, reader));
        let variants: Vec<Option<Tcp>> = variants.collect::<Result<_, _>>()?;
        document.tcp.refuse_unused(variants.into_iter(), reader)?;
        let tcp = document.tcp.config(None, reader, names)?;
        tcp.validate().map_err(|error| reader.error("tcp", error.to_string()))?;
        let tfrc = document.tfrc.config(reader, names)?;
        tfrc.validate().map_err(|error| reader.error("tfrc", error.to_string()))?;
        document.lda.validate(reader)?;
        Ok(Self { document, tfrc })
    }
}

/// What `flow` runs, with the scenario's settings.
pub(super) fn traffic(
    flow: &Flow,
    settings: &Settings,
    reader: &Reader,
    names: &Names,
) -> Result<Traffic, InputError> {
    let document = settings.document;
    let key = |field: &str| format!("flow.{}.{field}", flow.name);
    refuse_foreign_keys(flow, reader)?;
    let needed = |field: &str, quantity: &Option<Quantity>| {
        let problem = "is missing, expected it in a flow that sends at a given rate";
        quantity.clone().ok_or_else(|| reader.error(&key(field), problem))
    };
    Ok(match flow.protocol {
        Protocol::Tcp | Protocol::Quic => {
            let variant = variant_of(flow, reader)?;
            document.tcp.refuse_foreign_variant(variant, &key("variant"), reader)?;
            let key = key("additive_increase_pkts");
            let increase =
                flow.additive_increase_pkts.as_ref().map(|increase| (key.as_str(), increase));
            let mut config = document.tcp.config_of(variant, increase, reader, names)?;
            (config.payload_bytes, config.header_bytes) =
                sizes(document, flow, reader, names, (config.payload_bytes, config.header_bytes))?;
            config.limit_pkts = limit_pkts(flow, config.payload_bytes, reader, names)?;
            if config.limit_pkts.is_some() || flow.application.is_some() {
                document.tcp.open_transfer(&mut config);
            }
            Traffic::Tcp { config, lda: tcp_lda(flow, document, reader)? }
        }
        Protocol::Tfrc => {
            let mut config = settings.tfrc.clone();
            (config.payload_bytes, config.header_bytes) =
                sizes(document, flow, reader, names, (config.payload_bytes, config.header_bytes))?;
            let name = flow.lda.as_deref().unwrap_or(lda::DEFAULT);
            let lda = document.lda.at(losscause::End::Receiver, name, &key("lda"), reader)?;
            Traffic::Tfrc { config, lda }
        }
        Protocol::Cbr => Traffic::Cbr {
            rate_bps: reader.rate(&key("rate_bps"), &needed("rate_bps", &flow.rate_bps)?, names)?,
            packet_bytes: packet_bytes(document, flow, reader, names)?
                .unwrap_or(DEFAULT_PACKET_BYTES),
            lda: sink_lda(flow, document, reader)?,
        },
        Protocol::Poisson => Traffic::Poisson {
            rate_bps: reader.rate(&key("rate_bps"), &needed("rate_bps", &flow.rate_bps)?, names)?,
            packet_bytes: packet_bytes(document, flow, reader, names)?
                .unwrap_or(DEFAULT_PACKET_BYTES),
            lda: sink_lda(flow, document, reader)?,
        },
        Protocol::OnOff => Traffic::OnOff {
            rate_bps: reader.rate(&key("rate_bps"), &needed("rate_bps", &flow.rate_bps)?, names)?,
            packet_bytes: packet_bytes(document, flow, reader, names)?
                .unwrap_or(DEFAULT_PACKET_BYTES),
            mean_on: reader.positive_seconds(
                &key("mean_on_s"),
                &needed("mean_on_s", &flow.mean_on_s)?,
                names,
            )?,
            mean_off: reader.seconds(
                &key("mean_off_s"),
                &needed("mean_off_s", &flow.mean_off_s)?,
                names,
            )?,
            lengths: lengths(
                flow.periods.unwrap_or_default(),
                flow.shape.as_ref(),
                &key("shape"),
                reader,
                names,
            )?,
            lda: sink_lda(flow, document, reader)?,
        },
    })
}

/// The sender jitter of `flow`, which runs `traffic` over a path whose slowest link has this rate.
pub(super) fn send_jitter(
    flow: &Flow,
    traffic: &Traffic,
    slowest_bps: Option<u64>,
    settings: &Settings,
    reader: &Reader,
    names: &Names,
) -> Result<Span, InputError> {
    let document = settings.document;
    let of_flow = flow.send_jitter_us.as_ref();
    let key = of_flow.map_or_else(
        || "send_jitter_us".to_owned(),
        |_| format!("flow.{}.send_jitter_us", flow.name),
    );
    if let Some(jitter) = of_flow.or(document.send_jitter_us.as_ref()) {
        let us = reader.number(&key, jitter, names, Range::NotNegative(MOST_JITTER_US))?;
        return Ok(Span::from_secs_f64_rounded(us / 1e6));
    }
    let wire_bytes = match traffic {
        Traffic::Tcp { config, .. } if document.tcp.mode.is_for_users() => config.wire_bytes(),
        Traffic::Tfrc { config, .. } if document.tfrc.mode == tfrc::TfrcMode::Rfc5348 => {
            config.payload_bytes + config.header_bytes
        }
        _ => return Ok(Span::ZERO),
    };
    let packet_s = slowest_bps.map_or(0.0, |bps| f64::from(wire_bytes) * 8.0 / bps as f64);
    Ok(Span::from_secs_f64_rounded((JITTER_PKTS * packet_s).min(MOST_JITTER_US / 1e6)))
}

/// Largest sender jitter, microseconds.
const MOST_JITTER_US: f64 = 1e6;

/// Sender jitter in the modes for users, packet times of the slowest link: enough to break phase
/// effects (docs/chance.md).
const JITTER_PKTS: f64 = 0.5;

/// The TCP that the flow names.
fn variant_of(flow: &Flow, reader: &Reader) -> Result<Option<Tcp>, InputError> {
    let find = |name: &tcp::TcpVariant| name.find(&format!("flow.{}.variant", flow.name), reader);
    flow.variant.as_ref().map(find).transpose()
}

/// The algorithm at the receiver of a source without feedback.
fn sink_lda(
    flow: &Flow,
    document: &Document,
    reader: &Reader,
) -> Result<Option<AnyAlgorithm>, InputError> {
    let lda = |name: &str| {
        document.lda.at(losscause::End::Receiver, name, &format!("flow.{}.lda", flow.name), reader)
    };
    flow.lda.as_deref().map(lda).transpose()
}

/// Packets of a transfer of limited size.
fn limit_pkts(
    flow: &Flow,
    payload_bytes: u32,
    reader: &Reader,
    names: &Names,
) -> Result<Option<u64>, InputError> {
    let Some(bytes) = &flow.bytes else { return Ok(None) };
    let key = format!("flow.{}.bytes", flow.name);
    let bytes = reader.number(&key, bytes, names, Range::Positive(MOST_BYTES))?;
    Ok(Some((bytes / f64::from(payload_bytes)).ceil() as u64))
}

/// What hands data to the sender of `flow`, which sends `traffic`.
pub(super) fn application(
    flow: &Flow,
    traffic: &Traffic,
    reader: &Reader,
    names: &Names,
) -> Result<Option<ApplicationSpec>, InputError> {
    let key = |field: &str| format!("flow.{}.application.{field}", flow.name);
    let Some(application) = &flow.application else { return Ok(None) };
    if flow.bytes.is_some() {
        let key = format!("flow.{}.bytes", flow.name);
        return Err(reader.error(&key, "cannot be combined with application; remove it"));
    }
    let Traffic::Tcp { config, .. } = traffic else { return Ok(None) };
    let pkts = |bytes: f64| (bytes / f64::from(config.payload_bytes)).ceil() as u64;
    Ok(Some(match application {
        Application::RequestResponse { response_bytes, think_s, thinking } => {
            let range = Range::Positive(MOST_BYTES);
            let bytes = reader.number(&key("response_bytes"), response_bytes, names, range)?;
            let mean = reader.seconds(&key("think_s"), think_s, names)?;
            let lengths = match thinking {
                Thinking::Constant => None,
                Thinking::Exponential => Some(Lengths::Exponential),
            };
            ApplicationSpec { response_pkts: pkts(bytes), waits: Waits::Think { mean, lengths } }
        }
        Application::ChunkedVideo { chunk_s, bitrate_kbps, buffer_s } => {
            let chunk = reader.positive_seconds(&key("chunk_s"), chunk_s, names)?;
            let range = Range::Positive(Limits::RATE_BPS / 1e3);
            let kbps = reader.number(&key("bitrate_kbps"), bitrate_kbps, names, range)?;
            let buffer = reader.positive_seconds(&key("buffer_s"), buffer_s, names)?;
            let bytes = kbps * 125.0 * chunk.as_secs_f64();
            ApplicationSpec {
                response_pkts: pkts(bytes).max(1),
                waits: Waits::Play { chunk, buffer },
            }
        }
    }))
}

/// Largest transfer, bytes: exact as a floating-point number.
const MOST_BYTES: f64 = 1e15;

/// The end of a TCP flow that differentiates losses, and its algorithm.
fn tcp_lda(flow: &Flow, document: &Document, reader: &Reader) -> Result<TcpLda, InputError> {
    let key = |field: &str| format!("flow.{}.{field}", flow.name);
    let Some(name) = flow.lda.as_deref() else {
        let problem = "says which end runs an algorithm, expected it beside lda only";
        return if flow.lda_at.is_some() {
            Err(reader.error(&key("lda_at"), problem))
        } else {
            Ok(TcpLda::None)
        };
    };
    let at_receiver = |heeded| {
        let lda = document.lda.at(losscause::End::Receiver, name, &key("lda"), reader)?;
        Ok(TcpLda::Receiver { lda, heeded })
    };
    match flow.lda_at.unwrap_or_default() {
        LdaAt::Sender => {
            document.lda.at(losscause::End::Sender, name, &key("lda"), reader).map(TcpLda::Sender)
        }
        LdaAt::Receiver => at_receiver(true),
        LdaAt::Onlooker => at_receiver(false),
    }
}

/// A distribution of lengths of time. `key` is the key of `shape`.
pub(super) fn lengths(
    periods: Periods,
    shape: Option<&Quantity>,
    key: &str,
    reader: &Reader,
    names: &Names,
) -> Result<Lengths, InputError> {
    match (periods, shape) {
        (Periods::Exponential, None) => Ok(Lengths::Exponential),
        (Periods::Exponential, Some(_)) => {
            Err(reader.error(key, "only valid for the Pareto distribution; remove it"))
        }
        (Periods::Pareto, None) => Ok(Lengths::Pareto { shape: DEFAULT_SHAPE }),
        (Periods::Pareto, Some(shape)) => {
            Ok(Lengths::Pareto { shape: reader.number(key, shape, names, Range::Above(1.0, 1e3))? })
        }
    }
}

/// Shape of a Pareto distribution if the scenario gives none: ns-2's default, and the usual value
/// for file sizes.
const DEFAULT_SHAPE: f64 = 1.5;

/// Packet size of CBR, on-off and Poisson flows if the scenario gives none, bytes.
const DEFAULT_PACKET_BYTES: u32 = 1000;

/// Refuses keys that the flow's protocol does not read.
fn refuse_foreign_keys(flow: &Flow, reader: &Reader) -> Result<(), InputError> {
    use Protocol::{Cbr, OnOff, Poisson, Quic, Tcp, Tfrc};
    let keys: [(&str, bool, &[Protocol], &str); 11] = [
        ("variant", flow.variant.is_some(), &[Tcp, Quic], "tcp and quic"),
        ("additive_increase_pkts", flow.additive_increase_pkts.is_some(), &[Tcp], "tcp"),
        ("bytes", flow.bytes.is_some(), &[Tcp], "tcp"),
        ("application", flow.application.is_some(), &[Tcp], "tcp"),
        ("lda_at", flow.lda_at.is_some(), &[Tcp], "tcp"),
        ("header_bytes", flow.header_bytes.is_some(), &[Tfrc, Tcp], "tfrc and tcp"),
        ("rate_bps", flow.rate_bps.is_some(), &[Cbr, OnOff, Poisson], "cbr, on-off and poisson"),
        ("mean_on_s", flow.mean_on_s.is_some(), &[OnOff], "on-off"),
        ("mean_off_s", flow.mean_off_s.is_some(), &[OnOff], "on-off"),
        ("periods", flow.periods.is_some(), &[OnOff], "on-off"),
        ("shape", flow.shape.is_some(), &[OnOff], "on-off"),
    ];
    match keys.iter().find(|(_, given, protocols, _)| *given && !protocols.contains(&flow.protocol))
    {
        None => Ok(()),
        Some((key, _, _, protocols)) => {
            let problem = format!("only valid for {protocols} flows; remove it");
            Err(reader.error(&format!("flow.{}.{key}", flow.name), problem))
        }
    }
}

/// Size on the wire, if the flow or the scenario gives one.
fn packet_bytes(
    document: &Document,
    flow: &Flow,
    reader: &Reader,
    names: &Names,
) -> Result<Option<u32>, InputError> {
    size(
        flow,
        "packet_bytes",
        flow.packet_bytes.as_ref(),
        document.packet_bytes.as_ref(),
        1,
        reader,
        names,
    )
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
    let header = size(
        flow,
        "header_bytes",
        flow.header_bytes.as_ref(),
        document.header_bytes.as_ref(),
        0,
        reader,
        names,
    )?;
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

/// Replaces values of a mode by the settings of one section.
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
            *target = self.reader.whole(
                &format!("{}.{field}", self.section),
                quantity,
                self.names,
                least,
                most,
            )?;
        }
        Ok(())
    }

    /// A time of at least the shortest period.
    fn milliseconds(
        &self,
        field: &str,
        quantity: Option<&Quantity>,
        target: &mut Span,
    ) -> Result<(), InputError> {
        if let Some(quantity) = quantity {
            let key = format!("{}.{field}", self.section);
            let ms = self.reader.number(&key, quantity, self.names, Range::PERIOD_MS)?;
            *target = Span::from_secs_f64_rounded(ms / 1e3);
        }
        Ok(())
    }

    /// A time of at least the shortest period; none if the file says 0.
    fn milliseconds_or_off(
        &self,
        field: &str,
        quantity: &Quantity,
    ) -> Result<Option<Span>, InputError> {
        let key = format!("{}.{field}", self.section);
        let ms =
            self.reader.number(&key, quantity, self.names, Range::NotNegative(LONGEST_S * 1e3))?;
        let shortest = Limits::SHORTEST_PERIOD_MS;
        if ms > 0.0 && ms < shortest {
            return Err(self
                .reader
                .error(&key, format!("is {ms}, expected 0 or at least {shortest}")));
        }
        Ok((ms > 0.0).then(|| Span::from_secs_f64_rounded(ms / 1e3)))
    }

    /// Refuses a key that is given although another setting makes it meaningless.
    fn refuse_unless(
        &self,
        meaningful: bool,
        field: &str,
        given: bool,
        problem: &str,
    ) -> Result<(), InputError> {
        if given && !meaningful {
            return Err(self.reader.error(&format!("{}.{field}", self.section), problem));
        }
        Ok(())
    }
}

/// Replaces the mode's value by the one given, if there is one.
fn replace<T>(target: &mut T, value: Option<impl Into<T>>) {
    if let Some(value) = value {
        *target = value.into();
    }
}

/// Declares enums of the file format that mirror enums of `losscause-transport`, which does not
/// depend on serde.
macro_rules! mirrored {
    ($($(#[$meta:meta])* pub enum $name:ident => $target:path {
        $($(#[$variant_meta:meta])* $variant:ident $(as $written:literal)?,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$variant_meta])* $(#[serde(rename = $written)])? $variant,)+ }

        impl From<$name> for $target {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => <$target>::$variant,)+ }
            }
        }
    )+};
}
use mirrored;
