"""Sweeps on Ray: the cells of a sweep as tasks on the machines of a cluster.

The driver, this process, hands out chunks of consecutive cells and keeps what comes back as Parquet parts, each of which
appears whole or not at all. A cell's values depend only on the sweep file and the cell's number, so it does not matter where
and how often a cell is measured. A worker that ends or a node that is lost costs the time of its tasks. If the driver ends,
`resume` goes on with the parts that are there.
"""

from __future__ import annotations

import os
import re
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import losscause
from losscause import _parts
from losscause._losscause import Directory, Error, Plan

# A task should last this long, seconds, and longer on a large cluster: the driver keeps the results of at most
# TASKS_PER_S tasks per second (docs/ray.md has what it needs for each).
TASK_S = 1.0
TASKS_PER_S = 100
# Tasks that wait on the cluster, for each of its cores: enough to keep it busy while the driver keeps results.
TASKS_PER_CORE = 3
# Losses of workers or nodes in a row, without a finished task, after which the sweep ends.
MOST_LOSSES = 20
# What the temporary directories of the workers begin with.
COPIES = "losscause-sweep-"


class Recipe(NamedTuple):
    """What a worker needs to measure cells: the sweep, and the content of the files that it reads."""

    sweep: str | Mapping[str, Any]
    files: Mapping[str, bytes]
    settings: Mapping[str, Any]
    algorithms: Mapping[str, Callable[[], object]]
    runs: int | None
    seed: int | None

    def plan(self) -> Plan:
        return Plan(self.sweep, dict(self.settings), dict(self.algorithms), runs=self.runs, seed=self.seed)


class Progress(NamedTuple):
    """How far a sweep is."""

    cells: int
    all_cells: int
    resumed: int
    seconds: float
    # Cells of every node, by its name.
    nodes: Mapping[str, int]


def sweep(
    recipe: Recipe,
    plan: Plan,
    directory: Directory | None,
    address: str | None,
    tell: Callable[[Progress], object],
) -> _parts.Parts:
    """Measures every cell that `directory` does not have yet, and returns the parts of all."""
    ray = _ray()
    parts = _parts.Parts(plan, directory)
    resumed = parts.cells
    begun = time.monotonic()
    nodes: dict[str, int] = {}
    pending = parts.missing()
    if not pending:
        tell(Progress(parts.cells, plan.count, resumed, 0.0, nodes))
        return parts
    with _cluster(ray, address) as cores:
        task = ray.remote(_measure).options(num_cpus=1, max_retries=-1)
        shipped = ray.put(recipe)
        running: dict[Any, tuple[int, int]] = {}
        # Seconds per cell; the first tasks are single cells.
        per_cell = TASK_S
        losses = 0
        try:
            while pending or running:
                there_are = max(cores(), 1)
                wanted = max(TASK_S, there_are / TASKS_PER_S)
                while pending and len(running) < TASKS_PER_CORE * there_are:
                    first, end = pending.pop()
                    cut = min(end, first + max(1, round(wanted / per_cell)))
                    if cut < end:
                        pending.append((cut, end))
                    running[task.remote(shipped, first, cut)] = (first, cut)
                finished, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
                for reference in finished:
                    first, end = running.pop(reference)
                    try:
                        node, seconds, values = ray.get(reference)
                    except _lost(ray) as error:
                        losses += 1
                        if losses > MOST_LOSSES:
                            raise Error(f"cells {first} to {end - 1}: {losses} workers in a row were lost: {error}") from None
                        pending.append((first, end))
                        continue
                    except ray.exceptions.RayTaskError as error:
                        raise _failed(error, first, end) from None
                    losses = 0
                    parts.add(first, end, values)
                    nodes[node] = nodes.get(node, 0) + end - first
                    per_cell += 0.3 * (max(seconds / (end - first), 1e-6) - per_cell)
                tell(Progress(parts.cells, plan.count, resumed, time.monotonic() - begun, nodes))
        finally:
            for reference in running:
                ray.cancel(reference, force=False)
    return parts


# The plans of this worker, each with its recipe.
_known: list[tuple[Recipe, Plan]] = []


def _measure(recipe: Recipe, first: int, end: int) -> tuple[str, float, bytes]:
    """In a worker: the node's name, the time that it took, and the values."""
    ray: Any = _ray()
    plan = next((plan for known, plan in _known if known == recipe), None)
    if plan is None:
        plan = _unpacked(recipe)
        _known.append((recipe, plan))
    begun = time.perf_counter()
    values = plan.measure(first, end)
    return ray.util.get_node_ip_address() + "/" + ray.get_runtime_context().get_node_id()[:6], time.perf_counter() - begun, values


def _unpacked(recipe: Recipe) -> Plan:
    """The plan of a recipe whose files may not be on this machine: they are written to a temporary directory, each in the
    same place relative to the others."""
    if isinstance(recipe.sweep, Mapping):
        return recipe.plan()
    root = os.path.commonpath([os.path.dirname(os.path.abspath(name)) for name in recipe.files])
    with tempfile.TemporaryDirectory(prefix=COPIES) as place:
        for name, content in recipe.files.items():
            target = Path(place, os.path.relpath(os.path.abspath(name), root))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        sweep = os.path.join(place, os.path.relpath(os.path.abspath(recipe.sweep), root))
        return recipe._replace(sweep=sweep).plan()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise Error('engine: Ray is not installed, expected `pip install ray pyarrow` first') from None
    return ray


@contextmanager
def _cluster(ray: Any, address: str | None) -> Iterator[Callable[[], int]]:
    """The cluster at `address`, or one on this machine that ends with the sweep; how many cores it has now."""
    mine = not ray.is_initialized()
    if mine:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            options |= {"include_dashboard": False, "object_store_memory": 200_000_000}
        else:
            # Other machines get this package; on this one the workers have it.
            _answers(address)
            options |= {"runtime_env": {"py_modules": [os.path.dirname(losscause.__file__)]}}
        try:
            ray.init(address=address, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            place = address or "this machine"
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Error(f"address: no Ray cluster answers at {place}: {reason}") from None
    try:
        yield lambda: int(ray.cluster_resources().get("CPU", 1))
    finally:
        if mine:
            ray.shutdown()


def _answers(address: str) -> None:
    """Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise Error(f"address: no Ray cluster answers at {address}: {error.strerror or error}") from None


def _lost(ray: Any) -> tuple[type[Exception], ...]:
    """What is raised for a task whose worker or node is gone."""
    names = ("WorkerCrashedError", "NodeDiedError", "ObjectLostError", "OwnerDiedError", "LocalRayletDiedError")
    return tuple(getattr(ray.exceptions, name) for name in names if hasattr(ray.exceptions, name))


def _failed(error: Any, first: int, end: int) -> Exception:
    """The error of a cell, with its place."""
    cause = error.cause
    which = f"cell {first}" if end == first + 1 else f"one of the cells {first} to {end - 1}"
    if isinstance(cause, Error):
        # The worker's copies of the files have the names that the sweep has for them.
        text = re.sub(rf"[^ ]*{COPIES}[^/]*/", "", str(cause))
        return Error(text if re.search(r": cell \d+: ", text) else f"{which}: {text}")
    return Error(f"{which}: {type(cause).__name__}: {cause}")
