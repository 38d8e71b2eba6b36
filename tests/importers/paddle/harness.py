"""Imports the programs that Paddle has made, and compares the graph with its results before and after all passes."""

from __future__ import annotations

import functools
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool.importers.paddle import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.oracles.paddle.programs import Case

EXPECTED = Path(__file__).resolve().parents[2] / "oracles" / "paddle" / "expected"


@functools.cache
def archive(name: str = "operators.zip") -> dict[str, bytes]:
    """The files in one of the expected archives."""
    with zipfile.ZipFile(EXPECTED / name) as file:
        return {entry: file.read(entry) for entry in file.namelist()}


def array(data: bytes) -> Array:
    return np.asarray(np.load(io.BytesIO(data)))


def expected(case: Case) -> list[Array]:
    """The results of a case, slot by slot."""
    files = archive()
    return [
        array(files[f"{case.name}/{slot}_out_{index}.npy"])
        for slot, count in case.outputs.items()
        for index in range(count)
    ]


def fed(case: Case) -> dict[str, Array]:
    return {
        f"{slot}_{number}": item
        for slot, arrays in case.tensors().items()
        if slot not in case.weights
        for number, item in enumerate(arrays)
    }


def written(case: Case, ending: str, folder: Path) -> Path:
    """The program of a case, and its parameters, as files."""
    files = archive()
    model = folder / f"model{ending}"
    model.write_bytes(files[f"{case.name}/model{ending}"])
    if f"{case.name}/model.pdiparams" in files:
        (folder / "model.pdiparams").write_bytes(files[f"{case.name}/model.pdiparams"])
    return model


def imported(file: Path, inputs: Sequence[TensorRequest] = (), outputs: Sequence[TensorRequest] = ()) -> ImportedModel:
    result = import_model(ImportRequest("test", file, inputs=tuple(inputs), outputs=tuple(outputs)))
    verify(result.graph)
    return result


def run(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    results = evaluate(graph, {value.name: inputs[value.name] for value in graph.inputs})
    return [results[value.name] for value in graph.outputs]


def check(file: Path, inputs: Mapping[str, Array], wanted: Sequence[Array], atol: float = 2e-5) -> Graph:
    """Imports a program and compares it with its results; gives the optimised graph."""
    graph = imported(file).graph
    compare(run(graph, inputs), wanted, atol)
    optimise(graph)
    compare(run(graph, inputs), wanted, atol)
    return graph


def compare(results: Sequence[Array], expected: Sequence[Array], atol: float) -> None:
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert tuple(result.shape) == tuple(wanted.shape)
        assert result.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=atol)
        else:
            np.testing.assert_array_equal(result, wanted)
