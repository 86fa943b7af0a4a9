//! `losscause analyze --observations FILE`: what the algorithms get, row by row, while a capture is
//! read.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use losscause_capture::{Observation, Observer, Vantage};
use losscause_study::RunError;
use losscause_study::tools::atomic::AtomicFile;
use losscause_study::tools::row_file::{Cell, Column, RowFile};

/// The file, shared with the reader of the captures.
pub(super) struct Observations(Arc<Mutex<Option<RowFile>>>);

/// The columns. Their names have the units.
fn columns() -> Vec<Column> {
    vec![
        Column::words("capture"),
        Column::integers("flow"),
        Column::words("end"),
        Column::numbers("time_s"),
        Column::integers("packet"),
        Column::numbers("rott_ms"),
        Column::numbers("rtt_ms"),
        Column::numbers("queueing_ms"),
        Column::numbers("spacing_ms"),
        Column::integers("missing_packets"),
        Column::integers("spanned_packets"),
        Column::integers("in_flight_packets"),
        Column::numbers("window_packets"),
    ]
}

fn write(file: &mut RowFile, seen: &Observation) {
    let is_receiver = seen.end == Vantage::Receiver;
    let end = if is_receiver { "receiver" } else { "sender" };
    file.write(&[
        Cell::Word(&seen.capture),
        Cell::integer(Some(seen.flow)),
        Cell::Word(end),
        Cell::number(Some(seen.time_s), 9),
        Cell::integer(seen.packet),
        Cell::number(seen.trip_ms.filter(|_| is_receiver), 6),
        Cell::number(seen.trip_ms.filter(|_| !is_receiver), 6),
        Cell::number(seen.queueing_ms, 6),
        Cell::number(seen.spacing_ms, 6),
        Cell::integer(seen.missing),
        Cell::integer(seen.spanned),
        Cell::integer(seen.in_flight),
        Cell::number(seen.window, 3),
    ]);
}

impl Observations {
    /// Starts the file.
    pub(super) fn create(file: &Path) -> Result<Self, RunError> {
        let rows = RowFile::create(file, &columns())?;
        Ok(Self(Arc::new(Mutex::new(Some(rows)))))
    }

    /// Writes what it is told.
    pub(super) fn observer(&self) -> Observer {
        let file = self.0.clone();
        Observer::new(move |seen| {
            if let Some(rows) = file.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                write(rows, seen);
            }
        })
    }

    /// The whole file, without its name yet. What comes later is not written.
    pub(super) fn whole(self) -> Result<Option<AtomicFile>, RunError> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.map_or(Ok(None), RowFile::into_file)
    }
}
