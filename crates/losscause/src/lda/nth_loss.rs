//! n-th loss: is it at least the n-th lost packet of its episode?
//!
//! A full queue loses several packets of a window, the air often only one. So the first losses of
//! an episode are tolerated, whatever was observed:
//!
//! ```text
//! an episode: from a loss until a packet sent after it is acknowledged or lost
//! wireless  if  fewer than n packets were lost in the episode so far,   else congestion
//! ```
//!
//! Sources: h2o/quicly, pull request 445 (loss-tolerant Reno), 2021: n = 2. haproxy, commit
//! 67bf1d6c, 2025, tolerates a number of losses between two ACKs (0, 1, 2, 4): that number is n - 1
//! here, with `within = "ack"`.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `n` | packets | 2 | at least 1 |
//! | `within` | | episode | see below |
//!
//! Deviations: none. With `within = "ack"` only the losses that were declared since the last ACK
//! count. A timeout ends an episode.

use super::AnyAlgorithm;
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check, choice};
use crate::{
    Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Recovery, Scope, Signal,
    Time, Verdict,
};

/// The n-th loss of an episode is congestion.
#[derive(Clone, Copy, Debug)]
pub struct NthLoss {
    n: u32,
    within: Within,
    episode: Option<Episode>,
    /// Packets lost in the episode, or since the last ACK.
    lost_pkts: u64,
}

/// Parameters of [`NthLoss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NthLossConfig {
    /// The first loss that means congestion, at least 1.
    pub n: u32,
    /// Which losses count.
    pub within: Within,
}

choice! {
    /// Which losses count together.
    pub enum Within {
        /// Those of an episode (quicly).
        #[default]
        Episode = "episode",
        /// Those between two ACKs (haproxy).
        Ack = "ack",
    }
}

/// An episode of losses.
#[derive(Clone, Copy, Debug)]
struct Episode {
    began: Time,
    /// A packet sent after its start was acknowledged.
    over: bool,
}

impl Default for NthLossConfig {
    /// The second loss of an episode.
    fn default() -> Self {
        Self { n: 2, within: Within::Episode }
    }
}

static NTH_LOSS: Info = Info::new("n-th loss", "wireless until n packets are lost in an episode")
    .yardstick("h2o/quicly, pull request 445, 2021; haproxy, commit 67bf1d6c", "cc-reno.c")
    .with_aliases(&["nth-loss"])
    .with_settings(&[
        Setting::new("n", "the first loss that means congestion, packets; at least 1"),
        Setting::new("within", "which losses count together: those of an episode, or of one ack"),
    ]);

impl Parameters for NthLossConfig {
    fn info(&self) -> &'static Info {
        &NTH_LOSS
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "n" => Field::Count(&mut self.n),
            "within" => Field::Choice(&mut self.within),
            _ => return None,
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        NthLoss::new(self).map(AnyAlgorithm::NthLoss)
    }
}

impl NthLoss {
    /// Outside an episode.
    ///
    /// # Errors
    /// If n is 0.
    pub fn new(config: &NthLossConfig) -> Result<Self, ConfigError> {
        check("n", config.n.into(), |n| n >= 1.0, "a whole number, at least 1")?;
        Ok(Self { n: config.n, within: config.within, episode: None, lost_pkts: 0 })
    }

    /// Whether the loss belongs to the present episode: its newest packet was sent before the
    /// episode's start. If the transport does not know that time, the episode lasts until the
    /// recovery ends.
    fn continues_episode(&self, loss: &Loss) -> bool {
        self.episode.is_some_and(|episode| {
            loss.sent_at.map_or(!episode.over, |sent_at| sent_at <= episode.began)
        })
    }
}

