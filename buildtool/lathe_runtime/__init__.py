"""Libraries made by Lathe, in Python: load one, open a model, run NumPy arrays through it.

    import lathe_runtime
    model = lathe_runtime.load("libdigits.so", model="digits.pb")
    outputs = model.run({"image": pixels})

It needs Python 3.10 and NumPy, and nothing else of Lathe. Errors are `LatheRuntimeError`, with the text of the library.
bf16 has no NumPy type: such tensors are float32 on this side.
"""

from __future__ import annotations

import enum
import mmap
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union, cast

import numpy as np
import numpy.typing as npt

from . import images as _images  # noqa: TID252 (in the wheel for boards, this package has another parent)
from . import native as _native  # noqa: TID252 (in the wheel for boards, this package has another parent)

Array = npt.NDArray[Any]
_Source = Union[str, "os.PathLike[str]", bytes, None]
#: Words of element types, by their number.
_WORDS = ("", "f32", "f16", "bf16", "f64", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "bool")
_BF16 = _WORDS.index("bf16")


class LatheRuntimeError(Exception):
    """What a library refuses, or what does not fit a model."""


class Host:
    """How errors and element types look to the program that loads libraries."""

    def error(self, what: str, *, file: str, model: str = "", rule: str = "", remedy: str = "") -> Exception:
        place = ": ".join(word for word in (file, model) if word)
        return LatheRuntimeError("\n".join(line for line in (f"{place}: {what}", rule, remedy) if line))

    def dtype(self, code: int) -> Any:
        """The type of elements with this number."""
        return _WORDS[code]


PLAIN = Host()


class PowerMode(enum.IntEnum):
    """Which cores threads stay on."""

    NO_BIND = 0
    HIGH = 1  # the fast cores
    LOW = 2  # the slow ones
    FULL = 3  # as many cores as threads, the fast ones first
    RAND_HIGH = 4  # as many fast cores as threads; every ten runs begin one core further
    RAND_LOW = 5


