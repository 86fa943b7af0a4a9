//! In the loop: all flows of a network are steered by an algorithm, over CUBIC, or by a stock
//! congestion control. An algorithm runs with guard and brake ([`losscause::safeguard`]), as users
//! get it, and alone.
//!
//! What an algorithm costs is what queues drop beyond what they drop of stock CUBIC. What it brings
//! is goodput: over stock CUBIC's, and over that of CUBIC that is told the true causes. Kinds whose
//! flows are BBR are left out, because the flows are replaced.
//!
//! Drops are means over networks. Ratios are geometric means over networks: twice and half the
//! goodput make no difference. Intervals are those of [`crate::abroad::verdicts`].

use losscause::registry::Origin;
use losscause_study::{FlowMeasurements, InputError, Registry};
use serde::{Deserialize, Serialize};

use crate::abroad::kinds::{Kind, Role};
use crate::abroad::network::{self, Drawn};
use crate::abroad::verdicts::bootstrap;
use crate::drawn::score::{Bootstrap, Estimate, Resampled};
use crate::drawn::steering::Steering;
use crate::drawn::{self, Contender, End, Run, RunList};

/// Algorithms that run if none is named, besides those of a user.
const DEFAULT: [&str; 2] = ["Spike", "Sift"];

/// Names of the systems that are no contenders.
const STOCK: &str = "cubic";
const BBR: &str = "bbr";
const TOLD: &str = "omniscient";

/// The name by which `losscause reproduce` takes it.
pub const ITEM: &str = "abroad/loop";

/// The result: equal inputs give equal results, with any number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steered {
    /// The seed of the networks.
    pub seed: u64,
    /// How many networks were drawn of each kind.
    pub networks: u32,
    /// The systems, in the order in which they are compared.
    pub systems: Vec<String>,
    /// A row per kind and system.
    pub rows: Vec<SteeredRow>,
    /// A row per role and system: means over the role's kinds.
    pub means: Vec<SteeredRow>,
    /// Every run.
    pub runs: Vec<SteeredRun>,
}

/// A system on the networks of a kind, or over the kinds of a role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteeredRow {
    /// The kind; null of a mean over kinds.
    pub kind: Option<&'static str>,
    /// What the kind may be used for.
    pub role: Role,
    /// The system.
    pub system: String,
    /// Packets that queues dropped, per 1000 sent.
    pub drops_per_1000: Option<Estimate>,
    /// The goodput of all flows of a network, Mb/s.
    pub goodput_mbps: Option<Estimate>,
    /// Goodput over stock CUBIC's.
    pub over_stock: Option<Estimate>,
    /// Goodput over that of CUBIC that is told the true causes.
    pub over_told: Option<Estimate>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SteeredRun {
    /// The kind of its network.
    pub kind: String,
    /// The number of its network.
    pub number: u32,
    /// The seed of the run.
    pub run_seed: u64,
    /// The system.
    pub system: String,
    /// Data packets that were sent, of all flows.
    pub sent_packets: u64,
    /// Data packets that queues dropped, of all flows.
    pub queue_drops: u64,
    /// The goodput of all flows, Mb/s.
    pub goodput_mbps: f64,
}

/// The experiment: systems steer the flows of all networks.
pub struct Plan {
    kinds: Vec<&'static Kind>,
    seed: u64,
    networks: u32,
    drawn: Vec<Drawn>,
    /// Stock CUBIC, BBR, the contenders, and CUBIC that is told the true causes.
    systems: Vec<Steering>,
    /// Of the command.
    options: String,
}

impl Plan {
    /// `networks` networks of each of these kinds whose flows are CUBIC, with each contender of these
    /// names, an algorithm also without guard and brake; without names, with a few.
    ///
    /// # Errors
    /// No such kind is left, or there is neither an algorithm nor a TCP of a user of a name, or it
    /// does not run at a sender.
    pub fn new(
        registry: &Registry,
        names: &[String],
        kinds: &[&'static Kind],
        (seed, networks): (u64, u32),
    ) -> Result<Self, InputError> {
        let options = format!("{}{}", network::options(kinds), drawn::algorithms(names));
        let kinds = network::with_replaced_flows(kinds, ITEM)?;
        let also = |origin: Origin| origin == Origin::Other;
        let contenders = Contender::chosen(registry, names, &DEFAULT, also)?;
        let mut systems = vec![Steering::unaware(STOCK), Steering::unaware(BBR)];
        // One that is told the causes runs anyway.
        for contender in contenders.iter().filter(|contender| contender.name() != TOLD) {
            if !contender.runs_at(End::Sender) {
                let option = format!("--algorithms {}", contender.name());
                let problem = format!("does not run at a sender, where {ITEM} has its flows");
                return Err(InputError::option(option, problem));
            }
            systems.push(Steering::by(contender));
            if let Contender::Algorithm(_) = contender {
                systems.push(Steering::by(contender).alone());
            }
        }
        systems.push(Steering::omniscient());
        let drawn = Drawn::all(&kinds, seed, networks);
        Ok(Self { kinds, seed, networks, drawn, systems, options })
    }
}

impl RunList for Plan {
    type Made = SteeredRun;
    type Found = Steered;

