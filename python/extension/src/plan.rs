//! A sweep whose cells an engine in Python measures, in any processes and parts:
//! `python/losscause/_ray.py`.

use std::ops::Range;
use std::path::PathBuf;

use losscause_laboratory::store::Held;
use losscause_laboratory::sweep::Elsewhere;
use losscause_report as report;
use losscause_study::tools::atomic;
use losscause_study::{Jobs, Workers};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::algorithms::Failures;
use crate::error::{Failure, sentence};
use crate::simulate::finished;
use crate::{sweep, work};

/// A checked sweep.
#[pyclass(frozen, module = "losscause._losscause")]
pub(crate) struct Plan {
    elsewhere: Elsewhere,
    failures: Failures,
    file: String,
}

/// The directory of a sweep, locked for this process.
#[pyclass(frozen, module = "losscause._losscause")]
pub(crate) struct Directory {
    held: Held,
    path: PathBuf,
}

/// The rows of some cells as columns: the numbers of the cells, the values of every axis, systems,
/// seeds.
type Rows = (Vec<usize>, Vec<Vec<String>>, Vec<String>, Vec<u64>);

/// What the values of an axis are, the more special first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AxisKind {
    Whole,
    Number,
    Text,
}

impl AxisKind {
    fn of(value: &str) -> Self {
        match (value.parse::<i64>(), value.parse::<f64>()) {
            (Ok(_), _) => Self::Whole,
            (_, Ok(number)) if number.is_finite() => Self::Number,
            _ => Self::Text,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Number => "number",
            Self::Text => "text",
        }
    }
}

#[pymethods]
impl Plan {
    /// Reads and checks a sweep file.
    #[new]
    #[pyo3(signature = (sweep, settings, algorithms, *, runs=None, seed=None))]
    fn new(
        sweep: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyDict>,
        algorithms: &Bound<'_, PyDict>,
        runs: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let failures = Failures::default();
        let (file, sweep) = sweep::loaded(sweep, settings, algorithms, (runs, seed), &failures)?;
        let elsewhere = sweep.elsewhere().map_err(Failure::from)?;
        Ok(Self { elsewhere, failures, file })
    }

    /// The question of the sweep.
    #[getter]
    fn title(&self) -> &str {
        self.elsewhere.sweep().title()
    }

    /// Number of cells.
    #[getter]
    fn count(&self) -> usize {
        self.elsewhere.sweep().count()
    }

    /// Number of runs of a cell: its systems times the runs of each.
    #[getter]
    fn runs_of_a_cell(&self) -> usize {
        self.elsewhere.runs_of_a_cell()
    }

    /// Names of the axes.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.elsewhere.sweep().axes().map(str::to_owned).collect()
    }

    /// What the values of every axis are: "whole", "number" or "text". They are all looked at.
    fn axis_kinds(&self, py: Python<'_>) -> Vec<&'static str> {
        py.detach(|| {
            let sweep = self.elsewhere.sweep();
            let mut kinds = vec![AxisKind::Whole; sweep.axes().count()];
            for number in 0..sweep.count() {
                for cell in sweep.cells_in(number..number + 1) {
                    for (kind, value) in kinds.iter_mut().zip(&cell.values) {
                        *kind = (*kind).max(AxisKind::of(&value.value));
                    }
                }
            }
            kinds.into_iter().map(AxisKind::name).collect()
        })
    }

    /// Names and units of the metrics.
    #[getter]
    fn metrics(&self) -> Vec<(String, String)> {
        self.elsewhere.columns().iter().map(|(name, unit)| (name.clone(), unit.clone())).collect()
    }

    /// The content of every file that the sweep reads, by its name.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (name, content) in self.elsewhere.files().map_err(Failure::from)? {
            files.set_item(name, PyBytes::new(py, &content))?;
        }
        Ok(files)
    }

    /// What the rows of the cells from `first` to `end` - 1 say beside the values.
    fn rows(&self, first: usize, end: usize) -> PyResult<Rows> {
        let cells = self.elsewhere.sweep().cells_in(self.range(first, end)?);
        let mut rows: Rows = (
            vec![],
            vec![vec![]; cells.first().map_or(0, |cell| cell.values.len())],
            vec![],
            vec![],
        );
        for cell in &cells {
            for (system, seed) in self.elsewhere.runs(cell) {
                rows.0.push(cell.number);
                rows.1
                    .iter_mut()
                    .zip(&cell.values)
                    .for_each(|(axis, value)| axis.push(value.value.clone()));
                rows.2.push(system);
                rows.3.push(seed);
            }
        }
        Ok(rows)
    }

    /// Measures the cells from `first` to `end` - 1 on one thread: numbers of eight bytes, run by
    /// run, each run with its metrics in order; NaN where it has none.
    fn measure<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let cells = self.range(first, end)?;
        let workers =
            Workers::from(Jobs::new(1).map_err(Failure::from)?).stopping_at(self.failures.stop());
        let made = work::elsewhere(py, self.failures.stop(), None, |_| {
            self.elsewhere.sweep().values(cells, workers)
        })?;
        let values = finished(py, made, &self.failures, &self.file)?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Locks the directory of the sweep. Finished cells in it are kept with `resume`, dropped with
    /// `restart`, and refused otherwise.
    fn hold(&self, out: PathBuf, resume: bool, restart: bool) -> PyResult<Directory> {
        let store = sweep::store(&out, resume, restart)?;
        let held = self.elsewhere.sweep().hold(&store).map_err(Failure::from)?;
        Ok(Directory { held, path: out })
    }

    /// Puts the values of all cells together. With a directory, the results are written there.
    /// Returns the JSON and the tables that the local engine prints; None if there are too many
    /// cells for a document in memory.
    fn conclude(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyBytes>,
        directory: Option<&Bound<'_, Directory>>,
    ) -> PyResult<Option<(String, String)>> {
        let number = |bytes: &[u8]| f64::from_le_bytes(std::array::from_fn(|k| bytes[k]));
        let values: Vec<f64> = values.as_bytes().chunks_exact(8).map(number).collect();
        let directory = directory.map(Bound::get);
        let made = py.detach(|| {
            let result =
                self.elsewhere.conclude(&values, directory.map(|directory| &directory.held))?;
            if let Some(directory) = directory {
                report::keep_sweep_html(&directory.path, result.as_ref())?;
            }
            Ok(result.map(|result| (result.json(), losscause_cli::sweep_tables(&result))))
        });
        Ok(made.map_err(Failure::Run)?)
    }
}

impl Plan {
    fn range(&self, first: usize, end: usize) -> PyResult<Range<usize>> {
        let count = self.count();
        if first < end && end <= count {
            return Ok(first..end);
        }
        Err(sentence(format!(
            "cells {first} to {end}: expected a part of the {count} cells, from 0 on"
        )))
    }
}

#[pymethods]
impl Directory {
    /// The directory of the finished cells.
    #[getter]
    fn cells(&self) -> PathBuf {
        self.held.cells()
    }

    /// Whether the finished cells of an earlier sweep are kept.
    #[getter]
    fn resumes(&self) -> bool {
        self.held.resumes()
    }

    /// Writes a file into the directory of the finished cells: whole, or not at all.
    fn keep(&self, name: &str, content: &[u8]) -> PyResult<()> {
        Ok(atomic::write(&self.held.cells().join(name), content).map_err(Failure::Run)?)
    }

    /// Writes a file beside the results, likewise.
    fn write(&self, name: &str, content: &[u8]) -> PyResult<()> {
        Ok(atomic::write(&self.path.join(name), content).map_err(Failure::Run)?)
    }
}
