"""The verbs of the command line as functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeAlias

from losscause import _losscause
from losscause._losscause import Table
from losscause._progress import shown
from losscause._result import Analysis, Comparison, Reproduction, ResultWarning, Simulation, Sweep

Scenario: TypeAlias = "str | PathLike[str] | Mapping[str, Any]"
Algorithm: TypeAlias = "Callable[[], object]"
Algorithms: TypeAlias = "Iterable[Algorithm] | Mapping[str, Algorithm]"
# The value of a key of a scenario: text may have a unit ("20M", "0.5%"), a class is an algorithm or a TCP of one's own.
Value: TypeAlias = "str | SupportsFloat | SupportsIndex | Sequence[Any] | Mapping[str, Any] | Algorithm"
Settings: TypeAlias = "Mapping[str, Value]"


def simulate(
    scenario: Scenario,
    seed: int = 1,
    *,
    runs: int = 1,
    jobs: int | None = None,
    interval: float | None = None,
    trace: bool | Iterable[str] = False,
    set: Settings | None = None,
    algorithms: Algorithms = (),
    progress: bool | None = None,
    **overrides: Any,
) -> Simulation:
    """Runs a scenario with the seeds `seed`, `seed + 1`, …, one per run.

    `scenario` is a file, a paper's scenario such as "cen2003/WLH", or a dictionary with the keys of a scenario file.
    `set` changes parameters and keys by their dotted paths; keywords do the same. A text may have a unit ("20M", "0.5%"),
    and a value may be a class: an algorithm or a TCP of your own. `algorithms` has further classes that the scenario may
    name.

    `interval` adds what happened in every interval of that many seconds. `trace=True` keeps every packet event as a
    table, `trace=["verdict", …]` those of some kinds. `jobs` is the number of threads, by default one per core. A bar
    shows the progress on a terminal if tqdm is installed, or wherever `progress=True`.

    >>> run = simulate("cen2003/WLH", seed=7, set={"N": 2, "flow.test.lda": "Spike"})
    >>> run["metrics"]["thput"]["unit"]
    'percent'
    >>> [flow["flow"] for flow in run.flows if flow["measured"]]
    ['test.1', 'test.2']
    """
    settings, own = _separate(_given(set, overrides), algorithms)
    kinds = None if trace is False else [] if trace is True else _texts(trace, "trace", '["verdict"]')
    with _keywords(simulate, overrides), shown(progress, "run" if runs != 1 else "s") as tell:
        json, answer, table = _losscause.simulate(
            scenario, seed, settings, own, runs=runs, jobs=jobs, interval=interval, trace=kinds, progress=tell
        )
    made = Simulation(json, _in_python(" ".join(answer)), table)
    _warn(made._told())
    return made


def compare(
    scenario: Scenario,
    algorithms: Iterable[str | Algorithm] = (),
    *,
    variants: Mapping[str, Settings] | None = None,
    set: Settings | None = None,
    seed: int = 1,
    runs: int = 10,
    jobs: int | None = None,
    progress: bool | None = None,
    **overrides: Any,
) -> Comparison:
    """Compares algorithms, or settings, with the first of them over the same seeds.

    `algorithms` are names, "none" for no algorithm, or classes of your own. `variants` are settings by a name each; if
    there are no algorithms, they are compared with the unchanged scenario, which `{}` gives a name. `set` and keywords change
    all variants.

    >>> compared = compare("cen2003/WLH", ["none", "Spike"], runs=2, set={"N": 2})
    >>> [variant["name"] for variant in compared["variants"]]
    ['none', 'Spike']
    """
    settings, own = _separate(_given(set, overrides), ())
    names = _names(algorithms, own)
    compared = {}
    for name, variant in _dictionary(variants or {}, "variants").items():
        compared[name] = {key: _named(value, own) for key, value in _given(variant, {}, "variants").items()}
    with _keywords(compare, overrides), shown(progress, "run") as tell:
        json, told = _losscause.compare(
            scenario, names, compared, seed, runs, settings, own, jobs=jobs, progress=tell
        )
    made = Comparison(json, warnings=told)
    _warn(made._told())
    return made


def sweep(
    scenario: Scenario,
    axes: Mapping[str, Iterable[Value] | Mapping[str, Value]] | None = None,
    *,
    metrics: Iterable[str] = (),
    systems: Iterable[str | Algorithm] | Mapping[str, Settings] = (),
    set: Settings | None = None,
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
    """Measures a scenario at every combination of some values: a cell each.

    `scenario` is what `simulate` takes. Each axis is a key of it with its values, or with a range of numbers
    such as `{"from": 1e6, "to": 1e8, "steps": 9, "scale": "log"}`. `systems` are compared in every cell: algorithms,
    "none" for no algorithm, or settings by a name each. Without `axes`, `scenario` is a sweep file, or a dictionary with
    its keys.

    With `out`, finished cells are kept in that folder. A folder that has some is refused: `resume=True` goes on with them
    after an interruption, `restart=True` drops them. `engine="ray"` measures them on a Ray cluster, that at `address` or
    one on this machine; the results are the same to the byte.

    >>> swept = sweep("cen2003/WLH", {"N": [1, 2]}, metrics=["thput"], systems=["none", "Spike"], runs=1)
    >>> [(row["cell.values.N"], row["system"]) for row in swept.rows]
    [(1, 'none'), (1, 'Spike'), (2, 'none'), (2, 'Spike')]
    """
    settings, own = _separate(_given(set, overrides), algorithms)
    if out is not None and not isinstance(out, (str, PathLike)):
        raise _about(f"out: is of type {type(out).__name__}, expected a path", "out")
    if axes is not None:
        scenario = _asked(scenario, axes, metrics, systems, own)
    elif metrics or systems:
        raise _about("axes: is missing; metrics and systems belong to a scenario and its axes", "axes")
    given: dict[str, Any] = {"runs": runs, "seed": seed, "out": out, "resume": resume, "restart": restart}
    with _keywords(sweep, overrides):
        if engine == "ray":
            return _on_ray(scenario, settings, own, given, address, progress)
        if engine != "local":
            raise _losscause.Error(f'engine: is "{engine}", expected "local" or "ray"')
        if address is not None:
            raise _losscause.Error('address: only valid with engine="ray"; remove it')
        with shown(progress, "run") as tell:
            json = _losscause.sweep(scenario, settings, own, jobs=jobs, progress=tell, **given)
    return Sweep(json, out)


def _asked(
    scenario: Scenario,
    axes: Mapping[str, Iterable[Value] | Mapping[str, Value]],
    metrics: Iterable[str],
    systems: Iterable[str | Algorithm] | Mapping[str, Settings],
    own: dict[str, Algorithm],
) -> dict[str, Any]:
    """The dictionary of a sweep file."""
    if not isinstance(axes, Mapping):
        raise _about(f'axes: is of type {type(axes).__name__}, expected a dictionary such as {{"N": [1, 4]}}', "axes")
    measured = _texts(metrics, "metrics", '["goodput"]')
    file: dict[str, Any] = {
        "title": f"{', '.join(measured)} over {', '.join(axes)}",
        "scenario": fspath(scenario) if isinstance(scenario, PathLike) else scenario,
        "metrics": measured,
        "axis": [],
        "system": [],
    }
    for key, values in axes.items():
        if isinstance(values, Mapping):
            file["axis"].append({"key": key, "range": values})
        elif isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
            file["axis"].append({"key": key, "values": [_named(value, own) for value in values]})
        else:
            raise _about(f"axes: {key}: is {values!r}, expected a list of values or a range", "axes")
    if isinstance(systems, Mapping):
        for name, settings in _dictionary(systems, "systems").items():
            given = {key: _named(value, own) for key, value in _given(settings, {}, "systems").items()}
            file["system"].append({"name": name, "set": given})
    else:
        file["system"] = [{"name": name, "lda": name} for name in _names(systems, own, "systems")]
    return file


def _on_ray(
    sweep: str | PathLike[str] | Mapping[str, Any],
    settings: dict[str, Any],
    own: dict[str, Algorithm],
    given: dict[str, Any],
    address: str | None,
    progress: bool | None,
) -> Sweep:
    from losscause import _engine

    with shown(progress, "cell") as tell:
        def observe(so_far: Any) -> None:
            if tell:
                tell(so_far.cells, so_far.all_cells)

        done = _engine.on_ray(sweep, settings, own, address=address, tell=observe, **given)
    if done.json is None and given["out"] is None:
        raise _losscause.Error(f"{done.cells} cells are too many for memory, expected out=FOLDER for the files")
    return Sweep(done.json, given["out"])


def reproduce(
    *items: str,
    runs: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    algorithms: Iterable[str | Algorithm] | Mapping[str, Algorithm] = (),
    networks: int | None = None,
    paths: int | None = None,
    kinds: Iterable[str] = (),
    progress: bool | None = None,
) -> Reproduction:
    """Measures papers, or their tables and figures, again: `reproduce("cen2003/table2")`. Without any, a fixed choice of
    every paper, about half a minute on two cores. `runs` is by default as many as the paper made.

    `algorithms` are names, or classes of your own, that also run in the place of the papers' algorithms. Their values are
    the rows of `beside`, and never scored.

    `reproduce("abroad")` and `reproduce("paths")`, and their parts such as "abroad/loop", run drawn networks: so many
    `networks` of each kind, or of these `kinds` only, or so many `paths`. The `algorithms` are then those that are shown.

    >>> reproduce("cen2003/table2", runs=1).rows["paper"][0]
    'cen2003'
    """
    if isinstance(algorithms, Mapping):
        own = dict(_dictionary(algorithms, "algorithms"))
        also = list(own)
    else:
        own = {}
        also = _names(algorithms, own)
    names = _texts(items, "items", '"cen2003/table2"')
    counts = {"networks": networks, "paths": paths}
    given = [(name, str(count)) for name, count in counts.items() if count is not None]
    given += [("kind", kind) for kind in _texts(kinds, "kinds", '["LTE"]')]
    of_runs = [] if runs is None else [("runs", str(runs))]
    with shown(progress, "run") as tell:
        drawn = _losscause.drawn(names, also, own, options=given + of_runs, seed=seed, jobs=jobs, progress=tell)
    if drawn is not None:
        return Reproduction(*drawn)
    if given:
        raise _about(f"{given[0][0]}: is only for drawn networks, as of reproduce(\"abroad\")", given[0][0])
    with shown(progress, "packet-hop") as tell:
        json, answer = _losscause.reproduce(names, also, own, runs=runs, seed=seed, jobs=jobs, progress=tell)
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
    `keep_skew` leaves the skew between the clocks of sender and capture in the trip times.

    >>> len(analyze(example_capture()).losses)
    47
    """
    _, own = _separate({}, algorithms)
    if flow is not None:
        _texts([flow], "flow", '"10.0.0.1:443"')
    with shown(progress, "B") as tell:
        json, answer = _losscause.analyze(capture, _texts(ldas, "ldas", '["spike"]'), own, flow=flow, keep_skew=bool(keep_skew), progress=tell)
    return Analysis(json, answer)


