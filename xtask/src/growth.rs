//! `cargo xtask growth`: what CI costs, beside what it cost at the last landing.
//!
//! A run of `cargo xtask ci` leaves its processor seconds, step by step, in `target/ci-costs.toml`.
//! Those of the last landing are in `validation/ci-costs.toml`. Seconds depend on the machine, so a
//! step that takes more is only named. The number of compiled units of the default build does not,
//! so it is compared exactly.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use losscause_cli::table_text;
use losscause_study::tools::table::Table;
use serde::{Deserialize, Serialize};

use crate::measured;
use crate::shell::{self, cargo, target, text};

/// A step is named if it takes this many times the seconds of the last landing.
const WARNED_AT: f64 = 1.5;
/// A step that takes fewer seconds than this is not named: its time says little.
const SHORT_S: f64 = 5.0;

/// `.ci/run` gives here the user and the system seconds of the default build, which it makes first.
const DEFAULT_BUILD: &str = "CI_DEFAULT_BUILD";

/// What a run of CI costs.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    /// Compilations, and runs of build scripts, of `cargo build --release`.
    units: usize,
    /// In the order of the run.
    step: Vec<Step>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    /// Processor seconds of all its processes.
    cpu_s: f64,
    wall_s: f64,
}

impl Costs {
    /// What went before the steps: the default build, and the compilation of this program. Cargo
    /// becomes the program that it runs, so its finished compilers count as this process's
    /// children.
    pub(crate) fn before_steps() -> Self {
        let mut costs = Self::default();
        let number = |word: &str| word.parse::<f64>().ok();
        let seconds = |text: String| text.split_whitespace().map(number).sum::<Option<f64>>();
        let default_build = env::var(DEFAULT_BUILD).ok().and_then(seconds);
        if let Some(cpu_s) = default_build {
            costs.add("the default build", cpu_s, Duration::ZERO);
        }
        let cpu_s = processor_s() - default_build.unwrap_or(0.0);
        costs.add("this program", cpu_s, Duration::ZERO);
        costs
    }

    pub(crate) fn add(&mut self, name: &str, cpu_s: f64, wall: Duration) {
        let tenths = |seconds: f64| (seconds * 10.0).round() / 10.0;
        let [cpu_s, wall_s] = [cpu_s, wall.as_secs_f64()].map(tenths);
        self.step.push(Step { name: name.to_owned(), cpu_s, wall_s });
    }

    /// A line per step, and whether it is named.
    fn table(&self, last: &Self) -> String {
        let sum = |costs: &Self| costs.step.iter().map(|step| step.cpu_s).sum::<f64>();
        let of = |name: &str| Some(last.step.iter().find(|step| step.name == name)?.cpu_s);
        let steps = self.step.iter().map(|step| (&*step.name, step.cpu_s, of(&step.name)));
        let row = |(name, now, before): (&str, f64, Option<f64>)| {
            let before = before.filter(|&before| before > 0.0);
            let ratio = before.map(|before| now / before);
            let shown = |value: Option<f64>, decimals| {
                value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
            };
            let is_named = ratio.is_some_and(|ratio| ratio >= WARNED_AT) && now >= SHORT_S;
            let warning = format!("WARNING: at least {WARNED_AT}");
            let warning = Some(warning).filter(|_| is_named).unwrap_or_default();
            [name.to_owned(), shown(Some(now), 1), shown(before, 1), shown(ratio, 2), warning]
        };
        let rows = steps.chain([("together", sum(self), Some(sum(last)))]).map(row);
        let columns = ["processor seconds", "now", "last landing", "ratio", ""];
        table_text(&Table::new(columns).numbers(1..4).with_rows(rows), 100)
    }

    /// A difference in the number of units is an error.
    fn check_units(&self, last: &Self) -> Result<()> {
        if self.units != last.units {
            bail!(
                "the default build has {} compiled units, {} at the last landing; if that is meant, run \
                 `cargo xtask growth --update` and say why in the commit",
                self.units,
                last.units
            );
        }
        println!("the default build has {} compiled units, as at the last landing", self.units);
        Ok(())
    }
}

/// The processor seconds of all processes that this one has waited for.
pub(crate) fn processor_s() -> f64 {
    measured::children().map_or(0.0, |[user_s, system_s, _]| user_s + system_s)
}

