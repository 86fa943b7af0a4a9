//! The columns that a classifier reads: from a table, from arrays of Arrow or NumPy, or from lists.
//!
//! Whole numbers of 64 bits are read where they lie. All others are converted, and a table in several parts stays in
//! them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;
use losscause::Span;
use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrow;
use crate::error::about;
use crate::input::kind;

/// A column as its owner holds it.
pub(crate) struct Column<'py> {
    pub(crate) name: &'static str,
    parts: Vec<Part<'py>>,
}

enum Part<'py> {
    Arrow(PrimitiveArray<Int64Type>),
    Numpy(PyReadonlyArray1<'py, i64>),
    Made(Vec<i64>),
}

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Whole numbers, or nanoseconds.
    Whole,
    /// Seconds, which become nanoseconds.
    Seconds,
}

impl<'py> Column<'py> {
    /// An array of Arrow or NumPy, or a list.
    pub(crate) fn of(name: &'static str, given: &Bound<'py, PyAny>, unit: Unit) -> PyResult<Self> {
        if is_numpy(given)? {
            return numpy_part(name, given, unit).map(|part| Self { name, parts: vec![part] });
        }
        if arrow::is_arrow(given)? {
            return Self::of_arrays(name, &arrow::arrays(given)?, unit);
        }
        let made = match unit {
            Unit::Whole => given.extract::<Vec<i64>>(),
            Unit::Seconds => given.extract::<Vec<f64>>().and_then(|seconds| nanoseconds(name, 0, seconds)),
        };
        match made {
            Ok(made) => Ok(Self { name, parts: vec![Part::Made(made)] }),
            Err(error) if crate::error::is_ours(&error, given.py()) => Err(error),
            Err(_) => Err(unusable(name, &kind(given), unit)),
        }
    }

    /// Arrays of Arrow, one after the other.
    pub(crate) fn of_arrays(name: &'static str, arrays: &[ArrayRef], unit: Unit) -> PyResult<Self> {
        let mut before = 0;
        let part = |array: &ArrayRef| {
            let part = arrow_part(name, before, array, unit);
            before += array.len();
            part
        };
        Ok(Self { name, parts: arrays.iter().map(part).collect::<PyResult<_>>()? })
    }

    /// Its numbers, part by part.
    pub(crate) fn parts<'a>(&'a self) -> PyResult<Vec<&'a [i64]>> {
        let numbers = |part: &'a Part<'py>| match part {
            Part::Arrow(array) => Ok(&array.values()[..]),
            Part::Numpy(array) => Ok(array.as_slice()?),
            Part::Made(made) => Ok(&made[..]),
        };
        self.parts.iter().map(numbers).collect()
    }
}

fn unusable(name: &str, found: &str, unit: Unit) -> PyErr {
    let expected = match unit {
        Unit::Whole => "whole numbers",
        Unit::Seconds => "seconds",
    };
    about(format!("{name}: is {found}, expected an array or a list of {expected}"), None, Some(name))
}

/// Whether an object is an array of NumPy, without importing NumPy.
fn is_numpy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.get_type().module()?.to_cow()? == "numpy")
}

