//! The largest gain from knowing the causes of losses, by TCP's square-root formula: Biaz and
//! Vaidya 1999, section 4.3.1.
//!
//! TCP carries MSS C / (RTT √p), where p is the rate of losses treated as congestion: r_c + r_w for
//! TCP, r_c for a TCP that knows the causes. The quotient of the two rates is √(1 + r_w / r_c).
//!
//! Parameters: `r_c`, `r_w` (probabilities, r_c above 0). Deviations: none.

use super::Inputs;

/// The throughput of a TCP that knows the causes over that of TCP.
///
/// # Errors
/// `r_c` or `r_w` is missing or no probability.
pub fn ideal_over_reno(inputs: &Inputs<'_>) -> Result<f64, String> {
    Ok((1.0 + inputs.probability("r_w")? / inputs.probability("r_c")?).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::model::value;
    use crate::papers::record::{Parameters, Value};

    fn at(r_c: f64, r_w: f64) -> Parameters {
        [("r_c", r_c), ("r_w", r_w)].map(|(name, rate)| (name.to_owned(), Value::from(rate))).into()
    }

    #[test]
    fn as_many_wireless_losses_as_others_are_worth_the_root_of_two() {
        assert!(
            (ideal_over_reno(&Inputs::new(&at(0.01, 0.01))).unwrap() - 2.0_f64.sqrt()).abs()
                < 1e-12
        );
        // The paper's 1.22 at twice as many congestion losses.
        assert!((ideal_over_reno(&Inputs::new(&at(0.02, 0.01))).unwrap() - 1.2247).abs() < 1e-4);
    }

    #[test]
    fn without_congestion_losses_there_is_no_bound() {
        assert_eq!(
            value("sqrt-model", "R_I", &at(0.0, 0.01)).unwrap_err(),
            "the formula of R_I has no value there"
        );
    }
}
