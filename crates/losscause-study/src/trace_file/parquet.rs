//! The trace as a Parquet file: the columns of the CSV, words as dictionaries, compressed with Zstandard.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringDictionaryBuilder, UInt32Builder, UInt64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;

use crate::row_file::parquet::{BATCH, io_error, properties};
use crate::run::TraceRow;

pub(super) fn write<'a>(rows: impl Iterator<Item = TraceRow<'a>>, out: &mut (impl Write + Send)) -> io::Result<()> {
    let mut rows = rows.peekable();
    let first = batch(rows.by_ref().take(BATCH)).map_err(io::Error::other)?;
    let mut writer = ArrowWriter::try_new(out, first.schema(), Some(properties())).map_err(io_error)?;
    writer.write(&first).map_err(io_error)?;
    while rows.peek().is_some() {
        writer.write(&batch(rows.by_ref().take(BATCH)).map_err(io::Error::other)?).map_err(io_error)?;
    }
    writer.close().map_err(io_error)?;
    Ok(())
}

fn batch<'a>(rows: impl Iterator<Item = TraceRow<'a>>) -> Result<RecordBatch, arrow_schema::ArrowError> {
    type Words = StringDictionaryBuilder<Int32Type>;
    let mut time_ns = Int64Builder::new();
    let (mut event, mut flow, mut link, mut packet) = (Words::new(), Words::new(), Words::new(), Words::new());
    let (mut cause, mut verdict, mut reason) = (Words::new(), Words::new(), Words::new());
    let (mut seq, mut bytes) = (UInt64Builder::new(), UInt32Builder::new());
    let (mut queue_packets, mut queue_bytes) = (UInt32Builder::new(), UInt64Builder::new());
    let (mut cwnd_packets, mut rate_bps) = (Float64Builder::new(), Float64Builder::new());
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

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn every_row_arrives_with_its_values_and_its_gaps() {
        let row = |n: i64| TraceRow {
            time_ns: n,
            event: "queue-drop",
            flow: "video.1",
            link: (n % 2 == 0).then_some("radio"),
            packet: Some("data"),
            seq: Some(n as u64),
            bytes: Some(762),
            queue_packets: Some(5),
            queue_bytes: Some(3810),
            cwnd_packets: None,
            rate_bps: None,
            cause: Some("congestion"),
            verdict: None,
            reason: None,
        };
        // More than one batch.
        let count = BATCH as i64 + 10;
        let mut file = tempfile::tempfile().unwrap();
        write((0..count).map(row), &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), count);
        for (n, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            assert_eq!(row.get_long(0).unwrap(), n);
            assert_eq!(row.get_string(1).unwrap(), "queue-drop");
            assert_eq!(row.get_string(3).is_ok(), n % 2 == 0);
            assert!(row.get_string(12).is_err());
        }
    }

    #[test]
    fn a_run_without_events_gives_a_file_without_rows() {
        let mut file = tempfile::tempfile().unwrap();
        write(std::iter::empty(), &mut file).unwrap();
        assert_eq!(SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows(), 0);
    }
}
