"""What the objects of kernels offer to the linker.

Of symbols that many objects define with weak or vague linkage the linker takes one for all. Were it from an object for
a better instruction set, machines without that set would fail in kernels that never asked for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.codegen import kernel_units
from buildtool.targets.cpu import TARGET
from tests.native_builds import command
from tests.ops.isa_flags import intrinsics, isa_flags

_COMPILERS = {
    "host": ["c++"],
    "aarch64-linux-gnu": ["aarch64-linux-gnu-g++"],
    "arm-linux-gnueabihf": ["arm-linux-gnueabihf-g++", "-march=armv7-a", "-mfpu=neon-vfpv4"],
}
# Without optimisation, so that nothing is inlined by luck.
_FLAGS = ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti"]
_SHARED = set("WVuwv")  # the letters of nm


def _flags(compiler: list[str], isa: str) -> list[str]:
    root = resources.root()
    return [*compiler, *_FLAGS, "-nostdinc++", f"-I{root}", f"-I{root / 'native' / 'include'}", *isa_flags(isa)]


def _shared_symbols(compile_: Sequence[str | Path], source: Path, folder: Path) -> list[str]:
    compiled = folder / f"{source.stem}.o"
    command([*compile_, "-c", source, "-o", compiled])
    listed = command(["nm", "--defined-only", "--demangle", compiled]).splitlines()
    return [line.split(maxsplit=2)[2] for line in listed if line.split(maxsplit=2)[1] in _SHARED]


@pytest.mark.slow
@pytest.mark.parametrize(
    "abi", [pytest.param(abi, marks=[pytest.mark.arm] if abi != "host" else []) for abi in sorted(_COMPILERS)]
)
def test_kernels_share_no_code(abi: str, tmp_path: Path) -> None:
    compiler = _COMPILERS[abi]
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    shared = {}
    isas = TARGET.capabilities.abis[abi].isas
    kernel_units.main(tmp_path, isas)
    units = sorted((tmp_path / "native" / "units").rglob("*.cc"))
    for isa in set(isas) - {"portable"}:
        flags = _flags(compiler, isa)
        options = [*flags, *intrinsics(flags, isa, tmp_path)]
        for source in [unit for unit in units if unit.stem.endswith(f"__{isa}")]:
            # A table that names the instruction set is in no object for another one.
            symbols = _shared_symbols(options, source, tmp_path)
            if found := [symbol for symbol in symbols if symbol != f"lathe_activations__{isa}"]:
                shared[source.stem] = found
    assert not shared


def test_the_check_finds_what_it_looks_for(tmp_path: Path) -> None:
    source = tmp_path / "vague.cc"
    source.write_text("struct A { int f() { return 1; } };\nint g() { return A().f(); }\n", encoding="utf-8")
    assert _shared_symbols(_flags(["c++"], "portable"), source, tmp_path) == ["A::f()"]
