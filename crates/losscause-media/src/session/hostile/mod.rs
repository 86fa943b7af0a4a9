//! What forgers without the key, and liars with it, achieve: both ends over a path of constant
//! delay on which a test may drop, copy, change and add packets.

mod path;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use losscause::{Span, Time};
use proptest::prelude::*;

use super::*;
use crate::Key;
use crate::auth::{StreamKeys, Tagger};
use crate::wire::control::{Control, Reason};
use crate::wire::feedback::{Feedback, micros};
use crate::wire::{TAG_BYTES, rtp};
use path::{DELAY, PACKET_BYTES, Path, To, at, elsewhere, honest, key, sender_address};

/// Lies with the key: learns the stream's keys from the handshake and rewrites every report.
struct Liar<F> {
    keys: Option<StreamKeys>,
    lie: F,
}

impl<F: FnMut(&mut Feedback)> Liar<F> {
    fn new(lie: F) -> Self {
        Self { keys: None, lie }
    }

    fn pass(&mut self, to: To, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let Some((ssrc, number, control)) = Control::parse(&bytes[..bytes.len() - TAG_BYTES])
        else {
            return vec![bytes];
        };
        match control {
            Control::Challenge { nonce, cookie } => self.keys = Some(key().stream(&nonce, &cookie)),
            Control::Feedback(mut report) if to == To::Sender => {
                (self.lie)(&mut report);
                let mut lie = Vec::new();
                Control::Feedback(report).write(ssrc, number, &mut lie);
                self.keys.as_ref().unwrap().back.seal(&mut lie);
                return vec![lie];
            }
            _ => {}
        }
        vec![bytes]
    }
}

/// When each packet was sent, the statistics after `secs` and the most packets in a second, with
/// every report rewritten; one data packet in `loses` is lost.
fn lied_to(
    max_rate_bps: u64,
    secs: i64,
    loses: u64,
    lie: impl FnMut(&mut Feedback),
) -> (Vec<Time>, SenderStats, usize) {
    let mut liar = Liar::new(lie);
    let mut path = Path::new(max_rate_bps, |_, to, bytes| {
        let parsed = (to == To::Receiver && bytes[1] < 192).then(|| rtp::parse(&bytes)).flatten();
        match parsed {
            Some((header, _)) if loses > 0 && header.seq % loses == loses - 1 => Vec::new(),
            _ => liar.pass(to, bytes),
        }
    });
    path.run_until(at(1000 * secs));
    let most = path.most_in_a_second();
    (path.sent, path.sender.stats(), most)
}

#[test]
fn an_absurd_receive_rate_gains_nothing_over_an_honest_one() {
    let (honest, stats, _) = lied_to(50_000_000, 3, 0, |_| {});
    assert_eq!((stats.capped_reports, stats.contradicting_reports), (0, 0));
    let (lied, stats, _) = lied_to(50_000_000, 3, 0, |report| report.receive_rate = u32::MAX);
    assert!(stats.capped_reports > 10, "{stats:?}");
    // After half a second the rate still doubles; in the end both have the largest rate.
    for ms in [500, 3000] {
        let [honest, lied] =
            [&honest, &lied].map(|sent| sent.partition_point(|time| *time <= at(ms)));
        println!("{honest} packets within {ms} ms with honest reports, {lied} with absurd rates");
        assert!(
            lied as f64 <= 1.1 * honest as f64,
            "{lied} packets instead of {honest} within {ms} ms"
        );
    }
    // With a loss in 50, the limit is one packet more than the ten per round-trip time, and the
    // lost ones count in it: 11/10 * 50/49 = 1.12 of an honest rate.
    let (honest, ..) = lied_to(50_000_000, 10, 50, |_| {});
    let (lied, ..) = lied_to(50_000_000, 10, 50, |report| report.receive_rate = u32::MAX);
    let [honest, lied] = [honest, lied].map(|sent| sent.len());
    println!("{honest} packets with honest reports of losses, {lied} with absurd rates");
    assert!(lied as f64 <= 1.13 * honest as f64, "{lied} packets instead of {honest}");
}

#[test]
fn a_receiver_that_hides_all_losses_gets_the_largest_rate_only() {
    let hide = |report: &mut Feedback| {
        report.loss_event_rate = 0;
        report.receive_rate = u32::MAX;
        report.lost_congestion = 0;
    };
    let (_, stats, most) = lied_to(2_000_000, 10, 20, hide);
    // 2 Mb/s are 250 packets of 1000 bytes, and both ends of the second may have one.
    assert_eq!(stats.rate_bps, 2e6);
    assert!((240..=251).contains(&most), "{most} packets in a second");
}

