//! The rate of a labelled NewReno as a fluid: Barman and Matta 2002, section 4.
//!
//! A packet is lost with probability p_c to congestion and then, if it was not, with p_w to the
//! air. With A the probability that it arrives and B the one that its loss halves the window W:
//!
//! ```text
//! A = (1 - p_c)(1 - p_w),   B = p_c P_CC + (1 - p_c) p_w (1 - P_WW)
//! E[dW]   = A/W - (W/2) B                                            (2)   per acknowledgement
//! dr/dt   = A/RTT^2 - (r^2/2) B,   r = W/RTT                         (3)
//! r(t)    = r_inf (1 + C e^(-2at)) / (1 - C e^(-2at))                (4)
//! r_inf   = sqrt(2A/B) / RTT                                         (5)
//! ```
//!
//! There are no timeouts, and p_c does not depend on the rate.
//!
//! Parameters: `p_c`, `p_w`, `P_CC`, `P_WW` (probabilities), `RTT` (seconds, above 0).
//!
//! Deviations: a of equation 4. The paper prints a = sqrt(AB) / (2 RTT^2), which has the wrong
//! dimension and does not solve equation 3: with k = B/2 the equation is dr/dt = k (r_inf^2 - r^2),
//! so a = k r_inf = sqrt(AB/2) / RTT. A test integrates equation 3 and finds this one. The steady
//! state is the same.

use super::Inputs;

/// What happens to a packet and to the window, per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// A: the probability that a packet arrives.
    pub arrives: f64,
    /// B: the probability that it is lost, and the window halved for it.
    pub halves: f64,
    /// Round-trip time, seconds.
    pub rtt: f64,
}

impl Fluid {
    /// Reads the parameters of the model.
    ///
    /// # Errors
    /// One of them is missing or out of range.
    pub fn of(inputs: &Inputs<'_>) -> Result<Self, String> {
        let p_c = inputs.probability("p_c")?;
        let p_w = inputs.probability("p_w")?;
        let p_cc = inputs.probability("P_CC")?;
        let p_ww = inputs.probability("P_WW")?;
        let rtt = inputs.number("RTT", f64::MIN_POSITIVE, 1e6)?;
        Ok(Self {
            arrives: (1.0 - p_c) * (1.0 - p_w),
            halves: p_c * p_cc + (1.0 - p_c) * p_w * (1.0 - p_ww),
            rtt,
        })
    }

    /// Equation 2: the mean change of a window of so many packets, per acknowledgement.
    pub fn change(&self, window_pkts: f64) -> f64 {
        self.arrives / window_pkts - window_pkts / 2.0 * self.halves
    }

    /// Equation 3: the change of a rate, packets per second, per second.
    pub fn slope(&self, rate: f64) -> f64 {
        self.arrives / self.rtt.powi(2) - rate.powi(2) / 2.0 * self.halves
    }

    /// Equation 5: the steady rate, packets per second; infinite if no loss halves the window.
    pub fn steady_rate(&self) -> f64 {
        (2.0 * self.arrives / self.halves).sqrt() / self.rtt
    }

    /// Equation 4: the rate `seconds` after it was `start`, packets per second. The steady rate
    /// must be finite.
    pub fn rate_at(&self, seconds: f64, start: f64) -> f64 {
        self.approach((self.arrives * self.halves / 2.0).sqrt() / self.rtt, seconds, start)
    }

    /// Equation 4 for any a.
    fn approach(&self, a: f64, seconds: f64, start: f64) -> f64 {
        let steady = self.steady_rate();
        let c = (start - steady) / (start + steady);
        let decay = c * (-2.0 * a * seconds).exp();
        steady * (1.0 + decay) / (1.0 - decay)
    }

    /// The same by `steps` steps of the classical Runge-Kutta method on equation 3.
    pub fn integrated(&self, seconds: f64, start: f64, steps: u32) -> f64 {
        let h = seconds / f64::from(steps);
        (0..steps).fold(start, |rate, _| {
            let k1 = self.slope(rate);
            let k2 = self.slope(rate + h / 2.0 * k1);
            let k3 = self.slope(rate + h / 2.0 * k2);
            let k4 = self.slope(rate + h * k3);
            rate + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        })
    }
}

/// The steady rate, packets per second.
///
/// # Errors
/// A parameter is missing or out of range.
pub fn steady_rate(inputs: &Inputs<'_>) -> Result<f64, String> {
    Ok(Fluid::of(inputs)?.steady_rate())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p_c = 0.01, p_w = 0.05, P_CC = 1, P_WW = 0.9, RTT = 0.1 s. A = 0.99 * 0.95 = 0.9405;
    /// B = 0.01 + 0.99 * 0.05 * 0.1 = 0.01495.
    const FLUID: Fluid = Fluid { arrives: 0.9405, halves: 0.01495, rtt: 0.1 };

    #[test]
    fn the_steady_rate_is_112_packets_per_second_by_hand() {
        // sqrt(2 * 0.9405 / 0.01495) = sqrt(125.819) = 11.2169 packets per 0.1 s.
        assert!((FLUID.steady_rate() - 112.169).abs() < 0.001, "{}", FLUID.steady_rate());
    }

    #[test]
    fn at_the_steady_rate_neither_window_nor_rate_changes() {
        let rate = FLUID.steady_rate();
        assert!(FLUID.slope(rate).abs() < 1e-9);
        assert!(FLUID.change(rate * FLUID.rtt).abs() < 1e-12);
        // 0.9405 / 4 - 2 * 0.01495 at 4 packets.
        assert!((FLUID.change(4.0) - 0.205_225).abs() < 1e-12);
    }

    #[test]
    fn the_closed_form_solves_equation_3_unlike_the_printed_one() {
        let printed = (FLUID.arrives * FLUID.halves).sqrt() / (2.0 * FLUID.rtt.powi(2));
        for start in [1.0, 40.0, 300.0] {
            for seconds in [0.2, 0.5, 1.0, 3.0] {
                let numerically = FLUID.integrated(seconds, start, 2_000);
                let closed = FLUID.rate_at(seconds, start);
                assert!(
                    (closed / numerically - 1.0).abs() < 1e-6,
                    "{start} {seconds}: {closed} {numerically}"
                );
            }
            let numerically = FLUID.integrated(0.2, start, 2_000);
            let wrong = FLUID.approach(printed, 0.2, start);
            assert!((wrong / numerically - 1.0).abs() > 0.1, "{start}: {wrong} {numerically}");
        }
    }

    #[test]
    fn both_forms_begin_at_the_start_and_end_in_the_steady_state() {
        assert!((FLUID.rate_at(0.0, 7.0) - 7.0).abs() < 1e-9);
        assert!((FLUID.rate_at(1e3, 7.0) / FLUID.steady_rate() - 1.0).abs() < 1e-12);
        assert!((FLUID.integrated(30.0, 7.0, 20_000) / FLUID.steady_rate() - 1.0).abs() < 1e-9);
    }
}
