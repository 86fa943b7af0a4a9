//! Every algorithm beside stock flows: what it says of every loss of every kind, at the sender, at
//! the receiver, or in a capture ([`ObservedAt`]).
//!
//! ```text
//! M_c   = congestion losses called wireless / congestion losses,  of a flow
//! found = wireless losses called wireless / wireless losses,      of a flow
//! ```
//!
//! A kind's value is the mean over the flows that have at least five such losses. A role's value is
//! the mean over its kinds, all alike, of which at least three networks have such a flow. An
//! undecided loss counts as called congestion, because a transport takes it so. Intervals are
//! percentile bootstrap over networks, each with all its flows, from 2.5 to 97.5 %.

use losscause::registry::{Info, Origin, Registry};
use losscause_sim::truth::Cause;
use losscause_study::InputError;
use losscause_study::error::unknown;
use serde::{Deserialize, Serialize};

use crate::abroad::captured::Judges;
use crate::abroad::diagnosed::{Diagnosed, Diagnoses};
use crate::abroad::kernel::Recorded;
use crate::abroad::kinds::{KINDS, Kind, Role};
use crate::abroad::network::{self, Drawn};
use crate::abroad::observed_at::ObservedAt;
use crate::drawn::jury::Jury;
use crate::drawn::score::{Bootstrap, Estimate, Halves, Resampled, Tally};
use crate::drawn::steering::few_and;
use crate::drawn::{Run, RunList};

/// A flow counts from so many losses of a cause on: of one loss, a share is all or nothing.
pub const LEAST_LOSSES: u64 = 5;

/// The result. Equal seeds, numbers of networks, kinds and registries give equal results, with any
/// number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdicts {
    /// Where the algorithms get their observations.
    #[serde(rename = "stack")]
    pub at: ObservedAt,
    /// The seed of the networks.
    pub seed: u64,
    /// How many networks were drawn of each kind.
    pub networks: u32,
    /// The algorithms, in the registry's order.
    pub algorithms: Vec<Judge>,
    /// Each kind.
    pub kinds: Vec<OfKind>,
    /// Each role, over its kinds.
    pub means: Vec<OfRole>,
    /// In captures: how often the diagnoses of flows are right, for each kind, then for each role.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnoses: Vec<Diagnoses>,
    /// Each flow.
    pub flows: Vec<OfFlow>,
    /// The algorithms that tables show.
    #[serde(skip)]
    pub shown: Vec<&'static str>,
}

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judge {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// The networks of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfKind {
    /// The kind.
    pub kind: &'static str,
    /// What it may be used for.
    pub role: Role,
    /// Flows with enough congestion losses.
    pub congestion_flows: usize,
    /// Flows with enough wireless losses.
    pub wireless_flows: usize,
    /// One per algorithm, in their order.
    pub shares: Vec<Shares>,
}

/// The kinds of a role, all alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfRole {
    /// The role.
    pub role: Role,
    /// Kinds with enough networks with such a flow.
    pub congestion_kinds: usize,
    /// The same of wireless losses.
    pub wireless_kinds: usize,
    /// One per algorithm, in their order.
    pub shares: Vec<Shares>,
}

/// What an algorithm says of losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Congestion losses called wireless, 0 to 1; null if no flow had enough of them.
    pub m_c: Option<Estimate>,
    /// Wireless losses called wireless, 0 to 1; null if no flow had enough of them.
    pub found: Option<Estimate>,
}

/// A flow. Each list has one number per algorithm, in their order.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct OfFlow {
    /// The kind of its network.
    pub kind: String,
    /// The number of its network.
    pub number: u32,
    /// The seed of the run.
    pub run_seed: u64,
    /// Its number in the network, from 0 on.
    pub flow: usize,
    /// Congestion losses that were judged.
    pub congestion_losses: u64,
    /// Wireless losses that were judged.
    pub wireless_losses: u64,
    /// Congestion losses called wireless.
    pub called_wireless: Vec<u64>,
    /// Wireless losses called wireless.
    pub found: Vec<u64>,
    /// In captures: what is said of the flow as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosed>,
}

