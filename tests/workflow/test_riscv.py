"""RISC-V: small networks in floats and bytes, whose results do not depend on how long the vectors are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.drafts import deployment
from tests.native_builds import riscv_emulator
from tests.zoo.networks import NETWORKS, cached
from tests.zoo.quantised import quantised

pytestmark = [pytest.mark.slow, pytest.mark.arm]

ABI = "riscv64-linux-gnu"
CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"
LENGTHS = (128, 256, 512)


def cpu(vlen: int) -> str:
    return riscv_emulator(vlen)[-1]


def outputs(file: Path, options: buildtool.Options, folder: Path, vlen: int) -> dict[str, bytes]:
    """What all models of a library give for the same numbers."""
    settings = buildtool.RunSettings(cpu=cpu(vlen), output_folder=folder, kinds=("shared",))
    buildtool.run(file, options=options, settings=settings)
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def built(folder: Path, models: list[Path], name: str) -> tuple[Path, buildtool.Options, set[str]]:
    file, options = folder / f"{name}.yml", buildtool.Options(folder / "build")
    text = deployment.write(models, relative_to=folder, library_name=name, target_abis=[ABI], data_type="fp32_fp32")
    file.write_text(text)
    report = buildtool.build(file, options=options)
    return file, options, {kernel for model in report.models for kernel in model.plans[0]["kernels"]}


def check(
    folder: Path, models: list[Path], name: str, wanted: set[str], threshold: float, *, exact: bool = False
) -> None:
    """`exact`: nothing is computed in floats, so that kernels without vectors give the same bytes."""
    file, options, kernels = built(folder, models, name)
    assert wanted <= kernels
    for vlen in (0, *LENGTHS):
        settings = buildtool.RunSettings(cpu=cpu(vlen), kinds=("shared",))
        report = buildtool.validate(file, options=options, settings=settings)
        assert [result for result in report.results if result["cosine"] < threshold] == []
    found = {vlen: outputs(file, options, folder / f"out-{vlen}", vlen) for vlen in LENGTHS}
    assert found[128]
    assert found[128] == found[256] == found[512]
    scalar = outputs(file, options, folder / "out-0", 0)
    assert scalar.keys() == found[128].keys()
    if exact:
        assert scalar == found[128]
        return
    assert scalar != found[128], "sums are fused, or nothing ran on vectors"
    for path in (folder / "out-0").rglob("*.npy"):
        other = np.load(folder / "out-128" / path.relative_to(folder / "out-0"))
        np.testing.assert_allclose(np.load(path), other, rtol=1e-3, atol=1e-4 * float(np.abs(other).max()))


def test_floats_are_equal_for_every_length(tmp_path: Path) -> None:
    models = [cached(name, CACHE, 64, 0.25) for name in ("mobilenet_v1", "squeezenet_v11")]
    wanted = {"conv2d_f32_gemm__rvv", "dwconv2d_f32_3x3__rvv", "max_pool2d_f32_direct__rvv"}
    check(tmp_path, models, "floats", wanted, 0.9999)


def test_bytes_are_equal_for_every_length_and_without_vectors(tmp_path: Path) -> None:
    models = [quantised("mobilenet_v1", CACHE, 64, 0.25)]
    check(tmp_path, models, "bytes", {"conv2d_s8_gemm__rvv", "dwconv2d_s8_pairs__rvv"}, 0.99, exact=True)


@pytest.mark.sweep
@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_whole_networks(network: str, tmp_path: Path) -> None:
    check(tmp_path, [cached(network, CACHE)], "floats", {"conv2d_f32_gemm__rvv"}, 0.9999)
    check(tmp_path, [quantised(network, CACHE)], "bytes", {"conv2d_s8_gemm__rvv"}, 0.99)
