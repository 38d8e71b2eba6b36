"""What a deployment file says once nothing is left to guess: frozen, resolved, every part with its place in the file.

These classes are the only thing that later stages see of a deployment file. Defaults are filled in, subgraphs have
inherited from their model, aliases have their one canonical spelling, variables are expanded, paths are absolute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from buildtool.config.names import identifier_for
from buildtool.errors import Problem, Where
from buildtool.runtimes import Runtime
from buildtool.vision import InputImage, Vision

# A size is a number, or inclusive bounds (low, high) of a size that is only known when the library runs.
Dimension: TypeAlias = int | tuple[int, int]
ShapeConfig: TypeAlias = tuple[Dimension, ...]

NOWHERE = Where()


@dataclass(frozen=True)
class FileRef:
    """A file that a deployment names: an absolute path, or an http(s) address, and what it must hash to."""

    location: str
    sha256: str = ""  # lower case; empty where the file gives none
    where: Where = NOWHERE

    @property
    def is_url(self) -> bool:
        return self.location.startswith(("http://", "https://"))

    @property
    def path(self) -> Path:
        """The local path; only for a reference that is no URL."""
        if self.is_url:
            raise ValueError(f"'{self.location}' is not a local path")
        return Path(self.location)


@dataclass(frozen=True)
class TensorConfig:
    """An input, an output or a tensor to check. `name` is the name in the source model, `alias` the one users see."""

    name: str
    shape: ShapeConfig
    data_type: str  # float32, int64, ...; empty: that of the model
    data_format: str  # NHWC, NCHW, OIHW or NONE: the order in which the user passes the data
    value_range: tuple[float, float]  # of the random data that is used where none is given
    alias: str
    where: Where = NOWHERE  # of the name
    shape_where: Where = NOWHERE
    format_where: Where = NOWHERE  # of the declared format, or of the name where none is declared

    @property
    def is_bounded(self) -> bool:
        """Whether a size is only known at run time."""
        return any(not isinstance(dim, int) for dim in self.shape)


@dataclass(frozen=True)
class ImageConfig:
    """How images fill an input, and where the file says so."""

    image: InputImage
    where: Where = NOWHERE
    frame: tuple[int, int] | None = None  # width and height; the conversion is then part of the model
    tensor: TensorConfig | None = None  # with a frame: the input as the model itself has it


CHIP_THRESHOLD = 0.980  # of a runtime whose target makes firmware


@dataclass(frozen=True)
class Thresholds:
    """The cosine similarity with the reference that an output must reach, by runtime."""

    values: tuple[tuple[str, float], ...] = ()

    def of(self, runtime: str) -> float:
        return dict(self.values).get(runtime, CHIP_THRESHOLD)


@dataclass(frozen=True)
class SubgraphConfig:
    """One entry into a model: which tensors go in and come out, and how to validate them."""

    name: str  # of the entry in a dict of subgraphs, else ""
    inputs: tuple[TensorConfig, ...]
    outputs: tuple[TensorConfig, ...]
    check_tensors: tuple[TensorConfig, ...] = ()
    images: tuple[ImageConfig, ...] = ()  # inputs that images fill
    validation_inputs_data: tuple[FileRef, ...] = ()  # empty, or one per input
    validation_outputs_data: tuple[FileRef, ...] = ()  # empty, or one per output
    accuracy_validation_script: tuple[FileRef, ...] = ()
    validation_threshold: Thresholds = Thresholds()
    backend: str = ""  # the reference framework, where the user names one
    where: Where = NOWHERE


@dataclass(frozen=True)
class QuantizeConfig:
    """How numbers are narrowed."""

    enabled: bool = False
    large_weights: str = ""  # int8, int16, int4: what large weights are stored as
    schema: str = ""
    range_file: FileRef | None = None
    weights_file: FileRef | None = None  # what takes the place of weights
    change_concat_ranges: bool = False
    equalize: bool = False  # whether channels are made alike first
    operators: tuple[str, ...] = ("all",)  # that are narrowed: these, all, or the usual ones
    keep_float: tuple[str, ...] = ()  # layers and operators that are not
    observed: bool = False  # whether the graph is that of few bits, and computes on real numbers to be looked at


@dataclass(frozen=True)
class OpenclConfig:
    """Settings that only matter to a GPU."""

    limit_kernel_time: bool = False
    opencl_queue_window_size: int = 0
    mem_type: str = "image"


@dataclass(frozen=True)
class HexagonConfig:
    """Settings of programs on the Hexagon DSP."""

    versions: tuple[str, ...] = ("v66",)
    unsigned: bool = True
    power: str = "default"


@dataclass(frozen=True)
class ModelConfig:
    """One model of a library."""

    name: str  # as written by the user
    identifier: str  # `name`, or the nearest word that C++ accepts; unique in the library
    platform: str
    model_file: FileRef
    weight_file: FileRef | None
    subgraphs: tuple[SubgraphConfig, ...]
    runtime: Runtime = Runtime.CPU
    data_type: str = "fp16_fp32"
    obfuscate: bool = False
    winograd: int | None = None  # the largest tile; None: as the cost model says
    quantize: QuantizeConfig = QuantizeConfig()
    opencl: OpenclConfig = OpenclConfig()
    graph_optimize_options: tuple[str, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()  # what the file gives of the sections of the runtime's target
    micro_backend: str = ""  # cmsis, xtensa, portable, reference; empty where the model is not for a microcontroller
    micro_arena_limit: int | None = None  # bytes of RAM
    micro_flash_limit: int | None = None  # bytes of flash
    micro_frontend: tuple[tuple[str, Any], ...] = ()  # what the file says of it
    where: Where = NOWHERE  # of the name
    marks: tuple[tuple[str, Where], ...] = ()  # of the values of the keys that the file gives

    def where_of(self, key: str) -> Where:
        """The place of a key's value, or of the model's name where the file does not give the key."""
        return dict(self.marks).get(key, self.where)

    def files_to_build(self) -> tuple[FileRef, ...]:
        """The files that a build reads."""
        files = (self.model_file, self.weight_file, self.quantize.range_file, self.quantize.weights_file)
        return tuple(file for file in files if file)

    def files(self) -> Iterator[FileRef]:
        """Every file that some command may have to fetch, in the order of the deployment file."""
        yield from self.files_to_build()
        for graph in self.subgraphs:
            yield from graph.validation_inputs_data
            yield from graph.validation_outputs_data
            yield from graph.accuracy_validation_script


@dataclass(frozen=True)
class Deployment:
    """A whole deployment file."""

    path: Path  # absolute
    library_name: str  # safe as a file name
    target_abis: tuple[str, ...]  # canonical, without repetition
    models: tuple[ModelConfig, ...]
    target_socs: tuple[str, ...] = ()
    model_graph_format: str = "file"
    model_data_format: str = "file"
    glibc_floor: str = "2.17"
    android_api_level: int = 21
    op_paths: tuple[Path, ...] = ()
    messages: bool = True
    isas: tuple[str, ...] = ()  # beside those that every machine of an ABI has; empty: all
    hexagon: HexagonConfig = HexagonConfig()
    vision: Vision = field(default_factory=Vision)
    mace_compat: str = "0"  # headers of MACE's C++ interface: 0, headers, or 1 for the name libmace as well
    paddle_compat: str = "0"  # the same of Paddle-Lite's; 1: for the name libpaddle_light_api_shared as well
    core_binding: bool = False
    all_ops: bool = False  # whether the library has the kernels of all operators
    fallback: str = ""  # of the command line: where layers go that an accelerator cannot do
    toolchains: tuple[tuple[str, Path], ...] = ()  # targets that a CMake toolchain file of the user's describes
    where: Where = NOWHERE
    marks: tuple[tuple[str, Where], ...] = ()
    abi_marks: tuple[Where, ...] = ()  # one for each target, or none where no key names them

    @property
    def library_identifier(self) -> str:
        """The library's name inside C and C++ symbols."""
        return identifier_for(self.library_name)

    def where_of(self, key: str) -> Where:
        """The place of a top-level key's value, or of the file where it does not give the key."""
        return dict(self.marks).get(key, self.where)

    def where_of_abi(self, abi: str) -> Where:
        """The place that names a target, or that of the file."""
        return dict(zip(self.target_abis, self.abi_marks, strict=False)).get(abi, self.where)


@dataclass(frozen=True)
class LoadedDeployment:
    """A deployment and what its author should know although nothing is wrong."""

    deployment: Deployment
    notes: tuple[Problem, ...] = ()