fn numpy_part<'py>(name: &'static str, given: &Bound<'py, PyAny>, unit: Unit) -> PyResult<Part<'py>> {
    let array = given.cast::<PyUntypedArray>().map_err(|_| unusable(name, &kind(given), unit))?;
    if array.ndim() != 1 {
        let problem = format!("{name}: has {} dimensions, expected 1", array.ndim());
        return Err(about(problem, None, Some(name)));
    }
    let dtype = given.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    match (unit, kind.as_str()) {
        // Unsigned numbers of 64 bits keep their bits: those from 2^63 on are refused as negative ones are.
        (Unit::Whole, "i" | "u") => {
            let signed = match dtype.getattr("itemsize")?.extract::<usize>()? {
                8 if dtype.getattr("isnative")?.extract()? => given.call_method1("view", ("int64",))?,
                _ => given.call_method1("astype", ("int64",))?,
            };
            let signed = if array.is_contiguous() { signed } else { signed.call_method0("copy")? };
            Ok(Part::Numpy(signed.extract::<PyReadonlyArray1<'py, i64>>()?))
        }
        (Unit::Seconds, "f" | "i" | "u") => {
            let seconds = given.call_method1("astype", ("float64",))?.extract::<PyReadonlyArray1<'py, f64>>()?;
            Ok(Part::Made(nanoseconds(name, 0, seconds.as_array().iter().copied())?))
        }
        _ => Err(unusable(name, &format!("an array of {dtype}"), unit)),
    }
}

fn arrow_part<'py>(name: &'static str, before: usize, array: &ArrayRef, unit: Unit) -> PyResult<Part<'py>> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    if let Some(row) = nulls.and_then(|nulls| nulls.iter().position(|is_there| !is_there)) {
        return Err(about(format!("{name}: row {} is null, expected a number", before + row), None, Some(name)));
    }
    macro_rules! made {
        ($type:ty) => {
            Part::Made(array.as_primitive::<$type>().values().iter().map(|number| i64::from(*number)).collect())
        };
    }
    macro_rules! seconds {
        ($type:ty) => {
            nanoseconds(name, before, array.as_primitive::<$type>().values().iter().map(|number| f64::from(*number)))
        };
    }
    Ok(match (unit, array.data_type()) {
        (Unit::Whole, DataType::Int64) => Part::Arrow(array.as_primitive().clone()),
        // The same bits, as above.
        (Unit::Whole, DataType::UInt64) => {
            let bits = array.as_primitive::<UInt64Type>().values().inner().clone();
            Part::Arrow(PrimitiveArray::new(bits.into(), None))
        }
        (Unit::Whole, DataType::Int8) => made!(Int8Type),
        (Unit::Whole, DataType::Int16) => made!(Int16Type),
        (Unit::Whole, DataType::Int32) => made!(Int32Type),
        (Unit::Whole, DataType::UInt8) => made!(UInt8Type),
        (Unit::Whole, DataType::UInt16) => made!(UInt16Type),
        (Unit::Whole, DataType::UInt32) => made!(UInt32Type),
        (Unit::Seconds, DataType::Float64) => Part::Made(seconds!(Float64Type)?),
        (Unit::Seconds, DataType::Float32) => Part::Made(seconds!(Float32Type)?),
        (_, other) => return Err(unusable(name, &format!("an array of {other}"), unit)),
    })
}

/// Seconds as nanoseconds.
fn nanoseconds(name: &'static str, before: usize, seconds: impl IntoIterator<Item = f64>) -> PyResult<Vec<i64>> {
    let whole = |(row, seconds): (usize, f64)| match seconds {
        _ if (0.0..MOST_SECONDS).contains(&seconds) => Ok(Span::from_secs_f64_rounded(seconds).as_nanos()),
        _ => {
            let row = before + row;
            let problem = format!("{name}: row {row} is {seconds}, expected seconds, 0 or more and below 9e9");
            Err(about(problem, None, Some(name)))
        }
    };
    seconds.into_iter().enumerate().map(whole).collect()
}

/// Nanoseconds beyond it do not fit.
const MOST_SECONDS: f64 = 9e9;

/// Calls `take` with stretches of equal length of all columns, which have equally many rows.
pub(crate) fn together<const N: usize>(columns: [&[&[i64]]; N], mut take: impl FnMut([&[i64]; N])) {
    let mut left = columns.map(|column| column.iter().copied());
    let mut now = [&[] as &[i64]; N];
    loop {
        for (now, left) in now.iter_mut().zip(&mut left) {
            while now.is_empty() {
                match left.next() {
                    Some(part) => *now = part,
                    None => return,
                }
            }
        }
        let rows = now.iter().map(|part| part.len()).min().unwrap_or(0);
        take(now.map(|part| &part[..rows]));
        now = now.map(|part| &part[rows..]);
    }
}
