//! Results as self-contained HTML files that begin with the answer: a reproduction, a comparison.

use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use crate::papers::reproduce::{Reproduction, Sheet};

mod chart;
#[cfg(feature = "compare")]
mod comparison;
pub mod curves;
mod lines;
mod misses;
mod phase;
mod reproduction;
mod state;
#[cfg(feature = "compare")]
mod strips;
mod tables;
mod time;

/// Writes the report of a reproduction. `sheets` are those of the plan that was executed.
pub fn html(reproduction: &Reproduction, sheets: &[Sheet]) -> String {
    render("reproduction.html", &reproduction::page(reproduction, sheets))
}

/// Writes the report of a comparison.
#[cfg(feature = "compare")]
pub fn comparison_html(comparison: &crate::compare::Comparison) -> String {
    render("comparison.html", &comparison::page(comparison))
}

/// The parts of all pages, and the pages.
const TEMPLATES: [(&str, &str); 5] = [
    ("base.html", include_str!("page/base.html")),
    ("style.css", include_str!("page/style.css")),
    ("script.js", include_str!("page/script.js")),
    ("reproduction.html", include_str!("page/reproduction.html")),
    ("comparison.html", include_str!("page/comparison.html")),
];

fn render(page: &str, context: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("a test renders every template");
    }
    let template = environment.get_template(page).expect("the page is one of the templates");
    template.render(context).expect("a test renders every template")
}

#[cfg(test)]
mod tests;
