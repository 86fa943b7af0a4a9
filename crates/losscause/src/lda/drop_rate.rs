//! Drop rate: is more than 15 % of the packets lost?
//!
//! The air loses packets at a moderate rate, a full queue loses a large part of what comes. An
//! exponential mean over the packet numbers, 1 for a lost packet and 0 for any other, is held
//! against a limit:
//!
//! ```text
//! for each lost packet, k packets after the last lost one:
//!     r <- (1 - gain)^min(k, 32) r,   r <- r + gain (1 - r)          gain = 1/16
//! congestion  if  r > 0.15,   else wireless
//! ```
//!
//! Source: private-octopus/picoquic, picoquic/cc_common.c (the loss filter of its Cubic and New
//! Reno). A timeout is always congestion there, as it is for every algorithm here.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `gain` | | 1/16 | above 0, below 1 |
//! | `gap_limit` | packets | 32 | at least 1 |
//! | `threshold` | | 0.15 (0.20 in some versions) | 0 to 1 |
//!
//! Deviations:
//!
//! - *Packets lost together* are taken for evenly spaced between the first and the last number,
//!   because a declared loss names only these two. Of more than 512, only the newest 512 count; the
//!   earlier ones have no weight left.
//! - *A number that is not above the last lost one* changes nothing, and the present rate decides.

use super::{AnyAlgorithm, congestion_without};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::{
    Algorithm, Amount, Evidence, Judgement, Loss, Needs, Numbers, Observation, Scope, Verdict,
};

/// The drop-rate rule.
#[derive(Clone, Copy, Debug)]
pub struct DropRate {
    config: DropRateConfig,
    rate: f64,
    /// The number of the last lost packet.
    last: Option<u64>,
}

/// Parameters of [`DropRate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRateConfig {
    /// Weight of a packet, above 0, below 1.
    pub gain: f64,
    /// At most so many packets between two losses count, at least 1.
    pub gap_limit: u32,
    /// The largest wireless rate, 0 to 1.
    pub threshold: f64,
}

/// More packets in one declaration are not looked at one by one.
const MOST_AT_ONCE: u64 = 512;

impl Default for DropRateConfig {
    /// 15 % of about the last 16 packets.
    fn default() -> Self {
        Self { gain: 1.0 / 16.0, gap_limit: 32, threshold: 0.15 }
    }
}

static DROP_RATE: Info =
    Info::new("drop rate", "wireless until a running mean of lost packets exceeds 15 %")
        .yardstick("private-octopus/picoquic, picoquic/cc_common.c", "loss filter")
        .with_aliases(&["drop-rate"])
        .with_settings(&[
            Setting::new("gain", "weight of a packet in the drop rate; above 0, below 1"),
            Setting::new(
                "gap_limit",
                "at most so many packets since the last loss count; at least 1",
            ),
            Setting::new("threshold", "a larger drop rate is congestion; 0 to 1"),
        ]);

impl Parameters for DropRateConfig {
    fn info(&self) -> &'static Info {
        &DROP_RATE
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "gain" => Field::Number(&mut self.gain),
            "gap_limit" => Field::Count(&mut self.gap_limit),
            "threshold" => Field::Number(&mut self.threshold),
            _ => return None,
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        DropRate::new(self).map(AnyAlgorithm::DropRate)
    }
}

impl DropRate {
    /// A rate of zero.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: &DropRateConfig) -> Result<Self, ConfigError> {
        check("gain", config.gain, |g| g > 0.0 && g < 1.0, "a number above 0, below 1")?;
        check("gap_limit", config.gap_limit.into(), |g| g >= 1.0, "a whole number, at least 1")?;
        check("threshold", config.threshold, |t| (0.0..=1.0).contains(&t), "a number from 0 to 1")?;
        Ok(Self { config: *config, rate: 0.0, last: None })
    }

    /// The share of lost packets, 0 to 1.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    fn lose(&mut self, number: u64) {
        if let Some(last) = self.last {
            if number <= last {
                return;
            }
            let gap = u32::try_from(number - last).unwrap_or(u32::MAX).min(self.config.gap_limit);
            self.rate *= power(1.0 - self.config.gain, gap);
        }
        self.rate += self.config.gain * (1.0 - self.rate);
        self.last = Some(number);
    }
}

/// `base` to the power of `exponent`, by squaring.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product *= base;
        }
        base *= base;
        exponent /= 2;
    }
    product
}

/// The numbers of `count` packets, evenly spaced from the first to the last; of many only the
/// newest.
fn spread(Numbers { first, last }: Numbers, count: u32) -> impl Iterator<Item = u64> {
    let distance = last.saturating_sub(first);
    let steps = u64::from(count).saturating_sub(1).min(distance);
    let place =
        move |i: u64| (u128::from(distance) * u128::from(i) / u128::from(steps.max(1))) as u64;
    (steps.saturating_sub(MOST_AT_ONCE - 1)..=steps).map(move |i| first + place(i))
}

