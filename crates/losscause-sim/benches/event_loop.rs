//! Packet-hops per second of the event loop: the wireless last hop with 16 flows of each kind of
//! traffic.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use losscause::{Span, Time};
use losscause_sim::Simulation;

mod workload;

fn event_loop(criterion: &mut Criterion) {
    let until = Time::ZERO + Span::from_secs(222);
    let mut group = criterion.benchmark_group("wireless last hop, 16 flows, 222 s");
    for (name, traffic) in
        [("tfrc", workload::tfrc()), ("tcp", workload::tcp()), ("cbr", workload::cbr())]
    {
        let network = workload::wireless_last_hop(16, &traffic);
        let fresh = Simulation::new(&network, 1).expect("the workload is valid");
        let mut once = fresh.clone();
        once.run_until(until, &mut ());
        group.throughput(Throughput::Elements(workload::packet_hops(once.counters())));
        group.sample_size(20);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || fresh.clone(),
                |mut simulation| {
                    simulation.run_until(until, &mut ());
                    simulation
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, event_loop);
criterion_main!(benches);
