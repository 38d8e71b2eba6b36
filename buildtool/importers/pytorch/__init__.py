"""The importer of PyTorch programs: PyTorch writes them as ONNX, in a process of its own, and that is imported."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from buildtool.errors import LatheError, Problem, UnsupportedError, Where
from buildtool.importers import onnx
from buildtool.importers.model import SourceModel
from buildtool.importers.pytorch.exporting import export
from buildtool.importers.pytorch.files import kind_of
from buildtool.importers.request import ImportedModel, ImportRequest

__all__ = ["import_model", "source_model", "supported_operators"]


def supported_operators() -> tuple[str, ...]:
    """The ONNX operators that PyTorch's own may become."""
    return onnx.supported_operators()


def source_model(request: ImportRequest) -> SourceModel:
    """The program as PyTorch exports it to ONNX, before anything is converted."""
    with _exported(request) as exported:
        return onnx.source_model(exported)


def import_model(request: ImportRequest) -> ImportedModel:
    """The graph of a program that `torch.export.save` or `torch.jit.save` wrote."""
    with _exported(request) as exported:
        return replace(onnx.import_model(exported), platform="pytorch")


@contextlib.contextmanager
def _exported(request: ImportRequest) -> Iterator[ImportRequest]:
    """The same request for the ONNX model that the program becomes. What is wrong with that is said of the program."""
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
            yield replace(request, model_file=exported)
        except LatheError as error:
            raise type(error)([_of_program(problem, exported, where) for problem in error.problems]) from error


def _of_program(problem: Problem, exported: Path, where: Where) -> Problem:
    """What was said of the exported file, said of the program."""
    if problem.where.file != str(exported):
        return problem
    return replace(problem, where=replace(problem.where, file=where.file))
