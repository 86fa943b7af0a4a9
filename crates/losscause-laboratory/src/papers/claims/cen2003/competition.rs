//! Sections VI-C to VI-E and IX-B: flows of one system compete. Figures 8 and 9, Table VI.

use super::{BASE, BOTH, FLOWS, MANY, MANY_AND_128, Measured, WB, WLH, each, mean};
use crate::papers::claims::measured::{
    Answer, Predicate, Unmeasured, all, approx, close, count, increasing, max, min, ratio,
};

/// Wireless last hop.
pub(super) const WLH_CLAIMS: &[(&str, Predicate)] = &[
    ("WLH-TCP-TFRC-rise", |m| {
        all(["TCP", "TFRC"], |s| {
            Ok(m.thput(s, WLH, 16)? > m.thput(s, WLH, 1)?
                && increasing(&each(MANY, |n| m.thput(s, WLH, n))?, 0.03))
        })
    }),
    ("WLH-Omni-flat", |m| {
        let thput = each(FLOWS, |n| m.thput("Omni", WLH, n))?;
        Ok(max(&thput) - min(&thput) <= 3.0)
    }),
    ("WLH-all-LDA-high", |m| all(BASE, |s| all(MANY, |n| Ok(m.thput(s, WLH, n)? >= 95.0)))),
    ("WLH-Biaz-Mc-jump", |m| {
        Ok(m.m_c("Biaz", WLH, 1)? < 1.0 && min(&each(MANY, |n| m.m_c("Biaz", WLH, n))?) > 10.0)
    }),
    ("WLH-Biaz-cong-range", |m| {
        Ok(count(MANY, |n| Ok((7.0..=12.0).contains(&m.cong("Biaz", WLH, n)?)))? >= 6)
    }),
    ("WLH-Biaz-twice-Omni", |m| {
        let excess = mean(MANY, |n| Ok(ratio(m.cong("Biaz", WLH, n)?, m.cong("Omni", WLH, n)?)))?;
        Ok((1.4..=2.2).contains(&excess))
    }),
    ("WLH-mBiaz-lowest-Mc", |m| {
        all(MANY_AND_128, |n| {
            let others = each(["Biaz", "Spike", "ZigZag"], |s| m.m_c(s, WLH, n))?;
            Ok(m.m_c("mBiaz", WLH, n)? < min(&others))
        })
    }),
    ("WLH-ZigZag-second-Mc", |m| {
        let second = all(MANY_AND_128, |n| {
            let mut ranked = BASE.map(|s| (s, 0.0));
            for (s, m_c) in &mut ranked {
                *m_c = m.m_c(s, WLH, n)?;
            }
            ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
            Ok(ranked[1].0 == "ZigZag")
        })?;
        let m_c = each(MANY, |n| m.m_c("ZigZag", WLH, n))?;
        Ok(second && max(&m_c) - min(&m_c) <= 10.0)
    }),
    ("WLH-ZigZag-highest-Mw", |m| {
        all(MANY_AND_128, |n| {
            let others = each(["Biaz", "mBiaz", "Spike"], |s| m.m_w(s, WLH, n))?;
            Ok(m.m_w("ZigZag", WLH, n)? > max(&others))
        })
    }),
    ("WLH-mBiaz-Mw-high", |m| {
        all(MANY_AND_128, |n| Ok(m.m_w("mBiaz", WLH, n)? > m.m_w("Biaz", WLH, n)?))
    }),
    ("WLH-Spike-cong", |m| {
        Ok(count(MANY, |n| Ok(m.cong("Spike", WLH, n)? > m.cong("Omni", WLH, n)?))? >= 4
            && all(MANY, |n| Ok(m.m_c("Spike", WLH, n)? > 20.0 && m.m_w("Spike", WLH, n)? > 40.0))?)
    }),
    ("WLH-Spike-Mw-stable", |m| {
        all(MANY, |n| Ok(close(m.m_w("Spike", WLH, n)?, m.m_w("Spike", WLH, 1)?, 15.0)))
    }),
    // "Especially as the number of flows increases": at every step, not from end to end alone.
    ("WLH-ZigZag-Mc-rises", |m| {
        Ok(m.m_c("ZigZag", WLH, 16)? > m.m_c("ZigZag", WLH, 2)?
            && increasing(&each(MANY, |n| m.m_c("ZigZag", WLH, n))?, 0.05))
    }),
    ("others-below-Omni", |m| {
        all(["mBiaz", "Spike", "ZigZag"], |s| {
            all(MANY, |n| Ok(m.cong(s, WLH, n)? < m.cong("Omni", WLH, n)?))
        })
    }),
    // Within the tolerance of scoring: 15 %, at least 3 points, below 10 % at least 0.3.
    ("T6-match", |m| {
        let like = |x: f64, y: f64| {
            let points = if y >= 10.0 { 3.0 } else { 0.3 };
            close(x, y, points) || approx(x, y, 0.15)
        };
        all(["Omni", "Biaz", "mBiaz", "ZigZag", "ZBS"], |s| {
            Ok(like(m.thput(s, WLH, 128)?, m.thput(s, WLH, 16)?)
                && like(m.cong(s, WLH, 128)?, m.cong(s, WLH, 16)?)
                && (s == "Omni" || like(m.m_c(s, WLH, 128)?, m.m_c(s, WLH, 16)?))
                && (s == "Omni" || like(m.m_w(s, WLH, 128)?, m.m_w(s, WLH, 16)?)))
        })
    }),
    ("WLH-ZigZag-best", |m| {
        all(MANY, |n| {
            Ok(m.thput("ZigZag", WLH, n)? >= 95.0
                && m.cong("ZigZag", WLH, n)?
                    < min(&each(["Biaz", "Spike", "Omni"], |s| m.cong(s, WLH, n))?)
                && m.m_c("ZigZag", WLH, n)? <= 20.0)
        })
    }),
    ("WLH-ZigZag-cong-low", |m| all(MANY_AND_128, |n| Ok(m.cong("ZigZag", WLH, n)? < 2.0))),
    ("mBiaz-good-N4", |m| {
        all(&MANY[1..], |&n| {
            Ok(m.thput("mBiaz", WLH, n)? >= 95.0
                && m.cong("mBiaz", WLH, n)? <= m.cong("Omni", WLH, n)?)
        })
    }),
    ("T6-thput", |m| {
        all(["Omni", "Biaz", "mBiaz", "Spike", "ZigZag", "ZBS"], |s| {
            Ok(m.thput(s, WLH, 128)? >= 97.0)
        })
    }),
    ("T6-cong-order", |m| {
        let order = ["ZigZag", "Spike", "mBiaz", "ZBS", "Omni", "Biaz"];
        Ok(increasing(&each(order, |s| m.cong(s, WLH, 128))?, 0.1))
    }),
    ("T6-Mc-order", |m| {
        Ok(increasing(
            &each(["mBiaz", "ZigZag", "ZBS", "Spike", "Biaz"], |s| m.m_c(s, WLH, 128))?,
            0.1,
        ))
    }),
    ("T6-Mw-order", |m| {
        Ok(increasing(
            &each(["Biaz", "mBiaz", "ZBS", "Spike", "ZigZag"], |s| m.m_w(s, WLH, 128))?,
            0.1,
        ))
    }),
    ("T6-Spike-better", |m| {
        Ok(m.m_c("Spike", WLH, 128)? < m.m_c("Spike", WLH, 16)?
            && m.cong("Spike", WLH, 128)? < m.cong("Spike", WLH, 16)?
            && all(["mBiaz", "ZigZag", "ZBS"], |s| {
                Ok(close(m.m_c(s, WLH, 128)?, m.m_c(s, WLH, 16)?, 8.0))
            })?)
    }),
];

