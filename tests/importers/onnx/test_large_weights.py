"""Weights in large files beside a model stay in those files while it is imported and optimised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from buildtool.codegen import container
from buildtool.importers.onnx import import_model, tensors
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import model_of, random, run


def _stored(folder: Path) -> Path:
    weights = {"w": random(512, 256) - 0.5, "v": random(256, 128) - 0.5}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Relu", ["m"], ["r"]),
        helper.make_node("MatMul", ["r", "v"], ["y"]),
    ]
    file = folder / "model.onnx"
    onnx.save(model_of(nodes, {"x": random(3, 512)}, ["y"], weights), file, save_as_external_data=True, location="data")
    return file


def _optimised(file: Path) -> Graph:
    graph = import_model(ImportRequest("m", file)).graph
    optimise(graph)
    return graph


def _is_mapped(array: np.ndarray) -> bool:
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return isinstance(base, np.memmap)


def test_weights_of_a_large_file_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, x = _stored(tmp_path), random(3, 512)
    read = _optimised(file)
    monkeypatch.setattr(tensors, "_WORTH_A_MAP", 1)
    mapped = _optimised(file)
    large = [value.constant for value in mapped.values() if value.constant is not None and value.constant.size > 9999]
    assert len(large) == 2
    assert all(_is_mapped(array) for array in large)  # and not copied to be transposed
    assert not any(_is_mapped(value.constant) for value in read.values() if value.constant is not None)
    np.testing.assert_allclose(run(read, [x])[0], run(mapped, [x])[0], rtol=1e-5)
    assert container.write(read, name="m") == container.write(mapped, name="m")


def test_a_mapped_file_is_mapped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "_WORTH_A_MAP", 1)
    graph = import_model(ImportRequest("m", _stored(tmp_path))).graph
    bases = set()
    for value in graph.values():
        base = value.constant
        while base is not None and isinstance(base.base, np.ndarray):
            base = base.base
        bases |= {id(base)} if isinstance(base, np.memmap) else set()
    assert len(bases) == 1
