"""Kernels of quantised numbers on shapes that hypothesis draws: all of them give the same bytes, on all machines.

`make test` has a few of every family of cases, `make test-all` 200.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

import pytest

from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from tests.native_builds import QEMU, cases_program, run_cases
from tests.ops.drawn.stored import drawn_stored, stored_families
from tests.ops.drawn.stored_files import outcomes, write_stored
from tests.ops.native_cases import fits
from tests.ops.stored_case import stored_case
from tests.shared_folders import filled_once

FEW = 15
MANY = 200
_REPORT = "report.xml"


def _report(abi: str, cases: Path, folder: Path) -> None:
    """What every kernel makes of the cases, each of which is within its tolerance of the reference."""
    run_cases(cases_program(abi, "" if abi in QEMU else "asan"), cases, abi, report=folder / _REPORT)


def _agree(factory: pytest.TempPathFactory, cases: Path, *abis: str) -> None:
    """All kernels of all ABIs give the same bits."""
    models: dict[str, dict[str, str]] = {}
    for abi in abis:
        folder = filled_once(factory, f"{cases.name}-{abi}", partial(_report, abi, cases))
        for model, digests in outcomes(folder / _REPORT).items():
            models.setdefault(model, {}).update({f"{abi}: {kernel}": digest for kernel, digest in digests.items()})
    assert models
    differing = {model: digests for model, digests in models.items() if len(set(digests.values())) > 1}
    assert not differing


def _write(folder: Path, names: Collection[str], count: int) -> None:
    items = [item for family in names for item in drawn_stored(family, count)]
    assert len(items) == count * len(names)
    write_stored(folder, items, manifest.load())


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_once(tmp_path_factory, "few-stored", partial(_write, names=stored_families(), count=FEW))


@pytest.mark.slow
def test_a_few_on_host_under_sanitizers(few: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _agree(tmp_path_factory, few, "host")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_a_few_on_arm(abi: str, few: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _agree(tmp_path_factory, few, "host", abi)


@pytest.fixture(scope="module")
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    family: str = request.param
    return filled_once(tmp_path_factory, f"many-stored-{family}", partial(_write, names=[family], count=MANY))


@pytest.mark.sweep
@pytest.mark.parametrize("many", list(stored_families()), indirect=True)
def test_many_on_host_under_sanitizers(many: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _agree(tmp_path_factory, many, "host")


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("many", list(stored_families()), indirect=True)
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_many_on_arm(abi: str, many: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _agree(tmp_path_factory, many, "host", abi)


@pytest.mark.sweep
def test_every_kernel_of_bytes_is_drawn_for() -> None:
    """Those with a way of storing of their own; what moves numbers does the same with all of them."""
    kernels: Manifests = manifest.load()
    runs = {kernel.name: 0 for kernel in kernels if kernel.quantised == "any"}
    for family in stored_families():
        for item in drawn_stored(family, MANY):
            graph = stored_case(item.name, item.op, item.operands, *item.results).graph
            for kernel in kernels.of(item.op.name):
                if kernel.name in runs:
                    runs[kernel.name] += fits(graph, kernel)
    assert not {kernel: count for kernel, count in runs.items() if count == 0}