/// Wireless backbone, and both topologies together.
pub(super) const WB_CLAIMS: &[(&str, Predicate)] = &[
    ("WB-TCP-TFRC-rise", |m| {
        Ok(close(m.thput("TCP", WB, 10)?, 85.0, 6.0)
            && close(m.thput("TFRC", WB, 10)?, 97.0, 4.0)
            && m.thput("TCP", WB, 10)? > m.thput("TCP", WB, 1)?
            && m.thput("TFRC", WB, 10)? > m.thput("TFRC", WB, 1)?)
    }),
    ("WB-ten-vs-WLH-one", |m| {
        all(["TCP", "TFRC"], |s| Ok(m.thput(s, WB, 10)? > m.thput(s, WLH, 1)?))
    }),
    ("WB-Biaz-Mw-100", |m| all(["Biaz", "mBiaz"], |s| all(MANY, |n| Ok(m.m_w(s, WB, n)? >= 95.0)))),
    ("WB-Biaz-equals-TFRC", |m| {
        all(["Biaz", "mBiaz"], |s| {
            all(MANY, |n| Ok(close(m.thput(s, WB, n)?, m.thput("TFRC", WB, n)?, 3.0)))
        })
    }),
    ("WB-Spike-Mc0", |m| all(MANY, |n| Ok(m.m_c("Spike", WB, n)? <= 5.0))),
    ("WB-Spike-Mw-rises", |m| {
        Ok(increasing(&each(FLOWS, |n| m.m_w("Spike", WB, n))?, 0.05)
            && all(MANY, |n| Ok(m.thput("Spike", WB, n)? >= 95.0))?)
    }),
    ("WB-Spike-best", |m| {
        all(MANY, |n| {
            let others = each(["Biaz", "mBiaz", "ZigZag"], |s| m.thput(s, WB, n))?;
            Ok(m.thput("Spike", WB, n)? >= max(&others) - 1.0)
        })
    }),
    ("WB-ZigZag-Mw-same", |m| {
        all(MANY, |n| Ok(close(m.m_w("ZigZag", WB, n)?, m.m_w("ZigZag", WLH, n)?, 12.0)))
    }),
    ("WB-ZigZag-full-from-6", |m| {
        Ok(m.thput("ZigZag", WB, 2)? < 90.0
            && all([6, 8, 10, 12, 16], |n| Ok(m.thput("ZigZag", WB, n)? >= 95.0))?)
    }),
    ("WB-ZigZag-Mc-zero-to-8", |m| {
        Ok(all([1, 2, 4, 6, 8], |n| Ok(m.m_c("ZigZag", WB, n)? <= 2.0))?
            && all([10, 12, 16], |n| {
                let m_c = m.m_c("ZigZag", WB, n)?;
                Ok(0.0 < m_c && m_c < m.m_c("ZigZag", WLH, n)?)
            })?)
    }),
    ("WB-ZigZag-cong-high-N", |m| {
        all([10, 12, 16], |n| Ok(m.cong("ZigZag", WB, n)? > m.cong("ZigZag", WLH, n)?))
    }),
    ("WB-Omni", |m| {
        all([2, 4, 6, 8], |n| {
            let unaware = |s: &str| m.cong(s, WB, n);
            Ok(m.thput("Omni", WB, n)? >= 97.0
                && m.cong("Omni", WB, n)? > 1.5 * max(&[unaware("TCP")?, unaware("TFRC")?]))
        })
    }),
    ("WB-Omni-cong-rises", |m| Ok(m.cong("Omni", WB, 16)? > m.cong("Omni", WB, 2)?)),
    ("no-base-always-good", |m| all(BASE, |s| fails_somewhere(m, s))),
    ("interarrival-vs-rott", |m| {
        Ok(all(["Biaz", "mBiaz"], |s| Ok(m.m_w(s, WB, 4)? > 90.0))?
            && all(["Spike", "ZigZag"], |s| Ok(m.m_w(s, WB, 4)? < 90.0))?)
    }),
    ("Biaz-home", |m| {
        Ok(m.m_w("Biaz", WLH, 1)? < 10.0
            && m.m_c("Biaz", WLH, 1)? < 1.0
            && m.m_w("Biaz", WB, 4)? > 90.0)
    }),
];

/// Whether a base scheme leaves the link idle, or overloads it more than Omni does, in some
/// setting.
fn fails_somewhere(m: &Measured<'_>, s: &str) -> Answer {
    let good = |t: &str, n: i64| -> Result<bool, Unmeasured> {
        Ok(m.thput(s, t, n)? >= 90.0 && m.cong(s, t, n)? <= m.cong("Omni", t, n)?)
    };
    Ok(!all(BOTH, |t| all(FLOWS, |n| good(t, n)))?)
}
