//! The losses that a classifier judged, as a table.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt64Array};
use losscause::Verdict;
use pyo3::prelude::*;

use crate::algorithms::word;
use crate::arrow::Table;
use crate::error::sentence;

/// The losses that were judged, column by column.
#[derive(Default)]
pub(super) struct Losses {
    /// Of losses at a receiver.
    seqs: Option<Vec<u64>>,
    rows: Vec<u64>,
    verdicts: Vec<i8>,
    reasons: Option<Vec<String>>,
}

/// In the order of their keys in the column.
const VERDICTS: [Verdict; 3] = [Verdict::Congestion, Verdict::Wireless, Verdict::Undecided];

impl Losses {
    /// None yet, at a receiver; with a column for `reasons` or without.
    pub(super) fn at_receiver(reasons: bool) -> Self {
        Self { seqs: Some(Vec::new()), ..Self::at_sender(reasons) }
    }

    /// None yet, at a sender.
    pub(super) fn at_sender(reasons: bool) -> Self {
        Self { reasons: reasons.then(Vec::new), ..Self::default() }
    }

    /// The packet `seq` was judged after row `row`.
    pub(super) fn push(&mut self, seq: u64, row: u64, judgement: &losscause::Judgement) {
        self.seqs.get_or_insert_default().push(seq);
        self.push_row(row, judgement);
    }

    /// A loss was judged after row `row`.
    pub(super) fn push_row(&mut self, row: u64, judgement: &losscause::Judgement) {
        self.rows.push(row);
        self.verdicts.push(match judgement.verdict {
            Verdict::Congestion => 0,
            Verdict::Wireless => 1,
            Verdict::Undecided => 2,
        });
        if let Some(reasons) = &mut self.reasons {
            reasons.push(judgement.reason.to_string());
        }
    }

    pub(super) fn table(self) -> PyResult<Table> {
        let words = Arc::new(StringArray::from_iter_values(VERDICTS.map(word)));
        let verdicts = DictionaryArray::<Int8Type>::try_new(Int8Array::from(self.verdicts), words);
        let unmade = |error: arrow_schema::ArrowError| sentence(error.to_string());
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        if let Some(seqs) = self.seqs {
            columns.push(("seq", Arc::new(UInt64Array::from(seqs))));
        }
        columns.push(("row", Arc::new(UInt64Array::from(self.rows))));
        columns.push(("verdict", Arc::new(verdicts.map_err(unmade)?)));
        if let Some(reasons) = self.reasons {
            columns.push(("reason", Arc::new(StringArray::from_iter_values(reasons))));
        }
        Table::of(vec![RecordBatch::try_from_iter(columns).map_err(unmade)?])
    }
}
