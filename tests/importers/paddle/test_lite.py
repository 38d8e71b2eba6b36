"""Models of Paddle-Lite: all three forms, and what its tool makes of operators and weights."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.importers.request import TensorRequest
from buildtool.ir.operator import Array
from buildtool.schemas import paddle_program_pb2 as pb
from tests.importers.paddle.harness import EXPECTED, archive, check, compare, expected, fed, imported, run
from tests.importers.paddle.lite_writer import write
from tests.importers.paddle.plain import program_of
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.programs import Case, random

_CASES = {case.name: case for case in CASES}


def _constants(case: Case) -> dict[str, Array]:
    return {
        f"{slot}_{n}": one
        for slot, some in case.tensors().items()
        if slot in case.weights
        for n, one in enumerate(some)
    }


@pytest.mark.parametrize("form", [0, 1, 2])
@pytest.mark.parametrize("name", ["conv2d-groups", "prelu-channel", "concat", "lookup_table_v2", "prior_box"])
def test_forms(name: str, form: int, tmp_path: Path) -> None:
    case = _CASES[name]
    program = pb.Program.FromString(archive()[f"{name}/model.pdmodel"])
    file = tmp_path / "model.nb"
    file.write_bytes(write(program, _constants(case), form))
    check(file, fed(case), expected(case))


@pytest.mark.parametrize("name", ["conv2d", "batch_norm", "fc"])
@pytest.mark.parametrize(("release", "form"), [("2.6.0", 0), ("2.6.3", 0), ("2.7", 1), ("2.14rc0", 2)])
def test_files_of_its_own_tool(name: str, release: str, form: int, tmp_path: Path) -> None:
    """The oldest form says nothing about shapes: a deployment has to."""
    case, file = _CASES[name], tmp_path / "model.nb"
    with zipfile.ZipFile(EXPECTED.parents[1] / "paddle_lite" / "expected" / "models.zip") as models:
        file.write_bytes(models.read(f"{release}/{name}.nb"))
    assert file.read_bytes()[0] == form
    requests = [
        TensorRequest(key, tuple(item.shape), "NCHW" if item.ndim == 4 else "NONE") for key, item in fed(case).items()
    ]
    graph = imported(file, requests if form == 0 else ()).graph
    compare(run(graph, fed(case)), expected(case), 1e-5)


def _lite(
    folder: Path,
    op: str,
    inputs: Mapping[str, Array],
    weights: Mapping[str, Array],
    attributes: Mapping[str, Any],
    output: str,
) -> Array:
    program = program_of(op, inputs, {name: str(item.dtype) for name, item in weights.items()}, attributes, (output,))
    file = folder / "model.nb"
    file.write_bytes(write(program, {f"{slot}_0": item for slot, item in weights.items()}, 2))
    (result,) = run(imported(file).graph, {f"{slot}_0": item for slot, item in inputs.items()})
    return result


def test_layers_with_activations(tmp_path: Path) -> None:
    x, w, bias = random(2, 4), random(4, 3), random(3)
    attributes = {"in_num_col_dims": 1, "activation_type": "relu6"}
    result = _lite(tmp_path, "fc", {"Input": x}, {"W": w, "Bias": bias}, attributes, "Out")
    np.testing.assert_allclose(result, np.clip(x @ w + bias, 0, 6), atol=1e-5)


def test_weights_of_bytes(tmp_path: Path) -> None:
    x = random(1, 2, 4, 4)
    w = np.arange(-9, 9, dtype=np.int8).reshape(3, 2, 1, 3)
    scales = [0.5, 0.25, 0.125]
    attributes = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1, "enable_int8": True}
    attributes |= {"Filter0_scale": scales, "Input0_scale": [0.1], "with_act": True, "act_type": "relu"}
    result = _lite(tmp_path, "conv2d", {"Input": x}, {"Filter": w}, attributes, "Output")
    real = w.astype(np.float32) * np.array(scales, np.float32).reshape(3, 1, 1, 1)
    rounded = np.clip(np.round(x / np.float32(0.1)), -128, 127) * np.float32(0.1)
    windows = np.stack([rounded[:, :, :, start : start + 2] for start in range(3)], axis=-1)
    np.testing.assert_allclose(result, np.maximum(np.einsum("nchwk,ock->nohw", windows, real[:, :, 0]), 0), atol=1e-5)


def test_damaged(tmp_path: Path) -> None:
    case = _CASES["conv2d"]
    program = pb.Program.FromString(archive()["conv2d/model.pdmodel"])
    file = tmp_path / "model.nb"
    for form in (0, 1, 2):
        whole = write(program, _constants(case), form)
        for size in (30, len(whole) // 2, len(whole) - 9):
            file.write_bytes(whole[:size])
            with pytest.raises(ModelFileError):
                imported(file)
