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
    """Inputs and outputs of a model, in its own order, for the first of a batch."""
    with np.load(io.BytesIO(archive()[f"{Path(name).stem}.npz"])) as arrays:
        inputs = [arrays[f"input{index}"][:1] for index in range(len(arrays)) if f"input{index}" in arrays]
        outputs = [arrays[f"output{index}"][:1] for index in range(len(arrays)) if f"output{index}" in arrays]
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


def healthy(name: str, folder: Path) -> ImportedModel:
    """A model for a batch of one, and for images of the size that Keras was given where it leaves that open."""
    given, _ = expected(name)
    sizes = [TensorRequest("input0", (1, *given[0].shape[1:]), "MODEL")] if "open" in name else []
    return imported(archive()[name], folder, Path(name).suffix, sizes)


def run(graph: Graph, given: Sequence[Array]) -> list[Array]:
    results = evaluate(graph, {value.name: array for value, array in zip(graph.inputs, given, strict=True)})
    return [results[value.name] for value in graph.outputs]
