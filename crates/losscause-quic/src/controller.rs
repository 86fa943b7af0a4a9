//! The controller: the stack's calls go to the base controller, except for losses that the algorithm
//! takes for wireless. As [`base`](super::base), compiled for each stack; what the stack calls stands
//! in its `calls`.

use std::fmt;
use std::time::Instant;

use losscause::ack::Growing;
use losscause::{Algorithm, AnyAlgorithm, SenderDifferentiator};

use super::base::BaseController;
use super::calls::Own;
use crate::{Ack, Caps, Choice, Counts, LossVerdict, Losses};

/// The stack's controller with an algorithm in front; built by [`LossTolerant`](super::LossTolerant).
#[derive(Clone)]
pub struct LossTolerantController {
    pub(super) base: BaseController,
    pub(super) sender: SenderDifferentiator<AnyAlgorithm, Growing>,
    needs_cwnd: bool,
    /// Clocks, and what only this stack needs.
    pub(super) own: Own,
    pub(super) mtu: u16,
    /// Packets of the current ACK.
    pub(super) acked: u32,
    pub(super) losses: Losses<BaseController>,
}

impl LossTolerantController {
    /// How many verdicts [`LossTolerantController::last_verdicts`] keeps.
    pub const LAST_VERDICTS: usize = Losses::<BaseController>::LAST_VERDICTS;

    pub(crate) fn new(
        base: BaseController,
        choice: &Choice,
        clock_zero: Instant,
        mtu: u16,
    ) -> Self {
        let (sender, losses) = choice.build();
        let mut controller = Self {
            base,
            needs_cwnd: sender.algorithm().needs().cwnd,
            sender,
            own: Own::from(clock_zero),
            mtu,
            acked: 0,
            losses,
        };
        controller.tell_cwnd();
        controller
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.losses.counts()
    }

    /// The last verdicts, the oldest first.
    pub fn last_verdicts(&self) -> impl Iterator<Item = &LossVerdict> {
        self.losses.last_verdicts()
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.losses.caps()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &AnyAlgorithm {
        self.sender.algorithm()
    }

    /// The controller's number among the factory's, as in [`LossVerdict::connection`].
    pub fn connection(&self) -> u64 {
        self.losses.connection()
    }

    pub(super) fn tell_cwnd(&mut self) {
        if self.needs_cwnd {
            self.sender
                .set_cwnd(self.losses.window(&self.base) as f64 / f64::from(self.mtu.max(1)));
        }
    }

    /// The end of an ACK with this largest number, if that is known.
    pub(super) fn end_of_ack(&mut self, now: Instant, largest: Option<u64>) {
        let ack =
            Ack { at: self.own.clock.time(now), pkts: std::mem::take(&mut self.acked), largest };
        if self.losses.end_of_ack(&mut self.sender, &mut self.base, ack) {
            self.base.on_mtu_update(self.mtu);
        }
        self.tell_cwnd();
    }
}

impl fmt::Debug for LossTolerantController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerantController")
            .field("base", &self.base)
            .field("algorithm", &self.algorithm().name())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
