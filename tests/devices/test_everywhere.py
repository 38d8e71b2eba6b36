"""The table of docs/how-to/devices.md can be made: the same commands give the same answers in all five places."""

from __future__ import annotations

import pytest

from tests.devices import everywhere


@pytest.mark.slow
@pytest.mark.arm
def test_one_deployment_in_five_places() -> None:
    rows = list(everywhere.table(rounds=3))
    abis = ["host", "aarch64-linux-gnu", "arm-linux-gnueabihf", "aarch64-linux-gnu", "aarch64-linux-gnu"]
    assert [row.abi for row in rows] == abis
    assert all(row.passed and row.cosine > 0.9999 and row.max_abs < 1e-5 and row.figure > 0 for row in rows)
    instructions, milliseconds = "instructions", "milliseconds"
    assert [row.unit for row in rows] == [milliseconds, instructions, instructions, milliseconds, milliseconds]
    emulated = rows[1].max_abs
    assert [row.max_abs for row in rows[3:]] == [emulated, emulated]  # the same code runs there
    assert rows[4].text().startswith("| `adb:SERIAL` | aarch64-linux-gnu | 1.000000 | ")
    assert rows[4].text().endswith(" ms (an emulator's) |")