def algorithms() -> Table:
    """The algorithms that a flow's `lda` and `Classifier` take: a row each, with what it does, where it comes from, and its
    settings. A yardstick is a known rule of another stack, to compare with.

    >>> "Spike" in algorithms()["name"]
    True
    """
    import json

    listed = json.loads(_losscause.algorithms())
    for algorithm in listed:
        algorithm["settings"] = ", ".join(setting["key"] for setting in algorithm["settings"])
    return _losscause.rows(json.dumps(listed), [])


def example_capture() -> Path:
    """A capture to try `analyze` on: one TCP transfer, taken at its sender, through a link whose queue overflows and whose
    air corrupts packets."""
    return Path(__file__).with_name("example.pcap.gz")


def _given(set: Settings | None, overrides: Settings, argument: str = "set") -> dict[str, Any]:
    """What `set` and the keywords of a call change."""
    if set is None:
        return dict(overrides)
    if not isinstance(set, Mapping):
        raise _about(f"{argument}: is of type {type(set).__name__}, expected a dictionary of settings", argument)
    _dictionary(set, argument)
    for key in overrides:
        if key in set:
            raise _about(f"{key}: is in {argument} and a keyword, expected one of them", key)
    return {**set, **overrides}


def _separate(
    settings: Mapping[str, Any], algorithms: Algorithms
) -> tuple[dict[str, Any], dict[str, Algorithm]]:
    """Settings, and the classes among them by their names."""
    own: dict[str, Algorithm] = {}
    if isinstance(algorithms, Mapping):
        own.update(_dictionary(algorithms, "algorithms"))
    elif isinstance(algorithms, Iterable) and not isinstance(algorithms, str):
        for algorithm in algorithms:
            _add(algorithm, own)
    else:
        raise _about(f"algorithms: is {algorithms!r}, expected a list of classes", "algorithms")
    return {key: _named(value, own) for key, value in settings.items()}, own


