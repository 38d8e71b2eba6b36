"""The importer of TensorFlow's graphs and SavedModels: reading, freezing, and one handler per operator."""

from __future__ import annotations

from pathlib import Path

from buildtool.errors import UnsupportedError, Where
from buildtool.importers.assembly import assemble
from buildtool.importers.model import SourceModel
from buildtool.importers.recognition import is_saved_model
from buildtool.importers.request import ImportedModel, ImportRequest
from buildtool.importers.tensorflow.reading import READ, read
from buildtool.importers.tensorflow.registry import REGISTRY

__all__ = ["companions", "declared_inputs", "import_model", "source_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The operators that can be imported; some are done with when the file has been read."""
    of_files = (name for name in REGISTRY.supported() if " " not in name)  # others are the importer's own
    return tuple(sorted({*of_files, *READ}))


def companions(file: Path, weights: Path | None) -> tuple[Path, ...]:
    """The folder with the variables of a SavedModel that is named by its file; a folder has all in it anyway."""
    del weights  # models of this kind have none
    folder = file.parent / "variables"
    own = file.name == "saved_model.pb" or is_saved_model(file)
    return (folder,) if folder.is_dir() and own else ()


def declared_inputs(request: ImportRequest) -> dict[str, tuple[int | None, ...]]:
    """The inputs of a model and their sizes: None for those that the file leaves open, one None where it leaves all."""
    model = read(request.model_file, request.name, ())
    shapes = {name: (None,) if tensor.shape is None else tensor.shape for name, tensor in model.inputs.items()}
    return {name: tuple(size if isinstance(size, int) else None for size in shape) for name, shape in shapes.items()}


def source_model(request: ImportRequest) -> SourceModel:
    """The model as it was read, before anything is converted."""
    named = [tensor.name for tensor in (*request.inputs, *request.outputs)]
    return read(request.model_file, request.name, named)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a frozen graph or of a SavedModel, with the inputs and outputs that the request names."""
    if request.weight_file is not None:
        raise UnsupportedError(
            "TensorFlow models have no weight file of their own",
            where=Where(file=str(request.model_file), model=request.name),
            remedy="remove weight_file_path; a SavedModel has its variables in the folder beside saved_model.pb",
        )
    return assemble(source_model(request), REGISTRY, request)
