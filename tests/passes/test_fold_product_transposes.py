"""Transposes in front of products."""

from __future__ import annotations

from buildtool.passes.fold_product_transposes import FoldProductTransposes
from tests.passes.harness import Maker, apply, ops


def test_a_transposed_matrix() -> None:
    make = Maker()
    turned = make("transpose", make.input(5, 4), perm=(1, 0))
    graph = make.finish(make("matmul", make.input(2, 3, 4), turned))
    assert apply(graph, FoldProductTransposes)
    assert ops(graph) == ["fully_connected"]


def test_two_transposed_operands() -> None:
    make = Maker()
    left = make("transpose", make.input(2, 4, 3), perm=(0, 2, 1))
    right = make("transpose", make.input(2, 5, 4), perm=(0, 2, 1))
    graph = make.finish(make("matmul", left, right))
    assert apply(graph, FoldProductTransposes)
    assert ops(graph) == ["matmul", "transpose"]


def test_transposes_that_are_no_operand_of_a_constant_or_move_other_axes_stay() -> None:
    make = Maker()
    batches = make("transpose", make.input(2, 5, 4), perm=(0, 2, 1))
    first = make("transpose", make.input(4, 2, 5), perm=(1, 0, 2))
    graph = make.finish(make("matmul", make.input(2, 3, 4), batches), make("matmul", make.input(2, 3, 4), first))
    assert not apply(graph, FoldProductTransposes)
