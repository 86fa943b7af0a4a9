//! Experiments with loss differentiation on real network stacks, with the simulator's values beside
//! them.
//!
//! ```text
//! experiment   what an experiment is: a record with claims, stacks that run its cells, an answer
//! error        why a stack cannot make a run
//! counters     what happened to a flow's packets
//! emulated     two hosts and the emulator's link between them
//! linux        `live`: TCP of the running kernel over emulated links (the runs need the feature `linux`)
//! quic         quinn and noq over the simulator's links in virtual time (the runs need the feature `quic`)
//! sockets      quinn and noq over real sockets and emulated links (the runs need `linux` and `quic`)
//! media        streams of losscause-media likewise, beside simulated TFRC (the runs need the feature `media`)
//! ```
//!
//! An experiment's record is data, as a paper's is: `experiments/<experiment>/` names systems,
//! metrics and claims (`record.toml`), tables with their parameters (`items.toml`), scenarios, and
//! why claims fail (`explanations.toml`). A *cell* is one system at one combination of parameters;
//! it is run several times with different seeds. The plan is that of a paper
//! ([`losscause_laboratory::papers::reproduce`]), with stacks in the simulator's place.
//!
//! To add an experiment: its folder in `experiments/`, a module with an [`Experiment`] and its
//! [`Stack`](losscause_laboratory::stack::Stack), and its place in [`EXPERIMENTS`].

mod counters;
#[cfg(all(feature = "linux", target_os = "linux"))]
mod emulated;
mod error;
pub mod experiment;
pub mod linux;
pub mod media;
pub mod quic;
pub mod sockets;
#[cfg(test)]
mod testing;

pub use error::LiveError;
pub use experiment::{Experiment, Values};

/// All experiments.
pub static EXPERIMENTS: [&Experiment; 4] =
    [&linux::LIVE, &quic::QUIC, &sockets::SOCKETS, &media::MEDIA];

