"""The sources of a tailored library, for all of its ABIs, as one tree that builds by itself."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2

from buildtool import resources, version
from buildtool.codegen import opencl
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.codegen.vision import VisionSources
from buildtool.errors import BuildError
from buildtool.ops._activation import ACTIVATIONS
from buildtool.plan.units import UnitInfo

_MACE_PUBLIC = ("mace", "mace_engine_factory")  # headers beside those of the models
_INCLUDED = re.compile(r"^include\(\$\{CMAKE_CURRENT_LIST_DIR\}/([\w.-]+)\)", re.MULTILINE)  # by a toolchain file
_DEVICE_SOURCES = "opencl.data"
_VECTOR_ACTIVATIONS = "vector_activation"  # of native/kernel/units.yaml
_CMAKE_FILES = ("LatheFlags.cmake", "LatheIsa.cmake", "LatheLink.cmake")


@dataclass(frozen=True)
class EmbeddedModel:
    """A model inside a library. Empty `data`: the weights stay in a file. Models may share it."""

    name: str
    model: bytes
    data: bytes = b""


@dataclass(frozen=True)
class AbiSources:
    """What a library is made of on one ABI."""

    abi: str
    kernels: tuple[str, ...]  # names, in the order of the registry
    kernel_files: tuple[str, ...]  # sources, relative to a root of NativeSources
    models: tuple[EmbeddedModel, ...] = ()
    toolchain: Path | None = None  # a toolchain file of the user's own
    object_format: str = "elf"  # or wasm, macho
    reads_stored: bool = False  # whether some kernel reads constants as they are stored
    scaled: bool = False  # whether weights of its models are whole numbers with scales
    vision: VisionSources | None = None
    activations: tuple[str, ...] | None = None  # that nodes of its models have, in the order of ACTIVATIONS; None: all
    copied_sizes: frozenset[int] | None = None  # of elements that kernels of any type move, in bytes; None: all
    device_units: tuple[UnitInfo, ...] = ()  # of native/opencl; those of one operator as they are to be tried
    device_tuned: bytes = b""  # what GPUs have found out: native/opencl/tuning.h
    device_programs: bytes = b""  # native/opencl/store.h


@dataclass(frozen=True)
class DspSources:
    """What the program of a library on Qualcomm's DSP is made of, for each version of the DSP."""

    versions: tuple[str, ...]
    kernels: tuple[str, ...]  # names, in the order of the registry
    kernel_files: tuple[str, ...]

    @property
    def abis(self) -> tuple[str, ...]:
        """The folders of the programs, beside those of ABIs."""
        return tuple(f"hexagon-{version}" for version in self.versions)


#: Which units the program on the DSP is made of, one a line, for those who build it without Lathe's own builder.
DSP_UNITS = "units.txt"


@dataclass(frozen=True)
class LibrarySources:
    """A library: its name for files, its identifier for C, and its parts per ABI."""

    name: str
    identifier: str
    abis: tuple[AbiSources, ...]
    embedded_models: tuple[str, ...] = field(default=())  # names, for the header
    messages: bool = True  # whether it holds the texts of its messages
    core_binding: bool = False  # whether it can bind threads to cores
    interfaces: tuple[str, ...] = ()  # C++ interfaces of other engines that come along: mace, paddle
    stem: str = ""  # lib<stem>.so and .a; empty: as `name`
    dsp: DspSources | None = None


