"""Kernels in WebAssembly, executed in Node, against the NumPy references."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.plan import manifest
from buildtool.targets.cpu import TARGET
from tests.ops.drawn.stored import drawn_stored
from tests.ops.drawn.stored_files import model_of, write_stored
from tests.wasm import all_kernels

DRAWN = {"few": 15, "many": 200}
FEW = ("conv2d", "dwconv2d", "fully_connected", "pointwise_dwconv2d", "requantize", "separable_conv2d")
VECTORS = sorted({kernel.op for kernel in manifest.load() if kernel.isa == "simd128"})


def _judge(abi: str, operators: tuple[str, ...], folder: Path, isas: tuple[str, ...]) -> int:
    kernels = all_kernels.kernels_of(abi, isas, operators)
    written = all_kernels.write(folder, kernels, operators)
    result = all_kernels.run(all_kernels.build(abi, kernels, folder), folder, isas)
    assert result["failures"] == {}
    assert 0 < result["passed"] <= written
    return int(result["passed"])


@pytest.mark.slow
def test_kernels_with_vectors(tmp_path: Path) -> None:
    assert set(FEW) < set(VECTORS)
    assert _judge("wasm32-simd", FEW, tmp_path, ("simd128",)) > 300


@pytest.mark.parametrize(
    "count", [pytest.param("few", marks=pytest.mark.slow), pytest.param("many", marks=pytest.mark.sweep)]
)
def test_convolutions_of_bytes_agree(count: str, tmp_path: Path) -> None:
    """All kernels give the same bits."""
    kernels = all_kernels.kernels_of("wasm32-simd", ("simd128", "portable"), ("conv2d",))
    items = drawn_stored("conv2d_winograd", DRAWN[count])
    write_stored(tmp_path, items, kernels)
    module = all_kernels.build("wasm32-simd", kernels, tmp_path)
    result = all_kernels.run(module, tmp_path, ("simd128", "portable"))
    assert result["failures"] == {}
    found: dict[str, dict[str, str]] = {}
    for stem, ran in result["digests"].items():
        found.setdefault(model_of(stem, ran["kernel"]), {})[stem] = ran["digest"]
    assert sum("winograd2__simd128" in stem for stem in result["digests"]) >= len(items)
    assert not {model: digests for model, digests in found.items() if len(set(digests.values())) > 1}


@pytest.mark.sweep
@pytest.mark.parametrize("abi", ["wasm32", "wasm32-simd", "wasm32-relaxed-simd-threads"])
def test_all_kernels(abi: str, tmp_path: Path) -> None:
    with_regions = {"if_else", "loop", "device_region"}
    operators = tuple(op for op in manifest.load().kernels if op not in with_regions)
    assert _judge(abi, operators, tmp_path, TARGET.capabilities.abis[abi].isas) > 5000
