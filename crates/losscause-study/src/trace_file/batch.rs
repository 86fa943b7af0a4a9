//! Rows of a trace as columns in memory, in the form of Apache Arrow.

use std::sync::Arc;

use arrow_array::builder::{
    Float64Builder, Int64Builder, StringDictionaryBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use crate::run::TraceRow;

/// The rows as columns; words are dictionaries.
///
/// # Errors
/// There are more rows than Arrow can index.
pub fn batch<'a>(rows: impl Iterator<Item = TraceRow<'a>>) -> Result<RecordBatch, ArrowError> {
    type Words = StringDictionaryBuilder<Int32Type>;
    let mut time_ns = Int64Builder::new();
    let mut event = Words::new();
    let mut flow = Words::new();
    let mut link = Words::new();
    let mut packet = Words::new();
    let mut cause = Words::new();
    let mut verdict = Words::new();
    let mut reason = Words::new();
    let mut seq = UInt64Builder::new();
    let mut bytes = UInt32Builder::new();
    let mut queue_packets = UInt32Builder::new();
    let mut queue_bytes = UInt64Builder::new();
    let mut cwnd_packets = Float64Builder::new();
    let mut rate_bps = Float64Builder::new();
    for row in rows {
        time_ns.append_value(row.time_ns);
        event.append_value(row.event);
        flow.append_value(row.flow);
        link.append_option(row.link);
        packet.append_option(row.packet);
        seq.append_option(row.seq);
        bytes.append_option(row.bytes);
        queue_packets.append_option(row.queue_packets);
        queue_bytes.append_option(row.queue_bytes);
        cwnd_packets.append_option(row.cwnd_packets);
        rate_bps.append_option(row.rate_bps);
        cause.append_option(row.cause);
        verdict.append_option(row.verdict);
        reason.append_option(row.reason);
    }
    let columns: [(&str, ArrayRef, bool); 14] = [
        ("time_ns", Arc::new(time_ns.finish()), false),
        ("event", Arc::new(event.finish()), false),
        ("flow", Arc::new(flow.finish()), false),
        ("link", Arc::new(link.finish()), true),
        ("packet", Arc::new(packet.finish()), true),
        ("seq", Arc::new(seq.finish()), true),
        ("bytes", Arc::new(bytes.finish()), true),
        ("queue_packets", Arc::new(queue_packets.finish()), true),
        ("queue_bytes", Arc::new(queue_bytes.finish()), true),
        ("cwnd_packets", Arc::new(cwnd_packets.finish()), true),
        ("rate_bps", Arc::new(rate_bps.finish()), true),
        ("cause", Arc::new(cause.finish()), true),
        ("verdict", Arc::new(verdict.finish()), true),
        ("reason", Arc::new(reason.finish()), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns)
}
