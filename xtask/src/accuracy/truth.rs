//! What became of every packet, and which losses can show in a capture.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use losscause::{Span, Time};
use losscause_sim::truth::Cause;
use losscause_sim::{
    Event, EventKind, LinkEvent, Network, PacketInfo, PacketKind, Recorder, Traffic,
};
use losscause_study::capture_files::EPOCH;
use serde::Deserialize;

use super::Vantage;

/// The end of a capture in which losses need not show yet: their retransmission may come after it.
pub(crate) const TAIL: Span = Span::from_secs(2);

/// A data packet that an end sent.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    number: u64,
    sent_at: Time,
    arrived_at: Option<Time>,
    lost_at: Option<Time>,
}

/// The data packets of all flows, recorded during a run.
pub(super) struct Fates {
    names: Vec<String>,
    is_tcp: Vec<bool>,
    /// By flow, in the order of sending.
    flows: Vec<Vec<Transmission>>,
    places: HashMap<(u32, Time, u64), usize>,
}

/// A lost data packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// The number in its header.
    pub(crate) seq: u32,
    /// In seconds of the run.
    pub(crate) lost_s: f64,
    pub(crate) cause: Cause,
    /// The packet's retransmission was sent before the capture's tail.
    pub(crate) shows_at_sender: bool,
    /// A packet that was sent later, with a higher number, arrived before its retransmission.
    pub(crate) shows_at_receiver: bool,
}

/// The lost data packets of each flow, in order of time; by the address and port of the sender.
pub(crate) type Losses = BTreeMap<String, Vec<Loss>>;

impl Loss {
    /// Whether a capture at this vantage point shows the loss.
    pub(super) fn shows_at(&self, vantage: Vantage) -> bool {
        match vantage {
            Vantage::Sender => self.shows_at_sender,
            Vantage::Receiver => self.shows_at_receiver,
        }
    }
}

/// The columns of drops.csv that are read.
#[derive(Deserialize)]
struct Row {
    time_s: String,
    flow: String,
    src: String,
    packet: String,
    number: u64,
    seq: Option<u32>,
    bytes: u32,
    cause: String,
}

impl Fates {
    pub(super) fn of(network: &Network) -> Self {
        Self {
            names: network.flows.iter().map(|flow| flow.name.clone()).collect(),
            is_tcp: network
                .flows
                .iter()
                .map(|flow| matches!(flow.traffic, Traffic::Tcp { .. }))
                .collect(),
            flows: vec![Vec::new(); network.flows.len()],
            places: HashMap::new(),
        }
    }

    fn find(&mut self, flow: u32, packet: &PacketInfo) -> Option<&mut Transmission> {
        let place = *self.places.get(&(flow, packet.timing?.sent_at, packet.seq))?;
        self.flows[flow as usize].get_mut(place)
    }

    /// The losses that `drops`, the file drops.csv of a run until `end`, lists.
    pub(super) fn losses(&self, drops: &Path, end: Time) -> Result<Losses> {
        let mut losses = Losses::new();
        let mut showing: HashMap<usize, Showing> = HashMap::new();
        for row in csv::Reader::from_path(drops)?.deserialize() {
            let row: Row = row?;
            // A SYN has no data.
            let (Some(seq), 1..) = (row.seq, row.bytes) else { continue };
            if !["data", "retransmission"].contains(&row.packet.as_str()) {
                continue;
            }
            let lost_at =
                time(&row.time_s).with_context(|| format!("drops.csv: time_s: {}", row.time_s))?;
            let flow = self
                .names
                .iter()
                .position(|name| *name == row.flow)
                .context("drops.csv names another flow")?;
            let showing = showing
                .entry(flow)
                .or_insert_with(|| Showing::of(&self.flows[flow], self.is_tcp[flow]));
            let (shows_at_sender, shows_at_receiver) =
                showing.of_loss(row.number, lost_at, end - TAIL);
            losses.entry(row.src).or_default().push(Loss {
                seq,
                lost_s: lost_at.as_secs_f64(),
                cause: if row.cause == "congestion" { Cause::Congestion } else { Cause::Wireless },
                shows_at_sender,
                shows_at_receiver,
            });
        }
        Ok(losses)
    }
}

