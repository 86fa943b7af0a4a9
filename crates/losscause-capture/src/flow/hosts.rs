//! At which hosts a capture was taken: what the connections that tell their place say of those that
//! do not.

use std::collections::HashMap;

use super::vantage::Vantage;

/// Hosts by address: of how many connections the capture was taken at this end, and of how many
/// elsewhere.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    known: HashMap<u128, (u64, u64)>,
}

/// More hosts are not remembered.
const MAX_HOSTS: usize = 65_536;

impl Hosts {
    /// A connection between these hosts has these places, one for the data of each.
    pub(super) fn on_connection(&mut self, hosts: [u128; 2], vantages: [Vantage; 2]) {
        if vantages.contains(&Vantage::Unknown) {
            return;
        }
        for (host, vantage) in hosts.into_iter().zip(vantages) {
            if self.known.len() >= MAX_HOSTS && !self.known.contains_key(&host) {
                continue;
            }
            let (here, elsewhere) = self.known.entry(host).or_default();
            *if vantage == Vantage::Sender { here } else { elsewhere } += 1;
        }
    }

    /// The places of a connection between these hosts that does not tell them itself: known if all
    /// others were taken at one of the two and none at the other.
    pub(super) fn vantages(&self, hosts: [u128; 2]) -> Option<[Vantage; 2]> {
        let is_here = |host| {
            self.known.get(&host).is_some_and(|&(here, elsewhere)| here > 0 && elsewhere == 0)
        };
        let is_elsewhere = |host| self.known.get(&host).is_none_or(|&(here, _)| here == 0);
        match hosts {
            [low, high] if is_here(low) && is_elsewhere(high) => {
                Some([Vantage::Sender, Vantage::Receiver])
            }
            [low, high] if is_here(high) && is_elsewhere(low) => {
                Some([Vantage::Receiver, Vantage::Sender])
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_at_which_others_were_captured_tells_the_place() {
        let mut hosts = Hosts::default();
        hosts.on_connection([1, 2], [Vantage::Sender, Vantage::Receiver]);
        assert_eq!(hosts.vantages([1, 9]), Some([Vantage::Sender, Vantage::Receiver]));
        assert_eq!(hosts.vantages([0, 1]), Some([Vantage::Receiver, Vantage::Sender]));
        assert_eq!(hosts.vantages([2, 9]), None);
        hosts.on_connection([1, 3], [Vantage::Middle, Vantage::Middle]);
        assert_eq!(hosts.vantages([1, 9]), None, "the others disagree");
    }
}
