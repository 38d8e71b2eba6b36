"""Imports small networks and compares the graph with what is expected, before and after all passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool.importers.caffe import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.caffe.cases import Case


def imported(
    prototxt: str | bytes,
    caffemodel: bytes | None,
    folder: Path,
    inputs: Sequence[TensorRequest] = (),
    outputs: Sequence[str] = (),
) -> ImportedModel:
    text, weights = folder / "net.prototxt", folder / "net.caffemodel"
    text.write_bytes(prototxt.encode() if isinstance(prototxt, str) else prototxt)
    if caffemodel is not None:
        weights.write_bytes(caffemodel)
    wanted = tuple(TensorRequest(name, data_format="MODEL") for name in outputs)
    request = ImportRequest("test", text, weights if caffemodel is not None else None, tuple(inputs), wanted)
    result = import_model(request)
    verify(result.graph)
    return result


def run(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    results = evaluate(graph, {value.name: inputs[value.name] for value in graph.inputs})
    return [results[value.name] for value in graph.outputs]


def check(case: Case, expected: Sequence[Array], folder: Path) -> Graph:
    """Imports a case and compares it; gives the optimised graph."""
    fed = case.arrays()
    graph = imported(case.prototxt(), case.caffemodel(), folder, outputs=case.outputs).graph
    _compare(case, run(graph, fed), expected)
    optimise(graph)
    _compare(case, run(graph, fed), expected)
    return graph


def _compare(case: Case, results: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, wanted, rtol=case.rtol, atol=case.atol)
