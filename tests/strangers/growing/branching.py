"""If, Loop and Scan, whose bodies read values from around them."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import TensorProto, helper

from tests.strangers.drawing import Drawing, Drawn, fits, fixed
from tests.strangers.growing.registry import grower

_SIMPLE = ("Relu", "Sigmoid", "Abs", "Neg", "Tanh")


def _declared(name: str, rank: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank)


def _chain(d: Drawing, source: str, others: Sequence[Drawn], result: str) -> list[onnx.NodeProto]:
    """Nodes inside of a body: from `source` to `result`, with values from around it of the same shape."""
    nodes, last = [], source
    for _ in range(d.rng.randint(1, 3)):
        made = d.name("b")
        if others and d.rng.random() < 0.5:
            nodes.append(
                helper.make_node(d.rng.choice(["Add", "Mul", "Max"]), [last, d.rng.choice(others).name], [made])
            )
        else:
            nodes.append(helper.make_node(d.rng.choice(_SIMPLE), [last], [made]))
        last = made
    return [*nodes, helper.make_node("Tanh", [last], [result])]


def _alike(d: Drawing, x: Drawn) -> list[Drawn]:
    return [v for v in d.values if v.kind == "f32" and v.shape == x.shape]


@grower(1.2)
def branches(d: Drawing, x: Drawn) -> list[Drawn]:
    total = d.node("ReduceSum", [x], (), keepdims=0)
    flag = d.node("Greater", [total, d.weight(d.rng.uniform(-1, 1))], (), "bool")
    del d.values[-2:]
    graphs = []
    for _ in range(2):
        result = d.name("r")
        nodes = _chain(d, d.rng.choice(_alike(d, x)).name, _alike(d, x), result)
        graphs.append(helper.make_graph(nodes, d.name("branch"), [], [_declared(result, x.rank)]))
    return [d.node("If", [flag], x.shape, "f32", then_branch=graphs[0], else_branch=graphs[1])]


@grower(1.2)
def loops(d: Drawing, x: Drawn) -> list[Drawn]:
    """A loop of a known or of a computed number of trips, which carries a value and may gather another one."""
    others = _alike(d, x)
    number, flag, carried, again, result, item = (d.name(word) for word in ("i", "c", "x", "k", "r", "s"))
    trips = d.rng.randint(1, 4)
    nodes = [helper.make_node("Identity", [flag], [again]), *_chain(d, carried, others, result)]
    outputs = [helper.make_tensor_value_info(again, TensorProto.BOOL, []), _declared(result, x.rank)]
    results = [(x.shape, "f32")]
    stacked = (fixed(trips), *x.shape)
    known = d.rng.random() < 0.6
    if known and fits(stacked) and d.rng.random() < 0.5:
        nodes.append(helper.make_node(d.rng.choice(_SIMPLE), [result], [item]))
        outputs.append(_declared(item, x.rank))
        results.append((stacked, "f32"))
    inputs = [
        helper.make_tensor_value_info(number, TensorProto.INT64, []),
        helper.make_tensor_value_info(flag, TensorProto.BOOL, []),
        _declared(carried, x.rank),
    ]
    body = helper.make_graph(nodes, d.name("body"), inputs, outputs)
    count: Drawn | str = d.integers(trips)
    if not known:
        total = d.node("ReduceMax", [x], (), keepdims=0)
        positive = d.node("Cast", [d.node("Abs", [total], ())], (), "s64", to=TensorProto.INT64)
        count = d.node("Min", [positive, d.integers(trips)], (), "s64")
        del d.values[-4:]
    return d.nodes_of("Loop", [count, "", x], results, body=body)


@grower(0.8)
def scans(d: Drawing, x: Drawn) -> list[Drawn]:
    """A scan along an axis, in either direction, with a state."""
    if x.rank < 2 or not x.is_fixed:
        return []
    axis, written = d.axis(x.rank)
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    state, item, after, out = (d.name(word) for word in ("s", "i", "a", "o"))
    nodes = [helper.make_node("Add", [state, item], [after]), helper.make_node("Tanh", [after], [out])]
    rank = x.rank - 1
    body = helper.make_graph(
        nodes,
        d.name("body"),
        [_declared(state, rank), _declared(item, rank)],
        [_declared(after, rank), _declared(out, rank)],
    )
    first = d.numbers(*[size[0] for size in rest])
    place, place_written = d.axis(x.rank)
    stacked = (*rest[:place], x.shape[axis], *rest[place:])
    return d.nodes_of(
        "Scan",
        [first, x],
        [(rest, "f32"), (stacked, "f32")],
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[written],
        scan_output_axes=[place_written],
        scan_input_directions=[d.rng.randint(0, 1)],
        scan_output_directions=[d.rng.randint(0, 1)],
    )
