//! Whether an algorithm says the same about a receiver's capture as in the simulated receiver
//! itself.
//!
//! The two get the same packets on different ways: the simulator hands its receiver every packet as
//! it arrives, and the analysis reads headers from a file, finds the flows, the gaps and the
//! sender's clock. The simulated receivers have exact times, so TCP's timestamps get ticks of 1 µs
//! here (RTP's clock has ticks of 11 µs), and no skew is removed.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use losscause::registry::Registry;
use losscause::{Span, Verdict};
use losscause_capture::judge::Chosen;
use losscause_capture::{Options as Analysed, analyze};
use losscause_sim::{Event, EventKind, Recorder};
use serde::Deserialize;

use super::cases::{self, Case};
use super::{Vantage, simulate};

/// One algorithm in one network.
pub(super) struct Agreement {
    pub(super) algorithm: String,
    pub(super) network: &'static str,
    /// Losses that both judged.
    pub(super) judged: u64,
    /// Those about which both say the same.
    pub(super) equal: u64,
}

/// The networks: a plain queue, a managed one, and delays without a queue.
const NETWORKS: [&str; 3] = ["drop-tail", "CoDel", "jitter"];
/// The tick of TCP's timestamps.
const TICK: Span = Span::from_micros(1);

/// Every algorithm that runs at receivers, in every network.
pub(super) fn agreements() -> Result<Vec<Agreement>> {
    let all = Chosen::all_of(&Registry::built_in());
    let names = || {
        all.iter()
            .filter(|config| config.build(losscause::End::Receiver).is_ok())
            .map(|config| config.info().name)
    };
    let networks = cases::all().into_iter().filter(|case| NETWORKS.contains(&case.name));
    networks.flat_map(|case| names().map(move |name| agreement(&case, name))).collect()
}

fn agreement(case: &Case, name: &str) -> Result<Agreement> {
    let directory = tempfile::tempdir()?;
    let settings = [
        format!("flow.transfer.lda=\"{name}\""),
        // It judges every loss and changes nothing.
        "flow.transfer.lda_at=\"onlooker\"".to_owned(),
        format!("flow.call.lda=\"{name}\""),
    ];
    let experiment = case.experiment_with(&settings)?;
    let mut verdicts = Verdicts::default();
    simulate(case, &experiment, 1, (directory.path(), TICK), experiment.duration, &mut verdicts)?;
    let numbers = numbers(&directory.path().join("drops.csv"))?;
    let flow_of = |name: &str| experiment.network.flows.iter().position(|flow| flow.name == name);
    let chosen = Chosen::named(&[name.to_owned()], &Registry::built_in())?;
    let options = Analysed { chosen, keep_skew: true, ..Analysed::all() };
    let file = directory.path().join(Vantage::Receiver.file());
    let analysis = analyze(File::open(&file)?, Vantage::Receiver.file(), &options)?;
    let mut agreement =
        Agreement { algorithm: name.to_owned(), network: case.name, judged: 0, equal: 0 };
    for flow in &analysis.flows {
        for loss in &flow.losses {
            let Some((name, number)) = numbers.get(&(flow.src.clone(), loss.seq as u32)) else {
                continue;
            };
            let Some(&simulated) =
                flow_of(name).and_then(|flow| verdicts.of.get(&(flow as u32, *number)))
            else {
                continue;
            };
            for (_, opinion) in loss.verdicts.iter() {
                agreement.judged += 1;
                agreement.equal += u64::from(opinion.verdict == simulated);
            }
        }
    }
    Ok(agreement)
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

/// The columns of drops.csv that are read.
#[derive(Deserialize)]
struct Row {
    flow: String,
    src: String,
    number: u64,
    seq: Option<u32>,
}

/// The flow's name and the packet's number, by the sender and the number in the header.
fn numbers(drops: &Path) -> Result<HashMap<(String, u32), (String, u64)>> {
    let mut numbers = HashMap::new();
    for row in csv::Reader::from_path(drops).context("drops.csv")?.deserialize() {
        let row: Row = row?;
        if let Some(seq) = row.seq {
            numbers.insert((row.src, seq), (row.flow, row.number));
        }
    }
    Ok(numbers)
}
