"""A library with device units: what stands behind them comes along, and every byte of it has a name."""

from __future__ import annotations

import pytest

from buildtool import resources
from buildtool.builders import library
from buildtool.builders.objects import ObjectCache
from buildtool.codegen import opencl
from buildtool.codegen.library import AbiSources, LibrarySources, emit
from buildtool.codegen.native_sources import NativeSources
from buildtool.plan import manifest, units
from buildtool.targets.protocol import LibrarySource, TargetProgram

KNOWN = units.load()
UNITS = (*KNOWN.of("leaky_relu"), *KNOWN.of("reshape"))
TEXTS = "opencl: sources of all units"


@pytest.mark.slow
def test_sizes_name_units_and_texts(cache: ObjectCache) -> None:
    kernels = tuple(kernel for kernel in manifest.load().of("device_region") if kernel.isa != "hexagon")
    part = AbiSources(
        "host", tuple(kernel.name for kernel in kernels), tuple(kernel.source for kernel in kernels), device_units=UNITS
    )
    tree = emit(LibrarySources("dev", "dev", (part,)), NativeSources((resources.root(),)))
    program = TargetProgram("opencl", "host", LibrarySource("dev", "dev", ()), (), kernels)
    built = library.build(program, tree, cache=cache, owner="device units")
    assert built is not None

    found = {part.name: part for part in built.sizes.parts if part.group == "opencl"}
    assert {unit.code.removeprefix("native/") for unit in UNITS} <= set(found)
    assert {name for name in found if "/ops/" in name} == {"opencl/ops/reshape.cc"}
    assert {"opencl/region.cc", "opencl/programs.cc", "opencl/sources.cc"} <= set(found)
    assert found[TEXTS].bytes == len(tree.files["abi/host/opencl.data"]) == found[TEXTS].constants
    assert built.sizes.as_json()["opencl"] == sum(part.bytes for part in found.values())
    assert set(built.sizes.kernels) == {kernel.name for kernel in kernels}
    assert built.sizes.group("registry") < 3000

    assert built.info.kernels == part.kernels
    common, *texts = opencl.unpack(tree.files["abi/host/opencl.data"], 1 + len(UNITS))
    assert common
    assert all(text.encode() not in built.shared.read_bytes() for text in (common, *texts))
