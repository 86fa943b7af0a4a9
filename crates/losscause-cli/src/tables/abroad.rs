//! Kinds of networks abroad: the answer, then a table per measure.

use losscause_experiments::abroad::diagnosed::Diagnoses;
use losscause_experiments::abroad::in_loop::SteeredRow;
use losscause_experiments::abroad::report::{Measure, ShareRow};
use losscause_experiments::abroad::{Role, Steered, Verdicts};
use losscause_experiments::paths::score::Estimate;

use crate::output;

/// What these algorithms say of every kind, without a line break at its end.
pub(crate) fn verdicts(found: &Verdicts, shown: &[&str]) -> String {
    let mut parts = vec![found.answers(shown).join("\n")];
    for measure in Measure::ALL {
        let header: Vec<&str> = ["", "flows"].into_iter().chain(shown.iter().copied()).collect();
        let mut table = output::table(&header, &header[1..]);
        for role in Role::ALL {
            let rows = found.rows(role, measure);
            if !rows.is_empty() {
                table.add_row([format!("{} kinds:", role.name())]);
            }
            for row in rows {
                table.add_row(cells(&row, shown, measure));
            }
        }
        parts.push(format!("{}\n{}", measure.heading(), output::table_text(&table)));
    }
    parts.push(
        "Mean over the flows with at least five such losses, with its 95 % interval over networks; kinds count alike in a mean."
            .to_owned(),
    );
    if !found.diagnoses.is_empty() {
        parts.push(diagnoses(found));
    }
    parts.join("\n\n")
}

/// How often the causes of whole flows are right.
fn diagnoses(found: &Verdicts) -> String {
    let header: Vec<&str> = ["", "flows"].into_iter().chain(Diagnoses::HEADS).collect();
    let mut table = output::table(&header, &header[1..]);
    for role in Role::ALL {
        let rows = found.diagnoses_of(role);
        if !rows.is_empty() {
            table.add_row([format!("{} kinds:", role.name())]);
        }
        for row in rows {
            let [name, flows] = [row.name().to_owned(), row.flows.to_string()];
            table.add_row([name, flows].into_iter().chain(row.cells()));
        }
    }
    format!("{}\n{}\n\n{}", Diagnoses::HEADING, output::table_text(&table), Diagnoses::NOTE)
}

fn cells(row: &ShareRow<'_>, shown: &[&str], measure: Measure) -> Vec<String> {
    let value = |name: &&str| {
        let shares = row.shares.iter().find(|shares| shares.algorithm == *name);
        shares.and_then(|shares| measure.of(shares)).map_or_else(String::new, Estimate::percent)
    };
    [row.name.clone(), row.basis.clone()].into_iter().chain(shown.iter().map(value)).collect()
}

/// The systems in the loop, a table for each but the stock one, without a line break at its end.
pub(crate) fn in_loop(found: &Steered) -> String {
    let mut parts = vec![found.answers().join("\n")];
    for system in found.systems.iter().skip(1) {
        let header: Vec<&str> = [system.as_str()].into_iter().chain(SteeredRow::HEADS).collect();
        let mut table = output::table(&header, &SteeredRow::HEADS);
        for role in Role::ALL {
            let rows = found.rows_of(system, role);
            if !rows.is_empty() {
                table.add_row([format!("{} kinds:", role.name())]);
            }
            for row in rows {
                table.add_row([row.name(found)].into_iter().chain(row.cells(found)));
            }
        }
        parts.push(output::table_text(&table));
    }
    parts.push(
        "Drops of queues per 1000 packets sent, and goodput: mean over networks, beside stock CUBIC's. Goodput over stock's \
         and over that of CUBIC that is told the true causes: geometric mean, with its 95 % interval over networks; kinds \
         count alike in a mean."
            .to_owned(),
    );
    parts.join("\n\n")
}