impl Algorithm for NthLoss {
    fn name(&self) -> &'static str {
        NTH_LOSS.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_acks()
    }

    #[inline]
    fn observe(&mut self, _: &Observation) {
        if self.within == Within::Ack {
            self.lost_pkts = 0;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.signal == Signal::Timeout {
            self.episode = None;
            self.lost_pkts = 0;
            return;
        }
        if loss.lost_pkts == 0 {
            return;
        }
        if self.within == Within::Episode && !self.continues_episode(loss) {
            self.episode = Some(Episode { began: loss.at, over: false });
            self.lost_pkts = 0;
        }
        self.lost_pkts = self.lost_pkts.saturating_add(loss.lost_pkts.into());
    }

    fn judge(&self, _: &Loss) -> Judgement {
        let quantity = match self.within {
            Within::Episode => "lost in the episode",
            Within::Ack => "lost since the last acknowledgement",
        };
        let evidence =
            Evidence::new(NTH_LOSS.name, quantity, Amount::packets(self.lost_pkts as f64))
                .held_against("congestion from", Amount::packets(self.n.into()));
        Judgement::measured(Verdict::wireless_if(self.lost_pkts < self.n.into()), evidence)
    }

    fn on_recovered(&mut self, _: &Recovery) -> Option<Judgement> {
        if let Some(episode) = &mut self.episode {
            episode.over = true;
        }
        None
    }

    fn scope(&self) -> Scope {
        Scope::EVERY_LOSS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use Verdict::{Congestion, Wireless};

    fn with(n: u32, within: Within) -> NthLoss {
        NthLoss::new(&NthLossConfig { n, within }).expect("valid")
    }

    /// `pkts` packets, the newest of them sent at `sent_ms`, are declared lost at `ms`.
    fn lost(lda: &mut NthLoss, ms: i64, sent_ms: Option<i64>, pkts: u32) -> Verdict {
        let loss =
            Loss { lost_pkts: pkts, sent_at: sent_ms.map(at), ..Loss::new(at(ms), Signal::Gap) };
        lda.on_loss(&loss);
        lda.judge(&loss).verdict
    }

    fn recovered(lda: &mut NthLoss) {
        assert_eq!(lda.on_recovered(&Recovery::new(at(0), at(0), 1)), None);
    }

    #[test]
    fn an_episodes_second_packet_and_all_later_ones_are_congestion() {
        let mut lda = with(2, Within::Episode);
        let verdicts = [100, 110, 120].map(|ms| lost(&mut lda, ms, Some(ms - 90), 1));
        assert_eq!(verdicts, [Wireless, Congestion, Congestion]);
    }

    #[test]
    fn a_packet_sent_after_the_first_loss_opens_the_next_episode() {
        let mut lda = with(2, Within::Episode);
        lost(&mut lda, 100, Some(10), 1);
        assert_eq!(lost(&mut lda, 190, Some(101), 1), Wireless);
        // Sent before the second episode's start.
        assert_eq!(lost(&mut lda, 280, Some(190), 1), Congestion);
    }

    #[test]
    fn a_late_loss_of_an_earlier_packet_belongs_to_the_episode() {
        let mut lda = with(2, Within::Episode);
        lost(&mut lda, 100, Some(10), 1);
        recovered(&mut lda);
        assert_eq!(lost(&mut lda, 201, Some(100), 1), Congestion);
    }

    #[test]
    fn without_send_times_the_recovery_is_the_episode() {
        let mut lda = with(2, Within::Episode);
        assert_eq!(
            [lost(&mut lda, 100, None, 1), lost(&mut lda, 110, None, 1)],
            [Wireless, Congestion]
        );
        recovered(&mut lda);
        assert_eq!(
            [lost(&mut lda, 250, None, 1), lost(&mut lda, 260, None, 1)],
            [Wireless, Congestion]
        );
    }

    #[test]
    fn packets_that_are_declared_together_all_count() {
        assert_eq!(lost(&mut with(5, Within::Episode), 100, None, 4), Wireless);
        assert_eq!(lost(&mut with(5, Within::Episode), 100, None, 5), Congestion);
        assert_eq!(
            lost(&mut with(1, Within::Episode), 100, None, 1),
            Congestion,
            "n = 1 tolerates nothing"
        );
    }

    #[test]
    fn between_two_acks_the_count_starts_anew_with_every_ack() {
        let mut lda = with(3, Within::Ack);
        assert_eq!(
            [lost(&mut lda, 100, None, 2), lost(&mut lda, 100, None, 1)],
            [Wireless, Congestion]
        );
        lda.observe(&Observation::first(0, at(101)));
        assert_eq!(lost(&mut lda, 101, None, 2), Wireless);
    }

    #[test]
    fn a_timeout_ends_an_episode_and_a_mark_is_no_loss() {
        let mut lda = with(2, Within::Episode);
        lost(&mut lda, 100, None, 1);
        lda.on_loss(&Loss { lost_pkts: 0, ..Loss::new(at(101), Signal::EcnMark) });
        lda.on_loss(&Loss::new(at(1_100), Signal::Timeout));
        assert_eq!(lost(&mut lda, 1_300, None, 1), Wireless);
        lda.on_loss(&Loss { lost_pkts: 0, ..Loss::new(at(1_310), Signal::EcnMark) });
        assert_eq!(lost(&mut lda, 1_320, None, 1), Congestion);
    }

    #[test]
    fn an_n_of_zero_is_refused() {
        assert!(NthLoss::new(&NthLossConfig { n: 0, within: Within::Episode }).is_err());
    }
}