def emit(library: LibrarySources, sources: NativeSources) -> SourceTree:
    """The whole tree."""
    names = [part.abi for part in library.abis]
    common: dict[str, Any] = {
        "library": library.name,
        "identifier": library.identifier,
        "abis": names,
        "version": version(),
        "messages": library.messages,
        "core_binding": library.core_binding,
        "stem": library.stem or library.name,
        "formats": {part.object_format for part in library.abis},
        "dsp_uri": dsp_uri(library.name, library.identifier) if library.dsp else "",
    }
    files = {
        "CMakeLists.txt": render("CMakeLists.txt", common),
        "CMakePresets.json": render("CMakePresets.json", common),
        "exports.map": render("exports.map", common),
        f"include/lathe/{library.name}.h": api_header(library.name, library.identifier, library.embedded_models),
    }
    for name in _CMAKE_FILES:
        files[f"cmake/{name}"] = (resources.cmake_dir() / name).read_bytes()
    for part in library.abis:
        toolchain = part.toolchain or resources.toolchains_dir() / f"{part.abi}.cmake"
        files[f"toolchains/{part.abi}.cmake"] = toolchain.read_bytes()
        if part.toolchain is None:
            included = _INCLUDED.findall(files[f"toolchains/{part.abi}.cmake"].decode())
            files |= {f"toolchains/{name}": (resources.toolchains_dir() / name).read_bytes() for name in included}
    for header in sources.public_headers(*library.interfaces):
        files[_path_in_tree(header)] = sources.read(header)
    if "mace" in library.interfaces:
        files.update(_mace_headers(library))
    if "paddle" in library.interfaces:
        files.update(_paddle_headers(library))
    units: dict[str, tuple[str, ...]] = {}
    for part in library.abis:
        device = tuple(unit.code for unit in part.device_units)
        core = sources.core_of(part.object_format)
        images = part.vision.units(sources) if part.vision else ()
        units[part.abi] = (*core, *sources.units((*part.kernel_files, *device)), *images)
        for path in (path for unit in units[part.abi] for path in sources.closure(unit)):
            files[_path_in_tree(path)] = sources.read(path)
        unit_names = tuple(unit.name for unit in part.device_units)
        device_sources = opencl.sources_of(unit_names, sources) if part.device_units else b""
        files.update(_abi_files(part, units[part.abi], device_sources, common))
    if library.dsp is not None:
        for abi in library.dsp.abis:
            own = _dsp_files(library.dsp, abi, common)
            taken = (*sources.dsp_core(), *sources.units(library.dsp.kernel_files))
            files.update((path, sources.read(path)) for unit in taken for path in sources.closure(unit))
            units[abi] = (*own, *taken)
            files |= {**own, f"abi/{abi}/{DSP_UNITS}": "".join(f"{unit}\n" for unit in units[abi]).encode()}
    return SourceTree(library.name, {name: files[name] for name in sorted(files)}, units)


def _path_in_tree(path: str) -> str:
    """Public headers are in `include`, as in the output of a build; everything else stays where it is."""
    return path.removeprefix("native/") if path.startswith("native/include/") else path


def api_header(name: str, identifier: str, models: Sequence[str] = ()) -> bytes:
    """`include/lathe/<library>.h`."""
    return render(
        "library.h", {"library": name, "identifier": identifier, "guard": identifier.upper(), "models": models}
    )


def _mace_headers(library: LibrarySources) -> dict[str, bytes]:
    """What ties MACE's C++ interface to this library, and what MACE's converter generates for models as code."""
    names = {"library": library.name, "identifier": library.identifier, "models": library.embedded_models}
    files = {
        "bound_library": render("mace_bound_library.h", names),
        f"library_{library.identifier}": render("mace_library.h", names),
        "public/mace_engine_factory": render("mace_engine_factory.h", names),
        "codegen/engine/mace_engine_factory": render("mace_codegen_factory.h", names),
    }
    for model in library.abis[0].models:
        if model.name in _MACE_PUBLIC:
            raise BuildError(
                f"the model '{model.name}' has a header with the same name as one of MACE's interface",
                remedy="rename the model",
            )
        checksum = hashlib.sha256(model.model + model.data).hexdigest()
        own = {"model": model.name, "checksum": checksum, "abi": library.abis[0].abi}
        files[f"public/{model.name}"] = render("mace_model.h", names | own)
    return {f"include/mace/{name}.h": data for name, data in files.items()}


def _paddle_headers(library: LibrarySources) -> dict[str, bytes]:
    """What ties Paddle-Lite's C++ interface to this library."""
    names = {"library": library.name, "identifier": library.identifier}
    return {
        "include/paddle/bound_library.h": render("paddle_bound_library.h", names),
        f"include/paddle/library_{library.identifier}.h": render("paddle_library.h", names),
    }


