//! Caps: how much a wrong algorithm can cost.
//!
//! `max_run` and `max_share` mean the same as those of the kernel's programs (`docs/kernel.md`);
//! `max_loss_rate` is the fall-back to the base controller. The safeguards look at the path and not
//! at counts alone; they speak first (`losscause::safeguard`).
//!
//! ```text
//! ignore a batch of n lost packets only if
//!     run + n            <= max_run                     losses ignored since the last reduction
//!     ignored + n        <= max_share * max(recent, 256)
//!     lost (n included)  <= max_loss_rate * max(recent, 256), and not falling back
//! ```
//!
//! `recent` are the last 256 to 512 packets acknowledged or lost: counted up to 512, then all three
//! counts are halved. Once the loss rate exceeds its limit, every loss is the base controller's
//! until the rate is below half of it. Losses in a recovery that has reduced the window do not
//! count: a slow start that overflows a queue loses half a window at once, and is answered by that
//! reduction.
//!
//! ```
//! use losscause::caps::{CapCounts, Caps, Refusal};
//!
//! let mut counts = CapCounts::new(Caps { max_run: 2, ..Caps::default() });
//! counts.on_acked(1_000);
//! let mut lose = || {
//!     counts.on_lost(1, false);
//!     counts.ignore(1)
//! };
//! assert_eq!([lose(), lose(), lose()], [Ok(()), Ok(()), Err(Refusal::Run)]);
//! ```

use crate::registry::check;
use crate::{ConfigError, Safeguards};

/// Upper limits of what a connection ignores.
///
/// | cap | unit | default | range |
/// |---|---|---|---|
/// | `max_run` | packets | 1000 | 0 to 2^32 - 1 |
/// | `max_share` | of the recent packets | 0.05 | 0 to 1 |
/// | `max_loss_rate` | of the recent packets | 0.1 | 0 to 1 |
/// | `safeguards` | | both on | |
///
/// Recent are the last 256 to 512 packets. Any cap of 0 makes every loss congestion: the base
/// controller alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caps {
    /// At most this many lost packets are ignored between two reductions of the window.
    pub max_run: u32,
    /// At most this share of the recent packets may be lost and ignored.
    pub max_share: f64,
    /// If more than this share of the recent packets was lost, whatever the verdicts, every loss is
    /// congestion. Losses in a recovery that has reduced the window do not count.
    pub max_loss_rate: f64,
    /// What makes a loss congestion because of the path
    /// ([`crate::safeguard`]). Off above an algorithm that is told the truth.
    pub safeguards: Safeguards,
}

impl Default for Caps {
    fn default() -> Self {
        Self { max_run: 1000, max_share: 0.05, max_loss_rate: 0.1, safeguards: Safeguards::ON }
    }
}

impl Caps {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If a share is not a number from 0 to 1.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let share = |v: f64| (0.0..=1.0).contains(&v);
        check("max_share", self.max_share, share, "a number from 0 to 1")?;
        check("max_loss_rate", self.max_loss_rate, share, "a number from 0 to 1")
    }
}

/// The cap that turned a wireless verdict into congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// [`Caps::max_run`].
    Run,
    /// [`Caps::max_share`].
    Share,
    /// [`Caps::max_loss_rate`].
    LossRate,
}

/// What the caps count on one connection.
#[derive(Clone, Copy, Debug)]
pub struct CapCounts {
    caps: Caps,
    /// Packets ignored since the last reduction.
    run: u32,
    /// The recent packets; of them lost; of those ignored. Fractions are kept: rounded down, a
    /// halving would let one more packet be ignored.
    recent: u32,
    lost: f64,
    ignored: f64,
    /// Whether the loss rate has exceeded its limit and is not below half of it yet.
    falling_back: bool,
}

/// Counts are halved when they reach twice this.
const RECENT_PACKETS: u32 = 256;

