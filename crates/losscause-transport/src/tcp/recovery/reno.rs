//! Reno's loss recovery: fast retransmit and fast recovery (RFC 5681, section 3.2).
//!
//! The third duplicate ACK means that the next packet was lost: it is sent again at once, and the window is halved.
//! Every duplicate ACK shows that another packet has left the network, so that until new data is acknowledged the
//! window is inflated by one packet for each. The first ACK of new data takes the inflation away, whether or not
//! it acknowledges everything that was in flight.
//!
//! Deviations, all chosen by [`super::super::Quirks`]: [`FastRetransmit::OncePerWindow`] and [`LimitedTransmit::NextPacket`] are
//! ns-2's.

use super::super::config::Config;
use super::super::quirks::{FastRetransmit, Inflation, LimitedTransmit};
use super::super::response::Window;
use super::super::stream::Stream;
use super::{Found, Progress};

#[derive(Clone, Debug)]
pub(in super::super) struct Reno {
    threshold: u32,
    fast_retransmit: FastRetransmit,
    limited_transmit: LimitedTransmit,
    inflation: Inflation,
    phase: Phase,
    /// Packets sent when the last loss was found (the numbers below this one).
    recover: u64,
    /// The first unacknowledged packet is to be sent out of line.
    retransmit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No loss is being repaired by fast recovery.
    Open { dup_acks: u32 },
    /// Between fast retransmit and the next ACK of new data.
    FastRecovery { inflation: u32 },
}

