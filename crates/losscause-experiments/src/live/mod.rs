//! Experiments with loss differentiation on real network stacks, with the simulator's values beside
//! them.
//!
//! ```text
//! experiment   what an experiment is: a record, a stack that runs its cells, claims, an answer
//! selection    tables by name, `live/sharing`, and the cells that `--only` leaves
//! plan         from a selection to runs and a `Reproduction`, in the shape that the papers' reproductions have
//! error        why an experiment cannot be made
//! linux        `live`: TCP of the running kernel over emulated links (the runs need the feature `linux`)
//! quic         quinn and noq over the simulator's links in virtual time (the runs need the feature `quic`)
//! sockets      quinn and noq over real sockets and emulated links (the runs need `linux` and `quic`)
//! media        streams of losscause-media likewise, beside simulated TFRC (the runs need the feature `media`)
//! ```
//!
//! An experiment's record is data, as a paper's is: `experiments/<experiment>/` names systems,
//! metrics and claims (`record.toml`), tables with their parameters (`items.toml`), scenarios, and
//! why claims fail (`explanations.toml`). A *cell* is one system at one combination of parameters;
//! it is run several times with different seeds.
//!
//! To add an experiment: its folder in `experiments/`, a module with an [`Experiment`] and its
//! [`Stack`], and its place in [`EXPERIMENTS`].

mod error;
pub mod experiment;
pub mod linux;
pub mod media;
pub mod plan;
pub mod quic;
mod selection;
pub mod sockets;
#[cfg(test)]
mod testing;

pub use error::LiveError;
pub use experiment::{Attempt, Cell, Experiment, Stack, Values};
pub use plan::{Event, Measured, Plan};
pub use selection::{Only, Selection};

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

    use super::*;

    #[test]
    fn every_claim_has_a_predicate_and_every_predicate_a_claim() {
        for experiment in EXPERIMENTS {
            let record = experiment.record();
            let claims: BTreeSet<&str> =
                record.published().claim.iter().map(|claim| claim.id.as_str()).collect();
            let predicates: BTreeSet<&str> =
                experiment.predicates().iter().map(|(id, _)| *id).collect();
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
