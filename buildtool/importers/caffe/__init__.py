"""The importer of Caffe's networks: a prototxt and its caffemodel, and one handler per type of layer."""

from __future__ import annotations

from buildtool.importers.assembly import assemble
from buildtool.importers.caffe.reading import read, read_inputs
from buildtool.importers.caffe.registry import REGISTRY
from buildtool.importers.model import SourceModel
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["declared_inputs", "import_model", "source_model", "supported_operators"]
_INPUT = "Input"
_PICTURE = (None, None, None, None)  # of unknown size


def supported_operators() -> tuple[str, ...]:
    """The types of layers that can be imported."""
    return tuple(sorted({*REGISTRY.supported(), _INPUT}))


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    return read(request.model_file, request.weight_file, request.name)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a network, with the inputs and outputs that the request names."""
    return assemble(source_model(request), REGISTRY, request)


def declared_inputs(request: ImportRequest) -> dict[str, tuple[int | None, ...]]:
    """The inputs that a prototxt declares, with the sizes that it states."""
    return {
        name: _PICTURE if tensor.shape is None else tuple(dim if isinstance(dim, int) else None for dim in tensor.shape)
        for name, tensor in read_inputs(request.model_file).items()
    }
