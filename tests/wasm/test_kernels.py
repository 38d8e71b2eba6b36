"""Kernels in WebAssembly, executed in Node, against the NumPy references."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.plan import manifest
from buildtool.targets.cpu import TARGET
from tests.wasm import all_kernels

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


@pytest.mark.sweep
@pytest.mark.parametrize("abi", ["wasm32", "wasm32-simd", "wasm32-relaxed-simd-threads"])
def test_all_kernels(abi: str, tmp_path: Path) -> None:
    with_regions = {"if_else", "loop", "device_region"}
    operators = tuple(op for op in manifest.load().kernels if op not in with_regions)
    assert _judge(abi, operators, tmp_path, TARGET.capabilities.abis[abi].isas) > 5000
