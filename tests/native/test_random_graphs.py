"""Random graphs of operators that move elements, run natively by their plans: the results are those of the references.

Slices of every step, splits, concats, transposes and element-wise operators that work in place, in chains: what places
values inside of others, and what must not.
"""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.passes.pipeline import optimise
from buildtool.plan import arena, check, manifest
from buildtool.plan.plan import Plan
from buildtool.plan.select import select
from buildtool.runtime import Library
from buildtool.targets.cpu import TARGET
from tests.native_builds import full_library
from tests.plan.graphs import add_input, apply, make

GRAPHS = 400
ISAS = TARGET.capabilities.abis["host"].isas
MANIFESTS = functools.cache(manifest.load)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(str(dim)) for dim in value.type.shape)


def _slice(graph: Graph, rng: random.Random, source: Value) -> Value:
    starts, steps, sizes = [], [], []
    cut = rng.randrange(len(_shape(source)))
    for axis, size in enumerate(_shape(source)):
        step = rng.choice([1, 2, 3, -1, -2]) if axis == cut else 1
        start = rng.randrange(size) if axis == cut else 0
        if axis == cut and rng.random() < 0.6:
            start = (size - 1 if step < 0 else 0) if rng.random() < 0.5 else min(1, size - 1)
        most = len(range(size)[start::step])
        starts.append(start)
        steps.append(step)
        sizes.append(rng.randint(1, most) if rng.random() < 0.3 else most)
    return apply(graph, make("slice", starts=tuple(starts), steps=tuple(steps), sizes=tuple(sizes)), source)


def _concat(graph: Graph, rng: random.Random, values: list[Value], source: Value) -> Value:
    shape = _shape(source)
    axis = rng.choice([len(shape) - 1, rng.randrange(len(shape))])
    rest = shape[:axis] + shape[axis + 1 :]
    fitting = [value for value in values if len(_shape(value)) == len(shape)]
    fitting = [value for value in fitting if _shape(value)[:axis] + _shape(value)[axis + 1 :] == rest]
    return apply(graph, make("concat", axis=axis), source, *rng.choices(fitting, k=rng.randint(1, 2)))


def random_graph(seed: int) -> Graph:
    rng = random.Random(seed)
    graph = Graph(name=f"random_{seed}")
    shape = tuple(rng.choice([1, 2, 4, 6, 8]) for _ in range(rng.choice([2, 3, 4])))
    values = [apply(graph, make("relu"), add_input(graph, "x", shape))]
    for _ in range(rng.randint(3, 14)):
        source = rng.choice(values[-5:])
        if np.prod(_shape(source)) > 20_000:
            continue
        kind = rng.choice(["slice", "slice", "slice", "concat", "concat", "unary", "add", "transpose", "split"])
        if kind == "slice":
            values.append(_slice(graph, rng, source))
        elif kind == "concat":
            values.append(_concat(graph, rng, values, source))
        elif kind == "transpose":
            perm = list(range(len(_shape(source))))
            rng.shuffle(perm)
            values.append(apply(graph, make("transpose", perm=tuple(perm)), source))
        elif kind == "split":
            size = _shape(source)[-1]
            for start in (0, size // 2) if size > 1 else ():
                sizes = (*_shape(source)[:-1], size // 2)
                none, ones = (0,) * len(sizes), (1,) * len(sizes)
                part = make("slice", starts=(*none[1:], start), steps=ones, sizes=sizes)
                values.append(apply(graph, part, source))
        elif kind == "add":
            others = [value for value in values if _shape(value) == _shape(source)]
            values.append(apply(graph, make("add"), source, rng.choice(others)))
        else:
            values.append(apply(graph, make(rng.choice(["relu", "sigmoid", "abs", "neg"])), source))
    graph.outputs = [apply(graph, make("sigmoid"), values[-1])]
    return graph


def _planned(graph: Graph) -> Plan:
    choices = select(graph, MANIFESTS(), abi="host", isas=ISAS)
    memory = arena.plan(graph, choices)
    packings = tuple(choice.packing for choice in choices)
    plan = Plan(
        "host",
        tuple(choice.names for choice in choices),
        memory.placements,
        memory.size,
        packings if any(packings) else (),
    )
    check.check(graph, plan, choices)
    return plan


@pytest.mark.slow
@pytest.mark.parametrize("optimised", [False, True], ids=["as_made", "optimised"])
def test_random_graphs_compute_what_their_references_do(library: Library, optimised: bool) -> None:
    wrong = []
    for seed in range(GRAPHS):
        graph = random_graph(seed)
        x = np.random.default_rng(seed).normal(size=_shape(graph.inputs[0])).astype(np.float32)
        expected = evaluate(graph, {"x": x})
        if optimised:
            optimise(graph)
        for plan in (_planned(graph), None):
            files = container.write(graph, name=graph.name, half=False, plan=plan)
            found = library.engine(model=files.model, data=files.data, threads=2).run({"x": x})
            for name, array in expected.items():
                if not np.allclose(found[name], array, rtol=1e-5, atol=1e-6):
                    wrong.append((seed, "planned" if plan else "portable"))
    assert not wrong