#[test]
fn a_report_of_unsent_data_is_ignored_and_the_rate_falls() {
    let lies: [fn(&mut Feedback); 4] = [
        |report| report.highest += 1 << 20,
        |report| report.echo_us += 5000,
        |report| report.hold_us = u32::MAX,
        |report| report.received += 1 << 20,
    ];
    for lie in lies {
        let (_, stats, _) = lied_to(50_000_000, 9, 0, lie);
        assert!(stats.contradicting_reports > 0 && stats.reports == 0, "{stats:?}");
        assert!(stats.rate_bps < 8.0 * f64::from(PACKET_BYTES), "{}", stats.rate_bps);
    }
}

#[test]
fn an_exaggerated_hold_shortens_round_trips_within_the_limit() {
    let exaggerate =
        |report: &mut Feedback| (report.hold_us, report.receive_rate) = (39_999, u32::MAX);
    let (_, stats, most) = lied_to(2_000_000, 10, 0, exaggerate);
    assert!(most <= 251, "{most} packets in a second");
    assert!(stats.rate_bps <= 2e6);
    // The path takes 40 ms there and back, and so did the handshake.
    assert_eq!(stats.rtt, Some(Span::from_millis(20)));
}

#[test]
fn without_the_key_nobody_changes_the_rate() {
    // Every report is followed by forgeries: another key, one bit changed, data sent back, noise.
    let forge = |_: Time, to: To, bytes: Vec<u8>| {
        if to == To::Receiver {
            return vec![bytes];
        }
        let mut other = bytes[..bytes.len() - TAG_BYTES].to_vec();
        Key::from_bytes([8; 32]).stream(&[3; 16], &[0; 24]).back.seal(&mut other);
        let flipped = (0..bytes.len()).map(|place| {
            let mut flipped = bytes.clone();
            flipped[place] ^= 0x10;
            flipped
        });
        let noise = vec![0x84, 204, 0, 5, 1, 2, 3];
        let forged: Vec<_> =
            [other, noise, bytes[..20].to_vec(), vec![]].into_iter().chain(flipped).collect();
        std::iter::once(bytes).chain(forged).collect()
    };
    let mut attacked = Path::new(5_000_000, forge);
    attacked.run_until(at(3000));
    let mut alone = Path::new(5_000_000, honest);
    alone.run_until(at(3000));
    assert_eq!(attacked.sent, alone.sent);
    assert_eq!(SenderStats { foreign_pkts: 0, ..attacked.sender.stats() }, alone.sender.stats());
    assert!(attacked.sender.stats().foreign_pkts > 1000);
}

#[test]
fn a_replayed_report_or_data_packet_changes_only_a_counter() {
    let mut old: Vec<(To, Vec<u8>)> = Vec::new();
    let mut replayed = Path::new(5_000_000, |_, to, bytes| {
        old.push((to, bytes.clone()));
        let copies =
            old.iter().rev().filter(|(was, _)| *was == to).take(20).map(|(_, bytes)| bytes.clone());
        std::iter::once(bytes).chain(copies).collect()
    });
    replayed.run_until(at(3000));
    let mut alone = Path::new(5_000_000, honest);
    alone.run_until(at(3000));
    assert_eq!(replayed.sent, alone.sent);
    assert_eq!(replayed.packets(), alone.packets());
    assert!(
        replayed.sender.stats().replayed_pkts > 100
            && replayed.receiver.stats().replayed_pkts > 100
    );
}

#[test]
fn a_spoofed_source_changes_nothing() {
    let mut path = Path::new(5_000_000, honest);
    path.run_until(at(1000));
    let before = (path.receiver.stats(), path.receiver.poll_timeout());
    // The attacker even replays what it saw, from elsewhere.
    let mut packets = Vec::new();
    let mut seen = Path::new(5_000_000, |_, to, bytes| {
        if to == To::Receiver {
            packets.push(bytes.clone());
        }
        vec![bytes]
    });
    seen.run_until(at(2000));
    drop(seen);
    for bytes in packets {
        path.receiver.on_datagram(path.now, elsewhere(), &bytes);
    }
    // The Hello is answered with a Challenge; nothing else is.
    let answers: Vec<Transmit> =
        std::iter::from_fn(|| path.receiver.poll_transmit(at(1000))).collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(path.receiver.poll_event(), None);
    let after = path.receiver.stats();
    assert_eq!(
        (
            ReceiverStats { foreign_pkts: before.0.foreign_pkts, ..after },
            path.receiver.poll_timeout()
        ),
        before
    );
}

