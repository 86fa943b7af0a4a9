//! Section VIII: fairness among equals (figure 14) and to TCP (figure 15).

use super::{BASE, MANY, WB, WLH, mean};
use crate::papers::claims::measured::{Predicate, all, close, count, max, min};

const FROM_FOUR: [i64; 6] = [4, 6, 8, 10, 12, 16];
const FLOWS: [i64; 3] = [4, 8, 16];

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("WB-dev-3-7", |m| {
        let mut inside = 0;
        for s in ["TFRC", "Omni", "Biaz", "mBiaz", "Spike", "ZigZag", "ZBS"] {
            inside += count(FROM_FOUR, |n| Ok((2.0..=8.0).contains(&m.dev(s, WB, n)?)))?;
        }
        Ok(inside >= 36)
    }),
    ("WB-TCP-dev-higher", |m| {
        all(FROM_FOUR, |n| Ok(m.dev("TCP", WB, n)? > 1.5 * m.dev("TFRC", WB, n)?))
    }),
    ("WB-NWL-like-LDA", |m| {
        all(FROM_FOUR, |n| Ok(close(m.dev("TCP-NWL", WB, n)?, m.dev("Omni", WB, n)?, 3.0)))
    }),
    ("WB-dev-rises", |m| all(["ZBS", "Omni"], |s| Ok(m.dev(s, WB, 16)? > m.dev(s, WB, 2)?))),
    ("WLH-dev-higher", |m| {
        all(["TFRC", "Biaz", "mBiaz", "Spike", "ZigZag", "ZBS"], |s| {
            Ok(mean(FROM_FOUR, |n| m.dev(s, WLH, n))? > mean(FROM_FOUR, |n| m.dev(s, WB, n))?)
        })
    }),
    ("WLH-dev-lowest", |m| {
        let lowest = |n: i64| {
            let differentiating =
                super::each(BASE.into_iter().chain(["ZBS"]), |s| m.dev(s, WLH, n))?;
            Ok(max(&[m.dev("Omni", WLH, n)?, m.dev("TCP-NWL", WLH, n)?]) < min(&differentiating))
        };
        Ok(count(FROM_FOUR, lowest)? >= 5)
    }),
    ("WLH-dev-bad", |m| {
        let mut bad = 0;
        for s in ["Spike", "Biaz", "mBiaz"] {
            bad += count(MANY, |n| Ok(m.dev(s, WLH, n)? > 14.0))?;
        }
        Ok(bad >= 11)
    }),
    ("WLH-dev-good", |m| {
        let mut good = 0;
        for s in ["ZigZag", "TFRC", "ZBS"] {
            good += count(MANY, |n| Ok((7.0..=10.0).contains(&m.dev(s, WLH, n)?)))?;
        }
        Ok(good >= 11)
    }),
    ("ZigZag-ZBS-fairest", |m| {
        let spread = |s: &str| mean(MANY, |n| m.dev(s, WLH, n));
        let fair = [spread("ZigZag")?, spread("ZBS")?];
        Ok(max(&fair) < min(&[spread("Biaz")?, spread("mBiaz")?, spread("Spike")?]))
    }),
    ("fair-aggressive-low-bw", |m| {
        all(BASE.into_iter().chain(["ZBS"]), |s| {
            Ok(mean(FLOWS, |n| m.beside(s, n, 130))? < mean(FLOWS, |n| m.beside(s, n, 800))?)
        })
    }),
    ("fair-Omni-most", |m| {
        all(FLOWS, |n| {
            all([130, 800], |kbps| {
                let others = super::each(BASE.into_iter().chain(["ZBS", "TFRC", "TCP"]), |s| {
                    m.beside(s, n, kbps)
                })?;
                Ok(m.beside("Omni", n, kbps)? <= min(&others) + 3.0)
            })
        })
    }),
    ("fair-130-ZigZag", |m| {
        all(FLOWS, |n| {
            let others =
                super::each(["Biaz", "mBiaz", "Spike", "ZBS", "Omni"], |s| m.beside(s, n, 130))?;
            Ok(m.beside("ZigZag", n, 130)? > max(&others))
        })
    }),
    ("fair-800-uncompetitive", |m| {
        all(["mBiaz", "ZigZag", "TCP", "TFRC"], |s| {
            all(FLOWS, |n| Ok(m.beside(s, n, 800)? >= 108.0))
        })
    }),
    ("fair-800-friendly", |m| {
        all(["Biaz", "ZBS"], |s| Ok(close(mean(FLOWS, |n| m.beside(s, n, 800))?, 100.0, 7.0)))
    }),
    ("fair-800-Spike", |m| {
        // At every number of flows, and below its fair share: "a lower value means that the LDA is
        // more aggressive than TCP".
        all(FLOWS, |n| {
            let aggressive = max(&super::each(["Spike", "Omni"], |s| m.beside(s, n, 800))?);
            let others = super::each(["Biaz", "mBiaz", "ZigZag", "ZBS", "TFRC", "TCP"], |s| {
                m.beside(s, n, 800)
            })?;
            Ok(aggressive < 100.0 && aggressive < min(&others))
        })
    }),
];