impl Recorder for Fates {
    fn record(&mut self, event: &Event) {
        let flow = event.flow.0;
        let at = event.at;
        let is_data = |packet: &PacketInfo| {
            matches!(packet.kind, PacketKind::Data | PacketKind::Retransmission)
        };
        match &event.kind {
            EventKind::Sent(packet) if is_data(packet) => {
                let transmissions = &mut self.flows[flow as usize];
                self.places.insert((flow, at, packet.seq), transmissions.len());
                let number = packet.seq;
                transmissions.push(Transmission {
                    number,
                    sent_at: at,
                    arrived_at: None,
                    lost_at: None,
                });
            }
            EventKind::Received(packet) if is_data(packet) => {
                if let Some(transmission) = self.find(flow, packet) {
                    transmission.arrived_at = Some(at);
                }
            }
            EventKind::Link {
                what: LinkEvent::QueueDrop | LinkEvent::Corrupted, packet, ..
            } if is_data(packet) => {
                if let Some(transmission) = self.find(flow, packet) {
                    transmission.lost_at = Some(at);
                }
            }
            _ => {}
        }
    }
}

/// What decides whether a loss of a flow shows.
struct Showing<'a> {
    transmissions: &'a [Transmission],
    begins_with_syn: bool,
    /// The transmissions of each number, in order.
    of_number: HashMap<u64, Vec<usize>>,
}

impl<'a> Showing<'a> {
    fn of(transmissions: &'a [Transmission], begins_with_syn: bool) -> Self {
        let mut of_number: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, transmission) in transmissions.iter().enumerate() {
            of_number.entry(transmission.number).or_default().push(place);
        }
        Self { transmissions, begins_with_syn, of_number }
    }

    /// Whether the packet of this number that was lost at `lost_at` shows at the sender and at the
    /// receiver before `until`.
    fn of_loss(&self, number: u64, lost_at: Time, until: Time) -> (bool, bool) {
        let places = self.of_number.get(&number).map_or(&[][..], Vec::as_slice);
        let is_lost = |&place: &usize| self.transmissions[place].lost_at == Some(lost_at);
        let Some(nth) = places.iter().position(is_lost) else { return (false, false) };
        let retransmission = places.get(nth + 1).map(|&place| self.transmissions[place].sent_at);
        let arrival = places.iter().filter_map(|&place| self.transmissions[place].arrived_at).min();
        // Links keep the order of a flow, so the first one to arrive was sent first. An arrival
        // with a lower number, such as another packet's retransmission, leaves no gap.
        let mut later =
            self.transmissions[places[nth] + 1..].iter().filter(|later| later.number > number);
        let revealed = later.find_map(|later| later.arrived_at);
        // A SYN tells with which number TCP begins; a receiver of RTP knows of nothing before its
        // first packet.
        let is_known = self.begins_with_syn
            || self.transmissions[..places[nth]].iter().any(|earlier| earlier.arrived_at.is_some());
        let at_receiver = is_known
            && nth == 0
            && revealed.is_some_and(|at| at < until && arrival.is_none_or(|own| at < own));
        (retransmission.is_some_and(|at| at < until), at_receiver)
    }
}

/// Seconds of the captures' clock with nine decimals.
fn time(text: &str) -> Option<Time> {
    let (seconds, nanos) = text.split_once('.')?;
    let nanos: i64 = seconds
        .parse::<i64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(nanos.parse().ok()?)?;
    Some(Time::from_nanos(nanos - EPOCH.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Number, when sent, and when it arrived, else when it was lost, milliseconds.
    fn sent(number: u64, sent: i64, arrived: Option<i64>, lost: Option<i64>) -> Transmission {
        Transmission {
            number,
            sent_at: at_ms(sent),
            arrived_at: arrived.map(at_ms),
            lost_at: lost.map(at_ms),
        }
    }

    #[test]
    fn a_receiver_sees_a_loss_if_a_later_packet_precedes_the_resend() {
        // 1 is revealed by 2; its lost retransmission and 3 are revealed by nothing before their
        // repair, 3 not even by the retransmission of 1 that is sent later.
        let transmissions = [
            sent(1, 0, None, Some(5)),
            sent(2, 1, Some(11), None),
            sent(1, 20, None, Some(25)),
            sent(3, 30, None, Some(55)),
            sent(1, 40, Some(50), None),
            sent(3, 90, Some(100), None),
        ];
        let showing = Showing::of(&transmissions, true);
        let of = |number, lost| showing.of_loss(number, at_ms(lost), at_ms(1000));
        assert_eq!(of(1, 5), (true, true));
        assert_eq!(of(1, 25), (true, false), "a receiver cannot tell how often a packet was lost");
        assert_eq!(of(3, 55), (true, false));
        assert!(
            !showing.of_loss(3, at_ms(55), at_ms(80)).0,
            "its retransmission is behind the end"
        );
        let media = Showing::of(&transmissions, false);
        assert!(!media.of_loss(1, at_ms(5), at_ms(1000)).1, "nothing of the stream came before");
    }

    #[test]
    fn times_of_drops_are_exact() {
        assert_eq!(time("1000000001.000000020"), Some(Time::from_nanos(1_000_000_020)));
        assert_eq!(time("soon"), None);
    }
}
