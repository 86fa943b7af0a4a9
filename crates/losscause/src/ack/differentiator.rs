//! Combines a sender's algorithm with the tracker that feeds it, for peers that acknowledge packets individually.

use core::ops::Range;

use super::memory::{Fixed, Memory};
use super::{AckSample, AckTracker, DeclaredLoss, RecoveryTracker, SenderLda, Signal};
use crate::{Judgement, Span, Time};

/// A [`SenderLda`] behind an [`AckTracker`]. The caller reports what is sent, acknowledged and lost; the algorithm
/// judges every declared loss.
///
/// It is the counterpart of [`Differentiator`](crate::Differentiator) at the sender, and the form in which a QUIC
/// congestion controller uses an algorithm.
///
/// A recovery begins with a declared loss and ends when a packet sent after that loss is acknowledged (RFC 9002,
/// section 7.3.2).
#[derive(Clone, Copy, Debug)]
pub struct SenderDifferentiator<L, M = Fixed<1024>> {
    tracker: AckTracker<M>,
    lda: L,
    /// The last round-trip time, and when the ACK that gave it arrived.
    rtt: Option<(Time, Span)>,
    cwnd_pkts: Option<f64>,
    recoveries: RecoveryTracker,
    declared: Option<DeclaredLoss>,
}

impl<L: SenderLda, M: Memory + Default> SenderDifferentiator<L, M> {
    /// Puts `lda` behind a fresh tracker.
    pub fn new(lda: L) -> Self {
        Self::with_memory(lda, M::default())
    }
}

impl<L: SenderLda, M: Memory> SenderDifferentiator<L, M> {
    /// Puts `lda` behind a fresh tracker that keeps its packets in `memory`.
    pub fn with_memory(lda: L, memory: M) -> Self {
        Self {
            tracker: AckTracker::with_memory(memory),
            lda,
            rtt: None,
            cwnd_pkts: None,
            recoveries: RecoveryTracker::default(),
            declared: None,
        }
    }

    /// Sets the congestion window, packets, which later samples and losses carry. Only some algorithms need it
    /// ([`SenderLda::needs`]).
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

    /// Ends the ACK that arrived at `at` and passes it to the algorithm. `largest` is the largest number that it
    /// acknowledges, if known.
    ///
    /// Returns the revised verdict if the ACK ends a recovery and the algorithm revises its verdict.
    pub fn end_of_ack(&mut self, at: Time, largest: Option<u64>) -> Option<Judgement> {
        let sample = self.tracker.end_of_ack(at, largest)?;
        let sample = AckSample { cwnd_pkts: self.cwnd_pkts, ..sample };
        self.lda.on_ack(&sample);
        if let Some(rtt) = sample.rtt {
            self.rtt = Some((at, rtt));
        }
        if !self.recoveries.is_recovering() {
            return None;
        }
        let newest_sent_at = self.tracker.newest_arrival_sent_at()?;
        let ended = self.recoveries.on_ack(at, newest_sent_at)?;
        self.lda.on_recovery_end(&ended)
    }

    /// As [`AckTracker::on_lost`].
    pub fn on_lost(&mut self, number: u64) {
        self.tracker.on_lost(number);
    }

    /// As [`AckTracker::on_lost_bytes`].
    pub fn on_lost_bytes(&mut self, newest_sent_at: Time, bytes: u64, packet_bytes: u64) {
        self.tracker.on_lost_bytes(newest_sent_at, bytes, packet_bytes);
    }

    /// Declares everything lost since the last declaration, and judges it. Marks, timeouts and persistent congestion
    /// are congestion without asking the algorithm.
    pub fn declare(&mut self, at: Time, signal: Signal) -> Judgement {
        let loss = self.take_in_loss(at, signal);
        self.judge(&loss)
    }

    /// The first half of [`Self::declare`]: declares everything lost since the last declaration.
    pub fn take_in_loss(&mut self, at: Time, signal: Signal) -> DeclaredLoss {
        let mut loss = self.tracker.declare(at, signal);
        loss.cwnd_pkts = self.cwnd_pkts;
        self.recoveries.on_loss(&loss);
        self.declared = Some(loss);
        self.lda.on_loss(&loss);
        loss
    }

    /// The second half: judges a loss that was declared.
    pub fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        let signal = loss.signal;
        if signal.means_congestion() {
            return Judgement::signalled(signal);
        }
        self.lda.judge(loss)
    }

    /// The last round-trip time that an ACK has given, and when that ACK arrived.
    pub fn latest_rtt(&self) -> Option<(Time, Span)> {
        self.rtt
    }

    /// The loss that was declared last: numbers, count, and when the newest of its packets was sent.
    pub fn declared(&self) -> Option<&DeclaredLoss> {
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
    pub fn lda(&self) -> &L {
        &self.lda
    }
}
