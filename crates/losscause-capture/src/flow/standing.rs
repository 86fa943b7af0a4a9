//! When a queue stood in the way of a direction's data, and how fast the link emptied it.
//!
//! A packet that waited in queues at least as long as the time since the acknowledgement before its
//! own came to the link while the link was still busy with the packets before it. The link did not
//! rest in that time, so what was acknowledged in it, over its length, is the link's rate. If
//! others use the link too, it is what they leave.
//!
//! A *run* is a row of such acknowledgements whose packets were sent once, follow each other and
//! all arrived: what is missing may have used the link's time or not.
//!
//! Of a burst that one acknowledgement covers, the last packet waited for the others at least: a
//! run too, if a short one.

use losscause::{Span, Time};

use crate::judge::Least;
use crate::judge::Sample;

/// The times in which a queue stood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// The shortest round trips.
    base: Least,
    /// When the last acknowledgement came, and the end of the newest packet that it acknowledged.
    last: Option<(Time, u64)>,
    run: Run,
    /// The run's last acknowledgement if it was one of a single packet: the receiver may have
    /// waited for a second one that did not come (RFC 5681, section 4.2). That it came, the next
    /// acknowledgement shows.
    held: Run,
    long: Runs,
    /// Of few acknowledgements: windows of a few packets make no others.
    short: Runs,
}

/// Runs of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// Some of them, evenly over time.
    sample: Sample<Run>,
    /// All of them together.
    pub(crate) whole: Run,
}

/// What an acknowledgement says of data that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    /// Behind the newest packet that it acknowledges for the first time.
    pub(super) end: u64,
    /// All that it acknowledges for the first time.
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// The round-trip time of the newest packet, if it was sent once.
    pub(super) rtt: Option<Span>,
    /// When the first of them was sent.
    pub(super) first_sent: Option<Time>,
}

/// What passed the link while a queue stood.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// When its last acknowledgement came.
    pub(crate) ended: Time,
    pub(crate) lasted: Span,
    /// Payload.
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) acks: u32,
    /// The least that a packet of it waited.
    pub(crate) waited: Span,
    /// On a path that takes longer by more than this, some of its packets found the link idle.
    pub(crate) spare: Span,
}

/// Jitter that looks like a queue seldom does so for so many acknowledgements in a row. The first
/// window of a transfer, ten packets (RFC 6928), has them if every second packet is acknowledged.
const FEWEST_ACKS: u32 = 4;
/// What is sent within this part of the time that its last packet waits was sent at once.
const AT_ONCE: i64 = 16;

impl Standing {
    /// An acknowledgement of something new came.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, delivered: &Delivered) {
        let Delivered { end, bytes, packets, rtt, first_sent } = *delivered;
        let Some(rtt) = rtt else {
            self.last = None;
            return self.end_run();
        };
        self.base.take(rtt);
        let waited = self.base().map_or(Span::ZERO, |base| rtt - base);
        let is_burst = |first: Time| (now - rtt - first) * AT_ONCE <= waited;
        if packets > 1 && first_sent.is_some_and(is_burst) {
            let others = packets - 1;
            let bytes = bytes * others / packets;
            let spare = Span::ZERO;
            let packets = others;
            self.short.take(Run {
                ended: now,
                lasted: waited,
                bytes,
                packets,
                acks: 1,
                waited,
                spare,
            });
        }
        let before = self.last.replace((now, end));
        let Some((at, _)) =
            before.filter(|&(at, newest)| newest + bytes == end && waited >= now - at)
        else {
            return self.end_run();
        };
        let lasted = now - at;
        let spare = waited - lasted;
        let step = Run { ended: now, lasted, bytes, packets, acks: 1, waited, spare };
        let before = std::mem::take(&mut self.held);
        self.run.add(before);
        if packets == 1 {
            self.held = step;
        } else {
            self.run.add(step);
        }
        // A round trip is long enough for a rate, and short beside what changes a rate.
        if self.run.lasted >= rtt {
            self.keep_run();
        }
    }

    /// All of it, at the end of the flow.
    pub(super) fn finish(mut self) -> Self {
        self.end_run();
        self
    }

    /// The round trip through empty queues: the least that others support.
    pub(crate) fn base(&self) -> Option<Span> {
        self.base.supported()
    }

    /// The runs: of several acknowledgements, if there are such; else `true` and those of fewer.
    pub(crate) fn runs(&self) -> (&Runs, bool) {
        let is_short = self.long.some().is_empty();
        (if is_short { &self.short } else { &self.long }, is_short)
    }

    fn end_run(&mut self) {
        self.held = Run::default();
        self.keep_run();
    }

    fn keep_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let runs = if run.acks >= FEWEST_ACKS { &mut self.long } else { &mut self.short };
        runs.take(run);
    }
}

