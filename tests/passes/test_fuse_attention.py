"""softmax(q k^T) v as one node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph, Value
from buildtool.passes.fuse_attention import FuseAttention
from buildtool.passes.pipeline import LOWERING, lower, optimise
from tests.passes.harness import Maker, apply, ops

_TURN = (0, 2, 1, 3)


def _scores(make: Maker, q: Value, k: Value, perm: tuple[int, ...] = (0, 1, 3, 2)) -> Value:
    return make("matmul", q, make("transpose", k, perm=perm))


def _finish(make: Maker, scores: Value, v: Value) -> Graph:
    return make.finish(make("matmul", make("softmax", scores, axis=3), v))


def _operator(graph: Graph) -> Any:
    assert ops(graph) == ["attention"]
    return graph.nodes[0].op


def test_plain() -> None:
    make = Maker()
    q, k, v = make.input(2, 3, 5, 8), make.input(2, 3, 7, 8), make.input(2, 3, 7, 6)
    graph = _finish(make, _scores(make, q, k), v)
    assert apply(graph, FuseAttention)
    assert _operator(graph).tokens_first == (0, 0, 0, 0)
    assert _operator(graph).scale == 1.0
    assert not apply(graph, FuseAttention)


def test_everything_with_tokens_first_and_scales_anywhere() -> None:
    make = Maker()
    q, k, v = (make.input(2, 5, 3, 8) for _ in range(3))
    left = make("mul", make("transpose", make("mul", q, make.constant(0.5)), perm=_TURN), make.constant(0.25))
    scores = make("div", _scores(make, left, k, (0, 2, 3, 1)), make.constant(2.0))
    product = make("matmul", make("softmax", scores, axis=3), make("transpose", v, perm=_TURN))
    graph = make.finish(make("transpose", product, perm=_TURN))
    assert apply(graph, FuseAttention)
    assert _operator(graph).tokens_first == (1, 1, 1, 1)
    assert _operator(graph).scale == 0.0625


@pytest.mark.parametrize("shape", [(1, 1, 5, 7), (2, 1, 1, 7), (1, 3, 5, 7), (2, 3, 5, 7)])
@pytest.mark.parametrize("swap", [False, True])
def test_a_mask(shape: tuple[int, ...], swap: bool) -> None:
    make = Maker()
    q, k, v = make.input(2, 3, 5, 8), make.input(2, 3, 7, 8), make.input(2, 3, 7, 6)
    terms = [make("mul", _scores(make, q, k), make.constant(0.3)), make.input(*shape)]
    graph = _finish(make, make("add", *terms[:: -1 if swap else 1]), v)
    assert apply(graph, FuseAttention)
    assert len(graph.nodes[0].inputs) == 4
    assert _operator(graph).scale == pytest.approx(0.3)


def test_heads_of_keys_that_are_shared() -> None:
    make = Maker()
    q, k, v = make.input(1, 6, 5, 8), make.input(1, 2, 7, 8), make.input(1, 2, 7, 8)
    repeated = []
    for value in (k, v):
        apart = make("reshape", value, shape=(1, 2, 1, 7, 8))
        wide = make("broadcast_to", apart, shape=(1, 2, 3, 7, 8))
        repeated.append(make("reshape", wide, shape=(1, 6, 7, 8)))
    graph = _finish(make, _scores(make, q, repeated[0]), repeated[1])
    assert apply(graph, FuseAttention)
    assert _operator(graph).tokens_first == (0, 0, 0, 0)
    assert graph.nodes[0].inputs == [q, k, v]


@pytest.mark.parametrize("shared", [0, 1])
def test_heads_of_only_keys_or_only_values_are_repeated(shared: int) -> None:
    """The kernel takes as many heads of keys as of values: both stay as they are."""
    make = Maker()
    q = make.input(1, 6, 5, 8)
    both = [make.input(1, 6, 7, 8), make.input(1, 6, 7, 8)]
    apart = make("reshape", make.input(1, 2, 7, 8), shape=(1, 2, 1, 7, 8))
    both[shared] = make("reshape", make("broadcast_to", apart, shape=(1, 2, 3, 7, 8)), shape=(1, 6, 7, 8))
    graph = _finish(make, _scores(make, q, both[0]), both[1])
    assert apply(graph, FuseAttention)
    assert graph.nodes[-1].op.name == "attention"
    assert graph.nodes[-1].inputs[1:] == both


def test_lengths_of_run_time() -> None:
    make = Maker()
    tokens, past = symbol("tokens", 1, 9), symbol("past", 1, 20)
    q, k, v = make.input(1, 3, tokens, 8), make.input(1, 3, past, 8), make.input(1, 3, past, 6)
    graph = _finish(make, _scores(make, q, k), v)
    assert apply(graph, FuseAttention, sizes=[{"tokens": 1, "past": 3}, {"tokens": 9, "past": 20}])
    _operator(graph)


def test_what_is_not_fused() -> None:
    def plain(make: Maker) -> list[Value]:
        return [make.input(1, 3, 5, 8), make.input(1, 3, 7, 8), make.input(1, 3, 7, 6)]

    make = Maker()
    q, k, v = plain(make)
    assert not apply(make.finish(make("matmul", make("softmax", _scores(make, q, k), axis=2), v)), FuseAttention)
    make = Maker()  # somebody else reads the scores
    q, k, v = plain(make)
    scores = _scores(make, q, k)
    graph = make.finish(make("matmul", make("softmax", scores, axis=3), v), make("relu", scores))
    assert not apply(graph, FuseAttention)
    make = Maker()  # somebody else reads the weights
    q, k, v = plain(make)
    weights = make("softmax", _scores(make, q, k), axis=3)
    assert not apply(make.finish(make("matmul", weights, v), weights), FuseAttention)
    make = Maker()  # a scale below 0
    q, k, v = plain(make)
    assert not apply(_finish(make, make("mul", _scores(make, q, k), make.constant(-1.0)), v), FuseAttention)
    make = Maker()  # a mask that makes the scores larger
    q, k, v = make.input(1, 3, 1, 8), make.input(1, 3, 7, 8), make.input(1, 3, 7, 6)
    wide = make("add", _scores(make, q, k), make.constant(np.zeros((1, 1, 4, 7))))
    assert not apply(_finish(make, wide, v), FuseAttention)
    make = Maker()  # batches that broadcast
    q, k, v = make.input(2, 3, 5, 8), make.input(1, 3, 7, 8), make.input(2, 3, 7, 6)
    assert not apply(_finish(make, _scores(make, q, k), v), FuseAttention)


def test_after_all_other_passes_and_only_where_it_is_wanted() -> None:
    make = Maker()
    q, k, v = (make("reshape", make.input(1, 5, 24), shape=(1, 5, 3, 8)) for _ in range(3))
    left, right, values = (make("transpose", value, perm=_TURN) for value in (q, k, v))
    scores = make("mul", _scores(make, left, right), make.constant(0.35))
    product = make("matmul", make("softmax", scores, axis=3), values)
    graph = make.finish(make("reshape", make("transpose", product, perm=_TURN), shape=(1, 5, 24)))
    optimise(graph)
    wanted = tuple(kind.name for kind in LOWERING)
    fused = lower(graph, wanted)
    assert [op for op in ops(fused) if op != "reshape"] == ["attention"]
    assert "attention" not in ops(lower(graph, ["fuse_expansions"]))
    (node,) = (node for node in fused.nodes if node.op.name == "attention")
    op: Any = node.op
    assert op.tokens_first == (1, 1, 1, 1)
