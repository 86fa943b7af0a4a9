//! The cause of a flow's losses, on transfers over links of a few lines.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{SYN, Segment, pcap};
use losscause::diagnosis::{Cause, Certainty, Diagnosis, Unknown};
use losscause_capture::{Analysis, Flow, Loss, LossKind, Options, analyze};

/// The payload of a packet, and its size on the wire, bytes.
const PAYLOAD: u64 = 1_000;
const WIRE: u64 = 1_040;
/// The round trip of the empty path, microseconds.
const RTT_US: u64 = 40_000;

/// A sender with SACK that halves its window per round trip with losses.
#[derive(Default)]
struct Sender {
    window: f64,
    /// Transmissions that are not known to have arrived or to be lost, in order: packet number and
    /// time.
    flying: BTreeMap<u64, (u64, u64)>,
    sent: u64,
    next: u64,
    again: BTreeSet<u64>,
    arrived: BTreeSet<u64>,
    una: u64,
    reduced_us: u64,
    packets: Vec<(u64, Segment)>,
}

impl Sender {
    fn transmit(&mut self, now: u64) -> u64 {
        let number = self.again.pop_first().unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.flying.insert(self.sent, (number, now));
        self.sent += 1;
        self.packets.push((now, Segment::data((1 + PAYLOAD * number) as u32, PAYLOAD as usize)));
        number
    }

    fn lose(&mut self, transmission: u64, now: u64) {
        if let Some((number, sent)) = self.flying.remove(&transmission) {
            self.again.insert(number);
            if sent >= self.reduced_us {
                (self.window, self.reduced_us) = ((self.window * 0.5).max(2.0), now);
            }
        }
    }

    fn on_ack(&mut self, transmission: u64, now: u64) {
        let Some((number, _)) = self.flying.remove(&transmission) else { return };
        self.arrived.insert(number);
        self.again.remove(&number);
        while self.arrived.remove(&self.una) {
            self.una += 1;
        }
        self.window += 1.0 / self.window;
        let byte = |number: u64| (1 + PAYLOAD * number) as u32;
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        if number > self.una {
            let mut ends = [number, number + 1];
            while self.arrived.contains(&(ends[0] - 1)) {
                ends[0] -= 1;
            }
            while self.arrived.contains(&ends[1]) {
                ends[1] += 1;
            }
            blocks.push((byte(ends[0]), byte(ends[1])));
        }
        let ack = Segment::ack(byte(self.una));
        self.packets.push((now, if blocks.is_empty() { ack } else { ack.sack(&blocks) }));
        let old: Vec<u64> =
            self.flying.range(..transmission.saturating_sub(2)).map(|(&old, _)| old).collect();
        old.into_iter().for_each(|old| self.lose(old, now));
    }
}

/// A capture at a sender whose path says of each packet, by its time in microseconds, how long it
/// takes from the sender and back beyond the empty path's round trip, if it arrives.
fn transfer(seconds: u64, mut path: impl FnMut(u64) -> Option<u64>) -> Vec<(u64, Segment)> {
    // Windows of a megabyte (RFC 7323, section 2.2).
    let options = vec![1, 3, 3, 4];
    let syn = Segment { flags: SYN, ack: 0, options: options.clone(), ..Segment::data(0, 0) };
    let syn_ack = Segment { flags: SYN | 16, seq: 0, options, ..Segment::ack(1) };
    let mut sender = Sender { window: 10.0, ..Sender::default() };
    sender.packets = vec![(0, syn), (RTT_US, syn_ack), (RTT_US, Segment::data(1, 0))];
    let mut arrivals: BTreeMap<(u64, u64), ()> = BTreeMap::new();
    let mut now = RTT_US;
    while now < seconds * 1_000_000 {
        while (sender.flying.len() as f64) < sender.window {
            now += 20;
            let transmission = sender.sent;
            sender.transmit(now);
            if let Some(more) = path(now) {
                arrivals.insert((now + RTT_US + more, transmission), ());
            }
        }
        match arrivals.pop_first() {
            Some(((at, transmission), ())) => {
                now = now.max(at);
                sender.on_ack(transmission, now);
            }
            None => {
                now += 5 * RTT_US;
                let all: Vec<u64> = sender.flying.keys().copied().collect();
                all.into_iter().for_each(|old| sender.lose(old, now));
            }
        }
    }
    sender.packets
}

