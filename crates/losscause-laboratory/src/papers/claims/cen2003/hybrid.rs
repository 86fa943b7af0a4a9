//! Section VII: ZBS, which picks a base scheme. Figures 11 to 13.

use super::{BASE, BOTH, FLOWS, MANY, MANY_AND_128, WB, WLH, each, mean};
use crate::papers::claims::measured::{Predicate, all, close, count, max};

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("ZBS-near-Omni", |m| {
        all(BOTH, |t| {
            // One flow in WB is where the paper contradicts itself: mBiaz, which ZBS runs there, is
            // not near Omni.
            let flows = FLOWS.iter().filter(|&&n| (t, n) != (WB, 1));
            all(flows, |&n| Ok(m.thput("ZBS", t, n)? >= m.thput("Omni", t, n)? - 4.0))
        })
    }),
    ("ZBS-Mc-cong-low", |m| {
        all(BOTH, |t| {
            all(MANY, |n| {
                Ok(m.m_c("ZBS", t, n)? < 25.0
                    && m.cong("ZBS", t, n)? <= m.cong("Omni", t, n)? * 1.1)
            })
        })
    }),
    ("ZBS-usage-WLH", |m| {
        Ok(close(mean(MANY, |n| m.usage("mBiaz", WLH, n))?, 85.0, 10.0)
            && close(mean(MANY, |n| m.usage("Spike", WLH, n))?, 3.0, 3.0))
    }),
    ("ZBS-usage-WB", |m| Ok(close(mean([4, 6, 8, 10], |n| m.usage("Spike", WB, n))?, 95.0, 10.0))),
    ("ZBS-usage-one", |m| Ok(m.usage("mBiaz", WLH, 1)? > 98.0 && m.usage("mBiaz", WB, 1)? > 98.0)),
    ("ZBS-usage-WB2", |m| {
        Ok(close(m.usage("ZigZag", WB, 2)?, 50.0, 12.0)
            && m.thput("ZBS", WB, 2)? > m.thput("ZigZag", WB, 2)?)
    }),
    ("ZBS-Mc-WLH", |m| {
        all(MANY_AND_128, |n| {
            Ok(m.m_c("ZBS", WLH, n)? > max(&[m.m_c("mBiaz", WLH, n)?, m.m_c("ZigZag", WLH, n)?]))
        })
    }),
    ("ZBS-Spike-use-falls", |m| Ok(m.usage("Spike", WB, 16)? < m.usage("Spike", WB, 6)?)),
    ("ZBS-overall", |m| {
        let mut good = 0;
        for t in BOTH {
            good += count(FLOWS, |n| {
                Ok(m.thput("ZBS", t, n)? >= max(&each(BASE, |s| m.thput(s, t, n))?) - 3.0)
            })?;
        }
        Ok(good >= 12)
    }),
];