impl CapCounts {
    /// A connection without packets.
    pub fn new(caps: Caps) -> Self {
        Self { caps, run: 0, recent: 0, lost: 0.0, ignored: 0.0, falling_back: false }
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// `pkts` were acknowledged.
    #[inline]
    pub fn on_acked(&mut self, pkts: u32) {
        self.recent = self.recent.saturating_add(pkts);
        if self.recent >= 2 * RECENT_PACKETS {
            self.halve();
        }
    }

    /// `pkts` were lost, whatever the verdict will be. `is_answered`: within a recovery that has
    /// reduced the window.
    pub fn on_lost(&mut self, pkts: u32, is_answered: bool) {
        if !is_answered {
            self.lost += f64::from(pkts);
        }
        self.on_acked(pkts);
        let limit = self.caps.max_loss_rate * f64::from(self.recent.max(RECENT_PACKETS));
        self.falling_back =
            if self.falling_back { self.lost >= limit / 2.0 } else { self.lost > limit };
    }

    fn halve(&mut self) {
        // A burst may have counted several times the limit at once.
        while self.recent >= 2 * RECENT_PACKETS {
            self.recent /= 2;
            self.lost /= 2.0;
            self.ignored /= 2.0;
        }
    }

    /// `pkts` of the losses that [`CapCounts::on_lost`] has counted, `ignored` of them ignored,
    /// were none.
    pub fn take_back(&mut self, pkts: u32, ignored: u32) {
        self.lost = (self.lost - f64::from(pkts)).max(0.0);
        self.ignored = (self.ignored - f64::from(ignored)).max(0.0);
        self.run = self.run.saturating_sub(ignored);
    }

    /// Ignores `pkts`, which [`CapCounts::on_lost`] has counted, unless a cap refuses.
    ///
    /// # Errors
    /// The cap that refuses.
    pub fn ignore(&mut self, pkts: u32) -> Result<(), Refusal> {
        if self.falling_back || self.caps.max_loss_rate == 0.0 {
            return Err(Refusal::LossRate);
        }
        let run = self.run.saturating_add(pkts);
        if run > self.caps.max_run {
            return Err(Refusal::Run);
        }
        let ignored = self.ignored + f64::from(pkts);
        if ignored > self.caps.max_share * f64::from(self.recent.max(RECENT_PACKETS)) {
            return Err(Refusal::Share);
        }
        self.run = run;
        self.ignored = ignored;
        Ok(())
    }

    /// The window was reduced.
    pub fn restart_run(&mut self) {
        self.run = 0;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    fn counts(change: impl Fn(&mut Caps)) -> CapCounts {
        let mut caps = Caps {
            max_run: u32::MAX,
            max_share: 1.0,
            max_loss_rate: 1.0,
            safeguards: Safeguards::OFF,
        };
        change(&mut caps);
        CapCounts::new(caps)
    }

    fn lose(counts: &mut CapCounts, pkts: u32) -> Result<(), Refusal> {
        counts.on_lost(pkts, false);
        counts.ignore(pkts)
    }

    #[test]
    fn a_run_ends_with_a_reduction() {
        let mut counts = counts(|caps| caps.max_run = 3);
        assert_eq!(lose(&mut counts, 2), Ok(()));
        assert_eq!(lose(&mut counts, 2), Err(Refusal::Run));
        assert_eq!(lose(&mut counts, 1), Ok(()), "3 in a row");
        counts.restart_run();
        assert_eq!(lose(&mut counts, 3), Ok(()));
    }

    #[test]
    fn losses_taken_back_leave_the_run() {
        let mut counts = counts(|caps| caps.max_run = 3);
        assert_eq!(lose(&mut counts, 3), Ok(()));
        counts.take_back(2, 2);
        assert_eq!(lose(&mut counts, 2), Ok(()));
        assert_eq!(lose(&mut counts, 1), Err(Refusal::Run));
    }

    #[test]
    fn the_share_is_that_of_at_least_256_packets() {
        let mut counts = counts(|caps| caps.max_share = 0.05);
        // 0.05 * 256 = 12.8 at first; 0.05 * 400 = 20 when 400 packets are counted.
        assert!((0..12).all(|_| lose(&mut counts, 1).is_ok()));
        assert_eq!(lose(&mut counts, 1), Err(Refusal::Share));
        counts.on_acked(386);
        assert!((0..8).all(|_| lose(&mut counts, 1).is_ok()), "20 of 407 packets, 20.35 allowed");
        assert_eq!(lose(&mut counts, 1), Err(Refusal::Share));
    }

    #[test]
    fn the_share_forgets_what_was_ignored_long_ago() {
        let mut counts = counts(|caps| caps.max_share = 0.05);
        assert!((0..12).all(|_| lose(&mut counts, 1).is_ok()));
        assert_eq!(lose(&mut counts, 1), Err(Refusal::Share));
        // 613 packets are halved to 306, of which 6 were ignored. 0.05 * 315 = 15.75 when nine more
        // are lost.
        counts.on_acked(600);
        assert!((0..9).all(|_| lose(&mut counts, 1).is_ok()));
        assert_eq!(lose(&mut counts, 1), Err(Refusal::Share));
    }

    #[test]
    fn above_the_loss_rate_nothing_is_ignored_until_it_has_halved() {
        let mut counts = counts(|caps| caps.max_loss_rate = 0.1);
        counts.on_acked(255);
        assert_eq!(lose(&mut counts, 28), Ok(()), "28 of 283 packets");
        assert_eq!(lose(&mut counts, 1), Err(Refusal::LossRate), "29 of 284");
        // 30 of 513 are halved to 15 of 256; half of the limit is 12.8.
        counts.on_acked(228);
        assert_eq!(lose(&mut counts, 1), Err(Refusal::LossRate));
        // The next halving leaves 7.5.
        counts.on_acked(256);
        assert_eq!(lose(&mut counts, 1), Ok(()));
    }

    #[test]
    fn a_small_share_is_not_rounded_up_by_halving() {
        // Two of 1024 packets.
        let mut counts = counts(|caps| caps.max_share = 1.0 / 512.0);
        let ignored: u32 = (0..40)
            .map(|_| {
                counts.on_acked(255);
                u32::from(lose(&mut counts, 1).is_ok())
            })
            .sum();
        assert!(ignored <= 40 * 256 / 512 + 1, "{ignored}");
    }

    #[test]
    fn losses_that_a_reduction_answered_cause_no_fallback() {
        let mut counts = counts(|caps| caps.max_loss_rate = 0.1);
        counts.on_acked(300);
        counts.on_lost(150, true);
        assert_eq!(lose(&mut counts, 1), Ok(()));
    }

    #[test]
    fn a_cap_of_zero_ignores_nothing() {
        assert_eq!(lose(&mut counts(|caps| caps.max_run = 0), 1), Err(Refusal::Run));
        assert_eq!(lose(&mut counts(|caps| caps.max_share = 0.0), 1), Err(Refusal::Share));
        assert_eq!(lose(&mut counts(|caps| caps.max_loss_rate = 0.0), 1), Err(Refusal::LossRate));
    }

    #[test]
    fn a_share_above_one_is_refused() {
        let caps = Caps { max_share: 1.5, ..Caps::default() };
        assert_eq!(
            caps.validate().unwrap_err().to_string(),
            "max_share is 1.5 but must be a number from 0 to 1"
        );
    }
}