    fn command(&self) -> String {
        format!("{ITEM} --seed {} --networks {}{}", self.seed, self.networks, self.options)
    }

    fn runs(&self) -> Vec<Run<'_, SteeredRun>> {
        let cells = self.drawn.iter().flat_map(|d| self.systems.iter().map(move |s| (d, s)));
        cells.map(|(drawn, system)| run_of(drawn, system)).collect()
    }

    fn found(&self, runs: Vec<SteeredRun>) -> Steered {
        let systems = self.systems.iter().map(|system| system.name.clone()).collect();
        Steered::of(systems, &self.kinds, self.seed, self.networks, runs)
    }
}

fn run_of<'a>(drawn: &Drawn, system: &'a Steering) -> Run<'a, SteeredRun> {
    let variant = if system.name == BBR { "bbr" } else { "cubic" };
    let drawn = Drawn { network: drawn.network.clone().of_variant(variant), ..drawn.clone() };
    Run::new(format!("{drawn}, {}", system.name), &drawn.scenario(), move |stop| {
        let measured = system.run(drawn.experiment()?, drawn.run_seed(), stop)?;
        let flows: Vec<&FlowMeasurements> =
            measured.flows.iter().filter(|flow| flow.measured).collect();
        let goodput_kbps: f64 = flows.iter().filter_map(|flow| flow.goodput_kbps).sum();
        Ok(SteeredRun {
            kind: drawn.kind.name.to_owned(),
            number: drawn.number,
            run_seed: drawn.run_seed(),
            system: system.name.clone(),
            sent_packets: flows.iter().map(|flow| flow.sent_packets).sum(),
            queue_drops: flows.iter().map(|flow| flow.queue_drops).sum(),
            goodput_mbps: goodput_kbps / 1e3,
        })
    })
}

impl SteeredRun {
    /// Packets that queues dropped, per 1000 sent; none if none was sent.
    fn drops_per_1000(&self) -> Option<f64> {
        (self.sent_packets > 0).then(|| 1e3 * self.queue_drops as f64 / self.sent_packets as f64)
    }
}

impl Steered {
    fn of(
        systems: Vec<String>,
        kinds: &[&'static Kind],
        seed: u64,
        networks: u32,
        runs: Vec<SteeredRun>,
    ) -> Self {
        let mut scored = Vec::new();
        for kind in kinds {
            let bootstrap = bootstrap(kind, seed, networks);
            let of = |system: &str| -> Vec<&SteeredRun> {
                let own = runs.iter().filter(|run| run.kind == kind.name && run.system == system);
                own.collect()
            };
            let [stock, told] = [STOCK, TOLD].map(of);
            let of_kind =
                systems.iter().map(|system| Scored::of(&of(system), &stock, &told, &bootstrap));
            scored.push((*kind, of_kind.collect::<Vec<Scored>>()));
        }
        let row = |kind: &'static Kind, system: usize, scored: &Scored| SteeredRow {
            kind: Some(kind.name),
            ..scored.row(kind.role, &systems[system])
        };
        let rows = scored.iter().flat_map(|(kind, of_kind)| {
            of_kind.iter().enumerate().map(|(system, scored)| row(kind, system, scored))
        });
        let rows = rows.collect();
        let mut means = Vec::new();
        for role in Role::ALL {
            let own: Vec<&Vec<Scored>> =
                scored.iter().filter(|(kind, _)| kind.role == role).map(|(_, own)| own).collect();
            if own.is_empty() {
                continue;
            }
            for (index, system) in systems.iter().enumerate() {
                let of_system: Vec<&Scored> = own.iter().map(|of_kind| &of_kind[index]).collect();
                means.push(Scored::mean(&of_system).row(role, system));
            }
        }
        Self { seed, networks, systems, rows, means, runs }
    }
}

/// A system on the networks of a kind.
struct Scored {
    drops_per_1000: Resampled,
    goodput_mbps: Resampled,
    /// Logarithms of ratios.
    over_stock: Resampled,
    over_told: Resampled,
}

