"""The ratios of a measurement as a picture: a bar for each network and number of threads, in order, and a line at 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _LEFT, _ROW, _BAR, _TOP = 760, 190, 34, 12, 46
_STYLE = """
svg{font:13px system-ui,sans-serif;background:#fff}
text{fill:#1f2328}.soft{fill:#57606a;font-size:12px}.end{text-anchor:end}
.number{fill:#fff;font-size:11px;text-anchor:end}
.one{fill:#2f81f7}.two{fill:#8957e5}.level{stroke:#cf222e;stroke-dasharray:4 3}.rule{stroke:#d0d7de}
"""


def ratios(result: Mapping[str, Any]) -> dict[str, dict[int, float]]:
    """By network and threads; the worst network first."""
    found: dict[str, dict[int, float]] = {}
    for row in result["results"]:
        if row["engine"] == "lathe" and row["ratio_to_best_peer"] is not None:
            found.setdefault(row["network"], {})[row["threads"]] = row["ratio_to_best_peer"]
    return dict(sorted(found.items(), key=lambda item: -max(item[1].values())))


def picture(result: Mapping[str, Any]) -> str:
    """An SVG file. Colours of its own: pages in the dark keep its background."""
    found = ratios(result)
    threads = sorted({count for of in found.values() for count in of})
    most = max((ratio for of in found.values() for ratio in of.values()), default=1.0)
    scale = (_WIDTH - _LEFT - 60) / max(most, 1.2)
    height = _TOP + _ROW * len(found) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>Time of Lathe relative to the best other engine</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        '<text x="10" y="20">Time of Lathe / time of the best other engine</text>',
        *_legend(threads),
    ]
    for number, (network, of) in enumerate(found.items()):
        y = _TOP + number * _ROW
        lines.append(f'<text x="{_LEFT - 10}" y="{y + 18}" class="end">{escape(network)}</text>')
        for place, count in enumerate(count for count in threads if count in of):
            top, end = y + 2 + place * (_BAR + 2), _LEFT + of[count] * scale
            kind = ("one", "two")[threads.index(count) % 2]
            lines.append(
                f'<rect x="{_LEFT}" y="{top}" width="{end - _LEFT:.1f}" height="{_BAR}" class="{kind}"/>'
                f'<text x="{end - 4:.1f}" y="{top + 10}" class="number">{of[count]:.2f}</text>'
            )
    level = _LEFT + scale
    lines.append(f'<line x1="{level:.1f}" x2="{level:.1f}" y1="{_TOP - 6}" y2="{height - 6}" class="level"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _legend(threads: Sequence[int]) -> list[str]:
    lines = []
    for place, count in enumerate(threads):
        x = _WIDTH - 110 * (len(threads) - place)
        noun = "thread" if count == 1 else "threads"
        lines.append(
            f'<rect x="{x}" y="10" width="{_BAR}" height="{_BAR}" class="{("one", "two")[place % 2]}"/>'
            f'<text x="{x + 18}" y="21" class="soft">{count} {noun}</text>'
        )
    return lines
