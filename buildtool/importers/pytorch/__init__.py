"""The importer of PyTorch programs: PyTorch writes them as ONNX, in a process of its own, and that is imported."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from buildtool.errors import LatheError, Problem, UnsupportedError, Where
from buildtool.importers import onnx
from buildtool.importers.pytorch.exporting import export
from buildtool.importers.pytorch.files import kind_of
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["import_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The ONNX operators that PyTorch's own may become."""
    return onnx.supported_operators()


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a program that `torch.export.save` or `torch.jit.save` wrote."""
    where = Where(file=str(request.model_file), model=request.name)
    if request.weight_file is not None:
        raise UnsupportedError(
            "PyTorch's programs have no weight file of their own",
            where=where,
            remedy="remove weight_file_path; the weights are in the program",
        )
    kind = kind_of(request.model_file, where)
    with tempfile.TemporaryDirectory(prefix="lathe-pytorch-") as name:
        exported = Path(name) / "program.onnx"
        export(kind, request, exported, where)
        try:
            imported = onnx.import_model(replace(request, model_file=exported))
        except LatheError as error:
            raise type(error)([_of_program(problem, exported, where) for problem in error.problems]) from error
    return replace(imported, platform="pytorch")


def _of_program(problem: Problem, exported: Path, where: Where) -> Problem:
    """What was said of the exported file, said of the program."""
    if problem.where.file != str(exported):
        return problem
    return replace(problem, where=replace(problem.where, file=where.file))
