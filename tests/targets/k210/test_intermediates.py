"""What every layer gives, as text."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.simulation.intermediates import texts
from buildtool.targets.k210.simulation.simulator import simulate
from tests.targets.k210.generating import generated, given, pictures
from tests.targets.k210.test_generate import branches, digits, lists, small_planes


@pytest.mark.parametrize("net", [digits, branches, lists, small_planes])
def test_outputs_are_among_the_texts(net: object) -> None:
    assert callable(net)
    graph = net()
    made = generated(graph)
    data = given(made, next(iter(pictures(graph, 1)[0].values())))
    found = texts(made.model, data)
    assert len(found) == len(made.model.layers)
    assert [name.split("-")[2] for name in found] == [f"{layer.TYPE.name.lower()}.txt" for layer in made.model.layers]
    assert all(found.values())
    numbers = [np.array(text.split(), np.float32) for text in found.values()]
    for output in simulate(made.model, data):
        assert any(np.array_equal(each, np.frombuffer(output, "<f4")) for each in numbers)
    first = made.model.layers[0]
    if isinstance(first, Conv):
        rows = next(iter(found.values())).splitlines()
        channels, height, width = first.out_shape
        assert (len(rows), len(rows[0].split())) == (channels * height, width)
