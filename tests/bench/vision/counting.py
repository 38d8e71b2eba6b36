"""Instructions of image functions on ARM, counted in qemu-user: count.cc between markers of the plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from buildtool.devices.qemu import EMULATORS, find
from tests.bench.arm.counting import CPUS, command, difference, plugin, read_markers
from tests.native_builds import build

ABIS = tuple(CPUS)


def counts(abi: str, functions: str, libyuv: str = "") -> list[dict[str, Any]]:
    """Rows of the report, for one ABI. `libyuv`: a library for it, among those that it needs."""
    folder = build("vision_count", abi=abi, variant="vision", options=["-DLATHE_BUILD_TESTS=ON"])
    written = folder / "counts"
    emulator = EMULATORS[abi]
    words = [find(emulator, abi), "-L", emulator.sysroot, "-cpu", CPUS[abi], "-plugin", f"{plugin()},out={written}"]
    if libyuv:
        words += ["-E", f"LD_LIBRARY_PATH={Path(libyuv).parent}"]
    names = command([*words, folder / "tests" / "vision_count", *([libyuv] if libyuv else [])]).splitlines()
    marks = [count for _, count in read_markers(written.read_text(encoding="utf-8"))]
    rows = []
    for name, before, after in zip(names, marks[::2], marks[1::2], strict=True):
        engine, function, size = name.split(" ", 2)
        count = difference(after, before).instructions
        if not functions or function in functions.split(","):
            rows.append({"function": function, "size": size, "engine": engine, "abi": abi, "instructions": count})
    return rows
