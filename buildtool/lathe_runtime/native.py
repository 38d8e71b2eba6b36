"""The table of lathe/c_api.h through ctypes: loads any built library, and moves NumPy arrays in and out.

It is thin on purpose: `lathe_runtime` is what users see.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_uint32,
    c_void_p,
)
from typing import Any

import numpy as np

from . import images  # noqa: TID252 (as in __init__)
from .c_api import (  # noqa: TID252
    MAX_RANK,
    Api,
    Bytes,
    CoreInfo,
    CpuOptions,
    DeviceInfo,
    DeviceOptions,
    EngineOptions,
    Error,
    Handle,
    MemoryInfo,
    Observer,
    SessionOptions,
    Shape,
    TensorInfo,
)
from .users import Users  # noqa: TID252

ABI_VERSION = 1
UNSUPPORTED, BAD_ARGUMENT, IO, INTERNAL = 3, 1, 5, 6
_KEEP_ALL = 1
#: NumPy's types by number of element type; bf16 arrives as its bits.
TYPES = (None, *map(np.dtype, ("f4", "f2", "u2", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?")))


class NativeError(Exception):
    """What a library refuses: a message and a code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, code)


def _text(word: bytes | None) -> str:
    """Names come from files, which may hold anything."""
    return (word or b"").decode("utf-8", "replace")


def _made(structure: Any) -> Any:
    made = structure()
    made.struct_size = ctypes.sizeof(structure)
    return made


def _names(structure: type[Structure]) -> list[str]:
    """Of its fields, without its size."""
    return [field[0] for field in structure._fields_[1:]]


def _check(function: Any, *arguments: Any) -> None:
    error = Error()
    code = function(*arguments, byref(error))
    if code:
        raise NativeError(_text(error.message), code)


def _type_of(dtype: int) -> np.dtype[Any]:
    found = TYPES[dtype] if dtype < len(TYPES) else None
    if found is None:
        raise NativeError("the library uses an element type that this module does not know", INTERNAL)
    return found


def _describe(info: TensorInfo) -> dict[str, Any]:
    rank = info.rank
    sizes = {"shape": info.dims, "min_shape": info.dims_min, "max_shape": info.dims_max}
    words = {"name": _text(info.name), "dtype": info.dtype, "format": _text(info.format)}
    return words | {name: tuple(dims[:rank]) for name, dims in sizes.items()}


class _Memory:
    """The elements of a session, for NumPy; it keeps the session alive."""

    def __init__(self, owner: Any, info: TensorInfo, data: int, *, written: bool = False) -> None:
        dtype, shape = _type_of(info.dtype), tuple(info.dims[: info.rank])
        if int(np.prod(shape, dtype=np.int64)) * dtype.itemsize != info.bytes:
            raise NativeError("a tensor's bytes do not fit its shape", INTERNAL)
        self.owner = owner
        place = (data or 64, not written)
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": place, "version": 3}


def _copy(info: TensorInfo, data: int) -> np.ndarray[Any, Any]:
    return np.array(_Memory(None, info, data))


class Library:
    """A library that stays loaded as long as this object, its engines and their sessions."""

    def __init__(self, path: str, symbol: str) -> None:
        self.users = Users(0)
        try:
            loaded = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise NativeError(str(error), IO) from error
        self.users = Users(loaded._handle)
        try:
            get_api = getattr(loaded, symbol)
        except AttributeError as error:
            raise NativeError(f"it has no function '{symbol}'", IO) from error
        get_api.restype = POINTER(Api)
        found = get_api()
        if not found:
            raise NativeError(f"'{symbol}' gives no interface", IO)
        self.api: Any = found.contents
        if self.api.abi_version != ABI_VERSION or not self.has("value_at"):
            raise NativeError("it was built by another version of Lathe: build it again", UNSUPPORTED)

    def __del__(self) -> None:
        self.users.leave()

    def has(self, entry: str) -> bool:
        """Whether the table of this library, which may be an older one, has this function."""
        place = getattr(Api, entry)
        return bool(self.api.struct_size >= place.offset + place.size)

    @property
    def name(self) -> str:
        return _text(self.api.library)

    @property
    def version(self) -> str:
        return _text(self.api.version)

    @property
    def kernels(self) -> list[str]:
        return [_text(self.api.kernel_name(index)) for index in range(self.api.kernel_count())]

    @property
    def models(self) -> list[str]:
        return [_text(self.api.model_at(index).contents.name) for index in range(self.api.model_count())]

    def cores(self) -> list[dict[str, int]]:
        """The cores of this machine; none where the library cannot bind threads."""
        found = []
        for index in range(self.api.core_count() if self.has("engine_cores") else 0):
            info = _made(CoreInfo)
            _check(self.api.core_at, index, byref(info))
            found.append({name: getattr(info, name) for name in _names(CoreInfo)})
        return found


