"""The Python interface of Paddle-Lite, for programs that were written for it.

    python -m lathe_runtime.paddle --library libdigits.so program.py ARGUMENTS

runs a program unmodified: it finds this module as `paddlelite.lite`, `lite` and `lite_core`. Or change its import:

    from lathe_runtime.paddle import *

Models are those of Lathe, converted from Paddle's when the library was built; files of `opt` and programs of Paddle are
refused with the conversion. Programs do not name their library: it is that of `use_library`, of the variable
LATHE_LIBRARY, or the one of the build that the model file belongs to. What is wrong is a LatheRuntimeError.
"""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import (  # noqa: TID252
    DeviceKind,
    DeviceOptions,
    Engine,
    LatheRuntimeError,
    Library,
    Session,
    TensorInfo,
)
from .. import PowerMode as _Power  # noqa: TID252
from .files import check_origin, one_of_folder, start_of  # noqa: TID252

__all__ = [
    "CxxConfig",
    "CxxPredictor",
    "DataLayoutType",
    "LatheRuntimeError",
    "LightPredictor",
    "MobileConfig",
    "Place",
    "PowerMode",
    "PrecisionType",
    "TargetType",
    "Tensor",
    "create_paddle_predictor",
    "use_library",
]

Array = npt.NDArray[Any]


class _Named(enum.IntEnum):
    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class TargetType(_Named):
    """Devices; those that Lathe has no target for are names."""

    Unk = 0
    Host = 1
    X86 = 2
    CUDA = 3
    ARM = 4
    OpenCL = 5
    Any = 6
    FPGA = 7
    NPU = 8
    XPU = 9
    BM = 10
    MLU = 11
    RKNPU = 12
    APU = 13


class PrecisionType(_Named):
    """Types of elements."""

    Unk = 0
    FP32 = 1
    INT8 = 2
    INT32 = 3
    Any = 4
    FP16 = 5
    BOOL = 6
    INT64 = 7
    INT16 = 8
    UINT8 = 9
    FP64 = 10


class DataLayoutType(_Named):
    Unk = 0
    NCHW = 1
    Any = 2
    NHWC = 3


class PowerMode(enum.IntEnum):
    """Which cores the threads of a predictor stay on."""

    LITE_POWER_HIGH = 0
    LITE_POWER_LOW = 1
    LITE_POWER_FULL = 2
    LITE_POWER_NO_BIND = 3
    LITE_POWER_RAND_HIGH = 4
    LITE_POWER_RAND_LOW = 5


_POWERS = (_Power.HIGH, _Power.LOW, _Power.FULL, _Power.NO_BIND, _Power.RAND_HIGH, _Power.RAND_LOW)
_PRECISIONS = {
    "f32": PrecisionType.FP32,
    "s8": PrecisionType.INT8,
    "s32": PrecisionType.INT32,
    "f16": PrecisionType.FP16,
    "bool": PrecisionType.BOOL,
    "s64": PrecisionType.INT64,
    "s16": PrecisionType.INT16,
    "u8": PrecisionType.UINT8,
    "f64": PrecisionType.FP64,
}
_TYPES = {
    "f32": "f4",
    "f16": "f2",
    "bf16": "f4",  # so it is on this side
    "f64": "f8",
    "s8": "i1",
    "u8": "u1",
    "s16": "i2",
    "u16": "u2",
    "s32": "i4",
    "u32": "u4",
    "s64": "i8",
    "u64": "u8",
    "bool": "?",
}


@dataclass
class Place:
    """What a program would run on. Of several, only whether OpenCL is among them has an effect."""

    target: TargetType = TargetType.ARM
    precision: PrecisionType = PrecisionType.FP32
    layout: DataLayoutType = DataLayoutType.NCHW
    device: int = 0

    def is_valid(self) -> bool:
        return bool(self.target and self.precision and self.layout)


