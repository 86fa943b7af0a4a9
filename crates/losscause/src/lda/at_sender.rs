//! Runs the receivers' algorithms at a sender, which infers arrivals from ACKs.
//!
//! ```text
//! at a receiver                          at the sender
//! a packet arrives                       an ACK shows a newer arrival
//! its ROTT                               the RTT of the newest packet that the ACK acknowledges
//! T_i, the time between two arrivals     the time between two such ACKs
//! the arrival after a gap of n packets   the ACK that shows n packets to be missing
//! ```
//!
//! Source: Dalwadi, equations 1 to 6: ZigZag and Spike with round-trip times, taken "on arrival of each ACK".
//!
//! | parameter | default | |
//! |---|---|---|
//! | `without_rtt` | undecided | what an ACK without a round-trip time means: no trip time, or the last known one |
//!
//! Deviations: none. The source leaves open:
//!
//! - *How large is the gap?* As large as the transport knows: its true size with SACK or QUIC
//!   ([`crate::ack::AckTracker`]), one packet with duplicate ACKs ([`crate::ack::DuplicateAcks`]).
//! - *Which ACK judges?* The one that reveals the gap, as a receiver judges at the first arrival after it. States that
//!   later ACKs change (Spike's, T_min) are read when the transport declares the loss.
//! - *A loss event that covers several gaps* is wireless if every gap is; otherwise it has the verdict of its oldest
//!   gap that is not wireless. A loss event without packet numbers is judged by the newest gap.
//! - *An ACK that only fills older gaps* is not an arrival, just as a late packet is not one at a receiver.
//! - *How many gaps are remembered?* The last eight. A loss in an older gap is undecided.

use super::Lda;
use crate::ack::{AckSample, DeclaredLoss, Numbers, SenderInputs, SenderLda};
use crate::verdict::Input;
use crate::{Arrival, Interval, Judgement, Loss, Reason, Span, Time};

/// Runs a receiver's algorithm at a sender.
#[derive(Clone, Copy, Debug)]
pub struct AtSender<L> {
    lda: L,
    without_rtt: WithoutRtt,
    /// Every packet below is known to have arrived or to be missing.
    seq: u64,
    /// When the last arrival became known, with its round-trip time.
    last: Option<(Time, Option<Span>)>,
    /// The newest gap first.
    gaps: [Option<Gap>; GAPS],
}

/// How to treat an ACK without a round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutRtt {
    /// The trip time is unknown. An algorithm that needs it says so in its judgement.
    #[default]
    Undecided,
    /// Use the last known trip time.
    LastKnown,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    numbers: Option<Numbers>,
    revealed_by: Arrival,
}

const GAPS: usize = 8;

impl<L: Lda> AtSender<L> {
    /// Runs `lda` at a sender.
    pub fn new(lda: L) -> Self {
        Self::with(lda, WithoutRtt::default())
    }

    /// Runs `lda` at a sender some of whose ACKs carry no round-trip time.
    pub fn with(lda: L, without_rtt: WithoutRtt) -> Self {
        Self { lda, without_rtt, seq: 0, last: None, gaps: [None; GAPS] }
    }

    /// The algorithm.
    pub fn lda(&self) -> &L {
        &self.lda
    }

    /// The same sender around `lda`, its algorithm in another type.
    #[cfg(feature = "alloc")]
    pub(super) fn around<M>(&self, lda: M) -> AtSender<M> {
        let Self { without_rtt, seq, last, gaps, .. } = *self;
        AtSender { lda, without_rtt, seq, last, gaps }
    }

    fn judge_gap(&self, gap: &Gap, loss: &DeclaredLoss) -> Judgement {
        let seq = gap.revealed_by.seq.saturating_sub(1);
        let judgement = self.lda.judge(&Loss { seq, revealed_by: gap.revealed_by, truth: loss.truth });
        match judgement.reason {
            Reason::Missing { input } => {
                Judgement::new(judgement.verdict, Reason::Missing { input: input.at_sender() })
            }
            _ => judgement,
        }
    }
}