/// The experiment: every algorithm judges the losses of stock flows.
pub struct Plan {
    at: ObservedAt,
    kinds: Vec<&'static Kind>,
    seed: u64,
    networks: u32,
    /// Of the command.
    options: String,
    drawn: Vec<Drawn>,
    judges: By,
    shown: Vec<&'static str>,
}

/// Who judges.
enum By {
    Jury(Jury),
    Judges(Judges),
    /// The runs were made, and their captures judged.
    Recorded(Recorded),
}

impl Plan {
    /// `networks` networks of each of the kinds that have such observations, of these. All
    /// algorithms of `registry` judge, except those that need the truth. Runs of the kernel are not
    /// made but those of the record, with its seed and number of networks. Tables show the algorithms
    /// of these names, a few without a name, or all.
    ///
    /// # Errors
    /// No such kind is left, or no algorithm of a name judges losses there.
    pub fn new(
        at: ObservedAt,
        registry: &Registry,
        kinds: &[&'static Kind],
        (seed, networks): (u64, u32),
        shown: Option<&[String]>,
    ) -> Result<Self, InputError> {
        let options = network::options(kinds);
        let judges = match at {
            ObservedAt::Sender | ObservedAt::Receiver => By::Jury(Jury::of(registry, at.end())),
            ObservedAt::Capture => By::Judges(Judges::of(registry)),
            ObservedAt::Kernel => By::Recorded(Recorded::read(registry)),
        };
        let kinds = match &judges {
            By::Recorded(recorded) => {
                network::left(kinds, |kind| recorded.has(kind), at.item(), "whose record lacks it")?
            }
            _ if at == ObservedAt::Receiver => network::with_replaced_flows(kinds, at.item())?,
            _ => kinds.to_vec(),
        };
        let mut plan = Self {
            at,
            seed,
            networks,
            options: format!(" --seed {seed} --networks {networks}{options}"),
            drawn: Vec::new(),
            kinds,
            judges,
            shown: Vec::new(),
        };
        if let By::Recorded(recorded) = &plan.judges {
            (plan.seed, plan.networks) = recorded.drawn();
            plan.options = options;
        } else {
            plan.drawn = Drawn::all(&plan.kinds, seed, networks);
        }
        plan.shown = match shown {
            None => plan.names(),
            Some(names) => plan.columns(registry, names)?,
        };
        Ok(plan)
    }

    fn infos(&self) -> &[&'static Info] {
        match &self.judges {
            By::Jury(jury) => &jury.infos,
            By::Judges(judges) => &judges.infos,
            By::Recorded(recorded) => &recorded.infos,
        }
    }

    fn names(&self) -> Vec<&'static str> {
        self.infos().iter().map(|info| info.name).collect()
    }

    /// The algorithms of these names; a few if none is named.
    fn columns(
        &self,
        registry: &Registry,
        names: &[String],
    ) -> Result<Vec<&'static str>, InputError> {
        let at = self.at;
        let all = self.names();
        if names.is_empty() {
            let few = at.shown();
            let shown = few_and(registry, &few, |origin| origin == Origin::Other);
            let shown = shown.map(|entry| entry.info().name);
            return Ok(shown.filter(|name| all.contains(name)).collect());
        }
        let find = |name: &String| {
            let found = registry.find(name).map(|entry| entry.info().name);
            found.filter(|found| all.contains(found)).ok_or_else(|| {
                InputError::option(
                    format!("--algorithms {name}"),
                    match found {
                        Some(_) if at == ObservedAt::Kernel => {
                            format!("not valid with {}, whose record lacks it", at.item())
                        }
                        Some(_) => {
                            format!("judges no loss at a {} without the truth", at.end().name())
                        }
                        None => unknown(name, &all),
                    },
                )
            })
        };
        names.iter().map(find).collect()
    }
}

impl RunList for Plan {
    type Made = Vec<OfFlow>;
    type Found = Verdicts;

    fn command(&self) -> String {
        format!("{}{}", self.at.item(), self.options)
    }

