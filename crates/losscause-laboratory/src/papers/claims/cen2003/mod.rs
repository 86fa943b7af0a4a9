//! The claims of Cen, Cosman and Voelker (2003), by the part of the paper that makes them.
//!
//! Where the paper prints a number, the predicate compares the mean with it; where it uses a word
//! ("close", "few", "most"), the cut-off is the one the record of the paper assigns to it.

use super::measured::{Mean, Measured, Predicate, each, mean};

mod competition;
mod fairness;
mod hybrid;
mod one_flow;
mod tuning;

/// One predicate per checkable claim.
pub(super) const PREDICATES: &[&[(&str, Predicate)]] = &[
    one_flow::CLAIMS,
    competition::WLH_CLAIMS,
    competition::WB_CLAIMS,
    hybrid::CLAIMS,
    fairness::CLAIMS,
    tuning::CLAIMS,
];

/// Wireless last hop.
const WLH: &str = "WLH";
/// Wireless backbone.
const WB: &str = "WB";
/// Both topologies.
const BOTH: [&str; 2] = [WLH, WB];
/// The base schemes.
const BASE: [&str; 4] = ["Biaz", "mBiaz", "Spike", "ZigZag"];
/// Numbers of flows of the paper's curves.
const FLOWS: [i64; 8] = [1, 2, 4, 6, 8, 10, 12, 16];
/// Those that compete.
const MANY: [i64; 7] = [2, 4, 6, 8, 10, 12, 16];
/// Those that compete, and the scalability test.
const MANY_AND_128: [i64; 8] = [2, 4, 6, 8, 10, 12, 16, 128];

