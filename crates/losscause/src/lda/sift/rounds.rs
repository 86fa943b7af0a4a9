//! Losses by rounds.
//!
//! A round lasts a round-trip time; at a receiver, which knows none, 100 ms. The packets of a round
//! are a flight. Losses are counted by rounds of their own: such a round begins with a loss, and
//! holds the losses whose packets left before that loss could be reported.

use super::average::{Mean, Spread};
use super::clues::ratio;
use crate::{Observation, Span, Time};

/// The flight, and how many packets of it are lost now and were lost in earlier rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// When the round under way began, how long it lasts, nanoseconds, and its packets so far.
    began: Time,
    length: i64,
    packets: u32,
    /// Packets of the round before.
    flight: u32,
    losses: Option<Losses>,
    /// Packets that arrived since the losses began.
    arrived: u32,
    /// Of earlier rounds with losses: the share of the flight that was lost, in 1/65536; the
    /// contrast at the first loss; lost packets, in 1/16; and packets per second from one round to
    /// the next.
    shares: Mean<8>,
    contrasts: Mean<8>,
    lost: Mean<8>,
    rates: Spread<8>,
}

/// The losses of a round.
#[derive(Clone, Copy, Debug)]
struct Losses {
    began: Time,
    length: i64,
    lost: u32,
    flight: u32,
    contrast: u16,
}

impl Losses {
    fn last_until(&self, now: Time) -> bool {
        (0..=self.length).contains(&(now - self.began).as_nanos())
    }
}

impl Rounds {
    pub(super) const NEW: Self = Self {
        began: Time::ZERO,
        length: 0,
        packets: 0,
        flight: 0,
        losses: None,
        arrived: 0,
        shares: Mean::NEW,
        contrasts: Mean::NEW,
        lost: Mean::NEW,
        rates: Spread::NEW,
    };

    /// Whether a round of `length` begins at `now`: the one under way is over, or the clock was set
    /// back.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        (now - self.began).as_nanos() as u64 >= self.length as u64
    }

    /// Begins a round of this length. Returns the packets of the one before, if there were any, and
    /// how long it took, in nanoseconds.
    pub(super) fn begin(&mut self, now: Time, length: i64) -> Option<(u32, i64)> {
        let passed = (now - self.began).as_nanos();
        let packets = core::mem::take(&mut self.packets);
        self.began = now;
        self.length = length.max(1);
        (packets > 0).then(|| {
            self.flight = packets;
            (packets, passed.max(1))
        })
    }

    /// An arrival, without the losses before it.
    #[inline]
    pub(super) fn observe(&mut self, arrival: &Observation) {
        self.packets = self.packets.saturating_add(arrival.spanned);
        self.arrived = self.arrived.saturating_add(arrival.spanned.saturating_sub(arrival.missing));
    }

    /// A gap: the packets that are missing belong to the losses under way, or begin others.
    #[cold]
    pub(super) fn observe_gap(&mut self, arrival: &Observation, round: i64, contrast: u16) {
        let now = arrival.at;
        if let Some(losses) = &mut self.losses {
            if losses.last_until(now) {
                losses.lost = losses.lost.saturating_add(arrival.missing);
                return;
            }
            let share = (u64::from(losses.lost) << 16) / u64::from(losses.flight.max(1));
            self.shares.observe(share.min(1 << 24) as i32);
            self.contrasts.observe(losses.contrast.into());
            self.lost.observe((losses.lost.min(1 << 20) * 16) as i32);
            let duration = (now - losses.began).as_nanos().max(1) as u64;
            let rate = u64::from(self.arrived).saturating_mul(1_000_000_000) / duration;
            self.rates.observe(rate.min(1 << 25) as u32);
        }
        self.arrived = 0;
        self.losses = Some(Losses {
            began: now,
            length: round.max(1),
            lost: arrival.missing,
            flight: self.flight(),
            contrast,
        });
    }

    fn flight(&self) -> u32 {
        self.flight.max(self.packets).max(1)
    }

    /// Packets that are lost in the round of the gap before `arrival`, these included, and the
    /// flight that they are of.
    fn lost_now(&self, arrival: &Observation) -> (i64, i64) {
        match self.losses.filter(|losses| losses.last_until(arrival.at)) {
            Some(Losses { lost, flight, .. }) => {
                (i64::from(lost) + i64::from(arrival.missing), flight.into())
            }
            None => (arrival.missing.into(), self.flight().into()),
        }
    }

    /// The share of the flight that is lost in the round of this gap, in 1/1000.
    pub(super) fn share(&self, arrival: &Observation) -> u16 {
        let (lost, flight) = self.lost_now(arrival);
        ratio(lost, flight, 1_000)
    }

    /// Packets that are lost in the round of this gap, in 1/16 of one and those queued, of which
    /// there are so many eighths.
    pub(super) fn lost_over_queued(&self, arrival: &Observation, queued: u16) -> u16 {
        let (lost, _) = self.lost_now(arrival);
        ratio(lost * 128, i64::from(queued) + 8, 1)
    }

    /// The mean share of the flight that was lost in earlier rounds with losses, in 1/1000.
    pub(super) fn mean_share(&self) -> u16 {
        ratio(self.shares.get().into(), 1 << 16, 1_000)
    }

    /// The mean contrast at the first loss of earlier rounds with losses; 1,000 before the first.
    pub(super) fn mean_contrast(&self) -> u16 {
        if self.contrasts.is_empty() { 1_000 } else { self.contrasts.get() as u16 }
    }

    /// The mean number of packets lost in earlier rounds with losses, in 1/16.
    pub(super) fn mean_lost(&self) -> u16 {
        ratio(self.lost.get().into(), 1, 1)
    }

    /// How much the rates from one round with losses to the next differ: their mean deviation in
    /// 1/256 of their mean; 80 before the third round.
    pub(super) fn spread_of_rates(&self) -> u16 {
        self.rates.evenness(80)
    }
}

