"""Convolutions and products that are large enough for Winograd's transforms, and for items of two blocks of outputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ir.operator import Operator
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.matmul import Matmul
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.ops.case import OpCase
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import Mode, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_MODES = (Mode("image", "f32", 4), Mode("image", "f16", 2), Mode("buffer", "f16", 4))
_ONES = (1, 1, 1, 1)
_LAYERS: tuple[tuple[str, Operator, tuple[tuple[int, ...], ...]], ...] = (
    ("tiles", Conv2d(pads=_ONES, activation="relu"), ((1, 28, 20, 64), (96, 3, 3, 64), (96,))),
    ("parts_of_tiles", Conv2d(pads=(1, 0, 1, 2)), ((2, 17, 19, 67), (61, 3, 3, 67))),
    (
        "residual",
        Conv2d(pads=_ONES, activation="leaky_relu", activation_alpha=0.1),
        ((1, 22, 25, 40), (72, 3, 3, 40), (72,), (1, 22, 25, 72)),
    ),
    ("neighbours", Conv2d(pads=(2, 2, 2, 2)), ((1, 48, 61, 9), (64, 5, 5, 9), (64,))),
    ("strided", Conv2d(strides=(2, 2), pads=(0, 0, 1, 1)), ((1, 90, 94, 12), (64, 3, 3, 12), (64,))),
    ("groups", Conv2d(groups=3, pads=_ONES), ((1, 9, 13, 30), (18, 3, 3, 10), (18,))),
    ("points", Conv2d(activation="relu"), ((1, 63, 65, 20), (64, 1, 1, 20), (64,))),
    ("strided_points", Conv2d(strides=(2, 2)), ((1, 127, 128, 20), (64, 1, 1, 20), (64,))),
    ("few_points", Conv2d(strides=(2, 2), activation="relu"), ((2, 13, 9, 70), (37, 1, 1, 70), (37,), (2, 7, 5, 37))),
    ("one_point", Conv2d(activation="relu"), ((1, 1, 1, 530), (37, 1, 1, 530), (37,))),
    ("upwards", Deconv2d(strides=(2, 2), pads=_ONES), ((1, 32, 33, 16), (64, 4, 4, 16), (64,))),
    ("attention", Matmul(), ((2, 4, 130, 35), (2, 4, 35, 127))),
    ("shared_heads", Matmul(), ((2, 6, 33, 16), (2, 1, 16, 34))),
)


def _cases() -> Iterator[OpCase]:
    rng = np.random.default_rng(7)
    for name, op, (image, *others) in _LAYERS:
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in (image, *others)]
        if not isinstance(op, Matmul):
            arrays[1] /= np.float32(np.sqrt(np.prod(others[0][1:])))
        yield OpCase(op, tuple(arrays), name, () if isinstance(op, Matmul) else (1, 2)[: len(others)])


@pytest.fixture(scope="module")
def kernels() -> Library:
    return device_library({"conv2d", "deconv2d", "matmul"})


@pytest.mark.parametrize("mode", _MODES, ids=str)
def test_large_layers(mode: Mode, kernels: Library, program_store: Path) -> None:
    options = DeviceOptions(kind=DeviceKind.GPU, check=True, storage_path=program_store)
    allowed = {("f32", 4): 1e-5, ("f16", 2): 4e-3, ("f16", 4): 6e-3}[mode.storage, mode.winograd]
    wrong = []
    for case in _cases():
        graph = case_graph(case.op, case.inputs, frozenset(case.constants))
        model = container.write(on_device(graph, mode), name="case")
        engine = kernels.engine(model=model.model, data=model.data, device=options)
        given = [array for index, array in enumerate(case.inputs) if index not in case.constants]
        (got,) = engine.run({value.name: array for value, array in zip(graph.inputs, given, strict=True)}).values()
        (wanted,) = case.op.reference(*case.inputs)
        error = float(np.max(np.abs(got - wanted)) / np.max(np.abs(wanted)))
        if got.shape != wanted.shape or not error <= allowed:
            wrong.append(f"{case.name}: {got.shape} for {wanted.shape}, differs by {error:.2g} of the largest")
    assert not wrong, "\n".join(wrong)
