"""The files of torch.save, read without torch and without running what they say.

A checkpoint is a pickle: a program that builds objects by calling functions. This reader follows the few instructions
that data needs and builds dictionaries, lists, numbers, texts and arrays. A function that it does not know is never
called; what would have come of it is an `Opaque`.
"""

from __future__ import annotations

import io
import pickletools
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ModelFileError, Where

MAX_BYTES = 1 << 30
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_MARK = object()

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


@dataclass(eq=False)
class Opaque:
    """Something that a file describes and nobody here needs."""

    name: str = ""


@dataclass(frozen=True)
class _Name:
    """A function or class that a pickle refers to."""

    module: str
    name: str


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
    except _RefusedError as refused:
        raise ModelFileError(
            f"this is no checkpoint of PyTorch that can be read: {refused}",
            where=where,
            rule="a file of torch.save, such as a .pth.tar",
        ) from None


class _RefusedError(Exception):
    """Why a file cannot be read."""


def _zipped(data: bytes) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            pickles = [name for name in names if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise _RefusedError("it holds no data.pkl")
            folder = pickles[0].removesuffix("data.pkl")
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                raise _RefusedError("what is in it is too large")
            order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in names else b"little"
            stored = {
                name.removeprefix(f"{folder}data/"): archive.read(name)
                for name in names
                if name.startswith(f"{folder}data/")
            }
            tree = _Machine(io.BytesIO(archive.read(pickles[0]))).run()
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise _RefusedError(f"damaged: {error}") from None
    except ValueError as error:
        raise _RefusedError(f"damaged: {error}") from None
    return _with_arrays(tree, lambda storage: _numbers(storage, stored.get(storage.key), order == b"big"))


def _legacy(data: bytes) -> Any:
    """The format before PyTorch 1.6: pickles one behind the other, then the numbers."""
    stream = io.BytesIO(data)
    if _next_pickle(stream) != _LEGACY_MAGIC or _next_pickle(stream) != _LEGACY_PROTOCOL:
        raise _RefusedError("it does not begin as one")
    system = _next_pickle(stream)
    big = isinstance(system, dict) and system.get("little_endian") is False
    tree = _next_pickle(stream)
    keys = _next_pickle(stream)
    if not isinstance(keys, list):
        raise _RefusedError("it does not name its storages")
    storages = {storage.key: storage for storage in _storages(tree)}
    stored: dict[str, bytes] = {}
    for key in keys:
        storage = storages.get(str(key))
        if storage is None:
            raise _RefusedError("it holds numbers that nothing uses")
        count = int.from_bytes(stream.read(8), "big" if big else "little")
        size = count * np.dtype(storage.kind).itemsize
        if count != storage.count or size > len(data):
            raise _RefusedError("damaged: sizes do not agree")
        stored[storage.key] = stream.read(size)
    return _with_arrays(tree, lambda storage: _numbers(storage, stored.get(storage.key), big))


def _next_pickle(stream: io.BytesIO) -> Any:
    try:
        return _Machine(stream).run()
    except ValueError as error:
        raise _RefusedError(f"damaged: {error}") from None


def _numbers(storage: _Storage, data: bytes | None, big: bool) -> NDArray[Any]:
    kind = np.dtype(storage.kind).newbyteorder(">" if big else "<")
    if data is None or len(data) < storage.count * kind.itemsize:
        raise _RefusedError("damaged: numbers are missing")
    return np.frombuffer(data, kind, storage.count).astype(np.dtype(storage.kind))


def _storages(tree: Any) -> list[_Storage]:
    found: list[_Storage] = []
    _walk(tree, lambda tensor: found.append(tensor.storage))
    return found


def _with_arrays(tree: Any, load: Callable[[_Storage], NDArray[Any]]) -> Any:
    """The tree with arrays for its tensors."""
    loaded: dict[str, NDArray[Any]] = {}

    def array(tensor: _Tensor) -> NDArray[Any]:
        key = tensor.storage.key
        if key not in loaded:
            loaded[key] = load(tensor.storage)
        values, reach = loaded[key], tensor.offset
        if min(tensor.shape, default=1) > 0:
            reach += sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)) + 1
        if reach > values.size:
            raise _RefusedError("damaged: a tensor reaches beyond its numbers")
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
            raise _RefusedError("it is nested too deeply")
        keep.append(value)
        done[id(value)] = None  # what contains itself
        if isinstance(value, dict):
            result: Any = {key: visit(item, depth + 1) for key, item in value.items()}
        else:
            result = type(value)(visit(item, depth + 1) for item in value)
        done[id(value)] = result
        return result

    return visit(tree, 0)


