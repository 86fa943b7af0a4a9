//! The workload that speed is measured on: the wireless last hop of Cen, Cosman and Voelker (2003),
//! section V, as `validation/ns2/wlh.tcl` has it. Each flow crosses an access link, the shared
//! link, and a radio link of its own.

use losscause::{AnyAlgorithm, Span, Time, Verdict, lda};
use losscause_sim::{
    ChannelSpec, Counters, FlowSpec, Lengths, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic,
};
use losscause_transport::{tcp, tfrc};

/// Plain TFRC in packets of 762 bytes.
pub(crate) fn tfrc() -> Traffic {
    let config = tfrc::Config::ns2();
    let config = tfrc::Config { payload_bytes: 762 - config.header_bytes, ..config };
    Traffic::Tfrc { config, lda: AnyAlgorithm::Constant(lda::Constant::new(Verdict::Congestion)) }
}

/// Plain Reno in packets of 762 bytes.
pub(crate) fn tcp() -> Traffic {
    let config = tcp::Config::ns2();
    Traffic::tcp(tcp::Config { payload_bytes: 762 - config.header_bytes, ..config })
}

/// A bit less than the radio link carries, in packets of 762 bytes: links and events, next to no
/// transport.
pub(crate) fn cbr() -> Traffic {
    Traffic::cbr(130_000, 762)
}

/// `flows` flows over 150 kb/s radio links that lose 7.8 % of the packets, warmed up by two on-off
/// sources.
pub(crate) fn wireless_last_hop(flows: u32, traffic: &Traffic) -> Network {
    let mut network = Network::default();
    let shared_bps = u64::from(flows.max(2)) * 130_000;
    let to = cable(&mut network, "shared", shared_bps, Span::from_millis(20), 0.0);
    for i in 0..flows {
        let access =
            cable(&mut network, &format!("access {i}"), 10_000_000, Span::from_millis(1), 0.0);
        let radio =
            cable(&mut network, &format!("radio {i}"), 150_000, Span::from_millis(10), 0.078);
        let path = [access[0], to[0], radio[0]];
        let return_path = [radio[1], to[1], access[1]];
        network.flows.push(FlowSpec {
            start: Time::ZERO + Span::from_secs(20),
            start_spread: Span::from_secs(2),
            ..FlowSpec::new(format!("flow {i}"), &path, &return_path, traffic.clone())
        });
    }
    for i in 0..2 {
        let access = cable(
            &mut network,
            &format!("warm-up access {i}"),
            10_000_000,
            Span::from_millis(1),
            0.0,
        );
        let exit = cable(
            &mut network,
            &format!("warm-up exit {i}"),
            10_000_000,
            Span::from_millis(1),
            0.0,
        );
        let mean = Span::from_millis(500);
        let lengths = Lengths::Exponential;
        let on_off = Traffic::OnOff {
            rate_bps: shared_bps / 2,
            packet_bytes: 762,
            mean_on: mean,
            mean_off: mean,
            lengths,
            lda: None,
        };
        network.flows.push(FlowSpec {
            stop: Some(Time::ZERO + Span::from_secs(22)),
            measured: false,
            ..FlowSpec::new(format!("warm-up {i}"), &[access[0], to[0], exit[0]], &[], on_off)
        });
    }
    network
}

/// Packets that crossed a link, all links together.
pub(crate) fn packet_hops(counters: &Counters) -> u64 {
    counters.links().iter().map(|link| link.transmitted).sum()
}

/// Two links, one per direction; errors on the way out only. Queues as in ns-2: `limit_` L lets L -
/// 1 packets wait.
fn cable(network: &mut Network, name: &str, rate_bps: u64, delay: Span, loss: f64) -> [LinkId; 2] {
    let limit_pkts = (rate_bps / 60_000).max(6) as u32;
    let queue = QueueSpec::DropTail { limit: Limit::Packets(limit_pkts - 1) };
    let out = LinkSpec::wired(format!("{name} out"), rate_bps, delay, queue);
    let back = LinkSpec::wired(format!("{name} back"), rate_bps, delay, queue);
    let channel = if loss > 0.0 { ChannelSpec::Bernoulli { loss } } else { ChannelSpec::Perfect };
    let id = network.links.len() as u32;
    network.links.push(LinkSpec { channel, ..out });
    network.links.push(back);
    [LinkId(id), LinkId(id + 1)]
}
