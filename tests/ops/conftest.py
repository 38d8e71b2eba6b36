"""The files of all cases, for the tests that run kernels on them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from buildtool.ops.registry import builtin
from buildtool.plan import manifest
from buildtool.plan.manifest import Manifests
from tests.ops.case import all_cases, cases_of, operators_with_cases
from tests.ops.hostile_models import HOSTILE_PER_OPERATOR, hostile_file, refused_file
from tests.ops.native_cases import write_cases, write_natives
from tests.ops.stored import stored_cases
from tests.shared_folders import filled_once


@pytest.fixture(scope="session")
def manifests() -> Manifests:
    return manifest.load()  # which checks that names, files and manifests agree


@pytest.fixture(scope="session")
def case_folder(tmp_path_factory: pytest.TempPathFactory, manifests: Manifests) -> Path:
    return filled_once(tmp_path_factory, "op-cases", partial(_write_all, manifests))


def _write_all(manifests: Manifests, folder: Path) -> None:
    written = write_cases(folder, all_cases(), manifests)
    files = dict(written.files)
    for operator in sorted(manifests.kernels):
        natives = write_natives(folder, operator, stored_cases(operator), manifests)
        files.update({kernel: files[kernel] + count for kernel, count in natives.files.items()})
    idle = {kernel for kernel, count in files.items() if count == 0}
    with_regions = {kernel.name for kernel in manifests if builtin()[kernel.op].regions}
    assert idle == with_regions, (
        "every kernel runs cases, but for those of whole models (tests/native/test_control_flow.py)"
    )
    for seed, operator in enumerate(operators_with_cases()):
        data = hostile_file([*cases_of(operator), *stored_cases(operator)], HOSTILE_PER_OPERATOR, seed)
        (folder / f"{operator}.hostile").write_bytes(data)
        (folder / f"{operator}.refused").write_bytes(refused_file(list(cases_of(operator))))
