//! What NewReno keeps beside the others: Tables 1 and 2, figures 5 to 7 and 9, section 6.2.

use super::{FF, Mean, NEWRENO, WESTWOOD};
use crate::papers::claims::measured::{Measured, Predicate, close};
use crate::papers::record::Value;

const ONE: &str = "config1-mixed";
const TWO: &str = "config2-mixed";

fn history(m: &Measured<'_>, metric: &str, l: i64, eta: i64) -> Mean {
    m.value(metric, FF, "config2-history", &[("l", l.into()), ("eta", eta.into())])
}

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("LL-gives-up-bandwidth", |m| Ok(m.ll("compat", TWO, 0.0, 1.0)? > 1.0)),
    ("LL-compat-extremes", |m| {
        Ok(close(m.ll("compat", ONE, 1.0, 0.2)?, 0.99, 0.05)
            && close(m.ll("compat", ONE, 0.0, 1.0)?, 0.50, 0.15)
            && close(m.ll("compat", TWO, 0.0, 1.0)?, 1.23, 0.15)
            && close(m.ll("compat", TWO, 1.0, 1.0)?, 0.63, 0.15))
    }),
    ("compat-FF-config1", |m| {
        Ok(close(m.of("compat", FF, ONE)?, 0.97, 0.05)
            && close(m.of("compat", WESTWOOD, ONE)?, 0.96, 0.05))
    }),
    ("compat-FF-config2", |m| {
        let westwood = m.of("compat", WESTWOOD, TWO)?;
        Ok(m.of("compat", FF, TWO)? < westwood && westwood < 1.0)
    }),
    ("compat-worse-with-congestion", |m| Ok(m.of("compat", FF, TWO)? < m.of("compat", FF, ONE)?)),
    ("FF-beats-NewReno-in-mix", |m| {
        let goodput = |system, against: &str| {
            m.value("flow_goodput", system, TWO, &[("against", against.into())])
        };
        Ok(goodput(FF, NEWRENO)? > goodput(NEWRENO, FF)?)
    }),
    ("alpha-reduction-helps", |m| {
        let compat = |alpha: f64| {
            m.value("compat", "NewReno-FF-alpha", TWO, &[("alpha", Value::from(alpha))])
        };
        Ok(compat(0.8)? > compat(1.0)?)
    }),
    ("history-short-good", |m| {
        Ok(history(m, "goodput", 8, 4)? >= history(m, "goodput", 32, 16)?
            && history(m, "compat", 8, 4)? >= history(m, "compat", 32, 16)?)
    }),
    ("convergence", |m| {
        Ok(m.value("fairness", FF, "config2-fig9", &[("alpha", Value::from(1.0))])? > 0.8)
    }),
];
