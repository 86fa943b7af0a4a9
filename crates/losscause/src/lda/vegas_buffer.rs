//! Vegas buffer: are many of the window's packets queued?
//!
//! A window of W packets would cross an empty path in the smallest round-trip time; any additional
//! time is spent in queues. So this many of its packets are queued:
//!
//! ```text
//! queued = W (1 - RTT_min / RTT) = (W / RTT_min - W / RTT) RTT_min
//! wireless  if  queued <= alpha,   congestion  if  queued >= beta
//! ```
//!
//! Source: the Vegas predictor of Biaz & Vaidya 1998, "Distinguishing congestion losses from
//! wireless transmission losses: a negative result". The estimate and the thresholds of 1 and 3 are
//! those of Vegas (Brakmo & Peterson 1995). Koo et al. 2007, equations 1 to 3, use the same
//! estimate with thresholds of 14 and 16.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `alpha` | packets | 1 | 0 to `beta` |
//! | `beta` | packets | 3 | at least `alpha` |
//! | `between` | | previous | see below |
//! | `window_of` | | cwnd | see below |
//!
//! Deviations: none known; only the rule of the first source was available. The sources leave open:
//!
//! - *Between the thresholds* the verdict is the last one from outside them; before any, undecided.
//!   With `undecided` it is always undecided, since Koo et al. postpone the decision.
//! - *What is W?* cwnd. Koo et al. call it "equal to the number of bytes in transit", which does
//!   not hold during recovery; that reading is `in-flight`.
//! - *A tie* with a threshold counts as outside; if both thresholds are equal, a tie is congestion.

use super::{AnyAlgorithm, BIAZ_1998};
use crate::filter::Backlog;
use crate::registry::{
    ConfigError, End, Field, Info, Parameters, Setting, check, check_order, choice,
};
use crate::verdict::Input;
use crate::{Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Span, Verdict};

/// The Vegas buffer rule.
#[derive(Clone, Copy, Debug)]
pub struct VegasBuffer {
    alpha: f64,
    beta: f64,
    between: Between,
    window_of: WindowOf,
    backlog: Backlog,
    queued: Option<f64>,
    /// The verdict when the estimate was last outside the thresholds.
    outside: Option<Verdict>,
}

/// Parameters of [`VegasBuffer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasBufferConfig {
    /// At most this many queued packets mean a wireless loss, 0 to `beta`.
    pub alpha: f64,
    /// At least this many queued packets mean congestion.
    pub beta: f64,
    /// The verdict between the two.
    pub between: Between,
    /// The window whose packets are queued.
    pub window_of: WindowOf,
}

choice! {
    /// The verdict between the thresholds.
    pub enum Between {
        /// The last verdict from outside them.
        #[default]
        Previous = "previous",
        /// Undecided.
        Undecided = "undecided",
    }
}

choice! {
    /// The window whose packets are queued.
    pub enum WindowOf {
        /// The congestion window.
        #[default]
        Cwnd = "cwnd",
        /// The unacknowledged packets.
        InFlight = "in-flight",
    }
}

impl Default for VegasBufferConfig {
    /// Thresholds of 1 and 3 packets.
    fn default() -> Self {
        Self { alpha: 1.0, beta: 3.0, between: Between::Previous, window_of: WindowOf::Cwnd }
    }
}

impl VegasBufferConfig {
    /// The thresholds of Koo et al. 2007 (WestwoodVT): 14 and 16 packets, undecided between them.
    pub const fn westwood_vt() -> Self {
        Self { alpha: 14.0, beta: 16.0, between: Between::Undecided, window_of: WindowOf::Cwnd }
    }

    /// The threshold of Fu & Liew 2003 (Veno): 3 packets.
    pub const fn veno() -> Self {
        Self { alpha: 3.0, beta: 3.0, between: Between::Previous, window_of: WindowOf::Cwnd }
    }
}

static VEGAS_BUFFER: Info = Info::new(
    "Vegas buffer",
    "congestion if many packets of the window wait in queues, wireless if few do",
)
.from(BIAZ_1998, "Vegas predictor")
.with_aliases(&["vegas-buffer"])
.with_settings(&[
    Setting::new("alpha", "up to so many queued packets mean a wireless loss; 0 to beta"),
    Setting::new("beta", "from so many queued packets on it is congestion; at least alpha"),
    Setting::new("between", "the answer between the two: previous or undecided"),
    Setting::new(
        "window_of",
        "the window that the queued packets are a part of: cwnd or in-flight",
    ),
]);

impl Parameters for VegasBufferConfig {
    fn info(&self) -> &'static Info {
        &VEGAS_BUFFER
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "alpha" => Field::Number(&mut self.alpha),
            "beta" => Field::Number(&mut self.beta),
            "between" => Field::Choice(&mut self.between),
            "window_of" => Field::Choice(&mut self.window_of),
            _ => return None,
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        VegasBuffer::new(self).map(AnyAlgorithm::VegasBuffer)
    }
}

impl VegasBuffer {
    /// A new Vegas buffer.
    ///
    /// # Errors
    /// If a threshold is negative, or alpha exceeds beta.
    pub fn new(config: &VegasBufferConfig) -> Result<Self, ConfigError> {
        check("beta", config.beta, |b| b >= 0.0, "a number of packets, not negative")?;
        check("alpha", config.alpha, |a| a >= 0.0, "a number of packets from 0 to beta")?;
        check_order(("alpha", config.alpha), ("beta", config.beta))?;
        Ok(Self {
            alpha: config.alpha,
            beta: config.beta,
            between: config.between,
            window_of: config.window_of,
            backlog: Backlog::default(),
            queued: None,
            outside: None,
        })
    }