class _Config:
    """Settings that both configurations have."""

    def __init__(self) -> None:
        self._model_dir = ""
        self._file = ""
        self._params = ""
        self._buffers: tuple[bytes, bytes] | None = None
        self._threads = 1
        self._mode = PowerMode.LITE_POWER_NO_BIND
        self._on_cpu = False

    def set_model_dir(self, model_dir: str) -> None:
        """A folder with one model, such as `model/<abi>` of a build."""
        self._model_dir = model_dir

    def model_dir(self) -> str:
        return self._model_dir

    def set_model_buffer(self, model: bytes | str, *rest: bytes | str | int) -> None:
        """The contents of `.pb` and `.data`; sizes between them are accepted."""
        texts = [_bytes(part) for part in (model, *rest) if not isinstance(part, int)]
        self._buffers = (texts[0], texts[1] if len(texts) > 1 else b"")

    def is_model_from_memory(self) -> bool:
        return self._buffers is not None

    def set_threads(self, threads: int) -> None:
        self._threads = max(1, threads)

    def threads(self) -> int:
        return self._threads

    def set_power_mode(self, mode: PowerMode) -> None:
        self._mode = PowerMode(mode)

    def power_mode(self) -> PowerMode:
        return self._mode

    def set_x86_math_library_num_threads(self, threads: int) -> None:
        self.set_threads(threads)

    def x86_math_library_num_threads(self) -> int:
        return self._threads

    set_x86_math_num_threads = set_x86_math_library_num_threads
    x86_math_num_threads = x86_math_library_num_threads


class MobileConfig(_Config):
    """A model of Lathe: a file, its contents, or the name of one that the library holds."""

    def set_model_from_file(self, model_file: str) -> None:
        self._file, self._buffers = model_file, None

    def lite_model_file(self) -> str:
        return self._file

    def set_model_from_buffer(self, model_buffer: bytes | str) -> None:
        """The contents of `<model>.whole.pb`."""
        self._file, self._buffers = "", (_bytes(model_buffer), b"")


class CxxConfig(_Config):
    """The same for programs that name a program and its parameters; all was decided when the library was built."""

    def __init__(self) -> None:
        super().__init__()
        self._places: list[Place] = []
        self._passes: list[str] = []

    def set_model_file(self, model_file: str) -> None:
        self._file = model_file

    def model_file(self) -> str:
        return self._file

    def set_param_file(self, param_file: str) -> None:
        self._params = param_file

    def param_file(self) -> str:
        return self._params

    def set_valid_places(self, valid_places: Sequence[Place]) -> None:
        """Without OpenCL among them, the CPU computes."""
        self._places = list(valid_places)
        self._on_cpu = bool(self._places) and all(place.target != TargetType.OpenCL for place in self._places)

    def valid_places(self) -> list[Place]:
        return self._places

    def set_passes_internal(self, passes: Sequence[str] = ()) -> None:
        """Without effect."""
        self._passes = list(passes)

    def passes_internal(self) -> list[str]:
        return self._passes