def _device_options(given: Mapping[str, Any]) -> tuple[DeviceOptions, list[Any]]:
    """`given` has some of the names of lathe_device_options. The second keeps their memory."""
    options = _made(DeviceOptions)
    kept: list[Any] = []
    for name, value in given.items():
        if name == "binary_paths":
            paths = [os.fsencode(path) for path in value]
            array = (c_char_p * len(paths))(*paths)
            kept += [paths, array]
            options.binary_path_count, options.binary_paths = len(paths), ctypes.cast(array, POINTER(c_char_p))
        elif name in ("binary", "tuning"):
            kept.append(value)
            setattr(options, name, _bytes(value))
        else:
            setattr(options, name, os.fsencode(value) if isinstance(value, str) else value)
    return options, kept


def _bytes(value: bytes | None) -> Bytes:
    """The memory of the object, which has to stay."""
    if not value:
        return Bytes(None, 0)
    return Bytes(ctypes.cast(ctypes.c_char_p(value), c_void_p), len(value))


def cpu_options(power: int, cores: Sequence[int]) -> CpuOptions:
    """lathe_cpu_options."""
    array = (c_uint32 * len(cores))(*cores)
    options: CpuOptions = _made(CpuOptions)
    options.power, options.core_count, options.cores = power, len(cores), ctypes.cast(array, POINTER(c_uint32))
    return options


class Engine:
    """A model that is ready to run."""

    def __init__(
        self,
        library: Library,
        model_path: str | None,
        data_path: str | None,
        model: bytes | None,
        data: bytes | None,
        model_name: str | None,
        threads: int,
        device: Mapping[str, Any],
        isa_limit: str | None,
        cpu: CpuOptions | None = None,
    ) -> None:
        def text(word: str | None) -> bytes | None:
            return None if word is None else os.fsencode(word)

        self._handle = Handle()
        self.library = library
        self._kept = (model, data)  # the engine reads them in place
        wishes, kept = _device_options(device)
        options = _made(EngineOptions)
        options.num_threads = threads
        options.model_name, options.model_path, options.data_path = text(model_name), text(model_path), text(data_path)
        options.model, options.data = _bytes(model), _bytes(data)
        options.isa_limit = text(isa_limit)
        options.device = ctypes.pointer(wishes)
        if cpu is not None:
            options.cpu = ctypes.pointer(cpu)
        _check(library.api.engine_create, byref(options), byref(self._handle))
        library.users.enter()
        del kept

    def __del__(self) -> None:
        if self._handle:
            self.library.api.engine_destroy(self._handle)
            self.library.users.leave()

    @property
    def handle(self) -> Any:
        return self._handle

    def device_info(self) -> dict[str, Any]:
        """Libraries from before there were devices know nothing of them."""
        info = _made(DeviceInfo)
        info.kind = 1
        if self.library.has("device_info"):
            _check(self.library.api.device_info, self._handle, byref(info))
        words = {name: getattr(info, name) for name in ("device", "driver", "reason")}
        numbers = {name: getattr(info, name) for name in ("programs_built", "programs_loaded", "programs_ms", "memory")}
        texts = {name: None if word is None else _text(word) for name, word in words.items()}
        return {"on_device": info.kind != 1} | texts | numbers

    def device_data(self, what: int) -> bytes:
        data = Bytes()
        if self.library.has("device_data"):
            _check(self.library.api.device_data, self._handle, what, byref(data))
        return ctypes.string_at(data.data, data.size) if data.size else b""

    def bind(self, options: CpuOptions) -> None:
        if not self.library.has("engine_cores"):
            raise NativeError("it was built before engines could be bound: build it again", UNSUPPORTED)
        _check(self.library.api.engine_bind, self._handle, byref(options))

    def cores(self) -> list[int]:
        if not self.library.has("engine_cores"):
            return []
        count = self.library.api.engine_cores(self._handle, None, 0)
        found = (c_uint32 * count)()
        self.library.api.engine_cores(self._handle, found, count)
        return list(found)


