//! Values for tests of claims and answers.

use losscause_laboratory::papers::record::{Item, ItemSpec, Paper};
pub(crate) use losscause_laboratory::papers::reproduce::Configuration;
use losscause_laboratory::papers::reproduce::{Only, blank_item};

use crate::live::Experiment;

/// What `losscause reproduce NAME --only …` runs.
pub(crate) fn cells(name: &str, only: &[&str]) -> Vec<Configuration> {
    let only = only.iter().map(|text| Only::parse(text).expect("a filter")).collect();
    let (_, selection) = Experiment::select(&[name], only).expect("a table");
    Experiment::plan(&selection, None, 1, &[]).expect("it is planned").configurations().to_vec()
}

/// The items of the record's tables that `is_measured`, with these values.
pub(crate) fn items(
    record: &Paper,
    is_measured: impl Fn(&ItemSpec) -> bool,
    value: impl Fn(&Item) -> Option<f64>,
) -> Vec<Item> {
    let mut items = Vec::new();
    for spec in record.items().item.iter().filter(|spec| is_measured(spec)) {
        for at in spec.combinations() {
            for metric in &spec.metrics {
                items.extend(
                    spec.systems
                        .iter()
                        .map(|system| blank_item(record, spec, metric, system, &at, 2)),
                );
            }
        }
    }
    items.iter_mut().for_each(|item| item.measured = value(item));
    items
}