/// The experiment of that name; none if there is none. `name` may also be EXPERIMENT/ITEM.
pub fn find(name: &str) -> Option<&'static Experiment> {
    let key = name.split_once('/').map_or(name, |(key, _)| key);
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.record().key().eq_ignore_ascii_case(key))
        .copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use losscause_laboratory::papers::reproduce::{Only, Reproduction, conclude};

    use super::*;

    #[test]
    fn every_claim_has_a_predicate_and_every_predicate_a_claim() {
        for experiment in EXPERIMENTS {
            let record = experiment.record();
            let claims: BTreeSet<&str> =
                record.published().claim.iter().map(|claim| claim.id.as_str()).collect();
            let predicates: BTreeSet<&str> = record.predicates().map(|(id, _)| id).collect();
            assert_eq!(claims, predicates, "{}", record.key());
        }
    }

    #[test]
    fn every_metric_and_system_of_a_table_is_in_its_record() {
        for experiment in EXPERIMENTS {
            let record = experiment.record();
            for item in &record.items().item {
                for metric in item.metrics.iter().chain(item.beside.values()) {
                    assert!(
                        record.metric(metric).is_some(),
                        "{}/{}: {metric}",
                        record.key(),
                        item.id
                    );
                }
                for system in &item.systems {
                    assert!(
                        record.system(system).is_some(),
                        "{}/{}: {system}",
                        record.key(),
                        item.id
                    );
                }
            }
        }
    }

    #[test]
    fn tables_of_one_scenario_have_the_same_parameters() {
        for experiment in EXPERIMENTS {
            let items = &experiment.record().items().item;
            for (place, item) in items.iter().enumerate() {
                for other in items[..place].iter().filter(|other| other.scenario == item.scenario) {
                    let of = |item: &losscause_laboratory::papers::record::ItemSpec| {
                        item.parameters.keys().cloned().collect::<Vec<_>>()
                    };
                    assert_eq!(
                        of(item),
                        of(other),
                        "{}: {} and {}",
                        experiment.record().key(),
                        item.id,
                        other.id
                    );
                }
            }
        }
    }

    fn ids(names: &[&str]) -> Vec<&'static str> {
        let (_, selection) = Experiment::select(names, vec![]).unwrap();
        let plan = Experiment::plan(&selection, None, 1, &[]).unwrap();
        plan.sheets().iter().map(|sheet| sheet.spec.id.as_str()).collect()
    }

    #[test]
    fn an_experiment_by_itself_is_its_default_and_full_is_the_rest() {
        assert_eq!(ids(&["live"]), ["one-flow"]);
        let full = ids(&["live/full"]);
        assert!(
            full.contains(&"sharing") && full.contains(&"burst") && !full.contains(&"one-flow"),
            "{full:?}"
        );
        assert_eq!(ids(&["live/sharing", "live/sharing", "live"]), ["sharing", "one-flow"]);
    }

    #[test]
    fn what_cannot_be_chosen_is_refused_in_one_sentence() {
        let refusal = |names: &[&str]| Experiment::select(names, vec![]).err().unwrap().to_string();
        assert!(refusal(&["live/shoring"]).contains("did you mean \"sharing\"?"));
        assert!(refusal(&["lively"]).contains("did you mean \"live\"?"));
        assert!(refusal(&[]).contains("the name of an experiment"));
        assert_eq!(
            refusal(&["live", "quic/loss"]),
            "quic: is of another experiment than live, expected a command for each"
        );
    }

    #[test]
    fn the_report_shows_measured_systems_with_the_simulator_as_ring() {
        let only = ["system=reno,lc_spike", "loss=0.01"].map(|text| Only::parse(text).unwrap());
        let (_, selection) = Experiment::select(&["live"], only.to_vec()).unwrap();
        let plan = Experiment::plan(&selection, Some(2), 5, &[]).unwrap();
        let mut items = plan.items().to_vec();
        for item in &mut items {
            item.measured = match item.metric.as_str() {
                "goodput" => Some(6.0),
                "simulated_goodput" => Some(4.0),
                _ => None,
            };
        }
        let answer = Some("reno carries as much as reno".to_owned());
        let reproduction = Reproduction { answer, items, ..conclude(&[], 5) };
        let html = losscause_report::html(&reproduction, plan.sheets());
        assert!(html.contains("<h1>Reno carries as much as reno.</h1>"));
        assert!(html.contains("goodput: measured, and simulated_goodput, per system"));
        assert!(
            html.contains(">lc_spike</th>") && !html.contains(">cubic</th>"),
            "a column per measured system"
        );
        assert!(
            html.contains("a ring is the value of the simulator")
                && !html.contains("A number counts if")
        );
    }

    #[test]
    fn every_value_of_an_experiment_has_a_name_of_its_own() {
        for experiment in EXPERIMENTS {
            let items = testing::items(experiment.record(), |_| true, |_| None);
            let mut names = BTreeSet::new();
            for item in &items {
                assert!(names.insert(item.id.as_str()), "{}: {}", item.paper, item.id);
            }
        }
    }

    #[test]
    fn a_table_on_demand_alone_has_no_headline_of_default_tables() {
        for experiment in EXPERIMENTS {
            let record = experiment.record();
            let by_default = testing::items(record, |spec| !spec.on_demand, |_| Some(1.0));
            let whole = experiment.answer(&by_default).expect("the default has a headline");
            for table in record.items().item.iter().filter(|spec| spec.on_demand) {
                let part = testing::items(record, |spec| spec.id == table.id, |_| Some(1.0));
                let begins = |text: &str| text.chars().take(24).collect::<String>();
                let answer = experiment.answer(&part).unwrap_or_default();
                assert_ne!(
                    begins(&answer),
                    begins(&whole),
                    "{}/{}: {answer}",
                    record.key(),
                    table.id
                );
            }
        }
    }
}
