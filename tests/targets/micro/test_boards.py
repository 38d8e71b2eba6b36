"""Generated sources on emulated boards: the outputs are those of the reference, the stack is small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import reference
from buildtool.targets.micro.processors import PROCESSORS
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import images, inputs_of, network_of, rearranged, wide

pytestmark = pytest.mark.arm
_MOST_STACK = 1024  # bytes
#: Processors with the kernels and the board of another one.
_ALIKE = ("cortex-m3", "cortex-m4f", "cortex-m85", "rv32imafc", "rv32imac_zba_zbb", "rv64gc_zba_zbb")


@pytest.mark.parametrize(
    ("make", "abi"),
    [
        pytest.param(make, abi, marks=pytest.mark.slow if make is not images and abi in _ALIKE else ())
        for make in (images, wide, rearranged)
        for abi, processor in PROCESSORS.items()
        if processor.board
    ],
)
def test_outputs_are_equal(make: object, abi: str, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(3), tmp_path)
    inputs = inputs_of(network, 4)
    ran = boards.run(network, abi, tmp_path, inputs)
    for name, expected in reference.evaluate(network, inputs).items():
        assert np.array_equal(ran.result.outputs[name], expected), name
    assert ran.instructions > network.macs // 16 or abi == "host"  # where nothing is counted
    assert 0 < ran.result.stack_bytes <= _MOST_STACK
