from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex, final, overload

__all__ = [
    "AckEvent",
    "Classifier",
    "Directory",
    "Error",
    "Judgement",
    "Loss",
    "LossEvent",
    "Observation",
    "Plan",
    "Table",
    "TimeoutEvent",
    "Window",
    "__version__",
    "algorithms",
    "analyze",
    "bars",
    "command",
    "compare",
    "drawn",
    "reproduce",
    "restored",
    "rows",
    "simulate",
    "sweep",
]
__version__: str

_Tell = Callable[[int, int], object]

class Error(ValueError):
    """The input cannot be used, or a run failed. The message is one sentence."""

    file: str | None
    """The file that it is about, as the user named it."""
    key: str | None
    """The key, setting or argument that it is about."""

@final
class Table:
    """A table that polars, pyarrow, pandas and DuckDB take without a copy: `polars.DataFrame(table)`. `table[0]` is a row as
    a dictionary, `table["seq"]` a column as a list, `table[2:5]` a table; iterating gives the rows."""

    @property
    def columns(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Table: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Observation:
    """A packet that arrived in order, at a receiver; an acknowledgement, at a sender. Times are whole nanoseconds.

    `delay_ns` is the relative trip time at a receiver, and the round-trip time at a sender. `spanned` is by default the
    arrived and the missing packets together. `newly_acked_pkts` is None at a receiver.
    """

    def __new__(
        cls,
        at_ns: SupportsIndex,
        *,
        seq: int = 0,
        delay_ns: int | None = None,
        spanned: int | None = None,
        missing: int = 0,
        since_last_ns: int | None = None,
        delay_before_ns: int | None = None,
        newly_acked_pkts: int | None = None,
        missing_first: int | None = None,
        missing_last: int | None = None,
        in_flight_pkts: int = 0,
        cwnd_pkts: float | None = None,
    ) -> Observation: ...
    @property
    def at_ns(self) -> int: ...
    @property
    def seq(self) -> int: ...
    @property
    def delay_ns(self) -> int | None: ...
    @property
    def spanned(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def since_last_ns(self) -> int | None: ...
    @property
    def delay_before_ns(self) -> int | None: ...
    @property
    def newly_acked_pkts(self) -> int | None: ...
    @property
    def missing_first(self) -> int | None: ...
    @property
    def missing_last(self) -> int | None: ...
    @property
    def in_flight_pkts(self) -> int: ...
    @property
    def cwnd_pkts(self) -> float | None: ...

@final
class Loss:
    """Lost packets, put to an algorithm: one of a gap at a receiver, those of a loss event at a sender. Times are whole
    nanoseconds. `signal` is "gap", "timeout", "ecn-mark" or "persistent-congestion"."""

    def __new__(
        cls,
        at_ns: SupportsIndex,
        *,
        signal: str = "gap",
        first: int | None = None,
        last: int | None = None,
        lost_pkts: int = 1,
        revealed_by: Observation | None = None,
        sent_at_ns: SupportsIndex | None = None,
        in_flight_pkts: int = 0,
        cwnd_pkts: float | None = None,
    ) -> Loss: ...
    @property
    def at_ns(self) -> int: ...
    @property
    def signal(self) -> str: ...
    @property
    def seq(self) -> int | None: ...
    @property
    def first(self) -> int | None: ...
    @property
    def last(self) -> int | None: ...
    @property
    def lost_pkts(self) -> int: ...
    @property
    def revealed_by(self) -> Observation | None: ...
    @property
    def sent_at_ns(self) -> int | None: ...
    @property
    def in_flight_pkts(self) -> int: ...
    @property
    def cwnd_pkts(self) -> float | None: ...

@final
class Window:
    """The congestion window of a connection, packets. A control sets `cwnd` and `ssthresh`: finite, at least 1."""

    def __new__(cls, cwnd: float, ssthresh: float, max_pkts: int) -> Window: ...
    cwnd: float
    ssthresh: float
    @property
    def max_pkts(self) -> int: ...
    def in_network(self, flight_pkts: int) -> int:
        """Of `flight_pkts` in flight, how many may still be in the network: at most the window."""

@final
class AckEvent:
    """An ACK of new data, as a congestion control sees it. Times are whole nanoseconds."""

    @property
    def at_ns(self) -> int: ...
    @property
    def newly_acked_pkts(self) -> int: ...
    @property
    def rtt_ns(self) -> int | None: ...
    @property
    def srtt_ns(self) -> int | None: ...
    @property
    def una(self) -> int: ...
    @property
    def next(self) -> int: ...
    @property
    def may_grow(self) -> bool: ...

@final
class LossEvent:
    """A loss that a congestion control answers. `verdict` is "congestion", "wireless" or "undecided"."""

    @property
    def at_ns(self) -> int: ...
    @property
    def flight_pkts(self) -> int: ...
    @property
    def verdict(self) -> str: ...

@final
class TimeoutEvent:
    """The retransmission timer expired; `again` for the same data as before, so that `ssthresh` stays."""

    @property
    def at_ns(self) -> int: ...
    @property
    def flight_pkts(self) -> int: ...
    @property
    def again(self) -> bool: ...

@final
class Judgement:
    """What an algorithm says of one lost packet, or of one loss at a sender. `seq` is None if the loss names no packet."""

    @property
    def seq(self) -> int | None: ...
    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> str: ...

@final
class Classifier:
    """An algorithm at one end of a flow, fed with your own packets, one by one or in columns.

    `algorithm` is a name that `losscause list algorithms` prints, with `settings` in place of its published ones, or a
    class of your own. `end` is "receiver" or "sender".

    A receiver has `on_packet`, and `classify` with the columns `seq`, `at_ns` or `at_s`, `sent_ns` or `sent_s`. A sender has
    `observe` and `on_loss`, and `classify` with the columns `at_ns` or `at_s`, `rtt_ns` or `rtt_s`, `newly_acked_pkts`,
    `spanned_pkts`, `newly_missing_pkts`, `missing_first`, `missing_last`, `in_flight_pkts`, `cwnd_pkts`, `lost_pkts`,
    `lost_first`, `lost_last`, `lost_sent_ns` or `lost_sent_s`.
    """

    def __new__(
        cls, algorithm: str | Callable[[], object], *, end: str = "receiver", **settings: float | str | bool
    ) -> Classifier: ...
    @property
    def name(self) -> str: ...
    @property
    def end(self) -> str: ...
    def on_packet(
        self, seq: SupportsIndex, at_ns: SupportsIndex, sent_ns: SupportsIndex | None = None
    ) -> tuple[Judgement, ...]: ...
    def observe(self, observation: Observation) -> None: ...
    def on_loss(self, loss: Loss) -> Judgement: ...
    def classify(self, table: object | None = None, *, reasons: bool = False, **columns: object) -> Table: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def bars(title: str, values: Sequence[tuple[str, float | None, float | None]]) -> str: ...
def rows(json: str, path: Sequence[str], keep: Sequence[str] = ...) -> Table: ...
def simulate(
    scenario: str | PathLike[str] | Mapping[str, Any],
    seed: SupportsIndex,
    settings: dict[str, Any],
    algorithms: dict[str, Callable[[], object]],
    *,
    runs: SupportsIndex,
    jobs: SupportsIndex | None = None,
    interval: SupportsFloat | None = None,
    trace: Sequence[str] | None = None,
    progress: _Tell | None = None,
) -> tuple[str, list[str], Table | None]: ...
def compare(
    scenario: str | PathLike[str] | Mapping[str, Any],
    ldas: Sequence[str],
    variants: dict[str, dict[str, Any]],
    seed: SupportsIndex,
    runs: SupportsIndex,
    settings: dict[str, Any],
    algorithms: dict[str, Callable[[], object]],
    *,
    jobs: SupportsIndex | None = None,
    progress: _Tell | None = None,
) -> tuple[str, list[str]]: ...
def restored(
    fields: Sequence[tuple[str, bool]], batches: Sequence[tuple[int, Sequence[tuple[str, object]]]]
) -> Table: ...
def algorithms() -> str: ...
def command(arguments: list[str], itself: list[str]) -> int: ...
@final
class Plan:
    """A checked sweep, whose cells an engine measures in any parts."""

    def __new__(
        cls,
        sweep: str | PathLike[str] | Mapping[str, Any],
        settings: dict[str, Any],
        algorithms: dict[str, Callable[[], object]],
        *,
        runs: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
    ) -> Plan: ...
    @property
    def title(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def runs_of_a_cell(self) -> int: ...
    @property
    def axes(self) -> list[str]: ...
    def axis_kinds(self) -> list[str]: ...
    @property
    def metrics(self) -> list[tuple[str, str]]: ...
    def files(self) -> dict[str, bytes]: ...
    def rows(self, first: int, end: int) -> tuple[list[int], list[list[str]], list[str], list[int]]: ...
    def measure(self, first: int, end: int) -> bytes: ...
    def hold(self, out: str | PathLike[str], resume: bool, restart: bool) -> Directory: ...
    def conclude(self, values: bytes, directory: Directory | None) -> tuple[str, str] | None: ...

@final
class Directory:
    """The directory of a sweep, locked for this process."""

    @property
    def cells(self) -> Path: ...
    @property
    def resumes(self) -> bool: ...
    def keep(self, name: str, content: bytes) -> None: ...
    def write(self, name: str, content: bytes) -> None: ...

def sweep(
    sweep: str | PathLike[str] | Mapping[str, Any],
    settings: dict[str, Any],
    algorithms: dict[str, Callable[[], object]],
    *,
    runs: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    jobs: SupportsIndex | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    restart: bool = False,
    progress: _Tell | None = None,
) -> str | None: ...
def reproduce(
    items: Sequence[str],
    also: Sequence[str],
    algorithms: dict[str, Callable[[], object]],
    *,
    runs: SupportsIndex | None = None,
    seed: SupportsIndex,
    jobs: SupportsIndex | None = None,
    progress: _Tell | None = None,
) -> tuple[str, str]: ...
def drawn(
    items: Sequence[str],
    algorithms: Sequence[str],
    own: dict[str, Callable[[], object]],
    *,
    options: Sequence[tuple[str, str]],
    seed: SupportsIndex,
    jobs: SupportsIndex | None = None,
    progress: _Tell | None = None,
) -> tuple[str, str] | None: ...
def analyze(
    capture: str | PathLike[str],
    ldas: Sequence[str],
    algorithms: dict[str, Callable[[], object]],
    *,
    flow: str | None = None,
    keep_skew: bool = False,
    progress: _Tell | None = None,
) -> tuple[str, str]: ...
