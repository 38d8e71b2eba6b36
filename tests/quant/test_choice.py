"""Which operators are stored in a few bits, as a deployment says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import buildtool
from buildtool.errors import ConfigError
from buildtool.quant.choice import Choice, layer_name, names_of, real
from buildtool.requests.deployments import load_deployment
from buildtool.workflow import convert, prepare
from tests.cli.conftest import EXAMPLE
from tests.passes.harness import Maker

USUAL = {"conv2d", "fully_connected"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("accuracy.yml", "accuracy.py", "digits.onnx", "test.npz"):
        shutil.copy(EXAMPLE / name, tmp_path)
    ranges = ["image@@0,1"]
    (model,) = prepare(load_deployment(tmp_path / "accuracy.yml"))
    ranges += [
        f"{value.source_names[0]}@@-4,9" for node in model.graph.nodes for value in node.outputs if value.source_names
    ]
    (tmp_path / "made.ranges").write_text("\n".join(ranges) + "\n")
    return tmp_path


def _program(project: Path, keys: str) -> dict[str, str]:
    """Why nodes stay in single precision, by their operators and names."""
    text = (project / "accuracy.yml").read_text().rstrip()
    text += "\n    quantize: 1\n    quantize_range_file: made.ranges\n" + keys
    file = project / "int8.yml"
    file.write_text(text)
    options = buildtool.Options(project / "build", archive=False)
    built = convert(file, options=options)
    return {
        f"{kept['op']} {kept['node']}": kept["reason"] for kept in built.models[0].plans[0].get("single_precision", [])
    }


def _nodes(project: Path) -> list[tuple[str, str]]:
    (model,) = prepare(load_deployment(project / "accuracy.yml"))
    return [(node.op.name, node.name) for node in model.graph.nodes]


def test_layers_and_operators_stay_real_by_name(project: Path) -> None:
    nodes = _nodes(project)
    assert not _program(project, "")
    convolutions = [name for op, name in nodes if op == "conv2d"]
    kept = _program(project, f"    quantize_keep_float: [{convolutions[1]}, softmax]\n")
    assert {name.split(" ")[0] for name in kept} == {"conv2d", "softmax"}
    assert kept[f"conv2d {convolutions[1]}"] == f"quantize_keep_float names '{convolutions[1]}'"
    assert len(kept) == 2, "other convolutions are stored"


def test_the_result_names_a_layer_as_well(project: Path) -> None:
    kept = _program(project, "    quantize_keep_float: relu_2_out\n")
    assert set(kept.values()) == {
        "quantize_keep_float names 'relu_2_out'",
        "it moves data of nodes that stay in floating point",
    }
    assert {name.split(" ")[0] for name in kept} == {"conv2d", "reshape"}


def test_the_usual_operators_and_what_moves_between_them(project: Path) -> None:
    kept = _program(project, "    quantize_operators: usual\n")
    operators = {name.split(" ")[0] for name in kept}
    assert "softmax" in operators and not operators & USUAL
    assert set(kept.values()) == {f"quantize_operators does not name {op}" for op in operators}
    assert {name.split(" ")[0] for name in _program(project, "    quantize_operators: [conv2d]\n")} >= {
        "fully_connected",
        "softmax",
    }


def test_names_that_nothing_has_are_told_all_at_once(project: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _program(project, "    quantize_keep_float: [relu_2_ou]\n    quantize_operators: [conf2d, usual]\n")
    first, second = caught.value.problems
    assert "'conf2d' in 'quantize_operators' is neither an operator nor" in first.what
    assert first.remedy == "did you mean 'conv2d'?"
    assert "'relu_2_ou' in 'quantize_keep_float' is neither an operator nor a layer of the model" in second.what
    assert second.remedy == "did you mean 'relu_2_out'?"
    assert first.where.line == second.where.line + 1


def test_only_what_moves_numbers_between_chosen_nodes_is_stored() -> None:
    make = Maker()
    x = make.input(2, 4, 4)
    before = make("reshape", x, shape=(2, 16))
    product = make("fully_connected", before, make.random(6, 16))
    between = make("reshape", product, shape=(3, 4))
    made = make("softmax", between, axis=1)
    behind = make("reshape", made, shape=(12,))
    graph = make.finish(behind)
    assert set(real(graph, Choice(("usual",)))) == {made, behind}
    assert set(real(graph, Choice(("softmax",)))) == {before, product}
    assert not real(graph, Choice())


def test_a_layer_has_the_name_that_the_source_gave_it() -> None:
    make = Maker()
    y = make("fully_connected", make.input(2, 4), make.random(3, 4))
    (node,) = make.graph.nodes
    for names, wanted in (
        (("clip.42", "logits", "transpose.7"), "logits"),
        (("clip.42",), "clip.42"),
        (("layer1.0",), "layer1.0"),
        (("", "a/b:0"), "a/b:0"),
        ((), "fully_connected_0"),
    ):
        y.source_names = names
        assert layer_name(node) == wanted
        assert wanted in names_of(node)
