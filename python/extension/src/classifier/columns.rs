//! The packets or acknowledgements that a user gives in columns, checked before the first of them
//! is taken in.

use losscause_study::error::unknown;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow;
use crate::columns::{Column, MISSING, Unit};
use crate::error::{about, sentence};

/// The columns as they were given.
pub(super) enum Given<'a, 'py> {
    Table(&'a Bound<'py, PyAny>),
    /// As arguments; None is no column.
    Each(Option<&'a Bound<'py, PyDict>>),
}

/// The columns that are there.
pub(super) struct Columns<'py>(Vec<Column<'py>>);

impl<'a, 'py> Given<'a, 'py> {
    pub(super) fn of(
        table: Option<&'a Bound<'py, PyAny>>,
        each: Option<&'a Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        match (table, each.filter(|columns| columns.iter().any(|(_, column)| !column.is_none()))) {
            (Some(_), Some(_)) => {
                Err(sentence("table: is there beside single columns, expected one or the other"))
            }
            (Some(table), None) => Ok(Self::Table(table)),
            (None, each) => Ok(Self::Each(each)),
        }
    }

    /// The columns of these names, times with the unit that the name gives; of two that give the
    /// same in other units, nanoseconds are first. Other columns of a table are left alone.
    pub(super) fn columns(&self, names: &[(&'static str, Unit)]) -> PyResult<Columns<'py>> {
        let mut columns = Vec::new();
        match self {
            Self::Table(table) => {
                let arrays = arrow::structures(table, "table")?;
                for &(name, unit) in names {
                    if let Some(parts) = arrow::column(&arrays, name) {
                        columns.push(Column::of_arrays(name, &parts, unit)?);
                    }
                }
            }
            Self::Each(each) => {
                for (name, column) in
                    each.iter().copied().flatten().filter(|(_, column)| !column.is_none())
                {
                    let name: String = name.extract()?;
                    let Some(&(name, unit)) = names.iter().find(|(known, _)| *known == name) else {
                        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                        return Err(about(
                            format!("the column {}", unknown(&name, &known)),
                            None,
                            Some(&name),
                        ));
                    };
                    columns.push(Column::of(name, &column, unit)?);
                }
            }
        }
        Columns(columns).checked()
    }
}

impl Columns<'_> {
    /// Refuses two columns that give the same in other units.
    fn checked(self) -> PyResult<Self> {
        for column in &self.0 {
            let other = column.name.strip_suffix("_s").map(|name| format!("{name}_ns"));
            if let Some(ns) = other.filter(|ns| self.has(&[ns])) {
                let problem =
                    format!("{}: is there beside {ns}, expected one of them", column.name);
                return Err(about(problem, None, Some(column.name)));
            }
        }
        Ok(self)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.0.iter().any(|column| names.contains(&column.name))
    }

    /// The column of any of these names.
    pub(super) fn numbers(&self, names: &[&str]) -> PyResult<Option<Numbers<'_>>> {
        self.0.iter().find(|column| names.contains(&column.name)).map(Numbers::of).transpose()
    }

    /// The same for a column that must be there.
    pub(super) fn needed(&self, names: &[&str]) -> PyResult<Numbers<'_>> {
        let missing =
            || about(format!("{}: is missing, expected a column", names[0]), None, Some(names[0]));
        self.numbers(names)?.ok_or_else(missing)
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
        let found = self.rows();
        let expected = first.rows();
        if found == expected {
            return Ok(());
        }
        let problem =
            format!("{}: has {found} rows, expected {expected} as in {}", self.name, first.name);
        Err(about(problem, None, Some(self.name)))
    }

    /// Refuses negative numbers.
    pub(super) fn check(&self) -> PyResult<()> {
        let mut before = 0;
        for part in &self.parts {
            // All rows together, which is fast; then the first one, for the message.
            let is_wrong =
                |number: &i64| *number < 0 && !(self.unit.may_be_missing() && *number == MISSING);
            if part.iter().fold(0, |bits, number| bits | number) < 0
                && let Some(row) = part.iter().position(is_wrong)
            {
                let problem = format!(
                    "{}: row {} is {}, expected 0 to 2^63 - 1",
                    self.name,
                    before + row,
                    part[row]
                );
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

    /// Refuses negative numbers, and numbers below the one before, which `last` is for the first.
    /// Returns the last.
    pub(super) fn check_sorted(&self, mut last: u64) -> PyResult<u64> {
        self.check()?;
        for (row, &number) in self.parts.iter().copied().flatten().enumerate() {
            if (number as u64) < last {
                let name = self.name;
                let found =
                    format!("{name}: row {row} is {number} ns, and the packet before it {last} ns");
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
