//! The networks that are drawn: by kind, seed and number.

use std::fmt;
use std::str::FromStr;

use losscause_study::error::unknown;
use losscause_study::{Experiment, InputError};

use crate::abroad::kinds::{KINDS, Kind, Network};
use crate::drawn::{self, End};

/// What steers the flows of a network that is not steered by an algorithm.
pub(crate) const STOCK: &str = "always congestion";

/// A network of a kind.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its kind.
    pub kind: &'static Kind,
    /// The experiment's seed.
    pub seed: u64,
    /// Its number among the networks of the kind and seed, from 0 on.
    pub number: u32,
    /// The network.
    pub network: Network,
}

impl Drawn {
    /// Network `number`, counted from 0, of a kind.
    pub fn new(kind: &'static Kind, seed: u64, number: u32) -> Self {
        Self { kind, seed, number, network: kind.draw(drawn::run_seed(seed, number)) }
    }

    /// The first `networks` networks of each of these kinds, kind by kind.
    pub fn all(kinds: &[&'static Kind], seed: u64, networks: u32) -> Vec<Self> {
        let of_kind = |&kind: &&'static Kind| (0..networks).map(move |n| Self::new(kind, seed, n));
        kinds.iter().flat_map(of_kind).collect()
    }

    /// The seed of its runs: `losscause simulate --seed` with it makes the same run.
    pub fn run_seed(&self) -> u64 {
        drawn::run_seed(self.seed, self.number)
    }

    /// The network with flows that treat every loss as congestion.
    ///
    /// # Errors
    /// None; a test builds many networks.
    pub fn experiment(&self) -> Result<Experiment, InputError> {
        self.experiment_at(End::Sender)
    }

    /// The same for algorithms at this end: [`Network::scenario`] says with which flows.
    ///
    /// # Errors
    /// As [`Drawn::experiment`].
    pub fn experiment_at(&self, end: End) -> Result<Experiment, InputError> {
        self.network.experiment(end, STOCK)
    }

    /// The scenario file of [`Drawn::experiment`].
    pub fn scenario(&self) -> String {
        let scenario = self.network.scenario(End::Sender, STOCK);
        format!("# {self}\n# losscause simulate FILE --seed {}\n{scenario}", self.run_seed())
    }
}

/// `KIND/SEED/NUMBER`.
impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind.name, self.seed, self.number)
    }
}

/// The network `KIND/SEED/NUMBER`.
impl FromStr for Drawn {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let refuse = |problem| InputError::option(format!("network {text}"), problem);
        let mut parts = text.rsplitn(3, '/');
        let number = parts.next().and_then(|number| number.parse().ok());
        let seed = parts.next().and_then(|seed| seed.parse().ok());
        let (Some(number), Some(seed), Some(kind)) = (number, seed, parts.next()) else {
            return Err(refuse("expected KIND/SEED/NUMBER, such as LTE/1/3".to_owned()));
        };
        Ok(Self::new(find(kind).map_err(refuse)?, seed, number))
    }
}

/// The options that name these kinds; nothing if they are all.
pub(crate) fn options(kinds: &[&'static Kind]) -> String {
    if kinds.len() == KINDS.len() {
        return String::new();
    }
    kinds.iter().map(|kind| format!(" --kind {}", drawn::quoted(kind.name))).collect()
}

/// The kinds of these names, in the order of [`KINDS`]; all if none is named.
///
/// # Errors
/// There is no kind of a name.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Kind>, InputError> {
    let mut named = Vec::new();
    for name in names {
        let option = format!("--kind {name}");
        named.push(find(name).map_err(|problem| InputError::option(option, problem))?.name);
    }
    let is_chosen = |kind: &&Kind| named.is_empty() || named.contains(&kind.name);
    Ok(KINDS.iter().filter(is_chosen).collect())
}

/// The kinds whose networks still are what they are with other flows, of these: those of CUBIC.
///
/// # Errors
/// None is left for `item`, which replaces the flows.
pub fn with_replaced_flows(
    chosen: &[&'static Kind],
    item: &str,
) -> Result<Vec<&'static Kind>, InputError> {
    left(chosen, |kind| kind.draw(0).variant == "cubic", item, "which replaces the flows")
}

/// The kinds that `item` can have, of these.
///
/// # Errors
/// None is left for `item`, for this reason.
pub(crate) fn left(
    chosen: &[&'static Kind],
    can_have: impl Fn(&Kind) -> bool,
    item: &str,
    why: &str,
) -> Result<Vec<&'static Kind>, InputError> {
    let kinds: Vec<&'static Kind> = chosen.iter().filter(|kind| can_have(kind)).copied().collect();
    match (kinds.is_empty(), chosen.first()) {
        (true, Some(kind)) => Err(InputError::option(
            format!("--kind {}", kind.name),
            format!("not valid with {item}, {why}"),
        )),
        _ => Ok(kinds),
    }
}

/// The kind of that name; else what is wrong with it.
pub(crate) fn find(name: &str) -> Result<&'static Kind, String> {
    let names = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>();
    let kind = KINDS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name));
    kind.ok_or_else(|| unknown(name, &names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_found_again_by_its_text() {
        let drawn = Drawn::new(&KINDS[0], 2, 5);
        assert_eq!(drawn.to_string(), "one flow, DropTail/2/5");
        let again: Drawn = drawn.to_string().parse().expect("a network");
        assert_eq!((again.run_seed(), again.network), (2005, KINDS[0].draw(2005)));
        let refused = |text: &str| text.parse::<Drawn>().map(|_| ()).unwrap_err().to_string();
        assert_eq!(refused("LTE/1"), "network LTE/1: expected KIND/SEED/NUMBER, such as LTE/1/3");
        assert!(refused("LTA/1/3").contains("did you mean \"LTE\"?"), "{}", refused("LTA/1/3"));
    }

    #[test]
    fn kinds_of_other_flows_are_left_out() {
        let named = |names: &[&str]| {
            chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("known")
        };
        let all = with_replaced_flows(&named(&[]), "abroad/loop").expect("kinds");
        assert!(all.iter().all(|kind| !kind.name.starts_with("BBR")) && all.len() > 20);
        assert_eq!(
            with_replaced_flows(&named(&["BBR"]), "abroad/loop").expect_err("none").to_string(),
            "--kind BBR: not valid with abroad/loop, which replaces the flows"
        );
    }

    #[test]
    fn kinds_are_chosen_in_their_order() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            chosen(&names).map(|kinds| kinds.iter().map(|kind| kind.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["RED", "lte", "RED"]), Ok(vec!["LTE", "RED"]));
        assert_eq!(names(&[]).map(|all| all.len()), Ok(KINDS.len()));
        let refused = names(&["Wi-FI 6"]).expect_err("unknown").to_string();
        assert!(refused.starts_with("--kind Wi-FI 6: \"Wi-FI 6\" is unknown"), "{refused}");
    }
}
