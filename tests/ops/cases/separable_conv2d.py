"""Cases of separable_conv2d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from buildtool.ops.separable_conv2d import SeparableConv2d
from tests.ops.activations import ACTIVATED
from tests.ops.case import OpCase
from tests.ops.element_types import in_half
from tests.ops.inputs import Rng, label, normal

# Input, depthwise filter (KH, KW), outputs and attributes.
_SAME: dict[str, Any] = {"pads": (1, 1, 1, 1)}
_HALVED: dict[str, Any] = {"pads": (0, 0, 1, 1), "strides": (2, 2)}
_CASES: tuple[tuple[tuple[int, ...], tuple[int, int], int, dict[str, Any]], ...] = (
    ((1, 1, 1, 1), (1, 1), 1, {}),
    ((1, 1, 1, 16), (3, 3), 16, _SAME),
    ((1, 7, 7, 3), (3, 3), 5, _SAME),
    ((1, 7, 7, 8), (3, 3), 17, {}),
    ((2, 9, 11, 19), (3, 3), 7, _SAME),
    ((1, 14, 14, 32), (3, 3), 64, _SAME),
    ((1, 13, 15, 33), (3, 3), 29, _HALVED),
    ((2, 28, 27, 24), (3, 3), 16, _HALVED),
    ((1, 5, 120, 16), (3, 3), 24, _SAME),
    ((1, 6, 131, 17), (3, 3), 33, _HALVED),
    ((1, 33, 3, 20), (3, 3), 11, _SAME),
    ((1, 3, 29, 19), (3, 3), 8, {"pads": (2, 1, 2, 1)}),
    ((1, 5, 2, 37), (3, 3), 6, {"pads": (4, 6, 5, 7)}),
    ((1, 11, 61, 16), (3, 3), 48, {"strides": (2, 2)}),
    ((1, 8, 9, 23), (5, 5), 9, {"pads": (2, 2, 2, 2)}),
    ((1, 8, 9, 23), (5, 3), 9, {"pads": (2, 0, 1, 3), "strides": (1, 2)}),
    ((1, 11, 11, 17), (3, 3), 13, {"dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 9, 8, 16), (3, 3), 16, {"strides": (3, 3), **_SAME}),
    ((1, 10, 10, 130), (3, 3), 70, _SAME),
    ((3, 4, 5, 16), (2, 2), 16, {}),
)


def cases(rng: Rng) -> Iterator[OpCase]:
    single = list(_single(rng))
    yield from single
    yield from in_half(single)


def _single(rng: Rng) -> Iterator[OpCase]:
    for number, (shape, kernel, outputs, attributes) in enumerate(_CASES):
        op = SeparableConv2d(**attributes, depthwise_activation="relu", activation=("none", "relu")[number % 2])
        yield _case(rng, op, shape, kernel, outputs, label(number, shape, "by", kernel, "to", outputs), number % 3 == 1)
    for activation in ACTIVATED:
        inner = {f"depthwise_{name}": value for name, value in activation.items()}
        for residual in (False, True):
            name = label(activation["activation"], "with_residual" if residual else "alone")
            op = SeparableConv2d(**_SAME, **activation, **inner)
            yield _case(rng, op, (1, 6, 11, 19), (3, 3), 21, name, residual)
    case = _case(rng, SeparableConv2d(**_SAME), (1, 6, 7, 18), (3, 3), 5, "filters_computed", True)
    yield OpCase(case.op, case.inputs, case.name)
    halves = tuple(array.astype(np.float16) for array in case.inputs)
    yield OpCase(case.op, halves, "f16", (1, 2, 3, 4))


def _case(
    rng: Rng, op: SeparableConv2d, shape: tuple[int, ...], kernel: tuple[int, int], outputs: int, name: str, added: bool
) -> OpCase:
    channels = shape[3]
    inputs = [normal(rng, size) for size in (shape, (outputs, 1, 1, channels), (outputs,), (*kernel, channels))]
    inputs.append(normal(rng, (channels,)))
    case = OpCase(op, tuple(inputs), name, (1, 2, 3, 4))
    if added:
        inputs.append(normal(rng, op.infer(case.types)[0].shape))  # type: ignore[arg-type]
    return OpCase(op, tuple(inputs), name, (1, 2, 3, 4))
