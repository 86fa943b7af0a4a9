//! The traces of a log, streamed: each event is handed on as soon as it is whole.

use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;

use losscause::Time;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::error::Category;
use serde_json::{Map, Value};

use super::connection::{Connection, Names};
use super::event::{Event, Layout, Record};
use super::text::{Place, Text};
use crate::CaptureError;
use crate::analysis::Reading;
use crate::flow::Rules;
use crate::frames::Truncation;

/// Connections of a trace that are open at once, and the packets that all of them remember, at
/// most.
const MAX_OPEN: usize = 1_024;
const MAX_ENTRIES: usize = 1_000_000;

/// Reads a log into `reading`. Returns where and why it ended early, if it did.
///
/// # Errors
/// If the source is JSON, but no qlog.
pub(crate) fn read(
    source: impl Read,
    rules: &Rules,
    reading: &mut Reading<'_>,
) -> Result<Option<Truncation>, CaptureError> {
    let (text, place) = Text::new(source);
    let mut json = serde_json::Deserializer::from_reader(text);
    let mut log = Log::new(rules, reading, place.clone());
    let error = loop {
        if let Err(error) = Document(&mut log).deserialize(&mut json) {
            break Some(error);
        }
        place.on_whole();
        match json.end() {
            Ok(()) => break None,
            // Another value follows.
            Err(error) if error.is_syntax() => {}
            Err(error) => break Some(error),
        }
    };
    log.end_trace();
    let is_qlog = log.is_qlog && (log.any_trace || log.reading.packets() > 0);
    let (offset, problem) = match error {
        None if is_qlog => return Ok(None),
        None => {
            return Err(CaptureError::NotQlog {
                problem: "it is JSON without qlog's header or traces".to_owned(),
            });
        }
        Some(error) if is_qlog => (place.whole(), problem_of(&error)),
        Some(error) => {
            return Err(CaptureError::NotQlog {
                problem: format!("the JSON {}", problem_of(&error)),
            });
        }
    };
    Ok(Some(Truncation { offset, problem }))
}

/// Why the text ends, as the end of a sentence that begins with the file.
fn problem_of(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "ends inside an event".to_owned(),
        Category::Io => format!("cannot be read further ({error})"),
        Category::Syntax | Category::Data => format!("is damaged: {error}"),
    }
}

/// The log so far.
struct Log<'a, 'b> {
    rules: &'a Rules,
    reading: &'a mut Reading<'b>,
    place: Rc<Place>,
    /// The file says that it is a qlog.
    is_qlog: bool,
    any_trace: bool,
    layout: Layout,
    names: Names,
    /// By group: a trace may have several connections.
    connections: HashMap<String, Connection>,
    entries: usize,
}

impl<'a, 'b> Log<'a, 'b> {
    fn new(rules: &'a Rules, reading: &'a mut Reading<'b>, place: Rc<Place>) -> Self {
        Self {
            rules,
            reading,
            place,
            is_qlog: false,
            any_trace: false,
            layout: Layout::default(),
            names: Names::default(),
            connections: HashMap::new(),
            entries: 0,
        }
    }

    fn begin_trace(&mut self) {
        self.end_trace();
        self.any_trace = true;
        self.place.on_whole();
        (self.layout, self.names) = (Layout::default(), Names::default());
        self.reading.begin_trace();
    }

    /// A trace says something about itself.
    fn describe(&mut self, key: &str, value: &Value) {
        self.layout.describe(key, value);
        self.names.describe(key, value);
    }

    /// An object outside of traces: a header, or an event of a log that has one per record.
    fn on_object(
        &mut self,
        object: Map<String, Value>,
        has_traces: bool,
    ) -> Result<(), &'static str> {
        const HEADER: [&str; 3] = ["qlog_version", "qlog_format", "file_schema"];
        if HEADER.iter().any(|key| object.contains_key(*key)) {
            self.is_qlog = true;
            if !has_traces {
                self.begin_trace();
                object.iter().for_each(|(key, value)| self.describe(key, value));
                for (key, value) in
                    object.get("trace").and_then(Value::as_object).into_iter().flatten()
                {
                    self.describe(key, value);
                }
            }
            return Ok(());
        }
        if !self.is_qlog {
            return if has_traces { Ok(()) } else { Err("has no header of a qlog") };
        }
        self.on_event(Value::Object(object));
        Ok(())
    }

    fn on_event(&mut self, value: Value) {
        self.place.on_whole();
        let Some(Record { time, group, event }) = self.layout.read(value) else { return };
        let taken = match &event {
            Event::Sent(packet) | Event::Received { packet, .. } => {
                let inside = self.reading.on_packet_time(time);
                if !packet.is_application {
                    self.reading.on_other_packet();
                }
                inside && packet.is_application
            }
            _ => self.reading.on_event_time(time),
        };
        if taken {
            self.on_record(time, group.unwrap_or_default(), event);
        }
    }

    fn on_record(&mut self, time: Time, group: String, event: Event) {
        let too_many = self.connections.len() == MAX_OPEN && !self.connections.contains_key(&group);
        if too_many || self.entries > MAX_ENTRIES {
            self.close_all();
        }
        let rules = self.rules;
        let connection = self.connections.entry(group).or_insert_with(|| Connection::new(rules));
        let before = connection.size();
        connection.on_event(time, event);
        self.entries = self.entries + connection.size() - before;
    }

    fn end_trace(&mut self) {
        self.close_all();
    }

    fn close_all(&mut self) {
        self.entries = 0;
        let mut groups: Vec<_> = self.connections.drain().collect();
        groups.sort_by(|a, b| a.0.cmp(&b.0));
        for (group, connection) in groups {
            connection
                .finish(&group, &self.names, self.rules)
                .into_iter()
                .for_each(|result| self.reading.keep(result));
        }
    }
}

/// A value of the file: an object with traces, a header, or an event.
struct Document<'l, 'a, 'b>(&'l mut Log<'a, 'b>);
/// The value of `traces`.
struct Traces<'l, 'a, 'b>(&'l mut Log<'a, 'b>);
/// One of them.
struct Trace<'l, 'a, 'b>(&'l mut Log<'a, 'b>);
/// The events of a trace.
struct Events<'l, 'a, 'b>(&'l mut Log<'a, 'b>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of a qlog")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut object = Map::new();
        let mut has_traces = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "traces" {
                // The header stands in front of the traces, so that a cut file is known for what it
                // is.
                self.0.is_qlog |= object.contains_key("qlog_version");
                map.next_value_seed(Traces(self.0))?;
                has_traces = true;
            } else {
                object.insert(key, map.next_value()?);
            }
        }
        self.0.on_object(object, has_traces).map_err(A::Error::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Traces<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the traces of a qlog")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        while traces.next_element_seed(Trace(self.0))?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Trace<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.begin_trace();
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a trace of a qlog")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "events" => map.next_value_seed(Events(self.0))?,
                key if Layout::KEYS.contains(&key) || Names::KEYS.contains(&key) => {
                    self.0.describe(key, &map.next_value()?);
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        self.0.end_trace();
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Events<'_, '_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the events of a trace")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(value) = events.next_element()? {
            self.0.on_event(value);
        }
        Ok(())
    }
}
