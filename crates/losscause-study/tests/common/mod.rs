//! Scenarios with settings of the command line.
#![allow(dead_code)] // Each test file uses a part.

use losscause_study::{Context, Experiment, InputError, Scenario, Setting};

/// The scenario `text` with settings. Errors call it `name`.
pub(crate) fn build(
    text: &str,
    name: &str,
    settings: &[&str],
    context: &Context,
) -> Result<Experiment, InputError> {
    let settings: Vec<Setting> =
        settings.iter().map(|setting| Setting::parse(setting).unwrap()).collect();
    Scenario::parse(text, name, context)?.with(&settings)?.experiment()
}

/// The same of what is valid.
pub(crate) fn experiment(text: &str, settings: &[&str]) -> Experiment {
    build(text, "test.toml", settings, &Context::default()).unwrap()
}
