//! A connection of the log: the flow that this end sends, and the one that it receives.

use losscause::Time;
use serde_json::Value;

use super::event::{Event, shown};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::flow::{FlowResult, Rules, Vantage};

/// Both directions of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// The addresses of this end and of the other one.
    ends: [Option<String>; 2],
}

/// What a trace calls its ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    title: Option<String>,
    name: Option<String>,
    role: Option<String>,
    /// Which connection it is of, if it is of one.
    connection: Option<String>,
}

impl Names {
    /// What a trace says about its ends.
    pub(super) const KEYS: [&str; 3] = ["title", "vantage_point", "common_fields"];

    pub(super) fn describe(&mut self, key: &str, value: &Value) {
        let text = |value: &Value| value.as_str().map(shown).filter(|text| !text.is_empty());
        match key {
            "title" => self.title = text(value),
            "vantage_point" => {
                self.name = text(&value["name"]);
                self.role = text(&value["type"]).map(|role| role.to_lowercase());
            }
            "common_fields" => {
                // The names of several drafts; the first is the connection's own.
                let keys = ["ODCID", "odcid", "original_connection_id", "group_id", "group"];
                self.connection = keys.iter().find_map(|key| text(&value[*key]));
            }
            _ => {}
        }
    }

    /// The log was taken between the ends.
    fn is_network(&self) -> bool {
        self.role.as_deref() == Some("network")
    }

    fn of_this_end(&self) -> String {
        let role = self.role.clone().filter(|role| role != "unknown");
        match (self.name.clone(), role) {
            (Some(name), Some(role)) => format!("{name} ({role})"),
            (name, role) => name
                .or(role)
                .or_else(|| self.title.clone())
                .unwrap_or_else(|| "this end".to_owned()),
        }
    }

    fn of_the_other_end(&self) -> String {
        let other = match self.role.as_deref() {
            Some("client") => "server",
            Some("server") => "client",
            _ => "other end",
        };
        other.to_owned()
    }
}

impl Connection {
    pub(super) fn new(rules: &Rules) -> Self {
        Self { sender: Sender::new(rules), receiver: Receiver::new(rules), ends: [None, None] }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Sent(packet) => self.sender.on_sent(now, packet),
            Event::Received { packet, acks } => {
                self.receiver.on_packet(now, packet);
                acks.iter().for_each(|ack| self.sender.on_ack(now, ack));
            }
            Event::Acked(ack) => self.sender.on_ack(now, &ack),
            Event::Lost { number, bytes, trigger } => {
                self.sender.on_lost(now, number, bytes, trigger);
            }
            Event::Metrics(metrics) => self.sender.on_metrics(now, metrics),
            Event::Started(ends) => {
                for (own, told) in self.ends.iter_mut().zip(ends) {
                    *own = own.take().or(told);
                }
            }
        }
    }

    /// Packets that it remembers.
    pub(super) fn size(&self) -> usize {
        self.sender.size()
    }

    /// The flows: what this end sent and what it received. The events of the connection have
    /// `group` in common.
    pub(super) fn finish(self, group: &str, names: &Names, rules: &Rules) -> Vec<FlowResult> {
        let [this, other] = self.ends;
        let this = this.unwrap_or_else(|| names.of_this_end());
        let other = other.unwrap_or_else(|| names.of_the_other_end());
        let group = shown(group.trim_matches('"'));
        let connection =
            Some(group).filter(|group| !group.is_empty()).or_else(|| names.connection.clone());
        let connection = connection.map(|name| name.to_lowercase());
        let sent = self.sender.finish([this.clone(), other.clone()], connection.clone(), rules);
        let received = self.receiver.finish([other, this], connection, rules);
        let mut flows: Vec<FlowResult> = sent.into_iter().chain(received).collect();
        if names.is_network() {
            flows.iter_mut().for_each(|flow| flow.vantage = Vantage::Middle);
        }
        flows
    }
}
