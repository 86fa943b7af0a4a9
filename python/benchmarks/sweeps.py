"""What Ray costs over the local engine, and what the driver pays per cell and per task.

    python python/benchmarks/sweeps.py [PAIRS]

Both engines measure the same sweep on this machine's cores, in alternating order. The cluster and its workers are up before.
Start-up is measured apart. The last table has the driver's own processor time, for tasks of few and of many cells.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import losscause
import ray
from losscause import _ray

SCENARIO = """
title = "t"
duration_s = {duration}
[measure]
bottleneck = "a"
[[link]]
name = "a"
rate_bps = 2e6
delay_ms = 10
queue_packets = 10
channel = {{ kind = "bernoulli", loss = 0.01 }}
[[flow]]
name = "f"
protocol = "tcp"
path = ["a"]
"""

SWEEP = """
title = "t"
scenario = "s.toml"
metrics = ["goodput", "M_w", "queue_drops"]
sampler = {{ kind = "sobol", cells = {cells} }}
runs = 1
[[axis]]
key = "link.a.rate_bps"
range = {{ from = 2e6, to = 2.1e6 }}
"""


def sweep(place: Path, cells: int, duration: float) -> Path:
    (place / "s.toml").write_text(SCENARIO.format(duration=duration))
    (place / "sweep.toml").write_text(SWEEP.format(cells=cells))
    return place / "sweep.toml"


def timed(engine: str, file: Path, out: Path) -> float:
    begun = time.perf_counter()
    losscause.sweep(file, engine=engine, out=out, progress=False)
    return time.perf_counter() - begun


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    place = Path(tempfile.mkdtemp(prefix="losscause-benchmark-"))
    cores = os.cpu_count() or 1

    begun = time.perf_counter()
    ray.init(num_cpus=cores, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    timed("ray", sweep(place, 4 * cores, 100), place / "warm")
    print(f"start-up of Ray on one node, its first tasks included: {time.perf_counter() - begun:.1f} s")

    # About 15 ms per cell.
    file = sweep(place, 1_000, 1_000)
    ratios = []
    for pair in range(pairs):
        order = ["local", "ray"] if pair % 2 else ["ray", "local"]
        took = {engine: timed(engine, file, place / engine) for engine in order}
        ratios.append(took["ray"] / took["local"])
        print(f"local {took['local']:.2f} s, ray {took['ray']:.2f} s, ratio {ratios[-1]:.3f}")
    same = all((place / "ray" / f).read_bytes() == (place / "local" / f).read_bytes() for f in ("sweep.json", "runs.csv"))
    print(f"median ratio {statistics.median(ratios):.3f}; the same bytes: {same}")

    print("driver's processor time:")
    for seconds in (0.02, 0.5):
        _ray.TASK_S = seconds
        file = sweep(place, 4_000, 300)
        out = place / f"driver-{seconds}"
        begun = time.process_time()
        timed("ray", file, out)
        spent = time.process_time() - begun
        tasks = len(list((out / "cells").iterdir()))
        print(f"  {tasks} tasks of {4_000 / tasks:.1f} cells: {1e3 * spent / tasks:.2f} ms per task, {1e3 * spent / 4_000:.3f} ms per cell")


if __name__ == "__main__":
    main()
