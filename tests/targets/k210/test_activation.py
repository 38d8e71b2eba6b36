"""Functions as sixteen straight pieces, on the simulator's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from buildtool.ir.operator import Array
from buildtool.ops import _activation as functions
from buildtool.targets.k210.format.tables import SEGMENTS
from buildtool.targets.k210.generation.activation import Domain, fit
from buildtool.targets.k210.generation.quantise import bytes_between
from buildtool.targets.k210.simulation import kpu

#: The function, the range of its results, and by how many steps bytes may differ, the half of rounding included.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, float, float]] = {
    "none": (lambda x: x, -3.0, 5.0, 0.51),
    "relu": (lambda x: np.maximum(x, 0), 0.0, 5.3, 0.51),
    "relu6": (lambda x: np.clip(x, 0, 6), 0.0, 6.0, 0.51),
    "clip within the range": (lambda x: np.clip(x, -0.4, 3), -1.0, 7.0, 0.6),
    "leaky_relu": (lambda x: functions.leaky_relu(x, 0.1), -1.0, 7.0, 0.55),
    "hard_sigmoid": (lambda x: functions.hard_sigmoid(x, 0.2, 0.5), 0.0, 1.0, 0.51),
    "sigmoid": (functions.sigmoid, 0.0, 1.0, 1.25),
    "tanh": (np.tanh, -1.0, 1.0, 1.25),
    "hard_swish": (functions.hard_swish, -0.375, 6.0, 1.0),
    "swish": (functions.swish, -0.28, 9.0, 1.0),
    "elu": (lambda x: functions.elu(x, 1.0), -1.0, 6.0, 1.0),
    "nothing": (lambda x: x * 0, 0.0, 1.0, 0.5),
}


@pytest.mark.parametrize("reach", [0.5, 8.0, 2000.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bytes_are_near_everywhere(name: str, reach: float) -> None:
    function, low, high, most = FUNCTIONS[name]
    stored = bytes_between(low, high)
    scale = stored.scale * 2.0**-14
    domain = Domain(int(-reach / scale), int(reach / scale), scale)
    found = fit(function, domain, stored.scale, stored.zero_point)
    rng = np.random.default_rng(3)
    near = int(min(reach, 10) / scale)
    sums = np.concatenate(
        [rng.integers(domain.low, domain.high, 5000), rng.integers(-near, near, 20000), [domain.low, domain.high, 0]]
    )
    wanted = np.clip(function(sums * scale) / stored.scale + stored.zero_point, 0, 255)
    error = np.abs(kpu.activate(found.activation, sums) - wanted).max()
    assert len(found.activation.segments) == SEGMENTS
    assert error <= most
    assert error <= found.error + 0.05, "what is reported is what is so"
    found.activation.encode()


def test_a_function_that_comes_back_is_followed() -> None:
    stored = bytes_between(-1.0, 1.0)
    scale = stored.scale * 2.0**-14
    domain = Domain(int(-3 / scale), int(3 / scale), scale)
    found = fit(np.sin, domain, stored.scale, stored.zero_point)
    assert found.error < 2
