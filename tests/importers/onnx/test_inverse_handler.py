"""Inverse of com.microsoft against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from buildtool.errors import ModelFileError
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import compare, imported, model_of, random, reference


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 4, 4), (2, 3, 2, 2)], ids=str)
def test_inverse(shape: tuple[int, ...], tmp_path: Path) -> None:
    x = random(*shape) + 3 * np.eye(shape[-1], dtype=np.float32)
    model = model_of([helper.make_node("Inverse", ["x"], ["y"], domain="com.microsoft")], {"x": x}, ["y"], {})
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    expected = reference(model, {"x": x})
    graph = imported(model, tmp_path).graph
    optimise(graph)
    assert [node.op.name for node in graph.nodes] == ["inverse"]
    compare(graph, [x], expected)


def test_matrices_are_square(tmp_path: Path) -> None:
    node = helper.make_node("Inverse", ["x"], ["y"], domain="com.microsoft", name="the_node")
    model = model_of([node], {"x": random(3, 4)}, ["y"], {})
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(ModelFileError, match=r"the_node.*square"):
        imported(model, tmp_path)
