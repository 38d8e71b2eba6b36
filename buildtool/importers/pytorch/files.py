"""What a file of PyTorch is, found out without PyTorch: its newer formats are zip archives with telling members."""

from __future__ import annotations

import zipfile
from enum import Enum
from pathlib import Path

from buildtool import archives
from buildtool.errors import ModelFileError, Where

_PICKLE = b"\x80"  # with which files of torch.save begin that are no archives
_EXPORT = "torch.export.save(torch.export.export(model.eval(), (example_input,)), 'model.pt2')"


class Kind(Enum):
    """The programs that can be imported."""

    EXPORTED = "exported"  # torch.export.save
    SCRIPT = "script"  # torch.jit.save


def kind_of(file: Path, where: Where) -> Kind:
    """What a file holds. ModelFileError where it is no program: weights alone do not say what is computed."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.namelist()
    except OSError as problem:
        raise ModelFileError(f"the model cannot be read: {problem.strerror}", where=where) from problem
    except archives.DAMAGED as problem:
        raise _no_archive(file, where) from problem
    inner = {member.partition("/")[2] for member in members}
    if "archive_format" in inner or "serialized_exported_program.json" in {*inner, *members}:
        return Kind.EXPORTED
    if "constants.pkl" in inner and any(member.startswith("code/") for member in inner):
        return Kind.SCRIPT
    if "data.pkl" in inner:
        raise _weights_only(where)
    raise ModelFileError(
        "this archive is not a program of PyTorch",
        where=where,
        rule="platform pytorch reads what torch.export.save and torch.jit.save write",
        remedy=f"save it with: {_EXPORT}",
    )


def _no_archive(file: Path, where: Where) -> ModelFileError:
    with file.open("rb") as stream:
        start = stream.read(1)
    if start == _PICKLE:
        return _weights_only(where)
    return ModelFileError(
        "this is not a file of PyTorch, or it is damaged",
        where=where,
        rule="platform pytorch reads the archives that torch.export.save and torch.jit.save write",
        remedy="compare its size with that of the original, or save it again",
    )


def _weights_only(where: Where) -> ModelFileError:
    return ModelFileError(
        "this file of torch.save holds weights or pickled Python objects, and no program",
        where=where,
        rule="weights alone do not say what is computed, and unpickling would run whatever code is in the file",
        remedy=f"load it into the model that it belongs to, then: {_EXPORT}",
    )
