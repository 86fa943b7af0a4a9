//! The TCP throughput equation (RFC 5348, section 3.1) and its inverse.
//!
//! With segment size s, round-trip time R, loss event rate p, retransmission timeout t_RTO and one
//! packet per acknowledgement (b = 1):
//!
//! ```text
//!                              s
//! X = ------------------------------------------------------
//!     R sqrt(2p/3) + t_RTO 3 sqrt(3p/8) p (1 + 32 p^2)
//! ```
//!
//! ```
//! use losscause::Span;
//! use losscause_transport::tfrc::Equation;
//!
//! let rtt = Span::from_millis(100);
//! let rto = Span::from_millis(400);
//! let rate = Equation::Rfc5348.rate(0.01, rtt, rto, 1_460);
//! assert!((160_000.0..170_000.0).contains(&rate), "{rate} bytes per second");
//! let p = Equation::Rfc5348.loss_event_rate(rate, rtt, rto, 1_460, 0.001);
//! assert!((p - 0.01).abs() < 0.000_1);
//! ```

use losscause::Span;

/// The throughput equation in one of its two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// As printed in RFC 5348.
    Rfc5348,
    /// ns-2.35: the probability 3 sqrt(3p/8) of a timeout is held to 1 (as in Padhye et al. 1998),
    /// the rate to 25 million bytes per second.
    Ns2,
}

/// The limit of [`Equation::Ns2`], bytes per second.
const NS2_MAX_RATE: f64 = 25e6;

impl Equation {
    /// The rate in bytes per second that TCP would reach at loss event rate `p` (0 to 1) with
    /// packets of `bytes` payload. Infinite under [`Equation::Rfc5348`] if nothing is lost or both
    /// times are zero.
    pub fn rate(self, p: f64, rtt: Span, rto: Span, bytes: u32) -> f64 {
        let timeout = 3.0 * (3.0 * p / 8.0).sqrt();
        let timeout = match self {
            Equation::Rfc5348 => timeout,
            Equation::Ns2 => timeout.min(1.0),
        };
        let seconds_per_packet = rtt.as_secs_f64() * (2.0 * p / 3.0).sqrt()
            + rto.as_secs_f64() * timeout * p * (1.0 + 32.0 * p * p);
        let rate = f64::from(bytes) / seconds_per_packet;
        match self {
            Equation::Rfc5348 => rate,
            Equation::Ns2 => rate.min(NS2_MAX_RATE),
        }
    }

    /// A loss event rate at which [`Self::rate`] is within `tolerance` (relative) of `rate` bytes
    /// per second, found by halving the range 0 to 1. A rate out of reach gives the nearest end of
    /// the range, never 0.
    pub fn loss_event_rate(
        self,
        rate: f64,
        rtt: Span,
        rto: Span,
        bytes: u32,
        tolerance: f64,
    ) -> f64 {
        let mut p = 0.5;
        let mut step = 0.25;
        for _ in 0..MAX_HALVINGS {
            let reached = self.rate(p, rtt, rto, bytes);
            if (reached - rate).abs() < tolerance * rate {
                break;
            }
            if reached > rate {
                p += step;
            } else {
                p -= step;
            }
            step /= 2.0;
        }
        p
    }
}

/// Enough for loss event rates down to one in 10^15.
const MAX_HALVINGS: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RTT: Span = Span::from_millis(100);
    const RTO: Span = Span::from_millis(400);

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    #[test]
    fn one_percent_at_100_ms_is_eleven_packets_per_round_trip() {
        // sqrt(2*0.01/3) = 0.08164966; 3*sqrt(3*0.01/8) = 0.18371173; 1 + 32*0.0001 = 1.0032.
        // 0.1*0.08164966 + 0.4*0.18371173*0.01*1.0032 = 0.008164966 + 0.000737199 = 0.008902165 s
        // per packet.
        let rate = Equation::Rfc5348.rate(0.01, RTT, RTO, 1000);
        assert!(near(rate, 1000.0 / 0.008_902_165), "{rate}");
    }

    #[test]
    fn at_half_lost_only_ns2_holds_the_timeout_probability_to_one() {
        // sqrt(1/3) = 0.57735027; 3*sqrt(3/16) = 1.29903811; 0.5*(1 + 8) = 4.5. RFC: 0.057735027 +
        // 0.4*1.29903811*4.5 = 2.396003624; ns-2: 0.057735027 + 0.4*4.5 = 1.857735027.
        assert!(near(Equation::Rfc5348.rate(0.5, RTT, RTO, 1000), 1000.0 / 2.396_003_624));
        assert!(near(Equation::Ns2.rate(0.5, RTT, RTO, 1000), 1000.0 / 1.857_735_027));
    }

    #[test]
    fn without_loss_there_is_no_limit_except_in_ns2() {
        assert_eq!(Equation::Rfc5348.rate(0.0, RTT, RTO, 1000), f64::INFINITY);
        assert_eq!(Equation::Ns2.rate(0.0, RTT, RTO, 1000), 25e6);
    }

    #[test]
    fn an_unknown_round_trip_asks_for_the_highest_loss_event_rate() {
        let p = Equation::Ns2.loss_event_rate(1000.0, Span::ZERO, Span::ZERO, 1000, 0.05);
        assert!(p > 0.999 && p <= 1.0, "{p}");
    }

    #[test]
    fn five_percent_tolerance_takes_the_first_halving_near_enough() {
        // 1/2 down to 1/64 (85.8 kB/s) are too slow for 100 kB/s, 1/128 (129.4) is too fast; 3/256
        // (102.3) will do.
        let p = Equation::Rfc5348.loss_event_rate(100e3, RTT, RTO, 1000, 0.05);
        let reached = Equation::Rfc5348.rate(p, RTT, RTO, 1000);
        assert!((reached / 100e3 - 1.0).abs() < 0.05);
        assert_eq!(p, 3.0 / 256.0);
    }

    proptest! {
        #[test]
        fn the_inverse_undoes_the_equation(p in 1e-6..0.99f64, rtt_ms in 1..2000i64, bytes in 40..9000u32) {
            let rtt = Span::from_millis(rtt_ms);
            let rto = Span::from_millis(4 * rtt_ms);
            let rate = Equation::Rfc5348.rate(p, rtt, rto, bytes);
            let back = Equation::Rfc5348.loss_event_rate(rate, rtt, rto, bytes, 1e-12);
            prop_assert!((back / p - 1.0).abs() < 1e-6, "{p} became {back}");
        }

        #[test]
        fn more_loss_is_never_faster(p in 0.0..1.0f64, q in 0.0..1.0f64, ns2 in any::<bool>()) {
            let equation = if ns2 { Equation::Ns2 } else { Equation::Rfc5348 };
            let (low, high) = if p < q { (p, q) } else { (q, p) };
            prop_assert!(equation.rate(low, RTT, RTO, 1000) >= equation.rate(high, RTT, RTO, 1000));
        }
    }
}
