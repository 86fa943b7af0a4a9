//! Changes of links while packets cross them: the one way in which a running network changes.
//!
//! `validate_change` (`topology/validate.rs`) says what may change; the `adopt` of a link, queue or
//! channel changes it.

use super::Simulation;
use crate::topology::{LinkSpec, NetworkError, validate_change};
use losscause::Span;

impl Simulation {
    /// From now on the links are as `links` says, in the order of
    /// [`Network::links`](crate::Network::links); what it says of a link that stays the same has no
    /// effect. Rate, delay, loss and the settings of a queue can change.
    ///
    /// A packet that is in transmission or on its way is not affected, and behind a DropTail queue
    /// neither is one that waits. A queue that is longer than its new limit shrinks as packets
    /// leave. No packet overtakes another where the delay becomes shorter. Equal networks, seeds
    /// and changes at equal instants give equal runs.
    ///
    /// Call it after [`Simulation::run_until`].
    ///
    /// # Errors
    /// A link is not valid, or differs in something else. Then no link has changed.
    pub fn change_links(&mut self, links: &[LinkSpec]) -> Result<(), NetworkError> {
        validate_change(&self.links, links)?;
        self.end_deferral();
        let changes = self
            .links
            .iter_mut()
            .zip(links)
            .enumerate()
            .filter(|(_, (before, after))| before != after);
        for (index, (before, after)) in changes {
            self.transit.links[index].adopt(after, self.seed);
            before.clone_from(after);
        }
        Ok(())
    }

    /// How late a sender may be follows from links that no longer stay the same.
    fn end_deferral(&mut self) {
        for &index in &self.deferred {
            self.flows[index].deferral = Span::ZERO;
        }
        self.send_all_deferred(self.now, &mut ());
        self.deferred.clear();
    }
}
