//! PIE, proportional integral controller enhanced (RFC 8033).
//!
//! Packets are dropped at random when they come, with a probability p that is revised every
//! `t_update` from the delay of the packets that leave (section 4.2):
//!
//! ```text
//! p += scale(p) (alpha (delay - target) + beta (delay - delay at the last update))
//! p *= 0.98                                  both delays are 0
//! scale(p) = 1/2048, 1/512, 1/128, 1/32, 1/8, 1/2, 1     p below 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, from there on
//! ```
//!
//! From p = 10 % on one update adds at most 2 % (section 5.5). Nothing is dropped at random
//! (section 4.1)
//!
//! - while the burst allowance lasts: `max_burst` at first and whenever there was no congestion (p
//!   is 0 and both delays are below half the target), less `t_update` with every update (section
//!   4.4);
//! - while the delay at the last update was below half the target and p is below 20 %;
//! - while no more than two mean packets wait.
//!
//! With ECN a hit marks the packet while p is below 10 % and drops it from there on (section 5.1).
//!
//! | parameter | default | RFC 8033 |
//! |---|---|---|
//! | `target` | 15 ms | `QDELAY_REF`, 4.2 |
//! | `t_update` | 15 ms | `T_UPDATE`, 4.2 |
//! | `alpha`, `beta` | 0.125 and 1.25 per second | appendix A |
//! | `max_burst` | 150 ms | `MAX_BURST`, 4.4 |
//! | `mean_packet_bytes` | 1000 | `MEAN_PKTSIZE`, 4.1, without a value |
//!
//! Readings where the RFC leaves a choice:
//!
//! - The delay is measured by timestamps (section 4.3 allows this or a departure rate): that of the
//!   packet that left last, and 0 if it left the queue empty.
//! - p decays when both delays are 0, as in section 4.2 and appendix A. Appendix B, the pseudocode
//!   with the optional parts, has "below half the target".
//! - The burst allowance is renewed at updates. Section 4.4 renews it at arrivals, which is less
//!   than one `t_update` earlier.
//! - The first update is at time 0.
//!
//! Deviations: a limit in packets or bytes, which the RFC leaves to the implementer. Not here:
//! derandomization (5.4), turning PIE off when the queue is short (5.3).

use losscause::{Span, Time};

use super::timed::{Timed, Waiting};
use super::{Occupancy, QueueDiscipline, QueueHooks};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::topology::{PieSpec, QueueSpec};

/// Below this probability the delay alone may spare a packet.
const SPARED_BELOW: f64 = 0.2;
/// Below this probability a hit marks (with ECN).
const MARKS_BELOW: f64 = 0.1;
/// From this probability on ...
const CAPPED_FROM: f64 = 0.1;
/// ... one update adds at most this much.
const LARGEST_STEP: f64 = 0.02;
const DECAY: f64 = 0.98;

#[derive(Clone, Debug)]
pub(crate) struct Pie {
    packets: Timed,
    spec: PieSpec,
    controller: Controller,
    next_update: Time,
    stream: Stream,
}

/// The probability and what it follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Controller {
    probability: f64,
    delay: Span,
    /// The delay at the last update.
    delay_before: Span,
    burst_allowance: Span,
}

impl Pie {
    pub(super) fn new(spec: PieSpec, stream: Stream) -> Self {
        Self {
            packets: Timed::new(),
            controller: Controller::new(&spec),
            spec,
            next_update: Time::ZERO,
            stream,
        }
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        idle: bool,
        hooks: &mut dyn QueueHooks,
    ) -> bool {
        let found = self.occupancy();
        let fits = idle || self.spec.limit.leaves_room(found, packet.wire_bytes);
        let hit = fits && self.controller.may_drop(&self.spec, found.bytes) && {
            let probability = self.controller.probability;
            self.stream.uniform() < probability
        };
        let mut then = found;
        then.add(packet);
        let marks = self.spec.ecn && self.controller.probability < MARKS_BELOW;
        if !fits || (hit && !(marks && hooks.mark(now, packet, then))) {
            hooks.drop(now, packet, found);
            return false;
        }
        self.packets.push(now, packet);
        true
    }

    fn dequeue(&mut self, now: Time, _: &mut dyn QueueHooks) -> Option<Packet> {
        let Waiting { packet, since } = self.packets.pop()?;
        self.controller.delay =
            if self.occupancy().packets == 0 { Span::ZERO } else { now - since };
        Some(packet)
    }

