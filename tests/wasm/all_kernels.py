"""Modules with kernels whatever models need, and the cases that they run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Any

from buildtool.builders import library
from buildtool.builders.objects import ObjectCache
from buildtool.builders.wasm import shared_pages
from buildtool.codegen import wasm
from buildtool.devices import node
from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, TargetProgram
from tests.ops.case import all_cases
from tests.ops.native_cases import write_cases, write_natives
from tests.ops.stored import stored_cases

_RUN = Path(__file__).with_name("kernel_cases.mjs")
#: What is around a kernel whose rows lie apart.
_BESIDE = ("slice", "concat")


def kernels_of(abi: str, isas: Collection[str], operators: Collection[str] = ()) -> Manifests:
    """Those of some instruction sets, and of some operators; and what stands beside them in cases."""
    known = manifest.load()
    found = {}
    for op in known.kernels:
        wanted = [kernel for kernel in known.of(op) if kernel.isa in isas and (not operators or op in operators)]
        beside = [kernel for kernel in known.of(op) if kernel.isa == "portable"] if op in _BESIDE else []
        found[op] = tuple(wanted or beside)
    return Manifests(found)


def build(abi: str, kernels: Manifests, folder: Path) -> Path:
    """The ES module of a library with these kernels."""
    isas = TARGET.capabilities.abis[abi].isas
    order = tuple(sorted(kernels, key=lambda kernel: manifest.registry_order(kernel, isas)))
    source = LibrarySource("all_kernels", "all_kernels", ())
    program = TargetProgram("cpu", abi, source, (), order, object_format="wasm")
    built = library.build(program, TARGET.emit([program]), cache=ObjectCache(), owner=str(folder))
    assert built is not None
    pages = shared_pages(built.shared)
    own = wasm.WasmLibrary("all_kernels", "all_kernels", "all_kernels", abi, {}, pages=pages)
    for name, data in (*wasm.module_files(own).items(), ("all_kernels.wasm", built.shared.read_bytes())):
        (folder / name).write_bytes(data)
    return folder / "all_kernels.mjs"


def write(folder: Path, kernels: Manifests, operators: Collection[str]) -> int:
    """The files of all cases of these operators; how many there are."""
    write_cases(folder, [case for case in all_cases() if case.op.name in operators], kernels)
    for operator in sorted(operators):
        write_natives(folder, operator, stored_cases(operator), kernels)
    return len(list(folder.glob("*.case")))


def run(module: Path, folder: Path, isas: Collection[str]) -> dict[str, Any]:
    """What passed, and what failed and how."""
    launcher = node.launcher("wasm32-relaxed-simd")
    done = subprocess.run([*launcher, _RUN, module, folder, *isas], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