@dataclass
class _Machine:
    """Follows one pickle."""

    stream: io.BytesIO
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self) -> Any:
        """What the pickle builds. ValueError or _RefusedError where it is none, or asks for something unusual."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes in texts, which damaged files may hold
                return self._followed()
        except (IndexError, TypeError, AttributeError, KeyError, OverflowError, MemoryError, UnicodeError) as error:
            raise _RefusedError(f"damaged: {type(error).__name__}") from None

    def _followed(self) -> Any:
        for opcode, argument, _ in pickletools.genops(self.stream):
            if opcode.name == "STOP":
                return self.pop()
            step = _STEPS.get(opcode.name)
            if step is None:
                raise _RefusedError(f"the instruction {opcode.name} is unusual")
            step(self, argument)
        raise _RefusedError("it ends too early")

    def pop(self) -> Any:
        return self.stack.pop()

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        items: list[Any] = []
        while (item := self.stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.pop(), machine.pop()
    machine.push(_called(function, arguments))


def _called(function: Any, arguments: Any) -> Any:
    """The result of one of the few functions that data needs."""
    if not isinstance(function, _Name) or not isinstance(arguments, tuple):
        return Opaque()
    name = f"{function.module}.{function.name}"
    if name == "collections.OrderedDict":
        return dict(arguments[0]) if arguments and isinstance(arguments[0], list) else {}
    if name == "torch._utils._rebuild_tensor_v2":
        return _tensor(arguments)
    if name == "torch._utils._rebuild_parameter":
        return arguments[0]
    if name == "torch.Size":
        return tuple(arguments[0])
    return Opaque(name)


def _tensor(arguments: tuple[Any, ...]) -> _Tensor:
    storage, offset, shape, strides = arguments[:4]
    numbers = (offset, *shape, *strides)
    if not isinstance(storage, _Storage) or not all(isinstance(item, int) and item >= 0 for item in numbers):
        raise _RefusedError("damaged: a tensor without numbers")
    if len(shape) != len(strides) or len(shape) > 8:
        raise _RefusedError("damaged: a tensor without a shape")
    elements = 1
    for size in shape:
        elements *= size
    if elements > MAX_BYTES:
        raise _RefusedError("a tensor is too large")
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _persistent(machine: _Machine, _: Any) -> None:
    words = machine.pop()
    if not isinstance(words, tuple) or len(words) < 5 or words[0] != "storage" or not isinstance(words[1], _Name):
        raise _RefusedError("damaged: a storage without a kind")
    kind = _STORAGES.get(words[1].name) if words[1].module == "torch" else None
    if kind is None:
        raise _RefusedError(f"numbers of the kind {words[1].name} are not known")
    if not isinstance(words[4], int) or not 0 <= words[4] <= MAX_BYTES:
        raise _RefusedError("damaged: a storage without a size")
    machine.push(_Storage(str(words[2]), kind, words[4]))


def _global(machine: _Machine, argument: Any) -> None:
    module, _, name = str(argument).partition(" ")
    machine.push(_Name(module, name))


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.pop(), machine.pop()
    machine.push(_Name(str(module), str(name)))


def _build(machine: _Machine, _: Any) -> None:
    machine.pop()  # what an object remembers beside its contents


def _set_items(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _update(machine.stack[-1], items)


def _set_item(machine: _Machine, _: Any) -> None:
    value, key = machine.pop(), machine.pop()
    _update(machine.stack[-1], [key, value])


def _update(target: Any, items: list[Any]) -> None:
    if isinstance(target, dict):
        target.update(zip(items[::2], items[1::2], strict=True))


def _append(machine: _Machine, _: Any) -> None:
    item = machine.pop()
    _extend(machine.stack[-1], [item])


def _appends(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    _extend(machine.stack[-1], items)


def _extend(target: Any, items: list[Any]) -> None:
    if isinstance(target, list):
        target.extend(items)


def _put(machine: _Machine, argument: Any) -> None:
    machine.memo[int(argument)] = machine.stack[-1]


def _memoize(machine: _Machine, _: Any) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _get(machine: _Machine, argument: Any) -> None:
    machine.push(machine.memo[int(argument)])


def _new_object(machine: _Machine, _: Any) -> None:
    arguments, kind = machine.pop(), machine.pop()
    machine.push(_called(kind, arguments))


def _dictionary(machine: _Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.push(dict(zip(items[::2], items[1::2], strict=True)))


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    def step(machine: _Machine, _: Any) -> None:
        items = [machine.pop() for _ in range(count)]
        machine.push(tuple(items[::-1]))

    return step


def _constant(value: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.push(value())


def _nothing(machine: _Machine, _: Any) -> None:
    pass


def _argument(machine: _Machine, argument: Any) -> None:
    machine.push(sys.intern(argument) if isinstance(argument, str) else argument)


_STEPS: Mapping[str, Callable[[_Machine, Any], None]] = MappingProxyType(
    {
        **dict.fromkeys(("PROTO", "FRAME"), _nothing),
        **dict.fromkeys(
            ("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG", "BINFLOAT", "FLOAT"), _argument
        ),
        **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE", "UNICODE", "BINUNICODE8"), _argument),
        **dict.fromkeys(("SHORT_BINSTRING", "BINSTRING", "STRING"), _argument),
        **dict.fromkeys(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8"), _argument),
        "NONE": _constant(lambda: None),
        "NEWTRUE": _constant(lambda: True),
        "NEWFALSE": _constant(lambda: False),
        "EMPTY_DICT": _constant(dict),
        "EMPTY_LIST": _constant(list),
        "EMPTY_TUPLE": _constant(tuple),
        "EMPTY_SET": _constant(Opaque),
        "MARK": lambda machine, _: machine.push(_MARK),
        "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
        "TUPLE1": _tuple_of(1),
        "TUPLE2": _tuple_of(2),
        "TUPLE3": _tuple_of(3),
        "LIST": lambda machine, _: machine.push(machine.since_mark()),
        "DICT": _dictionary,
        "APPEND": _append,
        "APPENDS": _appends,
        "ADDITEMS": _appends,
        "SETITEM": _set_item,
        "SETITEMS": _set_items,
        "GLOBAL": _global,
        "STACK_GLOBAL": _stack_global,
        "REDUCE": _reduce,
        "NEWOBJ": _new_object,
        "BUILD": _build,
        "BINPERSID": _persistent,
        **dict.fromkeys(("BINPUT", "LONG_BINPUT", "PUT"), _put),
        **dict.fromkeys(("BINGET", "LONG_BINGET", "GET"), _get),
        "MEMOIZE": _memoize,
        "POP": lambda machine, _: machine.stack.pop() and None,
        "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    }
)
