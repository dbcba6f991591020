"""A small figure for notebooks: dots with their intervals, a panel per group, as inline SVG. Those to publish are made by `plot`."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import List, Optional, Sequence

# Pixels.
_WIDTH, _ROW, _HEAD, _FOOT, _GAP = 400, 20, 34, 22, 16
_VALUE = 62
_LETTER = 6.3
_BLUE = "#3b7dd8"  # stands out from white and from black


@dataclass
class Dot:
    """A row of a panel: a mean in percent with the ends of its interval, None where there is none."""

    name: str
    percent: Optional[float]
    low: Optional[float] = None
    high: Optional[float] = None


@dataclass
class Panel:
    """What a panel is about, what its axis shows, and its rows from above."""

    title: str
    axis: str
    dots: List[Dot]


def svg(panels: Sequence[Panel]) -> str:
    """Draws panels, two beside each other. Text and lines have the colour of the text around."""
    if not panels:
        return ""
    columns = min(2, len(panels))
    rows = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    parts, top = [], 0
    for row in rows:
        for at, panel in enumerate(row):
            parts.append(f'<g transform="translate({at * (_WIDTH + _GAP)},{top})">{_panel(panel)}</g>')
        top += max(_height(panel) for panel in row) + _GAP
    width = columns * (_WIDTH + _GAP) - _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top - _GAP}" width="{width}" height="{top - _GAP}" '
        f'style="max-width:100%;height:auto" '
        f'role="img" font-family="sans-serif" font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )


def _height(panel: Panel) -> int:
    return _HEAD + _ROW * len(panel.dots) + _FOOT


def _panel(panel: Panel) -> str:
    names = min(150.0, _LETTER * max((len(dot.name) for dot in panel.dots), default=0) + 8)
    left, right, bottom = names, _WIDTH - _VALUE, _HEAD + _ROW * len(panel.dots)
    ends = [0.0]
    for dot in panel.dots:
        ends += [end for end in (dot.low, dot.percent, dot.high) if end is not None]
    step = _step(max(ends) - min(ends))
    low, high = step * math.floor(min(ends) / step), step * max(math.ceil(max(ends) / step), 1)

    def x(percent: float) -> float:
        return left + (right - left) * (percent - low) / (high - low)

    parts = [_text(0, 11, panel.title, weight="bold"), _text(0, 25, panel.axis, opacity=0.7)]
    for number in range(round((high - low) / step) + 1):
        at = low + number * step
        strong = "0.6" if abs(at) < step / 2 else "0.15"
        parts.append(f'<path d="M{x(at):.1f} {_HEAD}V{bottom}" stroke="currentColor" stroke-opacity="{strong}"/>')
        parts.append(_text(x(at), bottom + 14, f"{at:g} %", anchor="middle", opacity=0.7))
    for number, dot in enumerate(panel.dots):
        y = _HEAD + _ROW * (number + 0.5)
        parts.append(_text(left - 8, y + 4, _short(dot.name, names - 8), anchor="end"))
        if dot.percent is None:
            parts.append(_text(right + 8, y + 4, "none", opacity=0.7))
            continue
        if dot.low is not None and dot.high is not None:
            ends_x = f"M{x(dot.low):.1f} {y}H{x(dot.high):.1f}"
            parts.append(f'<path d="{ends_x}" stroke="{_BLUE}" stroke-width="2" stroke-opacity="0.5"/>')
        parts.append(f'<circle cx="{x(dot.percent):.1f}" cy="{y}" r="4" fill="{_BLUE}"/>')
        parts.append(_text(right + 8, y + 4, f"{dot.percent:+.1f} %"))
    return "".join(parts)


def _text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal", opacity: float = 1.0) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill-opacity="{opacity:g}">'
        f"{html.escape(words)}</text>"
    )


def _short(words: str, width: float) -> str:
    most = int(width / _LETTER)
    return words if len(words) <= most else words[: max(1, most - 1)] + "…"


def _step(span: float) -> float:
    """A round step of which two to five make the span."""
    if not span > 0.0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(span))
    return next(step * power for step in (0.2, 0.5, 1.0, 2.0) if span <= 4.0 * step * power or step == 2.0)
