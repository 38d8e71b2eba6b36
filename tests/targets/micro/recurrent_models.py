"""Small TFLite models with recurrent layers of 8-bit integers, drawn at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.operator import Array
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.targets.micro.lowering.lower import lower
from buildtool.targets.micro.network import Network
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write

_RELU, _TANH = 1, 4


def lstm(
    seed: int,
    units: int = 13,
    deep: int = 7,
    steps: int = 24,
    batches: int = 1,
    bits: int = 12,
    clip: float = 0.0,
    time_major: bool = False,
) -> bytes:
    """Large numbers go into the gates, so that cells and gates come to their bounds."""
    random = np.random.default_rng(seed)
    tensors: list[TensorSpec] = []

    def tensor(dtype: str, shape: tuple[int, ...], content: Array | None, scale: float, zero: int = 0) -> int:
        state = dtype in ("int8", "int16") and len(shape) == 2 and content is None
        quant = Quantisation([scale], [zero])
        tensors.append(TensorSpec(f"t{len(tensors)}", dtype, shape, content, quant, is_state=state))
        return len(tensors) - 1

    def drawn(*shape: int) -> int:
        weights = random.integers(-127, 128, shape).astype(np.int8)
        return tensor("int8", shape, weights, float(random.uniform(0.004, 0.012)))

    outer = (steps, batches) if time_major else (batches, steps)
    x = tensor("int8", (*outer, deep), None, 0.02, int(random.integers(-20, 20)))
    weights = [drawn(units, deep) for _ in range(4)]
    recurrent = [drawn(units, units) for _ in range(4)]
    bias = [tensor("int32", (units,), random.integers(-4000, 9000, units).astype(np.int32), 2e-4) for _ in range(4)]
    scale, zero = float(random.uniform(0.0078, 0.009)), int(random.integers(-6, 6))
    state = tensor("int8", (batches, units), None, scale, zero)
    cell = tensor("int16", (batches, units), None, 2.0**-bits)
    between = [tensor("float32", (0,), None, 1.0) for _ in range(4)]
    between.append(tensor("int8", (0,), None, scale, zero))
    y = tensor("int8", (*outer, units), None, scale, zero)
    values = {"FusedActivationFunction": _TANH, "CellClip": clip, "TimeMajor": int(time_major)}
    inputs = [x, *weights, *recurrent, -1, -1, -1, *bias, -1, -1, state, cell, -1, -1, -1, -1]
    options = "UnidirectionalSequenceLSTMOptions"
    node = NodeSpec("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options, values, between=between)
    return write(GraphSpec(tensors, [node], [x], [y]))


def svdf(seed: int, rank: int = 1, filters: int = 12, deep: int = 9, memory: int = 7, batches: int = 1) -> bytes:
    """With a bias where the seed is even. LiteRT wants a ReLU, and leaves it to the zero point."""
    random = np.random.default_rng(seed)
    zero = int(random.integers(-30, 30))
    weights = random.integers(-127, 128, (filters, deep)).astype(np.int8)
    times = random.integers(-9000, 9000, (filters, memory)).astype(np.int16)
    bias = random.integers(-900000, 900000, filters // rank).astype(np.int32)
    tensors = [
        TensorSpec("x", "int8", (batches, deep), None, Quantisation([0.03], [zero])),
        TensorSpec("weights", "int8", weights.shape, weights, Quantisation([0.007], [0])),
        TensorSpec("times", "int16", times.shape, times, Quantisation([3e-5], [0])),
        TensorSpec("bias", "int32", bias.shape, bias, Quantisation([1.5e-8], [0])),
        TensorSpec("state", "int16", (batches, filters * memory), None, Quantisation([5e-4], [0]), is_state=True),
        TensorSpec("y", "int8", (batches, filters // rank), None, Quantisation([0.02], [-128 if rank == 1 else 11])),
    ]
    inputs = [0, 1, 2, 3 if seed % 2 == 0 else -1, 4]
    node = NodeSpec("SVDF", inputs, [5], "SVDFOptions", {"Rank": rank, "FusedActivationFunction": _RELU}, version=3)
    return write(GraphSpec(tensors, [node], [0], [5]))


def streaming(data: bytes, folder: Path) -> Network:
    """A network that keeps the state of its filters."""
    file = folder / "svdf.tflite"
    file.write_bytes(data)
    inputs, outputs = (tuple(map(TensorRequest, names)) for names in (("x", "state"), ("y", "state:next")))
    graph = import_model("tflite", ImportRequest("m", file, None, inputs, outputs, registry(()))).graph
    pipeline.optimise(graph, ["remove_dead_code", "fold_constants", "remove_identities"])
    return lower(graph, "m")