@dataclass(frozen=True)
class Core:
    """A core of this machine; 0 where the system does not tell."""

    core: int
    kind: int  # 0: all cores are alike, 1: big, 2: little
    allowed: bool
    capacity: int
    max_khz: int


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a session. Dimensions lie between `min_shape` and `max_shape`; `shape` is now."""

    name: str
    dtype: Any  # f32, f16, bf16, f64, s8, u8, s16, u16, s32, u32, s64, u64, bool
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
    """How the parts of a model run that were built for a GPU or a DSP."""

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
    dsp_flags: int = 0  # 1: the program is not signed; 2: clocks do not follow the load
    dsp_power: int = 0  # as built, release, turbo, nom_plus, nominal, svs_plus, svs, svs2
    dsp_latency: int = 0  # microseconds until the DSP is awake

    def as_native(self) -> dict[str, Any]:
        """The words of the C interface; what is not set is left out."""
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
    "dsp_flags",
    "dsp_power",
    "dsp_latency",
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

    def __init__(self, path: str | os.PathLike[str], name: str | None = None, host: Host = PLAIN) -> None:
        """`name`: that of the library, where neither the file is called `lib<name>.so` nor the library tells."""
        self.path = Path(path)
        self.host = host
        if not self.path.is_file():
            raise host.error(f"there is no library '{self.path}'", file="", remedy="build it with lathe build")
        stem = re.sub(r"^lib|\.so.*$", "", self.path.name) if name is None else name
        symbol = "lathe_api_" + re.sub(r"\W", "_", stem, flags=re.ASCII)
        if name is None:
            symbol = _symbol_in(self.path, symbol)
        self._native = _call(_Place(host, str(self.path)), _native.Library, str(self.path.resolve()), symbol)

    @property
    def name(self) -> str:
        return self._native.name  # type: ignore[no-any-return]

    @property
    def version(self) -> str:
        """The version of Lathe that made it."""
        return self._native.version  # type: ignore[no-any-return]

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(self._native.kernels)

    @property
    def models(self) -> tuple[str, ...]:
        """The models inside of the library."""
        return tuple(self._native.models)

    @property
    def cores(self) -> tuple[Core, ...]:
        """The cores of this machine; none where the library cannot bind threads (`core_binding: 1`)."""
        found = _call(_Place(self.host, str(self.path)), self._native.cores)
        return tuple(Core(**{**entry, "allowed": bool(entry["allowed"])}) for entry in found)

    def engine(
        self,
        *,
        model: _Source = None,
        data: _Source = None,
        model_name: str | None = None,
        threads: int = 0,
        device: DeviceOptions = NO_WISHES,
        isa_limit: str | None = None,
        power: PowerMode = PowerMode.NO_BIND,
        cores: Sequence[int] = (),
    ) -> Engine:
        """Make a model ready to run: a file or bytes, or the one inside of the library that has this name (without a
        name: the only one). `threads`: 0 means one per core. `power`, `cores`: where they stay."""
        return Engine(self, model, data, model_name, threads, device, isa_limit, power, tuple(cores))


def _symbol_in(library: Path, expected: str) -> str:
    """The function of a library that has another name than its file, such as libmace.so; what is expected otherwise."""
    if not library.stat().st_size:
        return expected
    with library.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = {match[1].decode() for match in re.finditer(rb"\0(lathe_api_\w+)(?=\0)", data)}
    return found.pop() if len(found) == 1 else expected


@dataclass(frozen=True)
class _Place:
    """Where something is that may be wrong."""

    host: Host
    file: str
    model: str = ""

    def error(self, what: str, rule: str = "", remedy: str = "") -> Exception:
        return self.host.error(what, file=self.file, model=self.model, rule=rule, remedy=remedy)


class _Feed:
    """An input, and the type of arrays that need no conversion: NumPy has one object for each of its own types."""

    def __init__(self, name: str, code: int) -> None:
        self.name, self.code = name, code
        self.wanted = np.dtype(np.float32) if code == _BF16 else _native.TYPES[code] or np.dtype(np.float32)
        self.plain = None if code == _BF16 else self.wanted


class Session:
    """The memory of one run. Sessions of one engine may run in several threads at once; the runs of one session take
    turns, each from its inputs to its outputs."""

    def __init__(self, engine: Engine, keep_all: bool = False) -> None:
        """`keep_all`: every inner value can be read after a run."""
        self._place = engine.place
        self._native = _call(self._place, _native.Session, engine.native, keep_all)
        self._feeds = [_Feed(entry["name"], entry["dtype"]) for entry in self._native.inputs()]  # these do not change
        self._made = [(entry["name"], entry["dtype"]) for entry in self._native.outputs()]

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        return tuple(self._info(entry) for entry in _call(self._place, self._native.inputs))

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        return tuple(self._info(entry) for entry in _call(self._place, self._native.outputs))

    def resize(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Give inputs new shapes; those that are not named keep theirs."""
        self._check_names(shapes)
        wanted = [[int(size) for size in shapes.get(entry.name, entry.shape)] for entry in self.inputs]
        _call(self._place, self._native.resize, wanted)

    def run(self, inputs: Mapping[str, npt.ArrayLike], *, copy: bool = True) -> dict[str, Array]:
        """Run once, with all inputs by name, and give all outputs by name. The shapes of the arrays count.

        Arrays have the types of the inputs; lists and numbers are converted. Without `copy` the outputs show the
        session's own memory, read-only: the next run overwrites them, and inputs keep their shapes while one is in use.
        """
        arrays = []
        for feed in self._feeds:
            if feed.name not in inputs:
                self._check_names(inputs)
                raise self._place.error(f"input '{feed.name}' is missing", remedy="give an array for each input")
            value = inputs[feed.name]
            fits = type(value) is np.ndarray and value.dtype is feed.plain
            arrays.append(value if fits else self._convert(feed, value))
        if len(inputs) != len(arrays):
            self._check_names(inputs)
        found = _call(self._place, self._native.run, arrays, not copy)
        return {name: _from_native(dtype, array) for (name, dtype), array in zip(self._made, found, strict=True)}

    def run_image(
        self,
        image: Array,
        pixels: str = "rgb",
        *,
        size: tuple[int, int] | None = None,
        input_name: str | None = None,
        part: Sequence[int] | None = None,
        yuv: str = "full",
    ) -> dict[str, Array]:
        """Fill an input from an image as `preprocess` of the deployment says, run once, and give all outputs by name.

        `image`: bytes; `pixels`: nv12, nv21, i420, yuyv, rgb, bgr, rgba, bgra or gray. `size`: width and height, where
        the array does not have height, width and channels as its axes. `input_name`: None is the first one; other
        inputs keep what they hold. `part`: left, top, width and height, instead of the deployment's crop.
        """
        names = [feed.name for feed in self._feeds]
        if input_name is not None:
            self._check_names({input_name: None})
        if pixels not in _images.PIXELS or yuv not in _images.YUV:
            rule = f"pixels: {', '.join(_images.PIXELS)}; yuv: {', '.join(_images.YUV)}"
            raise self._place.error(f"there are no images '{pixels}', '{yuv}'", rule=rule)
        array = np.asarray(image)
        if array.dtype != np.uint8:
            raise self._place.error(f"an image holds bytes, this one {array.dtype}", remedy="convert it to uint8")
        plain = np.ascontiguousarray(array)
        width, height = size if size is not None else (plain.shape[1], plain.shape[0]) if plain.ndim > 1 else (0, 0)
        if size is None and pixels in ("nv12", "nv21", "i420"):
            height = height * 2 // 3  # the rows of U and V follow
        if plain.size != _images.bytes_of(pixels, width, height):
            what = f"an image of {width}x{height} pixels '{pixels}' has {_images.bytes_of(pixels, width, height)} bytes"
            raise self._place.error(f"{what}, this one {plain.size}", remedy="give its size: size=(width, height)")
        index = 0 if input_name is None else names.index(input_name)
        found = _call(self._place, self._native.run_image, index, pixels, plain, (width, height), yuv, part)
        return {name: _from_native(dtype, array) for (name, dtype), array in zip(self._made, found, strict=True)}

    def value(self, name: str) -> Array:
        """A value by its name, or by one that it had in the source model. Inner ones need `keep_all`."""
        info, array = _call(self._place, self._native.value, name)
        return _from_native(info["dtype"], array)

    @property
    def values(self) -> dict[str, Array]:
        """All values that outlived the last run: inputs, outputs, constants, and with `keep_all` all others."""
        return {name: self.value(name) for name in _call(self._place, self._native.value_names)}

    def profile(self) -> tuple[NodeTime, ...]:
        """Run once more with the inputs of the last run, and tell what each node took."""
        return tuple(NodeTime(*entry) for entry in _call(self._place, self._native.profile))

    @property
    def memory(self) -> MemoryInfo:
        return MemoryInfo(**self._native.memory_info())

    def _check_names(self, given: Mapping[str, Any]) -> None:
        known = [feed.name for feed in self._feeds]
        for name in given:
            if name not in known:
                raise self._place.error(f"there is no input '{name}'", remedy=f"inputs: {', '.join(known)}")

    def _info(self, entry: Mapping[str, Any]) -> TensorInfo:
        return TensorInfo(**{**entry, "dtype": self._place.host.dtype(entry["dtype"])})

    def _convert(self, feed: _Feed, value: npt.ArrayLike) -> Array:
        array = np.asarray(value)
        typed = isinstance(value, (np.ndarray, np.generic))  # lists and numbers of Python have no type to keep to
        if array.dtype.newbyteorder("=") != feed.wanted and (
            typed or not np.can_cast(array.dtype, feed.wanted, "same_kind")
        ):
            raise self._place.error(
                f"input '{feed.name}' holds {array.dtype}, the model takes {_WORDS[feed.code]}",
                rule="an array must have the type of its input: conversions take time and may lose digits",
                remedy=f"convert it with astype('{feed.wanted}') if that is intended",
            )
        array = np.asarray(array, dtype=feed.wanted.newbyteorder("="), order="C")
        return _to_bf16(array) if feed.code == _BF16 else array