def _named(value: Any, own: dict[str, Algorithm]) -> Any:
    """A value of a setting; of a class its name."""
    return _add(value, own) if callable(value) else value


def _add(algorithm: Algorithm, own: dict[str, Algorithm]) -> str:
    """Adds a class, and returns the name that scenarios have for it."""
    name: str = getattr(algorithm, "__name__", type(algorithm).__name__)
    if own.setdefault(name, algorithm) is not algorithm:
        raise _about(f"algorithms: two classes are called {name}, expected every name once", "algorithms")
    return name


def _names(algorithms: Iterable[str | Algorithm], own: dict[str, Algorithm], argument: str = "algorithms") -> list[str]:
    """The names of algorithms, and of classes."""
    if isinstance(algorithms, (str, type)) or not isinstance(algorithms, Iterable):
        raise _about(f'{argument}: is {algorithms!r}, expected a list such as ["none", "ZBS"]', argument)
    return [algorithm if isinstance(algorithm, str) else _add(algorithm, own) for algorithm in algorithms]


def _dictionary(given: Mapping[str, Any], argument: str) -> Mapping[str, Any]:
    """A dictionary whose keys are texts."""
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise _about(f"{argument}: is {given!r}, expected a dictionary whose keys are names", argument)
    return given


def _texts(given: Iterable[str], argument: str, example: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise _about(f"{argument}: is {given!r}, expected a list such as {example}", argument)
    texts = list(given)
    if not all(isinstance(text, str) for text in texts):
        raise _about(f"{argument}: is {given!r}, expected a list of texts such as {example}", argument)
    return texts


@contextmanager
def _keywords(verb: Callable[..., object], overrides: Mapping[str, Any]) -> Iterator[None]:
    """A keyword that is neither an argument of the verb nor a name of the scenario is a `TypeError`."""
    try:
        yield
    except _losscause.Error as error:
        key = error.key or ""
        error.args = (_in_python(str(error)),)
        _, is_unknown, known = str(error).partition(f'the parameter "{key}" is unknown')
        if not is_unknown or key not in overrides:
            raise
        from difflib import get_close_matches
        from inspect import signature

        near = get_close_matches(key, [name for name in signature(verb).parameters if name != "overrides"], 1)
        hint = f' (did you mean "{near[0]}"?)' if near else known
        raise TypeError(f'{verb.__name__}() has no argument or parameter "{key}"{hint}') from None


def _about(text: str, key: str) -> _losscause.Error:
    error = _losscause.Error(text)
    error.key = key
    return error


def _warn(texts: Iterable[str]) -> None:
    """Shows warnings as those of the line that called the verb."""
    for text in texts:
        warnings.warn(_in_python(text), ResultWarning, stacklevel=3)


def _in_python(text: str) -> str:
    """A sentence of the command line, with `set={"KEY": "VALUE"}` for `--set KEY=VALUE`."""
    if "--set " not in text:
        return text
    import re

    def argument(found: re.Match[str]) -> str:
        value = re.sub(r"(\w+) = ", r'"\1": ', found[3])
        is_plain = value.startswith("{") or re.fullmatch(r"[\d.e+-]+", value)
        text = value if is_plain else f'"{value}"'
        return f'set={{"{found[2]}": {text}}}'

    return re.sub(r"--set ('?)([\w.-]+)=(.*?)(?:(?<=\S)\1(?=[\s;,?)]|$))", argument, text)
