use losscause::diagnosis::Unknown;

use super::*;

const MSS: u32 = 1_448;

fn at(us: i64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// A sender of a packet per ms to a peer whose round trip takes `rtt_ms` in that ms. Packets are
/// lost that `is_lost`, are missed when the next one arrives, and sent again then.
struct Sender {
    connection: Connection,
    path: Path,
    /// Sequence numbers wrap after two seconds.
    first: u32,
    delivered: u32,
}

impl Sender {
    fn new() -> Self {
        let ends = Ends {
            netns: 1,
            local: "192.0.2.1:80".parse().expect("an address"),
            remote: "192.0.2.2:4000".parse().expect("an address"),
        };
        Self {
            connection: Connection::new(ends, "cubic".to_owned(), 1, Time::ZERO),
            path: Path::new(Time::ZERO),
            first: u32::MAX - 2_000 * MSS,
            delivered: 0,
        }
    }

    fn seq(&self, packet: i64) -> u32 {
        self.first.wrapping_add(packet as u32 * MSS)
    }

    fn state(packet: i64) -> State {
        State { mss: MSS, header: 32, sent: packet as u32, ..State::default() }
    }

    /// The acknowledgement of this packet, at the same ms, `rtt_ms` after it was sent.
    fn acknowledge(&mut self, packet: i64, rtt_ms: i64, dsacks: u32) {
        self.delivered += 1;
        let now = 1_000 * packet;
        let sample = Sample {
            at: at(now),
            since: at(now),
            rtt: Some(Span::from_millis(rtt_ms)),
            sent_at: at(now - 1_000 * rtt_ms),
            sent_end: self.seq(packet + 1),
            next: self.seq(packet + 1 + rtt_ms),
            next_before: 0,
            una: self.seq(packet + 1),
            delivered: self.delivered,
            newly: 1,
            flight: rtt_ms as u32,
            sacked: 0,
            dsacks,
        };
        self.connection.on_samples(Self::state(packet), &[sample], &mut self.path);
    }

    /// The next packet shows that this one is missing, and it is sent again.
    fn lose(&mut self, packet: i64, rtt_ms: i64) {
        self.delivered += 1;
        let now = 1_000 * (packet + 1);
        let sample = Sample {
            at: at(now),
            since: at(now),
            rtt: Some(Span::from_millis(rtt_ms)),
            sent_at: at(now - 1_000 * rtt_ms),
            sent_end: self.seq(packet + 2),
            next: self.seq(packet + 1 + rtt_ms),
            next_before: 0,
            una: self.seq(packet),
            delivered: self.delivered,
            newly: 1,
            flight: rtt_ms as u32,
            sacked: 1,
            dsacks: 0,
        };
        self.connection.on_samples(Self::state(packet), &[sample], &mut self.path);
        let data = [self.seq(packet), self.seq(packet + 1)];
        self.connection.on_again(at(now + 10), data, rtt_ms as u32, &mut self.path);
    }

    fn diagnosis(&mut self) -> Diagnosis {
        self.connection.commit_all(&mut self.path);
        self.connection.judge(&mut self.path, true);
        *self.connection.diagnosis.clone().expect("it lost packets")
    }
}

#[test]
fn a_queue_that_overflows_once_a_second_is_told_as_from_a_capture() {
    let mut sender = Sender::new();
    for ms in 1..60_000 {
        let rtt_ms = 20 + ms % 1_000 / 20;
        match ms % 1_000 {
            998 => sender.lose(ms, rtt_ms),
            999 => {}
            _ => sender.acknowledge(ms, rtt_ms, 0),
        }
    }
    let diagnosis = sender.diagnosis();
    assert_eq!((diagnosis.cause, diagnosis.certainty), (Cause::FullQueue, Certainty::Clear));
    let counts = sender.connection.counts;
    assert_eq!((counts.lost, counts.by_timer, counts.spurious), (60, 0, 0));
    assert!(counts.sent_pkts > 59_000, "{counts:?}");
    // Packet 998 of a second left before the next one, whose round trip was 69 ms. It is sent again
    // 10 us after the acknowledgement at 999 ms.
    assert_eq!(counts.repair, Span::from_micros(69_010) * 60);
    // A packet per ms, of 1,500 bytes.
    let path = sender.connection.path_rate().expect("a queue stood");
    assert!((11_800_000..12_300_000).contains(&path.rate_bps), "{path:?}");
    assert_eq!(path.round_trip, Span::from_millis(20));
}

#[test]
fn what_was_sent_after_an_acknowledgement_without_a_sample_is_of_its_time() {
    let mut sender = Sender::new();
    sender.acknowledge(1, 20, 0);
    sender.acknowledge(43, 20, 0);
    assert_eq!(sender.connection.sent.last_at(), Some(at(43_000)));
    // At 43.5 ms an acknowledgement came that is no sample.
    let mut sample = Sample {
        at: at(44_000),
        since: at(43_500),
        sent_at: at(24_000),
        sent_end: sender.seq(45),
        next: sender.seq(65),
        next_before: sender.seq(65),
        una: sender.seq(45),
        delivered: sender.delivered + 2,
        newly: 1,
        flight: 20,
        ..Sample::default()
    };
    sender.connection.on_samples(Sender::state(44), &[sample], &mut sender.path);
    assert_eq!(sender.connection.sent.last_at(), Some(at(43_500)));
    // One packet, in order, 40 ms after the last sample: the receiver may have held it back.
    sample.at = at(84_000);
    assert!(sender.connection.may_be_held_back(sample.at, &sample));
    // For two packets it did not.
    sample.newly = 2;
    assert!(!sender.connection.may_be_held_back(sample.at, &sample));
}

#[test]
fn more_than_a_flight_between_samples_leaves_the_flight_as_it_was() {
    let mut sender = Sender::new();
    sender.acknowledge(1, 20, 0);
    sender.acknowledge(2, 20, 0);
    // 100 packets are sent until the next sample, of which 20 are in flight.
    let sample = Sample {
        at: at(3_000),
        since: at(3_000),
        sent_at: at(2_500),
        sent_end: sender.seq(82),
        next: sender.seq(122),
        una: sender.seq(60),
        delivered: 80,
        newly: 1,
        flight: 20,
        sacked: 1,
        ..Sample::default()
    };
    sender.connection.on_samples(Sender::state(3), &[sample], &mut sender.path);
    let data = [sender.seq(60), sender.seq(61)];
    sender.connection.on_again(at(3_010), data, 20, &mut sender.path);
    let lost = sender.connection.waiting.back().expect("a packet").packet;
    // It left before a later one that has arrived.
    assert_eq!((lost.at, lost.flight_pkts), (at(2_500), Some(21)));
}

#[test]
fn a_packet_that_came_twice_was_not_lost() {
    let mut sender = Sender::new();
    (1..500).for_each(|ms| sender.acknowledge(ms, 20, 0));
    sender.lose(500, 20);
    sender.acknowledge(502, 20, 0);
    // Too soon to be about the copy.
    assert_eq!(sender.connection.counts.spurious, 0);
    (503..600).for_each(|ms| sender.acknowledge(ms, 20, u32::from(ms > 525)));
    let counts = sender.connection.counts;
    assert_eq!((counts.lost, counts.spurious), (0, 1));
    assert_eq!(sender.connection.diagnosis, None);
}

#[test]
fn what_only_a_timer_sends_again_is_an_outage_after_three_tries() {
    let mut sender = Sender::new();
    (1..500).for_each(|ms| sender.acknowledge(ms, 20, 0));
    let (start, end) = (sender.seq(500), sender.seq(501));
    for tries in 1..=4_i64 {
        let now = at(500_000 + 200_000 * (1 << tries));
        sender.connection.on_again(now, [start, end], 1, &mut sender.path);
        let diagnosis = sender.diagnosis();
        match tries {
            1 | 2 => assert_eq!(diagnosis.cause, Cause::NotShown(Unknown::OnlyTimers)),
            _ => assert_eq!(diagnosis.cause, Cause::Outage, "{tries} tries"),
        }
    }
    assert_eq!(sender.connection.counts.by_timer, 4);
}

#[test]
fn numbers_are_unwrapped_around_the_reference() {
    let reference = (3_u64 << 32) + 5;
    assert_eq!(unwrapped(reference, 7), (3 << 32) + 7);
    assert_eq!(unwrapped(reference, u32::MAX), (3 << 32) - 1);
    assert_eq!(unwrapped((3 << 32) - 1, 0), 3 << 32);
}
