//! The logs of both ends of QUIC connections: which flow of one is which of the other.

use super::flows::{Join, Name};
use super::log::{Log, Logged};
use super::matching::{self, Matched};
use crate::analysis::{Analysis, Flow};
use crate::flow::{LoggedPackets, Vantage};
use crate::packet::Protocol;

/// Adds the flows of connections that both logs have: those whose logs call them the same or, if
/// one of the two logs gives no name, the only one of each.
pub(super) fn add<'a>(join: &mut Join<'a>, sender: &'a Analysis, receiver: &'a Analysis) {
    for place in [Vantage::Sender, Vantage::Receiver] {
        let other_place =
            if place == Vantage::Sender { Vantage::Receiver } else { Vantage::Sender };
        let own = logged(sender, place);
        let others = logged(receiver, other_place);
        for &(flow, log) in &own {
            let are_single = own.len() == 1 && others.len() == 1;
            let is_same =
                |other: &&(&Flow, &LoggedPackets)| match (&log.connection, &other.1.connection) {
                    (Some(own), Some(other)) => own == other,
                    _ => are_single,
                };
            let mut same = others.iter().filter(is_same);
            let (Some(&(other, other_log)), None) = (same.next(), same.next()) else { continue };
            let [sent, arrived] = [log, other_log].map(as_log);
            let Some(matched) = matched(&sent, &arrived) else { continue };
            let name = Name {
                src: flow.src.clone(),
                dst: flow.dst.clone(),
                protocol: Protocol::Quic,
                stream: None,
            };
            join.add_named(&name, [vec![flow], vec![other]], matched, || {
                self::matched(&arrived, &sent)
            });
        }
    }
}

/// The flows of a log that has their packets.
fn logged(analysis: &Analysis, place: Vantage) -> Vec<(&Flow, &LoggedPackets)> {
    let of_place = analysis.flows.iter().filter(|flow| flow.vantage == place);
    of_place.filter_map(|flow| Some((flow, flow.logged.as_ref()?))).collect()
}

fn matched(sent: &Log, arrived: &Log) -> Option<Matched> {
    matching::matched(sent, arrived, Protocol::Quic.wrap(), 1)
}

fn as_log(logged: &LoggedPackets) -> Log {
    let packets = logged.packets.iter().map(|&(time, start)| Logged {
        time,
        start,
        end: start + 1,
        stamp: None,
        frame: 0,
        ip_id: 0,
        is_again: false,
    });
    Log::of(packets.collect())
}