impl Runs {
    fn take(&mut self, run: Run) {
        if run.lasted > Span::ZERO {
            self.sample.push(run);
            self.whole.add(run);
        }
    }

    /// Some of them, evenly over time.
    pub(crate) fn some(&self) -> &[Run] {
        self.sample.kept()
    }
}

impl Run {
    pub(crate) fn add(&mut self, other: Self) {
        if self.acks == 0 {
            *self = other;
            return;
        }
        if other.acks == 0 {
            return;
        }
        self.ended = other.ended;
        self.waited = self.waited.min(other.waited);
        self.spare = self.spare.min(other.spare);
        self.lasted += other.lasted;
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.acks = self.acks.saturating_add(other.acks);
    }

    /// Its rate with headers, bits per second.
    pub(crate) fn rate_bps(&self, header_bytes: u64) -> f64 {
        8.0 * (self.bytes + header_bytes * self.packets) as f64 / self.lasted.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1,000 bytes, each acknowledged alone: the times when they were sent and
    /// acknowledged, milliseconds.
    fn standing(packets: &[(i64, i64)]) -> Standing {
        let mut standing = Standing::default();
        for (number, &(sent, acked)) in (1..).zip(packets) {
            let rtt = Some(Span::from_millis(acked - sent));
            let delivered =
                Delivered { end: 1_000 * number, bytes: 1_000, packets: 1, rtt, first_sent: None };
            standing.on_ack(Time::ZERO + Span::from_millis(acked), &delivered);
        }
        standing.finish()
    }

    #[test]
    fn packets_that_wait_for_each_other_show_the_links_rate() {
        // Ten at once over a link that takes 2 ms for each, and 40 ms there and back.
        let standing = standing(&(0..10).map(|k| (0, 42 + 2 * k)).collect::<Vec<_>>());
        let [run] = standing.runs().0.some() else { panic!("{standing:?}") };
        assert_eq!((run.lasted, run.bytes), (Span::from_millis(16), 8_000));
        assert_eq!(standing.base(), Some(Span::from_millis(42)));
    }

    #[test]
    fn packets_that_find_the_link_idle_show_nothing() {
        let standing = standing(&(0..50).map(|k| (10 * k, 10 * k + 42)).collect::<Vec<_>>());
        assert_eq!(standing.runs().0.some(), []);
    }

    #[test]
    fn a_delayed_acknowledgement_at_the_end_of_a_burst_is_no_rate() {
        let burst = (0..10).map(|k| (0, 42 + 2 * k)).chain([(0, 102)]);
        let standing = standing(&burst.collect::<Vec<_>>());
        let [run] = standing.runs().0.some() else { panic!("{standing:?}") };
        assert_eq!((run.lasted, run.bytes), (Span::from_millis(18), 9_000));
    }

    #[test]
    fn the_last_packet_of_a_burst_waits_for_the_others() {
        let mut standing = Standing::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let single = Delivered {
            end: 1_000,
            bytes: 1_000,
            packets: 1,
            rtt: Some(Span::from_millis(42)),
            first_sent: Some(at(0)),
        };
        standing.on_ack(at(42), &single);
        let three = Delivered {
            end: 4_000,
            bytes: 3_000,
            packets: 3,
            rtt: Some(Span::from_millis(46)),
            first_sent: Some(at(100)),
        };
        standing.on_ack(at(146), &three);
        let (runs, is_short) = standing.runs();
        assert!(is_short);
        let [run] = runs.some() else { panic!("{runs:?}") };
        assert_eq!((run.lasted, run.waited), (Span::from_millis(4), Span::from_millis(4)));
        assert_eq!((run.bytes, run.packets, run.acks), (2_000, 2, 1));
    }

    #[test]
    fn a_missing_packet_ends_a_run() {
        let mut standing = Standing::default();
        for number in (1..=20).filter(|number| number % 4 != 0) {
            let rtt = Some(Span::from_millis(40 + 2 * number));
            let delivered = Delivered {
                end: 1_000 * number as u64,
                bytes: 1_000,
                packets: 1,
                rtt,
                first_sent: None,
            };
            standing.on_ack(Time::ZERO + Span::from_millis(40 + 2 * number), &delivered);
        }
        let standing = standing.finish();
        let (runs, is_short) = standing.runs();
        assert!(is_short && runs.some().iter().all(|run| run.packets == 1), "{standing:?}");
    }
}
