"""Tuning on the device: within a time, resumed, and without a change of what comes out."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders import opencl_files
from buildtool.codegen import container
from buildtool.ir.graph import Graph
from buildtool.ops.conv2d import Conv2d
from buildtool.runtime import Array, DeviceKind, DeviceOptions, Engine, Library
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_LONG = 60_000
_TUNING = 2


@pytest.fixture(scope="module")
def kernels() -> Library:
    return device_library({"conv2d"})


@pytest.fixture(scope="module")
def image() -> Array:
    return np.random.default_rng(3).standard_normal((1, 16, 16, 64)).astype(np.float32)


@pytest.fixture(scope="module")
def graph(image: Array) -> Graph:
    """One layer that two units take."""
    weights = np.random.default_rng(4).standard_normal((64, 3, 3, 64)).astype(np.float32) / 24
    return case_graph(Conv2d(pads=(1, 1, 1, 1)), (image, weights), frozenset({1}))


@pytest.fixture
def options(program_store: Path) -> DeviceOptions:
    return DeviceOptions(kind=DeviceKind.GPU, check=True, storage_path=program_store)


def _engine(kernels: Library, graph: Graph, options: DeviceOptions) -> Engine:
    model = container.write(on_device(graph, Mode("buffer", "f32", 2)), name="case")
    return kernels.engine(model=model.model, data=model.data, device=options)


def _outputs(engine: Engine, graph: Graph, image: Array) -> Array:
    (found,) = engine.run({graph.inputs[0].name: image}).values()
    return found


def test_tuned_gives_the_same(kernels: Library, graph: Graph, image: Array, options: DeviceOptions) -> None:
    usual = _engine(kernels, graph, options)
    wanted = _outputs(usual, graph, image)
    assert usual.device_data(_TUNING) == b""
    tuning = _engine(kernels, graph, replace(options, tuning_milliseconds=_LONG))
    np.testing.assert_allclose(_outputs(tuning, graph, image), wanted, rtol=0, atol=1e-5)
    found = tuning.device_data(_TUNING)
    (section,) = opencl_files.parse(found)
    # The transforms and the product of Winograd's unit and the kernel of the other one, both copies, and the node.
    assert section.content is opencl_files.Content.TUNING
    assert len(section.entries) >= 6
    began = time.monotonic()
    again = _engine(kernels, graph, replace(options, tuning=found, tuning_milliseconds=_LONG))
    np.testing.assert_allclose(_outputs(again, graph, image), wanted, rtol=0, atol=1e-5)
    assert again.device_data(_TUNING) == found, "nothing is left to be tuned"
    assert time.monotonic() - began < 30


def test_interrupted_and_resumed(kernels: Library, graph: Graph, image: Array, options: DeviceOptions) -> None:
    found, counts = b"", []
    for _ in range(20):
        engine = _engine(kernels, graph, replace(options, tuning=found, tuning_milliseconds=1))
        engine.session()
        before, found = found, engine.device_data(_TUNING)
        if found == before:
            break
        (section,) = opencl_files.parse(found)
        counts.append(len(section.entries))
    assert counts == sorted(set(counts)) and len(counts) >= 3, "each session keeps what was there and adds to it"
    assert counts[0] == 1, "a millisecond is over after the first launch"


def test_results_that_do_not_fit_are_ignored(
    kernels: Library, graph: Graph, image: Array, options: DeviceOptions, tmp_path: Path
) -> None:
    wanted = _outputs(_engine(kernels, graph, options), graph, image)
    tuning = _engine(kernels, graph, replace(options, tuning_milliseconds=_LONG))
    tuning.session()
    found = tuning.device_data(_TUNING)
    (section,) = opencl_files.parse(found)
    huge = (4096).to_bytes(4, "little") * 3 + bytes(8)
    absurd = replace(section, entries=dict.fromkeys(section.entries, huge))
    foreign = replace(section, identity=section.identity ^ 1)
    for data in (absurd.pack(), foreign.pack(), found[:-1], b"nothing of this kind"):
        file = tmp_path / "tuned.bin"
        file.write_bytes(data)
        engine = _engine(kernels, graph, replace(options, tuning_path=file))
        np.testing.assert_allclose(_outputs(engine, graph, image), wanted, rtol=0, atol=1e-5)
    merged = opencl_files.merge([foreign.pack(), found])
    engine = _engine(kernels, graph, replace(options, tuning=merged))
    np.testing.assert_allclose(_outputs(engine, graph, image), wanted, rtol=0, atol=1e-5)
    assert engine.device_data(_TUNING) == found, "its own section is taken, and only that"
