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
    /// Packets so far, and those of them that were missing.
    packets: u64,
    missing: u64,
    /// When the round under way began, how long it lasts, nanoseconds, and the packets before it.
    began: Time,
    length: i64,
    packets_before: u64,
    /// Packets of the round before.
    flight: u32,
    losses: Option<Losses>,
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
    /// Packets that had arrived when they began.
    arrived: u64,
    contrast: u16,
}

impl Losses {
    fn last_until(&self, now: Time) -> bool {
        (0..=self.length).contains(&(now - self.began).as_nanos())
    }
}

impl Rounds {
    pub(super) const NEW: Self = Self {
        packets: 0,
        missing: 0,
        began: Time::ZERO,
        length: 0,
        packets_before: 0,
        flight: 0,
        losses: None,
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
        let packets = self.packets_of_round();
        self.packets_before = self.packets;
        self.began = now;
        self.length = length.max(1);
        (packets > 0).then(|| {
            self.flight = packets;
            (packets, passed.max(1))
        })
    }

    /// The packets of an arrival, the missing ones before it included.
    #[inline]
    pub(super) fn observe(&mut self, packets: u32) {
        self.packets += u64::from(packets);
    }

    /// Packets that arrived so far.
    pub(super) fn arrived(&self) -> u64 {
        self.packets - self.missing
    }

    /// A gap: the packets that are missing belong to the losses under way, or begin others.
    /// The contrast is asked for if they begin others.
    pub(super) fn observe_gap(
        &mut self,
        arrival: &Observation,
        round: i64,
        contrast: impl FnOnce() -> u16,
    ) {
        let now = arrival.at;
        self.missing += u64::from(arrival.missing.min(arrival.spanned));
        let arrived = self.arrived();
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
            let rate = (arrived - losses.arrived).saturating_mul(1_000_000_000) / duration;
            self.rates.observe(rate.min(1 << 25) as u32);
        }
        self.losses = Some(Losses {
            began: now,
            length: round.max(1),
            lost: arrival.missing,
            flight: self.flight(),
            arrived,
            contrast: contrast(),
        });
    }

    fn packets_of_round(&self) -> u32 {
        u32::try_from(self.packets - self.packets_before).unwrap_or(u32::MAX)
    }

    fn flight(&self) -> u32 {
        self.flight.max(self.packets_of_round()).max(1)
    }

    /// Packets that are lost in the round of the gap before `arrival`, these included, and the
    /// flight that they are of.
    pub(super) fn lost_now(&self, arrival: &Observation) -> (i64, i64) {
        match self.losses.filter(|losses| losses.last_until(arrival.at)) {
            Some(Losses { lost, flight, .. }) => {
                (i64::from(lost) + i64::from(arrival.missing), flight.into())
            }
            None => (arrival.missing.into(), self.flight().into()),
        }
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
            self.rounds.observe(arrival.spanned);
            if missing > 0 {
                self.rounds.observe_gap(&arrival, ROUND, || 1_100);
            }
            self.ms += 10;
            ended
        }

        /// Packets lost in the round of such a gap, and their flight.
        fn lost(&self, missing: u32) -> (i64, i64) {
            self.rounds.lost_now(&self.next(missing))
        }

        fn arrive_many(&mut self, packets: u32) {
            (0..packets).for_each(|_| _ = self.arrive(0));
        }
    }

    #[test]
    fn the_share_is_that_of_the_flight_and_of_one_round() {
        let mut flow = Flow::new();
        flow.arrive_many(20);
        assert_eq!(flow.lost(2), (2, 10));
        flow.arrive(2);
        flow.arrive_many(4);
        assert_eq!(flow.lost(1), (3, 10), "50 ms later");
        flow.arrive_many(6);
        assert_eq!(flow.lost(1), (1, 12), "110 ms later: of the 12 of that round");
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
        let most = i64::from(u32::MAX);
        assert_eq!(flow.lost(u32::MAX - 1), (2 * (most - 1), most), "no overflow");
    }
}
