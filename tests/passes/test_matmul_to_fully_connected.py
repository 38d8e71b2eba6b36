"""Products with constant matrices become layers."""

from __future__ import annotations

import pytest

from buildtool.passes.matmul_to_fully_connected import MatmulToFullyConnected
from tests.passes.harness import Maker, apply, ops


@pytest.mark.parametrize("shape", [(4, 6), (2, 4, 6), (2, 1, 3, 6)])
def test_a_constant_matrix_becomes_weights(shape: tuple[int, ...]) -> None:
    make = Maker()
    graph = make.finish(make("matmul", make.input(*shape), make.random(6, 5)))
    assert apply(graph, MatmulToFullyConnected)
    assert ops(graph) == ["fully_connected"]
    assert graph.nodes[0].name == "matmul_0"


def test_other_products_stay() -> None:
    make = Maker()
    a, b = make.input(2, 4, 6), make.input(6, 5)
    outputs = [
        make("matmul", a, b),
        make("matmul", a, make.random(2, 6, 5)),
        make("matmul", make.random(4, 6), b),
        make("matmul", make.input(6), make.random(6, 5)),
    ]
    assert not apply(make.finish(*outputs), MatmulToFullyConnected)
