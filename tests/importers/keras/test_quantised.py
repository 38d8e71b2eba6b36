"""A network that tensorflow_model_optimization prepared for training, stored in few bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from tests.importers.keras.harness import expected, healthy, run
from tests.stored_layers import compare, stored


@pytest.mark.parametrize("name", ["simulated-keras2.h5", "simulated-keras2.keras"])
def test_every_node_is_within_a_step(name: str, tmp_path: Path) -> None:
    """Of the imported graph, which gives what Keras gives."""
    given, wanted = expected(name)
    graph = healthy(name, tmp_path).graph
    values = evaluate(graph, {graph.inputs[0].name: given[0]}, keep=True)
    tensors = {
        known: values[value.name]
        for value in graph.values()
        if value.name in values
        for known in (value.name, *value.source_names)
    }
    graph = stored(graph)
    found = compare(graph, tensors)
    print(found)  # noqa: T201 (shown with -s)
    # Keras rounds before the tanh, and a tanh that is stored rounds once more: what reads it may be 2 steps away.
    assert all(steps <= 1 + (node.op.name == "deconv2d") for node, steps in found.steps.items()), found.worst()
    assert found.part("conv2d", "dwconv2d", "fully_connected") == 1
    assert [node.op.name for node in found.real] == ["conv2d", "dwconv2d"], "their weights have zero points"
    np.testing.assert_allclose(run(graph, given)[0], wanted[0], atol=2 / 256)
