//! One paper.

use std::sync::{Arc, OnceLock};

use super::costs::Costs;
use super::embedded::{Embedded, PaperTexts, ScenarioText};
use super::explanations::{self, Explanation};
use super::items::{ItemSpec, Items};
use super::published::{Metric, Number, Published, System};
use crate::papers::claims::{self, Predicate};
use losscause_study::error::{InputError, nearest};
use losscause_study::files::Either;
use losscause_study::tools::toml_file;
use losscause_study::{Context, Scenario};
use serde::de::DeserializeOwned;

/// A paper whose results can be reproduced. A file of it is read when it is asked for.
#[derive(Debug)]
pub struct Paper {
    texts: &'static PaperTexts,
    published: OnceLock<Published>,
    items: OnceLock<Items>,
    explanations: OnceLock<Vec<Explanation>>,
    costs: OnceLock<Costs>,
    predicates: &'static [(&'static str, Predicate)],
}

impl Paper {
    /// A paper that is not one of the program's, without scenarios of its own.
    #[cfg(test)]
    pub(crate) fn of_texts(published: &'static str, items: &str) -> &'static Self {
        let items = Box::leak(items.into());
        let explanations = "explanation = []";
        let scenarios = &[];
        let patterns = &[];
        let key = toml_file::from_text::<Published>(published, "published.toml")
            .expect("the paper of a test")
            .key
            .leak();
        let texts = PaperTexts {
            key,
            published,
            items,
            explanations,
            costs: "",
            scenarios,
            channel: None,
            patterns,
        };
        Box::leak(Box::new(Self::of(Box::leak(Box::new(texts)))))
    }

    /// The record of a paper, or of an experiment of our own, whose files are part of a program.
    /// What reads one of them panics if it is not as its type says: a test of that program reads
    /// them all.
    pub fn of(texts: &'static PaperTexts) -> Self {
        Self {
            texts,
            published: OnceLock::new(),
            items: OnceLock::new(),
            explanations: OnceLock::new(),
            costs: OnceLock::new(),
            predicates: &[],
        }
    }

    /// The same record with predicates for its claims, each with the claim's name.
    #[must_use]
    pub fn with_predicates(self, predicates: &'static [(&'static str, Predicate)]) -> Self {
        Self { predicates, ..self }
    }

    /// The predicates of its checkable claims, each with the claim's name.
    pub fn predicates(&self) -> impl Iterator<Item = (&'static str, Predicate)> {
        claims::predicates(self.key()).chain(self.predicates.iter().copied())
    }

    /// Its files.
    pub(crate) fn texts(&self) -> &'static PaperTexts {
        self.texts
    }

    /// Short name: "cen2003".
    pub fn key(&self) -> &str {
        self.texts.key
    }

    /// What the paper publishes.
    pub fn published(&self) -> &Published {
        self.published.get_or_init(|| read(self.texts, "published.toml", self.texts.published))
    }

    /// Whether it publishes numbers. Without any, it is measured only on demand, and never scored.
    pub fn is_published(&self) -> bool {
        !self.published().number.is_empty()
    }

    /// Which of it is measured.
    pub fn items(&self) -> &Items {
        self.items.get_or_init(|| read(self.texts, "items.toml", self.texts.items))
    }

    /// Why numbers and claims of it are not reproduced or not settled, one per cause.
    pub fn explanations(&self) -> &[Explanation] {
        self.explanations.get_or_init(|| {
            let parsed = explanations::parse(self.texts.explanations, self.published());
            parsed.expect("a test reads the explanations of every paper")
        })
    }

    /// Why the number or claim of that id is not reproduced or not settled; none if nothing
    /// explains it. A run may meet a number that has an explanation.
    pub fn explanation_of(&self, id: &str) -> Option<&Explanation> {
        self.explanations()
            .iter()
            .find(|explanation| explanation.ids().any(|explained| explained == id))
    }

    /// Whether the paper itself contradicts the number or claim of that id, so that no run can meet
    /// it.
    pub fn is_impossible(&self, id: &str) -> bool {
        self.explanation_of(id).is_some_and(|explanation| explanation.impossible)
    }

    /// What its items cost, by their names; items may be missing.
    pub fn costs(&self) -> &Costs {
        self.costs.get_or_init(|| read(self.texts, "costs.toml", self.texts.costs))
    }

    /// Reads its scenario that `name` stands for, PAPER/SCENARIO.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub(crate) fn load_scenario(
        &self,
        name: &str,
        context: &Context,
    ) -> Result<Scenario, InputError> {
        let scenario = self.scenario(name)?;
        let file = format!("{}/{}", self.key(), scenario.name);
        // A setting may name a file of the user's, but none may stand in for a file of the paper.
        let files = Either(Embedded, Arc::clone(context.files()));
        Scenario::parse(scenario.text, &file, &context.clone().with_files(files))
    }

    /// Its scenario that `name` stands for, PAPER/SCENARIO.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub(super) fn scenario(&self, name: &str) -> Result<&'static ScenarioText, InputError> {
        let (_, scenario) = name.split_once('/').unwrap_or((name, ""));
        let known = || self.scenarios().iter().map(|s| s.name);
        let found = self.scenarios().iter().find(|s| s.name.eq_ignore_ascii_case(scenario));
        found.ok_or_else(|| unknown("scenario", name, scenario, known()))
    }

    /// The paper's scenarios.
    pub fn scenarios(&self) -> &'static [ScenarioText] {
        self.texts.scenarios
    }

    /// The file of its fading channel, if it has one.
    pub fn channel(&self) -> Option<&'static str> {
        self.texts.channel
    }

    /// What it publishes about the pattern of that name.
    pub fn published_of_pattern(&self, metric: &str, pattern: &str) -> Option<f64> {
        let named = |n: &&Number| {
            n.metric == metric && n.parameters.get("loss").is_some_and(|v| v.to_string() == pattern)
        };
        self.published().number.iter().find(named).map(|n| n.value)
    }

    /// The table or figure of that name.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub fn item(&self, id: &str) -> Result<&ItemSpec, InputError> {
        let named = |i: &&ItemSpec| i.id.eq_ignore_ascii_case(id);
        let known = || self.items().item.iter().map(|i| i.id.as_str());
        self.items()
            .item
            .iter()
            .find(named)
            .ok_or_else(|| unknown("item", &format!("{}/{id}", self.key()), id, known()))
    }

    /// The table or figure of that name and all its parts: `figure13` stands for `figure13-WLH` and
    /// `figure13-WB`.
    ///
    /// # Errors
    /// There is none; the error names the nearest.
    pub fn items_called(&self, id: &str) -> Result<Vec<&ItemSpec>, InputError> {
        let whole = |i: &&ItemSpec| {
            let part =
                i.id.split_once('-').is_some_and(|(whole, _)| whole.eq_ignore_ascii_case(id));
            part || i.id.eq_ignore_ascii_case(id)
        };
        let parts: Vec<&ItemSpec> = self.items().item.iter().filter(whole).collect();
        if parts.is_empty() { Ok(vec![self.item(id)?]) } else { Ok(parts) }
    }

    /// The system of that name.
    pub fn system(&self, name: &str) -> Option<&System> {
        self.published().system.iter().find(|s| s.name == name)
    }

    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.published().metric.iter().find(|m| m.name == name)
    }
}

/// The file `name` of a paper.
fn read<T: DeserializeOwned>(paper: &PaperTexts, name: &str, text: &str) -> T {
    let file = format!("papers/{}/{name}", paper.key);
    toml_file::from_text(text, &file).expect("a test reads every file of every paper")
}

/// The refusal of `option`, which names no `what` of those that are known.
pub(super) fn unknown<'a>(
    what: &str,
    option: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> InputError {
    let hint = nearest(name, known.clone())
        .map(|n| format!(" (did you mean \"{n}\"?)"))
        .unwrap_or_default();
    let list = known.collect::<Vec<_>>().join(", ");
    InputError::option(option, format!("is no {what}{hint}, expected one of {list}"))
}
