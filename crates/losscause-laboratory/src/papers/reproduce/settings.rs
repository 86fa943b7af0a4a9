//! From a paper's system and parameters to a scenario file and its settings.

use crate::papers::record::{ItemSpec, NetworkOf, Paper, Parameters, System, Value};
use losscause_study::{InputError, Setting};

/// A scenario file of a paper, by its name, and the settings for a system and its parameters.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file's name among the paper's scenarios; of another paper with both names,
    /// "cen2003/WLH".
    pub file: String,
    /// The settings, in the order in which they apply.
    pub settings: Vec<Setting>,
}

/// The file and settings with which `item` runs `system` in `scenario` at `parameters`.
///
/// # Errors
/// A text of the paper's record names an unknown parameter or system, or is no setting.
pub fn place(
    paper: &Paper,
    item: &ItemSpec,
    scenario: &str,
    system: &str,
    parameters: &Parameters,
) -> Result<Place, InputError> {
    let items = paper.items();
    let network = network(paper, scenario);
    let fill = |key: &str, text: &str| {
        filled_in(text, parameters).map_err(|problem| bad_item(paper, item, key, problem))
    };
    let file = fill("file", &network.file)?;
    let mut settings = Vec::new();
    for (name, value) in parameters {
        let special: Vec<_> = items
            .setting
            .iter()
            .filter(|s| {
                s.parameter == *name
                    && s.value.same(value)
                    && s.file.as_ref().is_none_or(|only| *only == file)
            })
            .collect();
        for text in special.iter().flat_map(|special| &special.set) {
            settings.push(Setting::parse(text)?);
        }
        if special.is_empty() && !is_used(paper, item, &network, name) {
            settings.push(Setting::parse(&format!("{name}={value}"))?);
        }
    }
    for text in &network.set {
        settings.push(Setting::parse(&fill("set", text)?)?);
    }
    let flow = &items.flow;
    let system = simulated(paper, item, system)?;
    let mut put = |key: &str, value: toml::Value| {
        settings.push(Setting::new(format!("flow.{flow}.{key}"), value));
    };
    if let Some(protocol) = &system.protocol {
        put("protocol", protocol.as_str().into());
    }
    if let Some(variant) = &system.variant {
        put("variant", variant.as_str().into());
    }
    if let Some(lda) = &system.lda {
        put("lda", lda.as_str().into());
    }
    if system.wireless_immune {
        put("wireless_immune", true.into());
    }
    for text in &system.set {
        settings.push(Setting::parse(&fill(&format!("set of the system {}", system.name), text)?)?);
    }
    Ok(Place { file, settings })
}

/// The simulated system of that name.
fn simulated<'a>(paper: &'a Paper, item: &ItemSpec, name: &str) -> Result<&'a System, InputError> {
    let Some(system) = paper.system(name) else {
        let known: Vec<&str> = paper.published().system.iter().map(|s| s.name.as_str()).collect();
        let problem = format!("the system {}", losscause_study::error::unknown(name, &known));
        return Err(bad_item(paper, item, "systems", problem));
    };
    if system.protocol.is_none() {
        let problem = format!(
            "the system \"{name}\" has no protocol, expected one in published.toml or kind = \"model\""
        );
        return Err(bad_item(paper, item, "systems", problem));
    }
    Ok(system)
}

/// The file and settings of a scenario of the paper.
fn network(paper: &Paper, scenario: &str) -> NetworkOf {
    let as_it_is =
        || NetworkOf { scenario: scenario.to_owned(), file: scenario.to_owned(), set: vec![] };
    paper.items().network.iter().find(|n| n.scenario == scenario).cloned().unwrap_or_else(as_it_is)
}

/// The text with `{NAME}` replaced by the value of that parameter.
pub(super) fn filled_in(text: &str, parameters: &Parameters) -> Result<String, String> {
    let put = |text: String, name: &str, value: &str| text.replace(&format!("{{{name}}}"), value);
    let filled = parameters
        .iter()
        .fold(text.to_owned(), |text, (name, value)| put(text, name, &value.to_string()));
    if let Some(name) = in_braces(&filled).next() {
        let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
        return Err(format!(
            "in \"{text}\" the parameter {}",
            losscause_study::error::unknown(name, &known)
        ));
    }
    Ok(filled)
}

/// The names in braces: `{P_CC}`, but not the inline table `{ kind = "codel" }`.
fn in_braces(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
        .filter(is_name)
}

/// Whether any text uses the parameter as `{NAME}`. One system's use of a parameter does not count
/// for another system.
fn is_used(paper: &Paper, item: &ItemSpec, network: &NetworkOf, parameter: &str) -> bool {
    let takes = |text: &str| in_braces(text).any(|name| name == parameter);
    let takes_target = |target: &Value| matches!(target, Value::Text(text) if takes(text));
    let items = paper.items();
    takes(&network.file)
        || network.set.iter().any(|text| takes(text))
        || paper.published().system.iter().flat_map(|system| &system.set).any(|text| takes(text))
        || item.templates().any(takes)
        || items.calibration.iter().any(|calibration| takes_target(&calibration.target))
}

/// An error in items.toml, about an item's key.
pub(super) fn bad_item(
    paper: &Paper,
    item: &ItemSpec,
    key: &str,
    problem: impl Into<String>,
) -> InputError {
    let file = format!("papers/{}/items.toml", paper.key());
    InputError::key(file, format!("item.{}.{key}", item.id), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        [("P_CC".to_owned(), Value::from(0.2)), ("P_WW".to_owned(), Value::from(1))].into()
    }

    #[test]
    fn names_in_braces_are_replaced_and_tables_are_left_alone() {
        let text = "link.shared.queue={ kind = \"step-mark\", at = {P_CC} }";
        assert_eq!(
            filled_in(text, &parameters()).unwrap(),
            "link.shared.queue={ kind = \"step-mark\", at = 0.2 }"
        );
        assert_eq!(
            filled_in("lda.labelled.P_WW={P_WW}", &parameters()).unwrap(),
            "lda.labelled.P_WW=1"
        );
    }

    #[test]
    fn an_unknown_parameter_is_told_with_those_that_the_item_has() {
        assert_eq!(
            filled_in("lda.labelled.P_CC={P_CX}", &parameters()).unwrap_err(),
            "in \"lda.labelled.P_CC={P_CX}\" the parameter \"P_CX\" is unknown (did you mean \"P_CC\"?), \
             expected one of P_CC, P_WW"
        );
    }
}
