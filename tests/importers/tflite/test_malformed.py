"""Damaged files: a model or one clear error each, quickly, and nothing else."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import InternalError, LatheError, ModelFileError
from buildtool.importers.request import ImportRequest
from buildtool.importers.tflite import import_model
from buildtool.passes.pipeline import optimise
from tests.importers.tflite.cases import CASES
from tests.importers.tflite.harness import ints, random
from tests.importers.tflite.quantised_cases import QUANTISED
from tests.importers.tflite.writer import GraphSpec, Level, NodeSpec, Quantisation, Sparsity, TensorSpec, write

MOST_SECONDS = 5.0
_F = "float32"
_CONV = {"Padding": 0, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}


def healthy() -> bytes:
    """A small network with everything that a file may hold: sparse and quantised weights, options, a second graph."""
    sparse = Sparsity([0, 1], [Level(4), Level(0, [0, 1, 1, 2, 3], [2, 0, 7])])
    tensors = [
        TensorSpec("image", _F, (1, 8, 8, 3), signature=(-1, 8, 8, 3)),
        TensorSpec("filters", _F, (4, 3, 3, 3), random(4, 3, 3, 3)),
        TensorSpec("bias", _F, (4,), random(4)),
        TensorSpec("convolved", _F, (1, 8, 8, 4)),
        TensorSpec("mean", _F, (1, 4)),
        TensorSpec("axes", "int32", (2,), ints(1, 2)),
        TensorSpec("sparse", _F, (4, 8), np.array([1, 2, 3], np.float32), sparsity=sparse),
        TensorSpec("weights", _F, (4, 8)),
        TensorSpec("rows", "int8", (8, 4), ints(*range(32), dtype="int8").reshape(8, 4), Quantisation([0.1], [3])),
        TensorSpec("dense", _F, (8, 4)),
        TensorSpec("turned", "int32", (2,), ints(1, 0)),
        TensorSpec("other", _F, (8, 4)),
        TensorSpec("total", _F, (8, 4)),
        TensorSpec("result", _F, (1, 8)),
        TensorSpec("positive", _F, (1, 8)),
        TensorSpec("yes", "bool", ()),
    ]
    nodes = [
        NodeSpec("CONV_2D", [0, 1, 2], [3], "Conv2DOptions", _CONV),
        NodeSpec("MEAN", [3, 5], [4], "ReducerOptions"),
        NodeSpec("DENSIFY", [6], [7], "DensifyOptions"),
        NodeSpec("DEQUANTIZE", [8], [9], "DequantizeOptions"),
        NodeSpec("TRANSPOSE", [7, 10], [11], "TransposeOptions"),
        NodeSpec("ADD", [9, 11], [12], "AddOptions"),
        NodeSpec("FULLY_CONNECTED", [4, 12, -1], [13], "FullyConnectedOptions"),
        NodeSpec("IF", [15, 13], [14], "IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 1}),
    ]
    inner = GraphSpec(
        [TensorSpec("x", _F, (1, 8)), TensorSpec("y", _F, (1, 8))], [NodeSpec("RELU", [0], [1])], [0], [1]
    )
    return write(GraphSpec(tensors, nodes, [0, 15], [14]), inner)


def _import(file: Path) -> None:
    optimise(import_model(ImportRequest("hostile", file)).graph)


def _attempt(file: Path, data: bytes) -> bool:
    """Whether there was an error. Any other than a typed one ends the test."""
    file.write_bytes(data)
    started = time.process_time()
    try:
        _import(file)
    except LatheError as problem:
        assert not isinstance(problem, InternalError), problem
        assert all(one.where.file == str(file) for one in problem.problems), problem
        return True
    finally:
        assert time.process_time() - started < MOST_SECONDS
    return False


def test_the_healthy_model_is_healthy(tmp_path: Path) -> None:
    assert not _attempt(tmp_path / "healthy.tflite", healthy())


def test_truncated_files(tmp_path: Path) -> None:
    whole = healthy()
    for size in range(0, len(whole) - 4, 7):
        assert _attempt(tmp_path / "short.tflite", whole[:size]), size


@pytest.mark.slow
def test_flipped_bits(tmp_path: Path) -> None:
    whole, generator = healthy(), np.random.default_rng(3)
    for _ in range(600):
        data = bytearray(whole)
        for position in generator.choice(len(whole), size=generator.integers(1, 4)):
            data[position] ^= 1 << int(generator.integers(8))
        _attempt(tmp_path / "flipped.tflite", bytes(data))


def _extremes(whole: bytes) -> Iterator[bytes]:
    """Each word of the file in turn replaced by a number that is often wrong."""
    for number in (0xFFFFFFFF, 0x7FFFFFFF, 0, 1 << 20):
        for position in range(0, len(whole) - 3, 4):
            yield whole[:position] + struct.pack("<I", number) + whole[position + 4 :]


@pytest.mark.slow
def test_extreme_words(tmp_path: Path) -> None:
    for index, data in enumerate(_extremes(healthy())):
        if index % 5 == 0:
            _attempt(tmp_path / "extreme.tflite", data)


@pytest.mark.parametrize("case", [*CASES, *QUANTISED][::3], ids=str)
def test_damaged_operators(case: object, tmp_path: Path) -> None:
    assert isinstance(case, type(CASES[0]))
    whole, generator = case.file(), np.random.default_rng(4)
    for _ in range(25):
        data = bytearray(whole)
        data[int(generator.integers(len(whole)))] = int(generator.choice([0, 1, 127, 128, 255]))
        _attempt(tmp_path / "damaged.tflite", bytes(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"TFL3", "not a TFLite model"),
        (b"\x18\0\0\0TFL3" + bytes(40), "."),
        (b"\xff\xff\xff\xffTFL3" + bytes(40), "are missing"),
        (b"\x08\0\0\0TFL3" + struct.pack("<iHH", -4, 4, 4), "."),
    ],
)
def test_files_that_are_no_model_are_errors(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "none.tflite"
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match=message):
        _import(file)


def test_cycles_and_missing_tensors(tmp_path: Path) -> None:
    tensors = [TensorSpec(name, _F, (2, 2)) for name in "abc"]
    cycle = [NodeSpec("ADD", [0, 2], [1], "AddOptions"), NodeSpec("EXP", [1], [2], "ExpOptions")]
    missing = [NodeSpec("ADD", [0, 2], [1], "AddOptions")]
    twice = [NodeSpec("EXP", [0], [1], "ExpOptions"), NodeSpec("NEG", [0], [1], "NegOptions")]
    for nodes, message in ((cycle, "depend on each other"), (missing, "nothing defines 'c'"), (twice, "defined twice")):
        file = tmp_path / "model.tflite"
        file.write_bytes(write(GraphSpec(tensors, nodes, [0], [1])))
        with pytest.raises(ModelFileError, match=message):
            _import(file)


def test_graphs_that_double_at_every_level(tmp_path: Path) -> None:
    """Two references each to the next graph would make 2^40 copies of the last one."""
    depth = 40
    tensors = [TensorSpec("which", "bool", ()), *(TensorSpec(name, _F, (2,)) for name in "xyz")]
    graphs = []
    for level in range(depth):
        bodies = {"ThenSubgraphIndex": level + 1, "ElseSubgraphIndex": level + 1}
        nodes = [NodeSpec("IF", [0, 1], [2], "IfOptions", bodies), NodeSpec("IF", [0, 2], [3], "IfOptions", bodies)]
        inputs = [0, 1] if level == 0 else [1]
        held = [TensorSpec("which", "bool", (), np.array(True)), *tensors[1:]] if level else tensors
        graphs.append(GraphSpec(held, nodes, inputs, [3]))
    graphs.append(GraphSpec(tensors[1:3], [NodeSpec("RELU", [0], [1])], [0], [1]))
    file = tmp_path / "doubling.tflite"
    assert _attempt(file, write(*graphs))
