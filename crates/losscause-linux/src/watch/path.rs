//! What passes between two hosts, over all their connections: a policer's bucket serves them
//! together.

use losscause::diagnosis::{OneRate, PolicerTest};
use losscause::{Span, Time};

/// One direction between two hosts.
#[derive(Debug)]
pub(super) struct Path {
    begun: Time,
    /// Bytes that were sent, headers included.
    sent_bytes: u64,
    /// Bytes of those that were lost.
    lost_bytes: u64,
    /// From the first loss on.
    test: Option<Box<PolicerTest>>,
    one_rate: Option<OneRate>,
    is_changed: bool,
    /// Connections that use it.
    pub(super) connections: usize,
}

impl Path {
    pub(super) fn new(begun: Time) -> Self {
        Self {
            begun,
            sent_bytes: 0,
            lost_bytes: 0,
            test: None,
            one_rate: None,
            is_changed: false,
            connections: 0,
        }
    }

    /// Bytes are sent. Returns how many there are in all.
    pub(super) fn on_sent(&mut self, bytes: u64) -> u64 {
        self.sent_bytes += bytes;
        self.sent_bytes
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// A packet was lost that was sent at `at`, behind `sent_bytes` others.
    pub(super) fn on_loss(&mut self, at: Time, sent_bytes: u64, bytes: u64, rtt: Option<Span>) {
        let begun = self.begun;
        let test = self.test.get_or_insert_with(|| Box::new(PolicerTest::new(begun, bytes)));
        test.on_loss(at, sent_bytes.saturating_sub(self.lost_bytes), rtt);
        self.lost_bytes += bytes;
        self.is_changed = true;
    }

    /// The rate that most time between losses agrees on.
    pub(super) fn one_rate(&mut self) -> Option<OneRate> {
        if std::mem::take(&mut self.is_changed) {
            self.one_rate = self.test.as_ref().and_then(|test| test.one_rate());
        }
        self.one_rate
    }
}
