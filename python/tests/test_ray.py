"""Sweeps on Ray: the same bytes whatever happens to workers, nodes and the driver."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import needs
import pytest

import losscause

ray = needs.package("ray")
pyarrow = needs.package("pyarrow")
import pyarrow.parquet  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("default"),  # Ray's own warnings are not ours.
    pytest.mark.skipif(sys.platform == "win32", reason="nodes on one machine need Linux"),
]

SCENARIO = """
title = "t"
duration_s = {duration}
[parameters]
loss = 0.01
[measure]
bottleneck = "a"
[[link]]
name = "a"
rate_bps = 2e6
delay_ms = 10
queue_packets = 10
channel = {{ kind = "bernoulli", loss = "loss" }}
[[flow]]
name = "f"
protocol = "tcp"
path = ["a"]
"""

SWEEP = """
title = "t"
scenario = "s.toml"
metrics = ["goodput", "M_w", "queue_drops"]
sampler = {{ kind = "latin-hypercube", cells = {cells} }}
runs = 2
[[system]]
name = "Reno"
[[system]]
name = "Spike"
set = ["flow.f.lda=Spike"]
[[axis]]
key = "loss"
range = {{ from = 1e-3, to = 0.1, scale = "log" }}
"""

RESULTS = ["report.html", "runs.csv", "runs.parquet", "sweep.csv", "sweep.json"]


class Place:
    """A directory with a sweep of which each cell takes some 50 ms."""

    def __init__(self, path: Path, cells: int = 60, duration: int = 1_500) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        (path / "s.toml").write_text(SCENARIO.format(duration=duration))
        (path / "sweep.toml").write_text(SWEEP.format(cells=cells))
        self.sweep = path / "sweep.toml"

    def run(self, out: str, **options: Any) -> losscause.Sweep:
        return losscause.sweep(self.sweep, out=self.path / out, engine="ray", **options)

    def results(self, out: str) -> dict[str, bytes]:
        return {name: (self.path / out / name).read_bytes() for name in RESULTS}

    def parts(self, out: str) -> list[Path]:
        return sorted((self.path / out / "cells").glob("*.parquet"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("ray") / "place")


@pytest.fixture(scope="module")
def one_node() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def expected(place: Place, one_node: None) -> dict[str, bytes]:
    """The results of a sweep that nothing happened to. All but the table are those of the local engine."""
    losscause.sweep(place.sweep, out=place.path / "local")
    swept = place.run("whole")
    found = place.results("whole")
    for name in RESULTS:
        if name != "runs.parquet":
            assert found[name] == (place.path / "local" / name).read_bytes(), name
    assert swept.json.encode() == found["sweep.json"]
    return found


def test_the_table_has_the_runs_of_the_csv_sorted_by_cell(place: Place, expected: dict[str, bytes]) -> None:
    table = pyarrow.parquet.read_table(place.path / "whole" / "runs.parquet")
    lines = expected["runs.csv"].decode().splitlines()[1:]
    assert table.num_rows == len(lines) == 60 * 2 * 2
    assert table["cell"].to_pylist() == [int(line.split(",")[0]) for line in lines]
    assert table["seed"].to_pylist() == [int(line.split(",")[3]) for line in lines]
    goodput = [float(line.split(",")[4]) for line in lines]
    assert table["goodput"].to_pylist() == goodput


def test_axes_of_numbers_are_columns_of_numbers(place: Place, expected: dict[str, bytes], tmp_path: Path) -> None:
    kinds = pyarrow.parquet.read_schema(place.path / "whole" / "runs.parquet")
    assert kinds.field("loss").type == pyarrow.float64()
    scenario = {
        "title": "t",
        "duration_s": 5,
        "measure": {"bottleneck": "a"},
        "link": [{"name": "a", "rate_bps": 2e6, "delay_ms": 10, "queue_packets": 10}],
        "flow": [{"name": "f", "protocol": "tcp", "path": ["a"]}],
    }
    axes = {"link.a.queue_packets": [10, 20], "link.a.rate_bps": ["2M", 3e6], "flow.f.lda": ["Spike", "ZBS"]}
    on_ray = losscause.sweep(scenario, axes, metrics=["goodput"], runs=1, engine="ray", out=tmp_path / "ray")
    assert on_ray.json == losscause.sweep(scenario, axes, metrics=["goodput"], runs=1).json
    table = pyarrow.parquet.read_table(tmp_path / "ray" / "runs.parquet")
    assert table["link.a.queue_packets"].to_pylist() == [10] * 4 + [20] * 4
    for name, kind in [("link.a.queue_packets", pyarrow.int64()), ("link.a.rate_bps", pyarrow.string())]:
        assert table.schema.field(name).type == kind


def test_a_worker_that_is_killed_changes_no_byte(place: Place, expected: dict[str, bytes]) -> None:
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < 3:
            time.sleep(0.4)
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    title = (process / "cmdline").read_bytes()
                except OSError:
                    continue
                if title.startswith(b"ray::_measure") and int(process.name) not in killed:
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                    break
            if (place.path / "killed" / "sweep.json").exists():
                return

    thread = threading.Thread(target=kill)
    thread.start()
    place.run("killed")
    thread.join()
    assert killed, "a worker was killed"
    assert place.results("killed") == expected


def test_more_cells_of_a_sobol_sweep_keep_the_finished_ones(tmp_path: Path, one_node: None) -> None:
    place = Place(tmp_path / "place", duration=100)

    def run(out: str, cells: int) -> losscause.Sweep:
        place.sweep.write_text(SWEEP.format(cells=cells).replace("latin-hypercube", "sobol"))
        return place.run(out, resume=True)

    run("grown", 20)
    before = {part.name: part.stat().st_mtime_ns for part in place.parts("grown")}
    run("grown", 33)
    after = {part.name: part.stat().st_mtime_ns for part in place.parts("grown")}
    assert before.items() < after.items()
    run("whole", 33)
    assert place.results("grown") == place.results("whole")
    with pytest.raises(losscause.Error, match="was begun with 33 cells, not 20, which would lose finished ones"):
        run("grown", 20)


def test_a_damaged_part_is_measured_again_and_others_are_not(place: Place, expected: dict[str, bytes]) -> None:
    place.run("damaged")
    parts = place.parts("damaged")
    parts[1].write_bytes(parts[1].read_bytes()[:100])
    parts[2].unlink()
    kept = parts[0].stat().st_mtime_ns
    for name in RESULTS:
        (place.path / "damaged" / name).unlink()
    place.run("damaged", resume=True)
    assert place.parts("damaged")[0].stat().st_mtime_ns == kept
    assert place.results("damaged") == expected


def test_finished_parts_are_dropped_only_if_that_is_asked_for(place: Place, expected: dict[str, bytes]) -> None:
    place.run("damaged", restart=True)
    first = place.parts("damaged")[0].stat().st_mtime_ns
    with pytest.raises(losscause.Error, match="has finished cells of this sweep"):
        place.run("damaged")
    assert place.parts("damaged")[0].stat().st_mtime_ns == first
    place.run("damaged", restart=True)
    assert place.parts("damaged")[0].stat().st_mtime_ns > first


def test_another_sweeps_directory_is_refused_and_kept(tmp_path: Path, place: Place, expected: dict[str, bytes]) -> None:
    other = Place(tmp_path / "other", cells=3, duration=10)
    with pytest.raises(losscause.Error, match="holds the sweep"):
        losscause.sweep(other.sweep, out=place.path / "whole", engine="ray")
    edited = Place(tmp_path / "edited", cells=3, duration=10)
    edited.run("out")
    (edited.path / "s.toml").write_text(SCENARIO.format(duration=20))
    with pytest.raises(losscause.Error, match="was begun before .*s.toml was changed"):
        edited.run("out", resume=True)
    assert place.results("whole") == expected


def test_a_cell_that_cannot_be_measured_is_named(tmp_path: Path, one_node: None) -> None:
    class Raises:
        needs = ("acks",)

        def observe(self, observation: losscause.Observation) -> None: ...

        def judge(self, loss: losscause.Loss) -> str:
            raise ValueError("no verdict today")

    place = Place(tmp_path / "p", cells=2, duration=100)
    with pytest.raises(losscause.Error, match=r"cell [01]: plain\.toml: .*no verdict today"):
        losscause.sweep(_without_systems(place), engine="ray", **{"flow.f.lda": Raises})


def _without_systems(place: Place) -> Path:
    text = place.sweep.read_text()
    file = place.path / "plain.toml"
    file.write_text(text[: text.index("[[system]]")] + text[text.index("[[axis]]") :])
    return file


def test_what_no_engine_can_use_is_one_sentence(tmp_path: Path) -> None:
    place = Place(tmp_path / "p", cells=2, duration=10)
    with pytest.raises(losscause.Error, match='^engine: is "slurm", expected "local" or "ray"$'):
        losscause.sweep(place.sweep, engine="slurm")  # type: ignore[arg-type]
    with pytest.raises(losscause.Error, match="address: only valid with engine"):
        losscause.sweep(place.sweep, address="1.2.3.4:5")
    (place.path / "axes.toml").write_text('title = "t"\nscenario = "s.toml"\nmetrics = ["goodput"]\n')
    with pytest.raises(losscause.Error, match="axis: is missing"):
        losscause.sweep(place.path / "axes.toml", engine="ray")
    (place.path / "score.toml").write_text(
        'title = "t"\nscore = ["cen2003/table2"]\n[[axis]]\nkey = "tcp.quirks.tick_ms"\nvalues = [100, 10]\n'
    )
    with pytest.raises(losscause.Error, match="only the local engine measures"):
        losscause.sweep(place.path / "score.toml", engine="ray")


# Clusters of their own: the driver is another process.


def command(place: Place, out: str, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "losscause", "sweep", str(place.sweep)),
        *("--engine", "ray", "--out", str(place.path / out), "-q", *more),
    ]


def test_a_driver_that_is_killed_loses_nothing(place: Place, expected: dict[str, bytes]) -> None:
    """At MOMENTS random moments; resume gives the same bytes."""
    moments = int(os.environ.get("MOMENTS", "3"))
    draw = random.Random(7)
    ray.shutdown()
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 100_000_000})
    resumed = 0
    try:
        for moment in range(moments):
            out = f"driver-{moment}"
            driver = subprocess.Popen(command(place, out, "--address", cluster.address), stderr=subprocess.DEVNULL)
            # From the start of the process until after the last part.
            wanted, deadline = draw.uniform(-0.5, 2.5), time.monotonic() + 60
            while driver.poll() is None and time.monotonic() < deadline:
                if len(place.parts(out)) >= 1 or wanted < 0:
                    time.sleep(abs(wanted))
                    break
                time.sleep(0.02)
            driver.kill()
            driver.wait()
            resumed += bool(place.parts(out))
            done = subprocess.run(command(place, out, "--resume", "--address", cluster.address), check=False)
            assert done.returncode == 0
            assert place.results(out) == expected, f"moment {moment}, {wanted:.2f} s"
    finally:
        cluster.shutdown()
    assert resumed, "some parts were there to be resumed"


def test_one_of_three_nodes_that_is_lost_changes_no_byte(place: Place, expected: dict[str, bytes]) -> None:
    ray.shutdown()
    from ray.cluster_utils import Cluster

    memory = {"object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **memory})
    lost = cluster.add_node(num_cpus=1, **memory)
    cluster.add_node(num_cpus=1, **memory)
    cluster.wait_for_nodes()
    try:
        driver = subprocess.Popen(command(place, "node", "--address", cluster.address))
        deadline = time.monotonic() + 60
        while len(place.parts("node")) < 3 and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert driver.poll() is None, "the sweep is under way"
        cluster.remove_node(lost, allow_graceful=False)
        assert driver.wait(timeout=180) == 0
    finally:
        cluster.shutdown()
    assert place.results("node") == expected


def test_a_cluster_that_does_not_answer_is_one_sentence(place: Place) -> None:
    ray.shutdown()
    done = subprocess.run(
        command(place, "unreachable", "--address", "127.0.0.1:1"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("losscause: address: no Ray cluster answers at 127.0.0.1:1")
