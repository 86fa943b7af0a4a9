//! `losscause list`: algorithms, protocols, scenarios, papers and experiments.

use clap::ValueEnum;
use losscause_laboratory::catalogue::{self, Catalogue};
use losscause_laboratory::papers::record;
use losscause_study::InputError;
use losscause_study::Registry;
use losscause_study::tools::table::Table;

use crate::failure::Failure;
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to list [default: everything]
    #[arg(value_enum)]
    what: Option<What>,
    /// With `scenarios`: print this scenario, PAPER/SCENARIO, as a file to change:
    /// `losscause list scenarios cen2003/WLH > mine.toml`.
    #[arg(requires = "what")]
    name: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Loss differentiation algorithms, by the names that a flow's `lda` takes.
    Algorithms,
    /// Protocols that a flow can run.
    Protocols,
    /// The papers' scenarios; `losscause init` lists those to start from.
    Scenarios,
    /// The papers and their tables and figures.
    Papers,
    /// The experiments on real stacks and their tables.
    Experiments,
}

/// Prints one list, all lists, or one scenario.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    if let Some(name) = &arguments.name {
        return print_scenario(arguments.what, name);
    }
    let wanted = |what: What| arguments.what.is_none_or(|wanted| wanted == what);
    let catalogue = Catalogue {
        algorithms: wanted(What::Algorithms).then(|| catalogue::algorithms(registry)),
        protocols: wanted(What::Protocols).then(|| catalogue::protocols(registry)),
        scenarios: wanted(What::Scenarios).then(catalogue::scenarios).transpose()?,
        papers: wanted(What::Papers).then(catalogue::papers),
        experiments: wanted(What::Experiments).then(experiments),
    };
    match arguments.format {
        Format::Json => output::json(&catalogue)?,
        Format::Table => output::line(&tables(&catalogue))?,
    }
    Ok(())
}

fn experiments() -> Vec<catalogue::Paper> {
    catalogue::experiments(
        losscause_experiments::live::EXPERIMENTS.iter().map(|experiment| experiment.record()),
    )
}

fn print_scenario(what: Option<What>, name: &str) -> Result<(), Failure> {
    if what != Some(What::Scenarios) {
        let problem = "only `losscause list scenarios` takes a name; remove it";
        return Err(InputError::option(format!("losscause list … {name}"), problem).into());
    }
    Ok(output::line(record::scenario_text(name)?.trim_end())?)
}

/// Long texts are broken to the width of the terminal, or 100 characters.
fn tables(catalogue: &Catalogue) -> String {
    let mut parts = Vec::new();
    if let Some(entries) = &catalogue.algorithms {
        for (title, yardsticks) in [("algorithm", false), ("yardstick", true)] {
            let own = entries.iter().filter(|entry| entry.yardstick == yardsticks);
            let rows = own.map(|entry| {
                let source = format!("{}, {}", entry.paper, entry.section);
                [entry.name.clone(), entry.summary.clone(), source]
            });
            let table = Table::new([title, "what it does", "source"]).with_rows(rows);
            if !table.rows.is_empty() {
                parts.push(table);
            }
        }
    }
    if let Some(entries) = &catalogue.protocols {
        let rows = entries.iter().map(|entry| {
            [entry.name.as_str(), entry.variant.as_deref().unwrap_or(""), entry.summary.as_str()]
        });
        parts.push(Table::new(["protocol", "variant", "what it does"]).with_rows(rows));
    }
    if let Some(entries) = &catalogue.scenarios {
        let rows = entries.iter().map(|entry| {
            [entry.name.as_str(), entry.title.as_str(), entry.source.as_deref().unwrap_or("–")]
        });
        parts.push(Table::new(["scenario", "title", "source"]).with_rows(rows));
    }
    let records = [
        (&catalogue.papers, ["paper or item", "in the paper", "title"]),
        (&catalogue.experiments, ["experiment or item", "measured with", "title"]),
    ];
    for (entries, header) in records {
        let Some(entries) = entries else { continue };
        let mut table = Table::new(header);
        for entry in entries {
            table.row([&entry.name, &entry.venue, &entry.title]);
            entry.items.iter().for_each(|item| table.row([&item.name, &item.source, &item.title]));
        }
        parts.push(table);
    }
    let width = Some(output::width());
    parts.iter().map(|table| output::drawn(table, width)).collect::<Vec<_>>().join("\n\n")
}
