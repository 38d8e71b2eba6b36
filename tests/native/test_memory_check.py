"""Runs with a core built with LATHE_CHECK_MEMORY: no value may be overwritten before its last use."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.errors import RunError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph, Region, Value
from buildtool.passes.pipeline import optimise
from buildtool.plan import arena, check, liveness, manifest
from buildtool.plan.liveness import Lifetime
from buildtool.runtime import Library
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, ModelSource
from tests.native.test_random_graphs import random_graph
from tests.native_builds import ROOT, checked_library
from tests.plan.graphs import add_input, apply, make
from tests.strangers import onnx_models
from tests.strangers.exclusions import reason
from tests.strangers.judge import judge_model
from tests.workflow.test_self_check import plant, read_twice
from tests.zoo.networks import NETWORKS, cached

SHARE = 40


@pytest.fixture(scope="module")
def checked() -> Library:
    return Library(checked_library(), "lathe_full")


@pytest.fixture(autouse=True)
def _manifests_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "load", functools.cache(manifest.load))


def _run(graph: Graph, library: Library) -> None:
    """As planned, and as the library plans itself."""
    model = TARGET.lower(LibrarySource("m", "m", (ModelSource("m", graph),)), "host").models[0]
    for plan in (model.plan, None):
        files = container.write(model.source.graph, name="m", stored=model.source.stored, plan=plan)
        session = library.engine(model=files.model, data=files.data, threads=2).session()
        session.profile()


def _run_random(seeds: range, library: Library) -> None:
    for seed in seeds:
        graph = random_graph(seed)
        _run(graph, library)
        optimise(graph)
        _run(graph, library)


@pytest.mark.slow
def test_random_graphs_overwrite_nothing(checked: Library) -> None:
    _run_random(range(SHARE), checked)


@pytest.mark.sweep
def test_many_random_graphs_overwrite_nothing(checked: Library) -> None:
    _run_random(range(SHARE, 2000), checked)


@pytest.mark.slow
def test_models_with_branches_and_loops_overwrite_nothing(checked: Library) -> None:
    models = (onnx_models.draw(seed) for seed in range(1000))
    with_regions = (m for m in models if {node.op_type for node in m.proto.graph.node} & {"If", "Loop", "Scan"})
    for _ in range(SHARE // 2):
        verdict = judge_model(next(with_regions), checked)
        assert verdict.kind in ("right", "refused") or reason(verdict), verdict


@pytest.mark.sweep
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_overwrite_nothing(name: str, checked: Library) -> None:
    file = cached(name, ROOT / "build" / "test-zoo", 64, 0.25)
    graph = import_model("onnx", ImportRequest(name, Path(file))).graph
    optimise(graph)
    _run(graph, checked)


def _loop() -> tuple[Graph, dict[str, Value]]:
    """Three iterations carry two values, and read one from around the loop: one of each kind by its name."""
    graph = Graph(name="loop")
    x = add_input(graph, "x", (4, 8))
    trips = graph.new_constant("trips", np.array(3, np.int64))
    flag = graph.new_constant("flag", np.array(True))
    captured = apply(graph, make("sigmoid"), x)
    start = apply(graph, make("abs"), x)
    first, second = Value("first", x.type), Value("second", x.type)
    body = Region(inputs=[Value("number", trips.type), first, second])

    def node(name: str, *inputs: Value) -> Value:
        body.nodes.append(graph.new_node(make(name), inputs))
        return body.nodes[-1].outputs[0]

    early = node("mul", first, captured)
    late = node("abs", node("add", early, second))
    body.outputs = [flag, node("sigmoid", early), late]
    graph.nodes.append(graph.new_node(make("loop", most=(), size=()), [trips, flag, start, start], regions=[body]))
    graph.outputs = list(graph.nodes[-1].outputs)
    return graph, {"captured": captured, "carried": first}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["captured", "carried"])
def test_a_value_of_a_loop_that_is_given_up_early_is_found(
    name: str, checked: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is captured is read by each iteration; what is carried is written while outputs of the body are read."""
    graph, values = _loop()
    _run(graph, checked)
    monkeypatch.setattr(check, "check", lambda graph, plan, kernels: None)
    monkeypatch.setattr(arena, "lifetimes", lambda graph: _given_up(graph, values[name].name))
    with pytest.raises(RunError, match="was overwritten before"):
        _run(graph, checked)


def _given_up(graph: Graph, name: str) -> dict[Value, Lifetime]:
    """Lifetimes where nobody keeps a value behind the last node that reads it, although a loop runs that again."""
    lives, step_of = liveness.lifetimes(graph), liveness.steps(graph)
    (value,) = [value for value in lives if value.name == name]
    last = max(step for node, step in step_of.items() if value in node.inputs)
    assert last < lives[value].last
    return {**lives, value: replace(lives[value], last=last)}


def test_an_overwritten_value_is_found_where_it_is_read(checked: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(read_twice(), checked)
    plant(monkeypatch)
    with pytest.raises(RunError, match="was overwritten before"):
        _run(read_twice(), checked)
