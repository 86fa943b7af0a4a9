"""Small pages for notebooks: a title, the answer, bars. No script, and nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from losscause._losscause import bars as drawn
from losscause._result import Bars


def page(title: str, answer: str, warnings: Sequence[str], bars: Bars | None) -> str:
    """A title, sentences, warnings, and bars if there are any."""
    chart = drawn(*bars) if bars else ""
    told = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    answers = "<br>".join(escape(line) for line in answer.splitlines())
    return f"<div><strong>{escape(title)}</strong><p>{answers}</p>{told}{chart}</div>"