impl Scored {
    /// The runs of the system, of stock CUBIC and of the told one, network by network.
    fn of(
        own: &[&SteeredRun],
        stock: &[&SteeredRun],
        told: &[&SteeredRun],
        bootstrap: &Bootstrap,
    ) -> Self {
        let mean = |value: &dyn Fn(&SteeredRun) -> Option<f64>| {
            let values: Vec<Vec<f64>> =
                own.iter().map(|run| value(run).into_iter().collect()).collect();
            bootstrap.mean_of_groups(&values)
        };
        let over = |others: &[&SteeredRun]| {
            let ratio = |(own, other): (&&SteeredRun, &&SteeredRun)| {
                let both = own.goodput_mbps > 0.0 && other.goodput_mbps > 0.0;
                both.then(|| libm::log(own.goodput_mbps / other.goodput_mbps)).into_iter().collect()
            };
            let ratios: Vec<Vec<f64>> = own.iter().zip(others).map(ratio).collect();
            bootstrap.mean_of_groups(&ratios)
        };
        Self {
            drops_per_1000: mean(&SteeredRun::drops_per_1000),
            goodput_mbps: mean(&|run| Some(run.goodput_mbps)),
            over_stock: over(stock),
            over_told: over(told),
        }
    }

    /// The mean over kinds, all alike.
    fn mean(kinds: &[&Self]) -> Self {
        let mean = |of: fn(&Self) -> &Resampled| {
            Resampled::mean_of(&kinds.iter().map(|kind| of(kind)).collect::<Vec<_>>())
        };
        Self {
            drops_per_1000: mean(|kind| &kind.drops_per_1000),
            goodput_mbps: mean(|kind| &kind.goodput_mbps),
            over_stock: mean(|kind| &kind.over_stock),
            over_told: mean(|kind| &kind.over_told),
        }
    }

    fn row(&self, role: Role, system: &str) -> SteeredRow {
        let ratio = |logarithm: &Resampled| Some(logarithm.estimate()?.map(libm::exp));
        SteeredRow {
            kind: None,
            role,
            system: system.to_owned(),
            drops_per_1000: self.drops_per_1000.estimate(),
            goodput_mbps: self.goodput_mbps.estimate(),
            over_stock: ratio(&self.over_stock),
            over_told: ratio(&self.over_told),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds_named(names: &[&str]) -> Vec<&'static Kind> {
        network::chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("known")
    }

    fn run(kind: &str, number: u32, system: &str, drops: u64, mbps: f64) -> SteeredRun {
        SteeredRun {
            kind: kind.to_owned(),
            number,
            run_seed: 0,
            system: system.to_owned(),
            sent_packets: 2000,
            queue_drops: drops,
            goodput_mbps: mbps,
        }
    }

    #[test]
    fn the_one_that_is_told_runs_once_though_it_is_named() {
        let names = ["Sift", "omniscient"].map(str::to_owned);
        let kinds = kinds_named(&["LEO"]);
        let registry = losscause_study::registry();
        let plan = Plan::new(&registry, &names, &kinds, (1, 1)).expect("both run");
        let systems: Vec<&str> = plan.systems.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(systems, ["cubic", "bbr", "Sift", "Sift alone", "omniscient"]);
    }

    #[test]
    fn drops_and_ratios_worked_by_hand() {
        let runs = vec![
            run("LTE", 0, STOCK, 2, 4.0),
            run("LTE", 1, STOCK, 4, 10.0),
            run("LTE", 0, TOLD, 4, 16.0),
            run("LTE", 1, TOLD, 4, 10.0),
            run("LTE", 0, "one", 8, 16.0),
            run("LTE", 1, "one", 4, 2.5),
            run("LEO", 0, STOCK, 0, 1.0),
            run("LEO", 0, TOLD, 0, 4.0),
            run("LEO", 0, "one", 4, 4.0),
            run("LEO", 1, STOCK, 0, 1.0),
            run("LEO", 1, TOLD, 0, 4.0),
            run("LEO", 1, "one", 4, 4.0),
        ];
        let systems = [STOCK, "one", TOLD].map(String::from).to_vec();
        let found = Steered::of(systems, &kinds_named(&["LTE", "LEO"]), 1, 2, runs);
        let values = |row: &SteeredRow| {
            [row.drops_per_1000, row.goodput_mbps, row.over_stock, row.over_told]
                .map(|estimate| estimate.map(|estimate| (1e6 * estimate.value).round() / 1e6))
        };
        let row = |kind: &str, system: &str| {
            let own = |row: &&SteeredRow| row.kind == Some(kind) && row.system == system;
            values(found.rows.iter().find(own).expect("a row"))
        };
        // Four times the goodput and a quarter of it are 1; 1 and a quarter are a half.
        assert_eq!(row("LTE", "one"), [Some(3.0), Some(9.25), Some(1.0), Some(0.5)]);
        assert_eq!(row("LTE", STOCK), [Some(1.5), Some(7.0), Some(1.0), Some(0.5)]);
        assert_eq!(row("LEO", "one"), [Some(2.0), Some(4.0), Some(4.0), Some(1.0)]);
        let mean = found.means.iter().find(|row| row.system == "one").expect("a mean");
        assert_eq!(values(mean)[0], Some(2.5), "kinds alike");
        assert_eq!(values(mean)[2], Some(2.0), "the geometric mean of 1 and 4");
        assert_eq!((mean.kind, mean.role, found.means.len()), (None, Role::Fitted, 3));
    }
}
