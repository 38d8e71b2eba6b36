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


@pytest.mark.parametrize("abi", [abi for abi, processor in PROCESSORS.items() if processor.board])
@pytest.mark.parametrize("make", [images, wide, rearranged])
def test_outputs_are_equal(make: object, abi: str, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(3), tmp_path)
    inputs = inputs_of(network, 4)
    ran = boards.run(network, abi, tmp_path, inputs)
    for name, expected in reference.evaluate(network, inputs).items():
        assert np.array_equal(ran.result.outputs[name], expected), name
    assert ran.instructions > network.macs // 16
    assert 0 < ran.result.stack_bytes <= _MOST_STACK
