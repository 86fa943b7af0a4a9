//! The claims of Dalwadi, section by section.
//!
//! Where the paper prints a number, the predicate compares the mean with it; where it uses a word
//! ("equal", "moderate"), the cut-off is the one the record of the paper assigns to it.

use super::measured::{
    Mean, Measured, Predicate, Unmeasured, all, approx, decreasing, increasing, ratio,
};
use crate::papers::record::Value;

/// One predicate per checkable claim.
pub(super) const PREDICATES: &[&[(&str, Predicate)]] = &[ERRORS, CONGESTION, BOTH];

/// Tables 4.1 and 4.3: every error rate but none.
const RATES: [f64; 10] = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01];
/// Table 4.2: which sources send.
const SOURCES: [&str; 3] = ["UDP", "UDP1", "Both"];

const NEWRENO: &str = "NewReno";
const SPIKE: &str = "NewReno-Spike";

/// Section 4, Table 4.1.
const ERRORS: &[(&str, Predicate)] = &[
    ("spike-throughput-better", |m| {
        all(RATES, |e| {
            Ok(throughput(m, SPIKE, "error-only", e)? > throughput(m, NEWRENO, "error-only", e)?)
        })
    }),
    ("spike-cwnd-better", |m| {
        all(RATES, |e| Ok(cwnd(m, SPIKE, "error-only", e)? > cwnd(m, NEWRENO, "error-only", e)?))
    }),
    ("equal-without-error", |m| {
        let throughputs =
            (throughput(m, SPIKE, "error-only", 0.0)?, throughput(m, NEWRENO, "error-only", 0.0)?);
        let windows = (cwnd(m, SPIKE, "error-only", 0.0)?, cwnd(m, NEWRENO, "error-only", 0.0)?);
        Ok(approx(throughputs.0, throughputs.1, 0.01) && approx(windows.0, windows.1, 0.01))
    }),
    ("gain-error-only-1pct", |m| Ok(approx(gain(m, "error-only", 0.01)?, 2.325, 0.2))),
    ("gain-grows", |m| {
        let gains = [0.001, 0.003, 0.006, 0.01].map(|e| gain(m, "error-only", e));
        Ok(increasing(&gains.into_iter().collect::<Result<Vec<f64>, Unmeasured>>()?, 0.05))
    }),
    ("reno-falls", |m| {
        let course = [0.0, 0.001, 0.002, 0.003, 0.006, 0.01]
            .map(|e| throughput(m, NEWRENO, "error-only", e));
        let course = course.into_iter().collect::<Result<Vec<f64>, Unmeasured>>()?;
        Ok(course[5] < 0.4 * course[0] && decreasing(&course, 0.02))
    }),
    ("spike-falls-slowly", |m| {
        Ok(throughput(m, SPIKE, "error-only", 0.01)?
            > 0.6 * throughput(m, SPIKE, "error-only", 0.0)?)
    }),
    ("error-treated-as-congestion", |m| {
        Ok(cwnd(m, NEWRENO, "error-only", 0.005)? < cwnd(m, NEWRENO, "error-only", 0.0)?)
    }),
    // Of the 2 Mb/s.
    ("unit-check", |m| {
        Ok(approx(throughput(m, NEWRENO, "error-only", 0.0)? * 8.0 / 2e6, 0.849, 0.1))
    }),
];

/// Sections 3 and 4, Table 4.2.
const CONGESTION: &[(&str, Predicate)] = &[
    ("congestion-unchanged", |m| {
        all(SOURCES, |udp| {
            let throughputs =
                (beside("throughput", m, SPIKE, udp)?, beside("throughput", m, NEWRENO, udp)?);
            let windows = (beside("cwnd", m, SPIKE, udp)?, beside("cwnd", m, NEWRENO, udp)?);
            Ok(approx(throughputs.0, throughputs.1, 0.01) && approx(windows.0, windows.1, 0.02))
        })
    }),
    ("congestion-lowers", |m| {
        let both = beside("throughput", m, NEWRENO, "Both")?;
        let one =
            beside("throughput", m, NEWRENO, "UDP")?.min(beside("throughput", m, NEWRENO, "UDP1")?);
        Ok(both < one && one < throughput(m, NEWRENO, "error-only", 0.0)?)
    }),
    ("alters-only-with-error", |m| {
        Ok(approx(
            beside("throughput", m, SPIKE, "Both")?,
            beside("throughput", m, NEWRENO, "Both")?,
            0.01,
        ))
    }),
];

/// Section 4, Table 4.3.
const BOTH: &[(&str, Predicate)] = &[
    ("spike-both-better", |m| {
        all(RATES, |e| {
            Ok(throughput(m, SPIKE, "both", e)? > throughput(m, NEWRENO, "both", e)?
                && cwnd(m, SPIKE, "both", e)? > cwnd(m, NEWRENO, "both", e)?)
        })
    }),
    ("gain-both-1pct", |m| Ok(approx(gain(m, "both", 0.01)?, 2.462, 0.2))),
];

/// Bytes per second at an error rate.
fn throughput(m: &Measured<'_>, system: &str, scenario: &str, error_rate: f64) -> Mean {
    m.value("throughput", system, scenario, &[("error_rate", error_rate.into())])
}

/// Packets at an error rate.
fn cwnd(m: &Measured<'_>, system: &str, scenario: &str, error_rate: f64) -> Mean {
    m.value("cwnd", system, scenario, &[("error_rate", error_rate.into())])
}

/// What the algorithm multiplies the throughput by.
fn gain(m: &Measured<'_>, scenario: &str, error_rate: f64) -> Mean {
    Ok(ratio(
        throughput(m, SPIKE, scenario, error_rate)?,
        throughput(m, NEWRENO, scenario, error_rate)?,
    ))
}

/// A metric beside the sources named.
fn beside(metric: &str, m: &Measured<'_>, system: &str, udp: &str) -> Mean {
    m.value(metric, system, "congestion-only", &[("udp", Value::from(udp))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::claims::measured::Answer;
    use crate::papers::claims::tests::item;

    fn settled(id: &str, items: &[crate::papers::record::Item]) -> Answer {
        let (_, predicate) =
            PREDICATES.iter().copied().flatten().find(|(known, _)| *known == id).unwrap();
        predicate(&Measured::new(items))
    }

    #[test]
    fn the_papers_own_numbers_gain_what_it_says() {
        let row = |system, rate: f64, value| {
            item(
                "dalwadi",
                "throughput",
                system,
                "error-only",
                &[("error_rate", rate.into())],
                Some(value),
            )
        };
        let printed = [row(NEWRENO, 0.01, 62370.4), row(SPIKE, 0.01, 144_986.0)];
        assert_eq!(settled("gain-error-only-1pct", &printed), Ok(true));
        let half = [row(NEWRENO, 0.01, 62370.4), row(SPIKE, 0.01, 72_500.0)];
        assert_eq!(settled("gain-error-only-1pct", &half), Ok(false));
        assert!(settled("gain-grows", &printed).is_err(), "three of its rates are missing");
    }
}
