//! Independent errors: every slot is bad with probability `loss`, one draw per slot.
//!
//! Parameters: `loss`, 0 to 1, no default. Deviations: none.

use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(super) struct Bernoulli {
    loss: f64,
    stream: Stream,
}

impl Bernoulli {
    pub(super) fn new(loss: f64, stream: Stream) -> Self {
        Self { loss, stream }
    }

    pub(super) fn adopt(&mut self, loss: f64) {
        self.loss = loss;
    }

    #[inline]
    pub(super) fn next_slot(&mut self) -> bool {
        self.stream.uniform() < self.loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_bad_slots_is_the_loss() {
        let slots = 200_000;
        for loss in [0.0, 0.001, 0.078, 0.5, 1.0] {
            let mut channel = Bernoulli::new(loss, Stream::new(3, "air"));
            let bad = (0..slots).filter(|_| channel.next_slot()).count() as f64 / f64::from(slots);
            let standard_error = (loss * (1.0 - loss) / f64::from(slots)).sqrt();
            assert!((bad - loss).abs() <= 5.0 * standard_error, "{loss}: {bad}");
        }
    }
}
