//! The columns that a classifier reads: from a table, from arrays of Arrow or NumPy, or from lists.
//!
//! Whole numbers of 64 bits are read where they lie. All others are converted, and a table in
//! several parts stays in them. A value that may be missing is [`MISSING`] where it is.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;
use losscause::Span;
use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::arrow;
use crate::error::about;
use crate::input::kind;

/// A column as its owner holds it.
pub(crate) struct Column<'py> {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
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
    /// Whole numbers, of which some may be missing.
    WholeOrMissing,
    /// Seconds, of which some may be missing.
    SecondsOrMissing,
    /// Numbers, of which some may be missing; kept as their bits, which are in the same order.
    NumberOrMissing,
}

/// Stands for a missing value, in columns whose [`Unit`] allows it.
pub(crate) const MISSING: i64 = i64::MIN;

/// Nanoseconds beyond it do not fit.
const MOST_SECONDS: f64 = 9e9;

impl Unit {
    pub(crate) fn may_be_missing(self) -> bool {
        !matches!(self, Self::Whole | Self::Seconds)
    }

    /// Whether the numbers of a user are taken as they are.
    fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::WholeOrMissing)
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Whole | Self::WholeOrMissing => "whole numbers",
            Self::Seconds | Self::SecondsOrMissing => "seconds",
            Self::NumberOrMissing => "numbers",
        }
    }

    /// A number of a user, in row `row` of the column `name`, as the column keeps it.
    fn kept(self, name: &str, row: usize, number: Option<f64>) -> PyResult<i64> {
        let is_number = self == Self::NumberOrMissing;
        match number {
            // Zero may have a sign, which would be that of the bits.
            Some(number) if is_number && number >= 0.0 && number.is_finite() => {
                Ok(number.abs().to_bits() as i64)
            }
            Some(seconds) if !is_number && (0.0..MOST_SECONDS).contains(&seconds) => {
                Ok(Span::from_secs_f64_rounded(seconds).as_nanos())
            }
            None if self.may_be_missing() => Ok(MISSING),
            Some(number) if self.may_be_missing() && number.is_nan() => Ok(MISSING),
            number => {
                let found =
                    number.map_or_else(|| "missing".to_owned(), |number| number.to_string());
                let range = if is_number {
                    "a number, 0 or more"
                } else {
                    "seconds, 0 or more and below 9e9"
                };
                Err(about(
                    format!("{name}: row {row} is {found}, expected {range}"),
                    None,
                    Some(name),
                ))
            }
        }
    }
}

impl<'py> Column<'py> {
    /// An array of Arrow or NumPy, or a list.
    pub(crate) fn of(name: &'static str, given: &Bound<'py, PyAny>, unit: Unit) -> PyResult<Self> {
        if is_numpy(given)? {
            return numpy_part(name, given, unit).map(|part| Self {
                name,
                unit,
                parts: vec![part],
            });
        }
        if arrow::is_arrow(given)? {
            return Self::of_arrays(name, &arrow::arrays(given)?, unit);
        }
        let made = match unit {
            Unit::Whole => given.extract::<Vec<i64>>(),
            Unit::WholeOrMissing => given.extract::<Vec<Option<i64>>>().map(missing_too),
            _ => given
                .extract::<Vec<Option<f64>>>()
                .and_then(|numbers| all_kept(name, 0, numbers, unit)),
        };
        match made {
            Ok(made) => Ok(Self { name, unit, parts: vec![Part::Made(made)] }),
            Err(error) if crate::error::is_ours(&error, given.py()) => Err(error),
            Err(_) => Err(unusable(name, &of_list(given, unit), unit)),
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
        Ok(Self { name, unit, parts: arrays.iter().map(part).collect::<PyResult<_>>()? })
    }

    /// The column's numbers, part by part.
    pub(crate) fn parts<'a>(&'a self) -> PyResult<Vec<&'a [i64]>> {
        let numbers = |part: &'a Part<'py>| match part {
            Part::Arrow(array) => Ok(&array.values()[..]),
            Part::Numpy(array) => Ok(array.as_slice()?),
            Part::Made(made) => Ok(&made[..]),
        };
        self.parts.iter().map(numbers).collect()
    }
}

/// What is wrong with a list: its first item that is no number, or a number that is too large.
fn of_list(given: &Bound<'_, PyAny>, unit: Unit) -> String {
    let is_usable = |item: &Bound<'_, PyAny>| match unit {
        Unit::Whole => item.extract::<i64>().is_ok(),
        Unit::WholeOrMissing => item.extract::<Option<i64>>().is_ok(),
        _ => item.extract::<Option<f64>>().is_ok(),
    };
    let items = given.cast::<PyList>().map(|list| list.iter().enumerate());
    match items.ok().and_then(|mut items| items.find(|(_, item)| !is_usable(item))) {
        Some((row, item)) if item.is_instance_of::<PyInt>() => {
            format!("a list whose row {row} is {item}")
        }
        Some((row, item)) => format!("a list whose row {row} is {}", kind(&item)),
        None => kind(given),
    }
}