/// Metrics of `n` flows of system `s` in topology `t`, in percent.
impl Measured<'_> {
    fn thput(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("thput", s, t, &[("N", n.into())])
    }

    fn cong(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("cong", s, t, &[("N", n.into())])
    }

    fn m_c(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("M_c", s, t, &[("N", n.into())])
    }

    fn m_w(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("M_w", s, t, &[("N", n.into())])
    }

    /// Share of base scheme `s` within ZBS.
    fn usage(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("usage", s, t, &[("N", n.into())])
    }

    /// Spread of throughput among `n` equal flows.
    fn dev(&self, s: &str, t: &str, n: i64) -> Mean {
        self.value("dev", s, "fair-same", &[("topology", t.into()), ("N", n.into())])
    }

    /// What the loss-free TCP half of `n` flows gets beside `s`, as a share of its fair share.
    fn beside(&self, s: &str, n: i64, kbps: i64) -> Mean {
        self.value("tcp_norm_thput", s, "fair-tcp", &[("N", n.into()), ("bw_kbps", kbps.into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::claims::tests::{holds, item};
    use crate::papers::record::Item;

    /// `metric` of `system` at every number of flows.
    fn flat(metric: &str, system: &str, topology: &str, value: f64) -> Vec<Item> {
        let one =
            |n: i64| item("cen2003", metric, system, topology, &[("N", n.into())], Some(value));
        [1, 2, 4, 6, 8, 10, 12, 16, 128].map(one).to_vec()
    }

    #[test]
    fn much_more_congestion_loss_means_half_as_much_again() {
        let with = |omni: f64| {
            let unaware = [flat("cong", "TCP", WB, 2.0), flat("cong", "TFRC", WB, 1.0)];
            [&unaware[..], &[flat("thput", "Omni", WB, 98.0), flat("cong", "Omni", WB, omni)]]
                .concat()
                .concat()
        };
        assert_eq!(
            [3.1, 3.0].map(|omni| holds("cen2003", "WB-Omni", &with(omni))),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn a_much_larger_deviation_means_half_as_much_again() {
        let with = |tcp: f64| {
            let one = |system: &str, n: i64, dev: f64| {
                item(
                    "cen2003",
                    "dev",
                    system,
                    "fair-same",
                    &[("topology", WB.into()), ("N", n.into())],
                    Some(dev),
                )
            };
            [4, 6, 8, 10, 12, 16]
                .into_iter()
                .flat_map(|n| [one("TCP", n, tcp), one("TFRC", n, 4.0)])
                .collect::<Vec<_>>()
        };
        assert_eq!(
            [6.1, 6.0].map(|tcp| holds("cen2003", "WB-TCP-dev-higher", &with(tcp))),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn up_to_twice_as_much_again_means_at_least_2_4_times_in_wb() {
        // 96 / 40 is 2.4 itself.
        let with = |tfrc: f64| {
            let wlh = [flat("thput", "Omni", WLH, 99.0), flat("thput", "TFRC", WLH, 84.0)];
            [&wlh[..], &[flat("thput", "Omni", WB, 96.0), flat("thput", "TFRC", WB, tfrc)]]
                .concat()
                .concat()
        };
        assert_eq!(
            [39.0, 40.0].map(|tfrc| holds("cen2003", "Omni-200", &with(tfrc))),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn zigzag_leads_in_wlh_only_with_at_most_a_fifth_misjudged() {
        let with = |m_c: f64| {
            let others = ["Biaz", "Spike", "Omni"].map(|s| flat("cong", s, WLH, 5.0)).concat();
            let own = [("thput", 98.0), ("cong", 1.0), ("M_c", m_c)]
                .map(|(m, v)| flat(m, "ZigZag", WLH, v))
                .concat();
            [others, own].concat()
        };
        assert_eq!(
            [20.0, 20.1].map(|m_c| holds("cen2003", "WLH-ZigZag-best", &with(m_c))),
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn m_c_of_zigzag_must_not_fall_between_two_steps() {
        let with = |at_8: f64| {
            MANY.map(|n| {
                let m_c = if n == 8 { at_8 } else { 1.0 + n as f64 };
                item("cen2003", "M_c", "ZigZag", WLH, &[("N", n.into())], Some(m_c))
            })
        };
        // 7.0 with six flows: 5 % less is 6.65.
        let answers = [6.65, 6.6].map(|m_c| holds("cen2003", "WLH-ZigZag-Mc-rises", &with(m_c)));
        assert_eq!(answers, [Some(true), Some(false)]);
    }

    #[test]
    fn spike_and_omni_are_the_most_aggressive_with_every_number_of_flows() {
        let with = |spike_at_16: f64| {
            let of = |s: &str, n: i64, value: f64| {
                let at = [("N", n.into()), ("bw_kbps", 800.into())];
                item("cen2003", "tcp_norm_thput", s, "fair-tcp", &at, Some(value))
            };
            let others = ["Biaz", "mBiaz", "ZigZag", "ZBS", "TFRC", "TCP"];
            let flows = [4, 8, 16].into_iter();
            flows
                .flat_map(|n| {
                    let spike = if n == 16 { spike_at_16 } else { 90.0 };
                    let aggressive = [of("Spike", n, spike), of("Omni", n, 88.0)];
                    others.map(|s| of(s, n, 104.0)).into_iter().chain(aggressive)
                })
                .collect::<Vec<_>>()
        };
        // 94 on average, but with 16 flows above the fair share.
        let answers = [99.0, 102.0].map(|s| holds("cen2003", "fair-800-Spike", &with(s)));
        assert_eq!(answers, [Some(true), Some(false)]);
    }

    #[test]
    fn few_flows_and_128_match_within_the_tolerance_of_scoring() {
        let with = |zigzag_at_128: f64| {
            let of = |metric: &str, s: &str, value: f64| {
                [16, 128]
                    .map(|n: i64| item("cen2003", metric, s, WLH, &[("N", n.into())], Some(value)))
            };
            let metrics = [("thput", 99.0), ("cong", 1.0), ("M_c", 20.0), ("M_w", 50.0)];
            let mut items: Vec<Item> = ["Omni", "Biaz", "mBiaz", "ZigZag", "ZBS"]
                .iter()
                .flat_map(|s| metrics.map(|(metric, value)| of(metric, s, value)).concat())
                .collect();
            for item in &mut items {
                if item.system == "ZigZag" && item.metric == "cong" && item.id.contains("128") {
                    item.measured = Some(zigzag_at_128);
                }
            }
            items
        };
        let answers = [0.71, 0.69].map(|cong| holds("cen2003", "T6-match", &with(cong)));
        assert_eq!(answers, [Some(true), Some(false)]);
    }

    #[test]
    fn little_variation_of_m_c_is_within_ten_points_up_to_16_flows() {
        let with = |at_16: f64, at_128: f64| {
            let others = [("mBiaz", 1.0), ("Spike", 40.0), ("Biaz", 30.0)]
                .map(|(s, v)| flat("M_c", s, WLH, v))
                .concat();
            let zigzag = [1, 2, 4, 6, 8, 10, 12, 16, 128].map(|n: i64| {
                let m_c = if n == 128 {
                    at_128
                } else if n == 16 {
                    at_16
                } else {
                    5.0
                };
                item("cen2003", "M_c", "ZigZag", WLH, &[("N", n.into())], Some(m_c))
            });
            [others, zigzag.to_vec()].concat()
        };
        let answers = [(15.0, 25.0), (15.1, 25.0)];
        let answers = answers.map(|(a, b)| holds("cen2003", "WLH-ZigZag-second-Mc", &with(a, b)));
        assert_eq!(answers, [Some(true), Some(false)]);
    }
}
