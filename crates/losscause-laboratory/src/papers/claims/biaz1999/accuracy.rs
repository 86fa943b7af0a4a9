//! Section 3: how well the rule tells the losses of one connection apart.

use crate::papers::claims::measured::{
    Answer, Measured, Predicate, all, close, each, increasing, mean, min,
};

/// Wired rates of the figures, kb/s.
const WIRED: [i64; 6] = [64, 128, 256, 512, 1024, 2048];

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("Aw-rises-with-ratio", |m| rises_above_ratio_one(m, (1, 1))),
    ("Aw-rises-with-ratio-5", |m| rises_above_ratio_one(m, (5, 1))),
    ("Ac-high-ratio-gt-1", |m| {
        all([256, 512, 1024, 2048], |bw1| Ok(m.a_c((bw1, 64), (5, 1))? > 0.7))
    }),
    ("Aw-small-at-ratio-1", |m| {
        let best = m.a_w((2048, 64), (1, 1))?;
        all([64, 256, 512, 2048], |bw| Ok(m.a_w((bw, bw), (1, 1))? < min(&[best, 0.5])))
    }),
    ("ratio-lt-1-low-loss", |m| {
        let far = (64, 2048);
        let near = (512, 2048);
        Ok(m.a_w(far, (1, 1))? > m.a_w(near, (1, 1))?
            && m.a_c(far, (1, 1))? < m.a_c(near, (1, 1))?)
    }),
    ("ratio-lt-1-high-loss", |m| {
        Ok(m.a_c((64, 512), (5, 1))? > 0.7 && m.a_w((64, 512), (5, 1))? < 0.5)
    }),
    ("ratio-lt-1-loss-level", |m| {
        let far = (64, 2048);
        Ok(m.a_c(far, (5, 1))? > m.a_c(far, (1, 1))? && m.a_w(far, (5, 1))? < m.a_w(far, (1, 1))?)
    }),
    ("overall-loss-decides-15", |m| is_like_five_and_one(m, (1, 5))),
    ("overall-loss-decides-33", |m| is_like_five_and_one(m, (3, 3))),
    ("loss-55-lower-Aw", |m| {
        let a_w = |losses| mean([512, 1024, 2048], |bw1| m.a_w((bw1, 256), losses));
        Ok(a_w((5, 5))? < a_w((5, 1))?)
    }),
    ("best-conditions", |m| {
        let best = m.a_w((2048, 64), (1, 1))?;
        Ok(best > m.a_w((2048, 64), (5, 5))? && best > m.a_w((2048, 512), (1, 1))?)
    }),
    ("restrictive", |m| Ok(m.a_c((512, 256), (5, 1))? > m.a_w((512, 256), (5, 1))?)),
];

/// Whether A_w rises with the wired rate where that is above the wireless one.
fn rises_above_ratio_one(m: &Measured<'_>, losses: (i64, i64)) -> Answer {
    let curves: [(i64, &[i64]); 3] =
        [(64, &[128, 256, 512, 1024, 2048]), (256, &[512, 1024, 2048]), (512, &[1024, 2048])];
    all(curves, |(bw2, wired)| {
        Ok(increasing(&each(wired, |&bw1| m.a_w((bw1, bw2), losses))?, 0.03))
    })
}

/// Whether both accuracies at these loss rates are those at 5 % and 1 %, with a wireless link of
/// 256 kb/s.
fn is_like_five_and_one(m: &Measured<'_>, losses: (i64, i64)) -> Answer {
    all(WIRED, |bw1| {
        let rates = (bw1, 256);
        Ok(close(m.a_c(rates, losses)?, m.a_c(rates, (5, 1))?, 0.15)
            && close(m.a_w(rates, losses)?, m.a_w(rates, (5, 1))?, 0.15))
    })
}
