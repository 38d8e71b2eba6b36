"""Operators that a user brings are found by name, whatever their domain in the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from onnx import helper

from buildtool.errors import LatheError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.importers.user_operators import operator_name
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ops._elementwise import UnaryOperator
from buildtool.ops.registry import builtin
from tests.importers.onnx.harness import model_of, random, run, save


@dataclass(frozen=True)
class SoftLimit(UnaryOperator):
    """x / (1 + |x| / limit), or its square."""

    name: ClassVar[str] = "soft_limit"

    limit: float
    squared: bool = False

    def compute(self, x: Array) -> Array:
        y = x / (1 + np.abs(x) / x.dtype.type(self.limit))
        return y * y if self.squared else y


def _import(folder: Path, op: str = "SoftLimit", **attributes: object) -> Graph:
    nodes = [helper.make_node(op, ["x"], ["y"], name="mine", domain="com.example", **attributes)]  # type: ignore[arg-type]
    file = save(model_of(nodes, {"x": random(2, 3)}, ["y"], {}), folder)
    operators = {**builtin(), "soft_limit": SoftLimit}
    return import_model(ImportRequest("m", file, operators=operators)).graph


def test_a_users_operator_is_imported_with_its_attributes(tmp_path: Path) -> None:
    graph = _import(tmp_path, limit=2.0, squared=1)
    assert graph.nodes[0].op == SoftLimit(2.0, True)
    x = random(2, 3)
    np.testing.assert_allclose(run(graph, [x])[0], (x / (1 + np.abs(x) / 2)) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "the attribute 'limit' of the operator 'soft_limit' is missing"),
        ({"limit": 1.0, "limits": 2}, "has no attribute 'limits'"),
        ({"limit": "high"}, "attribute 'limit'"),
        ({"limit": [1.0]}, "attribute 'limit'"),
    ],
)
def test_wrong_attributes_are_reported(attributes: dict, words: str, tmp_path: Path) -> None:
    with pytest.raises(LatheError, match=words) as caught:
        _import(tmp_path, **attributes)
    assert caught.value.problems[0].where.node == "mine"


def test_a_builtin_operator_is_no_users_operator(tmp_path: Path) -> None:
    with pytest.raises(LatheError, match=r"com\.example\.Relu \(node 'mine'\) is not supported"):
        _import(tmp_path, "Relu")


@pytest.mark.parametrize(
    ("title", "name"),
    [("SoftLimit", "soft_limit"), ("Scale2D", "scale2d"), ("soft_limit", "soft_limit"), ("NMSFilter", "nmsfilter")],
)
def test_names(title: str, name: str) -> None:
    assert operator_name(title) == name