impl Reno {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold: config.dup_ack_threshold,
            fast_retransmit: config.quirks.fast_retransmit.unwrap_or(FastRetransmit::Always),
            limited_transmit: config.quirks.limited_transmit,
            inflation: config.quirks.inflation,
            phase: Phase::Open { dup_acks: 0 },
            recover: 0,
            retransmit: false,
        }
    }

    /// Fast retransmit whenever the threshold is met, and no window beyond cwnd meanwhile.
    pub(super) fn without_fast_recovery(config: &Config) -> Self {
        Self { fast_retransmit: FastRetransmit::Always, inflation: Inflation::Never, ..Self::new(config) }
    }

    pub(super) fn on_dup_ack(&mut self, stream: &Stream, window: &Window) -> Option<Found> {
        let dup_acks = match &mut self.phase {
            // Step 4.
            Phase::FastRecovery { inflation } => {
                *inflation = inflation.saturating_add(1);
                return None;
            }
            Phase::Open { dup_acks } => dup_acks,
        };
        let before = *dup_acks;
        *dup_acks = before.saturating_add(1);
        if *dup_acks != self.threshold || !self.fast_retransmit.allows(stream.una, self.recover) {
            return None;
        }
        // Steps 2 and 3.
        self.recover = stream.sent;
        self.phase = Phase::FastRecovery { inflation: self.threshold };
        self.retransmit = true;
        Some(Found::with(stream.flight_without(self.limited_transmit.releases(before, true), window)))
    }

    /// Step 6, if a loss is being repaired.
    #[inline]
    pub(super) fn on_new_ack(&mut self) -> Progress {
        self.retransmit = false;
        match std::mem::replace(&mut self.phase, Phase::Open { dup_acks: 0 }) {
            Phase::Open { .. } => Progress::Open,
            Phase::FastRecovery { .. } => Progress::Recovered,
        }
    }

    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        self.recover = stream.sent;
        self.phase = Phase::Open { dup_acks: 0 };
        self.retransmit = false;
    }

    #[inline]
    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        if self.retransmit {
            self.retransmit = false;
            return Some(stream.una);
        }
        stream.take_next(self.window_pkts(stream, window))
    }

    /// cwnd with fast recovery's inflation or with limited transmit.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        window.pkts(match self.phase {
            Phase::FastRecovery { .. } if self.inflation == Inflation::Never => 0,
            Phase::FastRecovery { inflation } => inflation,
            Phase::Open { dup_acks } if dup_acks < self.threshold => {
                self.limited_transmit.releases(dup_acks, stream.next == stream.sent)
            }
            Phase::Open { dup_acks } if self.inflation == Inflation::Always => dup_acks,
            Phase::Open { .. } => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::quirks::Quirks;
    use super::*;

    fn with(quirks: Quirks) -> Reno {
        Reno::new(&Config { quirks, ..Config::ns2() })
    }

    /// Everything from `una` to below `sent` is in flight.
    fn stream(una: u64, sent: u64) -> Stream {
        Stream { una, next: sent, sent, end: u64::MAX }
    }

    /// A window so large that what it allows shows what recovery adds.
    fn window() -> Window {
        Window { cwnd: 100.0, ssthresh: 100.0, max_pkts: 1000 }
    }

    fn extra(reno: &Reno, unsent: bool) -> u32 {
        let next = if unsent { 15 } else { 6 };
        reno.window_pkts(&Stream { next, ..stream(5, 15) }, &window()) - 100
    }

    fn after_dup_acks(reno: &mut Reno, una: u64, sent: u64, count: u32) -> Vec<bool> {
        (0..count).map(|_| reno.on_dup_ack(&stream(una, sent), &window()).is_some()).collect()
    }

    #[test]
    fn the_third_duplicate_ack_and_no_other_retransmits() {
        for config in [Config::rfc(), Config::ns2()] {
            let mut reno = Reno::new(&config);
            assert_eq!(after_dup_acks(&mut reno, 5, 15, 6), [false, false, true, false, false, false]);
        }
    }

    /// What each of the first five duplicates leaves beyond cwnd.
    fn inflation(reno: &mut Reno) -> [u32; 5] {
        [(); 5].map(|()| {
            after_dup_acks(reno, 5, 15, 1);
            extra(reno, true)
        })
    }

    #[test]
    fn the_window_is_inflated_by_three_and_one_for_each_further_duplicate() {
        let mut reno = with(Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC });
        assert_eq!(inflation(&mut reno), [0, 0, 3, 4, 5]);
    }

    #[test]
    fn without_inflation_no_duplicate_adds_to_the_window_from_the_third_on() {
        let mut reno = with(Quirks { inflation: Inflation::Never, ..Quirks::NS2_2_35 });
        assert_eq!(inflation(&mut reno)[2..], [0, 0, 0]);
        reno.on_timeout(&stream(5, 15));
        after_dup_acks(&mut reno, 5, 15, 6);
        assert_eq!(extra(&reno, false), 0);
    }

    #[test]
    fn the_first_new_ack_deflates_even_if_it_is_partial() {
        let mut reno = Reno::new(&Config::rfc());
        after_dup_acks(&mut reno, 5, 15, 7);
        assert_eq!(reno.on_new_ack(), Progress::Recovered);
        assert_eq!(extra(&reno, true), 0);
        assert_eq!(reno.on_new_ack(), Progress::Open);
    }

    #[test]
    fn duplicate_acks_are_counted_anew_after_a_new_ack() {
        let mut reno = Reno::new(&Config::rfc());
        after_dup_acks(&mut reno, 5, 15, 2);
        reno.on_new_ack();
        assert_eq!(after_dup_acks(&mut reno, 6, 16, 3), [false, false, true]);
    }

    #[test]
    fn a_second_loss_of_the_same_window_is_retransmitted_under_rfc_5681_but_not_in_ns2() {
        let second_loss = |config: &Config, una| {
            let mut reno = Reno::new(config);
            after_dup_acks(&mut reno, 5, 15, 3);
            reno.on_new_ack();
            after_dup_acks(&mut reno, una, 20, 3)[2]
        };
        assert!(second_loss(&Config::rfc(), 9));
        assert!(!second_loss(&Config::ns2(), 9));
        // Everything sent by then is acknowledged, and no more: not yet.
        assert!(!second_loss(&Config::ns2(), 15));
        assert!(second_loss(&Config::ns2(), 16));
    }

    #[test]
    fn after_a_timeout_ns2_waits_until_the_lost_window_is_acknowledged() {
        let mut reno = Reno::new(&Config::ns2());
        reno.on_timeout(&stream(5, 15));
        assert_eq!(after_dup_acks(&mut reno, 7, 16, 5), [false; 5]);
        assert_eq!(extra(&reno, true), 0);
        reno.on_new_ack();
        assert_eq!(after_dup_acks(&mut reno, 16, 30, 3), [false, false, true]);
    }

    #[test]
    fn ns2_retransmits_fast_once_something_was_acknowledged() {
        assert!(!after_dup_acks(&mut Reno::new(&Config::ns2()), 0, 4, 3)[2]);
        assert!(after_dup_acks(&mut Reno::new(&Config::ns2()), 1, 5, 3)[2]);
        assert!(after_dup_acks(&mut Reno::new(&Config::rfc()), 0, 4, 3)[2]);
    }

    #[test]
    fn limited_transmit_releases_one_packet_per_duplicate_below_the_threshold() {
        let released = |limited_transmit, unsent| {
            // ns-2 does not retransmit packet 0 fast, so that fast recovery adds nothing.
            let mut reno = with(Quirks { limited_transmit, ..Quirks::NS2_2_35 });
            let mut released = vec![];
            for _ in 0..4 {
                after_dup_acks(&mut reno, 0, 15, 1);
                released.push(extra(&reno, unsent));
            }
            released
        };
        assert_eq!(released(LimitedTransmit::Off, true), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, true), [1, 2, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, false), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::NextPacket, false), [1, 2, 0, 0]);
    }
}
