//! What is a loss and what is not, on connections of a few segments.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{SYN, Segment, ack, data, handshake, pcap, rtp};
use losscause_capture::{Evidence, Flow, Options, Protocol, Vantage, analyze};

/// The flow with most packets; times are in milliseconds.
fn flow(packets: impl IntoIterator<Item = (u64, Segment)>) -> Flow {
    let packets: Vec<_> =
        packets.into_iter().map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect();
    let flows = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap().flows;
    flows.into_iter().max_by_key(|flow| flow.packets).unwrap()
}

fn lost(flow: &Flow) -> Vec<(u64, u64, Evidence)> {
    flow.losses.iter().map(|loss| (loss.seq, loss.bytes, loss.evidence)).collect()
}

fn at_sender(rest: impl IntoIterator<Item = (u64, Segment)>) -> Flow {
    let flow = flow(handshake().into_iter().chain(rest));
    assert_eq!(flow.vantage, Vantage::Sender);
    flow
}

#[test]
fn a_gap_at_a_receiver_is_a_loss_of_the_packets_in_it() {
    let flow = flow([(0, data(0)), (1, data(1)), (2, data(4)), (3, data(5))]);
    assert_eq!(flow.vantage, Vantage::Unknown, "without acknowledgements");
    assert_eq!(lost(&flow), [(201, 100, Evidence::Gap), (301, 100, Evidence::Gap)]);
}

#[test]
fn a_packet_that_was_sent_before_the_one_behind_it_is_reordered() {
    let flow = flow([(0, data(0)), (1, data(1)), (2, data(3)), (30, data(2)), (31, data(4))]);
    assert_eq!((lost(&flow).len(), flow.reordered), (0, 1));
}

#[test]
fn a_newer_timestamp_in_a_gap_is_a_retransmission_and_its_size() {
    let again = Segment::data(201, 60).at(1_900, 5);
    let flow = flow([(0, data(0)), (1, data(1)), (2, data(3)), (3, again)]);
    assert_eq!((lost(&flow), flow.reordered), (vec![(201, 60, Evidence::Gap)], 0));
}

#[test]
fn acknowledged_data_was_missed_by_the_capture_only() {
    let flow =
        flow([(0, data(0)), (1, data(1)), (2, data(3)), (3, ack(4)), (4, data(4)), (5, ack(5))]);
    assert_eq!((lost(&flow).len(), flow.capture_drops), (0, 1));
}

#[test]
fn a_retransmission_behind_selective_acknowledgements_is_a_loss() {
    let again = Segment::data(101, 100).at(1_060, 5);
    let sack = |end| ack(1).sack(&[(201, end)]);
    let sent = (0..5).map(|i| (50 + u64::from(i), data(i)));
    let answers = [
        (90, ack(1)),
        (92, sack(301)),
        (93, sack(401)),
        (94, sack(501)),
        (95, again),
        (135, ack(5)),
    ];
    let flow = at_sender(sent.chain(answers));
    assert_eq!(lost(&flow), [(101, 100, Evidence::FastRetransmit)]);
}

#[test]
fn a_duplicate_ack_announces_a_resend_a_window_update_does_not() {
    let evidence = |update: Segment| {
        let sent = (0..3).map(|i| (50 + u64::from(i), data(i)));
        let again = Segment::data(101, 100).at(1_300, 5);
        lost(&at_sender(sent.chain([(90, ack(1)), (91, update), (300, again), (341, ack(3))])))
    };
    assert_eq!(evidence(ack(1)), [(101, 100, Evidence::FastRetransmit)]);
    assert_eq!(evidence(Segment { window: 1_000, ..ack(1) }), [(101, 100, Evidence::Timeout)]);
}

#[test]
fn a_retransmission_whose_data_arrived_twice_is_spurious() {
    let again = Segment::data(101, 100).at(1_060, 5);
    let sack = |end| ack(1).sack(&[(201, end)]);
    let sent = (0..5).map(|i| (50 + u64::from(i), data(i)));
    let twice = ack(5).sack(&[(101, 201)]);
    let answers =
        [(90, ack(1)), (92, sack(301)), (94, sack(501)), (95, again), (135, ack(5)), (136, twice)];
    let flow = at_sender(sent.chain(answers));
    assert_eq!((lost(&flow).len(), flow.spurious), (0, 1));
}

