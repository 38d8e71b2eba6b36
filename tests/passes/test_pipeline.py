"""The order, the selection, the checks after each pass, and a whole graph through all of them."""

from __future__ import annotations

import itertools

import pytest

from buildtool.errors import ConfigError, InternalError
from buildtool.ir.graph import Graph
from buildtool.passes import pipeline
from buildtool.passes.base import Pass
from buildtool.passes.pipeline import available, optimise, select
from tests.passes.harness import NCHW, NHWC, Maker, apply, ops


def _graph() -> Graph:
    make = Maker()
    x = make("transpose", make.input(1, 8, 8, 3), perm=NCHW)
    for channels in (4, 6):
        made = make.wrapped_conv(x, channels, 3)
        numbers = [make.random(channels, low=0.1) for _ in range(4)]
        normal = make("batch_norm", make("transpose", made, perm=NHWC), *numbers, epsilon=1e-5)
        x = make("relu", make("identity", make("transpose", normal, perm=NCHW)))
    flat = make("reshape", x, shape=(1, 96))
    score = make("add", make("matmul", flat, make.random(96, 5)), make.random(5))
    make("exp", score)
    return make.finish(make("softmax", score, axis=1))


class _Everything(Pass):
    """The pipeline as one pass, for the comparison of outputs."""

    name = "everything"
    summary = "all passes"

    def run(self, graph: Graph) -> bool:
        return any(run.modified for run in optimise(graph))


def test_a_network_becomes_its_layers() -> None:
    graph = _graph()
    assert apply(graph, _Everything())
    assert ops(graph) == ["conv2d", "conv2d", "reshape", "fully_connected", "softmax"]
    assert [node.op.attributes().get("activation") for node in graph.nodes[:2]] == ["relu", "relu"]


def test_runs_are_reported() -> None:
    graph = _graph()
    before = len(graph.nodes)
    runs = optimise(graph)
    assert runs[0].nodes_before == before
    assert runs[-1].nodes_after == len(graph.nodes)
    assert not any(run.modified for run in runs[-len(pipeline.ORDER) :])
    assert all(first.nodes_after == second.nodes_before for first, second in itertools.pairwise(runs))


def test_the_result_is_the_same_every_time() -> None:
    first, second = _graph(), _graph()
    optimise(first)
    optimise(second)
    assert [repr(node) for node in first.nodes] == [repr(node) for node in second.nodes]


def test_passes_can_be_picked_and_watched() -> None:
    graph, seen = _graph(), []
    optimise(graph, ["remove_identities", "remove_dead_code"], after=lambda run, _: seen.append(run.name))
    assert seen[:3] == ["remove_dead_code", "remove_identities", "remove_dead_code"]
    assert "identity" not in ops(graph)
    assert "batch_norm" in ops(graph)


def test_no_passes() -> None:
    graph = _graph()
    assert optimise(graph, []) == ()
    assert "identity" in ops(graph)


def test_a_wrong_name_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="did you mean 'fold_constants'"):
        select(["fold_constant"])


def test_names_are_unique_and_requirements_come_first() -> None:
    names = [one.name for one in available()]
    assert len(set(names)) == len(names)
    for one in available():
        assert one.summary
        assert all(names.index(needed) < names.index(one.name) for needed in one.requires)


class _Breaker(Pass):
    """Reads a value that nothing makes."""

    name = "breaker"
    summary = "break the graph"

    def run(self, graph: Graph) -> bool:
        graph.nodes = graph.nodes[1:]
        return True


class _Liar(Pass):
    """Does not do what it ensures."""

    name = "liar"
    summary = "promise and do nothing"

    def run(self, graph: Graph) -> bool:
        return False

    def ensures(self, graph: Graph):  # type: ignore[no-untyped-def]
        yield "something is left"


@pytest.mark.parametrize(("wrong", "words"), [(_Breaker, "breaker"), (_Liar, "something is left")])
def test_a_pass_that_breaks_its_promise_is_found_at_once(
    wrong: type[Pass], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ORDER", (wrong,))
    with pytest.raises(InternalError, match=words):
        optimise(_graph())
