//! A stream over the simulator's links against simulated TFRC on the same links, with the same seeds.
//!
//! The simulated flow and the stream share `losscause_transport::tfrc` and the links; what the stream adds is between
//! them: handshake, packets of bytes, microseconds, vetting.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{Stream, secs};
use losscause::registry::{LdaConfig, Registry};
use losscause::{Span, Time};
use losscause_media::{ReceiverConfig, SenderConfig, receiver_lda};
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Simulation, TraceStart, Traffic,
};
use losscause_transport::tfrc;

/// A report's own bytes: RTCP header, SSRC and name, body, number, tag.
const REPORT_BYTES: u32 = 12 + 56 + 8 + 16;
const FROM: Time = Time::from_nanos(20_000_000_000);
const TO: Time = Time::from_nanos(220_000_000_000);

/// What both are run over.
struct Setting {
    links: Vec<LinkSpec>,
    packet_bytes: u16,
    /// Bytes of IP and UDP on the links.
    header_bytes: u32,
    lda: LdaConfig,
}

fn lda(name: &str) -> LdaConfig {
    receiver_lda(&Registry::built_in(), name).unwrap()
}

fn link(name: &str, rate_bps: u64, delay_ms: i64, queue_pkts: u32) -> LinkSpec {
    let queue = QueueSpec::DropTail { limit: Limit::Packets(queue_pkts) };
    LinkSpec::wired(name, rate_bps, Span::from_millis(delay_ms), queue)
}

impl Setting {
    /// The path, the same links back without errors, and a flow of TFRC with the stream's settings.
    fn network(&self) -> Network {
        let there: Vec<LinkId> = (0..self.links.len() as u32).map(LinkId).collect();
        let back: Vec<LinkId> = (self.links.len() as u32..2 * self.links.len() as u32).map(LinkId).collect();
        let mirrored = self.links.iter().rev().map(|link| link.mirrored(format!("{} back", link.name)));
        let config = tfrc::Config {
            payload_bytes: u32::from(self.packet_bytes),
            header_bytes: self.header_bytes,
            feedback_bytes: self.header_bytes + REPORT_BYTES,
            ..tfrc::Config::rfc5348()
        };
        let traffic = Traffic::Tfrc { config, lda: self.lda.build().unwrap() };
        Network {
            links: self.links.iter().cloned().chain(mirrored).collect(),
            flows: vec![FlowSpec::new("test", &there, &back, traffic)],
        }
    }

    /// Packets that simulated TFRC delivers between [`FROM`] and [`TO`].
    fn simulated(&self, seed: u64) -> u64 {
        let mut simulation = Simulation::new(&self.network(), seed).unwrap();
        let mut delivered = |until| {
            simulation.run_until(until, &mut ());
            simulation.flow(FlowId(0)).received_packets
        };
        let before = delivered(FROM);
        delivered(TO) - before
    }

    /// A stream, run until [`TO`], with its packets counted from [`FROM`] on.
    fn streamed(&self, seed: u64) -> Stream {
        let sender = SenderConfig { packet_bytes: self.packet_bytes, ..SenderConfig::default() };
        let receiver = ReceiverConfig { lda: self.lda.clone(), ..ReceiverConfig::default() };
        let mut stream = Stream::new(&self.network(), seed, (&sender, &receiver), self.header_bytes);
        stream.run_until(FROM);
        stream.count_from_here();
        stream.run_until(TO);
        assert_eq!(stream.sender.stats().contradicting_reports, 0, "an honest receiver was not believed");
        stream
    }
}

/// Video of 1200-byte packets over a cable and an air link with independent losses.
fn radio(loss: f64, name: &str) -> Setting {
    let air = LinkSpec { channel: ChannelSpec::Bernoulli { loss }, ..link("air", 2_000_000, 20, 12) };
    Setting {
        links: vec![link("cable", 10_000_000, 10, 50), air],
        packet_bytes: 1200,
        header_bytes: 28,
        lda: lda(name),
    }
}

/// Cen, Cosman and Voelker (2003), wireless last hop with one flow and the high loss of table I, as in
/// `papers/cen2003/scenarios/WLH.toml`: 150 kb/s, packets of 762 bytes on the links, queues of five and one in
/// transmission. Other traffic, which ends before the measurement begins, is left out.
fn last_hop(name: &str) -> Setting {
    let lost = pattern(include_str!("patterns/high.txt"));
    let loss = lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64;
    assert!((0.07..0.09).contains(&loss), "{loss}");
    let channel = ChannelSpec::Trace { lost: lost.into(), start: TraceStart::Drawn };
    let last = LinkSpec { channel, ..link("last", 150_000, 10, 5) };
    Setting {
        links: vec![link("access", 10_000_000, 1, 165), link("shared", 260_000, 20, 5), last],
        packet_bytes: 762,
        header_bytes: 0,
        lda: lda(name),
    }
}

