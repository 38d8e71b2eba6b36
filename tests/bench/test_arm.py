"""Counting instructions: the arithmetic, and once for real on a small network."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.config.load import load_deployment
from buildtool.devices.qemu import EMULATORS
from tests.bench.arm import __main__ as arm
from tests.bench.arm import count_peers, counting, inner_loops, peers
from tests.bench.arm.__main__ import NodeCount
from tests.bench.arm.counting import Count
from tests.bench.real import names

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


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int8"])
def test_networks_have_valid_deployment_files(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm, "FOLDER", tmp_path)
    monkeypatch.setattr(arm, "ROOT", tmp_path)
    file = arm.described("squeezenet_v11", dtype, ["aarch64-linux-gnu"], 32)
    (model,) = load_deployment(file).deployment.models
    assert model.quantize.enabled == (dtype == "int8")


def test_counts_of_other_engines_are_kept_and_the_best_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "FILE", tmp_path / "peers.json")
    monkeypatch.setattr(peers, "of_real", lambda: json.loads(peers.FILE.read_text()))
    peers.record("face_128", "neoverse-n1", "fp32", "mnn", 900)
    peers.record("face_128", "neoverse-n1", "fp32", "onnxruntime", 1100)
    peers.record("face_128", "neoverse-n1", "fp32", "ncnn", "its outputs have other sizes")
    row = arm.row("face_128", "aarch64-linux-gnu", "neoverse-n1", "fp32", Count(1080, 0), NODES)
    assert (row["peers"], row["ratio_to_peer"]) == ({"mnn": 900, "onnxruntime": 1100}, 1.2)
    row = arm.row("face_128", "aarch64-linux-gnu", "neoverse-n1", "int8", Count(1080, 0), NODES)
    assert (row["peers"], row["peer"], row["ratio_to_peer"]) == ({}, None, None)


def test_what_is_recorded_of_other_engines_belongs_to_networks_that_are_counted() -> None:
    assert set(peers.of_real()) <= set(names.NETWORKS)
    for counts in peers.of_real().values():
        for made, engines in counts.items():
            assert set(engines) <= set(count_peers.ENGINES[made.split()[1]])
    assert len(names.ON_ARM) >= 10


def test_an_engine_that_computes_something_else_is_found() -> None:
    same, other = np.array([1.0, 2.0]), np.array([2.0, -1.0])
    assert count_peers.cosine([same, same], [same, 2 * same]) == pytest.approx(1)
    assert count_peers.cosine([same, other], [same, same]) == pytest.approx(0)
    with pytest.raises(RuntimeError, match="other sizes"):
        count_peers.cosine([same], [same, same])


def test_markers() -> None:
    markers = counting.read_markers("0 10 1\n1 110 31\n")
    assert [number for number, _ in markers] == [0, 1]
    assert counting.difference(markers[1][1], markers[0][1]) == Count(100, 30)


ARM_LOOP = "1: ldr %1, [%2]; subs %0, %0, #1; bne 1b"
LOOPS = {
    "aarch64-linux-gnu": ARM_LOOP,
    "arm-linux-gnueabihf": ARM_LOOP,
    "riscv64-linux-gnu": "1: ld %1, 0(%2); addi %0, %0, -1; bnez %0, 1b",
}


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
            __asm__ volatile(LOOP : "+r"(left), "=&r"(read) : "r"(place) : "cc");
            mark();
          }
          return 0;
        }
        """.replace("LOOP", f'"{LOOPS[abi]}"')
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


DISASSEMBLY = """
loops.o:     file format elf64-littleaarch64

0000000000000000 <void lathe::(anonymous namespace)::Sum<2>(lathe::(anonymous namespace)::Job const&)>:
   0:	ldr	q0, [x1], #16
   4:	fmla	v16.4s, v8.4s, v0.s[0]
   8:	fmla	v17.4s, v9.4s, v0.s[0]
   c:	subs	x2, x2, #0x1
  10:	b.ne	4 <void lathe::(anonymous namespace)::Sum<2>(lathe::(anonymous namespace)::Job const&)+0x4>  // b.any
  14:	cbz	x3, 1c <void lathe::(anonymous namespace)::Sum<2>(lathe::(anonymous namespace)::Job const&)+0x1c>
  18:	fmla	v17.4s, v9.4s, v0.s[0]
  1c:	b.hi	14 <void lathe::(anonymous namespace)::Sum<2>(lathe::(anonymous namespace)::Job const&)+0x14>
  20:	ret
"""


def test_loops_are_found_where_nothing_branches_inside() -> None:
    (loop,) = inner_loops.loops(DISASSEMBLY, least=2)
    assert (loop.function, loop.multiply_adds) == ("Sum<2>", 2)
    assert loop.assembly == "fmla v16.4s, v8.4s, v0.s[0]\nfmla v17.4s, v9.4s, v0.s[0]\nsubs x2, x2, #0x1\n"
    assert not inner_loops.loops(DISASSEMBLY, least=3)


@pytest.mark.slow
@pytest.mark.arm
def test_the_tile_is_a_loop_of_multiply_adds() -> None:
    tile = max(inner_loops.loops(inner_loops.disassembled("panels")), key=lambda loop: loop.multiply_adds)
    assert tile.function == "RunPairs"
    assert tile.multiply_adds / (len(tile.body) + 1) > 0.9
