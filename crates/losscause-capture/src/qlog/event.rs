//! What an event says, in the words of every draft.
//!
//! Names of events and of packet types changed their case and their category between drafts,
//! numbers were once texts, and sizes moved from the header to `raw`. Fields are therefore looked
//! for where any draft has them.

use losscause::{Span, Time};
use serde_json::Value;

/// Farther off no log goes: 30 years, in nanoseconds.
const FARTHEST: f64 = 1e18;

/// How the events of a trace are written.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The columns of events that are arrays.
    fields: Vec<String>,
    nanos_per_unit: f64,
    /// Times count from the event before.
    delta: bool,
    /// The time of the first event, and the last one's.
    first: Option<f64>,
    last: f64,
}

/// An event with its time since the trace's first event.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) time: Time,
    /// Which connection, if the trace tells several apart.
    pub(super) group: Option<String>,
    pub(super) event: Event,
}

/// The events that matter.
#[derive(Debug)]
pub(super) enum Event {
    Sent(Packet),
    Received {
        packet: Packet,
        acks: Vec<Ack>,
    },
    /// The stack says that these packets have arrived.
    Acked(Ack),
    Lost {
        number: u64,
        /// 0 if the event does not say.
        bytes: u64,
        trigger: Trigger,
    },
    Metrics(Metrics),
    /// The addresses of this end and of the other one.
    Started([Option<String>; 2]),
}

/// A packet that was sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Whether it belongs to the application data space (RFC 9000, section 12.3) and has a number.
    pub(super) is_application: bool,
    pub(super) number: u64,
    pub(super) bytes: u64,
    /// Whether the other end must acknowledge it (RFC 9002, section 2). True if the log has no
    /// frames.
    pub(super) is_eliciting: bool,
}

/// An acknowledgement.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ack {
    /// First and last number, both included, in any order.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) delay: Option<Span>,
    /// Marked packets so far (ECN CE).
    pub(super) marked: u64,
}

/// What the stack says about its congestion controller; only what has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Metrics {
    /// The congestion window, bytes.
    pub(super) window_bytes: Option<f64>,
    pub(super) in_flight_bytes: Option<f64>,
    pub(super) latest_rtt: Option<Span>,
}

/// Why the stack declared a packet lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A packet or time threshold (RFC 9002, section 6.1), or not said.
    Threshold,
    /// The timer expired.
    Timeout,
}

impl Default for Layout {
    fn default() -> Self {
        let fields = ["relative_time", "category", "event", "data"].map(str::to_owned).to_vec();
        Self { fields, nanos_per_unit: 1e6, delta: false, first: None, last: 0.0 }
    }
}

impl Layout {
    /// What a trace says about its layout.
    pub(super) const KEYS: [&str; 3] = ["configuration", "common_fields", "event_fields"];

    pub(super) fn describe(&mut self, key: &str, value: &Value) {
        match key {
            "configuration" => match value["time_units"].as_str() {
                Some("us") => self.nanos_per_unit = 1e3,
                Some("ms") => self.nanos_per_unit = 1e6,
                _ => {}
            },
            "common_fields" => {
                if let Some(format) = value["time_format"].as_str() {
                    self.delta = matches!(format, "delta" | "relative_to_previous_event");
                }
            }
            "event_fields" => {
                let names = value.as_array().into_iter().flatten();
                self.fields =
                    names.map(|name| name.as_str().unwrap_or_default().to_lowercase()).collect();
                self.delta |= self.fields.iter().any(|name| name == "delta_time");
            }
            _ => {}
        }
    }

    /// Reads an event. None if it has no time or does not matter.
    pub(super) fn read(&mut self, value: Value) -> Option<Record> {
        let mut time = None;
        let mut name = None;
        let mut data = Value::Null;
        let mut group = None;
        let mut trigger = None;
        let mut field = |key: &str, value: Value| match key {
            "time" | "relative_time" | "delta_time" => time = real(&value),
            "name" | "event" | "event_type" | "type" => name = value.as_str().map(simple_name),
            "data" => data = value,
            "trigger" => trigger = Some(value),
            "group_id" | "group" | "odcid" => group = Some(value.to_string()),
            _ => {}
        };
        match value {
            Value::Array(values) => {
                self.fields.iter().zip(values).for_each(|(key, value)| field(key, value));
            }
            Value::Object(object) => object.into_iter().for_each(|(key, value)| field(&key, value)),
            _ => {}
        }
        // An event that does not matter still moves a time that counts from event to event.
        let time = self.since_first(time?);
        let event = self.event(&name?, &data, trigger.as_ref().and_then(Value::as_str))?;
        Some(Record { time, group, event })
    }

    fn since_first(&mut self, time: f64) -> Time {
        self.last = if self.delta { self.last + time } else { time };
        let first = *self.first.get_or_insert(self.last);
        let nanos = ((self.last - first) * self.nanos_per_unit).round().clamp(-FARTHEST, FARTHEST);
        Time::from_nanos(nanos as i64)
    }

