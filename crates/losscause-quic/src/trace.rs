//! Verdicts as events of `tracing`.

use losscause::Span;
use tracing::debug;

use crate::{LossVerdict, Spurious, Undone};

pub(crate) fn verdict(transport: &'static str, verdict: &LossVerdict) {
    debug!(
        target: "losscause_quic::verdict",
        transport,
        connection = verdict.connection,
        lost_pkts = verdict.lost_pkts,
        lost_bytes = verdict.lost_bytes,
        first = verdict.numbers.map(|numbers| numbers.first),
        last = verdict.numbers.map(|numbers| numbers.last),
        rtt_ms = verdict.rtt.map(Span::as_millis_f64),
        verdict = %verdict.verdict,
        reason = %verdict.reason(),
        response = %verdict.response,
        window_before = verdict.window_before,
        window_after = verdict.window_after,
    );
}

pub(crate) fn undone(transport: &'static str, undone: &Undone) {
    debug!(
        target: "losscause_quic::undone",
        transport,
        connection = undone.connection,
        lost_pkts = undone.lost_pkts,
        reason = %undone.revised,
        window = undone.window,
    );
}

pub(crate) fn spurious(transport: &'static str, spurious: &Spurious) {
    debug!(
        target: "losscause_quic::spurious",
        transport,
        connection = spurious.connection,
        pkts = spurious.pkts,
        first = spurious.numbers.first,
        last = spurious.numbers.last,
        window_before = spurious.window_before,
        window_after = spurious.window_after,
    );
}