    fn runs(&self) -> Vec<Run<'_, Vec<OfFlow>>> {
        let runs = self.drawn.iter().map(|drawn| {
            let name = format!("{drawn}, {}", self.names().join(", "));
            Run::new(name, &drawn.scenario(), move |stop| match &self.judges {
                By::Judges(judges) => judges.simulate(drawn, stop),
                By::Jury(jury) => {
                    let experiment = drawn.experiment_at(jury.end)?;
                    let counted = jury.count(&experiment, drawn.run_seed(), true, stop)?;
                    let tallies =
                        |halves: &Vec<Halves>| halves.iter().map(|of| of.whole()).collect();
                    let tallies: Vec<Vec<Tally>> = counted.iter().map(tallies).collect();
                    let flows = tallies.iter().enumerate();
                    Ok(flows.map(|(flow, of)| OfFlow::of(drawn, flow, of)).collect())
                }
                By::Recorded(_) => Ok(Vec::new()),
            })
        });
        runs.collect()
    }

    fn found(&self, made: Vec<Vec<OfFlow>>) -> Verdicts {
        let flows = match &self.judges {
            By::Recorded(recorded) => recorded.flows.clone(),
            _ => made.concat(),
        };
        let drawn = (self.seed, self.networks);
        let found = Verdicts::of(self.at, self.infos(), &self.kinds, drawn, flows);
        Verdicts { shown: self.shown.clone(), ..found }
    }
}

impl OfFlow {
    /// Flow number `flow` of a network, by the tallies of all algorithms.
    pub(crate) fn of(drawn: &Drawn, flow: usize, tallies: &[Tally]) -> Self {
        // All algorithms judge the same losses.
        let losses = tallies.first().copied().unwrap_or_default();
        Self {
            kind: drawn.kind.name.to_owned(),
            number: drawn.number,
            run_seed: drawn.run_seed(),
            flow,
            congestion_losses: losses.congestion.losses,
            wireless_losses: losses.wireless.losses,
            called_wireless: tallies.iter().map(|tally| tally.congestion.wrong).collect(),
            found: tallies
                .iter()
                .map(|Tally { wireless, .. }| wireless.losses - wireless.wrong)
                .collect(),
            diagnosis: None,
        }
    }

    /// Its losses to a cause.
    fn losses(&self, cause: Cause) -> u64 {
        match cause {
            Cause::Congestion => self.congestion_losses,
            Cause::Wireless => self.wireless_losses,
        }
    }

    /// The share of its losses to a cause that an algorithm calls wireless, 0 to 1; none of fewer
    /// than [`LEAST_LOSSES`].
    pub fn share(&self, cause: Cause, algorithm: usize) -> Option<f64> {
        let called_wireless = match cause {
            Cause::Congestion => &self.called_wireless,
            Cause::Wireless => &self.found,
        };
        let losses = self.losses(cause);
        (losses >= LEAST_LOSSES).then(|| called_wireless[algorithm] as f64 / losses as f64)
    }
}