@dataclass
class Engine:
    """A model of a library, ready to run. `run` uses a session of its own; `session` makes more."""

    library: Library
    model: _Source
    data: _Source
    model_name: str | None
    threads: int
    device: DeviceOptions = NO_WISHES
    isa_limit: str | None = None  # for tests and measurements: no kernels for better instruction sets
    power: PowerMode = PowerMode.NO_BIND
    cores: tuple[int, ...] = ()
    native: Any = field(init=False, repr=False)
    _session: Session | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        def split(source: _Source) -> tuple[str | None, bytes | None]:
            return (None, source) if source is None or isinstance(source, bytes) else (os.fspath(source), None)

        (model_path, model_bytes), (data_path, data_bytes) = split(self.model), split(self.data)
        arguments = (model_path, data_path, model_bytes, data_bytes, self.model_name, self.threads)
        bound = self.power != PowerMode.NO_BIND or self.cores
        rest = (self.device.as_native(), self.isa_limit, _native.cpu_options(self.power, self.cores) if bound else None)
        self.native = _call(self.place, _native.Engine, self.library._native, *arguments, *rest)

    @property
    def place(self) -> _Place:
        path = self.model if isinstance(self.model, (str, os.PathLike)) else None
        file = os.fspath(path) if path is not None else str(self.library.path)
        return _Place(self.library.host, file, self.model_name or "")

    def bind(self, power: PowerMode = PowerMode.NO_BIND, cores: Sequence[int] = ()) -> None:
        """Move the threads, from the next run on. Not while something runs."""
        _call(self.place, self.native.bind, _native.cpu_options(power, cores))

    @property
    def bound_cores(self) -> tuple[int, ...]:
        """Where the threads are in the next run; none: anywhere."""
        return tuple(self.native.cores())

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
        return DeviceInfo(**_call(self.place, self.native.device_info))

    def device_data(self, what: int) -> bytes:
        """What the device has found out: 1 for the programs that it built, 2 for what tuning found; may be empty."""
        return bytes(_call(self.place, self.native.device_data, what))

    def _own(self) -> Session:
        if self._session is None:
            self._session = Session(self)
        return self._session


