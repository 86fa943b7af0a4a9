//! Kinds of networks abroad: the answer, then a table per measure.

use losscause_experiments::abroad::report::Measure;
use losscause_experiments::abroad::{Steered, Verdicts};

use crate::output;

/// What these algorithms say of every kind, without a line break at its end.
pub(crate) fn verdicts(found: &Verdicts, shown: &[&str]) -> String {
    let mut parts = vec![found.answers(shown).join("\n")];
    for measure in Measure::ALL {
        let table = found.table(measure, shown, Measure::in_full);
        parts.push(format!("{}\n{}", table.title, output::table_text(&table)));
    }
    parts.push(
        "Mean over the flows with at least five such losses, with its 95 % interval over networks; kinds count alike in a mean."
            .to_owned(),
    );
    if let Some(table) = found.diagnoses_table() {
        parts.push(format!("{}\n{}\n\n{}", table.title, output::table_text(&table), table.note));
    }
    parts.join("\n\n")
}

/// The systems in the loop, a table for each but the stock one, without a line break at its end.
pub(crate) fn in_loop(found: &Steered) -> String {
    let mut parts = vec![found.answers().join("\n")];
    let systems = found.systems.iter().skip(1);
    parts.extend(systems.map(|system| output::table_text(&found.table(system))));
    parts.push(
        "Drops of queues per 1000 packets sent, and goodput: mean over networks, beside stock CUBIC's. Goodput over stock's \
         and over that of CUBIC that is told the true causes: geometric mean, with its 95 % interval over networks; kinds \
         count alike in a mean."
            .to_owned(),
    );
    parts.join("\n\n")
}
