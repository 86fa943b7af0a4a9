//! Two ends of a connection and the link between them, in virtual time.
//!
//! The driver keeps time as ns-2 does, in floating-point seconds, with events of the same instant
//! in the order in which they were planned. Acknowledgements come back at the spacing of the
//! packets, so that one often arrives at the very instant at which a transmission ends and a place
//! in the queue becomes free; which comes first then depends on the last bit of the sums, and only
//! the same sums give the same drops.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use losscause::{Span, Time};
use losscause_transport::tcp::{Ack, Config, Receiver, Segment, Sender};

/// A link with a queue for the segments; acknowledgements are never lost.
pub(crate) struct Pipe<L> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) log: Log,
    link: Link,
    /// Asked for every packet that was transmitted, in order, with its index: whether it is lost.
    lose: L,
    transmitted: u64,
    now_s: f64,
    events: BinaryHeap<Reverse<(Seconds, u64, Event)>>,
    planned: u64,
    forward: Direction<Segment>,
    backward: Direction<Ack>,
    sender_deadline: Option<Time>,
    receiver_deadline: Option<Time>,
}

#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) rate_bps: f64,
    pub(crate) delay_s: f64,
    /// Segments that fit, the one under transmission included.
    pub(crate) queue_pkts: usize,
}

/// What happened, in order: seconds, and a packet number or a window in packets.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) sends: Vec<(f64, f64)>,
    pub(crate) drops: Vec<(f64, f64)>,
    pub(crate) cwnd_cuts: Vec<(f64, f64)>,
    pub(crate) acks: Vec<f64>,
}

struct Direction<T> {
    /// Packets that wait, with the one under transmission in front.
    queue: VecDeque<T>,
    propagating: VecDeque<T>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    SegmentSent,
    SegmentArrives,
    AckSent,
    AckArrives,
    SenderTimeout(Time),
    ReceiverTimeout(Time),
}

#[derive(Clone, Copy, PartialEq)]
struct Seconds(f64);

impl Eq for Seconds {}

impl PartialOrd for Seconds {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Seconds {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<T> Direction<T> {
    fn new() -> Self {
        Self { queue: VecDeque::new(), propagating: VecDeque::new() }
    }
}

impl<L: FnMut(u64) -> bool> Pipe<L> {
    pub(crate) fn new(config: &Config, link: Link, lose: L) -> Self {
        Self {
            sender: Sender::new(config).unwrap(),
            receiver: Receiver::new(config).unwrap(),
            log: Log::default(),
            link,
            lose,
            transmitted: 0,
            now_s: 0.0,
            events: BinaryHeap::new(),
            planned: 0,
            forward: Direction::new(),
            backward: Direction::new(),
            sender_deadline: None,
            receiver_deadline: None,
        }
    }

    /// Opens the connection and runs it until `end_s`, or until nothing is left to happen.
    pub(crate) fn run(&mut self, end_s: f64) {
        self.sender.start(Time::ZERO);
        self.drain();
        while let Some(Reverse((Seconds(at), _, event))) = self.events.pop() {
            if at >= end_s {
                break;
            }
            self.now_s = at;
            let cwnd = self.printed_cwnd();
            self.handle(event);
            self.drain();
            if self.printed_cwnd() < cwnd {
                self.log.cwnd_cuts.push((at, self.sender.cwnd()));
            }
        }
    }

    /// As ns-2 prints it: in thousandths.
    fn printed_cwnd(&self) -> f64 {
        (self.sender.cwnd() * 1e3).round() / 1e3
    }

    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from_secs_f64_rounded(self.now_s)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::SegmentSent => {
                self.forward.queue.pop_front();
                self.transmit_segment();
            }
            Event::SegmentArrives => {
                let segment = self.forward.propagating.pop_front().unwrap();
                self.transmitted += 1;
                if !(self.lose)(self.transmitted - 1) {
                    self.receiver.on_segment(self.now(), &segment, &mut ());
                }
            }
            Event::AckSent => {
                self.backward.queue.pop_front();
                self.transmit_ack();
            }
            Event::AckArrives => {
                let ack = self.backward.propagating.pop_front().unwrap();
                self.sender.on_ack(self.now(), &ack, &mut ());
            }
            Event::SenderTimeout(deadline) if self.sender_deadline == Some(deadline) => {
                self.sender.on_timeout(deadline.max(self.now()), &mut ());
            }
            Event::ReceiverTimeout(deadline) if self.receiver_deadline == Some(deadline) => {
                self.receiver.on_timeout(deadline.max(self.now()));
            }
            Event::SenderTimeout(_) | Event::ReceiverTimeout(_) => {}
        }
    }

    fn drain(&mut self) {
        while let Some(ack) = self.receiver.poll_transmit(self.now()) {
            self.log.acks.push(self.now_s);
            self.backward.queue.push_back(ack);
            if self.backward.queue.len() == 1 {
                self.transmit_ack();
            }
        }
        while let Some(segment) = self.sender.poll_transmit(self.now()) {
            self.log.sends.push((self.now_s, segment.seq as f64));
            if self.forward.queue.len() >= self.link.queue_pkts {
                self.log.drops.push((self.now_s, segment.seq as f64));
                continue;
            }
            self.forward.queue.push_back(segment);
            if self.forward.queue.len() == 1 {
                self.transmit_segment();
            }
        }
        if self.sender.poll_timeout() != self.sender_deadline {
            self.sender_deadline = self.sender.poll_timeout();
            if let Some(deadline) = self.sender_deadline {
                self.plan((deadline - self.now()).as_secs_f64(), Event::SenderTimeout(deadline));
            }
        }
        if self.receiver.poll_timeout() != self.receiver_deadline {
            self.receiver_deadline = self.receiver.poll_timeout();
            if let Some(deadline) = self.receiver_deadline {
                self.plan((deadline - self.now()).as_secs_f64(), Event::ReceiverTimeout(deadline));
            }
        }
    }

    fn transmit_segment(&mut self) {
        if let Some(&segment) = self.forward.queue.front() {
            let transmission_s = self.transmission_s(segment.wire_bytes);
            self.forward.propagating.push_back(segment);
            self.plan(transmission_s + self.link.delay_s, Event::SegmentArrives);
            self.plan(transmission_s, Event::SegmentSent);
        }
    }

    fn transmit_ack(&mut self) {
        if let Some(&ack) = self.backward.queue.front() {
            let transmission_s = self.transmission_s(ack.wire_bytes);
            self.backward.propagating.push_back(ack);
            self.plan(transmission_s + self.link.delay_s, Event::AckArrives);
            self.plan(transmission_s, Event::AckSent);
        }
    }

    fn transmission_s(&self, bytes: u32) -> f64 {
        8.0 * f64::from(bytes) / self.link.rate_bps
    }

    fn plan(&mut self, after_s: f64, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((Seconds(self.now_s + after_s), self.planned, event)));
    }
}
