"""Engines with a part for a device, under sanitizers: allocations that fail, models that no importer would write."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.native_builds import ROOT, build, command, opencl_shim
from tests.ops.case import cases_of
from tests.ops.hostile_models import hostile_file
from tests.ops.native_cases import blob
from tests.targets.opencl.device_library import MODES, Mode, library_tree, on_device
from tests.targets.opencl.network import small_network

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

# One or two of each kind: the others share their code.
_OPERATORS = (
    *("add", "argmax", "avg_pool2d", "clip", "concat", "conv2d", "deconv2d", "depth_to_space", "dwconv2d"),
    *(
        "fully_connected",
        "gather",
        "group_norm",
        "leaky_relu",
        "lrn",
        "matmul",
        "neg",
        "one_hot",
        "pad",
        "reduce_sum",
        "reshape",
    ),
    *("resize2d", "slice", "softmax", "space_to_depth", "split", "transpose"),
)
_MODELS = 100  # of each operator
_LIMITS = "alloc_limit:4194304,image_limit:2048x2048"


@pytest.fixture(scope="module")
def program() -> Path:
    """The program, with the units of these operators."""
    files = library_tree(_OPERATORS).files
    folder = ROOT / "build" / "native" / "device_library"
    folder.mkdir(parents=True, exist_ok=True)
    numbers = ",".join(map(str, files["abi/host/opencl.data"]))
    texts = f'extern "C" const unsigned char lathe_opencl_sources[] = {{{numbers}}};\n'
    for name, contents in (
        ("texts.cc", 'extern "C" const unsigned char lathe_opencl_sources[];\n' + texts),
        ("registry.cc", files["abi/host/registry.cc"].decode()),
        ("sources.cmake", files["abi/host/sources.cmake"].decode()),
        *((name, contents.decode()) for name, contents in files.items() if name.startswith("native/units/")),
    ):
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != contents:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(contents, encoding="utf-8")
    binary = build("opencl_engine_test", variant="asan", options=[f"-DLATHE_DEVICE_LIBRARY={folder}"])
    return binary / "tests" / "opencl_engine_test"


def _run(program: Path, test: str, cases: Path, **environment: str) -> str:
    """Drivers keep memory until the end, so that leaks are not looked for; the test counts its own."""
    fixed = {"LATHE_CASES": str(cases), "ASAN_OPTIONS": "detect_leaks=0", "LATHE_OPENCL_LIBRARY": str(opencl_shim())}
    return command([program, f"--gtest_filter=*.{test}"], **fixed, **environment)


def test_every_allocation_may_fail(program: Path, program_store: Path, tmp_path: Path) -> None:
    model = small_network(Mode("image", "f16")).model
    one = b"LATHEHOST" + (1).to_bytes(4, "little") + blob(model.model) + blob(model.data)
    (tmp_path / "small").write_bytes(one)
    assert "PASSED" in _run(program, "EveryAllocationMayFail", tmp_path, LATHE_STORE=str(program_store), LATHE_SHIM="")


def _write(folder: Path, operators: Sequence[str], count: int, seed: int) -> None:
    for index, operator in enumerate(operators):
        around = functools.partial(on_device, mode=MODES[(seed + index) % len(MODES)])
        data = hostile_file(list(cases_of(operator)), count, seed + index, around)
        (folder / f"{operator}.hostile").write_bytes(data)


def test_models_are_planned_or_refused(program: Path, tmp_path: Path) -> None:
    """With a driver that builds nothing, which is quick."""
    _write(tmp_path, _OPERATORS, _MODELS, 0)
    (tmp_path / "texts").mkdir()
    wishes = f"{_LIMITS},texts:{tmp_path / 'texts'}"
    assert "PASSED" in _run(program, "HostileModelsGiveACode", tmp_path, LATHE_SHIM=wishes)


@pytest.mark.parametrize(
    ("operators", "count"),
    [(("gather", "pad", "slice"), 6), pytest.param(_OPERATORS, 20, marks=pytest.mark.sweep)],
    ids=["some", "all"],
)
def test_hostile_models_that_are_planned_stay_within_their_tensors(
    operators: Sequence[str], count: int, program: Path, program_store: Path, tmp_path: Path
) -> None:
    """No kernel reads or writes outside of a tensor."""
    _write(tmp_path, operators, count, 1)
    wishes = {"LATHE_SHIM": _LIMITS, "LATHE_STORE": str(program_store), "LATHE_BUILDS": "1"}
    assert "PASSED" in _run(program, "HostileModelsGiveACode", tmp_path, **wishes)
