"""Tailored libraries in this process: load one, open a model, run NumPy arrays through it.

    library = Library("build/digits/lib/host/libdigits.so")
    engine = library.engine(model="build/digits/model/digits.pb", data="build/digits/model/digits.data")
    outputs = engine.run({"image": pixels})

Errors are `RunError` with the message of the library. bf16 has no NumPy type: such tensors are float32 on this side.
"""

from __future__ import annotations

import enum
import importlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from buildtool.errors import InternalError, RunError, Where
from buildtool.ir.types import DType, dtype_from_code

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a session. Dimensions lie between `min_shape` and `max_shape`; `shape` is now."""

    name: str
    dtype: DType
    format: str  # NHWC, NCHW, NONE ...: what the deployment file declared
    shape: tuple[int, ...]
    min_shape: tuple[int, ...]
    max_shape: tuple[int, ...]


@dataclass(frozen=True)
class MemoryInfo:
    """Bytes that a session and its engine take."""

    weights_mapped: int  # used in place from the file
    weights_allocated: int  # expanded or packed when the engine was made
    arena: int
    scratch: int


class DeviceKind(enum.IntEnum):
    """What runs the parts of a model that were built for a device."""

    ANY = 0  # the device where there is a driver, else the CPU
    CPU = 1
    GPU = 2  # the GPU, or an error that says why not
    DSP = 3  # the same for a DSP


@dataclass(frozen=True)
class DeviceOptions:
    """How the parts of a model run that were built for a GPU."""

    kind: DeviceKind = DeviceKind.ANY
    check: bool = False  # reads and writes outside of tensors are errors; slow
    profile: bool = False  # measure every kernel
    perf_hint: int = 0  # 0 to 3: default, low, normal, high
    priority_hint: int = 0
    rebuilds_programs: bool = False  # those that were built before are not used
    storage_path: str | os.PathLike[str] = ""  # a folder for programs that were built
    binary_paths: tuple[str | os.PathLike[str], ...] = ()
    binary: bytes = b""
    tuning_path: str | os.PathLike[str] = ""
    tuning: bytes = b""
    tuning_milliseconds: int = 0
    queue_window: int = 0
    kernel_microseconds: int = 0

    def as_native(self) -> dict[str, Any]:
        """The words of the compiled module; what is not set is left out."""
        plain = {name: getattr(self, name) for name in _DEVICE_NUMBERS}
        words = {name: os.fspath(getattr(self, name)) for name in ("storage_path", "tuning_path")}
        rest = {"binary": self.binary, "tuning": self.tuning, "binary_paths": [os.fspath(p) for p in self.binary_paths]}
        found = {"kind": int(self.kind), "flags": self.check * 1 | self.profile * 2, **plain, **words, **rest}
        return {name: int(value) if isinstance(value, bool) else value for name, value in found.items() if value}


_DEVICE_NUMBERS = (
    "perf_hint",
    "priority_hint",
    "rebuilds_programs",
    "tuning_milliseconds",
    "queue_window",
    "kernel_microseconds",
)


@dataclass(frozen=True)
class DeviceInfo:
    """What runs the parts of a model that were built for a device."""

    on_device: bool
    device: str | None
    driver: str | None
    reason: str | None  # why they run on the CPU
    programs_built: int  # from source
    programs_loaded: int
    programs_ms: float
    memory: int  # bytes on the device


@dataclass(frozen=True)
class NodeTime:
    """How long one node took."""

    name: str
    op: str
    kernel: str
    nanoseconds: int


NO_WISHES = DeviceOptions()


class Library:
    """A tailored library. It stays loaded as long as something made from it lives."""

    def __init__(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        """`name`: that of the library, where the file is not called `lib<name>.so`."""
        self.path = Path(path)
        if not self.path.is_file():
            raise RunError(f"there is no library '{self.path}'", remedy="build it with lathe build")
        stem = re.sub(r"^lib|\.so.*$", "", self.path.name) if name is None else name
        symbol = "lathe_api_" + re.sub(r"\W", "_", stem, flags=re.ASCII)
        self._native = _call(_module().Library, str(self.path.resolve()), symbol, where=Where(file=str(self.path)))

    @property
    def name(self) -> str:
        return str(self._native.name)

    @property
    def version(self) -> str:
        """The version of Lathe that made it."""
        return str(self._native.version)

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(self._native.kernels)

    @property
    def models(self) -> tuple[str, ...]:
        """The models inside of the library."""
        return tuple(self._native.models)

    def engine(
        self,
        *,
        model: str | os.PathLike[str] | bytes | None = None,
        data: str | os.PathLike[str] | bytes | None = None,
        model_name: str | None = None,
        threads: int = 0,
        device: DeviceOptions = NO_WISHES,
        isa_limit: str | None = None,
    ) -> Engine:
        """Make a model ready to run: a file or bytes, or the one inside of the library that has this name (without a
        name: the only one). `threads`: 0 means one per core."""
        return Engine(self, model, data, model_name, threads, device, isa_limit)


class _Feed:
    """An input, and the type of arrays that need no conversion: NumPy has one object for each of its own types."""

    def __init__(self, entry: TensorInfo) -> None:
        self.entry, self.name = entry, entry.name
        self.plain = None if entry.dtype is DType.BF16 else np.dtype(entry.dtype.numpy)


class Session:
    """The memory of one run. Sessions of one engine may run in several threads at once; the runs of one session take
    turns, each from its inputs to its outputs."""

    def __init__(self, engine: Engine, keep_all: bool = False) -> None:
        """`keep_all`: every inner value can be read after a run."""
        self._where = engine.where
        self._native = _call(_module().Session, engine.native, keep_all, where=self._where)
        self._feeds = [_Feed(entry) for entry in self.inputs]  # names and types do not change
        self._made = [(entry.name, entry.dtype) for entry in self.outputs]

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        return tuple(_info(entry) for entry in _call(self._native.inputs, where=self._where))

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        return tuple(_info(entry) for entry in _call(self._native.outputs, where=self._where))

    def resize(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Give inputs new shapes; those that are not named keep theirs."""
        self._check_names(shapes)
        wanted = [[int(size) for size in shapes.get(entry.name, entry.shape)] for entry in self.inputs]
        _call(self._native.resize, wanted, where=self._where)

    def run(self, inputs: Mapping[str, npt.ArrayLike], *, copy: bool = True) -> dict[str, Array]:
        """Run once, with all inputs by name, and give all outputs by name. The shapes of the arrays count.

        Arrays have the types of the inputs; lists and numbers are converted. Without `copy` the outputs show the
        session's own memory, read-only: the next run overwrites them, and inputs keep their shapes while one is in use.
        """
        arrays = []
        for feed in self._feeds:
            if feed.name not in inputs:
                self._check_names(inputs)
                missing = f"input '{feed.name}' is missing"
                raise RunError(missing, where=self._where, remedy="give an array for each input")
            value = inputs[feed.name]
            fits = type(value) is np.ndarray and value.dtype is feed.plain
            arrays.append(value if fits else self._convert(feed.entry, value))
        if len(inputs) != len(arrays):
            self._check_names(inputs)
        found = _call(self._native.run, arrays, not copy, where=self._where)
        return {name: _from_native(dtype, array) for (name, dtype), array in zip(self._made, found, strict=True)}

    def value(self, name: str) -> Array:
        """A value by its name, or by one that it had in the source model. Inner ones need `keep_all`."""
        info, array = _call(self._native.value, name, where=self._where)
        return _from_native(_info(info).dtype, array)

    @property
    def values(self) -> dict[str, Array]:
        """All values that outlived the last run: inputs, outputs, constants, and with `keep_all` all others."""
        return {name: self.value(name) for name in _call(self._native.value_names, where=self._where)}

    def profile(self) -> tuple[NodeTime, ...]:
        """Run once more with the inputs of the last run, and tell what each node took."""
        return tuple(NodeTime(*entry) for entry in _call(self._native.profile, where=self._where))

    @property
    def memory(self) -> MemoryInfo:
        return MemoryInfo(**self._native.memory_info())

    def _check_names(self, given: Mapping[str, Any]) -> None:
        known = [feed.name for feed in self._feeds]
        for name in given:
            if name not in known:
                raise RunError(f"there is no input '{name}'", where=self._where, remedy=f"inputs: {', '.join(known)}")

    def _convert(self, entry: TensorInfo, value: npt.ArrayLike) -> Array:
        array = np.asarray(value)
        wanted = np.dtype(entry.dtype.numpy)
        typed = isinstance(value, (np.ndarray, np.generic))  # lists and numbers of Python have no type to keep to
        if array.dtype.newbyteorder("=") != wanted and (typed or not np.can_cast(array.dtype, wanted, "same_kind")):
            raise RunError(
                f"input '{entry.name}' holds {array.dtype}, the model takes {entry.dtype.value}",
                where=self._where,
                rule="an array must have the type of its input: conversions take time and may lose digits",
                remedy=f"convert it with astype('{wanted}') if that is intended",
            )
        array = np.asarray(array, dtype=wanted.newbyteorder("="), order="C")
        return _to_bf16(array) if entry.dtype is DType.BF16 else array


