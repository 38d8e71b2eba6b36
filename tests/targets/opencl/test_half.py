"""Arithmetic in half precision, which PoCL does not have: the text of every unit is compiled for other devices."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ops.conv2d import Conv2d
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.native_builds import opencl_shim
from tests.ops.case import OpCase, cases_of, operators_with_cases
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, all_units, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_OPERATORS = tuple(op for op in operators_with_cases() if all_units().of(op))
_CLANG = ("clang-19", "-x", "cl", "-cl-std=CL1.2", "--target=spir64-unknown-unknown", "-fsyntax-only")
# The functions of OpenCL by name, without the header that declares all of them and takes a while to read.
_FUNCTIONS = ("-Xclang", "-fdeclare-opencl-builtins", "-Xclang", "-finclude-default-header")
_WARNINGS = ("-Wall", "-Wno-unused", "-Werror")


def _cases() -> Iterator[tuple[OpCase, Mode]]:
    for operator in _OPERATORS:
        for case in cases_of(operator):
            for memory in ("image", "buffer"):
                yield case, Mode(memory, "f16")
    arrays = (np.zeros((1, 28, 28, 64), np.float32), np.zeros((64, 3, 3, 64), np.float32))
    for tile in (2, 4):
        yield OpCase(Conv2d(pads=(1, 1, 1, 1)), arrays, "winograd", (1,)), Mode("image", "f16", tile)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of all cases as the driver is given them."""
    folder = tmp_path_factory.mktemp("texts")
    kernels = device_library(_OPERATORS)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LATHE_OPENCL_LIBRARY", str(opencl_shim()))
        environment.setenv("LATHE_SHIM", f"texts:{folder}")
        for case, mode in _cases():
            _make_engine(kernels, case, mode)
    return folder


def _make_engine(kernels: Library, case: OpCase, mode: Mode) -> None:
    graph = case_graph(case.op, case.inputs, frozenset(case.constants))
    if not all_units().units_for(graph.nodes[0]):
        return
    model = container.write(on_device(graph, mode), name="case")
    kernels.engine(model=model.model, data=model.data, device=DeviceOptions(kind=DeviceKind.GPU), threads=1)


def _programs(texts: Path) -> dict[tuple[str, str], tuple[Path, list[str]]]:
    """A file and its options for each text and all of its options but for which activation there is, which is always
    computed in single precision."""
    found = {}
    for file in sorted(texts.iterdir()):
        options, text = file.read_text(encoding="utf-8").split("\n", 1)
        found[re.sub(r"ACTIVATION=\d+", "", options), text] = file, options.removeprefix("//").split()
    return found


def test_all_texts_compile(texts: Path) -> None:
    programs = _programs(texts)
    assert len(programs) > 2 * len(_OPERATORS)
    wrong = []
    for file, options in programs.values():
        command: list[str | Path] = [*_CLANG, *_FUNCTIONS, *_WARNINGS, *options, "-DHALF_MATH", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            wrong.append(f"{' '.join(options)}: {done.stderr[:1000]}")
    assert not wrong, f"{len(wrong)} of {len(programs)} texts do not compile:\n" + "\n".join(wrong[:5])
