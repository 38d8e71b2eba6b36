"""Loads the entry points of a group. A package that cannot be loaded is reported and breaks nothing else."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from buildtool.errors import Problem, ToolchainError, Where

OWN_PACKAGE = "lathe-build"
TARGETS = "lathe.targets"
PASSES = "lathe.passes"
_KINDS = {TARGETS: "target", PASSES: "pass"}


@dataclass(frozen=True)
class Extension:
    """An object that an entry point names."""

    name: str  # of the entry point
    package: str
    version: str
    value: Any
    module: str

    @property
    def is_own(self) -> bool:
        """Whether it comes with Lathe."""
        return self.package == OWN_PACKAGE

    def sources(self) -> Path | None:
        """The folder of the Python package that the object comes from, or the file of its module."""
        spec = importlib.util.find_spec(self.module.partition(".")[0])
        if spec is None or spec.origin is None:
            return None
        origin = Path(spec.origin)
        return origin.parent if origin.name == "__init__.py" else origin


@dataclass(frozen=True)
class Found:
    """What a group holds. `failures`: one problem for each entry point that is of no use."""

    extensions: tuple[Extension, ...]
    failures: tuple[Problem, ...] = ()


def found(group: str) -> Found:
    """The objects of a group: those of Lathe first, then those of other packages, each sorted by name."""
    return _found(group)


def of_others() -> tuple[Extension, ...]:
    """What packages other than Lathe itself offer."""
    return tuple(one for group in _KINDS for one in found(group).extensions if not one.is_own)


def require_own(group: str) -> Found:
    """The same for a group in which Lathe has entries itself. ToolchainError where the installation lacks them."""
    everything = found(group)
    if not any(one.is_own for one in everything.extensions):
        raise ToolchainError(
            f"this installation of Lathe offers no {_KINDS[group]}s",
            rule=f"they are found through the entry points `{group}` of the package {OWN_PACKAGE}",
            remedy=f"in a source tree run `make setup`, elsewhere `pip install --force-reinstall {OWN_PACKAGE}`",
        )
    return everything


def failure(group: str, name: str, package: str, why: str) -> Problem:
    """The error about an entry point that cannot be used."""
    return Problem(
        f"the {_KINDS[group]} '{name}' of the package '{package}' cannot be loaded: {why}",
        Where(),
        rule=f"an entry point of the group `{group}` has to name a usable {_KINDS[group]}",
        remedy=f"update the package (pip install --upgrade {package}), or remove it (pip uninstall {package})",
    )


@functools.cache
def _found(group: str) -> Found:
    extensions: list[Extension] = []
    failures: list[Problem] = []
    for entry in sorted(metadata.entry_points(group=group), key=_order):
        package = _package(entry)
        try:
            value = entry.load()
        except (Exception, SystemExit) as error:
            if package == OWN_PACKAGE:
                raise  # a defect of Lathe, to be seen as one
            failures.append(failure(group, entry.name, package, _words(error)))
            continue
        version = entry.dist.version if entry.dist is not None else ""
        extensions.append(Extension(entry.name, package, version, value, entry.module))
    return Found(tuple(extensions), tuple(failures))


def checked(group: str, everything: Found, complaint: Callable[[Extension, list[Extension]], str]) -> Found:
    """Without what `complaint` has words against; it is given each entry and those that were accepted before it."""
    accepted: list[Extension] = []
    failures = list(everything.failures)
    for one in everything.extensions:
        why = complaint(one, accepted)
        if why:
            failures.append(failure(group, one.name, one.package, why))
        else:
            accepted.append(one)
    return Found(tuple(accepted), tuple(failures))


def _order(entry: metadata.EntryPoint) -> tuple[bool, str, str]:
    package = _package(entry)
    return package != OWN_PACKAGE, entry.name, package


def _package(entry: metadata.EntryPoint) -> str:
    """The name of the distribution, in its usual spelling."""
    name = entry.dist.name if entry.dist is not None else ""
    return name.replace("_", "-") or entry.module.partition(".")[0]


def _words(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
