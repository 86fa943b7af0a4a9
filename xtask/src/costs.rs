//! `costs`: counts what every table and figure of the papers costs, and compares with
//! `papers/<paper>/costs.toml`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record::{Costs, ItemCosts};

use crate::shell::{cargo, output, root};

/// The arguments of `costs`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Rewrite the files instead of comparing with them.
    #[arg(long)]
    update: bool,
}

const EXAMPLE: [&str; 7] =
    ["run", "--quiet", "--release", "-p", "losscause-laboratory", "--example", "count_costs"];

/// Longest line of a file.
const MOST_COLUMNS: usize = 120;

/// Counts, and compares or writes.
pub(crate) fn costs(options: &Options) -> Result<()> {
    let printed = output(cargo().args(EXAMPLE))?;
    let counted: BTreeMap<String, Costs> =
        serde_json::from_slice(&printed).context("the example printed no costs")?;
    let mut differing = 0;
    for (paper, counted) in &counted {
        let path = root().join("crates/losscause-laboratory/papers").join(paper).join("costs.toml");
        if options.update {
            fs::write(&path, text(counted)).with_context(|| path.display().to_string())?;
            continue;
        }
        let recorded = read(&path)?;
        for (item, costs) in
            counted.iter().filter(|(item, costs)| recorded.get(*item) != Some(*costs))
        {
            println!(
                "{paper}/{item}: recorded {:?}, now {costs:?}",
                recorded.get(item).unwrap_or(&ItemCosts::default())
            );
            differing += 1;
        }
    }
    if differing > 0 {
        bail!(
            "the costs of {differing} items differ; if that is intended, run `cargo xtask costs --update`"
        );
    }
    Ok(())
}

fn read(path: &PathBuf) -> Result<Costs> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    toml::from_str(&text).with_context(|| path.display().to_string())
}

fn text(costs: &Costs) -> String {
    let mut text = String::from(
        "# Thousands of packet-hops of one run of each configuration of an item, and of the calibrations before it, \
         counted by\n\
         # `cargo xtask costs --update` with seed 1. They decide what `losscause reproduce` measures where nothing is \
         named, and\n\
         # weigh the runs in the progress bar.\n",
    );
    for (item, ItemCosts { runs, searches }) in costs {
        let _ = write!(text, "\n[\"{item}\"]\nruns = {}\n", array(runs));
        if !searches.is_empty() {
            let _ = writeln!(text, "searches = {}", array(searches));
        }
    }
    text
}

/// On one line, or on several if it is long.
fn array(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let line = format!("[{}]", texts.join(", "));
    if line.len() + "searches = ".len() <= MOST_COLUMNS {
        return line;
    }
    let mut lines = vec![String::from(" ")];
    for text in texts {
        if lines.last().is_none_or(|line| line.len() + text.len() + 2 > MOST_COLUMNS) {
            lines.push(String::from(" "));
        }
        if let Some(line) = lines.last_mut() {
            let _ = write!(line, " {text},");
        }
    }
    format!("[\n{}\n]", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_back_as_it_was_written_and_has_no_long_line() {
        let many = ItemCosts { runs: (0..200).map(|n| 7 * n).collect(), searches: vec![] };
        let few = ItemCosts { runs: vec![3], searches: vec![12, 9] };
        let costs: Costs =
            [("figure4.5-both".to_owned(), few), ("figure15".to_owned(), many)].into();
        let text = text(&costs);
        assert!(text.lines().all(|line| line.len() <= MOST_COLUMNS), "{text}");
        let back: Costs = toml::from_str(&text).expect("valid TOML");
        assert_eq!(back, costs);
    }
}
