"""Finds the importer of a platform. Importers are loaded on need: loading a framework's package takes time."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

from buildtool import importers
from buildtool.errors import UnsupportedError
from buildtool.importers.request import ImportedModel, ImportRequest


class Importer(Protocol):
    """What the package `buildtool.importers.<platform>` offers."""

    def import_model(self, request: ImportRequest) -> ImportedModel:
        """Reads the files of the request. LatheError where they are wrong or need what Lathe does not do."""

    def supported_operators(self) -> tuple[str, ...]:
        """The framework's names of the operators that can be imported, sorted."""


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


def import_model(platform: str, request: ImportRequest) -> ImportedModel:
    """The graph of a model file."""
    return importer(platform).import_model(request)
