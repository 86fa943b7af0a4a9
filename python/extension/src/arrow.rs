//! Tables and arrays of other packages, by Arrow's C interface: `__arrow_c_stream__` and
//! `__arrow_c_array__`.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::ffi::{CStr, c_char, c_void};
use std::panic::catch_unwind;
use std::ptr::NonNull;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, make_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use losscause_study::error::unknown;
use pyo3::exceptions::{PyImportError, PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyDict, PyFloat, PyList, PySlice, PyString, PyTuple};

use crate::error::{about, caught, sentence};
use crate::input::kind;
use crate::values;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A table that polars, pyarrow, pandas, DuckDB and others take without a copy:
/// `polars.DataFrame(table)`. `table[0]` is a row as a dictionary, `table["seq"]` a column as a
/// list, `table[2:5]` a table; iterating gives the rows.
///
/// >>> table = losscause.Classifier("Spike").classify(seq=[0, 2], at_ns=[30, 50], sent_ns=[0, 20])
/// >>> table.columns
/// ['seq', 'row', 'verdict']
/// >>> table[0]
/// {'seq': 1, 'row': 1, 'verdict': 'wireless'}
/// >>> [row["seq"] for row in table] == table["seq"]
/// True
#[pyclass(frozen, module = "losscause")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// A table of batches of the same columns, at least one.
    pub(crate) fn of(batches: Vec<RecordBatch>) -> PyResult<Self> {
        let first = batches.first().ok_or_else(|| sentence("a table has no batch"))?;
        Ok(Self { schema: first.schema(), batches })
    }
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow's C interface, which can be asked for any number of times.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may answer with its own types.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A row as a dictionary by its number, a column as a list by its name, or rows as a table by a
    /// slice.
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(name) = key.cast::<PyString>() {
            return Ok(self.column(py, name.to_str()?)?.into_any());
        }
        if let Ok(slice) = key.cast::<PySlice>() {
            return Ok(Bound::new(py, self.slice(slice)?)?.into_any());
        }
        if !key.hasattr(intern!(py, "__index__"))? {
            let kind = kind(key);
            return Err(PyTypeError::new_err(format!(
                "the key is {kind}, expected the number of a row, the name of a column or a slice"
            )));
        }
        let rows = self.__len__();
        let outside =
            || PyIndexError::new_err(format!("row {key}: there are {rows} rows, counted from 0"));
        let row: i64 = key.extract().map_err(|_| outside())?;
        let row = if row < 0 { row.checked_add_unsigned(rows as u64) } else { Some(row) };
        let row = row.and_then(|row| usize::try_from(row).ok()).filter(|row| *row < rows);
        Ok(self.row(py, row.ok_or_else(outside)?)?.into_any())
    }

    /// The rows as dictionaries, one after the other.
    fn __iter__(table: Py<Self>) -> Rows {
        Rows { table, next: 0 }
    }

    /// The table as a `polars.DataFrame`.
    fn to_polars<'py>(table: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(table.py(), "to_polars", "polars")?.call_method1("DataFrame", (table,))
    }

    /// The table as a `pandas.DataFrame`. Words become categories.
    fn to_pandas<'py>(table: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = table.py();
        let pandas = needed(py, "to_pandas", "pandas")?;
        // Column by column, so that pandas needs no pyarrow.
        let columns = PyDict::new(py);
        for field in table.get().schema.fields() {
            let column = table.get().column(py, field.name())?;
            let column = match field.data_type() {
                DataType::Dictionary(..) => {
                    let kind = [("dtype", "category")].into_py_dict(py)?;
                    pandas.call_method("Series", (column,), Some(&kind))?
                }
                _ => pandas.call_method1("Series", (column,))?,
            };
            columns.set_item(field.name(), column)?;
        }
        pandas.call_method1("DataFrame", (columns,))
    }

    /// Pickles it with its values.
    fn __reduce__<'py>(table: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = table.py();
        let this = table.get();
        let fields = this.schema.fields().iter();
        let fields: Vec<(&str, bool)> =
            fields.map(|field| (field.name().as_str(), field.is_nullable())).collect();
        let batch = |batch: &RecordBatch| {
            let columns = batch.columns().iter().map(|column| values::plain(py, column));
            Ok((batch.num_rows(), columns.collect::<PyResult<Vec<_>>>()?))
        };
        let batches = this.batches.iter().map(batch).collect::<PyResult<Vec<_>>>()?;
        let restored = py.import("losscause._losscause")?.getattr("restored")?;
        (restored, (fields, batches)).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 5;
        const WIDTH: usize = 110;
        let rows = self.__len__();
        let columns = cut(&self.columns().join(", "), 2 * WIDTH);
        let mut lines = vec![format!("<losscause.Table of {rows} rows: {columns}")];
        for row in 0..rows.min(SHOWN) {
            let values = self.row(py, row)?.values().iter().map(|value| shown(&value));
            let line = values.collect::<PyResult<Vec<_>>>()?.join(", ");
            lines.push(format!("  {}", cut(&line, WIDTH)));
        }
        if rows > SHOWN {
            lines.push(format!("  and {} more", rows - SHOWN));
        }
        Ok(lines.join("\n") + ">")
    }

    /// The first rows, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 20;
        let escape = py.import("html")?.getattr("escape")?;
        let cell = |tag: &str, text: &str| {
            Ok::<_, PyErr>(format!("<{tag}>{}</{tag}>", escape.call1((text,))?))
        };
        let head =
            self.columns().iter().map(|name| cell("th", name)).collect::<PyResult<String>>()?;
        let rows = self.__len__();
        let mut body = String::new();
        for row in 0..rows.min(SHOWN) {
            let values = self.row(py, row)?.values();
            let cells = values.iter().map(|value| cell("td", &shown(&value)?));
            body += &format!("<tr>{}</tr>", cells.collect::<PyResult<String>>()?);
        }
        let more = match rows.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("<p>and {more} more rows</p>"),
        };
        Ok(format!(
            "<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
        ))
    }
}

