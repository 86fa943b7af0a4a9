//! Guard and brake: when a transport reduces its window although the algorithm calls a loss
//! wireless.
//!
//! An algorithm that errs makes its sender keep a window that is too large. Two rules limit the
//! harm. Both look at the path, not at the algorithm, so they are the same above every algorithm.
//!
//! *Guard*: a reduction that costs nothing needs no cause. The response keeps the share b of the
//! window. If a queue stands that holds at least (1 - b)/b of a base round trip, the window after
//! the reduction still fills the link:
//!
//! ```text
//! window >= rate (base + standing),  standing >= base (1 - b)/b   =>   b window >= rate base
//! ```
//!
//! The queue that stands is the least round-trip time of the last 50 to 100 ms above the base,
//! which is the least of the last [`BASE_BUCKET`] to twice that. 100 ms are the interval of CoDel
//! (RFC 8289, section 4.4): a queue that lasts shorter is a burst. Without round-trip times in
//! both halves of the 100 ms the guard does not speak.
//!
//! *Brake*: a policer drops whatever exceeds its rate, with no queue before. The share that it
//! drops grows with the flight, so a sender that ignores these losses loses ever more. A *round*
//! are the losses whose packets left before the first of them was reported. n of its losses were
//! called wireless, of a flight of F packets. p is the share of packets lost before the round.
//!
//! ```text
//! n >= 4,  n > F/4,  n >= 4 + 3 p F     =>   congestion: the rest of this round, and 20 rounds
//! ```
//!
//! p F losses are expected of a round if they are independent. At most one round in 10,000 has as
//! many as the third condition asks for, whatever p F is (Poisson). So the losses of a radio
//! channel seldom set the brake, even if the flight is small; those of a policer do, because they
//! grow with the flight and p does not. A round that sets the brake does not count for p. One that
//! sets it while it holds makes it hold for 20 rounds more. Losses that the algorithm calls
//! congestion are not counted: the window was reduced for these.
//!
//! ```
//! use losscause::safeguard::{Safeguard, Safeguards, Watch};
//! use losscause::{Loss, Signal, Span, Time, Verdict};
//!
//! let mut watch = Watch::new(Safeguards::ON, Watch::HALF);
//! let mut loss = Loss::new(Time::ZERO + Span::from_millis(100), Signal::Gap);
//! loss.in_flight_pkts = 20;
//! loss.lost_pkts = 5;
//! assert_eq!(watch.on_loss(&loss, Verdict::Wireless), None, "a quarter of the flight");
//! loss.lost_pkts = 1;
//! assert_eq!(watch.on_loss(&loss, Verdict::Wireless), Some(Safeguard::Brake));
//! ```

use crate::{Loss, Needs, Observation, Span, Time, Verdict};

/// Which safeguards a transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safeguards {
    /// Reduce where a reduction leaves the link full.
    pub guard: bool,
    /// Reduce after a round that lost more of its flight than independent losses explain.
    pub brake: bool,
}

impl Safeguards {
    /// Both.
    pub const ON: Self = Self { guard: true, brake: true };
    /// None: the algorithm decides.
    pub const OFF: Self = Self { guard: false, brake: false };

    /// These safeguards above an algorithm that needs `needs`. An algorithm that is told the truth
    /// has none: it does not err.
    #[must_use]
    pub const fn above(self, needs: Needs) -> Self {
        if needs.label || needs.other.is_some() { Self::OFF } else { self }
    }
}

/// The safeguard that turned a wireless verdict into congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safeguard {
    /// The reduction leaves the link full.
    Guard,
    /// A round lost too much of its flight, now or in the last 20 rounds.
    Brake,
}

/// Watches one sender for both safeguards.
#[derive(Clone, Debug)]
pub struct Watch {
    safeguards: Safeguards,
    /// The share of the window that the response keeps, 1/1024.
    kept_1024: u32,
    base: Least,
    standing: Least,
    /// The newest round-trip time.
    rtt: Span,
    shares: Shares,
    round: Option<Round>,
    /// Rounds of losses for which the brake still holds, the present one excluded.
    held_rounds: u8,
}

/// The losses whose packets left before the first of them was reported.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// When the first loss was reported.
    began: Time,
    /// Packets in flight then.
    flight_pkts: u64,
    /// Losses that independent ones would bring, 1/1024.
    expected_1024: u64,
    /// Packets lost, and of these called wireless.
    lost: u64,
    wireless: u64,
    /// Whether the brake holds.
    is_braked: bool,
}

/// Length of a bucket of the base round-trip time.
pub const BASE_BUCKET: Span = Span::from_secs(10);

/// Length of a bucket of the standing queue: half of CoDel's interval.
const STANDING_BUCKET: Span = Span::from_millis(50);

/// Rounds for which the brake holds after the one that set it.
const HELD_ROUNDS: u8 = 20;

/// The fewest losses that set the brake.
const LEAST_LOST: u64 = 4;

impl Watch {
    /// Half of the window is kept: Reno (RFC 5681, section 3.1, equation 4).
    pub const HALF: u32 = 512;
    /// CUBIC's share (RFC 9438, section 4.6), as Linux rounds it.
    pub const CUBIC: u32 = 717;

    /// A sender whose response keeps `kept_1024`/1024 of the window, 0 to 1024. With 0 the guard
    /// never speaks: no queue makes such a reduction free.
    pub const fn new(safeguards: Safeguards, kept_1024: u32) -> Self {
        Self {
            safeguards,
            kept_1024,
            base: Least::new(BASE_BUCKET),
            standing: Least::new(STANDING_BUCKET),
            rtt: Span::ZERO,
            shares: Shares { total: 0, lost: 0 },
            round: None,
            held_rounds: 0,
        }
    }

