//! Cuts that no loss justified are taken back (RFC 3522, RFC 3708, RFC 4015); `undo.rs` knows them.

use losscause::Algorithm;

use super::Linux;
use super::alert::State;
use crate::tcp::segment::Ack;

impl<L: Algorithm> Linux<L> {
    /// Everything sent before recovery or timeout is acknowledged. Returns whether the cut is
    /// undone.
    pub(super) fn try_undo_at_end(&mut self, ack: &Ack) -> bool {
        let needless = self.is_needless(ack);
        if needless {
            self.restore(false);
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

    /// Undoes a recovery whose first retransmission was needless. Returns whether the ACK is dealt
    /// with.
    pub(super) fn undoes_partly(&mut self, ack: &Ack) -> bool {
        if !self.undo.by_timestamp(ack.echo) {
            return false;
        }
        if self.packets.resent() > 0 {
            return true;
        }
        self.undo.on_repaired();
        self.restore(true);
        self.keep_open();
        false
    }

    pub(super) fn undo_duplicated(&mut self) {
        self.rack.on_needless();
        self.restore(false);
    }

    /// Undoes the cut; with `unlose` nothing counts as lost any more.
    pub(super) fn restore(&mut self, unlose: bool) {
        if unlose {
            self.packets.unlose();
        }
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.cwnd.restore(f64::from(cwnd), f64::from(ssthresh));
        }
        self.rack.on_undo();
    }
}
