"""The importer of PaddlePaddle's programs, and of Paddle-Lite's: reading, checking, and one handler per operator."""

from __future__ import annotations

from collections.abc import Mapping

from buildtool.importers.assembly import assemble
from buildtool.importers.model import SourceModel
from buildtool.importers.paddle.program import FEED, FETCH
from buildtool.importers.paddle.reading import companions, read
from buildtool.importers.paddle.registry import REGISTRY
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["companions", "declared_inputs", "import_model", "source_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The operators that can be imported, by their names in programs of Paddle 2.

    Those of inputs and outputs are read with the program; names with @ are the importer's own.
    """
    return tuple(sorted({FEED, FETCH} | {name for name in REGISTRY.supported() if name[0] != "@"}))


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    wanted = [tensor.name for tensor in request.inputs]
    return read(request.model_file, request.weight_file, request.name, wanted)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a program, with the inputs and outputs that the request names."""
    return assemble(source_model(request), REGISTRY, request)


def declared_inputs(request: ImportRequest) -> Mapping[str, tuple[int | None, ...]]:
    """The inputs of a program and their sizes: None for those that are open, one None where the file states none."""
    inputs = read(request.model_file, request.weight_file, request.name).inputs
    shapes = {name: (None,) if tensor.shape is None else tensor.shape for name, tensor in inputs.items()}
    return {name: tuple(size if isinstance(size, int) else None for size in shape) for name, shape in shapes.items()}
