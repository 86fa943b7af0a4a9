//! Veno: were fewer than three of the window's packets queued in the last round?
//!
//! The estimate is that of the [Vegas buffer](super::vegas_buffer), but of the smallest round-trip
//! time of the last round trip instead of the newest one:
//!
//! ```text
//! N = W (1 - BaseRTT / minRTT)        minRTT: the smallest round-trip time of the last round
//! wireless  if  N < beta,   else congestion
//! ```
//!
//! Source: Linux, net/ipv4/tcp_veno.c, after Fu & Liew, "TCP Veno", IEEE JSAC 21(2), 2003. There a
//! wireless loss reduces the window to 4/5 instead of leaving it; that is a matter of the response
//! (`Variant::Veno` of losscause-transport).
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `beta` | packets | 3 | at least 0 |
//!
//! Deviations from the kernel:
//!
//! - *BaseRTT* is the smallest round-trip time so far; the kernel forgets it after an idle period,
//!   of which an algorithm learns nothing.
//! - *During recovery* the rounds go on; the kernel stops its estimate outside the open state.
//!
//! A round of at most two round-trip times gives no estimate, and the loss is congestion, as in the
//! kernel.

use super::{AnyAlgorithm, congestion_without};
use crate::filter::{Backlog, Round, Rounds};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::{Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Span};

/// Veno's rule.
#[derive(Clone, Copy, Debug)]
pub struct Veno {
    beta: f64,
    backlog: Backlog,
    rounds: Rounds,
    /// The last round that ended.
    last: Option<Round>,
    cwnd_pkts: Option<f64>,
}

/// Parameters of [`Veno`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VenoConfig {
    /// At least this many queued packets mean congestion.
    pub beta: f64,
}

/// A round with no more round-trip times gives no estimate.
const TOO_FEW_SAMPLES: u32 = 2;

impl Default for VenoConfig {
    /// 3 packets.
    fn default() -> Self {
        Self { beta: 3.0 }
    }
}

static VENO: Info =
    Info::new("Veno", "wireless if fewer than beta packets were queued in the last round trip")
        .yardstick(
            "Linux, net/ipv4/tcp_veno.c; Fu & Liew, IEEE JSAC 21(2), 2003",
            "tcp_veno_ssthresh",
        )
        .with_settings(&[Setting::new(
            "beta",
            "from so many queued packets on it is congestion; not negative",
        )]);

impl Parameters for VenoConfig {
    fn info(&self) -> &'static Info {
        &VENO
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        (key == "beta").then_some(Field::Number(&mut self.beta))
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        Veno::new(self).map(AnyAlgorithm::Veno)
    }
}

impl Veno {
    /// A new estimate.
    ///
    /// # Errors
    /// If beta is negative.
    pub fn new(config: &VenoConfig) -> Result<Self, ConfigError> {
        check("beta", config.beta, |b| b >= 0.0, "a number of packets, not negative")?;
        Ok(Self {
            beta: config.beta,
            backlog: Backlog::default(),
            rounds: Rounds::default(),
            last: None,
            cwnd_pkts: None,
        })
    }
}

impl Algorithm for Veno {
    fn name(&self) -> &'static str {
        VENO.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_cwnd()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        self.cwnd_pkts = observation.cwnd_pkts().or(self.cwnd_pkts);
        let Some(rtt) = observation.delay.filter(|rtt| *rtt > Span::ZERO) else { return };
        // tcp_veno_pkts_acked: BaseRTT is the smallest round-trip time, minRTT the smallest of the
        // round.
        self.backlog.observe(rtt);
        self.rounds.observe(rtt);
        self.last = self.rounds.turn(observation.at, rtt).or(self.last);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let Some(round) = self.last.filter(|round| round.samples > TOO_FEW_SAMPLES) else {
            return congestion_without("a round trip with three round-trip times");
        };
        let cwnd_pkts = loss.cwnd_pkts.or(self.cwnd_pkts);
        let Some(pkts) = cwnd_pkts.and_then(|cwnd| self.backlog.pkts_at(round.min, cwnd)) else {
            return congestion_without("a congestion window");
        };
        // tcp_veno_ssthresh: fewer than beta packets in the queue mean a wireless loss.
        Evidence::new(VENO.name, "packets in queues", Amount::packets(pkts))
            .wireless_below(Amount::packets(self.beta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Acked;
    use crate::Reason;
    use crate::{Signal, Time, Verdict};

    /// The judgement with a window of `cwnd` packets after ACKs at these times with these
    /// round-trip times, ms.
    fn judged(acks: &[(i64, i64)], cwnd: f64) -> Judgement {
        let mut lda = Veno::new(&VenoConfig::default()).expect("valid");
        for &(at, rtt) in acks {
            let at = Time::ZERO + Span::from_millis(at);
            lda.observe(
                &Observation::first(0, at)
                    .with_delay(Some(Span::from_millis(rtt)))
                    .with_acked(Acked { cwnd_pkts: Some(cwnd), ..Acked::new(1) }),
            );
        }
        lda.judge(&Loss::new(Time::ZERO, Signal::Gap))
    }

    /// The first round, of 80 ms, ends at 160 ms; the second one's round-trip times are 100, 90,
    /// 110 and 95 ms, and it ends at 255 ms with the packet sent at 160 ms.
    const TWO_ROUNDS: [(i64, i64); 8] =
        [(80, 80), (100, 80), (130, 80), (160, 80), (200, 100), (220, 90), (240, 110), (255, 95)];

    #[test]
    fn the_last_rounds_smallest_round_trip_is_held_against_the_base() {
        let queued = |cwnd| {
            let judgement = judged(&TWO_ROUNDS, cwnd);
            (judgement.evidence().expect("compared").value.value(), judgement.verdict)
        };
        // W (1 - 80/90) = W/9, although the newest round-trip time is 95 ms and the largest 110 ms.
        assert_eq!(queued(18.0), (2.0, Verdict::Wireless));
        assert_eq!(queued(27.0), (3.0, Verdict::Congestion));
        assert_eq!(queued(36.0), (4.0, Verdict::Congestion));
    }

    #[test]
    fn a_round_that_has_not_ended_does_not_count() {
        let [a, b, c, d, e, f, g, h] = TWO_ROUNDS;
        // 400 ms at the end belongs to the third round.
        assert_eq!(judged(&[a, b, c, d, e, f, g, h, (300, 400)], 18.0), judged(&TWO_ROUNDS, 18.0));
        // Only the first round has ended: nothing was queued.
        assert_eq!(judged(&[a, b, c, d, e, f, g], 1e6).verdict, Verdict::Wireless);
    }

    #[test]
    fn two_round_trips_are_too_few_and_without_any_it_is_congestion() {
        // Rounds: 80 ms at 80 to 160 ms with two times only.
        let two = judged(&[(80, 80), (160, 80)], 10.0);
        let three = judged(&[(80, 80), (100, 80), (160, 80)], 10.0);
        assert_eq!([two.verdict, three.verdict], [Verdict::Congestion, Verdict::Wireless]);
        assert_eq!(judged(&[], 10.0).verdict, Verdict::Congestion);
        assert!(matches!(judged(&[], 10.0).reason, Reason::Missing { .. }));
    }

    #[test]
    fn a_negative_beta_is_refused() {
        assert!(Veno::new(&VenoConfig { beta: -1.0 }).is_err());
        assert!(Veno::new(&VenoConfig { beta: 0.0 }).is_ok());
    }
}
