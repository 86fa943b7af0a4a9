"""The verbs of the command line as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, TypeAlias

from losscause import _losscause
from losscause._progress import shown
from losscause._result import Analysis, Comparison, Reproduction, Simulation, Sweep

Scenario: TypeAlias = "str | PathLike[str] | Mapping[str, Any]"
Algorithm: TypeAlias = "Callable[[], object]"
Algorithms: TypeAlias = "Iterable[Algorithm] | Mapping[str, Algorithm]"


def simulate(
    scenario: Scenario,
    seed: int = 1,
    *,
    runs: int = 1,
    jobs: int | None = None,
    interval: float | None = None,
    trace: bool | Iterable[str] = False,
    algorithms: Algorithms = (),
    progress: bool | None = None,
    **overrides: Any,
) -> Simulation:
    """Runs a scenario with the seeds `seed`, `seed + 1`, …, one per run.

    `scenario` is a file, a paper's scenario such as "cen2003/WLH", or a dictionary with the keys of a scenario file.
    Overrides change a parameter (`N=4`) or a key by its dotted path (`**{"link.shared.rate_bps": 1e6}`); a value may be
    a class: an algorithm or a TCP of your own. `algorithms` has further classes that the scenario may name.

    `interval` adds what happened in every interval of that many seconds. `trace=True` keeps every packet event as a
    table, `trace=["verdict", …]` those of some kinds. `jobs` is the number of threads, by default one per core. A bar
    shows the progress on a terminal if tqdm is installed, or wherever `progress=True`.
    """
    settings, own = _separate(overrides, algorithms)
    kinds = list(trace) if not isinstance(trace, bool) else [] if trace else None
    with shown(progress, "run" if runs != 1 else "s") as tell:
        json, answer, table = _losscause.simulate(
            scenario, seed, settings, own, runs=runs, jobs=jobs, interval=interval, trace=kinds, progress=tell
        )
    return Simulation(json, " ".join(answer), table)


def compare(
    scenario: Scenario,
    algorithms: Iterable[str | Algorithm] = (),
    *,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 1,
    runs: int = 10,
    jobs: int | None = None,
    progress: bool | None = None,
    **overrides: Any,
) -> Comparison:
    """Compares algorithms, or settings, with the first of them over the same seeds.

    `algorithms` are names, "none" for no algorithm, or classes of your own. `variants` are settings by a name each; if
    there are no algorithms, they are compared with the unchanged scenario. Overrides change all variants.
    """
    settings, own = _separate(overrides, ())
    names = []
    for algorithm in algorithms:
        names.append(algorithm if isinstance(algorithm, str) else _add(algorithm, own))
    compared = {}
    for name, variant in (variants or {}).items():
        compared[name], own = _separate(variant, own)
    with shown(progress, "run") as tell:
        json = _losscause.compare(
            scenario, names, compared, seed, runs, settings, own, jobs=jobs, progress=tell
        )
    return Comparison(json)


def sweep(
    file: str | PathLike[str],
    *,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    restart: bool = False,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    algorithms: Algorithms = (),
    progress: bool | None = None,
    **overrides: Any,
) -> Sweep:
    """Measures every cell of a sweep file. With `out`, finished cells are kept in that folder. A folder that has some is
    refused: `resume=True` goes on with them after an interruption, `restart=True` drops them. `engine="ray"` measures them
    on a Ray cluster, that at `address` or one on this machine; the results are the same to the byte."""
    settings, own = _separate(overrides, algorithms)
    if engine == "ray":
        return _on_ray(file, settings, own, runs, seed, out, resume, restart, address, progress)
    if engine != "local":
        raise _losscause.Error(f'engine: is "{engine}", expected "local" or "ray"')
    if address is not None:
        raise _losscause.Error('address: only valid with engine="ray"; remove it')
    with shown(progress, "run") as tell:
        json = _losscause.sweep(
            file,
            settings,
            own,
            runs=runs,
            seed=seed,
            jobs=jobs,
            out=out,
            resume=resume,
            restart=restart,
            progress=tell,
        )
    return Sweep(json, out)


def _on_ray(
    file: str | PathLike[str],
    settings: dict[str, Any],
    own: dict[str, Algorithm],
    runs: int | None,
    seed: int | None,
    out: str | PathLike[str] | None,
    resume: bool,
    restart: bool,
    address: str | None,
    progress: bool | None,
) -> Sweep:
    from losscause import _engine

    with shown(progress, "cell") as tell:
        done = _engine.on_ray(
            file,
            settings,
            own,
            runs=runs,
            seed=seed,
            out=out,
            resume=resume,
            restart=restart,
            address=address,
            tell=lambda so_far: tell(so_far.cells, so_far.all_cells) if tell else None,
        )
    if done.json is None and out is None:
        raise _losscause.Error(f"{done.cells} cells are too many for memory, expected out=FOLDER for the files")
    return Sweep(done.json, out)


def reproduce(
    *items: str,
    runs: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    algorithms: Iterable[str | Algorithm] | Mapping[str, Algorithm] = (),
    progress: bool | None = None,
) -> Reproduction:
    """Measures papers, or their tables and figures, again: `reproduce("cen2003/table2")`. Without any, a fixed choice of
    every paper, about half a minute on two cores. `runs` is by default as many as the paper made.

    `algorithms` are names, or classes of your own, that also run in the place of the papers' algorithms. Their values are
    the rows of `beside`, and never scored.
    """
    if isinstance(algorithms, Mapping):
        own = dict(algorithms)
        also = list(own)
    else:
        own = {}
        also = [algorithm if isinstance(algorithm, str) else _add(algorithm, own) for algorithm in algorithms]
    with shown(progress, "packet-hop") as tell:
        json, answer = _losscause.reproduce(list(items), also, own, runs=runs, seed=seed, jobs=jobs, progress=tell)
    return Reproduction(json, answer)


def analyze(
    capture: str | PathLike[str],
    *,
    ldas: Iterable[str] = (),
    flow: str | None = None,
    keep_skew: bool = False,
    algorithms: Algorithms = (),
    progress: bool | None = None,
) -> Analysis:
    """Tells why a capture (pcap, pcapng, qlog; plain, gzip, zstd) lost its packets. `ldas` names the algorithms to ask, by
    default all that can be; `flow` keeps only flows one of whose ends contains that text, such as "10.0.0.1:443";
    `keep_skew` leaves the skew between the clocks of sender and capture in the trip times."""
    _, own = _separate({}, algorithms)
    with shown(progress, "B") as tell:
        json, answer = _losscause.analyze(capture, list(ldas), own, flow=flow, keep_skew=keep_skew, progress=tell)
    return Analysis(json, answer)


def _separate(
    overrides: Mapping[str, Any], algorithms: Algorithms
) -> tuple[dict[str, Any], dict[str, Algorithm]]:
    """Settings, and the classes among them by their names."""
    own: dict[str, Algorithm] = {}
    if isinstance(algorithms, Mapping):
        own.update(algorithms)
    else:
        for algorithm in algorithms:
            _add(algorithm, own)
    settings = {key: _add(value, own) if callable(value) else value for key, value in overrides.items()}
    return settings, own


def _add(algorithm: Algorithm, own: dict[str, Algorithm]) -> str:
    """Adds a class, and returns the name that scenarios have for it."""
    name: str = getattr(algorithm, "__name__", type(algorithm).__name__)
    if own.setdefault(name, algorithm) is not algorithm:
        raise _losscause.Error(f"algorithms: two classes are called {name}, expected every name once")
    return name
