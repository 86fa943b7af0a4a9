"""A bar of progress, if tqdm is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from losscause._losscause import Error


@contextmanager
def shown(wanted: bool | None, unit: str) -> Iterator[Callable[[int, int], object] | None]:
    """What the extension calls with how much is done and how much there is; None if no bar is shown."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise Error("progress: tqdm is not installed, expected `pip install tqdm` first") from None
        yield None
        return
    with tqdm(unit=unit, unit_scale=True, leave=False) as bar:

        def tell(done: int, there_are: int) -> None:
            bar.total = there_are
            bar.update(done - bar.n)

        yield tell
