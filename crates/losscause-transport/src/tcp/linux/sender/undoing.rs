//! Cuts that no loss justified are taken back (RFC 3522, RFC 3708, RFC 4015); `undo.rs` knows them.
//! The losses are taken back at the algorithm too.

use losscause::{Algorithm, Observer};

use super::Linux;
use super::alert::State;
use crate::tcp::segment::Ack;

impl<L: Algorithm> Linux<L> {
    /// Everything sent before recovery or timeout is acknowledged. Returns whether the cut is
    /// undone.
    pub(super) fn try_undo_at_end(&mut self, ack: &Ack, observer: &mut impl Observer) -> bool {
        let needless = self.is_needless(ack);
        if needless {
            self.restore(false, observer);
        } else {
            self.rack.on_recovered();
        }
        self.state = State::Open;
        needless
    }

    /// Whether no loss justified the cut.
    pub(super) fn is_needless(&self, ack: &Ack) -> bool {
        self.undo.by_duplicates() || self.undo.by_timestamp(ack.echo)
    }

    /// Undoes a recovery whose first retransmission was needless: the packet was late. Returns
    /// whether the ACK is dealt with.
    pub(super) fn undoes_partly(&mut self, ack: &Ack, observer: &mut impl Observer) -> bool {
        if !self.undo.by_timestamp(ack.echo) {
            return false;
        }
        self.rack.on_reordering();
        if self.packets.resent() > 0 {
            return true;
        }
        if !self.has_resent() {
            self.undo.on_repaired();
        }
        self.restore(true, observer);
        self.keep_open();
        false
    }

    pub(super) fn undo_duplicated(&mut self, observer: &mut impl Observer) {
        self.rack.on_needless();
        self.restore(false, observer);
    }

    /// Undoes the cut; with `unlose` nothing counts as lost any more.
    pub(super) fn restore(&mut self, unlose: bool, observer: &mut impl Observer) {
        if unlose {
            self.packets.unlose();
        }
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.control.on_undo();
            let cwnd = if self.control.follows_rate() { 1 } else { cwnd };
            self.cwnd.restore(f64::from(cwnd), f64::from(ssthresh));
        }
        for numbers in self.told.drain(..) {
            self.lda.take_back(numbers);
            observer.on_taken_back(numbers);
        }
        self.stats.undone += 1;
        self.rack.on_undo();
    }
}
