//! A policer: a token bucket that drops what exceeds a rate, in front of a plain queue.
//!
//! The bucket holds up to `burst_bytes` and fills at `rate_bps`. If it holds the size of an
//! arriving packet in tokens, the packet takes them and enters the queue. Otherwise it is dropped,
//! even if the queue is empty. This is RFC 2697's meter with one bucket. Flach and others ("An
//! Internet-Wide Analysis of Traffic Policing", 2016) found policers on a few per cent of paths.
//! Packets are lost to congestion without any delay before, so no delay-based rule can see it.
//!
//! Deviations: none. The bucket is full at the start.

use losscause::{Span, Time};

use super::QueueHooks;
use super::bounded::{Admission, Bounded, Entering};
use crate::topology::{PolicerSpec, QueueSpec};

#[derive(Clone, Debug)]
pub(super) struct Policer {
    spec: PolicerSpec,
    /// In nanobits: bits times 10^9, which is what one bit per second gives in a nanosecond.
    tokens: u128,
    filled_at: Time,
}

const NANOBITS_PER_BYTE: u128 = 8 * 1_000_000_000;

impl Policer {
    pub(super) fn queue(spec: PolicerSpec) -> Bounded<Self> {
        let tokens = u128::from(spec.burst_bytes) * NANOBITS_PER_BYTE;
        Bounded::new(spec.limit, Self { spec, tokens, filled_at: Time::ZERO })
    }

    /// Takes tokens for a packet if there are enough.
    fn conforms(&mut self, now: Time, wire_bytes: u32) -> bool {
        let elapsed_nanos = (now - self.filled_at).as_nanos().max(0) as u128;
        let full = u128::from(self.spec.burst_bytes) * NANOBITS_PER_BYTE;
        self.tokens = full.min(self.tokens + u128::from(self.spec.rate_bps) * elapsed_nanos);
        self.filled_at = now;
        let needed = u128::from(wire_bytes) * NANOBITS_PER_BYTE;
        if needed > self.tokens {
            return false;
        }
        self.tokens -= needed;
        true
    }
}

impl Admission for Policer {
    fn admits(&mut self, entering: &Entering, _: &mut dyn QueueHooks) -> bool {
        self.conforms(entering.now, entering.packet.wire_bytes) && entering.fits
    }

    fn adopt(&mut self, spec: &QueueSpec, _: Span) {
        if let QueueSpec::Policer(spec) = *spec {
            self.spec = spec;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueDiscipline;
    use crate::queue::tests::{Log, waiting};
    use crate::topology::Limit;

    /// 1 Mb/s: 125 bytes per millisecond; a burst of 3000 bytes.
    fn policer(limit: u32) -> Bounded<Policer> {
        Policer::queue(PolicerSpec {
            rate_bps: 1_000_000,
            burst_bytes: 3000,
            limit: Limit::Packets(limit),
        })
    }

    fn passes(policer: &mut Bounded<Policer>, log: &mut Log, ms: i64, bytes: u32) -> bool {
        policer.enqueue(Time::ZERO + Span::from_millis(ms), waiting(0, bytes), false, log)
    }

    #[test]
    fn a_burst_passes_and_then_packets_at_the_rate() {
        let mut policer = policer(100);
        let mut log = Log::default();
        assert_eq!([(); 3].map(|()| passes(&mut policer, &mut log, 0, 1500)), [true, true, false]);
        // 1500 bytes take 12 ms; what was dropped took no tokens.
        assert!(!passes(&mut policer, &mut log, 11, 1500));
        assert!(passes(&mut policer, &mut log, 12, 1500));
        assert!(!passes(&mut policer, &mut log, 13, 126));
        assert!(passes(&mut policer, &mut log, 13, 125));
        assert_eq!(log.dropped_at_ms(), [0, 11, 13]);
    }

    #[test]
    fn the_bucket_never_holds_more_than_the_burst() {
        let mut policer = policer(100);
        let mut log = Log::default();
        assert_eq!(
            [(); 3].map(|()| passes(&mut policer, &mut log, 1_000_000, 1500)),
            [true, true, false]
        );
        assert!(!passes(&mut policer, &mut log, 2_000_000, 3001), "larger than the bucket");
    }

    #[test]
    fn a_packet_for_which_the_queue_has_no_room_takes_its_tokens() {
        let mut policer = policer(1);
        let mut log = Log::default();
        let burst = [(); 3].map(|()| passes(&mut policer, &mut log, 0, 1000));
        assert_eq!(burst, [true, false, false]);
        assert!(policer.dequeue(Time::ZERO, &mut log).is_some());
        // The bucket is empty, and 1000 bytes take 8 ms.
        assert!(!passes(&mut policer, &mut log, 7, 1000));
        assert!(passes(&mut policer, &mut log, 8, 1000));
    }

    #[test]
    fn a_full_queue_drops_what_conforms() {
        let mut policer = policer(1);
        let mut log = Log::default();
        assert_eq!([(); 2].map(|()| passes(&mut policer, &mut log, 0, 1000)), [true, false]);
    }
}