    /// An acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, ack: &Observation) {
        self.shares.on_acked(ack.newly_acked_pkts());
        if let Some(rtt) = ack.delay.filter(|rtt| *rtt > Span::ZERO) {
            self.rtt = rtt;
            self.base.observe(ack.at, rtt);
            self.standing.observe(ack.at, rtt);
        }
    }

    /// Losses were declared, and the algorithm's verdict on them is `verdict`. Returns the
    /// safeguard that makes them congestion. None if the verdict stands, or is not wireless anyway.
    pub fn on_loss(&mut self, loss: &Loss, verdict: Verdict) -> Option<Safeguard> {
        let is_wireless = verdict.is_wireless();
        let is_braked = self.brake(loss, is_wireless);
        if !is_wireless {
            None
        } else if self.safeguards.guard && self.is_reduction_free(loss.at) {
            Some(Safeguard::Guard)
        } else {
            (self.safeguards.brake && is_braked).then_some(Safeguard::Brake)
        }
    }

    /// Whether the link stays full after a reduction.
    fn is_reduction_free(&self, at: Time) -> bool {
        let Some(base) = self.base.least(at) else { return false };
        let Some(standing) = self.standing.whole(at) else { return false };
        let queue = i128::from((standing - base).as_nanos());
        let kept = i128::from(self.kept_1024);
        kept > 0 && queue * kept >= i128::from(base.as_nanos()) * (1_024 - kept)
    }

    /// Counts losses to their round. Returns whether the brake holds.
    fn brake(&mut self, loss: &Loss, is_wireless: bool) -> bool {
        let sent_at = loss.sent_at.unwrap_or(loss.at - self.rtt);
        let mut round = match self.round {
            Some(round) if sent_at <= round.began => round,
            before => self.next_round(before, loss),
        };
        let pkts = u64::from(loss.lost_pkts);
        round.lost = round.lost.saturating_add(pkts);
        if is_wireless {
            round.wireless = round.wireless.saturating_add(pkts);
        }
        if round.is_unlike_independent_losses() {
            round.is_braked = true;
            self.held_rounds = HELD_ROUNDS;
        }
        self.round = Some(round);
        round.is_braked
    }

    fn next_round(&mut self, before: Option<Round>, loss: &Loss) -> Round {
        if let Some(before) = before.filter(|before| !before.is_large(before.lost)) {
            self.shares.on_lost(before.lost);
        }
        let is_braked = self.held_rounds > 0;
        self.held_rounds = self.held_rounds.saturating_sub(1);
        Round {
            began: loss.at,
            flight_pkts: loss.in_flight_pkts,
            expected_1024: self.shares.expected_1024(loss.in_flight_pkts),
            lost: 0,
            wireless: 0,
            is_braked,
        }
    }
}

impl Round {
    /// Whether `pkts` are a large part of the flight.
    fn is_large(&self, pkts: u64) -> bool {
        pkts >= LEAST_LOST && pkts > self.flight_pkts / 4
    }

    /// Whether more losses of it were called wireless than independent losses explain.
    fn is_unlike_independent_losses(&self) -> bool {
        let beyond_least_1024 = self.wireless.saturating_sub(LEAST_LOST).saturating_mul(1_024);
        self.is_large(self.wireless)
            && beyond_least_1024 >= self.expected_1024.saturating_mul(3)
    }
}

/// The share of packets that are lost, of the last 4096 to 8192.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// Acknowledged and lost packets.
    total: u64,
    lost: u64,
}

/// Counts are halved when they reach this.
const MOST_COUNTED: u64 = 8_192;

impl Shares {
    #[inline]
    fn on_acked(&mut self, pkts: u64) {
        self.total = self.total.saturating_add(pkts);
        while self.total >= MOST_COUNTED {
            self.total /= 2;
            self.lost /= 2;
        }
    }

    fn on_lost(&mut self, pkts: u64) {
        self.lost = self.lost.saturating_add(pkts);
        self.on_acked(pkts);
    }

    /// Losses to expect of `flight_pkts` packets, 1/1024.
    fn expected_1024(&self, flight_pkts: u64) -> u64 {
        self.lost.saturating_mul(flight_pkts).saturating_mul(1_024) / self.total.max(1)
    }
}

/// The least round-trip time of two adjacent buckets: of the last one to two bucket lengths.
#[derive(Clone, Copy, Debug)]
struct Least {
    bucket: Span,
    /// The number of the present bucket.
    number: i64,
    present: Option<Span>,
    before: Option<Span>,
}

impl Least {
    const fn new(bucket: Span) -> Self {
        Self { bucket, number: 0, present: None, before: None }
    }

    #[inline]
    fn observe(&mut self, at: Time, rtt: Span) {
        *self = self.moved(at);
        self.present = Some(self.present.map_or(rtt, |least| least.min(rtt)));
    }

    /// The buckets as they are at `at`. After a silence, or if the clock was set back, they are
    /// empty.
    #[inline]
    fn moved(self, at: Time) -> Self {
        let number = at.as_nanos().div_euclid(self.bucket.as_nanos());
        match number.checked_sub(self.number) {
            Some(0) => self,
            Some(1) => Self { number, before: self.present, present: None, ..self },
            _ => Self { number, before: None, present: None, ..self },
        }
    }

    /// The least of both buckets.
    fn least(self, at: Time) -> Option<Span> {
        let Self { present, before, .. } = self.moved(at);
        present.into_iter().chain(before).min()
    }

    /// The least of both buckets, if both have one.
    fn whole(self, at: Time) -> Option<Span> {
        let Self { present, before, .. } = self.moved(at);
        Some(present?.min(before?))
    }
}
