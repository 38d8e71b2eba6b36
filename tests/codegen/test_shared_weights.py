"""Models inside one library: weights that are equal are in it once, and every model still reads its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool.codegen import container, shared_weights
from buildtool.codegen.container import Container
from buildtool.drafts import deployment
from buildtool.ir.graph import Graph
from buildtool.runtime import Library
from tests.plan.graphs import OPS, add_input, apply, make, small_network

RANDOM = np.random.default_rng(5)
MATRICES = {name: RANDOM.standard_normal((96, 96)).astype(np.float32) for name in ("shared", "more", "own")}


def written(name: str, scale: float = 1.0) -> Container:
    return container.write(small_network(name, scale), name=name)


def test_equal_models_have_one_block() -> None:
    models = [written("first"), written("second"), written("other", 2.0)]
    first, second, other = shared_weights.shared(models)
    assert first.data is second.data is other.data
    assert len(first.data) <= len(models[0].data) + len(models[2].data) + 2 * 64
    for before, after in zip(models, (first, second, other), strict=True):
        was, _ = container.read(before.model, before.data, OPS)
        now, _ = container.read(after.model, after.data, OPS)
        for old, new in zip(was.values(), now.values(), strict=True):
            if old.constant is not None:
                assert new.constant is not None
                np.testing.assert_array_equal(old.constant, new.constant)


def test_others_keep_their_own() -> None:
    models = (written("first"), written("other", 2.0))
    assert shared_weights.shared(models) == models
    assert shared_weights.shared(()) == ()


def test_models_without_weights() -> None:
    graph = Graph(name="bare")
    graph.outputs.append(apply(graph, make("relu"), add_input(graph, "x", (1, 4))))
    bare = container.write(graph, name="bare")
    assert bare.data == b""
    assert shared_weights.shared((bare,)) == (bare,)
    _, alone, _ = shared_weights.shared((written("first"), bare, written("second")))
    container.read(alone.model, alone.data, OPS)


def network(file: Path, rows: int, names: list[str]) -> Path:
    nodes = [helper.make_node("MatMul", [f"x{i}", name], [f"x{i + 1}"]) for i, name in enumerate(names)]
    ends = [(f"x{i}", helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [rows, 96])) for i in (0, len(names))]
    stored = [numpy_helper.from_array(MATRICES[name], name) for name in names]
    graph = helper.make_graph(nodes, file.stem, [ends[0][1]], [ends[1][1]], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("large", ["0", "int4"])
def test_a_library_holds_them_once(large: str, tmp_path: Path) -> None:
    networks = {"prompt": (12, ["shared", "more"]), "word": (1, ["shared", "more"]), "other": (3, ["own"])}
    files = [network(tmp_path / f"{name}.onnx", *networks[name]) for name in networks]
    text = deployment.write(files, relative_to=tmp_path, library_name="nets", data_type="fp32_fp32")
    key = "data_type: fp32_fp32\n"
    assert text.count(key) == 3
    file = tmp_path / "nets.yml"
    file.write_text(text.replace(key, f"{key}    quantize_large_weights: {large}\n"))
    overrides = buildtool.Overrides(model_graph_format="code", model_data_format="code")
    built = buildtool.build(file, overrides, buildtool.Options(tmp_path / "build"))
    parts = built.libraries[0].sizes["parts"]
    inside = sum(part["bytes"] for part in parts if part["name"].endswith(": weights"))
    alone = [path.stat().st_size for path in (tmp_path / "build/nets/model").glob("*.data")]
    assert len(alone) == 3
    assert max(alone) < inside <= sum(alone) - min(max(alone), 8000)
    library = Library(built.folder / built.libraries[0].shared)
    for name, (rows, matrices) in networks.items():
        x = RANDOM.standard_normal((rows, 96)).astype(np.float32)
        (found,) = library.engine(model_name=name).run({"x0": x}).values()
        want = x
        for matrix in matrices:
            want = want @ MATRICES[matrix]
        cosine = np.vdot(found, want) / np.linalg.norm(found) / np.linalg.norm(want)
        assert cosine > (0.98 if large != "0" else 0.999999), name
