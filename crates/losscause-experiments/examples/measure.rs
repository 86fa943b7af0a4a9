//! Measures tables of an experiment and prints every value: `measure quic/loss --only
//! system=quinn-cubic --runs 5`.

use losscause_experiments::live::Experiment;
use losscause_laboratory::papers::reproduce::Only;
use losscause_study::{Jobs, RunError, Setting};

fn main() -> Result<(), RunError> {
    let mut items = Vec::new();
    let mut only = Vec::new();
    let mut settings = Vec::new();
    let mut runs = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--only" => only.push(Only::parse(&value())?),
            "--set" => settings.push(Setting::parse(&value())?),
            "--runs" => runs = value().parse().ok(),
            _ => items.push(argument),
        }
    }
    let (experiment, selection) = Experiment::select(&items, only)?;
    let plan = Experiment::plan(&selection, runs, 1, &settings)?;
    let reproduction = experiment.execute(plan, Jobs::default(), None, |_| ())?;
    for item in &reproduction.items {
        let at: Vec<String> =
            item.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let system = &item.system;
        let metric = &item.metric;
        let value = item.measured_text();
        let ci95 = item.ci95_text();
        println!(
            "{}\t{}\t{system}\t{metric}\t{value}\t{ci95}\t{}",
            item.scenario,
            at.join(" "),
            item.unit
        );
    }
    for claim in &reproduction.claims {
        println!("claim\t{}\t{:?}\t{}", claim.id, claim.holds, claim.evidence);
    }
    Ok(())
}