#[test]
fn with_another_key_the_sender_gives_up_and_gets_no_answer() {
    let mut answers = 0;
    let mut path = Path::with_keys(5_000_000, &Key::from_bytes([8; 32]), &key(), |_, to, bytes| {
        answers += u64::from(to == To::Sender);
        vec![bytes]
    });
    path.run_until(at(9_999));
    assert_eq!(path.sender.end(), None);
    path.run_until(at(10_000));
    assert_eq!((path.sender.end(), path.sender.poll_timeout()), (Some(End::NoAnswer), None));
    assert!(path.receiver.stats().foreign_pkts >= 7 && path.sent.is_empty());
    drop(path);
    assert_eq!(answers, 0);
}

#[test]
fn an_old_handshake_opens_no_second_stream() {
    let mut packets = Vec::new();
    let mut path = Path::new(5_000_000, |_, to, bytes| {
        if to == To::Receiver {
            packets.push(bytes.clone());
        }
        vec![bytes]
    });
    path.run_until(at(500));
    path.sender.stop(at(500));
    path.run_until(at(1000));
    assert_eq!(path.events.last(), Some(&Event::Ended(End::PeerStopped)));
    let mut receiver = path.into_receiver();
    for bytes in packets {
        receiver.on_datagram(at(1100), sender_address(), &bytes);
    }
    assert_eq!(receiver.poll_event(), None, "no stream starts, no packet passes");
}

#[test]
fn a_flood_of_requests_is_not_amplified_and_not_remembered() {
    let mut receiver = Receiver::new(&ReceiverConfig::default(), &key(), &[5; 32]).unwrap();
    let mut hello = Vec::new();
    Control::Hello { packet_bytes: PACKET_BYTES, nonce: [1; 16] }.write(1, 0, &mut hello);
    key().handshake().seal(&mut hello);
    for port in 1..=10_000 {
        let victim: SocketAddr = ([203, 0, 113, 9], port).into();
        receiver.on_datagram(at(0), victim, &hello);
        let answer = receiver.poll_transmit(at(0)).unwrap();
        assert_eq!(answer.to, victim);
        assert!(answer.bytes.len() <= hello.len());
        assert_eq!(receiver.poll_transmit(at(0)), None);
    }
    assert!(receiver.poll_timeout().is_none() && receiver.poll_event().is_none());
}

#[test]
fn a_peer_that_falls_silent_is_gone_after_ten_seconds() {
    let mut path =
        Path::new(5_000_000, |now, _, bytes| if now < at(2000) { vec![bytes] } else { Vec::new() });
    path.run_until(at(13_000));
    assert_eq!(path.sender.end(), Some(End::PeerGone));
    assert_eq!(path.events.last(), Some(&Event::Ended(End::PeerGone)));
    assert_eq!((path.sender.poll_timeout(), path.receiver.poll_timeout()), (None, None));
}

/// Both ends after two seconds, with the keys and the number of their stream.
fn streaming() -> (Path<'static>, StreamKeys, u32) {
    let ends = Rc::new(RefCell::new((Liar::new(|_: &mut Feedback| ()), 0)));
    let seen = Rc::clone(&ends);
    let mut path = Path::new(5_000_000, move |_, to, bytes| {
        let (liar, ssrc) = &mut *seen.borrow_mut();
        if let Some((own, ..)) = Control::parse(&bytes[..bytes.len() - TAG_BYTES]) {
            *ssrc = own;
        }
        liar.pass(to, bytes)
    });
    path.run_until(at(2000));
    let (liar, ssrc) = &*ends.borrow();
    (path, liar.keys.clone().expect("the handshake is over"), *ssrc)
}

#[test]
fn a_control_packet_is_used_once() {
    let (mut path, keys, ssrc) = streaming();
    let sealed = |control: Control, number, key: &Tagger| {
        let mut bytes = Vec::new();
        control.write(ssrc, number, &mut bytes);
        key.seal(&mut bytes);
        bytes
    };
    while path.receiver.poll_transmit(path.now).is_some() {}
    // Alive is answered by Alive, and Bye by the last report and Bye; then only Bye is answered.
    let bye = Control::Bye { packets: 9, reason: Reason::Finished };
    for (control, number, answers) in
        [(Control::Alive, 1_000, 1), (bye, 1_001, 2), (Control::Alive, 1_002, 0)]
    {
        let bytes = sealed(control, number, &keys.forward);
        let replayed = path.receiver.stats().replayed_pkts;
        for (is_new, answers) in [(true, answers), (false, 0)] {
            path.receiver.on_datagram(path.now, sender_address(), &bytes);
            let sent = std::iter::from_fn(|| path.receiver.poll_transmit(path.now)).count();
            assert_eq!(sent, answers, "{control:?}, new: {is_new}");
        }
        assert_eq!(path.receiver.stats().replayed_pkts, replayed + 1);
    }
    let bytes = sealed(Control::Alive, 1_000, &keys.back);
    let replayed = path.sender.stats().replayed_pkts;
    for counted in [0, 1] {
        path.sender.on_datagram(path.now, &bytes);
        assert_eq!(path.sender.stats().replayed_pkts, replayed + counted);
    }
}

