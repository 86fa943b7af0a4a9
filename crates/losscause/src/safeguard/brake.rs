//! The brake: rounds that lost more than independent losses explain.

use super::Safeguard;
use crate::{Loss, Span, Time};

/// Follows the rounds of losses.
#[derive(Clone, Debug)]
pub(super) struct Brake {
    /// The newest round-trip time.
    rtt: Span,
    pub(super) shares: Shares,
    round: Option<Round>,
    /// Rounds of losses for which the brake still holds, the present one excluded.
    held_rounds: u8,
    /// What made it hold.
    held_by: Option<Excess>,
}

/// The losses whose packets left before the first of them was reported.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// When the first loss was reported.
    began: Time,
    /// Packets in flight then.
    flight_pkts: u64,
    /// Losses that independent ones would bring, 1/1024.
    expected_1024: i64,
    /// Packets lost.
    lost_pkts: u64,
    /// Of these, called wireless, and the reports that told of them.
    wireless_pkts: u64,
    wireless_reports: u32,
    /// What the rounds before left of the sum S, 1/1024.
    surplus_before_1024: i64,
    /// Whether the brake holds on from a round before.
    is_held: bool,
}

/// More losses of a round than independent ones explain.
#[derive(Clone, Copy, Debug)]
struct Excess {
    lost_pkts: u64,
    reports: u32,
    flight_pkts: u64,
    expected_1024: i64,
}

/// Rounds for which the brake holds after the one that set it.
const HELD_ROUNDS: u8 = 20;

/// The fewest losses of a round that set the brake.
const LEAST_LOST: u64 = 4;
const LEAST_LOST_1024: i64 = 4 * 1_024;

/// The fewest reports of a round that set the brake.
const LEAST_REPORTS: u32 = 3;

/// The surplus over rounds that sets the brake, and what is left of it at most; 1/1024.
const LEAST_SURPLUS_1024: i64 = 6 * 1_024;
const MOST_SURPLUS_1024: i64 = 8 * 1_024;

/// What one round leaves to the next ones at most: half of what sets the brake; 1/1024.
const MOST_RISE_1024: i64 = LEAST_SURPLUS_1024 / 2;

impl Brake {
    pub(super) const NEW: Self = Self {
        rtt: Span::ZERO,
        shares: Shares { total: 0, lost: 0 },
        round: None,
        held_rounds: 0,
        held_by: None,
    };

    #[inline]
    pub(super) fn on_ack(&mut self, pkts: u64, rtt: Option<Span>) {
        self.shares.on_acked(pkts);
        self.rtt = rtt.unwrap_or(self.rtt);
    }

    /// Counts losses to their round. Returns what the brake says, if it holds.
    pub(super) fn on_loss(&mut self, loss: &Loss, is_wireless: bool) -> Option<Safeguard> {
        let sent_at = loss.sent_at.unwrap_or(loss.at - self.rtt);
        let mut round = match self.round {
            Some(round) if sent_at <= round.began && round.began <= loss.at => round,
            before => self.next_round(before, loss),
        };
        let pkts = u64::from(loss.lost_pkts);
        round.lost_pkts = round.lost_pkts.saturating_add(pkts);
        if is_wireless {
            round.wireless_pkts = round.wireless_pkts.saturating_add(pkts);
            round.wireless_reports = round.wireless_reports.saturating_add(1);
        }
        self.round = Some(round);
        if round.loses_a_large_part() || round.left_1024() >= LEAST_SURPLUS_1024 {
            self.held_rounds = HELD_ROUNDS;
            self.held_by = Some(round.excess());
        } else if round.surplus_1024() < LEAST_SURPLUS_1024 {
            let held_by = self.held_by.filter(|_| round.is_held)?;
            return Some(held_by.told(HELD_ROUNDS - self.held_rounds));
        }
        Some(round.excess().told(0))
    }

    fn next_round(&mut self, before: Option<Round>, loss: &Loss) -> Round {
        if let Some(before) = before.filter(|before| !before.is_large(before.lost_pkts)) {
            self.shares.on_lost(before.lost_pkts);
        }
        let left_1024 = before.map_or(0, |before| before.left_1024());
        let is_held = self.held_rounds > 0;
        self.held_rounds = self.held_rounds.saturating_sub(1);
        Round {
            began: loss.at,
            flight_pkts: loss.in_flight_pkts,
            expected_1024: self.shares.expected_1024(loss.in_flight_pkts),
            lost_pkts: 0,
            wireless_pkts: 0,
            wireless_reports: 0,
            surplus_before_1024: left_1024.clamp(0, MOST_SURPLUS_1024),
            is_held,
        }
    }
}

impl Excess {
    const fn told(self, rounds_ago: u8) -> Safeguard {
        let Self { lost_pkts, reports, flight_pkts, expected_1024 } = self;
        Safeguard::Brake { lost_pkts, reports, flight_pkts, expected_1024, rounds_ago }
    }
}

impl Round {
    const fn excess(&self) -> Excess {
        Excess {
            lost_pkts: self.wireless_pkts,
            reports: self.wireless_reports,
            flight_pkts: self.flight_pkts,
            expected_1024: self.expected_1024,
        }
    }

    /// Whether a large part of the flight was called wireless, and more than independent losses
    /// explain.
    fn loses_a_large_part(&self) -> bool {
        let least_1024 = self.expected_1024.saturating_mul(3).saturating_add(LEAST_LOST_1024);
        self.is_large(self.wireless_pkts)
            && self.wireless_reports >= LEAST_REPORTS
            && to_1024(self.wireless_pkts) >= least_1024
    }

    /// Whether `pkts` are a large part of the flight.
    fn is_large(&self, pkts: u64) -> bool {
        pkts >= LEAST_LOST && pkts > self.flight_pkts / 4
    }

    /// The sum S, 1/1024.
    fn surplus_1024(&self) -> i64 {
        self.surplus_before_1024.saturating_add(self.rise_1024())
    }

    /// What the round leaves of it to the next ones, before its limits, 1/1024.
    fn left_1024(&self) -> i64 {
        self.surplus_before_1024.saturating_add(self.rise_1024().min(MOST_RISE_1024))
    }

    /// What the round adds, 1/1024.
    fn rise_1024(&self) -> i64 {
        let further_1024 = to_1024(self.wireless_reports.saturating_sub(1).into());
        let allowed_1024 = self.expected_1024.saturating_mul(2).saturating_add(512);
        further_1024.saturating_sub(allowed_1024)
    }
}

/// `count` in 1/1024.
fn to_1024(count: u64) -> i64 {
    i64::try_from(count.saturating_mul(1_024)).unwrap_or(i64::MAX)
}

/// The share of packets that are lost, of the last 4096 to 8192.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// Acknowledged and lost packets.
    total: u64,
    pub(super) lost: u64,
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

    /// Losses to expect of `flight_pkts` packets, 1/1024. One loss more than was seen counts: a
    /// short flow without losses may have been lucky.
    fn expected_1024(&self, flight_pkts: u64) -> i64 {
        let lost = self.lost.saturating_add(1).saturating_mul(flight_pkts);
        to_1024(lost) / i64::try_from(self.total.max(1)).unwrap_or(i64::MAX)
    }
}
