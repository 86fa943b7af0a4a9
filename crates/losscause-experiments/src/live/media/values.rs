//! From the outcomes of a stream and of simulated TFRC to the metrics of the record.

use crate::live::Values;
use crate::live::counters::Counters;

/// What a run was made over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Over {
    /// Length of the window that the counts are from, seconds.
    pub(super) seconds: f64,
    /// Rate of the bottleneck, bits per second.
    pub(super) bottleneck_bps: f64,
    /// Bytes of a data packet on the links.
    pub(super) wire_bytes: u32,
    /// Bytes of media in it.
    pub(super) media_bytes: usize,
}

/// A metric, its name for simulated TFRC, and its value.
type Metric = (&'static str, &'static str, fn(&Counters, &Over) -> Option<f64>);

const METRICS: [Metric; 7] = [
    ("goodput", "simulated_goodput", |of, over| {
        Some(of.delivered_pkts as f64 * over.media_bytes as f64 * 8e-3 / over.seconds)
    }),
    ("usage", "simulated_usage", |of, over| {
        // Those that arrived, and those that the air corrupted on the last link.
        let bits =
            (of.delivered_pkts + of.wireless_losses) as f64 * f64::from(over.wire_bytes) * 8.0;
        Some(100.0 * bits / (over.bottleneck_bps * over.seconds))
    }),
    ("queue_drops", "simulated_queue_drops", |of, _| of.percent_of_sent(of.queue_drops)),
    ("wireless_losses", "simulated_wireless_losses", |of, _| {
        of.percent_of_sent(of.wireless_losses)
    }),
    ("queueing", "simulated_queueing", |of, _| of.queueing_ms()),
    ("M_c", "simulated_M_c", |of, _| of.verdicts.m_c().map(|share| 100.0 * share)),
    ("M_w", "simulated_M_w", |of, _| of.verdicts.m_w().map(|share| 100.0 * share)),
];

/// The metrics of a run. `simulated` is the outcome of simulated TFRC with the same seed.
pub(super) fn values(streamed: &Counters, simulated: &Counters, over: &Over) -> Values {
    let mut values = Values::new();
    for (own, of_simulated, value) in METRICS {
        values.extend(value(streamed, over).map(|value| (own, value)));
        values.extend(value(simulated, over).map(|value| (of_simulated, value)));
    }
    if simulated.delivered_pkts > 0 {
        let share = 100.0 * streamed.delivered_pkts as f64 / simulated.delivered_pkts as f64;
        values.insert("goodput_of_simulated", share);
    }
    values
}

#[cfg(test)]
mod tests {
    use losscause_sim::{VerdictTally, Verdicts};

    use super::*;

    #[test]
    fn the_metrics_worked_by_hand() {
        let wireless = Verdicts { called_congestion: 1, called_wireless: 3, ..Verdicts::default() };
        let streamed = Counters {
            sent_pkts: 1000,
            delivered_pkts: 900,
            queue_drops: 40,
            wireless_losses: 60,
            queued: losscause::Span::from_secs(9),
            verdicts: VerdictTally { wireless, ..VerdictTally::default() },
            ..Counters::default()
        };
        let simulated = Counters { delivered_pkts: 1000, ..streamed };
        let over = Over { seconds: 8.0, bottleneck_bps: 1e6, wire_bytes: 1000, media_bytes: 800 };
        let values = values(&streamed, &simulated, &over);
        // 900 packets of 6400 bits in 8 s; 960 packets of 8000 bits, of the 8 Mb that the link
        // carries.
        assert_eq!((values["goodput"], values["usage"]), (720.0, 96.0));
        assert_eq!((values["goodput_of_simulated"], values["simulated_goodput"]), (90.0, 800.0));
        assert_eq!(
            (values["queue_drops"], values["wireless_losses"], values["queueing"]),
            (4.0, 6.0, 10.0)
        );
        assert_eq!(values["M_w"], 25.0);
        assert!(!values.contains_key("M_c"), "no congestion loss was judged");
    }
}
