"""The importer of Caffe's networks: a prototxt and its caffemodel, and one handler per type of layer."""

from __future__ import annotations

from buildtool.importers.assembly import assemble
from buildtool.importers.caffe.reading import read
from buildtool.importers.caffe.registry import REGISTRY
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["import_model", "supported_operators"]
_INPUT = "Input"


def supported_operators() -> tuple[str, ...]:
    """The types of layers that can be imported."""
    return tuple(sorted({*REGISTRY.supported(), _INPUT}))


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a network, with the inputs and outputs that the request names."""
    return assemble(read(request.model_file, request.weight_file, request.name), REGISTRY, request)