fn analysis(packets: &[(u64, Segment)]) -> Analysis {
    let bytes: Vec<_> = packets.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    analyze(pcap(&bytes).as_slice(), "f", &Options::all()).unwrap()
}

fn diagnosis(packets: &[(u64, Segment)]) -> Diagnosis {
    analysis(packets).flows[0].diagnosis.as_ref().unwrap().diagnosis
}

/// A token bucket, bytes per second and bytes.
fn policer(rate: u64, burst: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut tokens = burst as f64;
    let mut filled_us = 0;
    move |now| {
        tokens = (tokens + (now - filled_us) as f64 * rate as f64 / 1e6).min(burst as f64);
        filled_us = now;
        (tokens >= WIRE as f64).then(|| {
            tokens -= WIRE as f64;
            0
        })
    }
}

/// A link with a queue that drops when it is full, bytes per second and packets.
fn tail_drop(rate: u64, queue_pkts: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut free_us = 0;
    move |now| {
        let per_packet = WIRE * 1_000_000 / rate;
        free_us = now.max(free_us);
        let waits = free_us - now;
        (waits / per_packet < queue_pkts).then(|| {
            free_us += per_packet;
            free_us - now
        })
    }
}

/// Losses that choose nothing, one of so many packets.
fn random(of: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut state = 1_u64;
    move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (!(state >> 33).is_multiple_of(of)).then_some(0)
    }
}

#[test]
fn a_policer_is_named_with_its_rate_and_burst() {
    let found = diagnosis(&transfer(60, policer(400_000, 100_000)));
    let Cause::Policer { rate_bps: Some(rate), burst_bytes: Some(burst) } = found.cause else {
        panic!("{found}")
    };
    assert!(rate.abs_diff(3_200_000) < 160_000, "{found}");
    assert!((50_000..=100_000).contains(&burst), "{burst}: what passed at once at least");
    assert!(found.advice().to_string().starts_with("Shape to 3."), "{}", found.advice());
}

#[test]
fn algorithms_are_compared_where_the_air_loses_most_and_a_queue_the_rest() {
    let (mut air, mut link) = (random(100), tail_drop(1_000_000, 8));
    let path = |now| (now < 10_000_000 || air(now).is_some()).then(|| link(now))?;
    let analysis = analysis(&transfer(60, path));
    let fit = analysis.flows[0].fit.as_ref().unwrap();
    assert!(fit.full_ms.is_some() && fit.queue_losses > 0, "{fit:?}");
    assert!(analysis.headline().ends_with("Clear: the air, not a queue."), "{}", analysis.answer());
    let next = ["analyze FILE --scenario link.toml", "compare link.toml --all"];
    assert_eq!(analysis.next(), next.map(|command| format!("losscause {command}")));
}

#[test]
fn a_flow_with_all_that_a_policer_leaves_is_promised_no_more() {
    let analysis = analysis(&transfer(60, policer(400_000, 100_000)));
    let flow = &analysis.flows[0];
    let told = flow.diagnosis.as_ref().unwrap();
    let cost = told.cost.unwrap();
    let again = flow.sent_again as f64 / flow.packets as f64;
    assert!(cost.used.unwrap() >= 0.9 && cost.again == Some(again), "{cost:?}");
    let answer = analysis.answer();
    // 3.2 Mb/s less the headers, and so many packets sent again.
    assert!(
        answer.contains(
            "The flow got 3.1 Mb/s, no less than the policer leaves for data (3.1 Mb/s)."
        ),
        "{answer}"
    );
    let saved = format!("saves packets sent again ({:.1} % were)", 100.0 * again);
    assert!(answer.contains(&saved) && !answer.contains("Shape to"), "{answer}");
    let next = analysis.next();
    assert!(next.len() == 3 && next[1].starts_with("losscause compare link.toml "), "{next:?}");
    let undo = "   # all traffic of the interface; undo: tc qdisc del dev <interface> root";
    assert!(next[2].starts_with("tc qdisc replace ") && next[2].ends_with(undo), "{next:?}");
}

