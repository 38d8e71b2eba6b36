"""The files of torch.save, read without torch and without running what they say.

A checkpoint is a pickle, which `buildtool.pickles` follows. Tensors become arrays; what would have come of a function
that is not known here is an `Opaque`.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool import archives
from buildtool.errors import ModelFileError, Where
from buildtool.pickles import Builder, Name, Opaque, RefusedError, follow, mapping

__all__ = ["MAX_BYTES", "Opaque", "read"]

MAX_BYTES = 1 << 30
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001

_STORAGES = MappingProxyType(
    {
        "FloatStorage": "f4",
        "DoubleStorage": "f8",
        "HalfStorage": "f2",
        "LongStorage": "i8",
        "IntStorage": "i4",
        "ShortStorage": "i2",
        "CharStorage": "i1",
        "ByteStorage": "u1",
        "BoolStorage": "?",
    }
)


@dataclass(frozen=True)
class _Storage:
    """Where the numbers of tensors are; several tensors may share one."""

    key: str
    kind: str  # of NumPy, without the order of bytes
    count: int


@dataclass(frozen=True)
class _Tensor:
    """A view of a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read(path: Path) -> Any:
    """What a file holds: dictionaries, lists, numbers, texts, arrays and opaque things. ModelFileError says why not."""
    where = Where(file=str(path))
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ModelFileError("the file is too large", where=where, rule=f"at most {MAX_BYTES} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read the file: {error.strerror}", where=where) from None
    try:
        return _zipped(data) if data.startswith(b"PK") else _legacy(data)
    except RefusedError as refused:
        raise ModelFileError(
            f"this is not a readable PyTorch checkpoint: {refused}",
            where=where,
            rule="a file of torch.save, such as a .pth.tar",
        ) from None


def _zipped(data: bytes) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archives.verify(archive, len(data))
            names = archive.namelist()
            pickles = [name for name in names if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise RefusedError("it contains no data.pkl")
            folder = pickles[0].removesuffix("data.pkl")
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                raise RefusedError("its contents are too large")
            order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in names else b"little"
            stored = {
                name.removeprefix(f"{folder}data/"): archive.read(name)
                for name in names
                if name.startswith(f"{folder}data/")
            }
            tree = _next_pickle(io.BytesIO(archive.read(pickles[0])))
    except archives.DAMAGED as error:
        raise RefusedError(f"damaged: {error}") from None
    return _with_arrays(tree, lambda storage: _numbers(storage, stored.get(storage.key), order == b"big"))


def _legacy(data: bytes) -> Any:
    """The format before PyTorch 1.6: pickles one behind the other, then the numbers."""
    stream = io.BytesIO(data)
    if _next_pickle(stream) != _LEGACY_MAGIC or _next_pickle(stream) != _LEGACY_PROTOCOL:
        raise RefusedError("its header is invalid")
    system = _next_pickle(stream)
    big = isinstance(system, dict) and system.get("little_endian") is False
    tree = _next_pickle(stream)
    keys = _next_pickle(stream)
    if not isinstance(keys, list):
        raise RefusedError("it does not name its storages")
    storages = {storage.key: storage for storage in _storages(tree)}
    stored: dict[str, bytes] = {}
    for key in keys:
        storage = storages.get(str(key))
        if storage is None:
            raise RefusedError("it contains unused data")
        count = int.from_bytes(stream.read(8), "big" if big else "little")
        size = count * np.dtype(storage.kind).itemsize
        if count != storage.count or size > len(data):
            raise RefusedError("damaged: sizes differ")
        stored[storage.key] = stream.read(size)
    return _with_arrays(tree, lambda storage: _numbers(storage, stored.get(storage.key), big))


def _next_pickle(stream: io.BytesIO) -> Any:
    return follow(stream, _BUILDERS, _stored).value


def _numbers(storage: _Storage, data: bytes | None, big: bool) -> NDArray[Any]:
    kind = np.dtype(storage.kind).newbyteorder(">" if big else "<")
    if data is None or len(data) < storage.count * kind.itemsize:
        raise RefusedError("damaged: elements are missing")
    return np.frombuffer(data, kind, storage.count).astype(np.dtype(storage.kind))


def _storages(tree: Any) -> list[_Storage]:
    found: list[_Storage] = []
    _walk(tree, lambda tensor: found.append(tensor.storage))
    return found


def _with_arrays(tree: Any, load: Callable[[_Storage], NDArray[Any]]) -> Any:
    """The tree with arrays for its tensors."""
    loaded: dict[str, NDArray[Any]] = {}
    room = MAX_BYTES

    def array(tensor: _Tensor) -> NDArray[Any]:
        nonlocal room
        key = tensor.storage.key
        room -= math.prod(tensor.shape) * np.dtype(tensor.storage.kind).itemsize
        if room < 0:  # views may be larger than what they show
            raise RefusedError("its tensors are too large")
        if key not in loaded:
            loaded[key] = load(tensor.storage)
        values, reach = loaded[key], tensor.offset
        if min(tensor.shape, default=1) > 0:
            reach += sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)) + 1
        if reach > values.size:
            raise RefusedError("damaged: a tensor exceeds its storage")
        strides = [stride * values.itemsize for stride in tensor.strides]
        view = np.lib.stride_tricks.as_strided(values[tensor.offset :], tensor.shape, strides, writeable=False)
        return np.array(view)

    return _walk(tree, array)


