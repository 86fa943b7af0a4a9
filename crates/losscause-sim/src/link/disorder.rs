//! Packets that arrive late or twice at the far end of a link.
//!
//! A link delivers in order (`in_flight.rs`). What is late waits behind that, at the far end: it
//! has used the transmitter and met the channel, and it no longer waits in the queue.
//!
//! - *Reordering*: a packet is late by a time, or until a number of others has passed. netem sends
//!   the chosen packets at once and delays the others (`sch_netem.c`, `netem_enqueue`). Here the
//!   chosen packets are late, so the path's delay stays that of the other packets.
//! - *Duplication*: a copy follows its original. The transmitter does not send it, so it takes no
//!   time on this link. netem's copy passes the whole queue again.
//! - *Jitter* that reorders: every packet is late by a draw.
//!
//! Parameters: [`ReorderingSpec`], [`DuplicationSpec`], [`JitterSpec`]; no defaults. One draw per
//! packet and process, in the order of arrival. A share of 0 draws nothing.
//!
//! Deviations: of netem as above; the choices of packets are independent (netem can correlate them
//! and take every n-th).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use losscause::{Span, Time};

use super::hooks::LinkHooks;
use super::in_flight::Transmission;
use crate::delay::Jitter;
use crate::queue::Occupancy;
use crate::rng::Stream;
use crate::schedule::NEVER;
use crate::topology::{DuplicationSpec, Lateness, LinkSpec, ReorderingSpec, VariationSpec};

/// What is late at a link's far end, and the rules that make it so.
#[derive(Clone, Debug)]
pub(super) struct Disorder {
    reordering: Option<(ReorderingSpec, Stream)>,
    duplication: Option<(DuplicationSpec, Stream)>,
    jitter: Option<Jitter>,
    /// Late by a time. The earliest is on top.
    timed: BinaryHeap<Late>,
    /// Late until others have passed, in the order of both limits: all wait for the same distance.
    overtaken: VecDeque<Overtaken>,
    /// Packets so far that did not wait to be overtaken.
    passed: u64,
    /// Packets so far that were put into `timed`.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Late {
    at: Time,
    /// Packets of the same instant keep their order.
    number: u64,
    transmission: Transmission,
    what: What,
}

/// What a packet is that is late by a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Late,
    /// The packets that it waited for have passed.
    Overtaken,
    Copy,
}

#[derive(Clone, Copy, Debug)]
struct Overtaken {
    /// The value of [`Disorder::passed`] that it waits for.
    passed: u64,
    at_most: Time,
    transmission: Transmission,
}

impl Disorder {
    /// None if every packet arrives once and in order.
    pub(super) fn new(spec: &LinkSpec, stream: impl Fn(&str) -> Stream) -> Option<Self> {
        if !spec.reorders() && !spec.duplicates() {
            return None;
        }
        let reordering = spec.reordering.filter(|reordering| reordering.share > 0.0);
        let duplication = spec.duplication.filter(|_| spec.duplicates());
        let jitter = match spec.variation {
            VariationSpec::Jitter(jitter) if jitter.reorders => {
                Some(Jitter::new(jitter, stream("delay")))
            }
            _ => None,
        };
        Some(Self {
            reordering: reordering.map(|reordering| (reordering, stream("reordering"))),
            duplication: duplication.map(|duplication| (duplication, stream("duplication"))),
            jitter,
            timed: BinaryHeap::new(),
            overtaken: VecDeque::new(),
            passed: 0,
            count: 0,
        })
    }

    /// A packet is at the far end, in order, while `waiting` waits at the link. Returns it unless
    /// it is late.
    pub(super) fn arrive<H: LinkHooks>(
        &mut self,
        now: Time,
        transmission: Transmission,
        waiting: Occupancy,
        hooks: &mut H,
    ) -> Option<Transmission> {
        // What the channel corrupted ends here.
        if transmission.hit && !hooks.is_immune(transmission.packet) {
            return Some(transmission);
        }
        let mut late = self.jitter.as_mut().map_or(Span::ZERO, Jitter::draw);
        if let Some((ReorderingSpec { share, by }, stream)) = &mut self.reordering
            && stream.uniform() < *share
        {
            match *by {
                Lateness::Time { most, drawn: false } => late += most,
                // One nanosecond more, because a draw leaves out the end.
                Lateness::Time { most, drawn: true } => {
                    late += stream.span_below(most + Span::from_nanos(1));
                }
                Lateness::Packets { packets, most } => {
                    let passed = self.passed + u64::from(packets);
                    let at_most = now + most;
                    self.overtaken.push_back(Overtaken { passed, at_most, transmission });
                    return None;
                }
            }
        }
        if late > Span::ZERO {
            self.hold(now + late, transmission, What::Late);
            return None;
        }
        self.pass(now);
        self.deliver(now, transmission, waiting, hooks);
        Some(transmission)
    }

    /// When the next late packet arrives, or never.
    pub(super) fn next(&self) -> Time {
        let timed = self.timed.peek().map_or(NEVER, |late| late.at);
        self.overtaken.front().map_or(timed, |first| first.at_most.min(timed))
    }

    /// Takes out the next late packet that arrives up to and including `now`.
    pub(super) fn take<H: LinkHooks>(
        &mut self,
        now: Time,
        waiting: Occupancy,
        hooks: &mut H,
    ) -> Option<Transmission> {
        if self.next() > now {
            return None;
        }
        let timed = self.timed.peek().map_or(NEVER, |late| late.at);
        if let Some(&Overtaken { at_most, transmission, .. }) = self.overtaken.front()
            && at_most < timed
        {
            self.overtaken.pop_front();
            self.deliver(now, transmission, waiting, hooks);
            return Some(transmission);
        }
        let Late { transmission, what, .. } = self.timed.pop()?;
        match what {
            What::Copy => hooks.copy_arrives(transmission.packet),
            What::Overtaken => self.deliver(now, transmission, waiting, hooks),
            What::Late => {
                self.pass(now);
                self.deliver(now, transmission, waiting, hooks);
            }
        }
        Some(transmission)
    }

    /// A packet passes those that wait to be overtaken.
    fn pass(&mut self, now: Time) {
        self.passed += 1;
        while let Some(&Overtaken { passed, transmission, .. }) = self.overtaken.front()
            && passed <= self.passed
        {
            self.overtaken.pop_front();
            self.hold(now, transmission, What::Overtaken);
        }
    }

    /// A packet leaves the link: makes its copy if it gets one.
    fn deliver<H: LinkHooks>(
        &mut self,
        now: Time,
        transmission: Transmission,
        waiting: Occupancy,
        hooks: &mut H,
    ) {
        if let Some((DuplicationSpec { share, delay }, stream)) = &mut self.duplication
            && stream.uniform() < *share
        {
            let at = now + *delay;
            let packet = hooks.copy(now, transmission.packet, waiting);
            self.hold(at, Transmission { packet, hit: false, ..transmission }, What::Copy);
        }
    }

    fn hold(&mut self, at: Time, transmission: Transmission, what: What) {
        self.count += 1;
        self.timed.push(Late { at, number: self.count, transmission, what });
    }

    /// All late packets, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Transmission> {
        let overtaken = self.overtaken.iter().map(|overtaken| &overtaken.transmission);
        self.timed.iter().map(|late| &late.transmission).chain(overtaken)
    }
}

/// The earliest is the greatest, as [`BinaryHeap`] wants it.
impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Late {}
