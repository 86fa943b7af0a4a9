//! Whether an algorithm says the same about a receiver's capture as in the simulated receiver
//! itself.
//!
//! The two get the same packets on different ways: the simulator hands its receiver every packet as
//! it arrives, and the analysis reads headers from a file, finds the flows, the gaps and the
//! sender's clock. The simulated receivers have exact times, so TCP's timestamps get ticks of 1 µs
//! here (RTP's clock has ticks of 11 µs), and no skew is removed.

use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, bail};
use losscause::registry::Registry;
use losscause::{End, Span, Time, Verdict};
use losscause_capture::judge::Chosen;
use losscause_capture::{Options as Analysed, analyze};
use losscause_laboratory::sweep::{Cell, Sweep};
use losscause_sim::{Event, EventKind, Recorder};
use losscause_study::capture_files::{CaptureFiles, CaptureSettings};
use losscause_study::tools::table::Table;
use losscause_study::trace_file::Filter;
use losscause_study::{Context as Reading, Experiment, Run, Scenario, Setting};

use super::FOLDER;
use crate::shell::root;

/// One algorithm in one network.
pub(super) struct Agreement {
    algorithm: String,
    network: String,
    /// Losses that both judged.
    judged: u64,
    /// Those about which both say the same.
    equal: u64,
}

/// An algorithm that says something else about more losses than this share is read wrongly from
/// captures.
const LEAST_AGREEMENT: f64 = 0.99;
/// Cases of home.toml: a plain queue, a managed one, and delays without a queue.
const NETWORKS: [&str; 3] = ["drop-tail", "CoDel", "jitter"];
/// The tick of TCP's timestamps.
const TICK: Span = Span::from_micros(1);

/// Every algorithm that runs at receivers, in every network.
pub(super) fn agreements() -> Result<Vec<Agreement>> {
    let folder = root().join(FOLDER);
    let reading = Reading::default();
    let stacks = losscause_experiments::stacks();
    let cases = Sweep::load_on(&folder.join("home.toml"), &reading, &stacks)?.cells();
    let network = Scenario::load(&folder.join("home-network.toml"), &reading)?;
    let all = Chosen::all_of(&Registry::built_in());
    let at_receivers = all.iter().filter(|config| config.build(End::Receiver).is_ok());
    let names: Vec<&str> = at_receivers.map(|config| config.info().name).collect();
    let of_networks = cases.iter().filter(|case| NETWORKS.contains(&&*case.values[0].value));
    let pairs = of_networks.flat_map(|case| names.iter().map(move |name| (case, name)));
    pairs.map(|(case, name)| agreement(&network, case, name)).collect()
}