fn unusable(name: &str, found: &str, unit: Unit) -> PyErr {
    let expected = unit.expected();
    about(
        format!("{name}: is {found}, expected an array or a list of {expected}"),
        None,
        Some(name),
    )
}

fn missing_too(numbers: Vec<Option<i64>>) -> Vec<i64> {
    numbers.into_iter().map(|number| number.unwrap_or(MISSING)).collect()
}

/// Numbers as a column keeps them; `before` is the first one's row.
fn all_kept(
    name: &str,
    before: usize,
    numbers: impl IntoIterator<Item = Option<f64>>,
    unit: Unit,
) -> PyResult<Vec<i64>> {
    (before..).zip(numbers).map(|(row, number)| unit.kept(name, row, number)).collect()
}

/// Whether an object is an array of NumPy, without importing NumPy.
fn is_numpy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.get_type().module()?.to_cow()? == "numpy")
}

fn numpy_part<'py>(
    name: &'static str,
    given: &Bound<'py, PyAny>,
    unit: Unit,
) -> PyResult<Part<'py>> {
    let array = given.cast::<PyUntypedArray>().map_err(|_| unusable(name, &kind(given), unit))?;
    if array.ndim() != 1 {
        let problem = format!("{name}: has {} dimensions, expected 1", array.ndim());
        return Err(about(problem, None, Some(name)));
    }
    let dtype = given.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    match (unit.is_whole(), kind.as_str()) {
        // Unsigned numbers of 64 bits keep their bits: those from 2^63 on are refused as negative
        // ones are.
        (true, "i" | "u") => {
            let signed = match dtype.getattr("itemsize")?.extract::<usize>()? {
                8 if dtype.getattr("isnative")?.extract()? => {
                    given.call_method1("view", ("int64",))?
                }
                _ => given.call_method1("astype", ("int64",))?,
            };
            let signed =
                if array.is_contiguous() { signed } else { signed.call_method0("copy")? };
            Ok(Part::Numpy(signed.extract::<PyReadonlyArray1<'py, i64>>()?))
        }
        (false, "f" | "i" | "u") => {
            let numbers = given
                .call_method1("astype", ("float64",))?
                .extract::<PyReadonlyArray1<'py, f64>>()?;
            Ok(Part::Made(all_kept(name, 0, numbers.as_array().iter().copied().map(Some), unit)?))
        }
        _ => Err(unusable(name, &format!("an array of {dtype}"), unit)),
    }
}

#[allow(clippy::cast_lossless)] // The macros cast from types for some of which there is no `From`.
fn arrow_part<'py>(
    name: &'static str,
    before: usize,
    array: &ArrayRef,
    unit: Unit,
) -> PyResult<Part<'py>> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let has_nulls = nulls.is_some();
    if let Some(row) = nulls.and_then(|nulls| nulls.iter().position(|is_there| !is_there))
        && !unit.may_be_missing()
    {
        return Err(about(
            format!("{name}: row {} is null, expected a number", before + row),
            None,
            Some(name),
        ));
    }
    macro_rules! whole {
        ($type:ty) => {
            Part::Made(missing_too(
                array
                    .as_primitive::<$type>()
                    .iter()
                    .map(|number| number.map(|number| number as i64))
                    .collect(),
            ))
        };
    }
    macro_rules! numbers {
        ($type:ty) => {{
            let numbers = array
                .as_primitive::<$type>()
                .iter()
                .map(|number| number.map(|number| number as f64));
            Part::Made(all_kept(name, before, numbers, unit)?)
        }};
    }
    Ok(match (unit.is_whole(), array.data_type()) {
        (true, DataType::Int64) if !has_nulls => Part::Arrow(array.as_primitive().clone()),
        // The same bits, as above.
        (true, DataType::UInt64) if !has_nulls => {
            let bits = array.as_primitive::<UInt64Type>().values().inner().clone();
            Part::Arrow(PrimitiveArray::new(bits.into(), None))
        }
        (true, DataType::Int64) => whole!(Int64Type),
        (true, DataType::UInt64) => whole!(UInt64Type),
        (true, DataType::Int8) => whole!(Int8Type),
        (true, DataType::Int16) => whole!(Int16Type),
        (true, DataType::Int32) => whole!(Int32Type),
        (true, DataType::UInt8) => whole!(UInt8Type),
        (true, DataType::UInt16) => whole!(UInt16Type),
        (true, DataType::UInt32) => whole!(UInt32Type),
        (false, DataType::Float64) => numbers!(Float64Type),
        (false, DataType::Float32) => numbers!(Float32Type),
        (false, DataType::Int64) if unit == Unit::NumberOrMissing => numbers!(Int64Type),
        (false, DataType::UInt32) if unit == Unit::NumberOrMissing => numbers!(UInt32Type),
        // A column in which every value is missing.
        (_, DataType::Null) if unit.may_be_missing() => Part::Made(vec![MISSING; array.len()]),
        (_, other) => return Err(unusable(name, &format!("an array of {other}"), unit)),
    })
}

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
