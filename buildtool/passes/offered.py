"""Passes of other packages: the entry points of the group `lathe.passes`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from buildtool.extensions import entry_points
from buildtool.extensions.entry_points import Extension, Found
from buildtool.passes.base import Pass


@functools.cache
def offered(known: tuple[type[Pass], ...]) -> Found:
    """The passes of other packages that are of use beside those that are known."""

    def complaint(one: Extension, accepted: Sequence[Extension]) -> str:
        return _complaint(one.value, [*known, *(other.value for other in accepted)])

    return entry_points.checked(entry_points.PASSES, entry_points.found(entry_points.PASSES), complaint)


def package_of(one: Pass) -> str:
    """The package that a pass comes from; empty for those of Lathe."""
    for extension in entry_points.found(entry_points.PASSES).extensions:
        if extension.value is type(one):
            return extension.package
    return ""


def _complaint(kind: object, others: Sequence[type[Pass]]) -> str:
    """What is against a pass, in words; empty where nothing is."""
    if not (isinstance(kind, type) and issubclass(kind, Pass)):
        return "it is not a pass: it must be a subclass of buildtool.passes.base.Pass"
    lacking = [word for word in ("name", "summary") if not isinstance(getattr(kind, word, None), str)]
    if lacking:
        return f"it has no {' and no '.join(lacking)}"
    try:
        kind()
    except Exception as error:
        return f"it cannot be created: {error}"
    names = {other.name for other in others}
    if kind.name in names:
        return f"there is a pass '{kind.name}' already"
    missing = [name for name in kind.requires if name not in names]
    return f"it requires the pass '{missing[0]}', which does not exist" if missing else ""
