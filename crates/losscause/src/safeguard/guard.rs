//! The guard: a standing queue that keeps the link full after a reduction.

use super::Safeguard;
use crate::{Span, Time};

/// Follows the queue of a path.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    base: Buckets<Supported, { BASE_BUCKET.as_nanos() }>,
    standing: Buckets<Span, { STANDING_BUCKET.as_nanos() }>,
    check: Option<Check>,
}

/// Checks in the two round trips after the guard spoke whether the link stayed full.
#[derive(Clone, Copy, Debug)]
struct Check {
    began: Time,
    /// The least round-trip time of the 50 to 100 ms before.
    rtt: Span,
    kept_1024: u32,
    /// Packets delivered in each round trip.
    delivered: [u64; 2],
}

/// The least round-trip time, and the least one of another round trip: the packet of one of them
/// left after the ACK of the other came.
#[derive(Clone, Copy, Debug)]
struct Supported {
    least: Span,
    acked: Time,
    second: Option<Span>,
}

/// Length of a bucket of the base round-trip time.
pub const BASE_BUCKET: Span = Span::from_secs(10);

/// Length of a bucket of the standing queue: half of CoDel's interval.
const STANDING_BUCKET: Span = Span::from_millis(50);

/// One ACK may tell of so many packets (RFC 5681, section 4.2), in one round trip or in the next.
const GRAIN_PKTS: i128 = 2;

impl Guard {
    pub(super) const NEW: Self = Self { base: Buckets::NEW, standing: Buckets::NEW, check: None };

    #[inline]
    pub(super) fn on_ack(&mut self, at: Time, pkts: u64, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let base = self.base.present_at(at);
            *base = Some(base.map_or(Supported::by(at, rtt), |base| base.and(at, rtt)));
            let standing = self.standing.present_at(at);
            *standing = Some(standing.map_or(rtt, |least| least.min(rtt)));
        }
        if let Some(check) = self.check {
            self.go_on_with(check, at, pkts);
        }
    }

    /// What the guard says of a loss, if the response would keep `kept_1024`/1024 of the window.
    pub(super) fn on_loss(&mut self, at: Time, kept_1024: u32) -> Option<Safeguard> {
        let base = self.base(at)?;
        let rtt = self.standing(at)?;
        let queue = rtt - base;
        let kept = i128::from(kept_1024);
        let needed = i128::from(base.as_nanos()) * (1_024 - kept);
        if kept == 0 || i128::from(queue.as_nanos()) * kept < needed {
            return None;
        }
        self.check.get_or_insert(Check { began: at, rtt, kept_1024, delivered: [0; 2] });
        Some(Safeguard::Guard { queue, base, kept_1024 })
    }

    #[cold]
    fn go_on_with(&mut self, mut check: Check, at: Time, pkts: u64) {
        let elapsed = at - check.began;
        if (Span::ZERO..check.rtt * 2).contains(&elapsed) {
            let delivered = &mut check.delivered[usize::from(elapsed >= check.rtt)];
            *delivered = delivered.saturating_add(pkts);
            self.check = Some(check);
            return;
        }
        self.check = None;
        if self.standing(at).is_some_and(|rtt| check.is_refuted_by(rtt)) {
            self.base = Buckets::NEW;
        }
    }

    /// The least round-trip time of the last one to two [`BASE_BUCKET`]s that another round trip
    /// supports.
    fn base(&self, at: Time) -> Option<Span> {
        match self.base.at(at) {
            [Some(one), Some(other)] => {
                let seconds = one.second.into_iter().chain(other.second);
                Some(seconds.fold(one.least.max(other.least), Span::min))
            }
            [one, other] => one.or(other)?.second,
        }
    }

    /// The least round-trip time of the last 50 to 100 ms, if both halves have one.
    fn standing(&self, at: Time) -> Option<Span> {
        let [present, before] = self.standing.at(at);
        Some(present?.min(before?))
    }
}

impl Check {
    /// Whether the reduction has cost goodput and drained no queue, if the round-trip time is now
    /// `rtt`.
    fn is_refuted_by(&self, rtt: Span) -> bool {
        let [before, behind] = self.delivered.map(i128::from);
        let kept = i128::from(self.kept_1024);
        let lost = 1_024 - kept;
        let moved = i128::from((rtt - self.rtt).abs().as_nanos());
        (behind + GRAIN_PKTS) * 2 * 1_024 < before * (1_024 + kept)
            && moved * 8 * 1_024 < i128::from(self.rtt.as_nanos()) * lost
    }
}

impl Supported {
    const fn by(acked: Time, rtt: Span) -> Self {
        Self { least: rtt, acked, second: None }
    }

    /// With another round-trip time.
    #[inline]
    fn and(self, acked: Time, rtt: Span) -> Self {
        let is_other = acked - rtt >= self.acked;
        if rtt < self.least {
            let second = if is_other { Some(self.least) } else { self.second };
            return Self { least: rtt, acked, second };
        }
        let is_second = is_other && self.second.is_none_or(|second| rtt < second);
        Self { second: if is_second { Some(rtt) } else { self.second }, ..self }
    }
}

/// What was seen in two adjacent buckets of so many nanoseconds, the first of which begins when
/// something is seen.
#[derive(Clone, Copy, Debug)]
struct Buckets<T, const NS: i64> {
    /// When the present bucket began.
    began: Time,
    present: Option<T>,
    before: Option<T>,
}

impl<T: Copy, const NS: i64> Buckets<T, NS> {
    const NEW: Self = Self { began: Time::ZERO, present: None, before: None };

    /// The buckets as they are at `at`, the present one first. After a silence, or if the clock was
    /// set back, they are empty.
    #[inline]
    fn at(&self, at: Time) -> [Option<T>; 2] {
        match (at - self.began).as_nanos() {
            age if age < 0 => [None, None],
            age if age < NS => [self.present, self.before],
            age if age < 2 * NS => [None, self.present],
            _ => [None, None],
        }
    }

    /// The bucket of `at`, which becomes the present one.
    #[inline]
    fn present_at(&mut self, at: Time) -> &mut Option<T> {
        if (at - self.began).as_nanos() >= NS || self.present.is_none() || at < self.began {
            [self.present, self.before] = self.at(at);
            self.began = match self.before {
                Some(_) => self.began + Span::from_nanos(NS),
                None => at,
            };
        }
        &mut self.present
    }
}
