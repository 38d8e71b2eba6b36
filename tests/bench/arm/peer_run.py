"""One engine with one model, warm and on one thread, between markers: what `count_peers.py` runs in qemu.

    python -m tests.bench.arm.peer_run ENGINE MODEL INPUTS.npz OUTPUTS.npz

Marker 0, a run with the binding's part of it, marker 1, marker 2. What is between the last two is the cost of a marker.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import numpy as np

from tests.bench.peers.engines import ENGINES

MARKER = 0x7A0000
_WARM_RUNS = 3


def mark(number: int) -> None:
    with contextlib.suppress(OSError):  # there is no such process
        os.getpgid(MARKER + number)


def main() -> None:
    engine, model, source, target = sys.argv[1:]
    with np.load(source) as stored:
        feeds = dict(stored)
    run = ENGINES[engine]()(Path(model), 1, feeds)
    for _ in range(_WARM_RUNS):
        results = run()
    mark(0)
    results = run()
    mark(1)
    mark(2)
    np.savez(target, *results)


if __name__ == "__main__":
    main()