@dataclass
class Engine:
    """A model of a library, ready to run. `run` uses a session of its own; `session` makes more."""

    library: Library
    model: str | os.PathLike[str] | bytes | None
    data: str | os.PathLike[str] | bytes | None
    model_name: str | None
    threads: int
    device: DeviceOptions = NO_WISHES
    isa_limit: str | None = None  # for tests and measurements: no kernels for better instruction sets
    native: Any = field(init=False, repr=False)
    _session: Session | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        def split(source: str | os.PathLike[str] | bytes | None) -> tuple[str | None, bytes | None]:
            return (None, source) if source is None or isinstance(source, bytes) else (os.fspath(source), None)

        (model_path, model_bytes), (data_path, data_bytes) = split(self.model), split(self.data)
        arguments = (model_path, data_path, model_bytes, data_bytes, self.model_name, self.threads)
        device = (self.device.as_native(), self.isa_limit)
        self.native = _call(_module().Engine, self.library._native, *arguments, *device, where=self.where)

    @property
    def where(self) -> Where:
        path = self.model if isinstance(self.model, (str, os.PathLike)) else None
        return Where(file=os.fspath(path) if path is not None else str(self.library.path), model=self.model_name or "")

    def session(self, *, keep_all: bool = False) -> Session:
        return Session(self, keep_all)

    def run(self, inputs: Mapping[str, npt.ArrayLike], *, copy: bool = True) -> dict[str, Array]:
        """Run once, with all inputs by name, and give all outputs by name: see `Session.run`."""
        return self._own().run(inputs, copy=copy)

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        return self._own().inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        return self._own().outputs

    @property
    def memory(self) -> MemoryInfo:
        return self._own().memory

    @property
    def device_info(self) -> DeviceInfo:
        return DeviceInfo(**_call(self.native.device_info, where=self.where))

    def device_data(self, what: int) -> bytes:
        """What the device has found out: 1 for the programs that it built, 2 for what tuning found; may be empty."""
        return bytes(_call(self.native.device_data, what, where=self.where))

    def _own(self) -> Session:
        if self._session is None:
            self._session = Session(self)
        return self._session


def _module() -> Any:
    try:
        return importlib.import_module("buildtool._runtime")
    except ImportError as error:
        raise InternalError(
            f"the compiled module buildtool._runtime cannot be loaded: {error}",
            remedy="install Lathe again; in a source tree run make setup",
        ) from error


def _call(function: Any, *arguments: Any, where: Where) -> Any:
    """Call into the module; what the library refuses becomes a RunError."""
    try:
        return function(*arguments)
    except _module().NativeError as error:
        raise RunError(str(error.args[0]), where=where) from error


def _info(entry: Mapping[str, Any]) -> TensorInfo:
    return TensorInfo(**{**entry, "dtype": dtype_from_code(entry["dtype"])})


def _to_bf16(array: Array) -> Array:
    """The bits, rounded to nearest, ties to even; NaN stays NaN."""
    bits = array.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    quiet = (bits >> np.uint64(16)) | np.uint64(0x40)
    return cast(Array, np.where(np.isnan(array), quiet, rounded).astype(np.uint16))


def _from_native(dtype: DType, array: Array) -> Array:
    if dtype is not DType.BF16:
        return array
    return cast(Array, (array.astype(np.uint32) << np.uint32(16)).view(np.float32))