#[test]
fn an_ack_too_soon_after_the_retransmission_is_the_originals() {
    let again = Segment::data(101, 100).at(1_060, 5);
    let sent = (0..4).map(|i| (50 + u64::from(i), data(i)));
    let answers = [(90, ack(1)), (93, ack(1).sack(&[(201, 401)])), (94, again), (97, ack(4))];
    let flow = at_sender(sent.chain(answers));
    assert_eq!((lost(&flow).len(), flow.spurious), (0, 1));
}

#[test]
fn a_packet_lost_twice_is_two_losses_and_a_timeout_congestion() {
    let again = |tsval| Segment::data(101, 100).at(tsval, 5);
    let sent = (0..3).map(|i| (50 + u64::from(i), data(i)));
    let answers = [
        (90, ack(1)),
        (92, ack(1).sack(&[(201, 301)])),
        (93, again(1_060)),
        (400, again(1_400)),
        (440, ack(3)),
    ];
    let flow = at_sender(sent.chain(answers));
    assert_eq!(lost(&flow), [(101, 100, Evidence::FastRetransmit), (101, 100, Evidence::Timeout)]);
    assert!(
        flow.losses[1]
            .verdicts
            .iter()
            .all(|(_, opinion)| opinion.verdict == losscause::Verdict::Congestion)
    );
}

#[test]
fn a_keep_alive_is_no_loss() {
    let sent = (0..3).map(|i| (50 + u64::from(i), data(i)));
    let flow =
        at_sender(sent.chain([(92, ack(3)), (5_000, Segment::data(300, 1)), (5_040, ack(3))]));
    assert_eq!((lost(&flow).len(), flow.probes, flow.spurious), (0, 1, 0));
}

#[test]
fn the_ack_of_a_fin_is_none_of_data_that_the_capture_missed() {
    let fin = Segment { flags: 17, payload: 0, ..data(3) };
    let sent = (0..3).map(|i| (50 + u64::from(i), data(i)));
    let flow = at_sender(sent.chain([(92, ack(3)), (93, fin), (133, Segment::ack(302))]));
    assert_eq!((lost(&flow).len(), flow.capture_drops), (0, 0));
}

#[test]
fn sequence_numbers_wrap_within_a_flow() {
    let data = |number: u32| {
        Segment::data((u32::MAX - 250).wrapping_add(100 * number), 100).at(1_000 + number, 5)
    };
    let flow = flow([(0, data(0)), (1, data(1)), (2, data(4)), (3, data(5))]);
    assert_eq!(
        lost(&flow),
        [(u64::from(u32::MAX - 50), 100, Evidence::Gap), (49, 100, Evidence::Gap)]
    );
}

#[test]
fn an_rtp_stream_loses_what_never_arrives_and_not_what_is_late() {
    let order = [0_u16, 1, 2, 3, 4, 6, 5, 7, 9, 10, 10, 11];
    let packets: Vec<_> = order
        .iter()
        .enumerate()
        .map(|(i, &number)| {
            (
                i as u64 * 20_000,
                rtp(65_530_u16.wrapping_add(number), u32::from(number) * 1_800, 100),
            )
        })
        .collect();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    let flow = &analysis.flows[0];
    assert_eq!((flow.protocol, flow.reordered, flow.duplicates), (Protocol::Rtp, 1, 1));
    assert_eq!(lost(flow), [(2, 0, Evidence::Gap)]);
}

/// The analysis of packets at these times, milliseconds.
fn analysis(packets: impl IntoIterator<Item = (u64, Segment)>) -> losscause_capture::Analysis {
    let packets: Vec<_> =
        packets.into_iter().map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect();
    analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap()
}

