"""Fractions of the machine's limit: the arithmetic, and the page."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from buildtool.plan import manifest
from tests.bench import limits


def _node(kernel: str, macs: int, size: int, milliseconds: float) -> dict[str, Any]:
    return {"kernel": kernel, "macs": macs, "bytes": size, "computes_in": "f32", "min_ms": milliseconds}


# 10 GMAC/s, 100 GB/s in the cache and 20 GB/s outside of it.
PEAK: dict[str, Any] = {
    "gmacs": {"f32": 10.0},
    "reading": [{"bytes": 1_000_000, "gb_s": 100.0}, {"bytes": 100_000_000, "gb_s": 20.0}],
    "source": "measured",
}
ROW: dict[str, Any] = {
    "peak": PEAK,
    "nodes": [
        _node("conv2d_f32_gemm__avx2", 10_000_000, 500_000, 2.0),  # could take 1 ms: computing
        _node("conv2d_f32_gemm__avx2", 10_000_000, 500_000, 1.0),
        _node("add_f32_broadcast__avx2", 0, 20_000_000, 4.0),  # could take 1 ms: memory
    ],
}


def test_the_limit_of_a_network_is_the_sum_over_its_nodes() -> None:
    found = limits.of_network("resnet18", ROW)
    assert (found["class"], found["macs"]) == ("five CNNs", 20_000_000)
    assert (found["ms"], found["limit_ms"], found["computing_ms"]) == pytest.approx((7.0, 3.0, 2.0))
    assert found["share"] == pytest.approx(3 / 7)
    assert found["kernels"]["conv2d_f32_gemm__avx2"] == pytest.approx(
        {"nodes": 2, "ms": 3.0, "limit_ms": 2.0, "computing_ms": 2.0}
    )


def test_the_largest_losses_come_first() -> None:
    rows = [limits.of_network("resnet18", ROW), limits.of_network("squeezenet_v11", {**ROW, "nodes": ROW["nodes"][:2]})]
    first, second = limits.losses(rows)
    assert (first["kernel"], second["kernel"]) == ("conv2d_f32_gemm__avx2", "add_f32_broadcast__avx2")
    assert first["lost"] == pytest.approx((1 / 7 + 1 / 3) / 2)
    assert first["most"] == (pytest.approx(1 / 3), "squeezenet_v11")
    assert [loss["kernel"] for loss in limits.losses(rows, most=1)] == ["conv2d_f32_gemm__avx2"]


def test_a_page_names_networks_losses_and_reasons() -> None:
    machine = {"cpu": "a processor", "cores": 2, "system": "Linux"}
    rows = [limits.of_network("resnet18", ROW)]
    result = {"machine": machine, "load": 0.5, "runs": 8, "threads": 1, "results": rows}
    text = limits.page(result, {"conv2d": "general", "conv2d_f32_gemm": "specific"})
    assert "| resnet18 | 20.0 | 3.000 | 7.000 | 0.43 |" in text
    assert "| `conv2d_f32_gemm__avx2` | 14.3% | 0.67 | resnet18 (14%) | specific |" in text


def test_reasons_belong_to_kernels() -> None:
    names = [kernel.name for kernel in manifest.load()]
    for start, reason in yaml.safe_load(limits.REASONS.read_text()).items():
        assert any(name.startswith(start) for name in names), start
        assert reason.strip()
