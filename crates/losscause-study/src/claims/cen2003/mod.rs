//! The claims of Cen, Cosman and Voelker (2003), by the part of the paper that makes them.
//!
//! Where the paper prints a number, the predicate holds the mean against it; where it uses a word ("close", "few",
//! "most"), the cut-off is the one the record of the paper assigns to it.

use super::{Mean, Measured, Predicate, each, mean};

mod competition;
mod fairness;
mod hybrid;
mod one_flow;
mod tuning;

/// One predicate per checkable claim.
pub const PREDICATES: &[&[(&str, Predicate)]] = &[
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