    fn event(&self, name: &str, data: &Value, column: Option<&str>) -> Option<Event> {
        Some(match name {
            "packet_sent" => Event::Sent(packet(data)),
            "packet_received" => Event::Received { packet: packet(data), acks: self.acks(data) },
            "packets_acked" if is_application(data) => {
                let numbers = data["packet_numbers"].as_array()?.iter().filter_map(whole);
                Event::Acked(Ack {
                    ranges: numbers.map(|number| (number, number)).collect(),
                    ..Ack::default()
                })
            }
            "packet_lost"
                if is_application(data) && data["is_mtu_probe_packet"] != Value::Bool(true) =>
            {
                Event::Lost {
                    number: number_of(data)?,
                    bytes: bytes_of(data),
                    trigger: trigger(data, column),
                }
            }
            "metrics_updated" | "metric_update" | "recovery_metrics_updated" => {
                Event::Metrics(Metrics {
                    window_bytes: ["congestion_window", "cwnd"]
                        .iter()
                        .find_map(|key| real(&data[*key])),
                    in_flight_bytes: real(&data["bytes_in_flight"]),
                    latest_rtt: self.span(&data["latest_rtt"]).filter(|rtt| *rtt > Span::ZERO),
                })
            }
            "connection_started" | "connection_new" => Event::Started(ends(data)),
            _ => return None,
        })
    }

    /// A length of time, not negative.
    fn span(&self, value: &Value) -> Option<Span> {
        real(value)
            .map(|time| Span::from_nanos((time * self.nanos_per_unit).clamp(0.0, FARTHEST) as i64))
    }

    /// The ACK frames of a packet.
    fn acks(&self, data: &Value) -> Vec<Ack> {
        let frames = data["frames"].as_array().into_iter().flatten();
        let acks = frames
            .filter(|frame| frame_type(frame).is_some_and(|name| name.eq_ignore_ascii_case("ack")));
        acks.map(|frame| Ack {
            ranges: frame["acked_ranges"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(range)
                .collect(),
            delay: self.span(&frame["ack_delay"]),
            marked: whole(&frame["ce"]).unwrap_or(0),
        })
        .collect()
    }
}

/// A name without its category: `quic:packet_sent`, `transport:packet_sent` and `PACKET_SENT` are
/// the same.
fn simple_name(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_lowercase()
}

fn packet(data: &Value) -> Packet {
    let number = number_of(data);
    Packet {
        is_application: number.is_some() && is_application(data),
        number: number.unwrap_or(0),
        bytes: bytes_of(data),
        is_eliciting: data["frames"]
            .as_array()
            .is_none_or(|frames| frames.iter().any(is_eliciting)),
    }
}

/// A packet's size; 0 if it is not said.
fn bytes_of(data: &Value) -> u64 {
    let raw = &data["raw"];
    let header = &data["header"];
    let sizes = [
        &raw["length"],
        &header["packet_size"],
        &data["packet_size"],
        &raw["payload_length"],
        &header["length"],
    ];
    // No datagram is larger.
    sizes.into_iter().find_map(whole).unwrap_or(0).min(65_535)
}

/// A packet number; there are none above 2^62 - 1 (RFC 9000, section 12.3).
fn number_of(data: &Value) -> Option<u64> {
    let number = whole(&data["header"]["packet_number"]).or_else(|| whole(&data["packet_number"]));
    number.filter(|number| *number < 1 << 62)
}

/// Whether a packet is of the application data space. One whose type is not known is (quic-trace
/// logs none).
fn is_application(data: &Value) -> bool {
    let places = [
        &data["header"]["packet_type"],
        &data["packet_type"],
        &data["type"],
        &data["packet_number_space"],
    ];
    let name = places.into_iter().find_map(Value::as_str);
    const OTHERS: [&str; 5] =
        ["initial", "handshake", "retry", "version_negotiation", "stateless_reset"];
    name.is_none_or(|name| !OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other)))
}

fn frame_type(frame: &Value) -> Option<&str> {
    frame["frame_type"].as_str().or_else(|| frame["type"].as_str())
}

fn is_eliciting(frame: &Value) -> bool {
    const SILENT: [&str; 3] = ["ack", "padding", "connection_close"];
    frame_type(frame).is_none_or(|name| !SILENT.iter().any(|own| name.eq_ignore_ascii_case(own)))
}

/// `[first, last]` or `[only]`.
fn range(value: &Value) -> Option<(u64, u64)> {
    let ends = value.as_array()?;
    let first = whole(ends.first()?)?;
    let last = whole(ends.last()?)?;
    Some((first.min(last), first.max(last)))
}

/// Old drafts have a column for it.
fn trigger(data: &Value, column: Option<&str>) -> Trigger {
    let trigger = data["trigger"].as_str().or(column).unwrap_or_default();
    let is_timer =
        ["pto_expired", "pto", "timeout"].iter().any(|own| trigger.eq_ignore_ascii_case(own));
    if is_timer { Trigger::Timeout } else { Trigger::Threshold }
}

/// The ends of a connection, this one first.
fn ends(data: &Value) -> [Option<String>; 2] {
    let end = |flat: [&str; 2], nested: &str| {
        let nested = &data[nested];
        let pairs = [
            (&data[flat[0]], &data[flat[1]]),
            (&nested["ip_v4"], &nested["port_v4"]),
            (&nested["ip_v6"], &nested["port_v6"]),
        ];
        let (ip, port) =
            pairs.into_iter().find_map(|(ip, port)| Some((ip.as_str()?, whole(port)?)))?;
        Some(if ip.contains(':') {
            format!("[{}]:{port}", shown(ip))
        } else {
            format!("{}:{port}", shown(ip))
        })
    };
    [end(["src_ip", "src_port"], "local"), end(["dst_ip", "dst_port"], "remote")]
}

/// A text of the log as it may be shown: short, and nothing that moves a cursor.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// A whole number, or the text of one.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A number, or the text of one.
fn real(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .filter(|number: &f64| number.is_finite())
}
