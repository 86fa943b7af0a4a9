//! Tables and arrays of other packages, by Arrow's C interface: `__arrow_c_stream__` and
//! `__arrow_c_array__`.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::ffi::{CStr, c_char, c_void};

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, make_array};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::{about, caught, sentence};
use crate::input::kind;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// A table that polars, pyarrow, pandas, DuckDB and others take without a copy:
/// `polars.DataFrame(table)`.
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

    fn __repr__(&self) -> String {
        format!("<losscause.Table of {} rows: {}>", self.__len__(), self.columns().join(", "))
    }
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
    let pair = pair.cast::<PyTuple>()?;
    Ok(vec![taken_array(&pair.get_item(0)?, &pair.get_item(1)?)?.map_err(unreadable)?])
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

/// Takes the stream out of its capsule.
#[allow(unsafe_code)]
fn taken_stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
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
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
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
    caught(|| {
        // SAFETY: Neither was taken before; what is taken leaves released ones behind, which the
        // capsules' destructors leave alone.
        let data = unsafe {
            let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
            from_ffi(FFI_ArrowArray::from_raw(array.cast().as_ptr()), &schema)
        };
        Ok(data.map(make_array))
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
