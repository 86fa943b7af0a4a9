"""What the verbs return: the JSON of the command line, as a mapping, and as a page for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from losscause._losscause import Error, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A title, and for each bar its label, its value, and the half-width of the value's interval.
Bars: TypeAlias = "tuple[str, Sequence[tuple[str, float | None, float | None]]]"
# What parts the sentences of an answer that has several.
LINE = "\n"


class Result(Mapping[str, Any]):
    """A JSON document as a mapping, to the byte that of the command line. It is read when it is first asked for."""

    def __init__(self, json: str | Callable[[], str], answer: str = "", warnings: Sequence[str] = ()) -> None:
        self._json = json
        self._answer = answer
        self._warnings = list(warnings)

    @cached_property
    def json(self) -> str:
        """The text of the document."""
        return self._json if isinstance(self._json, str) else self._json()

    @cached_property
    def _data(self) -> dict[str, Any]:
        # Importing the package stays fast without it.
        import json

        data: dict[str, Any] = json.loads(self.json)
        return data

    @property
    def answer(self) -> str:
        """What was found, in sentences."""
        return self._answer

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def _rows(self, *path: str, keep: Sequence[str] = ()) -> Table:
        """The objects at a path of the JSON as a table, each with the keys `keep` of the objects above it."""
        from losscause._losscause import rows

        return rows(self.json, path, keep)

    def __repr__(self) -> str:
        return f"<losscause.{type(self).__name__}: {self.answer.replace(LINE, '; ')}>"

    def _told(self) -> list[str]:
        """What to know before drawing conclusions."""
        return self._warnings

    def _title(self) -> str:
        return type(self).__name__

    def _bars(self) -> Bars | None:
        return None

    def _repr_html_(self) -> str:
        from losscause import _html

        return _html.page(self._title(), self.answer, self._told(), self._bars())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the result with matplotlib, on `ax` or a new figure, and returns the axes."""
        from losscause import _plot

        return _plot.bars(self._bars(), ax)


class ResultWarning(UserWarning):
    """What to know before drawing conclusions from a result."""


class Simulation(Result):
    """One or more runs of a scenario. `trace` is the table of packet events, if it was asked for."""

    def __init__(self, json: str, answer: str, trace: Table | None) -> None:
        super().__init__(json, answer)
        self.trace = trace

    @property
    def flows(self) -> Table:
        """A row per flow of the first run."""
        return self._rows("flows")

    @property
    def links(self) -> Table:
        """A row per link of the first run."""
        return self._rows("links")

    @property
    def runs(self) -> Table:
        """A row per run: its seed, and a column per metric."""
        from losscause._losscause import rows

        if self["each_run"]:
            return self._rows("each_run")
        import json

        metrics = {name: metric["value"] for name, metric in self["metrics"].items()}
        return rows(json.dumps([{"seed": self["seed"], "metrics": metrics}]), [])

    @property
    def series(self) -> Table:
        """A row per interval and flow, if `interval` was given."""
        return self._rows("series")

    def plot(self, ax: Axes | None = None) -> Axes:
        """The goodput of the measured flows: over time if `interval` was given, else as bars."""
        from losscause import _plot

        return _plot.series(self, ax) if self["series"] else super().plot(ax)

    def _told(self) -> list[str]:
        # That no algorithm judged the losses matters where the air lost packets. Which part of the run a metric covers, the
        # metric says itself.
        from_the_air = any(flow["wireless_drops"] for flow in self["flows"])
        left_out = {"different-windows", *([] if from_the_air else ["no-lda"])}
        return [warning["text"] for warning in self["warnings"] if warning["kind"] not in left_out]

    def _title(self) -> str:
        return str(self["title"])

    def _bars(self) -> Bars | None:
        flows = [flow for flow in self["flows"] if flow["measured"]]
        return ("goodput of the first run, kb/s", [(flow["flow"], flow["goodput_kbps"], None) for flow in flows])


