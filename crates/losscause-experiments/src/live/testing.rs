//! Values for tests of claims and answers.

use losscause_laboratory::papers::record::{Item, ItemSpec, Paper};
use losscause_laboratory::papers::reproduce::blank_item;

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