#[test]
fn a_named_cause_is_followed_by_no_other_conclusion() {
    for path in
        [&mut policer(400_000, 100_000) as &mut dyn FnMut(u64) -> Option<u64>, &mut random(50)]
    {
        let analysis = analysis(&transfer(60, path));
        let evidence = analysis.flows[0].evidence().unwrap();
        assert!(evidence.starts_with("Its queueing delay hardly varies ("), "{evidence}");
        assert!(evidence.ends_with(" ms)."), "{evidence}");
    }
}

#[test]
fn connections_of_the_same_hosts_tell_a_policer_together() {
    let mut bucket = policer(400_000, 100_000);
    let mut packets = Vec::new();
    for connection in 0..5_u8 {
        let begun = 4_000_000 * u64::from(connection);
        for (us, segment) in transfer(4, |now| bucket(begun + now)) {
            let mut bytes = segment.bytes();
            // The low byte of the first host's port.
            bytes[if segment.from_first { 21 } else { 23 }] += connection;
            packets.push((begun + us, bytes));
        }
    }
    packets.sort();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    assert_eq!(analysis.flows.len(), 5);
    for flow in &analysis.flows {
        let found = flow.diagnosis.as_ref().unwrap().diagnosis;
        let Cause::Policer { rate_bps: Some(rate), .. } = found.cause else { panic!("{found}") };
        assert!(rate.abs_diff(3_200_000) < 160_000, "{found}");
    }
}

#[test]
fn a_queue_that_is_full_at_losses_is_named() {
    let found = diagnosis(&transfer(60, tail_drop(400_000, 40)));
    assert_eq!((found.cause, found.certainty), (Cause::FullQueue, Certainty::Clear), "{found}");
}

/// A queue of 60 ms whose overflows take twelve packets. Its link is twice as fast for two seconds
/// then, and the air takes three packets of an empty queue.
fn overflows_and_air() -> impl FnMut(u64) -> Option<u64> {
    const RATE: u64 = 1_200_000;
    let per_packet = WIRE * 1_000_000 / RATE;
    let (mut free_us, mut overflow_us) = (0_u64, 0_u64);
    let (mut dropping, mut of_air) = (0, 3);
    move |now| {
        if free_us.saturating_sub(now) >= 60_000 {
            (dropping, of_air, overflow_us) = (12, 0, now);
        }
        if dropping > 0 {
            dropping -= 1;
            return None;
        }
        let is_fast = overflow_us > 0 && now < overflow_us + 2_000_000;
        if is_fast && of_air < 3 && now > overflow_us + 500_000 * (of_air + 1) {
            of_air += 1;
            return None;
        }
        free_us = free_us.max(now) + if is_fast { per_packet / 2 } else { per_packet };
        Some(free_us - now)
    }
}

#[test]
fn losses_that_no_overflow_explains_are_set_apart() {
    let analysis = analysis(&transfer(120, overflows_and_air()));
    let flow = &analysis.flows[0];
    let told = flow.diagnosis.as_ref().unwrap();
    assert_eq!(told.diagnosis.cause, Cause::FullQueue, "{}", told.diagnosis);
    // 16 overflows of twelve packets, and three of the air behind all but the last.
    let of_queue = |loss: &&Loss| flow.kind_of(loss) == LossKind::FullQueue;
    let drawn = flow.losses.iter().filter(of_queue).count() as u64;
    assert_eq!((flow.lost(), flow.lost_to_cause(), drawn), (192 + 45, 192, 192));
    assert!(analysis.headline().ends_with(" 192 of 237: Likely: a full queue."));
    assert_eq!(flow.cells()[8], "full-queue, likely (192)");
    let apart = flow.losses.iter().find(|loss| !of_queue(loss)).unwrap();
    assert_eq!(flow.told_cause(apart), "cause not shown");
}

