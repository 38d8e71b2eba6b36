"""The cases of single operators: what they are called, which there are, and what the program reads."""

from __future__ import annotations

import os
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from buildtool.benchmark.operator_names import describe
from buildtool.ir.types import DType, TensorType
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.softmax import Softmax
from buildtool.ops.transpose import Transpose
from buildtool.plan import manifest
from tests.bench.ops import __main__ as ops
from tests.bench.ops import cases


def f32(*shape: int) -> TensorType:
    return TensorType(DType.F32, shape)


def test_names_tell_sizes() -> None:
    conv = Conv2d(strides=(2, 2), pads=(1, 1, 1, 1), activation="relu")
    assert describe(conv, [f32(1, 56, 56, 64), f32(128, 3, 3, 64)]) == "56x56x64-k3x3-s2-o128-relu"
    with_residual = [f32(1, 9, 9, 4), f32(4, 1, 1, 4), f32(4), f32(1, 9, 9, 4)]
    assert describe(replace(conv, strides=(1, 1), pads=(0,) * 4, activation="none"), with_residual) == (
        "9x9x4-k1x1-o4-residual"
    )
    assert describe(Softmax(1), [f32(1, 1000)]) == "1x1000"
    assert describe(Transpose((0, 2, 1)), [f32(2, 3, 5)]) == "2x3x5-to-2x5x3"


def test_every_entry_of_the_table_has_a_kernel() -> None:
    entries = list(cases.table())
    found = {pair.case.name for pair in cases.pairs(entries, manifest.load(), ["portable"])}
    assert found == {case.name for case in entries}


def test_the_file_holds_names_and_macs(tmp_path: Path) -> None:
    entries = [case for case in cases.table() if case.op.name == "matmul"]
    pairs = list(cases.pairs(entries, manifest.load(), ["portable"]))
    file = tmp_path / "cases.bench"
    cases.write(file, pairs)
    data = file.read_bytes()
    assert data.startswith(b"LATHEBENCH" + struct.pack("<I", len(pairs)))
    name = pairs[0].name.encode()
    at = data.index(name)
    assert struct.unpack_from("<Q", data, at + len(name)) == (12 * 197 * 64 * 197,)


@pytest.mark.slow
def test_the_program_runs_them(tmp_path: Path) -> None:
    entries = [case for case in cases.table() if case.op.name in ("matmul", "softmax")]
    file, written = tmp_path / "cases.bench", tmp_path / "times.json"
    cases.write(file, cases.pairs(entries, manifest.load(), ["portable"]))
    line: list[str | Path] = [ops.program("host"), file, "--filter", "^matmul", "--min-time", "0", "--json", written]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=dict(os.environ))
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and "GMAC/s" in lines[0] and all(line.startswith("matmul/") for line in lines[1:])
    assert written.read_text().count('"iterations": 3') == 2
    assert subprocess.run([ops.program("host"), file, "--filter", "("], check=False).returncode == 2
    (tmp_path / "short").write_bytes(file.read_bytes()[:-1])
    assert subprocess.run([ops.program("host"), tmp_path / "short"], check=False).returncode == 1