def load(
    library: str | os.PathLike[str],
    model: _Source = None,
    data: _Source = None,
    *,
    name: str | None = None,
    threads: int = 0,
    keep_all: bool = False,
    power: PowerMode = PowerMode.NO_BIND,
    cores: Sequence[int] = (),
) -> Session:
    """A model ready to run.

    `model`: a file of `model/`, with its `.data` beside it, its contents, or the name of one inside of the library
    (None: the only one). `name`: that of the library, where the file is not called `lib<name>.so`.
    """
    loaded = Library(library, name)
    inside = model is None or (isinstance(model, str) and model in loaded.models and not Path(model).exists())
    if not inside and data is None and isinstance(model, (str, os.PathLike)):
        beside = Path(model).with_suffix(".data")
        data = beside if beside.is_file() else None
    engine = loaded.engine(
        model=None if inside else model,
        data=data,
        model_name=cast("str | None", model) if inside else None,
        threads=threads,
        power=power,
        cores=cores,
    )
    return engine.session(keep_all=keep_all)


def _call(place: _Place, function: Any, *arguments: Any) -> Any:
    """Call into the library; what it refuses becomes an error of the host."""
    try:
        return function(*arguments)
    except _native.NativeError as error:
        raise place.error(str(error.args[0])) from error


def _to_bf16(array: Array) -> Array:
    """The bits, rounded to nearest, ties to even; NaN stays NaN."""
    bits = array.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)
    quiet = (bits >> np.uint64(16)) | np.uint64(0x40)
    return cast(Array, np.where(np.isnan(array), quiet, rounded).astype(np.uint16))


def _from_native(code: int, array: Array) -> Array:
    if code != _BF16:
        return array
    return cast(Array, (array.astype(np.uint32) << np.uint32(16)).view(np.float32))
