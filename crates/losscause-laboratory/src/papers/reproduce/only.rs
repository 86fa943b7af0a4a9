//! Which systems of the chosen tables are measured, and at which values of the parameters.

use std::fmt;

use crate::papers::record::{ItemSpec, Parameters, Value};
use losscause_study::InputError;
use losscause_study::error::unknown;

/// `--only KEY=VALUE,…`: the systems, or the values of a parameter, that are measured.
///
/// ```
/// use losscause_laboratory::papers::reproduce::Only;
///
/// assert!(Only::parse("system=reno,cubic").is_ok());
/// let error = Only::parse("reno").unwrap_err().to_string();
/// assert!(error.starts_with("--only reno: expected KEY=VALUE"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Only {
    text: String,
    key: String,
    values: Vec<String>,
}

/// The key of [`Only`] that is no parameter.
const SYSTEM: &str = "system";

impl Only {
    /// Reads `KEY=VALUE` or `KEY=VALUE,VALUE,…`; the key is `system` or a parameter.
    ///
    /// # Errors
    /// There is no `=`, or nothing on one side of it.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let refuse = || {
            InputError::option(
                format!("--only {text}"),
                "expected KEY=VALUE or KEY=VALUE,VALUE, such as system=reno or loss=0.01",
            )
        };
        let (key, values) = text.split_once('=').ok_or_else(refuse)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if key.is_empty() || values.iter().any(String::is_empty) {
            return Err(refuse());
        }
        Ok(Self { text: text.to_owned(), key: key.trim().to_owned(), values })
    }

    /// Whether the cell is measured. Tables without the parameter are measured in full.
    pub(super) fn takes(&self, system: &str, parameters: &Parameters) -> bool {
        if self.key == SYSTEM {
            return self.values.iter().any(|value| value == system);
        }
        let is_it = |text: &String, value: &Value| match text.parse::<f64>() {
            Ok(number) => value.same(&Value::from(number)),
            Err(_) => value.to_string() == *text,
        };
        parameters
            .get(&self.key)
            .is_none_or(|value| self.values.iter().any(|text| is_it(text, value)))
    }
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// The systems of an item that the filters leave at these parameters, in the item's order.
pub(super) fn systems<'a>(
    filters: &'a [Only],
    item: &'a ItemSpec,
    at: &'a Parameters,
) -> impl Iterator<Item = &'a String> {
    item.systems.iter().filter(move |system| filters.iter().all(|only| only.takes(system, at)))
}

/// Refuses an unknown key or system, and filters that leave nothing of `items`.
pub(super) fn check(items: &[&ItemSpec], filters: &[Only]) -> Result<(), InputError> {
    for only in filters {
        let refuse = |problem: String| InputError::option(format!("--only {}", only.text), problem);
        let systems: Vec<&str> =
            names(items.iter().flat_map(|item| item.systems.iter().map(String::as_str)));
        if only.key == SYSTEM {
            if let Some(wrong) = only.values.iter().find(|value| !systems.contains(&value.as_str()))
            {
                return Err(refuse(format!("the system {}", unknown(wrong, &systems))));
            }
            continue;
        }
        let combinations: Vec<Parameters> =
            items.iter().flat_map(|item| item.combinations()).collect();
        let keys: Vec<&str> = names(
            [SYSTEM]
                .into_iter()
                .chain(combinations.iter().flat_map(|c| c.keys().map(String::as_str))),
        );
        if !keys.contains(&only.key.as_str()) {
            return Err(refuse(format!("the parameter {}", unknown(&only.key, &keys))));
        }
        if !combinations.iter().any(|parameters| only.takes("", parameters)) {
            let values = combinations.iter().filter_map(|parameters| parameters.get(&only.key));
            let mut values: Vec<String> = values.map(ToString::to_string).collect();
            values.dedup();
            return Err(refuse(format!(
                "leaves nothing to measure, expected values of {}",
                values.join(", ")
            )));
        }
    }
    let is_empty = items.iter().all(|item| {
        item.combinations().iter().all(|at| systems(filters, item, at).next().is_none())
    });
    if is_empty {
        let texts: Vec<String> =
            filters.iter().map(|only| format!("--only {}", only.text)).collect();
        let problem = "together leave nothing to measure, expected a wider choice";
        return Err(InputError::option(texts.join(" "), problem));
    }
    Ok(())
}

/// Each name once, in the order of their first.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for name in all {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::reproduce::Selection;
    use crate::papers::reproduce::stack_tests::toy;

    fn refusal(only: &[&str]) -> String {
        let only: Result<Vec<Only>, InputError> =
            only.iter().map(|text| Only::parse(text)).collect();
        let selection = Selection::parse_of(&["toy"], |_| Ok(toy())).unwrap();
        only.and_then(|only| selection.only(only)).err().unwrap().to_string()
    }

    #[test]
    fn filters_leave_the_systems_and_values_that_they_name() {
        let only = ["system=TCP,with ZBS", "loss=0.0,0.02"].map(|text| Only::parse(text).unwrap());
        let selection = Selection::parse_of(&["toy"], |_| Ok(toy())).unwrap();
        let selection = selection.only(only.to_vec()).unwrap();
        let (_, item) = selection.iter().next().unwrap();
        let mut cells = Vec::new();
        for at in item.combinations() {
            let systems = selection.systems(item, &at);
            cells.extend(systems.map(|system| format!("{system} {}", at["loss"])));
        }
        assert_eq!(cells, ["TCP 0", "with ZBS 0", "TCP 0.02", "with ZBS 0.02"]);
    }

    #[test]
    fn what_cannot_be_chosen_is_refused_in_one_sentence() {
        assert!(refusal(&["system"]).starts_with("--only system: expected KEY=VALUE"));
        assert!(refusal(&["system=with ZSB"]).contains("did you mean \"with ZBS\"?"));
        assert!(refusal(&["los=0.01"]).contains("did you mean \"loss\"?"));
        assert!(refusal(&["loss=0.3"]).contains("expected values of 0, 0.01, 0.02"));
    }
}
