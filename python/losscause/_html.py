"""Small pages for notebooks: a title, the answer, bars. No script, and nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from losscause._result import Bars

MOST_BARS = 24
LABEL, WIDTH, ROW = 150, 260, 20


def page(title: str, answer: str, warnings: Sequence[str], bars: Bars | None) -> str:
    """A title, sentences, warnings, and bars if there are any."""
    chart = drawn(bars) if bars and any(value is not None for _, value, _ in bars[1]) else ""
    told = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    return f"<div><strong>{escape(title)}</strong><p>{escape(answer)}</p>{told}{chart}</div>"


def drawn(bars: Bars) -> str:
    """Horizontal bars with their values, and their intervals as lines."""
    title, values = bars
    shown = values[:MOST_BARS]
    ends = [value + (half or 0) for _, value, half in shown if value is not None]
    scale = WIDTH / (max(ends, default=0) or 1)
    rows = []
    for place, (label, value, half) in enumerate(shown):
        middle = 2 * ROW + place * ROW
        rows.append(_text(LABEL - 6, middle, label, "end"))
        if value is None:
            rows.append(_text(LABEL, middle, "not defined"))
            continue
        width = max(value, 0) * scale
        rows.append(f'<rect x="{LABEL}" y="{middle - 7}" width="{width:.1f}" height="14" fill="#4878a8"/>')
        if half:
            left, right = LABEL + max(value - half, 0) * scale, LABEL + (value + half) * scale
            rows.append(f'<path d="M{left:.1f} {middle}H{right:.1f}" stroke="currentColor" stroke-width="2"/>')
        interval = f" ± {_number(half)}" if half else ""
        rows.append(_text(LABEL + WIDTH + 8, middle, f"{_number(value)}{interval}"))
    more = len(values) - len(shown)
    if more:
        rows.append(_text(LABEL, 2 * ROW + len(shown) * ROW, f"and {more} more"))
    height = ROW * (len(shown) + 2 + bool(more))
    heading = _text(0, ROW // 2, title)
    size = f'width="{LABEL + WIDTH + 120}" height="{height}"'
    return f'<svg {size} font-family="sans-serif" font-size="12" fill="currentColor">{heading}{"".join(rows)}</svg>'


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _text(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" dominant-baseline="middle">{escape(text)}</text>'
