"""Writes what the fuzzer of the accelerator of the MAX7800x begins with: `python -m tests.fuzz.max7800x_program`.

The target itself is native: tests/fuzz/native/max7800x_fuzzer.c. Seeds are the accesses of programs of small networks.
"""

from __future__ import annotations

import struct
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.planning import planner
from tests.targets.max7800x.machine import Script, script_of
from tests.targets.max7800x.networks import networks, sample_for

FOLDER = Path("build/fuzz/seeds/max7800x_program")
MOST_BYTES = 16384  # of one input
COUNT = 400  # of networks that are tried


def packed(script: Script) -> bytes:
    """As the fuzzer reads it."""
    made = bytes([script.device == MAX78002.name])
    for line in script.lines:
        kind, *numbers = line.split()
        address, value = (int(number, 16) for number in numbers) if numbers else (0, 0)
        made += struct.pack("<cII", kind.encode(), address, value)
    return made


@seed(0)
@settings(
    max_examples=COUNT, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
)
@given(networks(layers=3))
def write_seed(network: Network) -> None:
    try:
        content = packed(script_of(program.make(planner.place(network), sample_for(network))))
    except UnsupportedError:
        return
    if len(content) <= MOST_BYTES:
        (FOLDER / f"{len(list(FOLDER.iterdir()))}").write_bytes(content)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_seed()


if __name__ == "__main__":
    main()