impl Algorithm for DropRate {
    fn name(&self) -> &'static str {
        DROP_RATE.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_acks()
    }

    #[inline]
    fn observe(&mut self, _: &Observation) {}

    fn on_loss(&mut self, loss: &Loss) {
        if let Some(numbers) = loss.numbers.filter(|_| loss.lost_pkts > 0) {
            spread(numbers, loss.lost_pkts).for_each(|number| self.lose(number));
        }
    }

    fn judge(&self, _: &Loss) -> Judgement {
        if self.last.is_none() {
            return congestion_without("the number of a lost packet");
        }
        let limit = self.config.threshold;
        let evidence =
            Evidence::new(DROP_RATE.name, "drop rate", Amount::Number(100.0 * self.rate, "%"))
                .held_against("wireless up to", Amount::Number(100.0 * limit, "%"));
        Judgement::measured(Verdict::wireless_if(self.rate <= limit), evidence)
    }

    fn scope(&self) -> Scope {
        Scope::EVERY_LOSS
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Reason;
    use crate::{Signal, Time};
    use Verdict::{Congestion, Wireless};
    use std::vec::Vec;

    fn fresh() -> DropRate {
        DropRate::new(&DropRateConfig::default()).expect("valid")
    }

    fn lost(lda: &mut DropRate, first: u64, last: u64, pkts: u32) -> Verdict {
        let numbers = Some(Numbers { first, last });
        let loss = Loss { numbers, lost_pkts: pkts, ..Loss::new(Time::ZERO, Signal::Gap) };
        lda.on_loss(&loss);
        lda.judge(&loss).verdict
    }

    fn is_about(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-12
    }

    #[test]
    fn the_third_packet_lost_in_a_row_is_congestion() {
        let mut lda = fresh();
        // 1/16; 15/16 of that is 15/256, and 15/256 + 241/256/16 = 481/4096.
        assert_eq!(lost(&mut lda, 100, 100, 1), Wireless);
        assert!(is_about(lda.rate(), 0.0625));
        assert_eq!(lost(&mut lda, 101, 101, 1), Wireless);
        assert!(is_about(lda.rate(), 481.0 / 4096.0), "{}", lda.rate());
        // 15/16 of that is 7215/65536, and 7215/65536 + 58321/1048576 = 173761/1048576 = 0.1657.
        assert_eq!(lost(&mut lda, 102, 102, 1), Congestion);
        assert!(is_about(lda.rate(), 173_761.0 / 1_048_576.0), "{}", lda.rate());
    }

    #[test]
    fn a_gap_lets_the_rate_fall_but_no_further_than_by_32_packets() {
        let after = |gap| {
            let mut lda = fresh();
            lost(&mut lda, 10, 10, 1);
            lost(&mut lda, 10 + gap, 10 + gap, 1);
            lda.rate()
        };
        // (15/16)^2 / 16 = 225/4096; 225/4096 + 3871/65536 = 7471/65536.
        assert!(is_about(after(2), 7_471.0 / 65_536.0));
        assert!(after(31) > after(32));
        assert_eq!(after(32), after(33));
        assert_eq!(after(32), after(u64::MAX - 10));
    }

    #[test]
    fn one_loss_in_100_is_never_congestion_and_one_in_two_soon_is() {
        let verdicts = |distance| {
            let mut lda = fresh();
            (0..50_u64).map(|i| lost(&mut lda, i * distance, i * distance, 1)).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(100), [Wireless; 50]);
        // With a distance of 2 the rate is 1/16, 0.1140, 0.1564.
        let every_other = verdicts(2);
        assert_eq!(every_other[..3], [Wireless, Wireless, Congestion]);
        assert!(every_other[2..].iter().all(|verdict| *verdict == Congestion));
    }

    #[test]
    fn packets_lost_together_count_one_by_one() {
        let mut together = fresh();
        let mut apart = fresh();
        lost(&mut together, 20, 26, 4);
        [20, 22, 24, 26].iter().for_each(|&n| _ = lost(&mut apart, n, n, 1));
        assert_eq!(together.rate(), apart.rate());
        // More packets than numbers: each number once.
        lost(&mut together, 30, 31, 9);
        [30, 31].iter().for_each(|&n| _ = lost(&mut apart, n, n, 1));
        assert_eq!(together.rate(), apart.rate());
    }

    #[test]
    fn an_old_number_changes_nothing() {
        let mut lda = fresh();
        lost(&mut lda, 100, 100, 1);
        assert_eq!(lost(&mut lda, 100, 100, 1), Wireless);
        assert_eq!(lost(&mut lda, 40, 60, 21), Wireless);
        assert!(is_about(lda.rate(), 0.0625));
    }

    #[test]
    fn a_forged_count_is_cut_short_and_the_rate_stays_a_share() {
        let mut lda = fresh();
        assert_eq!(lost(&mut lda, 0, u64::MAX, u32::MAX), Wireless, "the numbers are far apart");
        assert_eq!(lost(&mut fresh(), 7, 7 + 100_000, 100_001), Congestion);
        assert!((0.0..=1.0).contains(&lda.rate()));
    }

    #[test]
    fn without_numbers_it_is_congestion() {
        let loss = Loss::new(Time::ZERO, Signal::Gap);
        let mut lda = fresh();
        lda.on_loss(&loss);
        let judgement = lda.judge(&loss);
        assert_eq!(judgement.verdict, Congestion);
        assert!(matches!(judgement.reason, Reason::Missing { .. }));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let refused = |gain, gap_limit, threshold| {
            DropRate::new(&DropRateConfig { gain, gap_limit, threshold }).is_err()
        };
        assert!(
            refused(0.0, 32, 0.15)
                && refused(1.0, 32, 0.15)
                && refused(0.1, 0, 0.15)
                && refused(0.1, 32, 1.5)
        );
        assert!(!refused(0.1, 1, 0.0));
    }
}
