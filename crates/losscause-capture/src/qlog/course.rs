//! One way to know which packets were lost, with the verdicts on them.

use losscause::{Signal, Time};

use super::event::Trigger;
use crate::flow::{Evidence, Found, Losses, Passage, Proof, Rules, State};
use crate::judge::AtSender;

/// One way to know losses, and the algorithms that it asks.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) judge: AtSender,
    pub(super) losses: Losses,
    /// Packets among those waiting that are lost.
    pub(super) lost: u64,
}

/// A late acknowledgement finds its packet among so many of the last losses.
const LOOK_BACK: usize = 4_096;

impl Course {
    pub(super) fn new(rules: &Rules) -> Self {
        Self { judge: AtSender::new(rules), losses: Losses::default(), lost: 0 }
    }

    /// A packet is lost: its number, when it was sent, and its bytes.
    pub(super) fn lose(
        &mut self,
        now: Time,
        lost: (u64, Option<Time>, u64),
        flight: u64,
        trigger: Trigger,
    ) {
        let (start, sent, bytes) = lost;
        let (signal, evidence) = match trigger {
            Trigger::Threshold => (Signal::Gap, Evidence::FastRetransmit),
            Trigger::Timeout => (Signal::Timeout, Evidence::Timeout),
        };
        let opinions = self.judge.declare(now, Some(start), sent, flight, signal);
        let end = start + bytes;
        let state = State::Lost;
        let frame = None;
        let frame_again = None;
        let passage =
            Passage { flight_pkts: Some(flight as u32), ..Passage::at(sent.unwrap_or(now)) };
        self.losses.push(Found {
            time: now,
            start,
            end,
            frame,
            frame_again,
            evidence,
            passage,
            opinions,
            state,
        });
    }

    /// A packet that was declared lost is acknowledged: it was not.
    pub(super) fn excuse(&mut self, number: u64) {
        let same = |found: &&mut Found| found.start == number && found.state == State::Lost;
        if let Some(found) = self.losses.found.iter_mut().rev().take(LOOK_BACK).find(same) {
            found.state = State::Spurious(Proof::Timing);
        }
    }
}
