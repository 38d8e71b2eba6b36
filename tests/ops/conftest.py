"""The files of all cases, for the tests that run kernels on them."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

import pytest

from buildtool.ops.registry import builtin
from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from buildtool.targets.cpu import TARGET
from tests.native_builds import QEMU, RISCV
from tests.ops.case import all_cases, cases_of, operators_with_cases
from tests.ops.hostile_models import write_hostile
from tests.ops.native_cases import write_cases, write_natives
from tests.ops.stored import stored_cases
from tests.shared_folders import filled_once


@pytest.fixture(scope="session")
def manifests() -> Manifests:
    return manifest.load()  # which checks that names, files and manifests agree


@pytest.fixture(scope="session")
def case_folder(tmp_path_factory: pytest.TempPathFactory, manifests: Manifests) -> Path:
    """For the kernels that this machine and emulators of ARM run."""
    isas = {isa for abi in ("host", *QEMU) for isa in TARGET.capabilities.abis[abi].isas}
    return filled_once(tmp_path_factory, "op-cases", partial(_write_all, manifests, isas))


@pytest.fixture(scope="session")
def riscv_case_folder(tmp_path_factory: pytest.TempPathFactory, manifests: Manifests) -> Path:
    isas = set(TARGET.capabilities.abis[RISCV].isas)
    return filled_once(tmp_path_factory, "riscv-op-cases", partial(_write_all, manifests, isas))


def _write_all(manifests: Manifests, isas: Collection[str], folder: Path) -> None:
    written = write_cases(folder, all_cases(), manifests, isas=isas)
    files = dict(written.files)
    for operator in sorted(manifests.kernels):
        natives = write_natives(folder, operator, stored_cases(operator), manifests, isas)
        files.update({kernel: files[kernel] + count for kernel, count in natives.files.items()})
    idle = {kernel for kernel, count in files.items() if count == 0}
    with_regions = {kernel.name for kernel in manifests if builtin()[kernel.op].regions}
    assert idle == with_regions, (
        "every kernel runs cases, but for those of whole models (tests/native/test_control_flow.py)"
    )
    for seed, operator in enumerate(operators_with_cases()):
        kernels = [kernel for kernel in manifests.of(operator) if kernel.isa in isas]
        write_hostile(folder, list(cases_of(operator)), list(stored_cases(operator)), kernels, seed)