/// Which packets the pattern loses: in its lines after the empty one, `12 x3` is twelve received and one lost.
fn pattern(text: &str) -> Vec<bool> {
    let (_, trials) = text.split_once("\n\n").unwrap();
    let runs = trials.split_whitespace().map(|word| match word.strip_prefix('x') {
        Some(_) => (1, true),
        None => (word.parse().unwrap(), false),
    });
    runs.flat_map(|(packets, lost)| std::iter::repeat_n(lost, packets)).collect()
}

/// The largest relative difference between stream and simulation over these seeds.
fn largest_difference(setting: &Setting, seeds: std::ops::RangeInclusive<u64>) -> f64 {
    let differences = seeds.map(|seed| {
        let (simulated, streamed) = (setting.simulated(seed) as f64, setting.streamed(seed).counts.delivered as f64);
        println!("seed {seed}: {simulated} packets simulated, {streamed} streamed");
        (streamed / simulated - 1.0).abs()
    });
    differences.fold(0.0, f64::max)
}

#[test]
fn a_stream_runs_within_a_hundredth_of_the_rate_of_simulated_tfrc() {
    for (what, setting) in [
        ("full queues", radio(0.0, "always congestion")),
        ("1 % random loss, plain", radio(0.01, "always congestion")),
        ("1 % random loss, ZBS", radio(0.01, "ZBS")),
        ("last hop, plain", last_hop("always congestion")),
        ("last hop, ZBS", last_hop("ZBS")),
    ] {
        let difference = largest_difference(&setting, 1..=3);
        println!("{what}: {:.2} % at most", 100.0 * difference);
        assert!(difference < 0.01, "{what}: {difference}");
    }
}

#[test]
fn with_zbs_a_stream_fills_cens_last_hop_and_without_it_does_not() {
    // Cen's throughput: all packets that crossed the last link, the corrupted ones included, over 200 s.
    let usage = |name: &str| {
        let usages = (1..=10).map(|seed| {
            let counts = last_hop(name).streamed(seed).counts;
            (counts.delivered + counts.corrupted) as f64 * 762.0 * 8.0 / (150e3 * 200.0)
        });
        usages.sum::<f64>() / 10.0
    };
    let (zbs, plain) = (usage("ZBS"), usage("always congestion"));
    println!("ZBS {:.1} %, plain TFRC {:.1} % of the last hop", 100.0 * zbs, 100.0 * plain);
    assert!(zbs >= 0.95, "{zbs}");
    assert!(plain < zbs - 0.1, "{plain}");
}

#[test]
fn the_verdicts_reach_the_application_and_the_sender() {
    let mut stream = last_hop("ZBS").streamed(1);
    let stats = stream.sender.stats();
    let lost = stats.lost_congestion_pkts + stats.lost_wireless_pkts;
    assert!(stats.lost_wireless_pkts > 2 * stats.lost_congestion_pkts, "most losses are wireless: {stats:?}");
    let gaps: u64 = stream.gaps.iter().map(|gap| gap.packets).sum();
    // The last report is up to a round-trip time old, and three packets pass before a loss is declared.
    assert!(gaps.abs_diff(lost) <= 5, "{gaps} in gaps, {lost} reported");
    assert!((0.02..0.2).contains(&stats.recent.wireless), "{:?}", stats.recent);
    assert!(stream.gaps.iter().all(|gap| gap.wireless <= gap.packets));
    let (rtt, rate) = (stats.rtt.unwrap(), stats.rate_bps);
    assert!((0.06..1.0).contains(&rtt.as_secs_f64()), "{rtt}");
    assert!((100e3..400e3).contains(&rate), "{rate}");
    assert!((stats.media_rate_bps / rate - 710.0 / 762.0).abs() < 1e-9);

    // Bye is answered, and the totals agree.
    stream.sender.finish(TO);
    stream.run_until(secs(230));
    assert_eq!(stream.ended, Some(losscause_media::End::Finished));
    assert_eq!(stream.sender.end(), Some(losscause_media::End::Finished));
    let (sender, receiver) = (stream.sender.stats(), stream.receiver.stats());
    assert_eq!(receiver.sent_pkts, Some(sender.sent_pkts));
    assert_eq!(receiver.received_pkts, sender.received_pkts);
}

#[test]
fn the_largest_rate_holds_where_the_path_carries_more() {
    let setting = radio(0.0, "ZBS");
    let sender = SenderConfig { max_rate_bps: 400_000, ..SenderConfig::default() };
    let mut stream = Stream::new(&setting.network(), 1, (&sender, &ReceiverConfig::default()), 28);
    stream.run_until(FROM);
    stream.count_from_here();
    stream.run_until(FROM + Span::from_secs(60));
    // 400 kb/s are 41.67 packets of 1200 bytes per second.
    assert!((2490..=2501).contains(&stream.counts.delivered), "{}", stream.counts.delivered);
    assert_eq!(stream.sender.stats().rate_bps, 400e3);
}