class Tensor:
    """An input, or a value of the last run. Images are NCHW, whatever the model declares."""

    def __init__(self, predictor: _Predictor, name: str, *, is_input: bool = False) -> None:
        self._predictor, self._name, self._is_input = predictor, name, is_input

    def is_initialized(self) -> bool:
        return self._predictor._found(self) is not None

    def shape(self) -> list[int]:
        return list(self._predictor._shape(self))

    def resize(self, shape: Sequence[int]) -> None:
        """Takes effect in the next run, where all inputs have to fit together."""
        self._writable("resized")
        self._predictor._resize(self._name, tuple(int(size) for size in shape))

    def target(self) -> TargetType:
        return TargetType.Host

    def precision(self) -> PrecisionType:
        found = self._predictor._found(self)
        word = self._predictor._info(self).dtype if found is None else _word_of(found)
        return _PRECISIONS.get(word, PrecisionType.FP32)

    def lod(self) -> list[list[int]]:
        return self._predictor._lod_of(self)

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """The last level becomes the input `<name>.lod` of the model, where it has one."""
        self._writable("given offsets")
        self._predictor._lods[self._name] = [list(level) for level in lod]

    def numpy(self) -> Array:
        """A copy."""
        found = self._predictor._found(self)
        if found is None:
            raise LatheRuntimeError(f"'{self._name}' has no data: run the predictor first")
        return np.array(found)

    def from_numpy(self, array: npt.ArrayLike, place: object = None) -> None:
        """Its shape counts; elements are converted in the run where the model has another type."""
        del place
        self._writable("filled")
        given: Array = np.array(array)
        self._predictor._resize(self._name, given.shape)
        self._predictor._given[self._name] = given

    def _writable(self, what: str) -> None:
        if not self._is_input:
            raise LatheRuntimeError(f"'{self._name}' is no input, and cannot be {what}")

    def _set(self, data: npt.ArrayLike, dtype: Any) -> None:
        self._writable("filled")
        given, shape = np.array(data, dtype).ravel(), self._predictor._shape(self)
        if given.size != int(np.prod(shape, dtype=np.int64)):
            raise LatheRuntimeError(f"input '{self._name}' has the shape {list(shape)}, and {given.size} elements came")
        self._predictor._given[self._name] = given.reshape(shape)

    def _list(self, dtype: Any) -> list[Any]:
        found: list[Any] = self.numpy().astype(dtype).ravel().tolist()
        return found

    def set_float_data(self, data: npt.ArrayLike, target: object = None) -> None:
        del target
        self._set(data, np.float32)

    def set_int8_data(self, data: npt.ArrayLike, target: object = None) -> None:
        del target
        self._set(data, np.int8)

    def set_uint8_data(self, data: npt.ArrayLike, target: object = None) -> None:
        del target
        self._set(data, np.uint8)

    def set_int32_data(self, data: npt.ArrayLike, target: object = None) -> None:
        del target
        self._set(data, np.int32)

    def set_int64_data(self, data: npt.ArrayLike, target: object = None) -> None:
        del target
        self._set(data, np.int64)

    def float_data(self) -> list[float]:
        return self._list(np.float32)

    def int8_data(self) -> list[int]:
        return self._list(np.int8)

    def uint8_data(self) -> list[int]:
        return self._list(np.uint8)

    def int32_data(self) -> list[int]:
        return self._list(np.int32)

    def int64_data(self) -> list[int]:
        return self._list(np.int64)


