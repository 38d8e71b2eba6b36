"""Fuzzes the importer of ONNX models and all that follows without a device: passes, the text form, the container.

Run it by `make fuzz`, or `python -m tests.fuzz onnx_importer --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.importers.frameworks import import_model
    from buildtool.importers.onnx import supported_operators
    from buildtool.importers.request import ImportRequest, TensorRequest
    from buildtool.passes.pipeline import optimise
    from tests.fuzz.graph_checks import take_further

    OPERATORS = supported_operators()  # loads the handlers, which are to be instrumented too

import sys
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from tests.fuzz import onnx_mutations, onnx_seeds

_FORMATS = ("NCHW", "NHWC")


def attempt(file: Path) -> None:
    """Takes a file as far as it goes."""
    graph = import_model("onnx", ImportRequest("fuzzed", file, inputs=_requests(file))).graph
    optimise(graph)
    take_further(graph)


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