fn agreement(network: &Scenario, case: &Cell, name: &str) -> Result<Agreement> {
    let directory = tempfile::tempdir()?;
    let own = [
        format!("flow.transfer.lda=\"{name}\""),
        // It judges every loss and changes nothing.
        "flow.transfer.lda_at=\"onlooker\"".to_owned(),
        format!("flow.call.lda=\"{name}\""),
    ];
    let settings = case.settings.iter().chain(&own).map(|text| Setting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let experiment = network.with(&settings)?.experiment()?;
    let mut verdicts = Verdicts::default();
    simulate(&experiment, directory.path(), &mut verdicts)?;
    let numbers = numbers(&directory.path().join("drops.csv"))?;
    let flow_of = |name: &str| experiment.network.flows.iter().position(|flow| flow.name == name);
    let chosen = Chosen::named(&[name.to_owned()], &Registry::built_in())?;
    let options = Analysed { chosen, keep_skew: true, ..Analysed::all() };
    let file = File::open(directory.path().join("receiver.pcap"))?;
    let analysis = analyze(file, "receiver.pcap", &options)?;
    let network = case.values[0].value.clone();
    let mut agreement = Agreement { algorithm: name.to_owned(), network, judged: 0, equal: 0 };
    let losses =
        analysis.flows.iter().flat_map(|flow| flow.losses.iter().map(move |loss| (flow, loss)));
    for (flow, loss) in losses {
        let simulated = numbers.get(&(flow.src.clone(), loss.seq as u32));
        let simulated =
            simulated.and_then(|(name, number)| verdicts.of.get(&(flow_of(name)? as u32, *number)));
        let Some(&simulated) = simulated else { continue };
        for (_, opinion) in loss.verdicts.iter() {
            agreement.judged += 1;
            agreement.equal += u64::from(opinion.verdict == simulated);
        }
    }
    Ok(agreement)
}

/// Simulates with seed 1 and captures into a folder, with TCP's timestamps in ticks of [`TICK`].
fn simulate(experiment: &Experiment, folder: &Path, verdicts: &mut Verdicts) -> Result<()> {
    let flows = ["transfer", "call"].map(str::to_owned);
    let filter = Filter::default().flows(&flows, &experiment.network, "the captured flows")?;
    let settings = CaptureSettings { tick: TICK, ..CaptureSettings::default() };
    let mut captures = CaptureFiles::create(folder, experiment, 1, settings)?.filtered(filter);
    let mut run = Run::new(experiment, 1)?;
    let _ = run.advance(Time::MAX, &mut (&mut captures, verdicts), |run, (captures, _)| {
        captures.write_until(run.now());
        ControlFlow::Continue(())
    });
    captures.finish()?;
    Ok(())
}

/// The verdicts beside those of the simulated receivers.
pub(super) fn section(page: &mut String, agreements: &[Agreement]) {
    if agreements.is_empty() {
        return;
    }
    page.push_str(
        "## The same verdicts as in the simulated receiver\n\n\
         Verdicts of the simulated receivers beside those of the analysis for the same packets. The command fails below\n\
         99 %.\n\n",
    );
    let row = |Agreement { algorithm, network, judged, equal }: &Agreement| {
        let share = 100.0 * *equal as f64 / (*judged).max(1) as f64;
        [algorithm.clone(), network.clone(), judged.to_string(), format!("{share:.2}")]
    };
    let columns = ["algorithm", "network", "losses judged by both", "the same verdict, %"];
    let table = Table::new(columns).numbers(2..).with_rows(agreements.iter().map(row));
    page.push_str(&(table.markdown() + "\n"));
}

/// # Errors
/// An algorithm disagrees too often.
pub(super) fn require(agreements: &[Agreement]) -> Result<()> {
    for Agreement { algorithm, network, equal, judged } in agreements {
        if (*equal as f64) < LEAST_AGREEMENT * *judged as f64 {
            bail!(
                "{algorithm} on {network}: only {equal} of {judged} verdicts are those of the simulated receiver"
            );
        }
    }
    Ok(())
}

/// The verdicts of simulated receivers, by flow and packet.
#[derive(Default)]
struct Verdicts {
    of: HashMap<(u32, u64), Verdict>,
}

impl Recorder for Verdicts {
    fn record(&mut self, event: &Event) {
        if let EventKind::Verdict { seq, judgement, .. } = &event.kind {
            self.of.insert((event.flow.0, *seq), judgement.verdict);
        }
    }
}

/// The flow's name and the packet's number, by the sender and the number in the header.
fn numbers(drops: &Path) -> Result<HashMap<(String, u32), (String, u64)>> {
    let rows = csv::Reader::from_path(drops).context("drops.csv")?.into_deserialize();
    let rows = rows.collect::<Result<Vec<HashMap<String, String>>, _>>()?;
    let place = |row: &HashMap<String, String>| {
        let number = |column| row[column].parse::<u64>().ok();
        let packet = (row["src"].clone(), number("seq")? as u32);
        Some((packet, (row["flow"].clone(), number("number")?)))
    };
    Ok(rows.iter().filter_map(place).collect())
}