class _Predictor:
    """A session of a library, with tensors in Paddle's order."""

    def __init__(self, library: Library, engine: Engine) -> None:
        self._library, self._engine = library, engine
        self._session: Session = engine.session()
        self._keeps_all = False
        self._ran = False
        infos = self._session.inputs
        names = [info.name for info in infos]
        self._offsets = {f"{name}.lod": name for name in names if f"{name}.lod" in names}
        self._inputs = {info.name: info for info in infos}
        self._shapes = {info.name: _to_nchw(info.shape, _turned(info)) for info in infos}
        self._given: dict[str, Array] = {}
        self._lods: dict[str, list[list[int]]] = {}
        self._results: dict[str, Array] = {}

    def get_input(self, index: int) -> Tensor:
        return Tensor(self, _at(self.get_input_names(), index, "input"), is_input=True)

    def get_output(self, index: int) -> Tensor:
        return Tensor(self, _at(self.get_output_names(), index, "output"))

    def get_input_names(self) -> list[str]:
        return [name for name in self._inputs if name not in self._offsets]

    def get_output_names(self) -> list[str]:
        return [info.name for info in self._session.outputs]

    def get_input_by_name(self, name: str) -> Tensor:
        return self.get_input(_index(self.get_input_names(), name, "input"))

    def get_output_by_name(self, name: str) -> Tensor:
        return self.get_output(_index(self.get_output_names(), name, "output"))

    def get_tensor(self, name: str) -> Tensor:
        """Any value. The first inner one that is asked for runs the model once more; all are kept from then on."""
        return Tensor(self, name, is_input=name in self._inputs)

    def run(self) -> None:
        feeds = {}
        for name, info in self._inputs.items():
            given = self._offsets_for(name) if name in self._offsets else self._given.get(name)
            if given is None:
                raise LatheRuntimeError(f"input '{name}' has no data: from_numpy or set_float_data before run")
            if name not in self._offsets and given.shape != self._shapes[name]:
                if given.size != int(np.prod(self._shapes[name], dtype=np.int64)):
                    what = f"input '{name}' has the shape {list(self._shapes[name])}, and data of {list(given.shape)}"
                    raise LatheRuntimeError(f"{what}: fill it after resize")
                given = given.reshape(self._shapes[name])
            array = given.transpose(0, 2, 3, 1) if _turned(info) and given.ndim == 4 else given
            feeds[name] = np.ascontiguousarray(array).astype(_TYPES[info.dtype], copy=False)
        found = self._session.run(feeds)
        formats = {info.name: _turned(info) for info in self._session.outputs}
        self._results = {name: _nchw(array, formats[name]) for name, array in found.items()}
        self._ran = True

    def get_version(self) -> str:
        """The version of Lathe that built the library."""
        return self._library.version

    def try_shrink_memory(self) -> bool:
        """Gives back all memory but weights; the next run takes it again."""
        self._session, self._keeps_all = self._engine.session(), False
        return True

    # --- what tensors ask ------------------------------------------------------------------------------------------

    def _resize(self, name: str, shape: tuple[int, ...]) -> None:
        if min(shape, default=0) < 0:
            raise LatheRuntimeError(f"input '{name}' has a negative dimension: {list(shape)}")
        self._shapes[name] = shape

    def _found(self, tensor: Tensor) -> Array | None:
        """None before there is something."""
        name = tensor._name
        if tensor._is_input:
            return self._given.get(name)
        if not self._ran or name in self._results:
            return self._results.get(name)
        if not self._keeps_all:
            self._session, self._keeps_all = self._engine.session(keep_all=True), True
            self.run()
        return self._session.value(name)

    def _info(self, tensor: Tensor) -> TensorInfo:
        infos = (*self._inputs.values(), *self._session.outputs)
        for info in infos:
            if info.name == tensor._name:
                return info
        raise LatheRuntimeError(f"'{tensor._name}' is an inner value: run the predictor first")

    def _shape(self, tensor: Tensor) -> tuple[int, ...]:
        if tensor._is_input:
            return self._shapes[tensor._name]
        found = self._found(tensor)
        if found is not None:
            return found.shape
        info = self._info(tensor)
        return _to_nchw(info.shape, _turned(info))

    def _offsets_for(self, name: str) -> Array:
        owner = self._offsets[name]
        if lod := self._lods.get(owner):
            return np.array(lod[-1])
        return np.array([0, self._shapes[owner][0]])

    def _lod_of(self, tensor: Tensor) -> list[list[int]]:
        if tensor._is_input:
            return self._lods.get(tensor._name, [])
        rows = (self._shape(tensor) or (0,))[0]
        return next((lod for lod in self._lods.values() if lod and lod[-1] and lod[-1][-1] == rows), [])


class LightPredictor(_Predictor):
    """What create_paddle_predictor makes of a MobileConfig."""


class CxxPredictor(_Predictor):
    """What create_paddle_predictor makes of a CxxConfig."""


def create_paddle_predictor(config: MobileConfig | CxxConfig) -> Any:
    """A predictor. LatheRuntimeError where the model or the library is not there, or do not fit."""
    source, data = _source(config)
    model: str | bytes | None = source
    library = _library_for(source if isinstance(source, str) else None)
    name = None
    if isinstance(source, str) and not Path(source).is_file():
        if source not in library.models:
            held = ", ".join(library.models) or "none: model_graph_format: code puts models into a library"
            raise LatheRuntimeError(f"there is no model file '{source}'; models inside of {library.path}: {held}")
        model, name = None, source
    power = _POWERS[config.power_mode()]
    if power != _Power.NO_BIND and not library.cores:
        warnings.warn(f"{library.path} cannot bind threads: build it with core_binding: 1", stacklevel=2)
        power = _Power.NO_BIND
    device = DeviceOptions(kind=DeviceKind.CPU if config._on_cpu else DeviceKind.ANY)
    engine = library.engine(
        model=model, data=data, model_name=name, threads=config.threads(), device=device, power=power
    )
    return (CxxPredictor if isinstance(config, CxxConfig) else LightPredictor)(library, engine)