#[test]
fn repeats_seen_in_one_direction_only_are_losses_without_cause() {
    let sent = (0..30).map(|i| (10 * u64::from(i), Segment::data(1 + 100 * i, 100)));
    let again = [5, 11, 17].map(|i| (310 + u64::from(i), Segment::data(1 + 100 * i, 100)));
    let analysis = analysis(sent.chain(again));
    assert_eq!(analysis.flows[0].vantage, Vantage::Unknown);
    assert_eq!(analysis.flows[0].lost(), 3);
    assert_eq!(
        analysis.answer(),
        "3 packets of 1 flow were sent again; why is not shown, as no answer was captured."
    );
}

#[test]
fn timer_repeats_that_are_never_answered_show_an_outage() {
    let times = [0, 200, 800, 2_000, 4_400, 9_200];
    let analysis = analysis(times.map(|ms| (ms, Segment::data(1, 100))));
    let outage = analysis.flows[0].outages[0];
    assert_eq!((outage.from_s, outage.to_s, outage.answered), (0.2, 9.2, false));
    let answer = analysis.answer();
    assert!(
        answer.ends_with(
            "got no answer from 10.0.0.2:2000 from 0.2 s to the end: the path, or that host, seems to have been gone."
        ),
        "{answer}"
    );
}

#[test]
fn a_flow_of_which_only_acknowledgements_were_captured_is_named() {
    let analysis = analysis((0..20).map(|i| (10 * u64::from(i), ack(2 * i))));
    let flow = &analysis.flows[0];
    assert_eq!(
        (flow.src.as_str(), flow.packets, flow.acked_uncaptured),
        ("10.0.0.1:1000", 0, 3_800)
    );
    assert_eq!(
        analysis.answer(),
        "Whether a data packet of 1 flow was lost, the capture does not show. Of 10.0.0.1:1000 to 10.0.0.2:2000 only \
         acknowledgements were captured, of 3.8 kB."
    );
}

#[test]
fn an_attempt_to_connect_that_nobody_answers_is_told() {
    let syn = || Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let analysis = analysis([0, 1_000, 3_000, 7_000].map(|ms| (ms, syn())));
    let opening = analysis.flows[0].opening.unwrap();
    assert_eq!((opening.repeats, opening.waited_s, opening.answered), (3, 7.0, false));
    let answer = analysis.answer();
    assert!(
        answer.ends_with("10.0.0.1:1000 to 10.0.0.2:2000: 4 SYNs in 7.0 s, never answered."),
        "{answer}"
    );
}

#[test]
fn a_keep_alive_right_behind_the_first_packet_is_no_loss() {
    let sent = [(50, data(0)), (92, ack(1))];
    let flow =
        at_sender(sent.into_iter().chain([(187_000, Segment::data(100, 1)), (187_040, ack(1))]));
    assert_eq!((lost(&flow).len(), flow.probes), (0, 1));
}

#[test]
fn copies_without_an_identification_are_no_losses() {
    let sent = (0..10).flat_map(|i| [0, 1].map(|_| (50 + 50 * u64::from(i), data(i))));
    let answers = (0..10).map(|i| (92 + 50 * u64::from(i), ack(i + 1)));
    let mut packets: Vec<_> = handshake().into_iter().chain(sent).chain(answers).collect();
    packets.sort_by_key(|(ms, _)| *ms);
    let analysis = analysis(packets);
    assert_eq!((analysis.flows[0].lost(), analysis.flows[0].duplicates), (0, 10));
    assert!(
        analysis.notes().iter().any(|note| note.starts_with("10 packets are here twice")),
        "{:?}",
        analysis.notes()
    );
}

#[test]
fn a_packet_that_the_network_cut_otherwise_is_one_loss() {
    let sent = (0..5).map(|i| (50 + u64::from(i), data(i)));
    // Bytes 91 to 180 of the stream: the end of the first captured segment, and most of the second.
    let again = Segment::data(92, 90).at(1_060, 5);
    let sack = |end| Segment::ack(92).sack(&[(182, end)]);
    let answers = [
        (90, Segment::ack(92)),
        (92, sack(301)),
        (93, sack(401)),
        (94, sack(501)),
        (95, again),
        (135, ack(5)),
    ];
    assert_eq!(lost(&at_sender(sent.chain(answers))), [(92, 90, Evidence::FastRetransmit)]);
}