impl<L: Lda> SenderLda for AtSender<L> {
    fn name(&self) -> &'static str {
        self.lda.name()
    }

    fn needs(&self) -> SenderInputs {
        let needs = self.lda.needs();
        SenderInputs {
            rtt_per_packet: needs.sender_timestamp && self.without_rtt == WithoutRtt::Undecided,
            ack_spacing: needs.inter_arrival,
            truth: needs.truth,
            ..SenderInputs::NONE
        }
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        let packets = sample.spanned_pkts;
        if packets == 0 {
            return;
        }
        let rtt = match (sample.rtt, self.without_rtt, self.last) {
            (None, WithoutRtt::LastKnown, Some((_, last_known))) => last_known,
            (rtt, ..) => rtt,
        };
        self.seq += u64::from(packets);
        let missing = sample.newly_missing_pkts;
        let since_last = self.last.replace((sample.at, rtt)).map(|(last_at, rott_before)| Interval {
            span: (sample.at - last_at).max(Span::ZERO),
            packets,
            missing,
            rott_before,
        });
        let arrival = Arrival { seq: self.seq, at: sample.at, rott: rtt, since_last };
        self.lda.on_arrival(&arrival);
        if missing > 0 {
            self.gaps.rotate_right(1);
            self.gaps[0] = Some(Gap { numbers: sample.newly_missing, revealed_by: arrival });
        }
    }

    fn judge(&self, loss: &DeclaredLoss) -> Judgement {
        let mut answer = None;
        for gap in self.gaps.iter().flatten() {
            let covers = match (gap.numbers, loss.numbers) {
                (Some(gap), Some(lost)) => gap.overlaps(lost),
                _ => answer.is_none(),
            };
            if !covers {
                continue;
            }
            let judgement = self.judge_gap(gap, loss);
            if answer.is_none() || !judgement.verdict.is_wireless() {
                answer = Some(judgement);
            }
        }
        answer.unwrap_or(Judgement::without(Input::Gap))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::Verdict;
    use crate::ack::{DuplicateAcks, Signal};
    use crate::lda::{Biaz, BiazConfig, Constant, Spike, SpikeConfig, ZigZag, ZigZagConfig};
    use crate::verdict::Amount;

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn loss_of(numbers: Option<Numbers>) -> DeclaredLoss {
        DeclaredLoss { numbers, ..DeclaredLoss::new(at(1_000), Signal::Gap) }
    }

    /// The verdict about the packet that duplicate ACKs ask for. Each ACK is (time ms, round-trip time ms, number).
    fn after_duplicates(lda: impl Lda, acks: &[(i64, i64, u64)]) -> Judgement {
        let (mut lda, mut tracker) = (AtSender::new(lda), DuplicateAcks::default());
        for &(at_ms, rtt_ms, next) in acks {
            lda.on_ack(&tracker.on_ack(at(at_ms), Some(Span::from_millis(rtt_ms)), next, 100));
        }
        lda.judge(&loss_of(acks.last().map(|&(.., next)| Numbers::one(next))))
    }

    fn biaz() -> Biaz {
        Biaz::new(&BiazConfig::default()).expect("valid")
    }

    fn spike() -> Spike {
        Spike::new(&SpikeConfig::default()).expect("valid")
    }

    #[test]
    fn biaz_asks_for_two_spacings_between_the_last_new_ack_and_the_first_duplicate() {
        // T_min 10 ms: one lost packet is wireless from 20 to below 30 ms. Later duplicates do not matter.
        let after = |first_ms| {
            let acks =
                [(0, 100, 1), (10, 100, 2), (first_ms, 100, 2), (first_ms + 10, 100, 2), (first_ms + 90, 100, 2)];
            after_duplicates(biaz(), &acks).verdict
        };
        assert_eq!(after(29), Verdict::Congestion, "19 ms");
        assert_eq!(after(30), Verdict::Wireless);
        assert_eq!(after(39), Verdict::Wireless);
        assert_eq!(after(40), Verdict::Congestion);
    }

    #[test]
    fn a_delayed_ack_of_two_packets_is_two_spacings() {
        // ACKs of two packets come 20 ms apart: T_min is 10 ms.
        let acks = [(0, 100, 2), (20, 100, 4), (40, 100, 6), (60, 100, 6)];
        assert_eq!(after_duplicates(biaz(), &acks).verdict, Verdict::Wireless, "20 ms for one lost packet");
    }

    #[test]
    fn spike_takes_the_round_trip_time_for_the_trip_time_and_every_duplicate_moves_its_state() {
        let rising = [(0, 100, 1), (10, 200, 2), (20, 180, 2), (30, 180, 2), (40, 180, 2)];
        assert_eq!(after_duplicates(spike(), &rising).verdict, Verdict::Congestion);
        let falling = [(0, 100, 1), (10, 200, 2), (20, 180, 2), (30, 150, 2), (40, 120, 2)];
        assert_eq!(after_duplicates(spike(), &falling).verdict, Verdict::Wireless);
    }

    #[test]
    fn zigzag_is_judged_by_the_packet_before_the_gap_however_many_duplicates_follow() {
        use crate::lda::JudgedBy::BeforeGap;
        let zigzag = ZigZag::new(&ZigZagConfig { judged_by: BeforeGap, ..ZigZagConfig::default() }).expect("valid");
        // The packet before the gap took 90 ms, 10 ms less than the others; the duplicates took longer than the mean.
        let acks = [(0, 100, 1), (10, 101, 2), (20, 90, 3), (30, 130, 3), (40, 130, 3), (50, 130, 3)];
        let judgement = after_duplicates(zigzag, &acks);
        let value = judgement.evidence().expect("compared").value;
        assert_eq!(value, Amount::Time(Span::from_millis(-10)), "relative to the first packet's");
        assert_eq!(judgement.verdict, Verdict::Wireless);
    }

    #[test]
    fn without_a_gap_nothing_is_decided() {
        let judgement = after_duplicates(Constant::new(Verdict::Wireless), &[(0, 100, 1)]);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        assert_eq!(judgement.reason, Reason::Missing { input: Input::Gap });
    }

    /// An ACK that reveals a gap of `missing` packets starting at number `first`.
    fn gap(at_ms: i64, rtt_ms: Option<i64>, first: u64, missing: u32) -> AckSample {
        AckSample {
            rtt: rtt_ms.map(Span::from_millis),
            spanned_pkts: missing + 1,
            newly_missing_pkts: missing,
            newly_missing: (missing > 0).then(|| Numbers { first, last: first + u64::from(missing) - 1 }),
            ..AckSample::new(at(at_ms))
        }
    }

    #[test]
    fn a_loss_is_judged_by_the_gap_that_it_lies_in() {
        // T_min 10 ms. Packets 2 and 3 are missing for 35 ms: wireless, as 30 <= 35 < 40. Packet 9 for 35 ms:
        // congestion.
        let mut lda = AtSender::new(biaz());
        [gap(0, None, 0, 0), gap(10, None, 0, 0), gap(45, None, 2, 2), gap(80, None, 9, 1)]
            .iter()
            .for_each(|ack| lda.on_ack(ack));
        let verdict = |first, last| lda.judge(&loss_of(Some(Numbers { first, last }))).verdict;
        assert_eq!(verdict(3, 3), Verdict::Wireless);
        assert_eq!(verdict(9, 9), Verdict::Congestion);
        assert_eq!(verdict(2, 9), Verdict::Congestion, "wireless only if every gap is");
        assert_eq!(verdict(5, 5), Verdict::Undecided, "never missing");
        assert_eq!(lda.judge(&loss_of(None)).verdict, Verdict::Congestion, "without numbers: the newest gap");
    }

    #[test]
    fn a_round_trip_time_that_is_not_known_is_named_or_replaced_by_the_last_one_if_asked_for() {
        let acks = [gap(0, Some(100), 0, 0), gap(10, Some(200), 0, 0), gap(20, Some(110), 0, 0), gap(30, None, 3, 1)];
        let judge = |without_rtt| {
            let mut lda = AtSender::with(spike(), without_rtt);
            acks.iter().for_each(|ack| lda.on_ack(ack));
            lda.judge(&loss_of(Some(Numbers::one(3))))
        };
        let undecided = judge(WithoutRtt::Undecided);
        assert_eq!(undecided.reason, Reason::Missing { input: Input::RoundTripTime });
        assert_eq!(judge(WithoutRtt::LastKnown).verdict, Verdict::Wireless);
        assert!(AtSender::new(spike()).needs().rtt_per_packet);
        assert!(!AtSender::with(spike(), WithoutRtt::LastKnown).needs().rtt_per_packet);
    }

    #[test]
    fn a_gap_older_than_the_last_eight_is_forgotten() {
        let mut lda = AtSender::new(Constant::new(Verdict::Wireless));
        (0..9).for_each(|i| lda.on_ack(&gap(10 * i, None, 2 * i as u64, 1)));
        let verdicts: Vec<_> = [0, 2].map(|n| lda.judge(&loss_of(Some(Numbers::one(n)))).verdict).into();
        assert_eq!(verdicts, [Verdict::Undecided, Verdict::Wireless]);
    }
}