class Comparison(Result):
    """Variants of a scenario over the same seeds."""

    def _told(self) -> list[str]:
        found = [warning for variant in self["variants"] for warning in variant["warnings"]]
        left_out = tuple(warning["text"] for warning in found if warning["kind"] == "different-windows")
        return [text for text in self._warnings if not text.startswith(left_out)]

    @property
    def answer(self) -> str:
        """A line per variant, the one with the largest goodput first."""
        return LINE.join(str(self["verdict"]).split("; "))

    @property
    def runs(self) -> Table:
        """A row per run of each variant: the variant's name, the seed, and a column per metric."""
        return self._rows("variants", "each_run", keep=["name"])

    def plot(self, ax: Axes | None = None, *, metric: str = "goodput") -> Axes:
        """A metric of every variant, with its 95 % interval."""
        from losscause import _plot

        return _plot.bars(self._bars(metric), ax)

    def _title(self) -> str:
        return str(self["title"])

    def _bars(self, metric: str = "goodput") -> Bars | None:
        found = [(variant["name"], variant["metrics"].get(metric)) for variant in self["variants"]]
        bars = [(name, value["value"], value["ci95"]) for name, value in found if value]
        if not bars:
            known = ", ".join(dict.fromkeys(name for variant in self["variants"] for name in variant["metrics"]))
            raise Error(f'metric: "{metric}" is unknown, expected one of {known}')
        units = [value["unit"] for _, value in found if value]
        return (f"{metric}, {units[0]}", bars)


class Sweep(Result):
    """The measurements of every cell of a sweep. `out` is the folder that has them as files, if one was given; of more than
    20,000 cells nothing is in memory until it is asked for, and tools for large tables read `runs.csv` there."""

    def __init__(self, json: str | None, out: str | PathLike[str] | None) -> None:
        self.out = None if out is None else Path(out)
        super().__init__(self._read if json is None else json)

    def _read(self) -> str:
        assert self.out is not None, "without a folder, the document is in memory"
        return (self.out / "sweep.json").read_text(encoding="utf-8")

    @property
    def answer(self) -> str:
        return f"{len(self['cells'])} cells over {', '.join(self['axes'])}."

    @property
    def rows(self) -> Table:
        """A row per cell, system and metric: the cell with the values of its axes, the mean, its 95 % interval."""
        return self._rows("cells", "rows", keep=["cell"])

    @property
    def runs(self) -> Table:
        """A row per run: its cell with the values of the axes, its system and seed, and a column per metric."""
        return self._rows("cells", "runs", keep=["cell"])

    def plot(self, ax: Axes | None = None, *, metric: str | None = None, x: str | None = None) -> Axes:
        """A metric, by default the first, over an axis, by default the first of numbers: a line per system and value of the
        other axes, with 95 % intervals. Scales are logarithmic where the values span decades."""
        from losscause import _plot

        return _plot.lines(self, metric, x, ax)

    def _title(self) -> str:
        return str(self["title"])

    def _bars(self) -> Bars | None:
        """The first metric of the first system, cell by cell."""
        bars = []
        name = ""
        for cell in self["cells"]:
            if cell["rows"]:
                row = cell["rows"][0]
                name = f"{row['metric']} of {row['system']}, {row['unit']}"
                bars.append((str(cell["cell"]["number"]), row["measured"], row["ci95"]))
        return (name, bars)


class Reproduction(Result):
    """Papers, measured again, or drawn networks, which have the keys of their JSON alone."""

    @property
    def rows(self) -> Table:
        """A row per value: published and measured."""
        return self._rows("items")

    @property
    def beside(self) -> Table:
        """A row per value of the algorithms that ran beside the papers'."""
        return self._rows("beside")

    def plot(self, ax: Axes | None = None, *, metric: str | None = None, x: str | None = None) -> Axes:
        """A metric of the first table or figure, by default the first, over a parameter, by default the first that changes:
        a line per system, yours too, and the published values as squares."""
        from losscause import _plot

        return _plot.papers(self, metric, x, ax)

    def _bars(self) -> Bars | None:
        """How many of each paper's numbers are within their tolerance."""
        shares: dict[str, list[bool]] = {}
        for item in self.get("items", ()):
            if item["within"] is not None:
                shares.setdefault(item["paper"], []).append(item["within"])
        bars = [(paper, 100 * sum(within) / len(within), None) for paper, within in shares.items()]
        return ("values within tolerance, percent", bars) if bars else None


class Analysis(Result):
    """Why a capture lost its packets."""

    @property
    def flows(self) -> Table:
        """A row per flow."""
        return self._rows("captures", "flows")

    @property
    def losses(self) -> Table:
        """A row per loss: its flow, and a column per algorithm with the verdict."""
        return self._rows("captures", "flows", "losses", keep=["id"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The losses over time, each at the queueing delay that its flow had before, in the colour of its verdict by the
        algorithm that is recommended for the flow."""
        from losscause import _plot

        return _plot.losses(self, ax)

    def _title(self) -> str:
        return str(self["captures"][0]["file"])
