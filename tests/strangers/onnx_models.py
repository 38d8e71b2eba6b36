"""Random ONNX models: the inputs, then nodes behind random values, then some of what nobody reads as outputs."""

from __future__ import annotations

import random

import numpy as np
import onnx
from onnx import helper

from tests.strangers.drawing import TYPES, Drawing, Drawn, Model, Size, fixed
from tests.strangers.growing import arithmetic, branching, idioms, moving, reducing, spatial
from tests.strangers.growing.registry import GROWERS

_MODULES = (arithmetic, branching, idioms, moving, reducing, spatial)  # they register what they grow
_OPSETS = (17, 18, 20, 21)
_MOST_NODES = 20


def draw(seed: int) -> Model:
    """The model of a seed."""
    rng = random.Random(seed)
    drawing = Drawing(rng, rng.choice(_OPSETS))
    _inputs(drawing)
    wanted = rng.randint(2, _MOST_NODES)
    tries = 0
    while len(drawing.nodes) < wanted and tries < 200:
        tries += 1
        _grow(drawing)
    return _model(drawing, seed)


def _inputs(d: Drawing) -> None:
    for _ in range(d.rng.choice([1, 1, 1, 2])):
        rank = d.rng.choice([1, 2, 3, 3, 4, 4, 4, 5])
        kind = d.rng.choice(["f32"] * 9 + ["s64"])
        sizes = [_size(d, axis, rank) for axis in range(rank)]
        value = Drawn(d.name("x"), kind, tuple(size for size, _ in sizes))
        d.inputs.append(value)
        d.values.append(value)


def _size(d: Drawing, axis: int, rank: int) -> tuple[Size, str]:
    may_vary = axis != 1 and d.rng.random() < 0.25
    if may_vary:
        known = [word for word in d.symbols if word[0] == ("N" if axis == 0 else "L")]
        if known and d.rng.random() < 0.6:
            return d.symbols[known[0]], known[0]
        word = f"{'N' if axis == 0 else 'L'}{len(d.symbols)}"
        low, high = (1, 3) if axis == 0 else (d.rng.randint(3, 5), d.rng.randint(7, 9))
        d.symbols[word] = (high, low, d.rng.randint(low + 1, high - 1))
        return d.symbols[word], word
    most = 4 if rank > 3 else 8
    return fixed(d.rng.choice([1, 2, 3, 4, d.rng.randint(1, most + 2)])), ""


def _grow(d: Drawing) -> None:
    source = d.rng.choice(d.values[-6:] if d.rng.random() < 0.8 else d.values)
    fitting = [(function, weight) for function, weight, kinds in GROWERS if source.kind in kinds]
    if not fitting:
        return
    (function,) = d.rng.choices([f for f, _ in fitting], [w for _, w in fitting])
    kept = (len(d.values), len(d.nodes), len(d.weights))
    if not function(d, source):
        del d.values[kept[0] :], d.nodes[kept[1] :], d.weights[kept[2] :]


def _model(d: Drawing, seed: int) -> Model:
    read = {name for node in d.nodes for name in node.input} | {name for node in d.nodes for name in _captured(node)}
    made = [value for value in d.values if value not in d.inputs]
    ends = [value for value in made if value.name not in read]
    inner = [value for value in made if value.name in read]
    outputs = d.rng.sample(ends, min(len(ends), d.rng.randint(1, 4))) if ends else made[-1:]
    if inner and d.rng.random() < 0.3:
        outputs.append(d.rng.choice(inner))
    words = {size: word for word, size in d.symbols.items()}

    def declared(value: Drawn) -> onnx.ValueInfoProto:
        shape = [words.get(size, size[0]) for size in value.shape]
        return helper.make_tensor_value_info(
            value.name, helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[value.kind])), shape
        )

    graph = helper.make_graph(
        d.nodes,
        f"strangers_{seed}",
        [declared(value) for value in d.inputs],
        [onnx.ValueInfoProto(name=value.name) for value in outputs],
        d.weights,
    )
    return Model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", d.opset)], ir_version=9), d.symbols, seed
    )


def _captured(node: onnx.NodeProto) -> list[str]:
    return [
        name
        for attribute in node.attribute
        for inner in ([attribute.g] if attribute.HasField("g") else [])
        for item in inner.node
        for name in item.input
    ]