def _walk(tree: Any, replace: Callable[[_Tensor], Any]) -> Any:
    """The tree with something else for each tensor. What contains itself, or is shared, is visited once."""
    done: dict[int, Any] = {}
    keep: list[Any] = []  # so that no identity is used twice

    def visit(value: Any, depth: int) -> Any:
        if isinstance(value, _Tensor):
            return replace(value)
        if not isinstance(value, dict | list | tuple):
            return value
        if id(value) in done:
            return done[id(value)]
        if depth > 32:
            raise RefusedError("it is nested too deeply")
        keep.append(value)
        done[id(value)] = None  # what contains itself
        if isinstance(value, dict):
            result: Any = {key: visit(item, depth + 1) for key, item in value.items()}
        else:
            result = type(value)(visit(item, depth + 1) for item in value)
        done[id(value)] = result
        return result

    return visit(tree, 0)


def _dictionary(arguments: tuple[Any, ...]) -> dict[Any, Any]:
    pairs = arguments[0] if arguments and isinstance(arguments[0], list) else []
    return mapping([part for key, value in pairs for part in (key, value)])


def _tensor(arguments: tuple[Any, ...]) -> _Tensor:
    storage, offset, shape, strides = arguments[:4]
    numbers = (offset, *shape, *strides)
    if not isinstance(storage, _Storage) or not all(isinstance(item, int) and item >= 0 for item in numbers):
        raise RefusedError("damaged: a tensor without a storage")
    if len(shape) != len(strides) or len(shape) > 8:
        raise RefusedError("damaged: a tensor without a shape")
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _stored(words: tuple[Any, ...]) -> _Storage:
    if len(words) < 5 or words[0] != "storage" or not isinstance(words[1], Name):
        raise RefusedError("damaged: a storage without a kind")
    kind = _STORAGES.get(words[1].name) if words[1].module == "torch" else None
    if kind is None:
        raise RefusedError(f"the element type {words[1].name} is unknown")
    if not isinstance(words[2], str) or not isinstance(words[4], int) or not 0 <= words[4] <= MAX_BYTES:
        raise RefusedError("damaged: a storage without a name or a size")
    return _Storage(words[2], kind, words[4])


_BUILDERS: Mapping[str, Builder] = MappingProxyType(
    {
        "collections.OrderedDict": _dictionary,
        "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_parameter": lambda arguments: arguments[0],
        "torch.Size": lambda arguments: tuple(arguments[0]),
    }
)