impl Table {
    /// A row as a dictionary.
    fn row<'py>(&self, py: Python<'py>, mut row: usize) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for batch in &self.batches {
            if row < batch.num_rows() {
                for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
                    made.set_item(field.name(), values::value(py, column, row)?)?;
                }
                break;
            }
            row -= batch.num_rows();
        }
        Ok(made)
    }

    /// A column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.schema.index_of(name).map_err(|_| {
            let columns = self.columns();
            let known: Vec<&str> = columns.iter().map(String::as_str).collect();
            PyKeyError::new_err(format!("the column {}", unknown(name, &known)))
        })?;
        let made = PyList::empty(py);
        for batch in &self.batches {
            let column = batch.column(place);
            (0..column.len()).try_for_each(|row| made.append(values::value(py, column, row)?))?;
        }
        Ok(made)
    }

    /// The rows of a slice.
    fn slice(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let rows = slice.indices(self.__len__() as isize)?;
        if rows.step != 1 {
            let problem = format!("the step is {}, expected 1", rows.step);
            return Err(PyValueError::new_err(problem));
        }
        let (mut first, mut left) = (rows.start as usize, rows.slicelength);
        let mut batches = vec![];
        for batch in &self.batches {
            let here = left.min(batch.num_rows().saturating_sub(first));
            if here > 0 || batches.is_empty() {
                batches.push(batch.slice(first.min(batch.num_rows()), here));
            }
            first = first.saturating_sub(batch.num_rows());
            left -= here;
        }
        Self::of(batches)
    }
}

/// The rows of a table, one by one.
#[pyclass(module = "losscause._losscause")]
pub(crate) struct Rows {
    table: Py<Table>,
    next: usize,
}

#[pymethods]
impl Rows {
    fn __iter__(rows: Py<Self>) -> Py<Self> {
        rows
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table.get();
        if self.next >= table.__len__() {
            return Ok(None);
        }
        self.next += 1;
        table.row(py, self.next - 1).map(Some)
    }
}

/// A batch taken apart: the number of rows, and the columns as [`values::plain`] gives them.
type Taken<'py> = (usize, Vec<(String, Bound<'py, PyAny>)>);

/// The table that was pickled.
#[pyfunction]
pub(crate) fn restored(fields: Vec<(String, bool)>, batches: Vec<Taken<'_>>) -> PyResult<Table> {
    caught(|| {
        let batch = |(rows, columns): Taken<'_>| {
            let columns = columns.iter().map(|(kind, values)| values::restored(kind, values));
            let columns = columns.collect::<PyResult<Vec<ArrayRef>>>()?;
            let named = fields.iter().zip(&columns);
            let schema = Schema::new(
                named
                    .map(|((name, null), column)| {
                        Field::new(name, column.data_type().clone(), *null)
                    })
                    .collect::<Vec<_>>(),
            );
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(schema.into(), columns, &options)
                .map_err(|error| sentence(error.to_string()))
        };
        Table::of(batches.into_iter().map(batch).collect::<PyResult<_>>()?)
    })
}

