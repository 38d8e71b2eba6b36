"""Fuzzes the importer of ONNX models and all that follows without a device: passes, the text form, the container.

Run it by `make fuzz`, or `python -m tests.fuzz onnx_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.codegen import container
    from buildtool.importers.onnx import import_model, supported_operators
    from buildtool.importers.request import ImportRequest, TensorRequest
    from buildtool.ir import dims, text
    from buildtool.ir.evaluate import evaluate
    from buildtool.ir.graph import Graph
    from buildtool.ops.registry import registry
    from buildtool.passes.pipeline import optimise

    OPERATORS = supported_operators()  # loads the handlers, which are to be instrumented too

import math
import sys
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from tests.fuzz import onnx_mutations, onnx_seeds

_FORMATS = ("NCHW", "NHWC")
_SMALL_NODES = 60
_SMALL_BYTES = 2**18


def attempt(file: Path) -> None:
    """Takes a file as far as it goes."""
    graph = import_model(ImportRequest("fuzzed", file, inputs=_requests(file))).graph
    optimise(graph)
    held = sum(value.constant.nbytes for value in graph.values() if value.constant is not None)
    if len(graph.nodes) > _SMALL_NODES or held > _SMALL_BYTES:
        return
    _write_and_read(graph)
    _run(graph)


def _requests(file: Path) -> tuple[TensorRequest, ...]:
    """The inputs with bounds for sizes that the model leaves open; none where it leaves nothing open."""
    try:
        graph = onnx.ModelProto.FromString(file.read_bytes()).graph
    except (DecodeError, RecursionError, ValueError):
        return ()
    held = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in held]
    shapes = [
        tuple(dim.dim_value if dim.dim_value > 0 else (1, 8) for dim in value.type.tensor_type.shape.dim)
        for value in inputs
    ]
    if all(isinstance(dim, int) for shape in shapes for dim in shape):
        return ()
    return tuple(
        TensorRequest(value.name, shape, _FORMATS[len(value.name) % 2] if len(shape) == 4 else "NONE")
        for value, shape in zip(inputs, shapes, strict=True)
        if isinstance(value.name, str)
    )


def _write_and_read(graph: Graph) -> None:
    written, arrays = text.write(graph)
    if text.write(text.read(written, arrays, registry()))[0] != written:
        raise AssertionError("the text form changed on the way")
    files = container.write(graph, name="fuzzed", half=False)
    container.read(files.model, files.data, registry())


def _run(graph: Graph) -> None:
    """Runs a graph that is cheap to run on ones. Regions are left out: how often they run the data decides."""
    symbols = {name: min(max(symbol.low, 2), symbol.high) for name, symbol in graph.symbols.items()}
    try:
        sizes = [[dims.evaluate(dim, symbols) for dim in value.type.shape] for value in graph.values()]
        work = [
            dims.evaluate(
                node.op.macs([value.type for value in node.inputs], [value.type for value in node.outputs]), symbols
            )
            for node in graph.nodes
        ]
    except ValueError:  # impossible sizes: `evaluate` would only say so
        return
    costs = [*(math.prod(size) for size in sizes), *work]
    if max(costs, default=0) > _SMALL_BYTES or any(node.regions for node in graph.nodes):
        return
    inputs = {
        value.name: np.ones([dims.evaluate(dim, symbols) for dim in value.type.shape], value.type.dtype.numpy)
        for value in graph.inputs
    }
    evaluate(graph, inputs)


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        onnx_seeds.main()
        return
    folder = harness.FOLDER / "model"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fuzzed.onnx"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        attempt(file)

    harness.fuzz(target, onnx_mutations.Mutator(onnx_seeds.stored(), OPERATORS))


if __name__ == "__main__":
    main()
