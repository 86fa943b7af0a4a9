"""Results as pictures of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from losscause._losscause import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from losscause._result import Analysis, Bars, Reproduction, Simulation, Sweep

# Values from the smallest to this many times it are on a linear scale.
LINEAR = 30
COLOURS = {"wireless": "C0", "congestion": "C3", "undecided": "0.6"}


def bars(given: Bars | None, ax: Axes | None) -> Axes:
    """Horizontal bars, the first on top, with their intervals."""
    axes = _axes(ax)
    if given is None:
        return axes
    title, values = given
    known = [(label, value, half) for label, value, half in values if value is not None]
    unit, scale = _for_people(title.rsplit(", ", 1)[-1], [value for _, value, _ in known])
    places = range(len(known))
    widths = [half * scale if half else 0 for _, _, half in known]
    axes.barh(places, [value * scale for _, value, _ in known], xerr=widths)
    axes.set_yticks(places, [label for label, _, _ in known])
    axes.invert_yaxis()
    intervals = " (lines: 95 % intervals)" if any(widths) else ""
    axes.set_xlabel(", ".join([*title.rsplit(", ", 1)[:-1], unit]) + intervals)
    return axes


def series(result: Simulation, ax: Axes | None) -> Axes:
    """The goodput of the measured flows over time."""
    axes = _axes(ax)
    measured = {flow["flow"] for flow in result["flows"] if flow["measured"]}
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in result["series"]:
        if row["flow"] in measured and row["goodput_kbps"] is not None:
            times, values = lines.setdefault(row["flow"], ([], []))
            times.append(row["to_s"])
            values.append(row["goodput_kbps"])
    unit, scale = _for_people("kb/s", [value for _, values in lines.values() for value in values])
    for flow, (times, values) in lines.items():
        axes.plot(times, [value * scale for value in values], label=flow)
    axes.set(xlabel="time, s", ylabel=f"goodput, {unit}", title=result["title"], ylim=(0, None))
    axes.legend()
    return axes


def lines(result: Sweep, metric: str | None, x: str | None, ax: Axes | None) -> Axes:
    """A metric over an axis."""
    if metric is None:
        metric = next(iter(result["metrics"]))
    numeric = [name for name in result["axes"] if all(isinstance(value, (int, float)) for value in _values(result, name))]
    if x is None and not numeric:
        raise Error("x: no axis of the sweep has numbers, expected a table instead")
    if x is None:
        x = numeric[0]
    _one_of("metric", metric, list(result["metrics"]))
    _one_of("x", x, numeric)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for cell in result["cells"]:
        values = {value["axis"]: value["value"] for value in cell["cell"]["values"]}
        others = [f"{name} {value}" for name, value in values.items() if name != x]
        for row in cell["rows"]:
            if row["metric"] == metric and row["measured"] is not None:
                label = ", ".join(filter(None, [row["system"], *others]))
                found.setdefault(label, []).append((values[x], row["measured"], row["ci95"] or 0))
    axes = _axes(ax)
    unit, scale = _for_people(result["metrics"][metric], [value for points in found.values() for _, value, _ in points])
    for label, points in found.items():
        scaled = sorted((at, value * scale, half * scale) for at, value, half in points)
        at, measured, half = zip(*scaled, strict=True)
        axes.errorbar(at, measured, yerr=half, label=label, marker="o", markersize=4, capsize=2)
    if _spans_decades([at for points in found.values() for at, _, _ in points]):
        axes.set_xscale("log")
    if _spans_decades([value for points in found.values() for _, value, _ in points]):
        axes.set_yscale("log")
    axes.set(xlabel=x, ylabel=f"{metric}, {unit}" if unit else metric, title=result["title"])
    if len(found) > 1:
        axes.legend()
    return axes


def papers(result: Reproduction, metric: str | None, x: str | None, ax: Axes | None) -> Axes:
    """A metric of a paper's table or figure, measured and published."""
    rows = [row for row in [*result["items"], *result.get("beside", [])] if row["measured"] is not None]
    rows = [row for row in rows if (row["paper"], row["source"]) == (rows[0]["paper"], rows[0]["source"])]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    numbers: dict[str, set[float]] = {}
    for row in rows:
        for name, value in row["parameters"].items():
            if isinstance(value, (int, float)):
                numbers.setdefault(name, set()).add(value)
    changing = [name for name, values in numbers.items() if len(values) > 1]
    axes = _axes(ax)
    if not rows or not changing:
        return bars(result._bars(), axes)
    metric, x = metric or metrics[0], x or changing[0]
    _one_of("metric", metric, metrics)
    _one_of("x", x, changing)
    rows = [row for row in rows if row["metric"] == metric and x in row["parameters"]]
    for place, system in enumerate(dict.fromkeys(row["system"] for row in rows)):
        points = sorted((row["parameters"][x], row["measured"], row["ci95"] or 0) for row in rows if row["system"] == system)
        at, measured, half = zip(*points, strict=True)
        axes.errorbar(at, measured, yerr=half, label=system, color=f"C{place}", marker="o", markersize=4, capsize=2)
        published = [(row["parameters"][x], row["published"]) for row in rows if row["system"] == system]
        known = [(at, value) for at, value in published if value is not None]
        if known:
            places, values = zip(*known, strict=True)
            axes.scatter(places, values, marker="s", s=70, facecolors="none", edgecolors=f"C{place}")
    title = f"{rows[0]['paper']}, {rows[0]['source']}: measured, and published as squares"
    axes.set(xlabel=x, ylabel=f"{metric}, {rows[0]['unit']}", title=title)
    axes.legend()
    return axes


def losses(result: Analysis, ax: Axes | None) -> Axes:
    """Losses over time, in the colours of their verdicts."""
    axes = _axes(ax)
    points: dict[str, list[tuple[float, float]]] = {}
    for flow in result["captures"][0]["flows"]:
        for loss in flow["losses"]:
            if loss["queueing_before_ms"] is not None:
                verdict = loss["verdicts"].get(flow["recommended"], "undecided")
                points.setdefault(verdict, []).append((loss["time_s"], loss["queueing_before_ms"]))
    for verdict, found in points.items():
        times, delays = zip(*found, strict=True)
        axes.scatter(times, delays, color=COLOURS.get(verdict, "0.6"), label=f"{verdict} ({len(found)})", s=20)
    axes.set(xlabel="time, s", ylabel="queueing delay before the loss, ms")
    if points:
        axes.legend()
    return axes


def _for_people(unit: str, values: Sequence[float]) -> tuple[str, float]:
    """The unit in which people read these values, and what they are multiplied by for that."""
    return ("Mb/s", 1e-3) if unit == "kb/s" and max(values, default=0) >= 1e3 else (unit, 1)


def _one_of(argument: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise Error(f'{argument}: "{given}" is unknown, expected one of {", ".join(known)}')


def _values(result: Sweep, axis: str) -> list[object]:
    return [value["value"] for cell in result["cells"] for value in cell["cell"]["values"] if value["axis"] == axis]


def _spans_decades(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > LINEAR * min(values)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error('plot: matplotlib is not installed, expected `pip install "losscause[plot]"` first') from None
    return pyplot.subplots(layout="constrained")[1]
