//! The same run in our simulator, with the transports in their ns-2 mode.

use anyhow::{Context, Result};
use losscause::lda::Constant;
use losscause::{AnyAlgorithm, Span, Time, Verdict};
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, RedSpec,
    Simulation, TraceStart, Traffic,
};
use losscause_transport::{tcp, tfrc};

use super::Outcome;
use super::draws;
use super::grid::{Cell, Errors, Grid};

/// The bottleneck's place in the network.
const BOTTLENECK: LinkId = LinkId(0);
const BACK: LinkId = LinkId(1);

/// Runs `cell` in our simulator.
pub(super) fn run(grid: &Grid, cell: &Cell, seed: u64) -> Result<Outcome> {
    let network = network(grid, cell, seed);
    let mut simulation =
        Simulation::new(&network, seed).with_context(|| format!("the cell {cell}"))?;
    simulation.run_until(Time::ZERO + Span::from_secs(grid.run.duration_s), &mut ());
    let reports = || (0..cell.flows).map(|flow| simulation.flow(FlowId(flow)));
    Ok(Outcome {
        delivered: reports().map(|flow| flow.delivered_packets).sum(),
        queue_drops: simulation.counters().link(BOTTLENECK).queue_drops,
        timeouts: reports().map(|flow| flow.tcp.map(|tcp| tcp.timeouts)).sum(),
    })
}

/// N senders, R1, the bottleneck, R2, N receivers, as in `dumbbell.tcl`.
fn network(grid: &Grid, cell: &Cell, seed: u64) -> Network {
    let run = &grid.run;
    let access = Span::from_millis(run.access_ms);
    let far =
        Span::from_nanos(Span::from_millis(cell.rtt_ms).as_nanos() / 2 - 2 * access.as_nanos());
    let link = |name: String, kbps: u64, delay: Span, limit: u32| {
        LinkSpec::wired(
            name,
            kbps * 1000,
            delay,
            QueueSpec::DropTail { limit: Limit::Packets(limit) },
        )
    };
    let unlimited = 100_000;
    let mut bottleneck = link("bottleneck".into(), cell.rate_kbps, far, cell.queue_limit - 1);
    if cell.red {
        bottleneck.queue = QueueSpec::Red(red(grid, cell));
    }
    if cell.loss > 0.0 {
        bottleneck.channel = match cell.errors {
            Errors::Paired => ChannelSpec::Trace {
                lost: draws::errors(cell, run, seed).into(),
                start: TraceStart::Slot(0),
            },
            Errors::Independent => ChannelSpec::Bernoulli { loss: cell.loss },
        };
    }
    let mut links = vec![bottleneck, link("back".into(), cell.rate_kbps, far, unlimited)];
    let mut flows = Vec::new();
    for (flow, start) in draws::starts(cell, run, seed).into_iter().enumerate() {
        let mut end = |side: &str| {
            links.push(link(format!("{side} {flow}"), cell.access_kbps, access, unlimited));
            LinkId(links.len() as u32 - 1)
        };
        let path = [end("sender to R1"), BOTTLENECK, end("R2 to receiver")];
        let return_path = [end("receiver to R2"), BACK, end("R1 to sender")];
        let spec = FlowSpec::new(format!("flow {flow}"), &path, &return_path, traffic(grid, cell));
        flows.push(FlowSpec { start, ..spec });
    }
    let rate_bps = cell.cross_bps();
    if rate_bps > 0 {
        for flow in 0..cell.flows as usize {
            let last_link = flows[flow].path[2];
            let traffic = Traffic::cbr(rate_bps, run.cross_bytes);
            flows.push(FlowSpec::new(format!("cross {flow}"), &[last_link], &[], traffic));
        }
    }
    Network { links, flows }
}

/// RED as ns-2 has it.
fn red(grid: &Grid, cell: &Cell) -> RedSpec {
    RedSpec {
        min_th_pkts: grid.red.min_th,
        max_th_pkts: grid.red.max_th,
        max_p: grid.red.max_p,
        w_q: grid.red.w_q,
        gentle: grid.red.gentle,
        like_ns2: true,
        // dumbbell.tcl: mean_pktsize_.
        typical_packet_bytes: cell.payload_bytes + 40,
        ..RedSpec::new(Limit::Packets(cell.queue_limit - 1))
    }
}

/// The transports' ns-2 mode, with the grid's settings.
fn traffic(grid: &Grid, cell: &Cell) -> Traffic {
    match cell.protocol.tcp() {
        Some(variant) => {
            let config = tcp::Config {
                payload_bytes: cell.payload_bytes,
                max_window_pkts: grid.tcp.window_pkts,
                min_rto: Span::from_millis(grid.tcp.min_rto_ms),
                quirks: tcp::Quirks {
                    tick: Span::from_millis(grid.tcp.tick_ms),
                    ..tcp::Quirks::NS2_2_35
                },
                ..tcp::Config::ns2()
            };
            Traffic::tcp(config.with_variant(variant))
        }
        None => Traffic::Tfrc {
            config: tfrc::Config { payload_bytes: cell.payload_bytes, ..tfrc::Config::ns2() },
            lda: AnyAlgorithm::Constant(Constant::new(Verdict::Congestion)),
        },
    }
}