#[test]
fn a_closed_window_is_told_though_nothing_was_lost() {
    let closed = || Segment { window: 0, ..ack(3) };
    let sent = (0..3).map(|i| (50 + u64::from(i), data(i)));
    let rest = [
        (92, closed()),
        (5_000, Segment::data(300, 1)),
        (5_040, closed()),
        (12_092, ack(3)),
        (12_100, data(3)),
    ];
    let analysis =
        analysis(handshake().into_iter().chain(sent).chain(rest).chain([(12_140, ack(4))]));
    assert_eq!(analysis.flows[0].window_closed_s, 12.0);
    let answer = analysis.answer();
    let told = "No data packet of 1 flow was lost. 10.0.0.2:2000 could take nothing: its window was closed for 12.0 of 12.1 s.";
    assert_eq!(answer, told);
}

#[test]
fn holes_that_nothing_ever_filled_were_made_by_the_capture() {
    // Every tenth packet of ten seconds, without acknowledgements.
    let analysis = analysis((0..100).map(|i| (100 * u64::from(i), data(10 * i))));
    let flow = &analysis.flows[0];
    assert!(flow.is_incomplete(), "{} captured, {} missed", flow.packets, flow.capture_drops);
    let answer = analysis.answer();
    assert!(answer.contains("The capture holds about 10 % of the packets"), "{answer}");
    assert!(!answer.contains("congestion") && !answer.contains("No data packet"), "{answer}");
}

#[test]
fn old_data_that_is_sent_again_excuses_no_hole_in_front_of_it() {
    // Packet 10 was lost. Eight seconds later the sender goes back to packet 2, and sends new data
    // too.
    let sent = (0..20).filter(|i| *i != 10).map(|i| (100 + 5 * u64::from(i), data(i)));
    let again = (2..9).chain(20..22).map(|i| (8_000 + 5 * u64::from(i), data(i)));
    let answered = |(ms, segment): (u64, Segment)| {
        let next = (ms - 100) / 5 + 1;
        [(ms, segment), (ms, ack(if next > 10 { 10 } else { next as u32 }))]
    };
    let flow = analysis(handshake().into_iter().chain(sent.chain(again).flat_map(answered)))
        .flows
        .remove(0);
    assert_eq!((flow.lost(), flow.capture_drops), (1, 0), "{flow:?}");
}

#[test]
fn a_pause_of_a_stream_and_new_numbers_are_no_losses() {
    let stream = |second: fn(u64) -> (u64, u16)| {
        let packets: Vec<_> = (0..200_u64)
            .map(|i| {
                let (at_ms, number) = if i < 100 { (20 * i, i as u16) } else { second(i) };
                (at_ms * 1_000, rtp(number, u32::from(number) * 160, 100))
            })
            .collect();
        analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap().flows.remove(0)
    };
    let paused = stream(|i| (20 * i + 34_000, i as u16 + 1_700));
    let pause = paused.pauses[0];
    assert_eq!((paused.lost(), paused.pauses.len(), pause.skipped), (0, 1, 1_700));
    assert_eq!((pause.from_s, pause.to_s), (1.98, 36.0));
    let long = stream(|i| (20 * i + 200_000, i as u16 + 10_000));
    assert_eq!((long.lost(), long.pauses.len()), (0, 1));
    let renumbered = stream(|i| (20 * i, i as u16 + 1_800));
    assert_eq!((renumbered.lost(), renumbered.pauses.len(), renumbered.renumbered), (0, 0, 1));
    let burst = stream(|i| (20 * i + 800, i as u16 + 40));
    assert_eq!(burst.lost(), 40, "of 40 packets in 0.8 s");
    let held = stream(|i| (20 * i + 34_000, i as u16 + 3));
    assert_eq!((held.lost(), held.pauses.len()), (3, 0), "3 numbers fit no 34 s");
}

