"""The importer of TFLite models: reading, checking, and one handler per operator."""

from __future__ import annotations

from buildtool.errors import UnsupportedError, Where
from buildtool.importers.assembly import assemble
from buildtool.importers.model import SourceModel
from buildtool.importers.request import ImportedModel, ImportRequest
from buildtool.importers.tflite.reading import read
from buildtool.importers.tflite.registry import REGISTRY

__all__ = ["declared_inputs", "import_model", "source_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The operators that can be imported, custom ones by their codes."""
    return tuple(name for name in REGISTRY.supported() if name[0] != "@")  # of the importer itself


def declared_inputs(request: ImportRequest) -> dict[str, tuple[int | None, ...]]:
    """The inputs of a model; None for sizes that it leaves open, where the converter writes 1."""
    return {
        name: tuple(
            None if dim is None and usual == 1 else usual
            for dim, usual in zip(tensor.shape or (), tensor.usual or (), strict=True)
        )
        for name, tensor in source_model(request).inputs.items()
    }


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    return read(request.model_file, request.name)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a TFLite file, with the inputs and outputs that the request names."""
    if request.weight_file is not None:
        raise UnsupportedError(
            "TFLite models have no weight file of their own",
            where=Where(file=str(request.model_file), model=request.name),
            remedy="remove weight_file_path; the weights are in the model",
        )
    return assemble(source_model(request), REGISTRY, request)
