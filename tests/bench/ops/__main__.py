"""Single operators: how long each kernel takes, or what it executes on ARM: `make bench-ops`.

    make bench-ops FILTER='conv2d/56x56x64-k3x3.*winograd' THREADS=2
    make bench-ops FILTER=dwconv2d ABI=aarch64-linux-gnu

A name is `<operator>/<sizes>/<kernel>`; the filter is a regular expression that has to match a part of it. On this
machine the kernels are timed; for an ABI that is emulated one warm run of each is counted: instructions, memory
accesses and the bound, which are the multiply-accumulates by four. Writes build/bench-ops.json.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from buildtool.devices.qemu import EMULATORS, find
from buildtool.errors import LatheError
from buildtool.plan import manifest
from buildtool.targets.cpu.capabilities import CPU
from tests.bench.arm.counting import CPUS, LANES, ROOT, CountingError, command, difference, plugin, read_markers
from tests.bench.ops import cases
from tests.native_builds import build

FOLDER = ROOT / "build" / "bench-ops"
RESULT = ROOT / "build" / "bench-ops.json"


def program(abi: str) -> Path:
    """lathe_bench with all kernels of an ABI."""
    return build("lathe_bench", abi=abi) / "lathe_bench"


def write_cases(pattern: str, isas: list[str]) -> Path:
    """The cases whose names match."""
    wanted = re.compile(pattern)
    every = cases.all_cases(ROOT / "build" / "bench-peers" / "onnx")
    found = [pair for pair in cases.pairs(every, manifest.load(), isas) if wanted.search(pair.name)]
    file = FOLDER / "cases.bench"
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases.write(file, found)
    return file


def time(file: Path, threads: int, seconds: float) -> list[dict[str, Any]]:
    """The table goes to the terminal while it grows."""
    written = FOLDER / "times.json"
    line = [str(program("host")), str(file), "--threads", str(threads), "--min-time", str(seconds)]
    done = subprocess.run([*line, "--json", str(written)], check=False)
    if done.returncode:
        raise CountingError("lathe_bench failed")
    results: list[dict[str, Any]] = json.loads(written.read_text())["results"]
    return results


def count(file: Path, abi: str, cpu: str) -> list[dict[str, Any]]:
    emulator = EMULATORS[abi]
    written = FOLDER / f"counts-{abi}.txt"
    emulated = [find(emulator, abi), "-L", emulator.sysroot, "-cpu", cpu, "-plugin", f"{plugin()},out={written}"]
    output = command([*emulated, program(abi), file, "--markers", "--json", "-"])
    markers = [counts for _, counts in read_markers(written.read_text())]
    rows: list[dict[str, Any]] = json.loads(output)["results"]
    for row, before, after in zip(rows, markers[::2], markers[1::2], strict=True):
        counted = difference(after, before)
        bound = row["macs"] // LANES["fp16" if "_f16_" in row["name"] else "fp32"]
        row |= {"instructions": counted.instructions, "accesses": counted.accesses, "bound": bound}
        row["ratio"] = round(counted.instructions / bound, 3) if bound else None
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    sys.stdout.write(f"{'case':88} {'instructions':>14} {'accesses':>12} {'bound':>12} {'ratio':>8}\n")
    for row in rows:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        numbers = f"{row['instructions']:14} {row['accesses']:12} {row['bound']:12}"
        sys.stdout.write(f"{row['name']:88} {numbers} {ratio:>8}\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.ops", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", default="", help="regular expression; default: everything")
    parser.add_argument("--abi", default="host", choices=["host", *CPUS])
    parser.add_argument("--cpu", default="", help="the processor to emulate; default: a typical one of the ABI")
    parser.add_argument(
        "--isas", type=lambda text: text.split(","), default=[], help="only kernels for these, as avx2,portable"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--min-time", type=float, default=0.2, help="seconds per case (default: 0.2)")
    options = parser.parse_args()
    try:
        file = write_cases(options.filter, options.isas or list(CPU.abis[options.abi].isas))
        if options.abi == "host":
            rows = time(file, options.threads, options.min_time)
        else:
            rows = count(file, options.abi, options.cpu or CPUS[options.abi])
            show(rows)
    except (CountingError, LatheError, re.error) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    heading = {"abi": options.abi, "cpu": options.cpu or CPUS.get(options.abi, ""), "threads": options.threads}
    RESULT.write_text(json.dumps({**heading, "results": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