def _abi_files(
    part: AbiSources, units: Sequence[str], device_sources: bytes, common: dict[str, Any]
) -> dict[str, bytes]:
    folder = f"abi/{part.abi}"
    files: dict[str, bytes] = {}
    models = []
    for number, model in enumerate(part.models):
        block = next(first for first, other in enumerate(part.models) if other.data == model.data)
        entry = {"name": model.name, "model_size": len(model.model), "model_file": f"model{number}.pb"}
        entry |= {"data_size": len(model.data), "data": block, "data_file": f"model{block}.data"}
        models.append(entry)
        files[f"{folder}/model{number}.pb"] = model.model
        if model.data:
            files[f"{folder}/model{block}.data"] = model.data
    if device_sources:
        files[f"{folder}/{_DEVICE_SOURCES}"] = device_sources
    device_files = []
    for name, data in (("tuned", part.device_tuned), ("programs", part.device_programs)):
        device_files.append({"name": name, "size": len(data), "file": f"opencl_{name}.data"})
        if data:
            files[f"{folder}/opencl_{name}.data"] = data
    embedded = sorted(path.removeprefix(f"{folder}/") for path in files)
    context = {**common, "abi": part.abi, "kernels": part.kernels, "models": models, "units": units}
    context["core_binding"] = common["core_binding"] and part.object_format == "elf"
    context |= {"vision": part.vision.context() if part.vision else None}
    context |= {"scaled": part.scaled, "reads_stored": part.reads_stored}
    context |= {"device_units": part.device_units, "device_files": device_files}
    context |= _activations(part, units)
    context |= {"copied_sizes": _copied_sizes(part)}
    context |= {"device_sources_size": len(device_sources), "device_sources_file": _DEVICE_SOURCES}
    weights = "weights.S" if part.object_format == "elf" else f"{part.object_format}/weights.S"
    for name, template in (("registry.cc", "registry.cc"), ("weights.S", weights), ("sources.cmake", "sources.cmake")):
        files[f"{folder}/{name}"] = render(template, {**context, "embedded": embedded})
    return files


def _copied_sizes(part: AbiSources) -> list[int]:
    """The sizes of elements that a library moves, 0 for those it does not; empty for all: native/kernel/loops."""
    if part.copied_sizes is None or part.object_format == "macho":
        return []
    return [size if size in part.copied_sizes else 0 for size in (1, 2, 4, 8)]


def _activations(part: AbiSources, units: Sequence[str]) -> dict[str, Any]:
    """The kinds that a library holds, and the forms of their code: native/kernel/math/activations.h.

    How weak symbols of Mach-O give way was never run, so that libraries of that form hold all kinds.
    """
    if part.activations is None or part.object_format == "macho":
        return {"activation_forms": ()}
    shared = (PurePosixPath(unit).stem.rpartition("__") for unit in units)
    forms = ("float", *(isa for name, _, isa in shared if name == _VECTOR_ACTIVATIONS))
    kept = [kind if kind in part.activations else "" for kind in ACTIVATIONS]
    mask = sum(1 << number for number, kind in enumerate(kept) if kind)
    return {"activation_forms": forms, "activation_kinds": ["", *kept[1:]], "activation_mask": mask}


def dsp_uri(library: str, identifier: str) -> str:
    """What FastRPC opens: the file of a library's program on the DSP, and its entry."""
    return f"file:///{dsp_file(library)}?{identifier}_skel_handle_invoke&_modver=1.0&_dom=cdsp"


def dsp_file(library: str) -> str:
    """The file of a library's program on the DSP."""
    return f"lib{library}_skel.so"


def _dsp_files(dsp: DspSources, abi: str, common: dict[str, Any]) -> dict[str, bytes]:
    """The registry of the program on the DSP, and its entry."""
    return {f"abi/{abi}/program.cc": render("dsp_program.cc", {**common, "kernels": dsp.kernels})}


def render(template: str, context: dict[str, Any]) -> bytes:
    return _templates().get_template(f"{template}.j2").render(context).encode()


@functools.cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("buildtool.codegen"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["c_string"] = c_string
    return environment


def c_string(text: str) -> str:
    """The text as a string literal of C; whatever is not plain ASCII as octal escapes."""
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'