#[test]
fn a_sender_that_goes_on_behind_its_repeats_had_no_outage() {
    let sent = (0..20).map(|i| (50 * u64::from(i), data(i)));
    // Two packets that were lost are sent again, one round trip after the other, before new ones.
    let again = [
        (1_300, data(18)),
        (1_350, data(19)),
        (1_400, data(20)),
        (1_700, data(20)),
        (1_750, data(21)),
    ];
    let analysis = analysis(sent.chain(again));
    let flow = &analysis.flows[0];
    assert!(flow.one_way && flow.outages.is_empty(), "{flow:?}");
}

#[test]
fn what_a_sender_waited_for_is_told_apart() {
    // A request of ten packets every second, answered after 40 ms; then nothing is lost and nothing
    // is slow but the application.
    let round = |k: u32| {
        let sent = (0..10).map(move |i| (1_000 + 1_000 * u64::from(k), data(10 * k + i)));
        sent.chain([(1_040 + 1_000 * u64::from(k), ack(10 * k + 10))])
    };
    let analysis = analysis(handshake().into_iter().chain((0..11).flat_map(round)));
    let flow = &analysis.flows[0];
    let pace = flow.pace.unwrap();
    let sending = pace.sending.unwrap();
    assert!((9.5..9.7).contains(&sending.idle_s), "{sending:?}");
    assert!((sending.stall_s - 0.04).abs() < 1e-9, "{sending:?}");
    assert_eq!(sending.rtt.map(|rtt| (rtt.least_ms, rtt.most_ms)), Some((40.0, 40.0)));
    let answer = analysis.answer();
    assert!(
        answer.starts_with("No data packet of 1 flow was lost. 10.0.0.1:1000 had nothing to send for 9.6 of 10.0 s."),
        "{answer}"
    );
}

#[test]
fn a_receiver_whose_window_is_full_holds_its_sender_up() {
    // Windows of 500 bytes: five packets each round trip of 40 ms.
    let small = |number| Segment { window: 500, ..ack(number) };
    let round = |k: u32| {
        let at = 50 + 40 * u64::from(k);
        (0..5).map(move |i| (at, data(5 * k + i))).chain([(at + 40, small(5 * k + 5))])
    };
    let begun = [(40, small(0))];
    let analysis = analysis(handshake().into_iter().chain(begun).chain((0..40).flat_map(round)));
    let sending = analysis.flows[0].pace.unwrap().sending.unwrap();
    assert!(sending.window_full_s > 1.5 && sending.idle_s < 0.1, "{sending:?}");
    assert!(analysis.answer().ends_with("its receive window was full."), "{}", analysis.answer());
}

#[test]
fn a_capture_in_parts_tells_what_it_tells_as_a_whole() {
    let sent = (0..100).filter(|i| i % 10 != 7).map(|i| (50 * u64::from(i), data(i)));
    let packets: Vec<_> = sent.map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect();
    let (first, second) = packets.split_at(40);
    let [whole, first, second] = [&packets[..], first, second].map(pcap);
    let part = |bytes: &'static [u8]| -> Box<dyn std::io::Read> { Box::new(bytes) };
    let parts = [first, second].map(|bytes| part(bytes.leak()));
    let all = Options::all();
    let joined = losscause_capture::analyze_parts(parts, "f", &all).unwrap();
    let mut seen = Vec::new();
    let told = losscause_capture::analyze_live(whole.as_slice(), "f", &all, &mut |glance| {
        seen.push(glance);
    })
    .unwrap();
    assert_eq!((joined.answer(), joined.packets), (told.answer(), told.packets));
    assert_eq!(lost(&joined.flows[0]), lost(&told.flows[0]));
    // Every second of five but the first one.
    let counts: Vec<_> = seen
        .iter()
        .map(|glance| (glance.time_s, glance.packets, glance.flows, glance.lost))
        .collect();
    assert_eq!(counts[0], (1.0, 19, 1, 2));
    assert_eq!(counts.len(), 4, "{counts:?}");
}
