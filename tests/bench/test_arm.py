"""Counting instructions: the arithmetic, and once for real on a small network."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildtool.devices.qemu import EMULATORS
from tests.bench.arm import __main__ as arm
from tests.bench.arm import counting
from tests.bench.arm.__main__ import NodeCount
from tests.bench.arm.counting import Count

NODES = [
    NodeCount("conv2d", "conv2d_a", 400, Count(150, 20)),
    NodeCount("transpose", "transpose_a", 0, Count(300, 200)),
    NodeCount("conv2d", "conv2d_a", 400, Count(350, 30)),
]


def test_kernels_are_summed_and_sorted() -> None:
    first, second = arm.by_kernel(NODES, 4)
    assert first == {
        "op": "conv2d",
        "kernel": "conv2d_a",
        "nodes": 2,
        "instructions": 500,
        "accesses": 50,
        "bound": 200,
        "ratio": 2.5,
    }
    assert (second["kernel"], second["bound"], second["ratio"]) == ("transpose_a", 0, None)


def test_a_row_compares_the_whole_run_with_the_bound() -> None:
    row = arm.row("resnet18", "aarch64-linux-gnu", "neoverse-n1", "fp32", Count(1000, 300), NODES)
    assert (row["instructions"], row["bound"], row["ratio"]) == (1000, 200, 5.0)
    row = arm.row("resnet18", "aarch64-linux-gnu", "neoverse-n1", "fp16", Count(1000, 300), NODES)
    assert (row["dtype"], row["bound"], row["ratio"], row["peer"]) == ("fp16", 100, 10.0, 130_100_000)
    assert arm.row("resnet18", "aarch64-linux-gnu", "cortex-a53", "fp32", Count(1, 1), NODES)["peer"] is None


def test_markers() -> None:
    markers = counting.read_markers("0 10 1\n1 110 31\n")
    assert [number for number, _ in markers] == [0, 1]
    assert counting.difference(markers[1][1], markers[0][1]) == Count(100, 30)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(counting.CPUS))
def test_counts_are_exact(abi: str, tmp_path: Path) -> None:
    """A loop of a known length between two markers."""
    source, program, out = tmp_path / "loop.c", tmp_path / "loop", tmp_path / "counts.txt"
    source.write_text(
        """
        #include <sys/syscall.h>
        #include <unistd.h>
        static char place[64];
        static void mark(void) { syscall(SYS_getpgid, 0x7A0000); }
        int main(void) {
          for (long count = 1000; count <= 3000; count += 1000) {
            long left = count, read;
            mark();
            __asm__ volatile("1: ldr %1, [%2]; subs %0, %0, #1; bne 1b" : "+r"(left), "=&r"(read) : "r"(place) : "cc");
            mark();
          }
          return 0;
        }
        """
    )
    subprocess.run([f"{abi}-gcc", "-O1", source, "-o", program], check=True)
    emulator = EMULATORS[abi]
    counting.command([emulator.program, "-L", emulator.sysroot, "-plugin", f"{counting.plugin()},out={out}", program])
    markers = [count for _, count in counting.read_markers(out.read_text())]
    one, two, three = (
        counting.difference(later, earlier) for earlier, later in zip(markers[::2], markers[1::2], strict=True)
    )
    # What surrounds the loops is the same once everything has been called for the first time.
    assert counting.difference(three, two) == Count(3000, 1000)
    assert 3000 <= one.instructions < 3200