def use_library(path: str | os.PathLike[str], name: str | None = None) -> None:
    """The library of all predictors that are made from here on; `name`: where the file is not called lib<name>.so."""
    _chosen[:] = [Library(path, name)]


_chosen: list[Library] = []


def _library_for(model: str | None) -> Library:
    if _chosen:
        return _chosen[0]
    stated = os.environ.get("LATHE_LIBRARY")
    if stated:
        return Library(stated)
    for folder in Path(model).resolve().parents[:2] if model and Path(model).is_file() else ():
        abi = Path(model or "").resolve().parent.name
        beside = folder.parent / "lib"
        found = sorted((beside / abi if folder.name == "model" else beside / folder.name).glob("lib*.so"))
        found = found or (sorted(beside.glob("*/lib*.so")) if folder.name == "model" else [])
        found = [file for file in found if not file.name.endswith("_jni.so")]
        if len(found) == 1:
            return Library(found[0])
    raise LatheRuntimeError(
        "no library is known: pass --library to python -m lathe_runtime.paddle, call use_library, or set LATHE_LIBRARY"
    )


def _source(config: MobileConfig | CxxConfig) -> tuple[str | bytes, str | bytes | None]:
    """A model (a file, its contents, or a name) and its weights."""
    if config._buffers is not None:
        model, data = config._buffers
        check_origin("the model in memory", model)
        return model, data or None
    folder = Path(config.model_dir()) if config.model_dir() else None
    if not config._file:
        if folder is None:
            raise LatheRuntimeError("the configuration names no model: set_model_from_file")
        return _with_data(one_of_folder(folder) if folder.is_dir() else config.model_dir())
    file, found = _with_data(_inside(folder, config._file))
    return file, _inside(folder, config._params) if config._params else found


def _inside(folder: Path | None, name: str) -> str:
    """The file of the folder, where it has one."""
    return str(folder / name) if folder is not None and (folder / name).is_file() else name


def _with_data(name: str) -> tuple[str, str | None]:
    file = Path(name)
    if not file.is_file():
        return name, None
    check_origin(name, start_of(file))
    beside = file.with_suffix(".data")
    return name, str(beside) if beside != file and beside.is_file() else None


def _bytes(text: bytes | str) -> bytes:
    """Python 2 had one type for both; the bytes of a text are its first 256 characters."""
    return text if isinstance(text, bytes) else text.encode("latin-1")


def _turned(info: TensorInfo) -> bool:
    return info.format == "NHWC" and len(info.shape) == 4


def _to_nchw(shape: tuple[int, ...], turned: bool) -> tuple[int, ...]:
    return (shape[0], shape[3], shape[1], shape[2]) if turned else tuple(shape)


def _nchw(array: Array, turned: bool) -> Array:
    return np.ascontiguousarray(array.transpose(0, 3, 1, 2)) if turned and array.ndim == 4 else array


def _word_of(array: Array) -> str:
    kind = {"f": "f", "i": "s", "u": "u", "b": "bool"}.get(array.dtype.kind, "")
    return kind if kind == "bool" else f"{kind}{8 * array.dtype.itemsize}"


def _at(names: list[str], index: int, kind: str) -> str:
    if not 0 <= index < len(names):
        raise LatheRuntimeError(f"there is no {kind} {index}; the model has {len(names)}")
    return names[index]


def _index(names: list[str], name: str, kind: str) -> int:
    if name not in names:
        raise LatheRuntimeError(f"there is no {kind} '{name}': {', '.join(names)}")
    return names.index(name)
