"""The importer of ONNX models: reading, checking, and one handler per operator."""

from __future__ import annotations

from buildtool.errors import UnsupportedError, Where
from buildtool.importers.assembly import assemble
from buildtool.importers.model import SourceModel
from buildtool.importers.onnx.companions import companions
from buildtool.importers.onnx.reading import read
from buildtool.importers.onnx.registry import REGISTRY
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["companions", "import_model", "source_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The ONNX operators that can be imported; some only where their inputs are known at build time."""
    return REGISTRY.supported()


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    return read(request.model_file, request.name)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of an ONNX file, with the inputs and outputs that the request names."""
    if request.weight_file is not None:
        raise UnsupportedError(
            "ONNX models have no weight file of their own",
            where=Where(file=str(request.model_file), model=request.name),
            remedy="remove weight_file_path; external data is found beside the model",
        )
    return assemble(source_model(request), REGISTRY, request)
