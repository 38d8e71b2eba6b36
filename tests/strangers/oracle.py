"""What onnxruntime computes for drawn models, and which of it depends on rounding."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnxruntime

from buildtool.ir.operator import Array
from tests import exact_onnxruntime
from tests.strangers.drawing import RUNS, Model

if TYPE_CHECKING:
    from tests.strangers.judge import Run

_NOISE = (3e-7, -1e-6, 1e-5)


class RefusedError(Exception):
    """Onnxruntime does not run a model."""


def session(content: bytes) -> onnxruntime.InferenceSession:
    """A session of a model."""
    try:
        model = onnx.load_from_string(content)
        options = exact_onnxruntime.plain_options(model)
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # each kind of refusal has a class of its own there
        raise RefusedError(str(error)[:300]) from error


def run(opened: onnxruntime.InferenceSession, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs for these inputs."""
    names = {item.name for item in opened.get_inputs()}
    try:
        results = opened.run(None, {name: array for name, array in feeds.items() if name in names})
    except Exception as error:
        raise RefusedError(str(error)[:300]) from error
    return [np.asarray(array) for array in results]


def runs(model: Model, draws: int = 1) -> tuple[Run, ...]:
    """All runs of a drawn model. `draws`: how often each of the noises is drawn that shows what depends on rounding."""
    opened = session(model.proto.SerializeToString())
    return tuple(_run(opened, model.feeds(index), draws) for index in range(RUNS))


def _run(opened: onnxruntime.InferenceSession, feeds: dict[str, Array], draws: int) -> Run:
    from tests.strangers.judge import ATOL, RTOL, Run, difference

    expected = run(opened, feeds)
    stable = [True] * len(expected)
    # Comparisons, rounding and choices of the largest may turn over for the least difference.
    for noise, draw in itertools.product(_NOISE, range(draws)):
        rng = np.random.default_rng(1 + draw)
        shaken = {name: _shaken(array, noise, rng) for name, array in feeds.items()}
        for index, (plain, other) in enumerate(zip(expected, run(opened, shaken), strict=True)):
            far = difference(plain, other, max(RTOL, 50 * abs(noise)), ATOL) != ""
            stable[index] = stable[index] and not far
    return Run(feeds, tuple(expected), tuple(stable))


def _shaken(array: Array, noise: float, rng: np.random.Generator) -> Array:
    if array.dtype.kind != "f":
        return array
    return np.asarray(array * (1 + noise * rng.uniform(0.5, 1, array.shape)), array.dtype)
