//! Which tables of an experiment are measured, and which of their cells.

use losscause_laboratory::papers::record::{ItemSpec, Parameters, Value};
use losscause_study::InputError;
use losscause_study::error::unknown;

use crate::live::Experiment;

/// Tables of one experiment.
#[derive(Clone)]
pub struct Selection {
    pub(crate) experiment: &'static Experiment,
    pub(crate) items: Vec<&'static ItemSpec>,
    pub(crate) only: Vec<Only>,
}

/// `--only KEY=VALUE,…`: the systems, or the values of a parameter, that are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Only {
    text: String,
    key: String,
    values: Vec<String>,
}

/// Stands for all tables that are measured on demand.
const FULL: &str = "full";

/// The key of [`Only`] that is no parameter.
const SYSTEM: &str = "system";

impl Only {
    /// Reads `KEY=VALUE` or `KEY=VALUE,VALUE,…`; the key is `system` or a parameter.
    ///
    /// # Errors
    /// There is no `=`, or nothing on one side of it.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let refuse = || InputError::Option {
            option: format!("--only {text}"),
            problem: "expected KEY=VALUE or KEY=VALUE,VALUE, such as system=reno or loss=0.01"
                .to_owned(),
        };
        let (key, values) = text.split_once('=').ok_or_else(refuse)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if key.is_empty() || values.iter().any(String::is_empty) {
            return Err(refuse());
        }
        Ok(Self { text: text.to_owned(), key: key.trim().to_owned(), values })
    }

    /// Whether the cell is measured. Tables without the parameter are measured in full.
    fn takes(&self, system: &str, parameters: &Parameters) -> bool {
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

impl Selection {
    /// Reads names, each EXPERIMENT or EXPERIMENT/ITEM, all of one experiment. An experiment's name
    /// selects what it measures by default, EXPERIMENT/full what it measures on demand.
    ///
    /// # Errors
    /// An experiment or item is unknown, the names are of different experiments, or `only` names a
    /// key or system that no chosen item has, or leaves nothing.
    pub fn parse<S: AsRef<str>>(names: &[S], only: Vec<Only>) -> Result<Self, InputError> {
        let mut chosen: Option<Self> = None;
        for name in names {
            let name = name.as_ref();
            let refuse = |problem: String| InputError::Option { option: name.to_owned(), problem };
            let experiment = crate::live::find(name).ok_or_else(|| {
                let known: Vec<&str> = crate::live::EXPERIMENTS
                    .iter()
                    .map(|experiment| experiment.record().key())
                    .collect();
                refuse(format!("the experiment {}", unknown(name, &known)))
            })?;
            let record = experiment.record();
            let selection = chosen.get_or_insert_with(|| Self {
                experiment,
                items: Vec::new(),
                only: Vec::new(),
            });
            if selection.experiment.record().key() != record.key() {
                let other = selection.experiment.record().key();
                return Err(refuse(format!(
                    "is of another experiment than {other}, expected a command for each"
                )));
            }
            let of_kind = |on_demand: bool| {
                record.items().item.iter().filter(move |item| item.on_demand == on_demand)
            };
            let items: Vec<&'static ItemSpec> = match name.split_once('/') {
                None => of_kind(false).collect(),
                Some((_, FULL)) => of_kind(true).collect(),
                Some((_, item)) => record.items_called(item)?,
            };
            for item in items {
                if !selection.items.iter().any(|known| std::ptr::eq(*known, item)) {
                    selection.items.push(item);
                }
            }
        }
        let Some(selection) = chosen else {
            let problem = "is missing, expected the name of an experiment".to_owned();
            return Err(InputError::Option { option: "EXPERIMENT".to_owned(), problem });
        };
        let selection = Self { only, ..selection };
        selection.check()?;
        Ok(selection)
    }

    /// The experiment.
    pub fn experiment(&self) -> &'static Experiment {
        self.experiment
    }

    /// The systems of an item that are measured at these parameters, in the item's order.
    pub(crate) fn systems<'a>(
        &'a self,
        item: &'static ItemSpec,
        parameters: &'a Parameters,
    ) -> impl Iterator<Item = &'static String> + 'a {
        item.systems
            .iter()
            .filter(move |system| self.only.iter().all(|only| only.takes(system, parameters)))
    }

    /// Refuses an unknown key or system, and a filter that leaves nothing.
    fn check(&self) -> Result<(), InputError> {
        for only in &self.only {
            let refuse = |problem: String| InputError::Option {
                option: format!("--only {}", only.text),
                problem,
            };
            let systems: Vec<&str> =
                names(self.items.iter().flat_map(|item| item.systems.iter().map(String::as_str)));
            if only.key == SYSTEM {
                if let Some(wrong) =
                    only.values.iter().find(|value| !systems.contains(&value.as_str()))
                {
                    return Err(refuse(format!("the system {}", unknown(wrong, &systems))));
                }
                continue;
            }
            let combinations: Vec<Parameters> =
                self.items.iter().flat_map(|item| item.combinations()).collect();
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
        let is_empty = self.items.iter().all(|item| {
            item.combinations().iter().all(|at| self.systems(item, at).next().is_none())
        });
        if is_empty {
            let texts: Vec<String> =
                self.only.iter().map(|only| format!("--only {}", only.text)).collect();
            let problem = "together leave nothing to measure, expected a wider choice".to_owned();
            return Err(InputError::Option { option: texts.join(" "), problem });
        }
        Ok(())
    }
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

    fn ids(names: &[&str]) -> Vec<&'static str> {
        Selection::parse(names, vec![]).unwrap().items.iter().map(|item| item.id.as_str()).collect()
    }

    fn refusal(names: &[&str], only: &[&str]) -> String {
        let only: Result<Vec<Only>, InputError> =
            only.iter().map(|text| Only::parse(text)).collect();
        match only.and_then(|only| Selection::parse(names, only)) {
            Ok(_) => panic!("{names:?} is no selection"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_experiment_by_itself_is_its_default_and_full_is_the_rest() {
        assert_eq!(ids(&["live"]), ["one-flow"]);
        let full = ids(&["live/full"]);
        assert!(
            full.contains(&"sharing") && full.contains(&"burst") && !full.contains(&"one-flow"),
            "{full:?}"
        );
        assert_eq!(ids(&["live/sharing", "live/sharing", "live"]), ["sharing", "one-flow"]);
    }

    #[test]
    fn only_leaves_the_systems_and_values_that_it_names() {
        let only = ["system=reno,lc_spike", "loss=0.0,0.02"].map(|text| Only::parse(text).unwrap());
        let selection = Selection::parse(&["live"], only.to_vec()).unwrap();
        let item = selection.items[0];
        let cells: Vec<String> = item
            .combinations()
            .iter()
            .flat_map(|at| {
                selection.systems(item, at).map(move |system| format!("{system} {}", at["loss"]))
            })
            .collect();
        assert_eq!(cells, ["reno 0", "lc_spike 0", "reno 0.02", "lc_spike 0.02"]);
    }

    #[test]
    fn what_cannot_be_chosen_is_refused_in_one_sentence() {
        assert!(refusal(&["live/shoring"], &[]).contains("did you mean \"sharing\"?"));
        assert!(refusal(&["lively"], &[]).contains("did you mean \"live\"?"));
        assert!(refusal(&["live"], &["system"]).starts_with("--only system: expected KEY=VALUE"));
        assert!(refusal(&["live"], &["system=lc_spyke"]).contains("did you mean \"lc_spike\"?"));
        assert!(refusal(&["live"], &["los=0.01"]).contains("did you mean \"loss\"?"));
        assert!(refusal(&["live"], &["loss=0.3"]).contains("expected values of 0, 0.01, 0.02"));
        let nothing = Selection::parse::<&str>(&[], vec![]).err().unwrap();
        assert!(nothing.to_string().contains("the name of an experiment"));
    }
}
