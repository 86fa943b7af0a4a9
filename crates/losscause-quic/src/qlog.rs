//! Verdicts as events of qlog, in a file of their own.
//!
//! A congestion controller has no access to the file that quinn's feature `qlog` writes; quinn
//! takes the window and the slow start threshold from it, nothing else. So this is a second file: a
//! JSON text sequence (RFC 7464) with the header of qlog 0.3 and one event `losscause:loss_verdict`
//! per batch of losses. If both have the same start time (`QlogConfig::start_time` and
//! `quinn::LossTolerant::with_clock_zero`), their times agree.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use losscause::{Observer, Span};
use serde_json::{Value, json};

use crate::{ControllerObserver, LossVerdict};

/// An observer that writes every verdict as an event of qlog. Clones write to the same file.
///
/// ```
/// use losscause_quic::QlogWriter;
///
/// let writer = QlogWriter::new(Vec::new(), "a server")?; // or a file, buffered
/// # #[cfg(feature = "quinn")]
/// let factory = losscause_quic::quinn::LossTolerant::recommended(losscause_quic::quinn::Base::cubic())
///     .with_clock_zero(std::time::Instant::now()) // as `QlogConfig::start_time`
///     .with_observer(writer.clone());
/// // At the end:
/// writer.flush()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct QlogWriter {
    output: Arc<Mutex<Output>>,
}

struct Output {
    writer: Box<dyn Write + Send>,
    /// Set after the first failure: no more is written.
    failed: Option<io::Error>,
}

impl QlogWriter {
    /// Writes the header. Times are milliseconds on the clock of the factory.
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn new(writer: impl Write + Send + 'static, title: &str) -> io::Result<Self> {
        let mut writer: Box<dyn Write + Send> = Box::new(writer);
        let header = json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": title,
            "trace": {
                "vantage_point": { "name": "losscause-quic", "type": "unknown" },
                "common_fields": { "time_format": "relative" },
            },
        });
        write_record(&mut writer, &header)?;
        Ok(Self { output: Arc::new(Mutex::new(Output { writer, failed: None })) })
    }

    /// Writes out what is buffered, and reports the first failure since the last call.
    ///
    /// # Errors
    /// If an event could not be written, or the writer cannot be flushed.
    pub fn flush(&self) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match output.failed.take() {
            Some(error) => Err(error),
            None => output.writer.flush(),
        }
    }
}

impl Observer for QlogWriter {}

impl ControllerObserver for QlogWriter {
    fn on_verdict(&mut self, verdict: &LossVerdict) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.failed.is_none() {
            output.failed = write_record(&mut output.writer, &event(verdict)).err();
        }
    }
}

impl fmt::Debug for QlogWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QlogWriter").finish_non_exhaustive()
    }
}

fn event(verdict: &LossVerdict) -> Value {
    json!({
        "time": verdict.at.as_nanos() as f64 / 1e6,
        "name": "losscause:loss_verdict",
        "group_id": verdict.connection.to_string(),
        "data": {
            "first_packet_number": verdict.numbers.map(|numbers| numbers.first),
            "last_packet_number": verdict.numbers.map(|numbers| numbers.last),
            "lost_packets": verdict.lost_pkts,
            "lost_bytes": verdict.lost_bytes,
            "rtt": verdict.rtt.map(Span::as_millis_f64),
            "verdict": verdict.verdict.to_string(),
            "reason": verdict.reason(),
            "response": verdict.response.to_string(),
            "congestion_window_before": verdict.window_before,
            "congestion_window": verdict.window_after,
        },
    })
}

/// RFC 7464: a record separator, the text, a line feed.
fn write_record(writer: &mut dyn Write, record: &Value) -> io::Result<()> {
    writeln!(writer, "\u{1e}{record}")
}
