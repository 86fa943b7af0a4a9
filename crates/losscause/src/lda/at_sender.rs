//! The receivers' algorithms at a TCP sender, which sees packets arrive by their acknowledgements.
//!
//! ```text
//! at a receiver                          at the sender
//! a packet arrives                       an ACK arrives, new or duplicate
//! its ROTT                               the RTT of the packet that caused the ACK
//! T_i, the time between two arrivals     the time between two ACKs
//! the arrival after a gap of n packets   the first duplicate ACK: n = 1
//! ```
//!
//! Source: Dalwadi, equations 1 to 6: ZigZag and Spike with round-trip times, taken "on arrival of each ACK".
//!
//! What that leaves open:
//!
//! - *How large is the gap?* A sender without SACK knows of one lost packet when duplicates arrive, so n = 1.
//! - *Which ACK judges?* The first duplicate, as a receiver judges at the first arrival after the gap; states that later
//!   duplicates change (Spike's) count as they are when the transport declares the loss, at the third.
//! - *An ACK of several packets* is one arrival: with delayed ACKs T_min is the least time between two ACKs.
//! - *After a recovery* the ACK that ends it is an arrival like others, without a gap before it.

use super::Lda;
use crate::{AckSample, Arrival, DeclaredLoss, Interval, Judgement, Loss, Reason, SenderLda, Span, Time, Verdict};

/// An algorithm of the receivers at a sender.
#[derive(Clone, Copy, Debug)]
pub struct AtSender<L> {
    lda: L,
    /// Packets that are known to have arrived or to be lost.
    seq: u64,
    last_at: Option<Time>,
    /// The last ACK was a duplicate: the gap is known.
    in_gap: bool,
    /// The first duplicate since the last ACK of new data, or the last series of them.
    revealed_by: Option<Arrival>,
}

impl<L: Lda> AtSender<L> {
    /// Puts `lda` at a sender.
    pub fn new(lda: L) -> Self {
        Self { lda, seq: 0, last_at: None, in_gap: false, revealed_by: None }
    }

    /// The algorithm.
    pub fn lda(&self) -> &L {
        &self.lda
    }
}

impl<L: Lda> SenderLda for AtSender<L> {
    fn name(&self) -> &'static str {
        self.lda.name()
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        let opens_gap = sample.is_duplicate() && !self.in_gap;
        self.in_gap = sample.is_duplicate();
        let packets = 1 + u32::from(opens_gap);
        self.seq += u64::from(packets);
        let last_at = self.last_at.replace(sample.at);
        let since_last = last_at.map(|last| Interval { span: (sample.at - last).max(Span::ZERO), packets });
        let arrival = Arrival { seq: self.seq, at: sample.at, rott: sample.rtt, since_last };
        self.lda.on_arrival(&arrival);
        if opens_gap {
            self.revealed_by = Some(arrival);
        }
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        match self.revealed_by {
            Some(revealed_by) => self.lda.judge(&Loss { seq: revealed_by.seq - 1, revealed_by, truth: loss.truth }),
            None => Judgement {
                verdict: Verdict::Undecided,
                reason: Reason::Missing { input: "a duplicate acknowledgement" },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;

    fn sample(at_ms: i64, rtt_ms: i64, newly_acked_pkts: u64) -> AckSample {
        let at = Time::ZERO + Span::from_millis(at_ms);
        let rtt = Some(Span::from_millis(rtt_ms));
        AckSample { at, rtt, newly_acked_pkts, in_flight_pkts: 9, cwnd_pkts: 10.0 }
    }

    fn verdict(algorithm: Algorithm, acks: &[(i64, i64, u64)]) -> Verdict {
        let mut lda = AtSender::new(algorithm.build());
        for &(at_ms, rtt_ms, newly_acked_pkts) in acks {
            lda.on_ack(&sample(at_ms, rtt_ms, newly_acked_pkts));
        }
        let at = Time::ZERO + Span::from_millis(1_000);
        lda.judge(&DeclaredLoss { at, seq: 4, in_flight_pkts: 9, cwnd_pkts: 10.0, told_wireless: false, truth: None })
            .verdict
    }

    #[test]
    fn biaz_asks_for_two_spacings_between_the_last_new_ack_and_the_first_duplicate() {
        // T_min 10 ms: one lost packet is wireless from 20 to below 30 ms. Later duplicates do not matter.
        let after = |first_ms| {
            let duplicates = [(first_ms, 100, 0), (first_ms + 10, 100, 0), (first_ms + 90, 100, 0)];
            let acks = [&[(0, 100, 1), (10, 100, 1)][..], &duplicates].concat_acks();
            verdict(Algorithm::Biaz, &acks)
        };
        assert_eq!(after(29), Verdict::Congestion, "19 ms");
        assert_eq!(after(30), Verdict::Wireless);
        assert_eq!(after(39), Verdict::Wireless);
        assert_eq!(after(40), Verdict::Congestion);
    }

    /// Joins two pieces without an allocator.
    trait Concat {
        fn concat_acks(self) -> [(i64, i64, u64); 5];
    }

    impl Concat for [&[(i64, i64, u64)]; 2] {
        fn concat_acks(self) -> [(i64, i64, u64); 5] {
            let mut all = self.into_iter().flatten().copied();
            core::array::from_fn(|_| all.next().expect("five of them"))
        }
    }

    #[test]
    fn spike_takes_the_round_trip_time_for_the_trip_time_and_every_duplicate_moves_its_state() {
        let rising = [(0, 100, 1), (10, 200, 1), (20, 180, 0), (30, 180, 0), (40, 180, 0)];
        assert_eq!(verdict(Algorithm::Spike, &rising), Verdict::Congestion);
        let falling = [(0, 100, 1), (10, 200, 1), (20, 180, 0), (30, 150, 0), (40, 120, 0)];
        assert_eq!(verdict(Algorithm::Spike, &falling), Verdict::Wireless);
    }

    #[test]
    fn without_a_duplicate_nothing_is_decided() {
        assert_eq!(verdict(Algorithm::AlwaysWireless, &[(0, 100, 1)]), Verdict::Undecided);
    }
}
