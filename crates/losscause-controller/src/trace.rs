//! Verdicts as events of `tracing`.

use crate::{LossVerdict, Undone};

/// Writes events under an adapter's own targets; made by [`trace_as`](crate::trace_as). A target is fixed when its crate
/// is compiled, so each adapter brings its own functions.
#[derive(Clone, Copy, Debug)]
pub struct Trace {
    /// Writes a verdict.
    pub verdict: fn(&LossVerdict),
    /// Writes that a reduction was undone.
    pub undone: fn(&Undone),
}

/// A [`Trace`] with the targets `NAME::verdict` and `NAME::undone`, level debug.
///
/// ```
/// const TRACE: losscause_controller::Trace = losscause_controller::trace_as!("my_adapter");
/// ```
#[macro_export]
macro_rules! trace_as {
    ($name:literal) => {
        $crate::Trace {
            verdict: |verdict| {
                $crate::tracing::debug!(
                    target: concat!($name, "::verdict"),
                    connection = verdict.connection,
                    lost_pkts = verdict.lost_pkts,
                    lost_bytes = verdict.lost_bytes,
                    first = verdict.numbers.map(|numbers| numbers.first),
                    last = verdict.numbers.map(|numbers| numbers.last),
                    rtt_ms = verdict.rtt.map(|rtt| rtt.as_millis_f64()),
                    verdict = %verdict.verdict,
                    reason = %verdict.reason(),
                    response = %verdict.response,
                    window_before = verdict.window_before,
                    window_after = verdict.window_after,
                );
            },
            undone: |undone| {
                $crate::tracing::debug!(
                    target: concat!($name, "::undone"),
                    connection = undone.connection,
                    lost_pkts = undone.lost_pkts,
                    reason = %undone.revised,
                    window = undone.window,
                );
            },
        }
    };
}