/// A round at a receiver.
pub(super) const RECEIVERS_ROUND: Span = Span::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: i64 = 100_000_000;

    /// One arrival every 10 ms, ten in a round; some are behind a gap.
    struct Flow {
        rounds: Rounds,
        ms: i64,
    }

    impl Flow {
        fn new() -> Self {
            Self { rounds: Rounds::NEW, ms: 0 }
        }

        fn next(&self, missing: u32) -> Observation {
            Observation::first(0, Time::ZERO + Span::from_millis(self.ms)).with_gap(missing)
        }

        fn arrive(&mut self, missing: u32) -> Option<(u32, i64)> {
            let arrival = self.next(missing);
            let is_due = self.rounds.is_due(arrival.at);
            let ended = if is_due { self.rounds.begin(arrival.at, ROUND) } else { None };
            self.rounds.observe(&arrival);
            if missing > 0 {
                self.rounds.observe_gap(&arrival, ROUND, 1_100);
            }
            self.ms += 10;
            ended
        }

        fn arrive_many(&mut self, packets: u32) {
            (0..packets).for_each(|_| _ = self.arrive(0));
        }
    }

    #[test]
    fn the_share_is_that_of_the_flight_and_of_one_round() {
        let mut flow = Flow::new();
        flow.arrive_many(20);
        assert_eq!(flow.rounds.share(&flow.next(2)), 200, "2 of 10 packets");
        flow.arrive(2);
        flow.arrive_many(4);
        assert_eq!(flow.rounds.share(&flow.next(1)), 300, "50 ms later: 3 of 10");
        flow.arrive_many(6);
        assert_eq!(flow.rounds.share(&flow.next(1)), 83, "110 ms later: 1 of the 12 of that round");
    }

    #[test]
    fn earlier_rounds_are_remembered_when_another_begins() {
        let mut flow = Flow::new();
        flow.arrive_many(20);
        flow.arrive(2);
        flow.arrive_many(19);
        assert_eq!(
            (flow.rounds.mean_share(), flow.rounds.mean_lost(), flow.rounds.mean_contrast()),
            (0, 0, 1_000)
        );
        flow.arrive(1);
        // 2 of 10 packets, two packets, contrast 1,100.
        assert_eq!(
            (flow.rounds.mean_share(), flow.rounds.mean_lost(), flow.rounds.mean_contrast()),
            (199, 32, 1_100)
        );
    }

    #[test]
    fn packets_lost_are_compared_with_those_queued() {
        let mut flow = Flow::new();
        flow.arrive_many(20);
        let gap = flow.next(3);
        assert_eq!(flow.rounds.lost_over_queued(&gap, 0), 48, "three to one");
        assert_eq!(flow.rounds.lost_over_queued(&gap, 40), 8, "three to six");
    }

    #[test]
    fn equal_rates_between_rounds_with_losses_have_no_spread() {
        let mut flow = Flow::new();
        flow.arrive_many(20);
        for _ in 0..2 {
            flow.arrive(1);
            flow.arrive_many(39);
        }
        assert_eq!(flow.rounds.spread_of_rates(), 80, "one rate is none");
        flow.arrive(1);
        assert_eq!(flow.rounds.spread_of_rates(), 0, "100 packets per second, twice");
        // Then 40 packets in 800 ms: means 100, 100, 83; deviations 0, 0, 50 / 3.
        flow.ms += 400;
        flow.arrive_many(39);
        flow.arrive(1);
        assert_eq!(flow.rounds.spread_of_rates(), 51);
    }

    #[test]
    fn a_round_ends_with_its_time_or_with_a_clock_that_is_set_back() {
        let mut flow = Flow::new();
        assert_eq!(flow.arrive(0), None);
        flow.arrive_many(9);
        assert_eq!(flow.arrive(0), Some((10, ROUND)));
        flow.ms = 0;
        assert_eq!(flow.arrive(0), Some((1, 1)));
        flow.ms = 1 << 50;
        assert!(flow.arrive(u32::MAX - 1).is_some());
        assert_eq!(flow.rounds.share(&flow.next(u32::MAX - 1)), 1_999, "no overflow");
    }
}
