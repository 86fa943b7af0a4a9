use super::*;

/// Four probes, 10 ms apart: answered, lost on the way up, lost somewhere, answered.
const IRTT: &str = r#"{
  "version": { "irtt": "0.9.1", "protocol": 1, "json_format": 1 },
  "stats": { "packets_sent": 4 },
  "round_trips": [
    { "seqno": 0, "lost": "false",
      "timestamps": { "client": { "receive": { "wall": 1030, "monotonic": 30 },
                                  "send": { "wall": 1528621979787034330, "monotonic": 5000000 } },
                      "server": { "receive": {}, "send": {} } },
      "delay": { "receive": 45177, "rtt": 40000000, "send": 89283 }, "ipdv": {} },
    { "seqno": 1, "lost": "true_up",
      "timestamps": { "client": { "receive": {}, "send": { "wall": 5, "monotonic": 15000000 } },
                      "server": { "receive": {}, "send": {} } },
      "delay": {}, "ipdv": {} },
    { "seqno": 2, "lost": true,
      "timestamps": { "client": { "receive": {}, "send": { "wall": 5, "monotonic": 25000000 } },
                      "server": { "receive": {}, "send": {} } },
      "delay": {}, "ipdv": {} },
    { "seqno": 3, "lost": false,
      "timestamps": { "client": { "receive": {}, "send": { "wall": 5, "monotonic": 35000000 } },
                      "server": { "receive": {}, "send": {} } },
      "delay": { "rtt": 52500000 }, "ipdv": {} }
  ]
}"#;

/// The same probes, and a fifth that is lost on the way down.
const CSV_ROWS: &str = "timestamp,rtt,uplink,downlink
1705744800600000000,40.0,10472.4,-10432.4
1705744800610000000,0,-1,0
1705744800620000000,-1,0,0
1705744800630000000,52.5,10480.1,-10427.6
1705744800640000000,0,0,-1
";

const PING: &str = "PING 100.64.0.1 (100.64.0.1) 56(84) bytes of data.
[1700182800.410000] 64 bytes from 100.64.0.1: icmp_seq=65534 ttl=63 time=60.6 ms
[1700182800.420000] 64 bytes from 100.64.0.1: icmp_seq=65535 ttl=63 time=56.9 ms
[1700182800.450000] 64 bytes from 100.64.0.1: icmp_seq=2 ttl=63 time=62 ms
[1700182800.458000] 64 bytes from 100.64.0.1: icmp_seq=1 ttl=63 time=75 ms
";

fn delays_of(text: &str, format: Format, round_trip: RoundTripPart) -> Vec<(f64, f64)> {
    delays(text, "x", format, round_trip)
        .unwrap()
        .iter()
        .map(|point| (point.at.as_millis_f64(), point.delay.as_millis_f64()))
        .collect()
}

/// The first and last millisecond of each stretch of losses, and all milliseconds.
fn losses_of(text: &str, format: Format, direction: LossDirection) -> (Vec<(usize, usize)>, usize) {
    let lost = losses(text, "x", format, direction).unwrap();
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for place in (0..lost.len()).filter(|&place| lost[place]) {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => stretches.push((place, place)),
        }
    }
    (stretches, lost.len())
}

#[test]
fn round_trips_of_irtt_give_their_delay_to_one_link_or_half_to_each() {
    assert_eq!(
        delays_of(IRTT, Format::Irtt, RoundTripPart::Whole),
        [(0.0, 40.0), (30.0, 52.5)],
        "lost ones have none"
    );
    assert_eq!(delays_of(IRTT, Format::Irtt, RoundTripPart::Half), [(0.0, 20.0), (30.0, 26.25)]);
    assert_eq!(delays_of(IRTT, Format::Lens, RoundTripPart::Whole)[1], (30.0, 52.5), "raw LENS");
}

#[test]
fn losses_hold_until_the_next_probe_in_their_direction() {
    let of = |direction| losses_of(IRTT, Format::Irtt, direction);
    assert_eq!(of(LossDirection::Any), (vec![(10, 29)], 40));
    assert_eq!(of(LossDirection::Up), (vec![(10, 19)], 40));
    assert_eq!(of(LossDirection::Down), (vec![], 40));
    let of = |direction| losses_of(CSV_ROWS, Format::Lens, direction);
    assert_eq!(of(LossDirection::Any), (vec![(10, 29), (40, 49)], 50));
    assert_eq!(of(LossDirection::Up), (vec![(10, 19)], 50));
    assert_eq!(of(LossDirection::Down), (vec![(40, 49)], 50));
}

#[test]
fn lens_has_three_formats() {
    assert_eq!(
        delays_of(CSV_ROWS, Format::Lens, RoundTripPart::Whole),
        [(0.0, 40.0), (30.0, 52.5)]
    );
    let csv = "timestamp,rtt\n1705744800.533641,91.8\n1705744800.55492,96.5\n";
    let found = delays_of(csv, Format::Lens, RoundTripPart::Whole);
    assert_eq!((found[0], found[1].1), ((0.0, 91.8), 96.5));
    assert!((found[1].0 - 21.279).abs() < 1e-3);
    let refused =
        losses(csv, "ping.csv", Format::Lens, LossDirection::Any).unwrap_err().to_string();
    assert!(refused.starts_with("ping.csv: is a CSV of ping, which leaves out"), "{refused}");
}

#[test]
fn gaps_in_the_numbers_of_ping_are_losses() {
    let found = delays_of(PING, Format::Lens, RoundTripPart::Whole);
    let delays: Vec<f64> = found.iter().map(|(_, delay)| *delay).collect();
    assert_eq!(delays, [60.6, 56.9, 62.0, 75.0]);
    // 0 is missing, between 10 and 48 ms; the next answer came at 40 ms. 1 was late, not lost.
    assert_eq!(losses_of(PING, Format::Lens, LossDirection::Any), (vec![(29, 39)], 60));
}

#[test]
fn leocc_has_a_delay_per_interval_and_a_round_of_all_of_them() {
    let points = leocc("12\n12\n16\n", "d", Span::from_millis(10)).unwrap();
    let found: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.at.as_millis_f64(), point.delay.as_millis_f64()))
        .collect();
    assert_eq!(found, [(0.0, 12.0), (10.0, 12.0), (20.0, 16.0), (30.0, 16.0)]);
}

#[test]
fn what_is_in_no_such_format_is_refused() {
    let whole = |text: &str, format| {
        delays(text, "x", format, RoundTripPart::Whole).unwrap_err().to_string()
    };
    assert!(whole("0 20\n1 30\n", Format::Irtt).starts_with("x, line 1: is not irtt's JSON"));
    let expected = format!("expected {EXPECTED}");
    assert_eq!(
        whole(r#"{"round_trips": []}"#, Format::Irtt),
        format!("x: holds no round-trip time, {expected}")
    );
    assert_eq!(
        whole("0 20\n1 30\n", Format::Lens),
        format!("x: holds no answer of ping -D, {expected}")
    );
    assert_eq!(
        whole("timestamp,rtt\n1,fast\n", Format::Lens),
        "x, line 2: is not a row of timestamp,rtt"
    );
    let impossible = whole("timestamp,rtt\n1,-5\n", Format::Lens);
    assert!(impossible.starts_with("x: holds a probe at 1 s that cannot be"), "{impossible}");
    let error = leocc("12\nlong\n", "d", Span::from_millis(10)).unwrap_err().to_string();
    assert_eq!(error, "d, line 2: is not a delay, expected whole milliseconds");
    assert!(leocc("", "d", Span::from_millis(10)).is_err());
}