#[test]
fn a_loss_stands_at_the_delay_of_the_packet_before_it() {
    // The air loses a packet for good after 30 ms of repeats, behind which the others wait.
    let mut strikes = random(300);
    let mut held_us = 0;
    let repeated = move |now: u64| {
        let is_lost = strikes(now).is_none();
        if is_lost {
            held_us = now + 30_000;
        }
        (!is_lost).then(|| held_us.saturating_sub(now))
    };
    let analysis = analysis(&transfer(60, repeated));
    let flow = &analysis.flows[0];
    let usual = |of: fn(&Loss) -> Option<f64>| {
        let mut sorted: Vec<f64> = flow.losses.iter().filter_map(of).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    assert!(usual(|loss| loss.queueing_ms) > 20.0, "{}", analysis.answer());
    assert!(usual(|loss| loss.queueing_before_ms) < 1.0, "{}", analysis.answer());
    assert!(flow.told(&flow.losses[0])[0].contains(", queueing delay before it "));
}

/// The packets of two captures in one, the second so much later or earlier, in the order of time
/// if they are merged.
fn together(first: &[(u64, Segment)], second: &[(u64, Segment)], apart_us: u64) -> Analysis {
    let later = second.iter().map(|(us, segment)| (us + apart_us, segment.clone()));
    let mut packets: Vec<(u64, Segment)> = first.iter().cloned().chain(later).collect();
    packets.sort_by_key(|(us, _)| *us);
    analysis(&packets)
}

/// As if the connection had begun with another number.
fn renumbered(packets: &[(u64, Segment)], by: u32) -> Vec<(u64, Segment)> {
    let mut packets = packets.to_vec();
    for (_, segment) in &mut packets {
        let own = if segment.from_first { &mut segment.seq } else { &mut segment.ack };
        *own = own.wrapping_add(by);
        for place in (4..segment.options.len()).step_by(4) {
            let place = place..place + 4;
            let number: [u8; 4] = segment.options[place.clone()].try_into().unwrap();
            let number = u32::from_be_bytes(number).wrapping_add(by);
            segment.options[place].copy_from_slice(&number.to_be_bytes());
        }
    }
    packets
}

#[test]
fn a_handshake_or_time_that_goes_back_begins_another_connection() {
    let one = transfer(20, policer(400_000, 100_000));
    let alone = analysis(&one);
    let tells = |analysis: &Analysis, what: &str| {
        let mut flows: Vec<(u64, u64, u64)> = analysis
            .flows
            .iter()
            .map(|flow| (flow.packets, flow.lost(), flow.sent_again))
            .collect();
        flows.dedup();
        let own = &alone.flows[0];
        assert_eq!(flows, [(own.packets, own.lost(), own.sent_again)], "{what}");
        assert_eq!(analysis.flows.len(), 2, "{what}");
        assert!(!analysis.answer().contains("SYN"), "{what}: {}", analysis.answer());
        for flow in &analysis.flows {
            assert!(flow.named_cause().unwrap().contains("a policer"), "{what}");
        }
    };
    tells(&together(&one, &one, 200_000_000), "the same numbers again");
    for by in [5_000, 1 << 31] {
        tells(&together(&one, &renumbered(&one, by), 20_050_000), "other numbers at once");
    }
    // Appended, with the times of before.
    let appended: Vec<_> = [&one[..], &one[3..]].concat();
    let bytes: Vec<_> = appended.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    let appended = analyze(pcap(&bytes).as_slice(), "f", &Options::all()).unwrap();
    assert_eq!(appended.flows.iter().filter(|flow| flow.lost() > 0).count(), 2);
}

#[test]
fn connections_that_are_mixed_show_no_cause() {
    let one = transfer(20, policer(400_000, 100_000));
    let far = renumbered(&one, 1 << 31);
    let mixed = together(&one, &far, 5_000);
    let unknown = "Whether a data packet of 1 flow was lost, the capture does not show.";
    assert!(mixed.answer().starts_with(unknown), "{}", mixed.answer());
    for by in [5_000_000, 1 << 29, 3 << 29] {
        let mixed = together(&one, &renumbered(&one, by), 5_000);
        assert_eq!(mixed.flows[0].named_cause(), None, "{by}: {}", mixed.answer());
    }
    // In turns, so that each has losses.
    let in_second = |packets: &[(u64, Segment)], which: u64| -> Vec<(u64, Segment)> {
        packets.iter().filter(|(us, _)| us / 1_000_000 % 2 == which).cloned().collect()
    };
    let mixed = together(&in_second(&one, 0), &in_second(&far, 1), 0);
    let flow = &mixed.flows[0];
    let found = flow.diagnosis.as_ref().unwrap().diagnosis;
    assert_eq!(found.cause, Cause::NotShown(Unknown::Mixed), "{found}");
    assert_eq!((flow.cells()[8].as_str(), flow.cells()[9].as_str()), ("not-shown", ""));
    assert!(!mixed.answer().contains("One by one"), "{}", mixed.answer());
}

#[test]
fn cut_options_are_the_reason_if_nothing_is_shown() {
    let cut = transfer(60, policer(400_000, 100_000));
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 44, 101] {
        file.extend(word.to_le_bytes());
    }
    // 44 bytes hold the headers, and no block of SACK.
    for (us, segment) in &cut {
        let bytes = segment.bytes();
        let kept = bytes.len().min(44);
        let [second, ns] = [us / 1_000_000, us % 1_000_000 * 1_000];
        for word in [second, ns, kept as u64, bytes.len() as u64] {
            file.extend((word as u32).to_le_bytes());
        }
        file.extend(&bytes[..kept]);
    }
    let analysis = analyze(file.as_slice(), "f", &Options::all()).unwrap();
    let found = analysis.diagnosis().unwrap().diagnosis;
    assert_eq!(found.cause, Cause::NotShown(Unknown::CutOptions), "{found}");
    assert!(analysis.answer().contains("tcpdump -s 128"), "{}", analysis.answer());
    assert_eq!(analysis.next(), ["tcpdump -i <interface> -s 128 -w whole.pcap"]);
}

