//! From the outcomes of runs to the metrics of the record.

use super::run::{Connection, Outcome};
use crate::live::Values;
use crate::live::counters::{Counters, m_c, m_w};

/// The metrics of a run. `base` and `oracle` are the outcomes of the base controller and of the
/// oracle on it in the same scenario with the same seed, if they are other systems.
pub(super) fn values(run: &Outcome, base: Option<&Outcome>, oracle: Option<&Outcome>) -> Values {
    let mut values = Values::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let tested = total(&run.tested);
    let goodput = goodput_kbps(&run.tested, run.seconds);
    let goodput_of = |other: &Outcome| goodput_kbps(&other.tested, other.seconds);
    put("goodput", Some(goodput));
    put("goodput_of_base", base.map(|base| 100.0 * goodput / goodput_of(base)));
    put("goodput_of_oracle", oracle.map(|oracle| 100.0 * goodput / goodput_of(oracle)));
    put("queue_drops", tested.percent_of_sent(tested.queue_drops));
    put("queue_drops_pkts", Some(tested.queue_drops as f64));
    put("wireless_losses", tested.percent_of_sent(tested.wireless_losses));
    put("queueing", tested.queueing_ms());
    put("M_c", m_c(&tested.verdicts));
    put("M_w", m_w(&tested.verdicts));
    let largest = run.tested.iter().map(|connection| connection.largest_window).max();
    put(
        "largest_window",
        largest.map(|bytes| bytes as f64 / f64::from(super::end::DATAGRAM_BYTES)),
    );
    let complete: Option<Vec<f64>> =
        run.tested.iter().map(|connection| connection.completion_s).collect();
    put(
        "completion_time",
        complete.and_then(|seconds| losscause_study::statistics::mean(&seconds)),
    );
    if !run.competitors.is_empty() {
        let competitor = total(&run.competitors);
        let competitor_goodput = |of: &Outcome| goodput_kbps(&of.competitors, of.seconds);
        let share =
            |of: &Outcome| 100.0 * goodput_of(of) / (goodput_of(of) + competitor_goodput(of));
        put("share", Some(share(run)));
        put("share_above_base", base.map(|base| share(run) - share(base)));
        put("competitor_goodput", Some(competitor_goodput(run)));
        let harm =
            base.map(|base| 100.0 * (1.0 - competitor_goodput(run) / competitor_goodput(base)));
        put("harm", harm);
        put("harm_worst", harm);
        put("competitor_queue_drops", competitor.percent_of_sent(competitor.queue_drops));
    }
    values
}

/// Of all of them together. A transfer that is complete has only lasted until then.
pub(super) fn goodput_kbps(connections: &[Connection], seconds: f64) -> f64 {
    let of = |connection: &Connection| {
        connection.counters.delivered_bytes as f64 * 8.0
            / 1000.0
            / connection.completion_s.unwrap_or(seconds)
    };
    connections.iter().map(of).sum()
}

/// The counts of several connections together.
pub(super) fn total(connections: &[Connection]) -> Counters {
    let mut sum = Counters::default();
    connections.iter().for_each(|connection| sum += connection.counters);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(delivered_bytes: u64) -> Connection {
        let counters =
            Counters { delivered_bytes, sent_pkts: 200, queue_drops: 3, ..Counters::default() };
        Connection { counters, largest_window: 1452, completion_s: None }
    }

    #[test]
    fn harm_is_the_competitors_loss_and_gain_the_systems_win() {
        let outcome = |tested, competitor| Outcome {
            tested: vec![connection(tested)],
            competitors: vec![connection(competitor)],
            seconds: 8.0,
        };
        let values =
            values(&outcome(3_000_000, 1_000_000), Some(&outcome(2_000_000, 2_000_000)), None);
        // 3 MB in 8 s are 3000 kb/s.
        assert_eq!((values["goodput"], values["competitor_goodput"]), (3000.0, 1000.0));
        assert_eq!((values["goodput_of_base"], values["harm"]), (150.0, 50.0));
        assert_eq!((values["share"], values["share_above_base"]), (75.0, 25.0));
        assert_eq!((values["queue_drops"], values["largest_window"]), (1.5, 1.0));
        assert!(!values.contains_key("M_c") && !values.contains_key("completion_time"));
    }
}
