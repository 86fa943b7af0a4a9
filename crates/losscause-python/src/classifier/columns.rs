//! The packets that a user gives in columns, checked before the first of them is taken in.

use pyo3::prelude::*;

use crate::arrow;
use crate::columns::{Column, MISSING, Unit};
use crate::error::about;

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
        let arrays = arrow::structures(table, "packets")?;
        let column = |(name, unit): (&'static str, Unit)| {
            arrow::column(&arrays, name).map(|parts| Column::of_arrays(name, &parts, unit)).transpose()
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
    unit: Unit,
    pub(super) parts: Vec<&'a [i64]>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(column: &'a Column<'_>) -> PyResult<Self> {
        Ok(Self { name: column.name, unit: column.unit, parts: column.parts()? })
    }

    pub(super) fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    pub(super) fn check_length(&self, first: &Self) -> PyResult<()> {
        let (found, expected) = (self.rows(), first.rows());
        if found == expected {
            return Ok(());
        }
        let problem = format!("{}: has {found} rows, expected {expected} as in {}", self.name, first.name);
        Err(about(problem, None, Some(self.name)))
    }

    /// Refuses negative numbers.
    pub(super) fn check(&self) -> PyResult<()> {
        let mut before = 0;
        for part in &self.parts {
            // All rows together, which is fast; then the first one, for the message.
            let is_wrong = |number: &i64| *number < 0 && !(self.unit.may_be_missing() && *number == MISSING);
            if part.iter().fold(0, |bits, number| bits | number) < 0
                && let Some(row) = part.iter().position(is_wrong)
            {
                let problem = format!("{}: row {} is {}, expected 0 to 2^63 - 1", self.name, before + row, part[row]);
                return Err(about(problem, None, Some(self.name)));
            }
            before += part.len();
        }
        Ok(())
    }

    /// Refuses numbers above `most`.
    pub(super) fn check_most(&self, most: u32) -> PyResult<()> {
        let row = self.parts.iter().copied().flatten().position(|number| *number > i64::from(most));
        row.map_or(Ok(()), |row| {
            let problem = format!("{}: row {row} is too large, expected at most {most}", self.name);
            Err(about(problem, None, Some(self.name)))
        })
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
    about(format!("{found}; expected the order of arrival"), None, Some(key))
}
