"""Runs of parts on the device: in threads, at several shapes, with limits, and with accesses that are counted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.errors import RunError
from buildtool.ir.evaluate import evaluate
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.neg import Neg
from buildtool.runtime import DeviceKind, DeviceOptions, Engine
from tests.native_builds import opencl_shim
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, device_library, on_device
from tests.targets.opencl.network import Network, small_library, small_network

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_KERNELS = 5  # of a run of the small network
_TIMES = 10
Shim = Callable[[str], None]


@pytest.fixture
def options(program_store: Path) -> DeviceOptions:
    return DeviceOptions(kind=DeviceKind.GPU, storage_path=program_store)


@pytest.fixture
def shim(monkeypatch: pytest.MonkeyPatch) -> Shim:
    """Sets what goes wrong with engines that are made from then on."""
    monkeypatch.setenv("LATHE_OPENCL_LIBRARY", str(opencl_shim()))
    return lambda wishes: monkeypatch.setenv("LATHE_SHIM", wishes)


def _run_often(engine: Engine, network: Network, first_seed: int) -> None:
    session = engine.session()
    for seed in range(first_seed, first_seed + _TIMES):
        given = network.given(2 + seed % 7, seed)
        given.check(session.run(given.inputs))


def test_sessions_run_in_threads(options: DeviceOptions) -> None:
    network = small_network(dynamic=True)
    engines = [network.engine(small_library(), options) for _ in range(2)]
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(_run_often, engines[index % 2], network, 100 * index) for index in range(4)]:
            done.result()


def test_engines_are_made_in_threads(options: DeviceOptions) -> None:
    network = small_network()

    def make_and_run() -> None:
        engine = network.engine(small_library(), options)
        network.check(engine.run(network.inputs))
        assert engine.device_info.on_device

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(make_and_run) for _ in range(12)]:
            done.result()


def test_every_value_can_be_kept(options: DeviceOptions) -> None:
    network = small_network()
    session = network.engine(small_library(), options).session(keep_all=True)
    network.check(session.run(network.inputs))
    wanted = evaluate(network.graph, network.inputs, keep=True)
    assert len(wanted) == 4  # the input, and what three nodes give
    for name, array in wanted.items():
        np.testing.assert_allclose(session.value(name), array, atol=1e-4)


@pytest.mark.parametrize("working", (2, 4, 5, 7, 8, 11, 13, 14))
def test_a_resize_may_fail(working: int, options: DeviceOptions, shim: Shim) -> None:
    """So many images can be made: two constants, and three at each size."""
    shim(f"fail:CreateImage:-4:{working}")
    network = small_network(dynamic=True)
    engine = network.engine(small_library(), options)
    if working < 5:
        with pytest.raises(RunError, match="has no memory for"):
            engine.session()
        return
    session = engine.session()
    right = 0
    for rows in (5, 40, 3):
        given = network.given(rows, rows)
        try:
            given.check(session.run(given.inputs))
            right += 1
        except RunError as error:
            assert "has no memory for" in str(error)
    assert right == (working - 5) // 3


@dataclass(frozen=True)
class _Limited(Mode):
    """What the deployment file says of the queue and of long kernels."""

    window: int = 0
    microseconds: int = 0

    @property
    def op(self) -> DeviceRegion:
        return replace(super().op, opencl_queue_window_size=self.window, kernel_microseconds=self.microseconds)


@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.parametrize(("window", "waits"), [(0, 1), (1, 6), (2, 3), (5, 2), (6, 1)])
def test_the_queue_is_emptied(window: int, waits: int, by_model: bool, options: DeviceOptions, shim: Shim) -> None:
    """So many waits are enough for one run, and not for two."""
    shim(f"fail:Finish:-5:{waits}")
    network = small_network(_Limited(window=window if by_model else 0))
    wishes = options if by_model else replace(options, queue_window=window)
    session = network.engine(small_library(), wishes).session()
    network.check(session.run(network.inputs))
    with pytest.raises(RunError, match="clFinish"):
        session.run(network.inputs)


@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.parametrize("profile", [False, True])
def test_long_kernels_are_cut(profile: bool, by_model: bool, options: DeviceOptions, shim: Shim) -> None:
    """The first run measures; what follows launches more kernels, and is right."""
    network = small_network(_Limited(microseconds=1 if by_model else 0))
    wishes = replace(options, profile=profile, kernel_microseconds=0 if by_model else 1)
    shim("")
    session = network.engine(small_library(), wishes).session()
    for _ in range(3):
        network.check(session.run(network.inputs))
    times = [entry for entry in session.profile() if entry.op not in ("to_device", "from_device")]
    assert [entry.kernel for entry in times] == ["conv2d", "leaky_relu", "add"]
    assert all(entry.nanoseconds > 0 for entry in times)
    shim(f"fail:EnqueueNDRangeKernel:-5:{2 * _KERNELS}")
    session = network.engine(small_library(), wishes).session()
    network.check(session.run(network.inputs))
    with pytest.raises(RunError, match="clEnqueueNDRangeKernel"):
        session.run(network.inputs)


_WRONG_UNIT = {
    ".yaml": "op: neg\nsource: elementwise\nplan: unary\npriority: 10\ninputs: [f32]\n",
    ".cl": "__kernel void unary(WORK, IN(0, x), OUT(1, y), const int width, const int channels, const float a,\n"
    "                    const float b) {\n"
    "  BEGIN\n"
    "  STORE(1, y, X, Y, 4, -LOAD(0, x, X + 1, Y));\n"
    "}\n",
}


@pytest.mark.parametrize("memory", ["image", "buffer"])
def test_accesses_outside_of_tensors_are_found(memory: str, options: DeviceOptions, tmp_path: Path) -> None:
    folder = tmp_path / "native/opencl/ops"
    folder.mkdir(parents=True)
    for suffix, text in _WRONG_UNIT.items():
        (folder / f"neg_wrong{suffix}").write_text(text, encoding="utf-8")
    array = np.ones((1, 4, 6, 3), np.float32)
    model = container.write(on_device(case_graph(Neg(), (array,), frozenset()), Mode(memory)), name="case")
    checked = replace(options, check=True)
    right = device_library({"neg"}).engine(model=model.model, data=model.data, device=checked)
    np.testing.assert_array_equal(next(iter(right.run({"x0": array}).values())), -array)
    session = device_library({"neg"}, tmp_path).engine(model=model.model, data=model.data, device=checked).session()
    for _ in range(2):  # the last item of each of the 4 rows
        with pytest.raises(RunError, match="kernels read or wrote 4 times outside of a tensor"):
            session.run({"x0": array})
