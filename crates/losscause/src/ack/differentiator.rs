//! Combines a sender's algorithm with the tracker that feeds it, for peers that acknowledge packets
//! individually.

use core::ops::Range;

use super::memory::{Fixed, Memory};
use super::{AckTracker, AtSender, RecoveryTracker};
use crate::algorithm::{Algorithm, Observer, ask};
use crate::loss::{Loss, Signal};
use crate::observe::Numbers;
use crate::{Judgement, Span, Time};

/// An [`Algorithm`] behind an [`AckTracker`]. The caller reports what is sent, acknowledged and
/// lost; the algorithm judges every declared loss.
///
/// It is the counterpart of [`Differentiator`](crate::Differentiator) at the sender, and the form
/// in which a QUIC congestion controller uses an algorithm.
///
/// A recovery begins with a declared loss and ends when a packet sent after that loss is
/// acknowledged (RFC 9002, section 7.3.2).
#[derive(Clone, Copy, Debug)]
pub struct SenderDifferentiator<A, M = Fixed<1024>> {
    tracker: AckTracker<M>,
    algorithm: AtSender<A>,
    /// The last round-trip time, and when the ACK that gave it arrived.
    rtt: Option<(Time, Span)>,
    cwnd_pkts: Option<f64>,
    recoveries: RecoveryTracker,
    declared: Option<Loss>,
}

impl<A: Algorithm, M: Memory + Default> SenderDifferentiator<A, M> {
    /// Puts `algorithm` behind a fresh tracker.
    pub fn new(algorithm: A) -> Self {
        Self::with_memory(algorithm, M::default())
    }
}

impl<A: Algorithm, M: Memory> SenderDifferentiator<A, M> {
    /// Puts `algorithm` behind a fresh tracker that keeps its packets in `memory`.
    pub fn with_memory(algorithm: A, memory: M) -> Self {
        Self {
            tracker: AckTracker::with_memory(memory),
            algorithm: AtSender::new(algorithm),
            rtt: None,
            cwnd_pkts: None,
            recoveries: RecoveryTracker::default(),
            declared: None,
        }
    }

    /// Sets the congestion window, packets, which later observations and losses carry. Only some
    /// algorithms need it ([`Algorithm::needs`]).
    pub fn set_cwnd(&mut self, pkts: f64) {
        self.cwnd_pkts = Some(pkts);
    }

    /// As [`AckTracker::on_sent`].
    pub fn on_sent(&mut self, number: u64, at: Time) {
        self.tracker.on_sent(number, at);
    }

    /// As [`AckTracker::on_batch_sent`].
    pub fn on_batch_sent(&mut self, numbers: Range<u64>, at: Time) {
        self.tracker.on_batch_sent(numbers, at);
    }

    /// As [`AckTracker::on_acked`].
    pub fn on_acked(&mut self, number: u64) {
        self.tracker.on_acked(number);
    }

    /// As [`AckTracker::on_acked_sent_at`].
    pub fn on_acked_sent_at(&mut self, at: Time) {
        self.tracker.on_acked_sent_at(at);
    }

    /// Ends the ACK that arrived at `at` and passes it to the algorithm, before the eyes of
    /// `observer`. `largest` is the largest number that it acknowledges, if known.
    ///
    /// Returns the revised verdict if the ACK ends a recovery and the algorithm revises its
    /// verdict.
    pub fn end_of_ack(
        &mut self,
        at: Time,
        largest: Option<u64>,
        observer: &mut impl Observer,
    ) -> Option<Judgement> {
        let mut observation = self.tracker.end_of_ack(at, largest)?;
        if let Some(acked) = &mut observation.acked {
            acked.cwnd_pkts = self.cwnd_pkts;
        }
        if let Some(number) = self.tracker.take_spurious() {
            self.algorithm.take_back(Numbers::one(number));
            observer.on_taken_back(Numbers::one(number));
        }
        self.algorithm.observe(&observation);
        observer.on_observation(&observation, self.algorithm.scheme());
        if let Some(rtt) = observation.delay {
            self.rtt = Some((at, rtt));
        }
        if !self.recoveries.is_recovering() {
            return None;
        }
        let newest_sent_at = self.tracker.newest_arrival_sent_at()?;
        let ended = self.recoveries.on_ack(at, newest_sent_at)?;
        observer.on_recovered(&ended);
        self.algorithm.on_recovered(&ended)
    }

    /// As [`AckTracker::on_lost`].
    pub fn on_lost(&mut self, number: u64) {
        self.tracker.on_lost(number);
    }

    /// As [`AckTracker::on_lost_bytes`].
    pub fn on_lost_bytes(&mut self, newest_sent_at: Time, bytes: u64, packet_bytes: u64) {
        self.tracker.on_lost_bytes(newest_sent_at, bytes, packet_bytes);
    }

    /// The transport says that the lost packets with these numbers have arrived after all. The
    /// algorithm takes them back, before the eyes of `observer`. Returns how many there are.
    pub fn on_spurious(&mut self, numbers: Numbers, observer: &mut impl Observer) -> u32 {
        let pkts = self.tracker.on_spurious(numbers);
        if pkts > 0 {
            self.algorithm.take_back(numbers);
            observer.on_taken_back(numbers);
        }
        pkts
    }

    /// Declares everything lost since the last declaration, and judges it, before the eyes of
    /// `observer`. Marks, timeouts and persistent congestion are congestion without asking the
    /// algorithm.
    pub fn declare(&mut self, at: Time, signal: Signal, observer: &mut impl Observer) -> Judgement {
        let loss = self.take_in_loss(at, signal);
        self.judge(&loss, observer)
    }

    /// The first half of [`Self::declare`]: declares everything lost since the last declaration.
    pub fn take_in_loss(&mut self, at: Time, signal: Signal) -> Loss {
        let mut loss = self.tracker.declare(at, signal);
        loss.cwnd_pkts = self.cwnd_pkts;
        loss.is_further = self.recoveries.is_recovering();
        self.recoveries.on_loss(&loss);
        self.declared = Some(loss);
        self.algorithm.on_loss(&loss);
        loss
    }

    /// The second half: judges a loss that was declared.
    pub fn judge(&self, loss: &Loss, observer: &mut impl Observer) -> Judgement {
        if loss.signal.means_congestion() {
            return Judgement::signalled(loss.signal);
        }
        ask(&self.algorithm, loss, observer)
    }

    /// The last round-trip time that an ACK has given, and when that ACK arrived.
    pub fn latest_rtt(&self) -> Option<(Time, Span)> {
        self.rtt
    }

    /// The loss that was declared last: numbers, count, and when the newest of its packets was
    /// sent.
    pub fn declared(&self) -> Option<&Loss> {
        self.declared.as_ref()
    }

    /// Whether a recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.recoveries.is_recovering()
    }

    /// Packets neither acknowledged nor lost.
    pub fn in_flight_pkts(&self) -> u64 {
        self.tracker.in_flight_pkts()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        self.algorithm.algorithm()
    }
}
