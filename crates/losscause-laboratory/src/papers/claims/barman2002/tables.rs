//! Tables 1 and 2, and section 6.2 on goodput, fairness and overhead.

use super::{BOTH, FF, NEWRENO, WESTWOOD};
use crate::papers::claims::measured::{Predicate, all, approx, close, increasing, max, min};

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("goodput-FF-highest", |m| {
        all(BOTH, |cfg| {
            let others =
                [m.of("goodput", NEWRENO, cfg)?, m.of("goodput", WESTWOOD, cfg)?, m.best_ll(cfg)?];
            Ok(m.of("goodput", FF, cfg)? > max(&others))
        })
    }),
    ("goodput-order-1", |m| {
        let goodput = |system| m.of("goodput", system, "config1-homog");
        let labelled = m.ll("goodput", "config1-homog", 1.0, 0.6)?;
        Ok(goodput(FF)? > labelled
            && labelled > goodput(WESTWOOD)?
            && goodput(WESTWOOD)? > goodput(NEWRENO)?)
    }),
    ("goodput-order-2", |m| {
        let goodput = |system| m.of("goodput", system, "config2-homog");
        let labelled = m.ll("goodput", "config2-homog", 1.0, 0.8)?;
        Ok(goodput(FF)? > labelled
            && labelled > goodput(WESTWOOD)?
            && goodput(WESTWOOD)? > goodput(NEWRENO)?)
    }),
    ("goodput-gain-1", |m| Ok(approx(m.gain(FF, "config1-homog")?, 1.634, 0.15))),
    ("goodput-gain-2", |m| Ok(approx(m.gain(FF, "config2-homog")?, 1.124, 0.1))),
    ("gain-shrinks-with-congestion", |m| {
        Ok(m.gain(FF, "config1-homog")? > m.gain(FF, "config2-homog")?)
    }),
    ("fairness-cost-small", |m| {
        all(BOTH, |cfg| Ok(m.of("fairness", FF, cfg)? >= m.of("fairness", NEWRENO, cfg)? - 0.03))
    }),
    ("fairness-order-1", |m| {
        let fairness = |system| m.of("fairness", system, "config1-homog");
        let labelled = m.ll("fairness", "config1-homog", 1.0, 0.4)?;
        let order = [fairness(FF)?, fairness(NEWRENO)?, labelled, fairness(WESTWOOD)?];
        Ok(increasing(&order, 0.002) && order[0] > 0.98)
    }),
    ("fairness-order-2", |m| {
        let fairness = |system| m.of("fairness", system, "config2-homog");
        let labelled = m.ll("fairness", "config2-homog", 1.0, 0.2)?;
        Ok(fairness(FF)? < min(&[fairness(NEWRENO)?, fairness(WESTWOOD)?, labelled]))
    }),
    ("overhead-FF-higher", |m| {
        all(BOTH, |cfg| {
            let newreno = m.of("overhead", NEWRENO, cfg)?;
            Ok(m.of("overhead", FF, cfg)? > newreno && newreno < m.of("overhead", WESTWOOD, cfg)?)
        })
    }),
    ("overhead-values", |m| {
        let overhead = |system, cfg| m.of("overhead", system, cfg);
        Ok(close(overhead(FF, "config1-homog")?, 0.054, 0.02)
            && close(overhead(FF, "config2-homog")?, 0.075, 0.03)
            && overhead(NEWRENO, "config1-homog")? < 0.01
            && overhead(NEWRENO, "config2-homog")? < 0.01)
    }),
    ("Westwood-gain", |m| {
        all(BOTH, |cfg| Ok(m.of("goodput", WESTWOOD, cfg)? > m.of("goodput", NEWRENO, cfg)?))
    }),
    ("conclusion", |m| {
        all(BOTH, |cfg| {
            let goodput = |system| m.of("goodput", system, cfg);
            Ok(goodput(FF)? > goodput(WESTWOOD)?
                && goodput(WESTWOOD)? > goodput(NEWRENO)?
                && m.of("fairness", FF, cfg)? > 0.95)
        })
    }),
    ("config1-negligible-congestion", |m| {
        Ok(m.of("congestion_loss_rate", NEWRENO, "config1-homog")? < 0.001)
    }),
];
