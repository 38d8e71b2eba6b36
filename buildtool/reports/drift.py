"""How far a network drifts from its reference over depth, as a picture that any browser shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

WIDTH, HEIGHT = 960, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 44
_LEAST = 1e-9  # what is smaller is drawn there: equal values have no logarithm
_STYLE = """
svg{font:12px system-ui,sans-serif;background:#fff;color:#1f2328}
text{fill:currentColor}.grid{stroke:#8884}.drift{stroke:#0969da;fill:#0969da}.own{stroke:#1a7f37;fill:#1a7f37}
.line{fill:none;stroke-width:1.5}.wrong{stroke:#cf222e;fill:#cf222e}.wrong text{stroke:none}
@media(prefers-color-scheme:dark){svg{background:#0d1117;color:#e6edf3}.drift{stroke:#58a6ff;fill:#58a6ff}
.own{stroke:#3fb950;fill:#3fb950}.wrong{stroke:#ff7b72;fill:#ff7b72}}
"""


def picture(title: str, layers: Sequence[Mapping[str, Any]]) -> bytes:
    """Two lines over the nodes in their order: the error that has come together, and what each node adds itself."""
    drift = [_part(layer["max_rel"]) for layer in layers]
    own = [_part(layer["own"]["max_rel"]) for layer in layers]
    top = math.ceil(math.log10(max([*drift, *own, 1e-6])))
    low = math.floor(math.log10(min([*drift, *own, 1e-7])))
    parts = [_axes(low, top, len(layers)), f'<text x="{_LEFT}" y="18">{escape(title)}</text>']
    for name, label, values in (("drift", "drift from the reference", drift), ("own", "error added by the node", own)):
        start = _LEFT + (660 if name == "own" else 440)
        parts.append(f'<g class="{name}"><circle cx="{start}" cy="14" r="4"/></g>')
        parts.append(f'<text x="{start + 10}" y="18">{label}</text>')
        places = [(_x(index, len(layers)), _y(value, low, top)) for index, value in enumerate(values)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<g class="{name}"><polyline class="line" points="{line}"/>')
        for (x, y), layer, value in zip(places, layers, values, strict=True):
            wrong = "" if layer["passed"] else ' class="wrong" r="5"'
            tip = f"{layer['index']} {layer['op']} {layer['node']}: {label} {value:.3g}"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}"{wrong or " r=" + quoteattr("2.5")}>')
            parts.append(f"<title>{escape(tip)}</title></circle>")
        parts.append("</g>")
    for index, layer in enumerate(layers):
        if not layer["passed"]:
            x = _x(index, len(layers))
            parts.append(f'<g class="wrong"><line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}"/>')
            parts.append(f'<text x="{min(x + 4, WIDTH - 200):.1f}" y="{_TOP + 12}">{escape(layer["node"])}</text></g>')
            break
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return f"{head}\n<style>{_STYLE}</style>\n{body}\n</svg>\n".encode()


def _part(value: float | None) -> float:
    """A part of the largest magnitude; what is no number is worse than all."""
    return 1e3 if value is None or not math.isfinite(value) else min(max(value, _LEAST), 1e3)


def _x(index: int, count: int) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * (index + 0.5) / max(count, 1)


def _y(value: float, low: float, high: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (high - math.log10(value)) / max(high - low, 1)


def _axes(low: int, high: int, count: int) -> str:
    parts = []
    for power in range(low, high + 1):
        y = _y(10.0**power, low, high)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>')
    step = max(1, round(count / 12))
    parts += [
        f'<text x="{_x(index, count):.1f}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">{index}</text>'
        for index in range(0, count, step)
    ]
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">nodes in the order of the run</text>')
    return "\n".join(parts)
