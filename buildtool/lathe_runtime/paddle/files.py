"""What kind of model a file holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .. import LatheRuntimeError  # noqa: TID252

_HOW = (
    "a library of Lathe runs models that Lathe has converted: build the library from the model that it was made from "
    "(lathe init MODEL writes the deployment file, lathe build reads it), and pass model/<abi>/<model>.pb"
)
_FOREIGN = ("__model__.nb", "__model__", "model.pdmodel")


def check_origin(name: str, start: bytes) -> None:
    """LatheRuntimeError for models that have to be converted first. `start`: the first bytes."""
    if _is_naive_buffer(start):
        raise LatheRuntimeError(f"{name}: this is a model of Paddle-Lite's opt (.nb)\n{_HOW}")
    if _is_program(start):
        raise LatheRuntimeError(f"{name}: this is a program of Paddle\n{_HOW}")


def start_of(file: Path) -> bytes:
    """As much of a file as tells what it is."""
    with file.open("rb") as stream:
        return stream.read(1 << 16)


def one_of_folder(folder: Path) -> str:
    """The one model of a folder, such as `model/<abi>` of a build."""
    found = [file for file in sorted(folder.glob("*.pb")) if ".whole." not in file.name]
    if len(found) == 1:
        return str(found[0])
    if found:
        raise LatheRuntimeError(f"{folder}: there are several models; name one with set_model_from_file")
    for name in _FOREIGN:
        if (folder / name).is_file():
            check_origin(str(folder / name), start_of(folder / name))
    raise LatheRuntimeError(f"{folder}: there is no model of Lathe (<model>.pb with <model>.data beside it)")


def _is_naive_buffer(start: bytes) -> bool:
    """A small number of two bytes, a text of 16 padded with zeros, and the size of what follows."""
    if len(start) < 26 or start[0] > 2 or start[1]:
        return False
    text = start[2:18].rstrip(b"\0")
    return all(0x20 <= byte < 0x7F for byte in text) and bool(text or start[0] == 0)


def _is_program(start: bytes) -> bool:
    """A message whose first field holds blocks, which begin with an index and the parent's; or text (Paddle 3)."""
    if start.startswith(b'{"base_code"'):
        return True
    for number, kind, contents in _fields(start):
        inner = [found[:2] for found in _fields(contents)][:2]
        return (number, kind) == (1, 2) and inner == [(1, 0), (2, 0)]
    return False


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, wire type and contents of the fields of a message, as far as `data` goes."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind not in (0, 1, 2, 5) or not tag >> 3:
            return
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind in (0, 2):
            value, at = _number(data, at)
            size = value if kind == 2 else 0
        yield tag >> 3, kind, data[at : at + size]
        at += size


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at
