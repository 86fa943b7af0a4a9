"""The progress of a sweep on a cluster: on a terminal a table of the nodes that is drawn anew, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from losscause._ray import Progress


class Board:
    """Shows progress on a stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._lines = 0
        self._last = 0.0

    def tell(self, progress: Progress) -> None:
        """Shows it, unless something was shown a moment ago."""
        now = time.monotonic()
        is_last = progress.cells == progress.all_cells
        if not is_last and now - self._last < (0.5 if self._is_terminal else 10.0):
            return
        self._last = now
        lines = [self.summary(progress)]
        if self._is_terminal:
            width = max((len(name) for name in progress.nodes), default=0)
            lines += [f"  {name:<{width}}  {cells:>8} cells" for name, cells in sorted(progress.nodes.items())]
            # Up to the first line of the table before, and clear to the end.
            self._stream.write((f"\x1b[{self._lines}F" if self._lines else "") + "\x1b[J")
        self._stream.write("\n".join(lines) + "\n")
        self._stream.flush()
        self._lines = len(lines)

    @staticmethod
    def summary(progress: Progress) -> str:
        """One line: cells, nodes, time left."""
        text = f"{progress.cells} of {progress.all_cells} cells"
        if progress.resumed:
            text += f" ({progress.resumed} resumed)"
        nodes = len(progress.nodes)
        if nodes:
            text += f", {nodes} node{'s' if nodes > 1 else ''}"
        done = progress.cells - progress.resumed
        if 0 < done and progress.cells < progress.all_cells:
            left = (progress.all_cells - progress.cells) * progress.seconds / done
            text += f", {_duration(left)} left"
        return text


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
