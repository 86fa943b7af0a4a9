//! Which packet events `--trace` writes.

use losscause::{Span, Time};
use losscause_sim::Network;
use losscause_study::InputError;
use losscause_study::trace_file::Filter;

// The arguments that choose events.
#[derive(Debug, clap::Args)]
pub(super) struct TracedEvents {
    /// Trace only these flows; the name of a group stands for all of its flows.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "trace")]
    trace_flow: Vec<String>,
    /// Trace only events of these kinds: sent, received, enqueue, queue-drop (or drop), mark,
    /// transmit, corrupted (or corrupt), deliver, cwnd, rate, verdict.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', requires = "trace")]
    trace_kind: Vec<String>,
    /// Trace only events from the second FROM on and before TO: 10..20, 10.. or ..20.
    #[arg(long, value_name = "FROM..TO", requires = "trace")]
    trace_interval: Option<String>,
}

impl TracedEvents {
    /// The events of a run of `network` that are chosen.
    pub(super) fn parse(&self, network: &Network) -> Result<Filter, InputError> {
        let mut filter = Filter::default();
        if !self.trace_flow.is_empty() {
            filter = filter.flows(&self.trace_flow, network, "--trace-flow")?;
        }
        if !self.trace_kind.is_empty() {
            filter = filter.kinds(&self.trace_kind, "--trace-kind")?;
        }
        if let Some(text) = &self.trace_interval {
            let (from, to) = interval(text).ok_or_else(|| InputError::option(format!("--trace-interval {text}"), "expected two seconds from 0 to 1e9, the first below the second, such as 10..20"))?;
            filter = filter.within(from, to);
        }
        Ok(filter)
    }
}

/// `10..20` in seconds; a missing end is that of the run.
fn interval(text: &str) -> Option<(Time, Time)> {
    let (from, to) = text.split_once("..")?;
    let time = |text: &str, missing| match text.trim() {
        "" => Some(missing),
        text => {
            let seconds =
                text.parse().ok().filter(|seconds: &f64| (0.0..=1e9).contains(seconds))?;
            Some(Time::ZERO + Span::from_secs_f64_rounded(seconds))
        }
    };
    let from = time(from, Time::ZERO)?;
    let to = time(to, Time::MAX)?;
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_two_seconds_of_which_one_may_be_missing() {
        let at = |seconds: f64| Time::ZERO + Span::from_secs_f64_rounded(seconds);
        assert_eq!(interval("1.5..20"), Some((at(1.5), at(20.0))));
        assert_eq!(interval("10.."), Some((at(10.0), Time::MAX)));
        assert_eq!(interval("..0.25"), Some((at(0.0), at(0.25))));
        for wrong in
            ["", "10", "20..10", "1..1", "-1..2", "a..b", "0..nan", "0..inf", "1..2..3", "0..1e99"]
        {
            assert_eq!(interval(wrong), None, "{wrong}");
        }
    }
}
