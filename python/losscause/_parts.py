"""The finished cells of a sweep on disk: Parquet parts of consecutive cells, and one table of all at the end.

A part `00000040-00000063.parquet` has the cells from 40 to 62: one row per run with the cell's number, the values of the axes,
system, seed and metrics. Without a directory the values are kept in memory.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from losscause._losscause import Directory, Error, Plan

NAME = re.compile(r"(\d{8})-(\d{8})\.parquet")
# The table of all cells, sorted by cell.
TABLE = "runs.parquet"
# Rows of the table that are written together: the bytes do not depend on the parts.
GROUP = 1 << 16


class Parts:
    """The values of the finished cells."""

    def __init__(self, plan: Plan, directory: Directory | None) -> None:
        self._plan = plan
        self._directory = directory
        self._metrics = [name for name, _ in plan.metrics]
        arrow = _arrow() if directory is not None else None
        types = {"whole": "int64", "number": "float64", "text": "string"}
        self._kinds = [getattr(arrow, types[kind])() for kind in plan.axis_kinds()] if arrow else []
        # Values by first cell and end.
        self._values: dict[tuple[int, int], bytes] = {}
        if directory is not None:
            for path in sorted(Path(directory.cells).iterdir()):
                self._take(path, directory.resumes)

    @property
    def cells(self) -> int:
        """Number of finished cells."""
        return sum(end - first for first, end in self._values)

    def missing(self) -> list[tuple[int, int]]:
        """The first cell and the end of every gap, the last gap first."""
        gaps, at = [], 0
        for first, end in sorted(self._values):
            if first > at:
                gaps.append((at, first))
            at = end
        if at < self._plan.count:
            gaps.append((at, self._plan.count))
        return gaps[::-1]

    def add(self, first: int, end: int, values: bytes) -> None:
        """Keeps the values of the cells from `first` to `end` - 1."""
        if self._directory is not None:
            sink = io.BytesIO()
            _parquet().write_table(self._table(first, end, values), sink, compression="zstd")
            self._directory.keep(f"{first:08}-{end:08}.parquet", sink.getvalue())
        self._values[(first, end)] = values

    def values(self) -> bytes:
        """The values of all cells, in the order of their numbers."""
        return b"".join(self._values[part] for part in sorted(self._values))

    def write_table(self) -> None:
        """Writes the table of all cells."""
        if self._directory is None:
            return
        sink = io.BytesIO()
        arrow = _arrow()
        whole = arrow.concat_tables(self._table(*part, self._values[part]) for part in sorted(self._values))
        _parquet().write_table(whole.combine_chunks(), sink, compression="zstd", row_group_size=GROUP)
        self._directory.write(TABLE, sink.getvalue())

    def _table(self, first: int, end: int, values: bytes) -> Any:
        arrow = _arrow()
        cells, axes, systems, seeds = self._plan.rows(first, end)
        columns = {"cell": arrow.array(cells, arrow.int64())}
        for name, axis, kind in zip(self._plan.axes, axes, self._kinds, strict=True):
            columns[name] = arrow.array(axis, arrow.string()).cast(kind)
        columns |= {"system": arrow.array(systems, arrow.string()), "seed": arrow.array(seeds, arrow.uint64())}
        width = len(self._metrics)
        numbers = memoryview(values).cast("d")
        for place, name in enumerate(self._metrics):
            column = numbers[place::width].tolist()
            columns[name] = arrow.array([None if value != value else value for value in column], arrow.float64())
        return arrow.table(columns)

    def _take(self, path: Path, resumes: bool) -> None:
        """Takes in a part of an earlier sweep, or removes it."""
        match = NAME.fullmatch(path.name)
        if not match:
            return
        first, end = int(match[1]), int(match[2])
        values = self._read(path, first, end) if resumes else None
        if values is None:
            path.unlink()
        else:
            self._values[(first, end)] = values

    def _read(self, path: Path, first: int, end: int) -> bytes | None:
        """The values of a part; None if it is damaged, so that its cells are measured again."""
        if not first < end <= self._plan.count or any(a < end and first < b for a, b in self._values):
            return None
        try:
            table = _parquet().read_table(path)
        except (OSError, _arrow().ArrowException):
            return None
        cells, _, systems, seeds = self._plan.rows(first, end)
        if not set(self._metrics) <= set(table.column_names):
            return None
        said = [table[name].to_pylist() for name in ("cell", "system", "seed") if name in table.column_names]
        if said != [cells, systems, seeds]:
            return None
        columns = [table[name].to_pylist() for name in self._metrics]
        import array

        numbers = (float("nan") if value is None else value for row in zip(*columns, strict=True) for value in row)
        return array.array("d", numbers).tobytes()


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise Error('engine: pyarrow is not installed, expected `pip install ray pyarrow` first') from None
    return pyarrow


def _parquet() -> Any:
    _arrow()
    import pyarrow.parquet

    return pyarrow.parquet
