//! The packets that a user gives in columns, checked before the first of them is taken in.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use pyo3::prelude::*;

use crate::arrow;
use crate::columns::{Column, Unit};
use crate::error::about;
use crate::input::kind;

/// The packets, column by column.
pub(super) struct Columns<'py> {
    pub(super) seq: Column<'py>,
    pub(super) at: Column<'py>,
    pub(super) sent: Option<Column<'py>>,
}

/// The columns by their names, times with the unit that the name gives.
const NAMES: [(&str, Unit); 5] = [
    ("seq", Unit::Whole),
    ("at_ns", Unit::Whole),
    ("at_s", Unit::Seconds),
    ("sent_ns", Unit::Whole),
    ("sent_s", Unit::Seconds),
];

impl<'py> Columns<'py> {
    pub(super) fn of_each(given: [Option<&Bound<'py, PyAny>>; 5]) -> PyResult<Self> {
        let mut columns = NAMES
            .into_iter()
            .zip(given)
            .map(|((name, unit), given)| given.map(|given| Column::of(name, given, unit)).transpose());
        let mut next = || columns.next().unwrap_or(Ok(None));
        Self::chosen([next()?, next()?, next()?, next()?, next()?])
    }

    pub(super) fn of_table(table: &Bound<'py, PyAny>) -> PyResult<Self> {
        let not_a_table = || {
            let problem = format!("packets: is {}, expected a table that hands out Arrow data", kind(table));
            about(problem, None, Some("packets"))
        };
        if !arrow::is_arrow(table)? {
            return Err(not_a_table());
        }
        let arrays = arrow::arrays(table)?;
        if arrays.iter().any(|array| array.as_struct_opt().is_none()) {
            return Err(not_a_table());
        }
        let column = |(name, unit): (&'static str, Unit)| {
            let parts: Option<Vec<ArrayRef>> =
                arrays.iter().map(|array| array.as_struct().column_by_name(name).cloned()).collect();
            // A table without rows may have no part at all.
            let parts = parts.filter(|parts| !parts.is_empty());
            parts.map(|parts| Column::of_arrays(name, &parts, unit)).transpose()
        };
        let [seq, at_ns, at_s, sent_ns, sent_s] = NAMES.map(column);
        Self::chosen([seq?, at_ns?, at_s?, sent_ns?, sent_s?])
    }

    fn chosen([seq, at_ns, at_s, sent_ns, sent_s]: [Option<Column<'py>>; 5]) -> PyResult<Self> {
        let missing = |name: &str| about(format!("{name}: is missing, expected a column"), None, Some(name));
        let one = |ns: Option<Column<'py>>, s: Option<Column<'py>>| match (ns, s) {
            (Some(ns), Some(s)) => {
                let problem = format!("{}: is there beside {}, expected one of them", s.name, ns.name);
                Err(about(problem, None, Some(s.name)))
            }
            (ns, s) => Ok(ns.or(s)),
        };
        Ok(Self {
            seq: seq.ok_or_else(|| missing("seq"))?,
            at: one(at_ns, at_s)?.ok_or_else(|| missing("at_ns"))?,
            sent: one(sent_ns, sent_s)?,
        })
    }
}

/// The numbers of a column.
pub(super) struct Numbers<'a> {
    name: &'static str,
    pub(super) parts: Vec<&'a [i64]>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(column: &'a Column<'_>) -> PyResult<Self> {
        Ok(Self { name: column.name, parts: column.parts()? })
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    pub(super) fn check_length(&self, seq: &Self) -> PyResult<()> {
        let (found, expected) = (self.rows(), seq.rows());
        if found == expected {
            return Ok(());
        }
        let problem = format!("{}: has {found} rows, expected {expected} as in seq", self.name);
        Err(about(problem, None, Some(self.name)))
    }

    /// Refuses negative numbers.
    pub(super) fn check(&self) -> PyResult<()> {
        let mut before = 0;
        for part in &self.parts {
            // All rows together, which is fast; then the first one, for the message.
            if part.iter().fold(0, |bits, number| bits | number) < 0 {
                let row = part.iter().position(|number| *number < 0).unwrap_or(0);
                let problem = format!("{}: row {} is {}, expected 0 to 2^63 - 1", self.name, before + row, part[row]);
                return Err(about(problem, None, Some(self.name)));
            }
            before += part.len();
        }
        Ok(())
    }

    /// Refuses negative numbers, and numbers below the one before, which `last` is for the first. Returns the last.
    pub(super) fn check_sorted(&self, mut last: u64) -> PyResult<u64> {
        self.check()?;
        for (row, &number) in self.parts.iter().copied().flatten().enumerate() {
            if (number as u64) < last {
                let name = self.name;
                let found = format!("{name}: row {row} is {number} ns, and the packet before it {last} ns");
                return Err(unsorted(&found, name));
            }
            last = number as u64;
        }
        Ok(last)
    }
}

pub(super) fn unsorted(found: &str, key: &str) -> PyErr {
    about(format!("{found}; expected packets in the order of their arrival"), None, Some(key))
}
