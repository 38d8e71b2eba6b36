"""Graphs as exporters write them, with drawn weights, beside onnxruntime at two sizes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest

from buildtool.codegen import container
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.gallery.stripping import fill
from tests.native_builds import full_library

RECORDED = Path(__file__).with_name("recorded.zip")
Array = npt.NDArray[Any]


def _names() -> list[str]:
    with zipfile.ZipFile(RECORDED) as archive:
        return sorted(Path(name).stem for name in archive.namelist() if name.endswith(".onnx"))


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


@pytest.mark.slow
@pytest.mark.parametrize("name", _names())
def test_computes_as_onnxruntime(name: str, library: Library, tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORDED) as archive:
        model = fill(onnx.load_from_string(archive.read(f"{name}.onnx")))
        case = json.loads(archive.read(f"{name}.json"))
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    drawn = [_draw(case["inputs"], size) for size in range(case["sizes"])]
    expected = [session.run(None, inputs) for inputs in drawn]
    requests = tuple(_request(entry) for entry in case["inputs"])
    outputs = tuple(
        TensorRequest(entry.name, None, "NCHW" if value.ndim == 4 else "NONE", None)
        for entry, value in zip(session.get_outputs(), expected[0], strict=True)
    )
    graph = import_model("onnx", ImportRequest(name, file, inputs=requests, outputs=outputs)).graph
    optimise(graph)
    files = container.write(graph, name=name, half=False)
    engine = library.engine(model=files.model, data=files.data, threads=1)
    for inputs, wanted in zip(drawn, expected, strict=True):
        found = engine.run(inputs)
        for entry, value in zip(outputs, wanted, strict=True):
            _compare(found[entry.name], value, entry.name)


def _request(entry: dict[str, Any]) -> TensorRequest:
    shape = tuple(a if a == b else (min(a, b), max(a, b)) for a, b in zip(*entry["shapes"], strict=True))
    return TensorRequest(entry["name"], shape, "NCHW" if len(shape) == 4 else "NONE", None)


def _draw(inputs: list[dict[str, Any]], size: int) -> dict[str, Array]:
    drawn = np.random.default_rng(size)
    result: dict[str, Array] = {}
    for entry in inputs:
        shape = entry["shapes"][size]
        if entry["dtype"] == "float32":
            result[entry["name"]] = drawn.random(shape, dtype=np.float32)
        else:
            low, high = (0, entry["below"]) if entry["below"] else (1, 2)
            result[entry["name"]] = drawn.integers(low, high, shape).astype(entry["dtype"])
    return result


def _compare(found: Array, wanted: Array, name: str) -> None:
    assert found.shape == wanted.shape, name
    if wanted.dtype.kind != "f":
        assert (found == wanted).mean() > 0.999, name
        return
    scale = float(np.abs(wanted).max(initial=0.0))
    assert np.isfinite(wanted).all(), name
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * max(scale, 1e-3), err_msg=name)
