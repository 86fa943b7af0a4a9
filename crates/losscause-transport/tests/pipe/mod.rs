//! A TFRC flow through one bottleneck with a fixed delay each way and losses given by sequence
//! number: just enough of a network to run sender and receiver together.

use std::collections::VecDeque;

use losscause::{Algorithm, Span, Time};
use losscause_transport::tfrc::{Backlog, Config, Data, Feedback, Receiver, Sender};

pub(crate) struct Pipe<L, F> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver<L>,
    /// Bits per second.
    rate_bps: i64,
    delay: Span,
    /// Packets that fit into the queue, the one in transmission not counted.
    queue_pkts: usize,
    /// Whether this packet is corrupted on the wireless link, after its transmission.
    lost: F,
    now: Time,
    /// Ends of the transmissions under way, earliest first.
    departures: VecDeque<Time>,
    forward: VecDeque<(Time, Data)>,
    back: VecDeque<(Time, Feedback)>,
    pub(crate) queue_drops: u64,
    /// The reverse link carries 40-byte packets of another flow, evenly spaced, at 73 % of its
    /// rate.
    pub(crate) busy_back: bool,
    /// When the next of them comes, and when the link back is free again.
    cross_at: Time,
    back_free: Time,
    /// Sending rate and loss event rate after every report, with its arrival.
    pub(crate) history: Vec<(Time, f64, f64)>,
    /// Every packet: when it was sent, and its number.
    pub(crate) sent: Vec<(Time, u64)>,
}

impl<L: Algorithm, F: FnMut(u64) -> bool> Pipe<L, F> {
    pub(crate) fn new(
        config: &Config,
        rate_bps: i64,
        delay: Span,
        queue_pkts: usize,
        lda: L,
        lost: F,
    ) -> Self {
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config, lda),
            rate_bps,
            delay,
            queue_pkts,
            lost,
            now: Time::ZERO,
            departures: VecDeque::new(),
            forward: VecDeque::new(),
            back: VecDeque::new(),
            queue_drops: 0,
            busy_back: false,
            cross_at: Time::from_nanos(123_000),
            back_free: Time::ZERO,
            history: Vec::new(),
            sent: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn start(&mut self) {
        self.sender.start(self.now);
        self.transmit();
    }

    pub(crate) fn set_backlog(&mut self, backlog: Backlog) {
        self.sender.set_backlog(self.now, backlog);
        self.transmit();
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        while let Some(next) = self.next_event().filter(|at| *at <= end) {
            self.now = next;
            if let Some((_, data)) = pop_front_if(&mut self.forward, |(at, _)| *at == next) {
                self.receiver.on_data(next, &data, &mut ());
            } else if let Some((_, feedback)) = pop_front_if(&mut self.back, |(at, _)| *at == next)
            {
                self.sender.on_feedback(next, &feedback);
                self.history.push((next, self.sender.rate(), feedback.loss_event_rate));
            } else {
                if self.receiver.poll_timeout() == Some(next) {
                    self.receiver.on_timeout(next);
                }
                if self.sender.poll_timeout() == Some(next) {
                    self.sender.on_timeout(next);
                }
            }
            self.transmit();
        }
        self.now = end;
    }

    fn next_event(&self) -> Option<Time> {
        [
            self.forward.front().map(|(at, _)| *at),
            self.back.front().map(|(at, _)| *at),
            self.sender.poll_timeout(),
            self.receiver.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn transmit(&mut self) {
        while let Some(data) = self.sender.poll_transmit(self.now) {
            self.sent.push((self.now, data.seq));
            while pop_front_if(&mut self.departures, |at| *at <= self.now).is_some() {}
            if self.departures.len() > self.queue_pkts {
                self.queue_drops += 1;
                continue;
            }
            let start = self.departures.back().copied().unwrap_or(self.now);
            let end = start + self.serialise(data.wire_bytes);
            self.departures.push_back(end);
            if !(self.lost)(data.seq) {
                self.forward.push_back((end + self.delay, data));
            }
        }
        while let Some(feedback) = self.receiver.poll_transmit(self.now) {
            while self.busy_back && self.cross_at <= self.now {
                self.back_free = self.back_free.max(self.cross_at) + self.serialise(40);
                self.cross_at += Span::from_nanos(438_400_000_000 / self.rate_bps);
            }
            self.back_free = self.back_free.max(self.now) + self.serialise(feedback.wire_bytes);
            self.back.push_back((self.back_free + self.delay, feedback));
        }
    }

    fn serialise(&self, bytes: u32) -> Span {
        Span::from_nanos(i64::from(bytes) * 8_000_000_000 / self.rate_bps)
    }
}

/// `VecDeque::pop_front_if`, which Rust has from 1.93 on.
fn pop_front_if<T>(queue: &mut VecDeque<T>, due: impl FnOnce(&T) -> bool) -> Option<T> {
    if due(queue.front()?) { queue.pop_front() } else { None }
}
