//! Cells of tables as objects of Python, and columns that pickle.

use std::sync::Arc;

use arrow_array::array::AnyDictionaryArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float64Type, Int8Type, Int32Type, Int64Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, NullArray,
    PrimitiveArray, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::error::sentence;

/// The value of a column in a row; None where there is none.
pub(crate) fn value(py: Python<'_>, column: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    if column.is_null(row) {
        return Ok(py.None());
    }
    match column.data_type() {
        DataType::Null => Ok(py.None()),
        DataType::Boolean => column.as_boolean().value(row).into_py_any(py),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_py_any(py),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_py_any(py),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into_py_any(py),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_py_any(py),
        DataType::Utf8 => column.as_string::<i32>().value(row).into_py_any(py),
        DataType::Dictionary(..) => {
            let words = column.as_any_dictionary();
            match key(words, row) {
                Some(key) => words.values().as_string::<i32>().value(key).into_py_any(py),
                None => Ok(py.None()),
            }
        }
        other => Err(unforeseen(other)),
    }
}

/// A column as plain objects, from which [`restored`] makes it again: the name of its type, and its
/// values; of words, the words and the place of each row's word among them.
pub(crate) fn plain(py: Python<'_>, column: &ArrayRef) -> PyResult<(&'static str, Py<PyAny>)> {
    let whole = |name, values: Vec<Option<i128>>| Ok((name, values.into_py_any(py)?));
    match column.data_type() {
        DataType::Null => Ok(("null", column.len().into_py_any(py)?)),
        DataType::Boolean => {
            let flags: Vec<Option<bool>> = column.as_boolean().iter().collect();
            Ok(("flag", flags.into_py_any(py)?))
        }
        DataType::Int64 => whole("int64", numbers::<Int64Type, _>(column)),
        DataType::UInt64 => whole("uint64", numbers::<UInt64Type, _>(column)),
        DataType::UInt32 => whole("uint32", numbers::<UInt32Type, _>(column)),
        DataType::Float64 => Ok(("float64", numbers::<Float64Type, f64>(column).into_py_any(py)?)),
        DataType::Utf8 => {
            let texts: Vec<Option<&str>> = column.as_string::<i32>().iter().collect();
            Ok(("text", texts.into_py_any(py)?))
        }
        DataType::Dictionary(kind, _) => {
            let words = column.as_any_dictionary();
            let texts: Vec<Option<&str>> = words.values().as_string::<i32>().iter().collect();
            let keys: Vec<Option<usize>> = (0..column.len()).map(|row| key(words, row)).collect();
            let name = if **kind == DataType::Int8 { "few-words" } else { "words" };
            Ok((name, (texts, keys).into_py_any(py)?))
        }
        other => Err(unforeseen(other)),
    }
}

/// The column that [`plain`] took apart.
pub(crate) fn restored(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match kind {
        "null" => Arc::new(NullArray::new(values.extract()?)),
        "flag" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
        "int64" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        "uint64" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
        "uint32" => Arc::new(UInt32Array::from(values.extract::<Vec<Option<u32>>>()?)),
        "float64" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
        "text" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        "words" => words::<Int32Type>(values)?,
        "few-words" => words::<Int8Type>(values)?,
        other => return Err(sentence(format!("a column of the kind \"{other}\" is unknown"))),
    })
}

/// The place of the word of a row among the words; none where there is none.
fn key(words: &dyn AnyDictionaryArray, row: usize) -> Option<usize> {
    let keys = words.keys();
    if keys.is_null(row) {
        return None;
    }
    match keys.data_type() {
        DataType::Int8 => usize::try_from(keys.as_primitive::<Int8Type>().value(row)).ok(),
        _ => usize::try_from(keys.as_primitive::<Int32Type>().value(row)).ok(),
    }
}

/// The column of words that [`plain`] took apart.
fn words<K>(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef>
where
    K: ArrowDictionaryKeyType,
    K::Native: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let (words, keys): (Vec<Option<String>>, Vec<Option<K::Native>>) = values.extract()?;
    let keys: PrimitiveArray<K> = keys.into_iter().collect();
    let column = DictionaryArray::try_new(keys, Arc::new(StringArray::from(words)));
    Ok(Arc::new(column.map_err(|error| sentence(error.to_string()))?))
}

fn numbers<T: ArrowPrimitiveType, N: From<T::Native>>(column: &ArrayRef) -> Vec<Option<N>> {
    column.as_primitive::<T>().iter().map(|number| number.map(N::from)).collect()
}

fn unforeseen(kind: &DataType) -> PyErr {
    sentence(format!("a column of the type {kind} has no values in Python"))
}