/// A line of at most so many characters.
fn cut(line: &str, width: usize) -> String {
    match line.char_indices().nth(width) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// A value as tables show it: numbers with six digits, None as nothing.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_none() {
        return Ok(String::new());
    }
    if value.is_instance_of::<PyFloat>() {
        return value.call_method1("__format__", (".6g",))?.extract();
    }
    Ok(value.str()?.to_string())
}

/// A package that a method needs.
fn needed<'py>(py: Python<'py>, method: &str, package: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(package).map_err(|error| {
        if error.is_instance_of::<PyImportError>(py) {
            let problem = format!(
                "{method}: {package} is not installed, expected `pip install {package}` first"
            );
            return about(problem, None, Some(method));
        }
        error
    })
}

/// Whether an object hands out Arrow data.
pub(crate) fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.hasattr(intern!(py, "__arrow_c_stream__"))?
        || object.hasattr(intern!(py, "__arrow_c_array__"))?)
}

/// The arrays of an object that hands out Arrow data; those of a table are of structures, one field
/// per column.
pub(crate) fn arrays(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let py = object.py();
    let unreadable =
        |error: ArrowError| sentence(format!("the Arrow data cannot be read: {error}"));
    if object.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let stream = object.call_method0(intern!(py, "__arrow_c_stream__"))?;
        let reader = ArrayStreamReader::try_new(taken_stream(&stream)?).map_err(unreadable)?;
        return reader.collect::<Result<_, _>>().map_err(unreadable);
    }
    let pair = object.call_method0(intern!(py, "__arrow_c_array__"))?;
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        pair.extract().map_err(|_| not_capsules())?;
    Ok(vec![taken_array(&schema, &array)?.map_err(unreadable)?])
}

/// The rows of a table as structures, one field per column; `what` is the argument that it is.
pub(crate) fn structures(table: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<ArrayRef>> {
    let not_a_table = || {
        let problem =
            format!("{what}: is {}, expected a table that hands out Arrow data", kind(table));
        about(problem, None, Some(what))
    };
    if !is_arrow(table)? {
        return Err(not_a_table());
    }
    let arrays = arrays(table)?;
    if arrays.iter().any(|array| array.as_struct_opt().is_none()) {
        return Err(not_a_table());
    }
    Ok(arrays)
}

/// A column of a table, part by part; none if it is not there. A table without rows may have no
/// part at all.
pub(crate) fn column(structures: &[ArrayRef], name: &str) -> Option<Vec<ArrayRef>> {
    let parts: Option<Vec<ArrayRef>> =
        structures.iter().map(|array| array.as_struct().column_by_name(name).cloned()).collect();
    parts.filter(|parts| !parts.is_empty())
}

/// What a capsule of that name holds.
fn pointer(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<c_void>> {
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| not_capsules())?;
    capsule.pointer_checked(Some(name)).map_err(|_| not_capsules())
}

fn not_capsules() -> PyErr {
    sentence("the Arrow data cannot be read: it is not in the capsules of Arrow's C interface")
}

/// Takes the stream out of its capsule.
#[allow(unsafe_code)]
fn taken_stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let pointer = pointer(capsule, STREAM)?;
    // SAFETY: A capsule of this name holds a stream of the C interface, by the protocol; what is
    // taken leaves a released stream behind, which the capsule's destructor leaves alone.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) })
}

/// Takes an array out of its capsules.
#[allow(unsafe_code)]
fn taken_array(
    schema: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
) -> PyResult<Result<ArrayRef, ArrowError>> {
    let schema = pointer(schema, SCHEMA)?;
    let array = pointer(array, ARRAY)?;
    // SAFETY: Capsules of these names hold a schema and an array of the C interface, by the
    // protocol.
    let is_taken = unsafe {
        (*schema.cast::<SchemaHead>().as_ptr()).release.is_none()
            || (*array.cast::<FFI_ArrowArray>().as_ptr()).is_released()
    };
    if is_taken {
        let problem =
            "the Arrow data was taken before, expected capsules that were made for this call";
        return Err(sentence(problem));
    }
    // An array of another type than its schema panics.
    let read = catch_unwind(|| {
        // SAFETY: Neither was taken before; what is taken leaves released ones behind, which the
        // capsules' destructors leave alone.
        let data = unsafe {
            let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
            from_ffi(FFI_ArrowArray::from_raw(array.cast().as_ptr()), &schema)
        };
        data.map(make_array)
    });
    read.map_err(|_| {
        sentence("the Arrow data cannot be read: the array is of another type than its schema")
    })
}

/// The beginning of `struct ArrowSchema` of the C interface, up to the function that releases it;
/// none if it was released.
#[repr(C)]
struct SchemaHead {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut c_void,
    dictionary: *mut c_void,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
}