#[test]
fn a_data_packet_is_at_most_as_large_as_was_agreed() {
    let (mut path, keys, ssrc) = streaming();
    let seq = path.sender.stats().sent_pkts;
    for (bytes, is_used) in [(PACKET_BYTES + 1, false), (PACKET_BYTES, true)] {
        let (media_time, sent_us) = (0, micros(path.now));
        let header = rtp::Header {
            marker: false,
            payload_type: 96,
            seq,
            media_time,
            ssrc,
            sent_us,
            rtt_us: 40_000,
        };
        let mut packet = Vec::new();
        header.write(&mut packet);
        packet.resize(usize::from(bytes) - TAG_BYTES, 0);
        keys.forward.seal(&mut packet);
        let foreign = path.receiver.stats().foreign_pkts;
        path.receiver.on_datagram(path.now, sender_address(), &packet);
        assert_eq!(path.receiver.stats().foreign_pkts == foreign, is_used, "{bytes} bytes");
        let mut events = std::iter::from_fn(|| path.receiver.poll_event());
        let passed = events.any(|event| matches!(event, Event::Packet(_)));
        assert_eq!(passed, is_used, "{bytes} bytes");
    }
}

#[test]
fn what_comes_before_a_stream_is_counted_too() {
    let mut path = Path::new(5_000_000, honest);
    path.receiver.on_datagram(at(0), elsewhere(), b"noise");
    path.run_until(at(500));
    assert_eq!(path.receiver.stats().foreign_pkts, 1);
}

#[test]
fn the_sender_answers_a_receiver_that_stops() {
    let byes = RefCell::new(0);
    let mut path = Path::new(5_000_000, |_, to, bytes| {
        let control = Control::parse(&bytes[..bytes.len() - TAG_BYTES]);
        let is_bye = matches!(control, Some((.., Control::Bye { .. })));
        *byes.borrow_mut() += u32::from(is_bye && to == To::Receiver);
        vec![bytes]
    });
    path.run_until(at(500));
    path.receiver.stop(at(500));
    path.run_until(at(1000));
    assert_eq!(path.sender.end(), Some(End::PeerStopped));
    drop(path);
    assert_eq!(byes.into_inner(), 1);
}

#[test]
fn the_last_report_counts_what_arrived_before_goodbye() {
    let mut path = Path::new(5_000_000, honest);
    path.run_until(at(500));
    path.sender.stop(at(500));
    path.run_until(at(1000));
    let SenderStats { sent_pkts, received_pkts, .. } = path.sender.stats();
    assert_eq!((path.sender.end(), received_pkts), (Some(End::Stopped), sent_pkts));
}

#[test]
fn a_handshake_takes_as_long_as_its_shorter_half() {
    let config = SenderConfig { packet_bytes: PACKET_BYTES, ..SenderConfig::default() };
    let mut sender = Sender::new(&config, &key(), [3; 16]).unwrap();
    let mut receiver = Receiver::new(&ReceiverConfig::default(), &key(), &[5; 32]).unwrap();
    let mut liar = Liar::new(|report| report.hold_us = 39_999);
    sender.start(at(0));
    sender.push(at(0), Media::default()).unwrap();
    // Accept is on its way for 140 ms.
    for (left, answered) in [(0, 40), (40, 200), (200, 240)] {
        let arrived = at(left) + DELAY;
        while let Some(bytes) = sender.poll_transmit(at(left)) {
            receiver.on_datagram(arrived, sender_address(), &bytes);
        }
        while let Some(answer) = receiver.poll_transmit(arrived) {
            liar.pass(To::Sender, answer.bytes)
                .iter()
                .for_each(|bytes| sender.on_datagram(at(answered), bytes));
        }
    }
    assert_eq!(sender.stats().rtt, Some(Span::from_millis(20)), "half of 40 ms, not of 160");
}