class Session:
    """The memory of one run. Threads that share a session take turns, each from its inputs to its outputs."""

    def __init__(self, engine: Engine, keep_all: bool) -> None:
        self._handle = Handle()
        self._engine, self._api = engine, engine.library.api
        options = _made(SessionOptions)
        options.flags = _KEEP_ALL if keep_all else 0
        _check(self._api.session_create, engine.handle, byref(options), byref(self._handle))
        engine.library.users.enter()
        self._lock = threading.Lock()
        self._views: weakref.WeakSet[_Memory] = weakref.WeakSet()
        self._input_count = self._api.input_count(engine.handle)
        self._output_count = self._api.output_count(engine.handle)
        self._info, self._pointer, self._error = _made(TensorInfo), c_void_p(), Error()
        self._run, self._problem = self._api.run, byref(self._error)
        # Until shapes change: the inputs, and the outputs of one size only (None: what it is, each run tells).
        self._fed: list[np.ndarray[Any, Any]] | None = None
        self._filled: list[np.ndarray[Any, Any] | None] = []

    def __del__(self) -> None:
        if self._handle:
            self._api.session_destroy(self._handle)
            self._engine.library.users.leave()

    def inputs(self) -> list[dict[str, Any]]:
        return self._list(self._api.input_info, self._input_count)

    def outputs(self) -> list[dict[str, Any]]:
        return self._list(self._api.output_info, self._output_count)

    def _list(self, get_info: Any, count: int) -> list[dict[str, Any]]:
        found = []
        with self._lock:
            for index in range(count):
                info = _made(TensorInfo)
                _check(get_info, self._handle, index, byref(info))
                found.append(_describe(info))
        return found

    def run_image(
        self,
        index: int,
        pixels: str,
        image: np.ndarray[Any, Any],
        size: tuple[int, int],
        yuv: str,
        part: Sequence[int] | None,
    ) -> list[np.ndarray[Any, Any]]:
        """`image`: bytes without gaps; `size`: width and height. The other inputs keep what they hold."""
        library = self._engine.library
        held = library.api.vision if library.has("vision") else None
        if not held or not held.contents.set_image:
            raise NativeError("it was built without 'preprocess' in its deployment", UNSUPPORTED)
        about, crop = images.describe(pixels, image, size, yuv), images.part_of(part)
        with self._lock:
            _check(held.contents.set_image, self._handle, index, byref(about), crop, None)
            _check(self._api.run, self._handle)
            return [self._read(number, False) for number in range(self._output_count)]

    def run(self, arrays: Sequence[np.ndarray[Any, Any]], views: bool) -> list[np.ndarray[Any, Any]]:
        """`arrays` have the types of the inputs. Views show the session's own memory, which the next run writes; while
        one lives the session keeps its shapes."""
        with self._lock:
            fed = self._fed
            if fed is None or [array.shape for array in arrays] != [view.shape for view in fed]:
                fed = self._fit([array.shape for array in arrays])
            for array, view in zip(arrays, fed, strict=True):
                if array.dtype != view.dtype:
                    raise NativeError("an array does not fit its input", BAD_ARGUMENT)
                view[...] = array
            if code := self._run(self._handle, self._problem):
                raise NativeError(_text(self._error.message), code)
            if views:
                return [self._read(index, True) for index in range(self._output_count)]
            return [
                self._read(index, False) if output is None else output.copy()
                for index, output in enumerate(self._filled)
            ]

    def resize(self, shapes: Sequence[Sequence[int]]) -> None:
        with self._lock:
            self._resize(shapes)

    def _fit(self, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray[Any, Any]]:
        """Gives the inputs the shapes of what is fed, where they have others; their memory."""
        info, data = self._info, self._pointer
        current = []
        for index in range(self._input_count):
            _check(self._api.input_info, self._handle, index, byref(info))
            current.append(tuple(info.dims[: info.rank]))
        if current != list(shapes):
            self._resize(shapes)
        fed = []
        for index in range(self._input_count):
            _check(self._api.input_info, self._handle, index, byref(info))
            _check(self._api.input_data, self._handle, index, byref(data), None)
            fed.append(np.asarray(_Memory(None, info, data.value or 0, written=True)))
        self._filled = [self._of_one_size(index) for index in range(self._output_count)]
        self._fed = fed
        return fed

    def _of_one_size(self, index: int) -> np.ndarray[Any, Any] | None:
        """The memory of an output whose size no run changes."""
        info, data = self._info, self._pointer
        _check(self._api.output_info, self._handle, index, byref(info))
        if info.dims_min[: info.rank] != info.dims_max[: info.rank]:
            return None
        _check(self._api.output_data, self._handle, index, byref(data), None)
        return np.asarray(_Memory(None, info, data.value or 0))

    def _resize(self, shapes: Sequence[Sequence[int]]) -> None:
        if len(self._views):
            raise NativeError(
                "outputs of this session that are views are still in use, and its shapes cannot change: "
                "drop them, or run with copies",
                BAD_ARGUMENT,
            )
        plain = (Shape * len(shapes))()
        for entry, shape in zip(plain, shapes, strict=True):
            if len(shape) > MAX_RANK:
                raise NativeError("a shape has too many dimensions", BAD_ARGUMENT)
            entry.rank = len(shape)
            entry.dims[: len(shape)] = shape
        self._fed = None
        _check(self._api.resize, self._handle, len(shapes), plain)

    def _read(self, index: int, views: bool) -> np.ndarray[Any, Any]:
        info, data = self._info, self._pointer
        _check(self._api.output_info, self._handle, index, byref(info))
        _check(self._api.output_data, self._handle, index, byref(data), None)
        if not views:
            return _copy(info, data.value or 0)
        memory = _Memory(self, info, data.value or 0)
        self._views.add(memory)
        return np.asarray(memory)

    def value(self, name: str) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
        """The description and the contents of a value."""
        info, data = _made(TensorInfo), c_void_p()
        with self._lock:
            _check(self._api.value, self._handle, name.encode(), byref(info), byref(data))
            return _describe(info), _copy(info, data.value or 0)

    def value_names(self) -> list[str]:
        """Names of all values that can be read."""
        names = []
        info, data = _made(TensorInfo), c_void_p()
        with self._lock:
            for index in range(self._api.value_count(self._engine.handle)):
                _check(self._api.value_at, self._handle, index, byref(info), byref(data))
                if data.value is not None:
                    names.append(_text(info.name))
        return names

    def profile(self) -> list[tuple[str, str, str, int]]:
        """Runs once and gives (name, operator, kernel, nanoseconds) of each node."""
        found: list[tuple[str, str, str, int]] = []

        def observe(_: Any, pointer: Any) -> None:
            event = pointer.contents
            words = (_text(event.name), _text(event.op), _text(event.kernel))
            found.append((*words, event.end_ns - event.start_ns))

        observer = Observer(observe)
        with self._lock:
            self._api.set_observer(self._handle, observer, None)
            try:
                _check(self._api.run, self._handle)
            finally:
                self._api.set_observer(self._handle, Observer(), None)
        return found

    def memory_info(self) -> dict[str, int]:
        info = _made(MemoryInfo)
        self._api.memory_info(self._handle, byref(info))
        return {name: getattr(info, name) for name in _names(MemoryInfo)}
