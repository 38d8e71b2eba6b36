"""The figures of the history: few, short, and the same from commit to commit.

Sizes and counts of instructions are exact. Times are the best of several and hold for one machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import buildtool
from buildtool.reports.documents import BuildReport
from tests.bench.arm import __main__ as arm
from tests.bench.arm.counting import CPUS

ROOT = Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "digits" / "deploy.yml"
NETWORK, SIZE = "mobilenet_v1", 64
ARM = "aarch64-linux-gnu"
BUILDS = 3
ROUNDS, RUNS = 7, 20

#: Figure -> what it is, for the charts.
FIGURES = {
    "digits_bytes": "library of digits for the host, bytes",
    "digits_rebuild_seconds": "build of digits with compiled kernels, seconds",
    f"{NETWORK}_{SIZE}_milliseconds": f"{NETWORK} {SIZE}x{SIZE}, fp32, one thread, host, milliseconds",
    f"{NETWORK}_{SIZE}_aarch64_instructions": f"{NETWORK} {SIZE}x{SIZE}, fp32, aarch64, instructions",
}


def figures(say: Callable[[str], object]) -> dict[str, float]:
    """All figures, by the names in FIGURES."""
    say("digits: size, and building it again")
    size, seconds = digits()
    say(f"{NETWORK}: latency, and instructions in qemu")
    report = arm.build(NETWORK, "fp32", ["host", ARM], SIZE)
    milliseconds = latency(report) * 1e3
    instructions = arm.count(report, ARM, CPUS[ARM])[0].instructions
    return dict(zip(FIGURES, (size, round(seconds, 2), round(milliseconds, 3), instructions), strict=True))


def digits() -> tuple[int, float]:
    """Bytes of the library, and seconds of the fastest build into an empty folder whose kernels are compiled."""
    times = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(BUILDS + 1):  # the first one fills the cache
            started = time.perf_counter()
            report = buildtool.build(DIGITS, buildtool.Overrides(("host",)), buildtool.Options(Path(name, str(number))))
            times.append(time.perf_counter() - started)
        return report.file_of("host", "shared").stat().st_size, min(times[1:])


def latency(report: BuildReport) -> float:
    """Seconds of one run by one thread, the best mean of several rounds."""
    with buildtool.load(report, threads=1) as model:
        shapes = {entry.name: entry.shape for entry in model.inputs}
        inputs = {name: np.random.default_rng(0).random(shape, np.float32) for name, shape in shapes.items()}
        model.run(inputs)
        return min(_round(lambda: model.run(inputs)) for _ in range(ROUNDS))


def _round(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(RUNS):
        run()
    return (time.perf_counter() - started) / RUNS
