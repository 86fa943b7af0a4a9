//! What this end received: gaps in packet numbers.
//!
//! A QUIC packet number is never sent twice, so a number that a later one reveals as missing is
//! lost, unless it arrives late. A sender may leave out numbers on purpose (RFC 9000, section
//! 21.4); nothing in the receiver's log tells.

use losscause::Time;
use losscause::arrivals::MAX_JUMP_PKTS;

use super::event::Packet;
use crate::flow::{
    Evidence, FlowCounts, FlowResult, Found, LoggedPackets, Losses, Protocol, Rules, State, Vantage,
};
use crate::judge::{AtReceiver, Departure, SenderClock};
use crate::over_time::Transfer;

/// The receiver's view of the packets of one connection.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// The number of the flow.
    number: u64,
    newest: Option<u64>,
    /// What algorithms see beyond the packet number: they begin anew behind a jump.
    offset: u64,
    judge: AtReceiver,
    losses: Losses,
    counts: FlowCounts,
    packets: u64,
    bytes: u64,
    any_data: bool,
    over_time: Option<Transfer>,
    /// When each packet came, if that is kept.
    kept: Option<Vec<(Time, u64)>>,
}

/// More missing packets are no loss, but a part of the log that is not there.
const MAX_GAP_PKTS: u64 = 4_096;
/// Losses that a late packet can still undo.
const LOOK_BACK: usize = 1_024;

impl Receiver {
    pub(super) fn new(rules: &Rules) -> Self {
        let number = rules.watch.number();
        // There is no timestamp for the clock to read.
        let mut judge = AtReceiver::new(rules, SenderClock::tcp());
        judge.observe_with(rules.watch.log(number, Vantage::Receiver));
        Self {
            number,
            judge,
            over_time: rules.budget.as_ref().map(Transfer::new),
            kept: rules.keeps_packets.then(Vec::new),
            ..Self::default()
        }
    }

    /// A packet arrived.
    pub(super) fn on_packet(&mut self, now: Time, packet: Packet) {
        self.packets += 1;
        self.bytes += packet.bytes;
        self.any_data |= packet.is_eliciting;
        let number = packet.number;
        self.kept.iter_mut().for_each(|kept| kept.push((now, number)));
        if let Some(over_time) = &mut self.over_time {
            over_time.take(now, number, packet.bytes);
        }
        let expected = match self.newest {
            Some(newest) if number <= newest => return self.on_old(number),
            Some(newest) => newest + 1,
            None => number,
        };
        self.newest = Some(number);
        let missing = number - expected;
        if missing > MAX_GAP_PKTS {
            self.offset += MAX_JUMP_PKTS + 1;
        }
        let opinions = self.judge.on_packet(self.offset + number, now, Departure::Unknown);
        if (1..=MAX_GAP_PKTS).contains(&missing) {
            let opinions = opinions.unwrap_or_else(|| self.judge.no_opinions());
            for start in expected..number {
                let found = Found::lost(now, [start; 2], Evidence::Gap, opinions.clone());
                self.losses.push(found);
            }
        }
    }

    fn on_old(&mut self, number: u64) {
        let late =
            self.losses.found.iter_mut().rev().take(LOOK_BACK).find(|found| found.start == number);
        match late.filter(|found| found.state == State::Lost) {
            Some(found) => {
                found.state = State::Reordered;
                self.counts.reordered += 1;
            }
            None => self.counts.duplicates += 1,
        }
    }

    /// What was found, if any packet carried more than acknowledgements.
    pub(super) fn finish(
        self,
        [src, dst]: [String; 2],
        connection: Option<String>,
        rules: &Rules,
    ) -> Option<FlowResult> {
        if !self.any_data {
            return None;
        }
        let mut result = FlowResult::new(self.number, src, dst, Protocol::Quic, Vantage::Receiver);
        (result.packets, result.bytes) = (self.packets, self.bytes);
        result.unmet = (0..rules.chosen.iter().count())
            .map(|index| self.judge.unmet_need(index, false))
            .collect();
        result.counts = FlowCounts { joined: self.judge.joined(), ..self.counts };
        result.delays = self.judge.delays().into();
        result.losses = self.losses;
        (result.at_receiver, result.over_time) = (Some(self.judge.into_trips()), self.over_time);
        result.logged = self.kept.map(|packets| LoggedPackets { connection, packets });
        Some(result)
    }
}
