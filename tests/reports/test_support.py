"""Which operators of a model can be run, by ABI and why not; which ones can be imported."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from buildtool.errors import ConfigError, InternalError
from buildtool.importers.onnx.registry import REGISTRY
from buildtool.reports import support
from buildtool.targets.cpu.capabilities import CPU
from tests.cli.conftest import EXAMPLE


def model(file: Path, *operators: str, shape: tuple[int | str, ...] = (2, 3)) -> Path:
    """A chain of operators with one input."""
    names = ["x", *(f"t{index}" for index in range(1, len(operators))), "y"]
    nodes = [
        helper.make_node(operator, [before], [after], name=f"node {after}")
        for operator, before, after in zip(operators, names, names[1:], strict=False)
    ]
    borders = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "chain", borders[:1], borders[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def test_operators_of_a_model_are_listed_with_the_abis_that_have_them() -> None:
    document = support.of_model(EXAMPLE / "digits.onnx")
    rows = {row["name"]: row for row in document["operators"]}
    assert (rows["Conv"]["nodes"], rows["Conv"]["imported"]) == (2, True)
    assert list(rows["Conv"]["abis"]) == list(CPU.abis)
    assert set(rows["Conv"]["abis"].values()) == {support.YES}
    assert set(rows["Relu"]["abis"].values()) == {support.MERGED}
    assert {row["name"] for row in document["graph_operators"]} >= {"conv2d", "softmax"}
    assert document["problems"] == []


def test_an_operator_that_cannot_be_imported(tmp_path: Path) -> None:
    document = support.of_model(model(tmp_path / "m.onnx", "Relu", "Multinomial"), ("host",))
    rows = {row["name"]: row for row in document["operators"]}
    assert (rows["Multinomial"]["imported"], rows["Multinomial"]["abis"]) == (False, {"host": support.NO})
    assert rows["Relu"]["abis"] == {"host": support.UNKNOWN}
    assert document["graph_operators"] == []
    assert "Multinomial" in str(document["problems"])
    assert any("Multinomial" in part for part in support.parts(document) if isinstance(part, str))


def test_an_operator_without_a_kernel_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from buildtool.plan import manifest

    found = manifest.load()
    without = {op: kernels for op, kernels in found.kernels.items() if op != "tan"}
    monkeypatch.setattr(manifest, "load", lambda op_paths=(): manifest.Manifests(without))
    document = support.of_model(model(tmp_path / "m.onnx", "Tan", "Tanh"), ("host",))
    states = {row["name"]: row["abis"]["host"] for row in document["operators"]}
    assert states == {"Tan": support.NO, "Tanh": support.YES}
    assert {row["name"]: row["abis"]["host"] for row in document["graph_operators"]}["tan"] == support.NO
    (problem,) = document["problems"]
    assert "no kernel runs tan" in problem["what"]


def test_sizes_that_are_open_are_told(tmp_path: Path) -> None:
    document = support.of_model(model(tmp_path / "m.onnx", "Relu", shape=("N", 3)), ("host",))
    assert document["operators"][0]["abis"] == {"host": support.UNKNOWN}
    assert "input_shapes" in document["problems"][0]["remedy"]


def test_every_operator_of_the_importer_is_listed() -> None:
    document = support.all_operators()
    items = {item["name"]: item for item in document["items"] if item["platform"] == "onnx"}
    assert items["Conv"]["imported"]
    assert not items["Multinomial"]["imported"]
    assert "com.microsoft.FusedConv" in items
    assert any("of onnx can be imported" in str(part) for part in support.parts(document))


def test_an_abi_that_nobody_builds_for() -> None:
    with pytest.raises(ConfigError, match="no target builds for"):
        support.of_model(EXAMPLE / "digits.onnx", ("z80",))


def test_a_defect_in_a_handler_is_no_problem_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY.handlers(), "Relu", lambda step: step.no_such_accessor)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="no_such_accessor"):
        support.of_model(model(tmp_path / "m.onnx", "Relu"), ("host",))
