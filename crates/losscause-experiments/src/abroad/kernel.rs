//! Runs of the kernel's TCP over the emulator, as they were recorded: `cargo xtask abroad-linux`
//! makes them, analyses their captures and writes `kernel.csv`, a row per flow.
//!
//! A row has the flow's network, its judged losses by their true cause, what the diagnosis says,
//! and two numbers for each algorithm: of the congestion losses and of the wireless ones, those
//! that it calls wireless.

use losscause::registry::{Info, Registry};

use crate::abroad::captured::Judges;
use crate::abroad::diagnosed::Diagnosed;
use crate::abroad::kinds::Kind;
use crate::abroad::network::find;
use crate::abroad::verdicts::OfFlow;

/// The record.
const RECORD: &str = include_str!("kernel.csv");

/// Before the names of algorithms, in the names of their columns.
const CALLED_WIRELESS: &str = "called_wireless: ";
const FOUND: &str = "found: ";

/// What a row has before its algorithms: of an [`OfFlow`] its numbers, then its diagnosis.
type Row = (String, u32, u64, usize, u64, u64, Diagnosed);

/// The names of its columns.
const COLUMNS: [&str; 10] = [
    "kind",
    "number",
    "run_seed",
    "flow",
    "congestion_losses",
    "wireless_losses",
    "lost_packets",
    "truth",
    "named",
    "certainty",
];

/// The recorded runs.
pub(crate) struct Recorded {
    /// One per algorithm.
    pub(crate) infos: Vec<&'static Info>,
    pub(crate) flows: Vec<OfFlow>,
}

/// `flows` as the record has them, for `kernel.csv`.
pub fn record(judges: &Judges, flows: &[OfFlow]) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let names = judges.infos.iter().map(|info| info.name);
    let columns = names.flat_map(|name| [CALLED_WIRELESS, FOUND].map(|of| format!("{of}{name}")));
    let header = COLUMNS.into_iter().map(String::from).chain(columns);
    writer.write_record(header).expect(TEXTS_AND_NUMBERS);
    for flow in flows {
        let counts = flow.called_wireless.iter().zip(&flow.found);
        let counts: Vec<[u64; 2]> = counts.map(|(&called, &found)| [called, found]).collect();
        let losses = (flow.congestion_losses, flow.wireless_losses);
        let diagnosis = flow.diagnosis.unwrap_or_default();
        let row = (&flow.kind, flow.number, flow.run_seed, flow.flow, losses, diagnosis, counts);
        writer.serialize(row).expect(TEXTS_AND_NUMBERS);
    }
    let bytes = writer.into_inner().expect("a vector takes everything");
    String::from_utf8(bytes).expect(TEXTS_AND_NUMBERS)
}

const TEXTS_AND_NUMBERS: &str = "rows hold texts and numbers";

impl Recorded {
    /// The record, of the algorithms that `registry` has.
    pub(crate) fn read(registry: &Registry) -> Self {
        Self::parse(RECORD, registry).expect("a test reads the record")
    }

    fn parse(text: &str, registry: &Registry) -> Result<Self, csv::Error> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers()?.clone();
        let place = |of: &str, name: &str| {
            header.iter().position(|column| column.strip_prefix(of) == Some(name))
        };
        let known = registry.iter().filter_map(|entry| {
            let name = entry.info().name;
            Some((entry.info(), [place(CALLED_WIRELESS, name)?, place(FOUND, name)?]))
        });
        let (infos, places): (Vec<_>, Vec<[usize; 2]>) = known.unzip();
        let mut flows = Vec::new();
        for record in reader.records() {
            let record = record?;
            let (kind, number, run_seed, flow, congestion_losses, wireless_losses, diagnosed): Row =
                record.deserialize(None)?;
            let count = |at: usize| record.get(at).and_then(|text| text.parse().ok()).unwrap_or(0);
            let Ok(kind) = find(&kind) else { continue };
            flows.push(OfFlow {
                kind: kind.name.to_owned(),
                number,
                run_seed,
                flow,
                congestion_losses,
                wireless_losses,
                called_wireless: places.iter().map(|[called, _]| count(*called)).collect(),
                found: places.iter().map(|[_, found]| count(*found)).collect(),
                diagnosis: Some(diagnosed),
            });
        }
        Ok(Self { infos, flows })
    }

    /// Whether it has runs of this kind.
    pub(crate) fn has(&self, kind: &Kind) -> bool {
        self.flows.iter().any(|flow| flow.kind == kind.name)
    }

    /// The seed of its networks, and how many it has of each kind.
    pub(crate) fn drawn(&self) -> (u64, u32) {
        let seeds = self.flows.iter().map(|flow| (flow.run_seed - u64::from(flow.number)) / 1000);
        let networks = self.flows.iter().map(|flow| flow.number + 1).max();
        (seeds.min().unwrap_or_default(), networks.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::abroad::diagnosed::CauseClass;

    fn registry() -> Registry {
        Registry::built_in()
    }

    #[test]
    fn what_is_recorded_is_read() {
        let judges = Judges::of(&registry());
        let count = |of: u64| (0..judges.infos.len() as u64).map(|index| of + index).collect();
        let diagnosis = Diagnosed {
            lost_packets: 9,
            truth: Some(CauseClass::Air),
            named: None,
            certainty: None,
        };
        let flow = OfFlow {
            kind: "loss in long bursts".to_owned(),
            number: 3,
            run_seed: 2003,
            flow: 1,
            congestion_losses: 100,
            wireless_losses: 200,
            called_wireless: count(10),
            found: count(40),
            diagnosis: Some(diagnosis),
        };
        let text = record(&judges, std::slice::from_ref(&flow));
        assert!(
            text.contains("\nloss in long bursts,3,2003,1,100,200,9,air,,,10,40,11,41,"),
            "{text}"
        );
        let read = Recorded::parse(&text, &registry()).expect("a record");
        assert_eq!((read.drawn(), read.flows), ((2, 4), vec![flow]));
        assert_eq!(read.infos.len(), judges.infos.len());
    }

    #[test]
    fn the_record_has_runs_of_every_held_out_kind_and_every_algorithm() {
        assert!(RECORD.starts_with(&COLUMNS.join(",")));
        let recorded = Recorded::read(&registry());
        let held_out = Kind::all(crate::abroad::Role::HeldOut);
        let mut runs: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for flow in &recorded.flows {
            runs.entry(flow.kind.as_str()).or_default().push(flow.run_seed);
        }
        runs.values_mut().for_each(Vec::dedup);
        assert!(held_out.into_iter().all(|kind| recorded.has(kind)), "{runs:?}");
        assert!(runs.values().map(Vec::len).sum::<usize>() >= 60, "{runs:?}");
        let judges = Judges::of(&registry());
        let names = |infos: &[&Info]| infos.iter().map(|info| info.name).collect::<Vec<_>>();
        assert_eq!(names(&recorded.infos), names(&judges.infos), "record the captures anew");
    }
}
