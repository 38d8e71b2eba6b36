"""Runs of parts on the DSP: in threads, with all values kept, and observed node by node."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from buildtool.runtime import DeviceKind, DeviceOptions, Engine
from tests.targets.hexagon.network import small_library, small_network

pytestmark = pytest.mark.slow


def test_sessions_run_in_threads() -> None:
    network, library = small_network(), small_library()

    def run_often(engine: Engine) -> None:
        session = engine.session()
        for _ in range(5):
            network.check(session.run(network.inputs))

    with library.on_simulator(), ThreadPoolExecutor(4) as threads:
        engines = [library.engine(network.model, DeviceKind.DSP) for _ in range(2)]
        for done in [threads.submit(run_often, engines[index % 2]) for index in range(4)]:
            done.result()


def test_every_value_can_be_kept() -> None:
    network, library = small_network(), small_library()
    wanted = library.engine(network.model, DeviceKind.CPU).session(keep_all=True)
    wanted.run(network.inputs)
    with library.on_simulator():
        session = library.engine(network.model, DeviceKind.DSP).session(keep_all=True)
        network.check(session.run(network.inputs))
        found = session.values
    assert found.keys() == wanted.values.keys()
    assert len(found) > 8
    for name, array in wanted.values.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_every_node_is_timed() -> None:
    network, library = small_network(), small_library()
    with library.on_simulator():
        engine = library.engine(network.model, DeviceKind.DSP)
        session = engine.session()
        session.run(network.inputs)
        times = session.profile()
    assert [(time.op, time.kernel) for time in times] == [("conv2d", "dsp"), ("add", "dsp")]


def test_an_application_asks_for_clocks(tmp_path: Path) -> None:
    network, library, log = small_network(), small_library(), tmp_path / "log"
    wishes = DeviceOptions(kind=DeviceKind.DSP, dsp_flags=2, dsp_power=4, dsp_latency=70)
    with library.on_simulator(log=str(log)):
        engine = library.library.engine(model=network.model.model, data=network.model.data, threads=1, device=wishes)
        network.check(engine.run(network.inputs))
        del engine
    nominal, latency = "4", "70"  # the clocks do not follow the load: that would be 104
    assert log.read_text().splitlines()[-1].split()[2:4] == [nominal, latency]


@pytest.mark.parametrize(("fault", "shared"), [("", 2), ("alloc=memory", 0)], ids=["shared", "copied"])
def test_values_of_sessions_are_shared(tmp_path: Path, fault: str, shared: int) -> None:
    """The input and the output are in memory that both sides see; without any, they are copied."""
    network, library, log = small_network(), small_library(), tmp_path / "log"
    with library.on_simulator(log=str(log), fault=fault):
        session = library.engine(network.model, DeviceKind.DSP).session()
        for _ in range(2):
            network.check(session.run(network.inputs))
        del session
    runs = [line.split() for line in log.read_text().splitlines() if line.startswith("invoke")][1:]
    values = sum(array.nbytes for array in (*network.inputs.values(), *network.expected.values()))
    assert [int(run[7]) for run in runs] == [shared, shared]
    assert [int(run[8]) >= values for run in runs] == [not shared, not shared]
