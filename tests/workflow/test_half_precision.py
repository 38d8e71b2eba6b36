"""data_type fp16_fp16: results about those of the source framework, and a clear word where a machine cannot do it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.errors import LatheError
from tests.zoo.networks import cached

CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"


def _deployment(folder: Path, abi: str, *networks: str) -> Path:
    models = [cached(name, CACHE, 64, 0.25) for name in networks]
    file = folder / "halves.yml"
    file.write_text(deployment.write(models, relative_to=folder, target_abis=[abi], data_type="fp16_fp16"))
    return file


def _check(file: Path, folder: Path) -> buildtool.BuildReport:
    options = buildtool.Options(folder)
    built = buildtool.build(file, options=options)
    report = buildtool.validate(file, options=options, settings=buildtool.RunSettings(kinds=("shared",)))
    assert report.reference == "onnxruntime"
    assert [result for result in report.results if not result["passed"] or result["threshold"] != 0.999] == []
    assert all(result["max_abs"] > 0 for result in report.results), "half precision rounds"
    return built


@pytest.mark.slow
def test_portable_kernels_stand_in_on_the_host(tmp_path: Path) -> None:
    built = _check(_deployment(tmp_path, "host", "shufflenet_v2"), tmp_path / "build")
    (model,) = built.models
    assert model.operators["cast"] == 2, "one at each border"
    assert all("_f32_" not in kernel for kernel in model.plans[0]["kernels"])


@pytest.mark.slow
@pytest.mark.arm
def test_on_arm(tmp_path: Path) -> None:
    file = _deployment(tmp_path, "aarch64-linux-gnu", "mobilenet_v2", "squeezenet_v11")
    built = _check(file, tmp_path / "build")
    for model in built.models:
        kernels = model.plans[0]["kernels"]
        assert {"conv2d_f16_gemm__fp16"} <= kernels.keys()
        assert not [name for name in kernels if name.startswith("conv2d_f32")]
    written = json.loads((built.folder / "report" / "build.json").read_text())
    for model in written["models"]:
        kept = model["plans"][0].get("single_precision", [])
        assert all(node.keys() == {"node", "op", "reason"} for node in kept)
    settings = buildtool.RunSettings(cpu="cortex-a53")
    with pytest.raises(LatheError, match="lacks the instruction set 'fp16'"):
        buildtool.run(file, options=buildtool.Options(tmp_path / "build"), settings=settings)
