"""A sweep to its results, on Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NamedTuple

from losscause import _ray
from losscause._losscause import Error, Plan


class Done(NamedTuple):
    """What was measured. `json` and `tables` are None if there are too many cells for a document in memory."""

    json: str | None
    tables: str | None
    cells: int
    resumed: int


def on_ray(
    sweep: str | PathLike[str] | Mapping[str, Any],
    settings: Mapping[str, Any],
    algorithms: Mapping[str, Callable[[], object]],
    *,
    runs: int | None,
    seed: int | None,
    out: str | PathLike[str] | None,
    resume: bool,
    restart: bool,
    address: str | None,
    tell: Callable[[_ray.Progress], object],
) -> Done:
    """Measures every cell of a sweep on a Ray cluster."""
    if not isinstance(sweep, Mapping):
        sweep = os.fspath(sweep)
    plan = Plan(sweep, dict(settings), dict(algorithms), runs=runs, seed=seed)
    directory = None if out is None else plan.hold(out, resume, restart)
    recipe = _ray.Recipe(sweep, plan.files(), settings, algorithms, runs, seed)
    if recipe.files and isinstance(sweep, Mapping):
        read = ", ".join(recipe.files)
        raise Error(f"engine: the dictionary reads {read}; expected a sweep file, whose files Ray takes along")
    resumed = 0

    def told(progress: _ray.Progress) -> None:
        nonlocal resumed
        resumed = progress.resumed
        tell(progress)

    parts = _ray.sweep(recipe, plan, directory, address, told)
    parts.write_table()
    json, tables = plan.conclude(parts.values(), directory) or (None, None)
    return Done(json, tables, plan.count, resumed)
