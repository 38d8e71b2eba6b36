"""Tensors that no image can hold stay in buffers, beside others that are images: kernels take both at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ir.operator import Operator
from buildtool.ops.concat import Concat
from buildtool.ops.gather import Gather
from buildtool.ops.reduce_sum import ReduceSum
from buildtool.ops.reshape import Reshape
from buildtool.ops.split import Split
from buildtool.ops.transpose import Transpose
from buildtool.runtime import DeviceKind, DeviceOptions
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, device_library, on_device
from tests.targets.opencl.test_units import OPERATORS

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

# Images of devices, PoCL's among them, are at most 16384 pixels of four numbers wide and as many high.
CASES: tuple[tuple[Operator, tuple[int, ...]], ...] = (
    (Reshape((80000,)), (1, 200, 400, 1)),
    (Reshape((200, 400)), (80000,)),
    (Transpose((1, 0)), (30000, 3)),
    (Concat(0), (40001,)),
    (Split(1, (39999, 2)), (2, 40001)),
    (Gather(0), (20000, 6)),
    (ReduceSum((1,), False), (2, 20000, 5)),
)


@pytest.mark.parametrize(("op", "shape"), CASES, ids=[f"{op.name}-{shape}" for op, shape in CASES])
def test_buffers_and_images_meet(op: Operator, shape: tuple[int, ...], program_store: Path) -> None:
    rng = np.random.default_rng(5)
    inputs = [rng.standard_normal(shape, np.float32)]
    if isinstance(op, Concat):
        inputs += [rng.standard_normal(size, np.float32) for size in (30002, 6)]
    if isinstance(op, Gather):
        inputs.append(np.array([7, 19999, -1, 0], np.int64))
    graph = case_graph(op, inputs, frozenset())
    model = container.write(on_device(graph, Mode("image")), name="case")
    options = DeviceOptions(kind=DeviceKind.GPU, check=True, storage_path=program_store)
    engine = device_library(OPERATORS).engine(model=model.model, data=model.data, device=options)
    feeds = {value.name: array for value, array in zip(graph.inputs, inputs, strict=True)}
    for got, wanted in zip(engine.run(feeds).values(), op.reference(*inputs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-3 if op.name == "reduce_sum" else 0)
