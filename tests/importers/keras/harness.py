"""The files that Keras saved for the tests, and what it computed with them."""

from __future__ import annotations

import functools
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool.importers.keras import import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify

EXPECTED = Path(__file__).resolve().parents[2] / "oracles" / "keras" / "expected"
ENDS = (".h5", ".keras")


@functools.cache
def archive() -> Mapping[str, bytes]:
    with zipfile.ZipFile(EXPECTED / "models.zip") as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def models() -> list[str]:
    return sorted(name for name in archive() if name.endswith(ENDS))


def expected(name: str) -> tuple[list[Array], list[Array]]:
    """Inputs and outputs of a model, in its own order."""
    with np.load(io.BytesIO(archive()[f"{Path(name).stem}.npz"])) as arrays:
        inputs = [arrays[f"input{index}"] for index in range(len(arrays)) if f"input{index}" in arrays]
        outputs = [arrays[f"output{index}"] for index in range(len(arrays)) if f"output{index}" in arrays]
    return inputs, outputs


def imported(
    data: bytes,
    folder: Path,
    end: str = ".keras",
    inputs: Sequence[TensorRequest] = (),
    outputs: Sequence[TensorRequest] = (),
) -> ImportedModel:
    file = folder / f"model{end}"
    file.write_bytes(data)
    result = import_model(ImportRequest("test", file, inputs=tuple(inputs), outputs=tuple(outputs)))
    verify(result.graph)
    return result


def of_shapes(name: str, folder: Path) -> ImportedModel:
    """A model whose inputs have the shapes of the arrays that Keras was given."""
    data, end = archive()[name], Path(name).suffix
    given, _ = expected(name)
    names = input_names(data, folder, end)
    requests = [TensorRequest(one, array.shape, "MODEL") for one, array in zip(names, given, strict=True)]
    return imported(data, folder, end, requests)


def input_names(data: bytes, folder: Path, end: str) -> list[str]:
    from buildtool.importers.keras.reading import read

    file = folder / f"named{end}"
    file.write_bytes(data)
    return list(read(file, None, "named").inputs)


def run(graph: Graph, given: Sequence[Array]) -> list[Array]:
    results = evaluate(graph, {value.name: array for value, array in zip(graph.inputs, given, strict=True)})
    return [results[value.name] for value in graph.outputs]
