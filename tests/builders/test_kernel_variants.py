"""A kernel for another instruction set is one word in its manifest: name, registration and flags follow from it."""

from __future__ import annotations

import shutil
from pathlib import Path

from buildtool import resources
from buildtool.builders import elf, library
from buildtool.builders.objects import ObjectCache
from buildtool.codegen.library import AbiSources, LibrarySources, emit
from buildtool.codegen.native_sources import NativeSources
from buildtool.plan import manifest
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, TargetProgram


def test_another_instruction_set_is_one_word_in_the_manifest(cache: ObjectCache, tmp_path: Path) -> None:
    isa = TARGET.capabilities.abis["host"].isas[0]
    file = tmp_path / "native" / "ops" / "hardmax" / "op.yaml"
    shutil.copytree(resources.root() / "native" / "ops" / "hardmax", file.parent)
    before = {kernel.name for kernel in manifest.of_operator(tmp_path, "hardmax")}
    file.write_text(file.read_text().replace("isas: [portable]", f"isas: [{isa}, portable]", 1))
    after = manifest.of_operator(tmp_path, "hardmax")
    assert {kernel.name for kernel in after} - before == {f"hardmax_f32_line__{isa}"}

    kernels = tuple(kernel for kernel in after if kernel.variant == "line")
    names = tuple(kernel.name for kernel in kernels)
    part = AbiSources("host", names, tuple(kernel.source for kernel in kernels))
    tree = emit(LibrarySources("variant", "variant", (part,)), NativeSources((resources.root(), tmp_path)))
    program = TargetProgram("cpu", "host", LibrarySource("variant", "variant", ()), (), kernels)
    built = library.build(program, tree, cache=cache, owner="a kernel for another instruction set")
    assert built is not None
    assert set(built.info.kernels) == set(names)
    assert {f"lathe_kernel_{name}" for name in names} <= set(elf.defined_symbols(built.unstripped))
