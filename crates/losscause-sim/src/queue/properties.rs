//! Properties of every managed queue, for arbitrary arrivals.

use std::collections::BTreeMap;

use losscause::{Span, Time};
use proptest::prelude::*;

use super::tests::{Log, waiting};
use super::*;
use crate::topology::{CoDelSpec, FqCoDelSpec, PieSpec, RedSpec};

#[derive(Clone, Debug)]
enum Step {
    /// So many packets of this size come, one of each flow after the other.
    Come { packets: u32, bytes: u32 },
    /// The transmitter asks so often, so many microseconds apart.
    Go { packets: u32, apart_micros: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1_u32..40, 40_u32..2000).prop_map(|(packets, bytes)| Step::Come { packets, bytes }),
        (1_u32..40, 0_i64..40_000)
            .prop_map(|(packets, apart_micros)| Step::Go { packets, apart_micros }),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(0_u32..200).prop_map(Limit::Packets), (0_u64..200_000).prop_map(Limit::Bytes)]
}

fn spec() -> impl Strategy<Value = QueueSpec> {
    (limit(), any::<bool>(), 0_usize..5, 1_u32..5, 1_u32..3000).prop_map(
        |(limit, ecn, which, queues, quantum_bytes)| {
            let codel = CoDelSpec { ecn, ..CoDelSpec::new(limit) };
            match which {
                0 => QueueSpec::StepMark { limit, mark_from_pkts: 3 },
                1 => QueueSpec::Red(RedSpec { ecn, w_q: 0.5, ..RedSpec::new(limit) }),
                2 => QueueSpec::CoDel(codel),
                3 => QueueSpec::FqCoDel(FqCoDelSpec { codel, quantum_bytes, queues }),
                _ => QueueSpec::Pie(PieSpec { ecn, ..PieSpec::new(limit) }),
            }
        },
    )
}

/// A queue between its packets' arrivals and departures, and the time.
struct Harness {
    queue: Box<dyn QueueDiscipline>,
    now: Time,
    log: Log,
    came: u32,
    sent: Vec<u32>,
}

impl Harness {
    fn new(spec: &QueueSpec) -> Self {
        let queue = managed(spec, Span::from_millis(1), Stream::new(7, "link/x/queue")).unwrap();
        Self { queue, now: Time::ZERO, log: Log::capable(), came: 0, sent: vec![] }
    }

    fn advance(&mut self, by: Span) {
        self.now += by;
        while let Some(expires) = self.queue.next_timer().filter(|&expires| expires <= self.now) {
            self.queue.on_timer(expires);
        }
    }

    fn come(&mut self, bytes: u32) {
        let dropped = self.log.dropped.len();
        let taken = self.queue.enqueue(self.now, waiting(self.came, bytes), false, &mut self.log);
        let itself = self.log.dropped[dropped..].iter().any(|&(_, number)| number == self.came);
        assert_eq!(taken, !itself, "refused and dropped are one");
        self.came += 1;
    }

    fn go(&mut self) {
        let waited = self.queue.occupancy().packets > 0;
        let sent = self.queue.dequeue(self.now, &mut self.log);
        assert_eq!(sent.is_some(), waited, "the transmitter never stands still while packets wait");
        self.sent.extend(sent.map(Packet::number));
    }

    /// What waits is what came and neither left nor was dropped.
    fn check(&self) {
        let mut waiting: Vec<u32> = self.queue.packets().map(|packet| packet.number()).collect();
        let occupancy = self.queue.occupancy();
        assert_eq!(occupancy.packets as usize, waiting.len());
        assert_eq!(
            occupancy.bytes,
            self.queue.packets().map(|packet| u64::from(packet.wire_bytes)).sum::<u64>()
        );
        waiting.extend(&self.sent);
        waiting.extend(self.log.dropped.iter().map(|(_, number)| number));
        waiting.sort_unstable();
        assert!(waiting.into_iter().eq(0..self.came), "each packet is in one place");
    }
}

proptest! {
    #[test]
    fn no_packet_is_lost_or_twice_and_each_flow_stays_in_order(
        spec in spec(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut harness = Harness::new(&spec);
        for step in steps {
            match step {
                Step::Come { packets, bytes } => (0..packets).for_each(|_| harness.come(bytes)),
                Step::Go { packets, apart_micros } => {
                    for _ in 0..packets {
                        harness.advance(Span::from_micros(apart_micros));
                        harness.go();
                    }
                }
            }
            harness.check();
        }
        // Log's flows are numbers modulo ten.
        let mut last = BTreeMap::new();
        for number in harness.sent {
            let before = last.insert(number % 10, number);
            prop_assert!(before.is_none_or(|before| before < number));
        }
    }

    #[test]
    fn fq_codel_serves_a_flow_that_comes_alone_next_whatever_waits(
        backlogs in prop::collection::vec((0_u32..9, 40_u32..1515), 1..200),
        served in 0_usize..200,
    ) {
        // Sub-queues enough that flow 9 has its own: checked, not assumed.
        let spec = FqCoDelSpec::new(Limit::Packets(100_000));
        let own = FqCoDel::new(spec, Stream::new(7, "link/x/queue"));
        prop_assert!((0..9).all(|flow| own.queue_of(flow) != own.queue_of(9)));
        let mut queue = managed(&QueueSpec::FqCoDel(spec), Span::ZERO, Stream::new(7, "link/x/queue")).unwrap();
        let mut log = Log::default();
        for (i, &(flow, bytes)) in (0..).zip(&backlogs) {
            queue.enqueue(Time::ZERO, waiting(10 * i + flow, bytes), false, &mut log);
        }
        // Served until no sub-queue is new: each has had its first quantum.
        let first_round = served.max(backlogs.iter().map(|&(flow, _)| flow).max().map_or(0, |flow| 40 * (flow as usize + 1)));
        for _ in 0..first_round {
            queue.dequeue(Time::ZERO, &mut log);
        }
        queue.enqueue(Time::ZERO, waiting(9, 1500), false, &mut log);
        prop_assert_eq!(queue.dequeue(Time::ZERO, &mut log).map(Packet::number), Some(9));
    }
}
