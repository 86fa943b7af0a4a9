//! Phase plot of the windows of two flows that share a path: Barman and Matta 2002, section 5,
//! figure 3.
//!
//! Feedback is synchronous (Chiu and Jain 1989): both windows grow every round trip, the one of
//! NewReno by 1 packet, the one of NewReno-FF by alpha. Where their sum reaches the efficiency
//! line, both flows see a congestion loss and halve. Every so many round trips the air takes a
//! packet of each: NewReno halves, NewReno-FF, whose labels are accurate, does not.
//!
//! ```text
//! increase    (w_1 + 1, w_2 + alpha)   parallel to the 45-degree line if alpha = 1: fairness w_1 / w_2 improves
//! congestion  (w_1 / 2, w_2 / 2)       towards the origin: fairness stays
//! wireless    (w_1 / 2, w_2)           away from fairness
//! ```
//!
//! Parameters: `capacity` (packets, above 0), `alpha` (packets per round trip, above 0),
//! `wireless_every` (round trips, 1 or more; 0: never), the windows at the start (packets).
//! Deviations: the paper gives no numbers; the state changes once per round trip, and a round trip
//! in which both kinds of loss fall counts as congestion.

use super::Inputs;

/// Two flows at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// NewReno's window, packets.
    pub newreno: f64,
    /// NewReno-FF's window, packets.
    pub flip_flop: f64,
}

/// What the path and the flows do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Packets that both windows together may have: the efficiency line.
    pub capacity: f64,
    /// NewReno-FF's additive increase, packets per round trip.
    pub alpha: f64,
    /// Round trips between two wireless losses; none if 0.
    pub wireless_every: u32,
}

impl Phase {
    /// The states of `rounds` round trips from `start` on, which is the first of them.
    pub fn trajectory(&self, start: State, rounds: u32) -> Vec<State> {
        let step = |state: &State, round: u32| {
            let grown =
                State { newreno: state.newreno + 1.0, flip_flop: state.flip_flop + self.alpha };
            if grown.newreno + grown.flip_flop >= self.capacity {
                State { newreno: grown.newreno / 2.0, flip_flop: grown.flip_flop / 2.0 }
            } else if self.wireless_every > 0 && round.is_multiple_of(self.wireless_every) {
                State { newreno: grown.newreno / 2.0, ..grown }
            } else {
                grown
            }
        };
        let later = (1..=rounds).scan(start, |state, round| {
            *state = step(state, round);
            Some(*state)
        });
        std::iter::once(start).chain(later).collect()
    }
}

impl State {
    /// The smaller window over the larger one: the paper's fairness, 1 at best.
    pub fn fairness(&self) -> f64 {
        self.newreno.min(self.flip_flop) / self.newreno.max(self.flip_flop)
    }
}

/// The state after `round` round trips.
fn state(inputs: &Inputs<'_>) -> Result<State, String> {
    let phase = Phase {
        capacity: inputs.number("capacity", 1.0, 1e6)?,
        alpha: inputs.number("alpha", 1e-3, 1e3)?,
        wireless_every: inputs.number("wireless_every", 0.0, 1e6)? as u32,
    };
    let start = State {
        newreno: inputs.number("start", 1.0, 1e6)?,
        flip_flop: inputs.number("start_FF", 1.0, 1e6)?,
    };
    let round = inputs.number("round", 0.0, 1e6)? as u32;
    Ok(*phase.trajectory(start, round).last().unwrap_or(&start))
}

/// NewReno's window after `round` round trips, packets.
///
/// # Errors
/// A parameter is missing or out of range.
pub fn newreno(inputs: &Inputs<'_>) -> Result<f64, String> {
    Ok(state(inputs)?.newreno)
}

/// NewReno-FF's.
///
/// # Errors
/// A parameter is missing or out of range.
pub fn flip_flop(inputs: &Inputs<'_>) -> Result<f64, String> {
    Ok(state(inputs)?.flip_flop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: State = State { newreno: 16.0, flip_flop: 4.0 };
    const FAIR: Phase = Phase { capacity: 24.0, alpha: 1.0, wireless_every: 0 };

    fn state(newreno: f64, flip_flop: f64) -> State {
        State { newreno, flip_flop }
    }

    #[test]
    fn the_trajectory_turns_at_the_efficiency_line() {
        // 16 + 4, 17 + 5, 18 + 6 = 24: halved.
        assert_eq!(
            FAIR.trajectory(START, 3),
            [START, state(17.0, 5.0), state(9.0, 3.0), state(10.0, 4.0)]
        );
    }

    #[test]
    fn a_wireless_loss_halves_newreno_alone_and_harms_fairness() {
        let phase = Phase { wireless_every: 2, capacity: 100.0, ..FAIR };
        let states = phase.trajectory(state(10.0, 10.0), 2);
        assert_eq!(states, [state(10.0, 10.0), state(11.0, 11.0), state(6.0, 12.0)]);
        assert!(states[2].fairness() < states[1].fairness());
    }

    #[test]
    fn increase_improves_fairness_and_congestion_leaves_it() {
        let states = FAIR.trajectory(START, 2);
        assert!(states[1].fairness() > states[0].fairness());
        // 9 : 3 is 18 : 6.
        assert_eq!(states[2].fairness(), 1.0 / 3.0);
    }

    #[test]
    fn windows_meet_without_wireless_losses_and_else_stay_bounded() {
        let end = |phase: Phase| *phase.trajectory(START, 1_000).last().unwrap();
        assert!(end(FAIR).fairness() > 0.999);
        let disturbed = Phase { wireless_every: 7, ..FAIR };
        let fairness: Vec<f64> =
            disturbed.trajectory(START, 1_000)[500..].iter().map(State::fairness).collect();
        assert!(fairness.iter().all(|f| *f > 0.25 && *f <= 1.0), "{fairness:?}");
        // A smaller increase of the flow that keeps its window brings the two closer.
        let mean = |phase: Phase| {
            phase.trajectory(START, 1_000).iter().map(State::fairness).sum::<f64>() / 1_001.0
        };
        assert!(mean(Phase { alpha: 0.8, ..disturbed }) > mean(disturbed));
    }
}
