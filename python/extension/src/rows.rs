//! Objects of a result's JSON as a table: one row per object, one column per key.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, NullArray, RecordBatch,
    RecordBatchOptions, UInt64Array,
};
use arrow_schema::{Field, Schema};
use indexmap::IndexMap;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::arrow::Table;
use crate::error::{caught, sentence};

/// The objects of a JSON document as a table. `path` has the keys from the document to the list of
/// objects; where a list of objects is on the way, the rows of all of them follow each other, each
/// with the values of `keep` of the objects above it. An object within a row becomes columns called
/// `key.key`, and so do the values of axes; other lists are left out.
#[pyfunction]
#[pyo3(signature = (json, path, keep=vec![]))]
pub(crate) fn rows(
    py: Python<'_>,
    json: &str,
    path: Vec<String>,
    keep: Vec<String>,
) -> PyResult<Table> {
    caught(|| {
        py.detach(|| {
            let document: Json =
                serde_json::from_str(json).map_err(|error| sentence(error.to_string()))?;
            let mut columns = Columns::default();
            columns.take(&document, &path, &keep, &Object::new());
            columns.table()
        })
    })
}

/// A JSON document whose objects keep their order.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Json {
    Null,
    Flag(bool),
    Whole(i64),
    Large(u64),
    Number(f64),
    Word(String),
    List(Vec<Json>),
    Object(Object),
}

type Object = IndexMap<String, Json>;

/// Columns in the order in which their names were met.
#[derive(Default)]
struct Columns {
    columns: Vec<(String, Vec<Json>)>,
    rows: usize,
}

impl Columns {
    /// Takes in the rows below `value`, each with what is kept of the objects above it.
    fn take(&mut self, value: &Json, path: &[String], keep: &[String], above: &Object) {
        match (value, path) {
            (Json::List(items), _) => {
                items.iter().for_each(|item| self.take(item, path, keep, above));
            }
            (Json::Object(object), []) => {
                let mut row = above.clone();
                flatten(object, "", &mut row);
                self.add(row);
            }
            (Json::Object(object), [key, rest @ ..]) => {
                let Some(below) = object.get(key) else { return };
                let kept = object.iter().filter(|(key, _)| keep.contains(key));
                let mut above = above.clone();
                flatten(
                    &kept.map(|(key, value)| (key.clone(), value.clone())).collect(),
                    "",
                    &mut above,
                );
                self.take(below, rest, keep, &above);
            }
            _ => {}
        }
    }

    fn add(&mut self, row: Object) {
        for (name, value) in row {
            let place = self.columns.iter().position(|(known, _)| *known == name);
            let place = place.unwrap_or_else(|| {
                self.columns.push((name, vec![]));
                self.columns.len() - 1
            });
            let column = &mut self.columns[place].1;
            column.resize(self.rows, Json::Null);
            column.push(value);
        }
        self.rows += 1;
    }

    fn table(self) -> PyResult<Table> {
        let rows = self.rows;
        let named = self.columns.into_iter().map(|(name, mut column)| {
            column.resize(rows, Json::Null);
            (name, array(&column))
        });
        let (names, arrays): (Vec<String>, Vec<ArrayRef>) = named.unzip();
        let fields: Vec<Field> = names
            .iter()
            .zip(&arrays)
            .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch =
            RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        Table::of(vec![batch.map_err(|error| sentence(error.to_string()))?])
    }
}

/// Adds the numbers, words and flags of an object to a row, those of objects in it by `key.key`.
fn flatten(object: &Object, before: &str, row: &mut Object) {
    for (key, value) in object {
        let name = format!("{before}{key}");
        match value {
            Json::Object(inner) => flatten(inner, &format!("{name}."), row),
            Json::List(items) => items.iter().filter_map(axis).for_each(|(axis, value)| {
                row.insert(format!("{name}.{axis}"), value.clone());
            }),
            _ => _ = row.insert(name, value.clone()),
        }
    }
}

/// The name and the value of an axis, as a sweep's cell lists them.
fn axis(item: &Json) -> Option<(&str, &Json)> {
    let Json::Object(object) = item else { return None };
    match (object.get("axis"), object.get("value")) {
        (Some(Json::Word(name)), Some(value)) => Some((name, value)),
        _ => None,
    }
}

/// A column of one type: flags, whole numbers, numbers, else words.
fn array(column: &[Json]) -> ArrayRef {
    let all =
        |is: fn(&Json) -> bool| column.iter().all(|value| matches!(value, Json::Null) || is(value));
    if all(|_| false) {
        return Arc::new(NullArray::new(column.len()));
    }
    if all(|value| matches!(value, Json::Flag(_))) {
        let flag = |value: &Json| if let Json::Flag(flag) = value { Some(*flag) } else { None };
        return Arc::new(column.iter().map(flag).collect::<BooleanArray>());
    }
    if all(|value| matches!(value, Json::Whole(_))) {
        let whole =
            |value: &Json| if let Json::Whole(number) = value { Some(*number) } else { None };
        return Arc::new(column.iter().map(whole).collect::<Int64Array>());
    }
    // Seeds may need all 64 bits.
    if all(|value| large(value).is_some()) {
        return Arc::new(column.iter().map(large).collect::<UInt64Array>());
    }
    if all(|value| number(value).is_some()) {
        return Arc::new(column.iter().map(number).collect::<Float64Array>());
    }
    let words: Vec<Option<String>> = column.iter().map(word).collect();
    Arc::new(words.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
}

fn large(value: &Json) -> Option<u64> {
    match value {
        Json::Whole(number) => u64::try_from(*number).ok(),
        Json::Large(number) => Some(*number),
        _ => None,
    }
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Whole(number) => Some(*number as f64),
        Json::Large(number) => Some(*number as f64),
        Json::Number(number) => Some(*number),
        _ => None,
    }
}

/// A value as a word; in a column that mixes words and numbers, numbers are words too.
fn word(value: &Json) -> Option<String> {
    match value {
        Json::Flag(flag) => Some(flag.to_string()),
        Json::Whole(number) => Some(number.to_string()),
        Json::Large(number) => Some(number.to_string()),
        Json::Number(number) => Some(number.to_string()),
        Json::Word(word) => Some(word.clone()),
        Json::Null | Json::List(_) | Json::Object(_) => None,
    }
}