impl Verdicts {
    fn of(
        at: ObservedAt,
        infos: &[&'static Info],
        kinds: &[&'static Kind],
        (seed, networks): (u64, u32),
        flows: Vec<OfFlow>,
    ) -> Self {
        let scored = kinds.iter().map(|kind| {
            let own: Vec<&OfFlow> = flows.iter().filter(|flow| flow.kind == kind.name).collect();
            Scored::of(kind, &own, networks, infos.len(), &bootstrap(kind, seed, networks))
        });
        let scored: Vec<Scored> = scored.collect();
        let judge = |info: &&Info| Judge { algorithm: info.name, origin: info.origin };
        let means =
            Role::ALL.into_iter().filter_map(|role| Scored::mean(role, &scored, networks, infos));
        Self {
            at,
            seed,
            networks,
            algorithms: infos.iter().map(judge).collect(),
            kinds: scored.iter().map(|scored| scored.row(infos)).collect(),
            means: means.collect(),
            diagnoses: Diagnoses::all(kinds, &flows),
            flows,
            shown: Vec::new(),
        }
    }
}

/// Resamples of a kind's networks. Kinds are independent of each other, and so are their resamples.
pub(crate) fn bootstrap(kind: &Kind, seed: u64, networks: u32) -> Bootstrap {
    let place = KINDS.iter().position(|known| known.name == kind.name).unwrap_or_default();
    Bootstrap::new(networks as usize, seed ^ ((place as u64) << 32))
}

/// What the algorithms say of a kind's losses.
struct Scored {
    kind: &'static Kind,
    congestion_flows: usize,
    wireless_flows: usize,
    /// One per algorithm.
    m_c: Vec<Resampled>,
    /// One per algorithm.
    found: Vec<Resampled>,
}

impl Scored {
    fn of(
        kind: &'static Kind,
        flows: &[&OfFlow],
        networks: u32,
        algorithms: usize,
        bootstrap: &Bootstrap,
    ) -> Self {
        let with = |cause| flows.iter().filter(|flow| flow.losses(cause) >= LEAST_LOSSES).count();
        let shares = |cause: Cause, algorithm: usize| {
            let of_network = |number: u32| -> Vec<f64> {
                let own = flows.iter().filter(|flow| flow.number == number);
                own.filter_map(|flow| flow.share(cause, algorithm)).collect()
            };
            let by_network: Vec<Vec<f64>> = (0..networks).map(of_network).collect();
            bootstrap.mean_of_groups(&by_network)
        };
        let of = |cause: Cause| (0..algorithms).map(|algorithm| shares(cause, algorithm)).collect();
        Self {
            kind,
            congestion_flows: with(Cause::Congestion),
            wireless_flows: with(Cause::Wireless),
            m_c: of(Cause::Congestion),
            found: of(Cause::Wireless),
        }
    }

    fn row(&self, infos: &[&'static Info]) -> OfKind {
        OfKind {
            kind: self.kind.name,
            role: self.kind.role,
            congestion_flows: self.congestion_flows,
            wireless_flows: self.wireless_flows,
            shares: shares(infos, |algorithm| {
                (self.m_c[algorithm].estimate(), self.found[algorithm].estimate())
            }),
        }
    }

    /// The mean over the kinds of a role; none without one.
    fn mean(role: Role, scored: &[Self], networks: u32, infos: &[&'static Info]) -> Option<OfRole> {
        let own: Vec<&Self> = scored.iter().filter(|scored| scored.kind.role == role).collect();
        // All algorithms judge the same losses, so a kind counts for all of them or for none.
        let counting = |of: fn(&Self) -> &Vec<Resampled>| -> Vec<&Vec<Resampled>> {
            let counts = |own: &&Vec<Resampled>| {
                own.first().is_some_and(|first| first.counts(networks as usize))
            };
            own.iter().map(|scored| of(scored)).filter(counts).collect()
        };
        let m_c = counting(|scored| &scored.m_c);
        let found = counting(|scored| &scored.found);
        let mean = |kinds: &[&Vec<Resampled>], algorithm: usize| {
            let parts: Vec<&Resampled> = kinds.iter().map(|own| &own[algorithm]).collect();
            Resampled::mean_of(&parts).estimate()
        };
        (!own.is_empty()).then(|| OfRole {
            role,
            congestion_kinds: m_c.len(),
            wireless_kinds: found.len(),
            shares: shares(infos, |algorithm| (mean(&m_c, algorithm), mean(&found, algorithm))),
        })
    }
}

fn shares(
    infos: &[&'static Info],
    of: impl Fn(usize) -> (Option<Estimate>, Option<Estimate>),
) -> Vec<Shares> {
    let of_algorithm = |(algorithm, info): (usize, &&'static Info)| {
        let (m_c, found) = of(algorithm);
        Shares { algorithm: info.name, m_c, found }
    };
    infos.iter().enumerate().map(of_algorithm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abroad::network::chosen;

    fn kinds(names: &[&str]) -> Vec<&'static Kind> {
        chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("known kinds")
    }

    /// A flow with so many losses of each cause that the one algorithm called wireless.
    fn flow(kind: &str, number: u32, congestion: (u64, u64), wireless: (u64, u64)) -> OfFlow {
        OfFlow {
            kind: kind.to_owned(),
            number,
            run_seed: 0,
            flow: 0,
            congestion_losses: congestion.1,
            wireless_losses: wireless.1,
            called_wireless: vec![congestion.0],
            found: vec![wireless.0],
            diagnosis: None,
        }
    }

    fn scored(networks: u32, flows: Vec<OfFlow>) -> Verdicts {
        let info: &'static Info = const { &Info::new("one", "an algorithm") };
        let kinds = kinds(&["LTE", "LEO", "RED"]);
        Verdicts::of(ObservedAt::Sender, &[info], &kinds, (1, networks), flows)
    }

    #[test]
    fn flows_count_alike_in_a_kind_and_kinds_alike_in_a_role() {
        let found = scored(
            3,
            vec![
                // A half, none, a quarter: a mean of 25 %, whatever their losses.
                flow("LTE", 0, (5, 10), (0, 0)),
                flow("LTE", 1, (0, 100), (6, 8)),
                flow("LTE", 2, (2, 8), (0, 0)),
                flow("LTE", 2, (2, 8), (0, 0)),
                // Four losses are too few.
                flow("LTE", 2, (4, 4), (0, 4)),
                // A kind with fewer flows has the same weight.
                flow("LEO", 0, (6, 8), (0, 0)),
                flow("LEO", 1, (6, 8), (0, 0)),
                flow("LEO", 2, (6, 8), (0, 0)),
                // One network is too few for the mean.
                flow("RED", 0, (0, 5), (0, 0)),
            ],
        );
        let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
        let of = |shares: &[Shares]| (value(shares[0].m_c), value(shares[0].found));
        let by_kind: Vec<_> =
            found.kinds.iter().map(|kind| (kind.kind, of(&kind.shares))).collect();
        assert_eq!(
            by_kind,
            [
                ("LTE", (Some(0.25), Some(0.75))),
                ("LEO", (Some(0.75), None)),
                ("RED", (Some(0.0), None))
            ]
        );
        let by_role: Vec<_> =
            found.means.iter().map(|mean| (mean.role, of(&mean.shares))).collect();
        assert_eq!(by_role, [(Role::Fitted, (Some(0.5), None)), (Role::HeldOut, (None, None))]);
        assert_eq!((found.means[0].congestion_kinds, found.means[0].wireless_kinds), (2, 0));
        assert_eq!((found.kinds[0].congestion_flows, found.kinds[0].wireless_flows), (4, 1));
    }

    #[test]
    fn an_interval_takes_three_networks() {
        let of = |networks: u32| {
            let flows = (0..networks).map(|number| flow("LTE", number, (2, 8), (0, 0)));
            scored(networks, flows.collect()).kinds[0].shares[0].m_c
        };
        assert_eq!(of(2), Some(Estimate { value: 0.25, ci95: None }));
        assert_eq!(of(3), Some(Estimate { value: 0.25, ci95: Some([0.25, 0.25]) }));
    }

    #[test]
    fn columns_are_a_few_and_the_algorithms_of_a_user() {
        let registry = losscause_study::registry();
        let sender = ObservedAt::Sender;
        let columns = |at, names: &[String]| {
            let all = chosen(&[]).expect("all kinds");
            Plan::new(at, &registry, &all, (1, 1), Some(names)).map(|plan| plan.shown)
        };
        assert_eq!(columns(sender, &[]), Ok(sender.shown().to_vec()));
        let named = |at, name: &str| columns(at, &[name.to_owned()]);
        assert_eq!(named(sender, "always wireless"), Ok(vec!["always wireless"]));
        let refused = |at, name| named(at, name).expect_err("refused").to_string();
        assert_eq!(
            refused(sender, "omniscient"),
            "--algorithms omniscient: judges no loss at a sender without the truth"
        );
        let unknown = refused(sender, "Spyke");
        assert!(unknown.starts_with("--algorithms Spyke: \"Spyke\" is unknown"), "{unknown}");
        assert_eq!(
            refused(ObservedAt::Receiver, "Veno"),
            "--algorithms Veno: judges no loss at a receiver without the truth"
        );
        assert_eq!(
            refused(ObservedAt::Kernel, "omniscient"),
            "--algorithms omniscient: not valid with abroad/kernel, whose record lacks it"
        );
    }
}