#[test]
fn a_cause_that_is_named_is_told_of_so_many_losses_as_have_it() {
    let queue = transfer(60, tail_drop(400_000, 40));
    let mut packets: Vec<_> = queue.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    assert!(analysis(&queue).headline().ends_with("lost packets in 1 flow. Clear: a full queue."));
    for (us, segment) in transfer(2, random(200)) {
        let mut bytes = segment.bytes();
        // The low byte of the first host's port.
        bytes[if segment.from_first { 21 } else { 23 }] += 1;
        packets.push((us, bytes));
    }
    packets.sort();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    let mut lost: Vec<u64> = analysis.flows.iter().map(Flow::lost).collect();
    lost.sort_unstable();
    let told = format!("{} of {}: Clear: a full queue", lost[1], lost[0] + lost[1]);
    assert!(lost[0] > 0 && analysis.headline().contains(&told), "{}", analysis.answer());
}

#[test]
fn each_cause_that_is_named_has_its_advice_and_its_commands() {
    let queue = transfer(60, tail_drop(400_000, 40));
    let mut packets: Vec<_> = queue.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    for (us, segment) in transfer(60, random(50)) {
        let mut bytes = segment.bytes();
        // The low byte of the first host's address and of its port.
        let at = if segment.from_first { [15, 21] } else { [19, 23] };
        at.iter().for_each(|&place| bytes[place] += 1);
        packets.push((us, bytes));
    }
    packets.sort();
    let analysis = analyze(pcap(&packets).as_slice(), "two.pcap", &Options::all()).unwrap();
    let answer = analysis.answer();
    for part in
        [": Clear: a full queue (", "Put fq_codel ", ": Clear: the air", "Look at the radio "]
    {
        assert_eq!(answer.matches(part).count(), 1, "{part}: {answer}");
    }
    let next = analysis.next();
    let has = |text: &str| next.iter().any(|command| command.contains(text));
    assert!(has("compare two.toml --variant 'fq_codel: "), "{next:?}");
    assert!(has("compare two-flow-2.toml --all"), "{next:?}");
    let src = &analysis.flows.iter().find(|flow| flow.id == 2).unwrap().src;
    assert!(has(&format!("analyze FILE --flow {src} --scenario two-flow-2.toml")), "{next:?}");
    assert_eq!(analysis.first().len(), 2);
    let causes: Vec<String> = analysis.flows.iter().map(|flow| flow.cells()[8].clone()).collect();
    assert!(causes.contains(&"full-queue, clear".to_owned()), "{causes:?}");
    assert!(causes.contains(&"air, clear".to_owned()), "{causes:?}");
}

#[test]
fn losses_that_choose_nothing_are_called_no_queue_or_policer() {
    for of in [50, 200] {
        let found = diagnosis(&transfer(60, random(of)));
        assert!(matches!(found.cause, Cause::Air), "{found}");
    }
}

#[test]
fn few_losses_name_no_cause() {
    let mut losses = 0;
    let found = diagnosis(&transfer(20, |now| {
        let is_lost = now / 4_000_000 > losses;
        losses += u64::from(is_lost);
        (!is_lost).then_some(0)
    }));
    assert_eq!(found.cause, Cause::NotShown(Unknown::TooFew), "{found}");
}
