"""Five well-known networks go all the way: import, optimise, build, run, validate."""

from __future__ import annotations

from pathlib import Path

import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.reports.table import Table
from buildtool.settings import EVERYTHING
from tests.zoo.networks import NETWORKS, cached

CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"


def write_deployment(folder: Path, size: int, width: float, abis: list[str]) -> Path:
    """One library with all five networks."""
    models = [cached(name, CACHE, size, width) for name in NETWORKS]
    text = deployment.write(models, relative_to=folder, library_name="zoo", target_abis=abis, data_type="fp32_fp32")
    file = folder / "zoo.yml"
    file.write_text(text)
    return file


def check(file: Path, options: buildtool.Options, settings: buildtool.RunSettings = EVERYTHING) -> None:
    """Build and validate; tells node counts before and after optimisation, and what came out."""
    built = buildtool.build(file, options=options)
    table = Table(["network", "nodes before", "after", "MMACs", "weights", "arena"])
    for model in built.models:
        plan = model.plans[0]
        table.add(
            model.name, model.source_nodes, model.nodes, f"{model.macs / 1e6:.0f}", model.data_bytes, plan["arena_size"]
        )
        assert model.nodes < model.source_nodes
        assert not {"batch_norm", "relu", "identity"} & model.operators.keys(), "all of these are folded or fused"
        shuffles = 16 if model.name.startswith("shufflenet") else 0
        assert model.operators.get("transpose", 0) <= shuffles + 1, "one for the input, which is NCHW"
    print(table.plain())  # noqa: T201 (shown with -s, and kept in the test report)
    report = buildtool.validate(file, options=options, settings=settings)
    assert report.reference == "onnxruntime"
    failed = [result for result in report.results if not result["passed"] or result["cosine"] < 0.9999]
    assert failed == []


def test_small_relatives_on_the_host(tmp_path: Path) -> None:
    check(write_deployment(tmp_path, 64, 0.25, ["host"]), buildtool.Options(tmp_path / "build"))


@pytest.mark.slow
@pytest.mark.arm
def test_small_relatives_on_arm(tmp_path: Path) -> None:
    abis = ["aarch64-linux-gnu", "arm-linux-gnueabihf"]
    check(write_deployment(tmp_path, 64, 0.25, abis), buildtool.Options(tmp_path / "build"))


@pytest.mark.slow
@pytest.mark.arm
def test_full_networks_on_host_and_aarch64(tmp_path: Path) -> None:
    file = write_deployment(tmp_path, 224, 1.0, ["host", "aarch64-linux-gnu"])
    # The static form differs by the linker only, and the small relatives have it.
    check(file, buildtool.Options(tmp_path / "build"), buildtool.RunSettings(kinds=("shared",)))
