"""The importer of Keras models: reading, checking, and one handler per layer."""

from __future__ import annotations

from buildtool.importers.assembly import assemble
from buildtool.importers.keras.description import QUANTISING
from buildtool.importers.keras.reading import read
from buildtool.importers.keras.registry import REGISTRY
from buildtool.importers.model import SourceModel
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["import_model", "source_model", "supported_operators"]

_REFUSED = frozenset({"Lambda", "TFOpLambda", "SlicingOpLambda"})  # their handlers say what to do instead


def supported_operators() -> tuple[str, ...]:
    """The layers that can be imported, and functions of `keras.ops` where they are layers of a model."""
    return tuple(sorted({*REGISTRY.supported(), *QUANTISING} - _REFUSED))


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    asked = [tensor.name for tensor in (*request.inputs, *request.outputs)]
    return read(request.model_file, request.weight_file, request.name, asked)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a Keras model, with the inputs and outputs that the request names."""
    return assemble(source_model(request), REGISTRY, request)


def declared_inputs(request: ImportRequest) -> dict[str, tuple[int | None, ...]]:
    """The inputs of the model; sizes that it leaves open are None."""
    model = read(request.model_file, request.weight_file, request.name)
    sizes = {name: source.shape or () for name, source in model.inputs.items()}
    return {name: tuple(dim if isinstance(dim, int) else None for dim in shape) for name, shape in sizes.items()}