#[test]
fn a_driver_that_wakes_late_sends_at_once_what_has_become_due() {
    let (mut path, ..) = streaming();
    let mut sent = 0;
    for ms in (8..=96).step_by(8) {
        let now = path.now + Span::from_millis(ms);
        path.sender.on_timeout(now);
        while path.sender.has_room() {
            path.sender.push(now, Media::default()).unwrap();
        }
        sent += std::iter::from_fn(|| path.sender.poll_transmit(now)).count();
    }
    // 5 Mb/s are 625 packets of 1000 bytes in a second.
    assert!((58..=62).contains(&sent), "{sent} packets in 96 ms");
}

#[test]
fn a_sender_without_data_stays_connected() {
    let config = SenderConfig { packet_bytes: PACKET_BYTES, ..SenderConfig::default() };
    let mut path = Path::new(5_000_000, honest);
    path.sender = Sender::new(&config, &key(), [3; 16]).unwrap();
    path.sender.start(Time::ZERO);
    // Nothing is ever pushed: the test's own loop does that, so it is done by hand.
    let mut now = Time::ZERO;
    let mut to_receiver: Vec<(Time, Vec<u8>)> = Vec::new();
    let mut to_sender: Vec<(Time, Vec<u8>)> = Vec::new();
    for ms in 0..30_000 {
        now = at(ms);
        path.sender.on_timeout(now);
        path.receiver.on_timeout(now);
        to_receiver.extend(
            std::iter::from_fn(|| path.sender.poll_transmit(now)).map(|bytes| (now + DELAY, bytes)),
        );
        let answers = std::iter::from_fn(|| path.receiver.poll_transmit(now));
        to_sender.extend(answers.map(|transmit| (now + DELAY, transmit.bytes)));
        for (_, bytes) in to_receiver.extract_if(.., |(at, _)| *at <= now) {
            path.receiver.on_datagram(now, sender_address(), &bytes);
        }
        for (_, bytes) in to_sender.extract_if(.., |(at, _)| *at <= now) {
            path.sender.on_datagram(now, &bytes);
        }
    }
    assert!(path.sender.is_streaming());
    assert_eq!(path.sender.stats().sent_pkts, 0);
    path.sender.finish(now);
    assert!(path.sender.poll_transmit(now).is_some_and(|bytes| bytes[0] & 0x1F == 6), "Bye");
}

/// What the path does with a packet in the property test.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Pass,
    Drop,
    Twice,
    Flip(u8),
    Cut(u8),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn on_any_path_each_packet_comes_once_and_the_rate_limit_holds(
        fates in prop::collection::vec(prop_oneof![
            12 => Just(Fate::Pass),
            2 => Just(Fate::Drop),
            1 => Just(Fate::Twice),
            1 => any::<u8>().prop_map(Fate::Flip),
            1 => any::<u8>().prop_map(Fate::Cut),
        ], 1..200),
    ) {
        let mut pushed = Vec::new();
        let mut turn = fates.iter().cycle();
        let mut path = Path::new(1_000_000, |_, to, bytes| {
            if to == To::Receiver && bytes[1] < 192 {
                pushed.push(rtp::parse(&bytes[..bytes.len() - TAG_BYTES]).map(|(_, payload)| payload.to_vec()).unwrap());
            }
            let mut changed = bytes.clone();
            match *turn.next().unwrap() {
                Fate::Pass => vec![bytes],
                Fate::Drop => Vec::new(),
                Fate::Twice => vec![bytes.clone(), bytes],
                Fate::Flip(place) => {
                    let place = usize::from(place) % changed.len();
                    changed[place] ^= 0x40;
                    vec![changed]
                }
                Fate::Cut(length) => {
                    changed.truncate(usize::from(length) % changed.len());
                    vec![changed]
                }
            }
        });
        path.run_until(at(4000));
        // 125 packets of 1000 bytes per second at 1 Mb/s.
        prop_assert!(path.most_in_a_second() <= 127, "{}", path.most_in_a_second());
        prop_assert!(path.sender.stats().rate_bps <= 1e6);
        let received: Vec<(u64, Vec<u8>)> = path.packets().iter().map(|p| (p.seq, p.payload.clone())).collect();
        prop_assert_eq!(path.sender.stats().contradicting_reports, 0);
        drop(path);
        let mut seqs: Vec<u64> = received.iter().map(|(seq, _)| *seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        prop_assert_eq!(seqs.len(), received.len(), "a packet came twice");
        for (seq, payload) in received {
            prop_assert_eq!(Some(&payload), pushed.get(seq as usize));
        }
    }
}
