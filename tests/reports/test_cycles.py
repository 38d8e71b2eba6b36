"""The table of cycles."""

from __future__ import annotations

from typing import Any

from buildtool.reports import cycles

DOCUMENT: dict[str, Any] = {
    "hertz": 50e6,
    "cycles": 60001,
    "seconds": 60001 / 50e6,
    "macs": 1234567,
    "rough": True,
    "layers": [
        {
            "layer": 0,
            "name": "conv1",
            "cycles": 59000,
            "rough": False,
            "macs": 1234567,
            "processors": 3,
            "busy": 0.0363,
        },
        {"layer": 1, "name": "fc", "cycles": 1000, "rough": True, "macs": 0, "processors": 12, "busy": 0.0},
    ],
}


def shown(document: dict[str, Any]) -> str:
    return "\n".join(part if isinstance(part, str) else part.plain() for part in cycles.parts(document))


def test_layers_and_their_sum() -> None:
    lines = [line.split() for line in shown(DOCUMENT).splitlines()]
    assert lines[0] == ["layer", "cycles", "time", "MACs", "processors", "busy"]
    assert lines[1] == ["0", "conv1", "59,000", "1.180", "ms", "1,234,567", "3", "3.6", "%"]
    assert lines[2] == ["1", "fc", "about", "1,000", "20.0", "us", "0", "12", "0.0", "%"]
    last = "about 60,001 cycles, 1.200 ms at 50 MHz, 1,234,567 multiply-accumulates, energy unknown: no power was given"
    assert " ".join(lines[-1]) == last


def test_energy_is_shown_where_it_is_known() -> None:
    layers = [{**layer, "joules": 2e-6 * (at + 1)} for at, layer in enumerate(DOCUMENT["layers"])]
    text = shown({**DOCUMENT, "joules": 6e-6, "layers": layers})
    assert "2.00 uJ" in text
    assert "4.00 uJ" in text
    assert text.endswith("6.00 uJ")
