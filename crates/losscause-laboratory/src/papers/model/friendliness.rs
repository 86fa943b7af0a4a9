//! The TCP-friendly additive increase for a smaller decrease than a half: Barman and Matta 2002,
//! section 6.2.
//!
//! Additive increase by α packets per round trip and multiplicative decrease by the fraction β has
//! TCP's rate (α = 1, β = 1/2) under the same losses if α = 3 β / (2 - β). A labeler that errs
//! halves its window for congestion losses labelled congestion and for wireless losses labelled
//! congestion: β = (P_CC + P_CW) / 2.
//!
//! Parameters: `beta` (fraction, 0 to 1); `P_CC`, `P_CW` (probabilities, the sum at most 2).
//! Deviations: none. The paper's sum weighs both causes alike, however often each occurs.

use super::Inputs;

/// α, packets per round trip, that is friendly with the decrease `beta`.
///
/// # Errors
/// `beta` is missing or no fraction.
pub fn alpha(inputs: &Inputs<'_>) -> Result<f64, String> {
    let beta = inputs.probability("beta")?;
    Ok(3.0 * beta / (2.0 - beta))
}

/// β of a labeler with the given `P_CC` and `P_CW`.
///
/// # Errors
/// One of them is missing or no probability.
pub fn effective_beta(inputs: &Inputs<'_>) -> Result<f64, String> {
    Ok(0.5 * (inputs.probability("P_CC")? + inputs.probability("P_CW")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::{Parameters, Value};

    #[test]
    fn perfect_labels_halve_at_congestion_and_may_grow_by_a_packet() {
        let at: Parameters =
            [("P_CC", 1), ("P_CW", 0)].map(|(name, p)| (name.to_owned(), Value::from(p))).into();
        assert_eq!(effective_beta(&Inputs::new(&at)), Ok(0.5));
    }

    #[test]
    fn a_decrease_by_two_fifths_allows_three_quarters_of_a_packet() {
        // 3 * 0.4 / 1.6.
        let at: Parameters = [("beta".to_owned(), Value::from(0.4))].into();
        assert!((alpha(&Inputs::new(&at)).unwrap() - 0.75).abs() < 1e-12);
    }
}