    fn occupancy(&self) -> Occupancy {
        self.packets.occupancy()
    }

    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.packets.iter())
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_timer(&mut self, now: Time) {
        self.controller.update(&self.spec);
        self.next_update = now + self.spec.t_update;
    }

    fn adopt(&mut self, spec: &QueueSpec, _: Span) {
        if let QueueSpec::Pie(spec) = *spec {
            self.spec = spec;
        }
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

impl Controller {
    fn new(spec: &PieSpec) -> Self {
        Self {
            probability: 0.0,
            delay: Span::ZERO,
            delay_before: Span::ZERO,
            burst_allowance: spec.max_burst,
        }
    }

    /// Whether packets may be dropped at random while so many bytes wait.
    fn may_drop(&self, spec: &PieSpec, waiting_bytes: u64) -> bool {
        self.burst_allowance == Span::ZERO
            && !(self.delay_before * 2 < spec.target && self.probability < SPARED_BELOW)
            && waiting_bytes > 2 * u64::from(spec.mean_packet_bytes)
    }

    fn update(&mut self, spec: &PieSpec) {
        let error = (self.delay - spec.target).as_secs_f64();
        let growth = (self.delay - self.delay_before).as_secs_f64();
        let mut step = (spec.alpha * error + spec.beta * growth) * scale(self.probability);
        if self.probability >= CAPPED_FROM {
            step = step.min(LARGEST_STEP);
        }
        let mut probability = self.probability + step;
        if self.delay == Span::ZERO && self.delay_before == Span::ZERO {
            probability *= DECAY;
        }
        self.probability = probability.clamp(0.0, 1.0);
        let is_calm = |delay: Span| delay * 2 < spec.target;
        self.burst_allowance =
            if self.probability == 0.0 && is_calm(self.delay) && is_calm(self.delay_before) {
                spec.max_burst
            } else {
                (self.burst_allowance - spec.t_update).max(Span::ZERO)
            };
        self.delay_before = self.delay;
    }
}

/// The smaller the probability, the smaller its steps (section 4.2).
fn scale(probability: f64) -> f64 {
    const SCALES: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];
    SCALES
        .iter()
        .find(|&&(below, _)| probability < below)
        .map_or(1.0, |&(_, divisor)| 1.0 / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::queue::tests::{Log, waiting};
    use crate::topology::Limit;

    fn ms(ms: i64) -> Span {
        Span::from_millis(ms)
    }

    fn spec() -> PieSpec {
        PieSpec::new(Limit::Packets(100_000))
    }

    fn pie(spec: PieSpec) -> Pie {
        Pie::new(spec, Stream::new(1, "link/x/queue"))
    }

    /// The probability after one update from this one, with this delay and that of the update
    /// before.
    fn updated(probability: f64, delay: Span, delay_before: Span) -> f64 {
        let mut controller =
            Controller { probability, delay, delay_before, burst_allowance: Span::ZERO };
        controller.update(&spec());
        controller.probability
    }

    #[test]
    fn a_step_weighs_the_error_one_eighth_and_the_growth_ten() {
        // 35 ms after 15 ms: 0.125 * 0.02 + 1.25 * 0.02 = 0.0275.
        for (probability, divisor) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (0.005, 8.0), (0.05, 2.0)]
        {
            let expected = probability + 0.0275 / divisor;
            assert!(
                (updated(probability, ms(35), ms(15)) - expected).abs() < 1e-12,
                "{probability}"
            );
        }
        // Back to 15 ms from 35: -1.25 * 0.02.
        assert!((updated(0.3, ms(15), ms(35)) - 0.275).abs() < 1e-12);
    }

    #[test]
    fn from_ten_percent_on_a_step_up_is_at_most_two_percent() {
        assert!((updated(0.1, ms(35), ms(15)) - 0.12).abs() < 1e-12);
        assert!((updated(0.1, ms(500), ms(15)) - 0.12).abs() < 1e-12);
        assert!((updated(0.5, ms(0), ms(500)) - 0.0).abs() < 1e-12, "a step down is not limited");
    }

    #[test]
    fn an_empty_queue_lets_the_probability_decay() {
        // 0.5 - 0.125 * 0.015 = 0.498125, times 0.98.
        assert!((updated(0.5, ms(0), ms(0)) - 0.488_162_5).abs() < 1e-12);
        // Not while the delay before was above 0: 0.498125 - 1.25 * 0.001.
        assert!((updated(0.5, ms(0), ms(1)) - 0.496_875).abs() < 1e-12);
    }

    #[test]
    fn the_probability_stays_between_0_and_1() {
        assert_eq!(updated(0.99, ms(5000), ms(0)), 1.0);
        assert_eq!(updated(0.0, ms(0), ms(100)), 0.0);
    }

    #[test]
    fn a_burst_is_let_in_for_ten_updates_of_fifteen_milliseconds() {
        let mut controller = Controller::new(&spec());
        controller.delay = ms(100);
        for _ in 0..9 {
            controller.update(&spec());
            assert!(!controller.may_drop(&spec(), 1_000_000));
        }
        controller.update(&spec());
        assert!(controller.may_drop(&spec(), 1_000_000));
        // A delay of 7 ms, twice in a row, with p = 0: congestion is over.
        (controller.probability, controller.delay) = (0.0, ms(7));
        controller.update(&spec());
        assert_eq!(controller.burst_allowance, Span::ZERO);
        controller.update(&spec());
        assert_eq!(controller.burst_allowance, ms(150));
    }

    #[test]
    fn packets_are_spared_at_short_delays_or_while_two_wait() {
        let with = |probability, delay_before| Controller {
            probability,
            delay: ms(50),
            delay_before,
            burst_allowance: Span::ZERO,
        };
        assert!(!with(0.1, ms(7)).may_drop(&spec(), 10_000));
        assert!(with(0.1, ms(8)).may_drop(&spec(), 10_000), "half of the target is 7.5 ms");
        assert!(
            with(0.2, ms(7)).may_drop(&spec(), 10_000),
            "from 20 % on the delay spares no packet"
        );
        assert!(!with(0.2, ms(50)).may_drop(&spec(), 2000));
        assert!(with(0.2, ms(50)).may_drop(&spec(), 2001));
    }

    #[test]
    fn the_delay_is_of_the_last_packet_out_and_zero_when_empty() {
        let mut queue = pie(spec());
        let mut log = Log::default();
        for i in 0..2 {
            assert!(queue.enqueue(at(0), waiting(i, 1000), false, &mut log));
        }
        assert!(queue.dequeue(at(40), &mut log).is_some());
        assert_eq!(queue.controller.delay, ms(40));
        assert!(queue.dequeue(at(50), &mut log).is_some());
        assert_eq!(queue.controller.delay, Span::ZERO);
    }

    #[test]
    fn updates_are_fifteen_milliseconds_apart_from_0_on() {
        let mut queue = pie(spec());
        assert_eq!(queue.next_timer(), Some(at(0)));
        queue.on_timer(at(0));
        assert_eq!(queue.next_timer(), Some(at(15)));
    }

    /// A queue whose probability is this, and where nothing spares a packet.
    fn certain_to_decide(probability: f64, ecn: bool) -> Pie {
        let mut queue = pie(PieSpec { ecn, ..spec() });
        for i in 0..3 {
            assert!(queue.enqueue(at(0), waiting(i, 1000), false, &mut Log::default()));
        }
        queue.controller = Controller {
            probability,
            delay: ms(50),
            delay_before: ms(50),
            burst_allowance: Span::ZERO,
        };
        queue
    }

    #[test]
    fn packets_are_dropped_with_the_probability() {
        let mut queue = certain_to_decide(0.3, false);
        let mut log = Log::default();
        let n = 100_000;
        let taken =
            (0..n).filter(|&i| queue.enqueue(at(1), waiting(i, 1000), false, &mut log)).count();
        assert_eq!(log.dropped.len() + taken, n as usize);
        // Five standard errors.
        let error = (0.3_f64 * 0.7 / f64::from(n)).sqrt();
        assert!((log.dropped.len() as f64 / f64::from(n) - 0.3).abs() < 5.0 * error);
    }

    #[test]
    fn with_ecn_hits_mark_below_ten_percent_and_drop_from_there_on() {
        let hits = |probability, mut log: Log| {
            let mut queue = certain_to_decide(probability, true);
            for i in 0..1000 {
                queue.enqueue(at(1), waiting(i, 1000), false, &mut log);
            }
            (!log.marked.is_empty(), !log.dropped.is_empty())
        };
        assert_eq!(hits(0.099, Log::capable()), (true, false));
        assert_eq!(hits(0.1, Log::capable()), (false, true));
        assert_eq!(hits(0.099, Log::default()), (false, true), "what cannot be marked is dropped");
    }

    #[test]
    fn a_full_queue_drops_at_any_probability_an_idle_link_takes_all() {
        let mut queue = pie(PieSpec::new(Limit::Packets(1)));
        let mut log = Log::default();
        let come = |queue: &mut Pie, idle| {
            queue.enqueue(at(0), waiting(0, 1000), idle, &mut Log::default())
        };
        assert!(come(&mut queue, false));
        assert!(!come(&mut queue, false));
        assert!(queue.dequeue(at(0), &mut log).is_some());
        let mut none = pie(PieSpec::new(Limit::Packets(0)));
        assert!(come(&mut none, true));
    }
}
