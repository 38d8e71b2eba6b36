"""Draws the history: one chart per figure, a line per machine, commits from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.bench.history.records import Entry

WIDTH, CHART, GAP = 960, 170, 40
LEFT, RIGHT, TOP = 110, 24, 44
_COLOURS = ("#0969da", "#1a7f37", "#9a6700", "#8250df", "#cf222e")
_STYLE = """
svg{font:12px system-ui,sans-serif;background:#fff;color:#1f2328}
text{fill:currentColor}.grid{stroke:#8884}polyline{fill:none;stroke-width:1.5}
@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}}
"""


def picture(entries: Sequence[Entry], figures: Mapping[str, str]) -> str:
    """An SVG file. Each point has a title with its commit and value."""
    commits = list(dict.fromkeys(entry.commit for entry in entries))
    machines = list(dict.fromkeys(entry.machine for entry in entries))
    colours = {machine: _COLOURS[index % len(_COLOURS)] for index, machine in enumerate(machines)}
    parts = []
    for index, (machine, colour) in enumerate(colours.items()):
        parts.append(f'<circle cx="{LEFT}" cy="{14 + 16 * index}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 10}" y="{18 + 16 * index}">{escape(machine)}</text>')
    top = TOP + 16 * len(machines)
    for name, label in figures.items():
        parts.append(_chart(name, label, entries, commits, colours, top))
        top += CHART + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">'
    return f"{head}\n<style>{_STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"


def _chart(
    name: str,
    label: str,
    entries: Sequence[Entry],
    commits: Sequence[str],
    colours: Mapping[str, str],
    top: float,
) -> str:
    parts = [f'<g id="{name}"><text x="{LEFT}" y="{top - 8}">{escape(label)}</text>']
    measured = [entry for entry in entries if name in entry.figures]
    low, high = limits([entry.figures[name] for entry in measured])
    for value in (low, (low + high) / 2, high):
        y = _y(value, low, high, top)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>')
    for machine, colour in colours.items():
        own = [entry for entry in measured if entry.machine == machine]
        places = [(_x(commits.index(entry.commit), len(commits)), entry) for entry in own]
        line = " ".join(f"{x:.1f},{_y(entry.figures[name], low, high, top):.1f}" for x, entry in places)
        parts.append(f'<polyline stroke="{colour}" points="{line}"/>')
        for x, entry in places:
            value = entry.figures[name]
            tip = escape(f"{entry.commit} {entry.date} {entry.subject}: {value:,.10g}")
            y = _y(value, low, high, top)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{tip}</title></circle>')
    return "\n".join([*parts, "</g>"])


def limits(values: Sequence[float]) -> tuple[float, float]:
    """The range of an axis: 5% beyond the values, and at least 2% of them, so that noise does not fill the chart."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = max((high - low) * 0.05, (high or 1.0) * 0.01)
    return max(low - room, 0.0), high + room


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _x(index: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / count


def _y(value: float, low: float, high: float, top: float) -> float:
    return top + CHART * (high - value) / (high - low)
