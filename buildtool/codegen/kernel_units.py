"""What is compiled of a kernel for one element type and instruction set: a unit that includes its source.

A unit `native/units/<op>/<kernel>.cc` says by macros what it is for, and gives the kernel the name and the facts of
its manifest. Units `native/units/<name>__<isa>.cc` come from native/kernel/units.yaml: what kernels of one instruction
set share. The instruction set ends every name, so that cmake/LatheIsa.cmake finds the compiler flags.

    python -m buildtool.codegen.kernel_units FOLDER ISA...

writes the units of Lathe's own kernels for native/CMakeLists.txt, and `units.cmake`, which lists them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from buildtool import resources
from buildtool.errors import InternalError
from buildtool.plan import manifest
from buildtool.plan.manifest import UNITS, KernelInfo
from buildtool.plan.packing import PACKINGS

_SHARED = "native/kernel/units.yaml"


def unit(path: str, roots: Sequence[Path]) -> bytes | None:
    """The text of a unit by its path; None for what is none, or where no manifest of these folders has it."""
    name = PurePosixPath(path)
    if name.parent == PurePosixPath(UNITS):
        return next((shared for root in roots if (shared := _shared(root, name.stem)) is not None), None)
    if name.parent.parent != PurePosixPath(UNITS):
        return None
    found = (kernel for root in roots for kernel in manifest.of_operator(root, name.parent.name))
    return next((text(kernel) for kernel in found if kernel.source == path), None)


def text(kernel: KernelInfo) -> bytes:
    """The unit of a kernel."""
    defines = [
        f"LATHE_TYPE_{kernel.dtype.upper()}",
        f"LATHE_VARIANT_{kernel.variant.upper()}",
        *(f"LATHE_{name.upper()} {value}" for name, value in kernel.parameters),
        *([f"LATHE_STORED LATHE_STORED_{kernel.reads_stored.value.upper()}"] if kernel.reads_stored else []),
    ]
    in_place = -1 if kernel.in_place is None else kernel.in_place
    packable = sum(1 << PACKINGS[word].code for word in {kernel.pack, *kernel.takes} - {""})
    quantised = f"k{(kernel.quantised or 'no').title()}"
    facts = f"{kernel.name}, {kernel.op}, {in_place}, {packable}, {quantised}, lathe_kernel"
    origin = f"native/ops/{kernel.op}/op.yaml"
    return (
        _unit(origin, kernel.isa, kernel.widen_halves, defines, kernel.code)
        + f"\nLATHE_DEFINE_KERNEL({facts});\n".encode()
    )


def shared_units(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """What units.yaml has compiled once per instruction set: by name, the folder, the words, the vectors."""
    return _shared_units(root / _SHARED)


@functools.cache
def _shared_units(file: Path) -> Mapping[str, Mapping[str, Any]]:
    entries = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {path.rpartition("/")[2]: {"folder": path.rpartition("/")[0], **entry} for path, entry in entries.items()}


def _shared(root: Path, stem: str) -> bytes | None:
    name, _, isa = stem.rpartition("__")
    entry = shared_units(root).get(name)
    if entry is None or isa not in entry["isas"]:
        return None
    base = f"native/kernel/{entry['folder']}/{name}"
    own = f"{base}__{isa}.cc"
    source = own if (root / own).is_file() else f"{base}_unit.h"
    return _unit(_SHARED, isa, entry.get("widen_halves", False), [], source)


def _unit(origin: str, isa: str, widen_halves: bool, defines: Iterable[str], included: str) -> bytes:
    macros = [f"LATHE_ISA {isa}", f"LATHE_ISA_{isa.upper()}", *defines]
    if widen_halves and isa == "fp16":
        macros.append("LATHE_WIDEN_HALVES")
    lines = [f"// Generated from {origin}.", *(f"#define {macro}" for macro in macros), f'#include "{included}"']
    return ("\n".join(lines) + "\n").encode()


def all_units(isas: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Every unit of Lathe's own for these instruction sets: kernels in the order of the registry, then the rest."""
    kernels = [kernel for kernel in manifest.load() if kernel.isa in isas]
    for kernel in sorted(kernels, key=lambda kernel: manifest.registry_order(kernel, isas)):
        yield kernel.source, text(kernel)
    for name, entry in shared_units(resources.root()).items():
        for isa in (isa for isa in isas if isa in entry["isas"]):
            path = f"{UNITS}/{name}__{isa}.cc"
            contents = unit(path, [resources.root()])
            if contents is None:
                raise InternalError(f"no unit {path}")
            yield path, contents


def main(folder: Path, isas: Sequence[str]) -> None:
    """Write all units below `folder`, those that changed, and `units.cmake`."""
    units = dict(all_units(isas))
    listed = "\n".join(f"  ${{CMAKE_CURRENT_LIST_DIR}}/{path}" for path in units)
    kernels = "\n".join(f"  {PurePosixPath(path).stem}" for path in units if PurePosixPath(path).parent.name != "units")
    listing = f"set(\n  LATHE_KERNEL_UNITS\n{listed}\n)\nset(\n  LATHE_KERNEL_NAMES\n{kernels}\n)\n"
    for path, contents in {**units, "units.cmake": listing.encode()}.items():
        file = folder / path
        if not file.is_file() or file.read_bytes() != contents:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
