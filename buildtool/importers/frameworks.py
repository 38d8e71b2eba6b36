"""Finds the importer of a platform. Importers are loaded on need: loading a framework's package takes time."""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from buildtool import budget, importers
from buildtool.errors import LatheError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.importers import recognition
from buildtool.importers.files import stored
from buildtool.importers.model import SourceModel
from buildtool.importers.request import ImportedModel, ImportRequest

#: The platforms of model files by the ends of their names.
SUFFIXES = {".onnx": "onnx", ".tflite": "tflite", ".pt2": "pytorch", ".pt": "pytorch", ".pth": "pytorch"} | {
    ".h5": "keras",
    ".hdf5": "keras",
    ".keras": "keras",
    ".pb": "tensorflow",
    ".pbtxt": "tensorflow",
    ".prototxt": "caffe",
    ".pdmodel": "paddle",
    ".json": "paddle",
    ".nb": "paddle",
}


class Importer(Protocol):
    """What the package `buildtool.importers.<platform>` offers."""

    def import_model(self, request: ImportRequest) -> ImportedModel:
        """Reads the files of the request. LatheError where they are wrong or need what Lathe does not do."""

    def source_model(self, request: ImportRequest) -> SourceModel:
        """What `import_model` reads, before it is converted."""

    def supported_operators(self) -> tuple[str, ...]:
        """The framework's names of the operators that can be imported, sorted."""


@functools.cache
def platforms() -> tuple[str, ...]:
    """All platforms that have an importer."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(importers.__path__) if info.ispkg))


def importer(platform: str) -> Importer:
    """The importer of a platform."""
    known = platforms()
    if platform not in known:
        near = difflib.get_close_matches(platform, known, n=1)
        raise UnsupportedError(
            f"models of the platform '{platform}' cannot be imported yet",
            rule=f"platforms with an importer: {', '.join(known)}",
            remedy=f"did you mean '{near[0]}'?" if near else "convert the model to ONNX",
        )
    return cast(Importer, importlib.import_module(f"{importers.__name__}.{platform}"))


def companions(platform: str, file: Path, weights: Path | None) -> tuple[Path, ...]:
    """Files and folders that belong to a model besides those that the deployment names. A package offers the function
    `companions` where its framework has such files.
    """
    if platform not in platforms():
        return ()
    found = getattr(importer(platform), "companions", None)
    return tuple(found(file, weights)) if found else ()


def platform_of(path: Path) -> str:
    """The platform of a file or folder, by its content, else by its name; empty where neither tells."""
    file = recognition.model_in(path)
    found = recognition.recognise(file) if file.is_file() else None
    if found is not None:
        return found.platform
    return "paddle" if file.name == "__model__" else SUFFIXES.get(file.suffix.lower(), "")


def import_model(platform: str, request: ImportRequest) -> ImportedModel:
    """The graph of a model file."""
    with _blaming(platform, request), _limited(platform, request):
        return importer(platform).import_model(request)


def source_model(platform: str, request: ImportRequest) -> SourceModel:
    """What is in a model file, in the words of its framework."""
    with _blaming(platform, request), _limited(platform, request):
        return importer(platform).source_model(request)


def _limited(platform: str, request: ImportRequest) -> contextlib.AbstractContextManager[None]:
    """The budget of the files of a request. Files that cannot be read have none: their reader says what is wrong."""
    files = [request.model_file, *([request.weight_file] if request.weight_file else [])]
    with contextlib.suppress(LatheError):
        files += companions(platform, request.model_file, request.weight_file)
    whole = {inner for file in files for inner in (file.rglob("*") if file.is_dir() else (file,)) if inner.is_file()}
    size = 0
    with contextlib.suppress(OSError):
        size = sum(stored(file) for file in whole)
    return budget.limited(Where(file=str(request.model_file), model=request.name), size)


@contextlib.contextmanager
def _blaming(platform: str, request: ImportRequest) -> Iterator[None]:
    """ModelFileError for a file of another kind says which kind it is."""
    for file in filter(None, (request.model_file, request.weight_file)):
        if other := recognition.in_its_place(file):
            where = Where(file=str(file), model=request.name)
            raise ModelFileError(f"this is {other.what}, and not the model", where=where, remedy=other.remedy)
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError([_with_platform(problem, platform, request) for problem in error.problems]) from error
    except UnsupportedError as error:  # of what its reader took for an operator or a version
        found = recognition.recognise(request.model_file)
        if found is None or found.platform in ("", platform):
            raise
        raise ModelFileError(_instead(found, platform, error.problems[0])) from error


def _with_platform(problem: Problem, platform: str, request: ImportRequest) -> Problem:
    """The problem of a file that cannot be read, with what the file is instead."""
    if problem.where.file != str(request.model_file) or problem.where.node:
        return problem
    found = recognition.recognise(request.model_file)
    if found is None:
        named = SUFFIXES.get(request.model_file.suffix.lower(), platform)
        if named == platform:
            return problem
        return replace(problem, remedy=f"its name is that of a file of another platform: try platform: {named}")
    if found.platform == platform:
        return problem
    return _instead(found, platform, problem)


def _instead(found: recognition.Content, platform: str, problem: Problem) -> Problem:
    """The problem of a file that is another kind of file."""
    remedy = f"write platform: {found.platform}" if found.platform else found.remedy
    return Problem(f"this is {found.what}, and no model of {platform}", problem.where, problem.rule, remedy)
