//! From a system at parameters, as a paper names them, to a scenario file and its settings.

use crate::paper::{NetworkOf, Paper, Parameters};
use crate::{InputError, Setting};

/// A scenario file of a paper, by its name there, and the settings that turn it into a system at parameters.
pub(super) struct Place {
    pub(super) file: String,
    pub(super) settings: Vec<Setting>,
}

/// Where `system` is run, for an item of the paper's scenario `scenario` at `parameters`.
pub(super) fn place(paper: &Paper, scenario: &str, system: &str, parameters: &Parameters) -> Result<Place, InputError> {
    let items = paper.items();
    let as_it_is = NetworkOf { scenario: scenario.to_owned(), file: scenario.to_owned(), set: vec![] };
    let network = items.network.iter().find(|n| n.scenario == scenario).unwrap_or(&as_it_is);
    let file = filled_in(&network.file, parameters);
    let mut settings = Vec::new();
    for (name, value) in parameters {
        let special: Vec<_> = items
            .setting
            .iter()
            .filter(|s| s.parameter == *name && s.value.same(value) && s.file.as_ref().is_none_or(|only| *only == file))
            .collect();
        for text in special.iter().flat_map(|special| &special.set) {
            settings.push(Setting::parse(text)?);
        }
        if special.is_empty() && !is_used(network, name) {
            settings.push(Setting::parse(&format!("{name}={value}"))?);
        }
    }
    for text in &network.set {
        settings.push(Setting::parse(&filled_in(text, parameters))?);
    }
    let flow = &items.flow;
    let system = paper.system(system).expect("a test finds every system that an item names");
    settings.push(Setting::new(format!("flow.{flow}.protocol"), system.protocol.as_str()));
    if let Some(lda) = &system.lda {
        settings.push(Setting::new(format!("flow.{flow}.lda"), lda.as_str()));
    }
    if system.wireless_immune {
        settings.push(Setting::new(format!("flow.{flow}.wireless_immune"), true));
    }
    Ok(Place { file, settings })
}

/// The text with `{NAME}` replaced by the value of that parameter.
fn filled_in(text: &str, parameters: &Parameters) -> String {
    let put = |text: String, name: &str, value: &str| text.replace(&format!("{{{name}}}"), value);
    parameters.iter().fold(text.to_owned(), |text, (name, value)| put(text, name, &value.to_string()))
}

fn is_used(network: &NetworkOf, parameter: &str) -> bool {
    let in_braces = format!("{{{parameter}}}");
    network.file.contains(&in_braces) || network.set.iter().any(|text| text.contains(&in_braces))
}