/// As one of CI's steps: the compiled units of the default build, which is there already.
///
/// # Errors
/// They are not as many as at the last landing, or this program compiled crates of ours anew.
pub(crate) fn units() -> Result<()> {
    let default = units_of("losscause-cli")?;
    Costs { units: default.len(), ..Costs::default() }.check_units(&read(LANDED)?)?;
    let own = units_of("xtask")?;
    let anew = &own_libraries(&own) - &own_libraries(&default);
    if !anew.is_empty() {
        bail!(
            "xtask's dependencies have other features than the command's, so it compiles anew: {anew:#?}"
        );
    }
    Ok(())
}

/// The files made of this repository's libraries, which have the hash of features and settings in
/// their names.
fn own_libraries(units: &[String]) -> BTreeSet<&str> {
    let own = units.iter().filter(|unit| unit.contains("path+file:"));
    own.filter_map(|unit| unit.split('"').find(|text| text.ends_with(".rmeta"))).collect()
}

/// Cargo names each unit of the release build of a package in a line, also if nothing is left to
/// compile.
fn units_of(package: &str) -> Result<Vec<String>> {
    let build = "build --quiet --release --locked --message-format json -p";
    let printed = text(cargo(build).arg(package))?;
    let units = ["{\"reason\":\"compiler-artifact\"", "{\"reason\":\"build-script-executed\""];
    let is_unit = |line: &&str| units.iter().any(|unit| line.starts_with(unit));
    Ok(printed.lines().filter(is_unit).map(str::to_owned).collect())
}

/// Prints what a run of CI cost, and keeps it for `growth --update`.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn report(costs: &mut Costs) -> Result<()> {
    costs.units = units_of("losscause-cli")?.len();
    write(last_run(), costs)?;
    println!("\n{}\n", costs.table(&read(LANDED)?));
    Ok(())
}

/// Prints what the last run of CI cost, or makes its figures those of the last landing.
///
/// # Errors
/// No run has left its figures here, or a file cannot be read or written.
pub(crate) fn growth(update: bool) -> Result<()> {
    let last = read(last_run()).context("`.ci/run` leaves its figures there")?;
    if update {
        return write(LANDED, &last);
    }
    let landed = read(LANDED)?;
    println!("{}\n", last.table(&landed));
    last.check_units(&landed)
}

const LANDED: &str = "validation/ci-costs.toml";

fn last_run() -> PathBuf {
    target().join("ci-costs.toml")
}

fn read(path: impl AsRef<Path>) -> Result<Costs> {
    toml::from_str(&shell::read(path)?).context("costs of CI")
}

fn write(path: impl AsRef<Path>, costs: &Costs) -> Result<()> {
    let head = "# What CI cost at the last landing; `cargo xtask growth --update` writes the figures of the last `.ci/run`.\n";
    shell::write(path, format!("{head}{}", toml::to_string(costs)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(units: usize, steps: &[(&str, f64)]) -> Costs {
        let mut costs = Costs { units, ..Costs::default() };
        steps.iter().for_each(|(name, cpu_s)| costs.add(name, *cpu_s, Duration::ZERO));
        costs
    }

    #[test]
    fn only_a_step_of_half_as_much_again_is_named_if_not_of_seconds() {
        let last = costs(3, &[("format", 1.0), ("tests", 100.0), ("lints", 100.0)]);
        let now = costs(3, &[("format", 3.0), ("tests", 149.0), ("lints", 151.0), ("new", 60.0)]);
        let table = now.table(&last);
        let named: Vec<&str> = table.lines().filter(|line| line.contains("WARNING")).collect();
        assert_eq!(named.len(), 2, "{table}");
        assert!(named[0].contains("lints ") && named[0].contains(" 1.51 "), "{table}");
        let has = |text| named[1].contains(text);
        assert!(has("together ") && has("363.0") && has("201.0"), "{table}");
    }

    #[test]
    fn one_unit_more_is_an_error_that_says_how_to_renew_the_number() {
        assert!(costs(142, &[]).check_units(&costs(142, &[])).is_ok());
        let error = costs(143, &[]).check_units(&costs(142, &[])).unwrap_err().to_string();
        let expected = "the default build has 143 compiled units, 142 at the last landing";
        assert!(error.starts_with(expected), "{error}");
        assert!(error.contains("`cargo xtask growth --update`"), "{error}");
    }

    #[test]
    fn the_figures_of_the_last_landing_are_read() {
        assert!(read(LANDED).is_ok());
    }
}
