"""Loops, branches and run-time sizes in the runtime: every form of the models that the importer is tested with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.importers.frameworks import import_model
from buildtool.ir.graph import Graph
from buildtool.passes.pipeline import optimise
from buildtool.plan import arena, check, manifest
from buildtool.plan.plan import Plan
from buildtool.plan.select import select
from buildtool.runtime import Library
from tests.importers.onnx import control_flow, run_time_sizes
from tests.importers.onnx.control_flow import request_for
from tests.importers.onnx.harness import reference
from tests.native_builds import full_library

MODELS = {**control_flow.MODELS, **run_time_sizes.MODELS}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


def _plan(graph: Graph) -> Plan:
    choices = select(graph, manifest.load(), abi="host", isas=["portable"])
    memory = arena.plan(graph, choices)
    plan = Plan("host", tuple(choice.names for choice in choices), memory.placements, memory.size)
    check.check(graph, plan, choices)
    return plan


@pytest.mark.slow
@pytest.mark.parametrize("planned", [False, True], ids=["portable", "planned"])
@pytest.mark.parametrize("optimised", [False, True], ids=["as_imported", "optimised"])
@pytest.mark.parametrize("name", MODELS)
def test_like_onnxruntime(tmp_path: Path, library: Library, name: str, optimised: bool, planned: bool) -> None:
    proto = MODELS[name].proto()
    graph = import_model("onnx", request_for(tmp_path, proto, MODELS[name].bounded)).graph
    if optimised:
        optimise(graph)
    files = container.write(graph, name=name, half=False, plan=_plan(graph) if planned else None)
    engine = library.engine(model=files.model, data=files.data, threads=2)
    for session in (engine.session(), engine.session(keep_all=True)):
        for feeds in [*MODELS[name].runs, *MODELS[name].runs]:
            session.resize({key: array.shape for key, array in feeds.items()})
            found = session.run(feeds)
            for value, wanted in zip(graph.outputs, reference(proto, feeds), strict=True):
                assert found[value.name].shape == wanted.shape
                np.testing.assert_allclose(found[value.name], wanted, rtol=1e-5, atol=1e-5)
        assert {time.op for time in session.profile()} == {node.op.name for node in graph.nodes}