    /// Handles an ACK's round-trip time, which must be above zero.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span, cwnd_pkts: Option<f64>, in_flight_pkts: u64) {
        self.backlog.observe(rtt);
        let window_pkts = match self.window_of {
            WindowOf::Cwnd => cwnd_pkts,
            WindowOf::InFlight => Some(in_flight_pkts as f64),
        };
        // Biaz & Vaidya 1998, the Vegas predictor: W (1 - RTT_min / RTT) packets are queued.
        let Some(queued) = window_pkts.and_then(|pkts| self.backlog.pkts(pkts)) else { return };
        self.queued = Some(queued);
        // Wireless up to alpha, congestion from beta on.
        if queued >= self.beta {
            self.outside = Some(Verdict::Congestion);
        } else if queued <= self.alpha {
            self.outside = Some(Verdict::Wireless);
        } else if self.between == Between::Undecided {
            self.outside = None;
        }
    }

    /// Packets in queues, by the newest round-trip time.
    pub fn queued(&self) -> Option<f64> {
        self.queued
    }

    /// Judges a loss declared now. Repeated calls give the same answer.
    pub fn verdict(&self) -> Judgement {
        let Some(pkts) = self.queued else {
            let input = if self.backlog.base_rtt().is_some() {
                "a congestion window"
            } else {
                "a round-trip time"
            };
            return Judgement::without(Input::Other(input));
        };
        let evidence = Evidence::new(VEGAS_BUFFER.name, "packets in queues", Amount::packets(pkts))
            .held_against("wireless up to", Amount::packets(self.alpha))
            .held_against("congestion from", Amount::packets(self.beta));
        Judgement::measured(self.outside.unwrap_or(Verdict::Undecided), evidence)
    }
}

impl Algorithm for VegasBuffer {
    fn name(&self) -> &'static str {
        VEGAS_BUFFER.name
    }

    fn needs(&self) -> Needs {
        Needs { cwnd: self.window_of == WindowOf::Cwnd, ..Needs::NONE.with_acks() }
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        if let Some(rtt) = observation.delay.filter(|rtt| *rtt > Span::ZERO) {
            let in_flight_pkts = observation.acked.map_or(0, |acked| acked.in_flight_pkts);
            self.on_rtt(rtt, observation.cwnd_pkts(), in_flight_pkts);
        }
    }

    fn judge(&self, _: &Loss) -> Judgement {
        self.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Congestion, Undecided, Wireless};

    fn fresh(config: VegasBufferConfig) -> VegasBuffer {
        VegasBuffer::new(&config).expect("valid")
    }

    /// Queued packets and verdict after each round-trip time (ms), with a window of 10 packets of
    /// which 8 are in flight.
    fn fed<const N: usize>(config: VegasBufferConfig, rtts_ms: [i64; N]) -> [(f64, Verdict); N] {
        let mut lda = fresh(config);
        rtts_ms.map(|ms| {
            lda.on_rtt(Span::from_millis(ms), Some(10.0), 8);
            (lda.queued().expect("fed"), lda.verdict().verdict)
        })
    }

    #[test]
    fn packets_above_the_smallest_round_trip_meet_both_thresholds() {
        // 10 (1 - 80/160) = 5, 10 (1 - 80/100) = 2, 10 (1 - 80/80) = 0, then 2 and 5 again.
        let judged = fed(VegasBufferConfig::default(), [80, 160, 100, 80, 100, 160]);
        let expected = [
            (0.0, Wireless),
            (5.0, Congestion),
            (2.0, Congestion),
            (0.0, Wireless),
            (2.0, Wireless),
            (5.0, Congestion),
        ];
        assert_eq!(judged, expected);
    }

    #[test]
    fn between_the_thresholds_there_may_be_no_answer() {
        let config =
            VegasBufferConfig { between: Between::Undecided, ..VegasBufferConfig::default() };
        assert_eq!(
            fed(config, [80, 160, 100]).map(|(_, verdict)| verdict),
            [Wireless, Congestion, Undecided]
        );
    }

    #[test]
    fn the_window_is_cwnd_or_what_is_in_flight() {
        let config =
            VegasBufferConfig { window_of: WindowOf::InFlight, ..VegasBufferConfig::default() };
        // 8 (1 - 80/160) = 4.
        assert_eq!(fed(config, [80, 160]), [(0.0, Wireless), (4.0, Congestion)]);
    }

    #[test]
    fn a_tie_is_outside_of_the_thresholds_and_congestion_if_equal() {
        let at = |alpha, beta| {
            let config = VegasBufferConfig { alpha, beta, ..VegasBufferConfig::default() };
            fed(config, [80, 160])[1].1
        };
        assert_eq!([at(1.0, 5.0), at(5.0, 6.0), at(5.0, 5.0)], [Congestion, Wireless, Congestion]);
    }

    #[test]
    fn nothing_is_known_before_the_first_round_trip_time() {
        assert_eq!(fresh(VegasBufferConfig::default()).verdict().verdict, Undecided);
    }

    #[test]
    fn thresholds_in_the_wrong_order_or_negative_are_refused() {
        let refusal = |alpha, beta| {
            VegasBuffer::new(&VegasBufferConfig { alpha, beta, ..VegasBufferConfig::default() })
                .err()
        };
        assert!(matches!(
            refusal(4.0, 3.0),
            Some(ConfigError::WrongOrder { smaller: "alpha", larger: "beta", .. })
        ));
        assert!(matches!(refusal(-1.0, 3.0), Some(ConfigError::OutOfRange { key: "alpha", .. })));
        assert!(matches!(
            refusal(1.0, f64::INFINITY),
            Some(ConfigError::OutOfRange { key: "beta", .. })
        ));
        assert_eq!(refusal(3.0, 3.0), None);
    }
}
