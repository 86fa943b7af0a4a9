//! The rules of Westwood's authors' agents for ns-2, where they differ from the paper
//! (`westwood.rs`).
//!
//! | | published | [`NS2`] | [`NS2_2001`] |
//! |---|---|---|---|
//! | filter | weighted by time, tau 0.5 s | the same, tau 1 s (`filter_type_` 3) | bwe_k = 0.9047 bwe_(k-1) + 0.0476 (b_k + b_(k-1)), independent of D (`filter_type_` 1, the default); silence is ignored |
//! | packets that an ACK reports | all it acknowledges | at most two | at most two |
//! | RTTmin | exact | exact | in whole ticks of the sender's clock, at least one |
//! | ssthresh | real | rounded down, cwnd is not | rounded down, cwnd too |
//! | timeout: cwnd | 1 | 2 | 1 |
//! | timeout: ssthresh | bwe RTTmin | the same | bwe RTTmin / a; a counts losses in slow start, up to 4 (a timeout as 1, a fast retransmit as 1/4), and is 1 after one outside |
//!
//! `NS2` is `Agent/TCP/WestwoodNR` as later revised. `NS2_2001` is `Agent/TCP/Westwood` 1.3 of June
//! 2002; the NewReno agent of September 2001 still holds its formulas as comments. A filter that
//! runs per ACK samples a burst at the rate of the last hop, so its estimate is high. The 2001
//! agent's different count of duplicates (`unaccounted_`) is not reproduced.

use losscause::Span;

use super::westwood::{Filter, Rules};

/// The agent over NewReno, as later revised.
pub(super) const NS2: Rules = Rules {
    filter: Filter::OverTime { tau: Span::from_millis(1_000) },
    most_pkts: 2,
    whole_ssthresh: true,
    restart_pkts: 2.0,
    ..Rules::PUBLISHED
};

/// The agents of 2001 and 2002.
pub(super) const NS2_2001: Rules = Rules {
    filter: Filter::PerAck,
    most_pkts: 2,
    rtt_min_in_ticks: true,
    whole_ssthresh: true,
    whole_cwnd: true,
    divides_by_losses: true,
    ..Rules::PUBLISHED
};
