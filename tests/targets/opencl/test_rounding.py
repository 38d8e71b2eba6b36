"""Images of halves on GPUs that cut off what a half has no room for: kernels round to the nearest before they write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ops.relu import Relu
from buildtool.runtime import DeviceKind, DeviceOptions
from tests.native_builds import opencl_shim
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_NVIDIA = "device:type=4,device:vendor=NVIDIA Corporation"


@pytest.mark.parametrize(
    ("memory", "shim", "rounds"), [("image", _NVIDIA, True), ("buffer", _NVIDIA, False), ("image", "", False)]
)
def test_images_get_the_nearest_halves(
    memory: str, shim: str, rounds: bool, program_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = device_library({"relu"})
    numbers = np.random.default_rng(0).uniform(0, 70_000, (1, 4, 4, 64)).astype(np.float32)
    numbers[0, 0, 0, :8] = [0, 2**-26, 2**-24 * 1.5, 65519, 65520, np.inf, 1 + 2**-11, 1 + 3 * 2**-11]
    graph = case_graph(Relu(), (numbers,), frozenset())
    model = container.write(on_device(graph, Mode(memory, "f16")), name="case")
    monkeypatch.setenv("LATHE_OPENCL_LIBRARY", str(opencl_shim()))

    monkeypatch.setenv("LATHE_SHIM", ",".join(filter(None, (shim, f"texts:{tmp_path}"))))
    kernels.engine(model=model.model, data=model.data, device=DeviceOptions(kind=DeviceKind.ANY))
    options = [file.read_text(encoding="utf-8").partition("\n")[0] for file in tmp_path.iterdir()]
    assert any("-DROUND" in text for text in options) is rounds, "only where images are written"

    monkeypatch.setenv("LATHE_SHIM", shim)
    engine = kernels.engine(
        model=model.model, data=model.data, device=DeviceOptions(kind=DeviceKind.GPU, storage_path=program_store)
    )
    (found,) = engine.run({graph.inputs[0].name: numbers}).values()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, numbers.astype(np.float16).astype(np.float32))
