//! Sections VI-A and VI-B: one flow, alone. Tables II and III.

use super::{BASE, BOTH, WB, WLH, each};
use crate::papers::claims::measured::{Predicate, all, approx, close, max, min, ratio};

pub(super) const CLAIMS: &[(&str, Predicate)] = &[
    ("WLH1-thput", |m| {
        let differentiating =
            each(["Omni", "Biaz", "mBiaz", "Spike", "ZigZag"], |s| m.thput(s, WLH, 1))?;
        let tfrc = m.thput("TFRC", WLH, 1)?;
        Ok(min(&differentiating) > tfrc && tfrc > m.thput("TCP", WLH, 1)?)
    }),
    ("WLH1-thput-values", |m| {
        let full = ["Omni", "Biaz", "mBiaz", "Spike", "ZigZag"];
        Ok(all(full, |s| Ok(close(m.thput(s, WLH, 1)?, 99.0, 3.0)))?
            && close(m.thput("TFRC", WLH, 1)?, 84.0, 6.0)
            && close(m.thput("TCP", WLH, 1)?, 55.0, 8.0))
    }),
    ("WLH1-Mc0", |m| all(BASE, |s| Ok(m.m_c(s, WLH, 1)? <= 0.5))),
    ("WLH1-Mw", |m| {
        Ok(m.m_w("Biaz", WLH, 1)? < 10.0
            && m.m_w("mBiaz", WLH, 1)? < 10.0
            && m.m_w("Spike", WLH, 1)? > 50.0
            && m.m_w("ZigZag", WLH, 1)? > 50.0)
    }),
    ("WLH1-cong", |m| {
        let cong = |s: &str| m.cong(s, WLH, 1);
        Ok(approx(cong("Biaz")?, cong("Omni")?, 0.2)
            && approx(cong("mBiaz")?, cong("Omni")?, 0.2)
            && max(&[cong("Spike")?, cong("ZigZag")?]) < cong("Omni")?)
    }),
    ("TFRC-above-TCP", |m| all(BOTH, |t| Ok(m.thput("TFRC", t, 1)? > m.thput("TCP", t, 1)?))),
    ("Spike-Mw-harmless", |m| {
        Ok(m.m_w("Spike", WLH, 1)? > 40.0
            && m.thput("Spike", WLH, 1)? >= m.thput("Omni", WLH, 1)? - 1.0)
    }),
    ("WB1-thput-values", |m| {
        let printed = [
            ("Omni", 99.0, 3.0),
            ("Spike", 99.0, 3.0),
            ("Biaz", 97.0, 4.0),
            ("mBiaz", 91.0, 6.0),
            ("ZigZag", 53.0, 10.0),
            ("TFRC", 37.0, 8.0),
            ("TCP", 23.0, 8.0),
        ];
        all(printed, |(s, value, within)| Ok(close(m.thput(s, WB, 1)?, value, within)))
    }),
    ("WB1-order", |m| {
        let thput = |s: &str| m.thput(s, WB, 1);
        let best = min(&[thput("Omni")?, thput("Spike")?]);
        Ok(best >= thput("Biaz")?
            && thput("Biaz")? > thput("mBiaz")?
            && thput("mBiaz")? > thput("ZigZag")?
            && thput("ZigZag")? > thput("TFRC")?
            && thput("TFRC")? > thput("TCP")?)
    }),
    ("bandwidth-hurts", |m| {
        all(["TCP", "TFRC", "ZigZag"], |s| Ok(m.thput(s, WB, 1)? < 0.7 * m.thput(s, WLH, 1)?))
    }),
    ("Omni-less-cong-WB", |m| {
        Ok(m.thput("Omni", WB, 1)? >= 97.0
            && m.cong("Omni", WB, 1)? < 0.5 * m.cong("Omni", WLH, 1)?)
    }),
    ("WB1-mBiaz-below-Biaz", |m| {
        Ok(m.m_w("mBiaz", WB, 1)? > m.m_w("Biaz", WB, 1)?
            && m.thput("mBiaz", WB, 1)? < m.thput("Biaz", WB, 1)?)
    }),
    ("WB1-Mw", |m| {
        let m_w = |s: &str| m.m_w(s, WB, 1);
        Ok(m_w("Biaz")? < m_w("mBiaz")?
            && m_w("mBiaz")? < m_w("Spike")?
            && m_w("Spike")? < m_w("ZigZag")?)
    }),
    ("ZigZag-Mw-not-buffer", |m| {
        Ok(m.m_w("ZigZag", WB, 1)? > 40.0
            && m.thput("ZigZag", WB, 1)? < 70.0
            && m.thput("Spike", WB, 1)? > 95.0)
    }),
    ("low-rate-more-cong", |m| Ok(m.cong("Omni", WLH, 1)? > m.cong("Omni", WB, 1)?)),
    ("one-flow-Biaz-Spike-same", |m| {
        Ok(all(["Biaz", "Spike"], |s| Ok(close(m.thput(s, WLH, 1)?, m.thput(s, WB, 1)?, 3.0)))?
            && m.thput("ZigZag", WLH, 1)? - m.thput("ZigZag", WB, 1)? > 30.0)
    }),
    ("Omni-200", |m| {
        let gain = |t: &str| Ok(ratio(m.thput("Omni", t, 1)?, m.thput("TFRC", t, 1)?));
        Ok(gain(WB)? > 2.4 && gain(WB)? > gain(WLH)?)
    }),
    ("loss-level-order", |m| {
        let at = |s: &str, t: &str, loss: &str| {
            m.value(
                "thput",
                s,
                "loss-levels",
                &[("topology", t.into()), ("N", 1.into()), ("loss", loss.into())],
            )
        };
        let high =
            |s: &str, t: &str| m.value("thput", s, t, &[("N", 1.into()), ("loss", "high".into())]);
        let ordered = all(BOTH, |t| {
            all(["low", "medium"], |loss| {
                let tfrc = at("TFRC", t, loss)?;
                Ok(at("Omni", t, loss)? >= tfrc && tfrc >= at("TCP", t, loss)?)
            })
        })?;
        Ok(ordered
            && all(BOTH, |t| {
                let spread = at("Omni", t, "low")? - at("TCP", t, "low")?;
                Ok(spread < high("Omni", t)? - high("TCP", t)?)
            })?)
    }),
    ("bernoulli-same", |m| {
        let at = |metric: &str, s: &str, n: i64| {
            let parameters =
                [("topology", WB.into()), ("N", n.into()), ("channel", "bernoulli".into())];
            m.value(metric, s, "error-model", &parameters)
        };
        Ok(ordered_one_flow(|s| at("thput", s, 1))?
            && at("M_w", "Biaz", 4)? > 90.0
            && at("M_w", "Spike", 4)? < at("M_w", "ZigZag", 4)?)
    }),
    ("delay-insensitive", |m| {
        all([20, 40, 60], |delay: i64| {
            let parameters = [("topology", WB.into()), ("N", 1.into()), ("delay_ms", delay.into())];
            ordered_one_flow(|s| m.value("thput", s, "delay-sweep", &parameters))
        })
    }),
    ("two-in-a-row", |m| {
        let share = "share_of_loss_events_with_two_packets";
        Ok(close(m.value(share, "all", "error-model", &[("loss", "high".into())])?, 25.0, 3.75))
    }),
    ("WLAN-equals-WB", |m| {
        all(["TFRC", "Omni", "Biaz", "Spike", "ZigZag"], |s| {
            Ok(close(m.thput(s, "WLAN", 4)?, m.thput(s, WB, 4)?, 3.0))
        })
    }),
];

/// The order of throughputs of one flow in WB, where they differ most.
fn ordered_one_flow(
    thput: impl Fn(&str) -> super::Mean,
) -> crate::papers::claims::measured::Answer {
    Ok(thput("Spike")? > thput("ZigZag")?
        && thput("ZigZag")? > thput("TFRC")?
        && thput("TFRC")? > thput("TCP")?)
}
