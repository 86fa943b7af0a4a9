//! Roll-back: did the recovery lose only few packets?
//!
//! At a loss the window is reduced. When the recovery ends, the reduction is undone if few packets
//! were lost since:
//!
//! ```text
//! at the loss:                congestion
//! at the recovery's end:      wireless  if  packets lost since the loss < max(20 % of cwnd, 2)
//! ```
//!
//! cwnd is the reduced one, in packets; 20 % of it are rounded down.
//!
//! Source: cloudflare/quiche, quiche/src/recovery/congestion/cubic.rs. A transport never rolls back
//! downwards or into slow start (`Algorithm::on_recovered`).
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `share` | of cwnd | 0.2 | 0 to 1 |
//! | `least` | packets | 2 | at least 0 |
//!
//! Deviations:
//!
//! - *The packets that are declared lost together with the first one* do not count: quiche takes
//!   its checkpoint after it has counted them.
//! - *A recovery with a mark, a timeout or persistent congestion* is not rolled back.

use super::{AnyAlgorithm, congestion_without};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::{
    Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Recovery, Time, Verdict,
};

/// The roll-back rule.
#[derive(Clone, Copy, Debug)]
pub struct RollBack {
    share: f64,
    least_pkts: u32,
    cwnd_pkts: Option<f64>,
    checkpoint: Option<Checkpoint>,
}

/// Parameters of [`RollBack`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RollBackConfig {
    /// Losses below this share of cwnd are wireless, 0 to 1.
    pub share: f64,
    /// Losses below this number are wireless, packets.
    pub least_pkts: u32,
}

/// The loss that opened a recovery.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    at: Time,
    lost_pkts: u64,
}

impl Default for RollBackConfig {
    /// 20 % of cwnd, or 2 packets.
    fn default() -> Self {
        Self { share: 0.2, least_pkts: 2 }
    }
}

static ROLL_BACK: Info =
    Info::new("roll-back", "congestion, but undone if the recovery lost less than 20 % of cwnd")
        .yardstick("cloudflare/quiche, recovery/congestion/cubic.rs", "rollback")
        .with_aliases(&["rollback"])
        .with_settings(&[
            Setting::new("share", "fewer packets than this share of cwnd are wireless; 0 to 1"),
            Setting::new("least", "fewer packets than this are wireless; at least 0"),
        ]);

impl Parameters for RollBackConfig {
    fn info(&self) -> &'static Info {
        &ROLL_BACK
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "share" => Field::Number(&mut self.share),
            "least" => Field::Count(&mut self.least_pkts),
            _ => return None,
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        RollBack::new(self).map(AnyAlgorithm::RollBack)
    }
}

impl RollBack {
    /// Outside a recovery.
    ///
    /// # Errors
    /// If the share is out of its range.
    pub fn new(config: &RollBackConfig) -> Result<Self, ConfigError> {
        check("share", config.share, |s| (0.0..=1.0).contains(&s), "a number from 0 to 1")?;
        Ok(Self {
            share: config.share,
            least_pkts: config.least_pkts,
            cwnd_pkts: None,
            checkpoint: None,
        })
    }
}

impl Algorithm for RollBack {
    fn name(&self) -> &'static str {
        ROLL_BACK.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_cwnd()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        self.cwnd_pkts = observation.cwnd_pkts().or(self.cwnd_pkts);
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.signal.means_congestion() {
            self.checkpoint = None;
        } else {
            self.checkpoint
                .get_or_insert(Checkpoint { at: loss.at, lost_pkts: loss.lost_pkts.into() });
        }
    }

    fn judge(&self, _: &Loss) -> Judgement {
        congestion_without("the number of packets that the recovery loses")
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        let checkpoint =
            self.checkpoint.take().filter(|checkpoint| checkpoint.at == recovery.began)?;
        let pkts = recovery.lost_pkts.saturating_sub(checkpoint.lost_pkts);
        let congestion_from =
            ((self.share * self.cwnd_pkts.unwrap_or(0.0)) as u64).max(self.least_pkts.into());
        let evidence =
            Evidence::new(ROLL_BACK.name, "lost since the reduction", Amount::packets(pkts as f64))
                .held_against("congestion from", Amount::packets(congestion_from as f64));
        (pkts < congestion_from).then_some(Judgement::measured(Verdict::Wireless, evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Acked;
    use crate::Signal;
    use crate::at;

    /// What is revised at the end of a recovery that opened with the loss of `opening` packets and
    /// lost `lost` in all, with a reduced window of `cwnd`.
    fn revised(
        opening: u32,
        lost: u64,
        cwnd: Option<f64>,
        other: Option<Signal>,
    ) -> Option<Verdict> {
        let mut lda = RollBack::new(&RollBackConfig::default()).expect("valid");
        let loss = Loss { lost_pkts: opening, ..Loss::new(at(100), Signal::Gap) };
        lda.on_loss(&loss);
        assert_eq!(lda.judge(&loss).verdict, Verdict::Congestion, "at first");
        if let Some(signal) = other {
            lda.on_loss(&Loss::new(at(110), signal));
        }
        lda.on_loss(&Loss::new(at(120), Signal::Gap));
        let sample =
            Observation::first(0, at(200)).with_acked(Acked { cwnd_pkts: cwnd, ..Acked::new(1) });
        lda.observe(&sample);
        lda.on_recovered(&Recovery::new(at(100), at(200), lost)).map(|judgement| judgement.verdict)
    }

    #[test]
    fn fewer_losses_than_a_fifth_of_the_cut_window_are_wireless() {
        // A fifth of 29 is 5.8: from 5 on.
        assert_eq!(revised(1, 5, Some(29.0), None), Some(Verdict::Wireless), "4 new ones");
        assert_eq!(revised(1, 6, Some(29.0), None), None, "5 new ones");
        assert_eq!(
            revised(3, 7, Some(29.0), None),
            Some(Verdict::Wireless),
            "the first three do not count"
        );
    }

    #[test]
    fn the_limit_is_at_least_two_packets() {
        for cwnd in [Some(4.0), None] {
            assert_eq!(revised(1, 2, cwnd, None), Some(Verdict::Wireless));
            assert_eq!(revised(1, 3, cwnd, None), None);
        }
    }

    #[test]
    fn a_recovery_with_certain_congestion_is_not_rolled_back() {
        for signal in [Signal::Timeout, Signal::EcnMark, Signal::PersistentCongestion] {
            assert_eq!(revised(1, 1, Some(29.0), Some(signal)), None, "{signal:?}");
        }
    }

    #[test]
    fn a_recovery_that_something_else_opened_is_not_rolled_back() {
        let mut lda = RollBack::new(&RollBackConfig::default()).expect("valid");
        lda.on_loss(&Loss::new(at(100), Signal::Gap));
        assert_eq!(lda.on_recovered(&Recovery::new(at(90), at(200), 1)), None);
        assert_eq!(lda.on_recovered(&Recovery::new(at(100), at(200), 1)), None, "it is over");
    }

    #[test]
    fn a_share_above_one_is_refused() {
        let with =
            |share| RollBack::new(&RollBackConfig { share, ..RollBackConfig::default() }).is_ok();
        assert_eq!([with(1.1), with(-0.1), with(1.0)], [false, false, true]);
    }
}
