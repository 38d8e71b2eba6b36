"""Reductions, normalisations, products of matrices, recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.strangers.drawing import RUNS, Drawing, Drawn, Shape, Size, broadcast, fits, fixed, is_fixed
from tests.strangers.growing.registry import grower

_SUMS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare")


@grower(4)
def reductions(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    op = d.rng.choice([*_SUMS, "ReduceLogSumExp", "ReduceProd"])
    keep = d.rng.randint(0, 1)
    chosen, written = d.axes(x.rank)
    everything = d.rng.random() < 0.1
    chosen = list(range(x.rank)) if everything else chosen
    shape = [fixed(1) if axis in chosen else size for axis, size in enumerate(x.shape) if keep or axis not in chosen]
    if op == "ReduceProd":
        x = d.node("Tanh", [x], x.shape)
    if everything:
        return [d.node(op, [x], shape, keepdims=keep)]
    if d.opset >= 18 or op == "ReduceSum":
        return [d.node(op, [x, d.integers(written)], shape, keepdims=keep)]
    return [d.node(op, [x], shape, axes=written, keepdims=keep)]


@grower(1, ("f32", "s64"))
def picks(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    axis, written = d.axis(x.rank)
    keep = d.rng.randint(0, 1)
    shape = [fixed(1) if a == axis else size for a, size in enumerate(x.shape) if keep or a != axis]
    op = d.rng.choice(["ArgMax", "ArgMin"])
    last = d.rng.choice([None, 0, 1])
    return [d.node(op, [x], shape, "s64", axis=written, keepdims=keep, select_last_index=last)]


@grower(1)
def tops(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    axis, written = d.axis(x.rank)
    count = d.rng.randint(1, min(x.shape[axis]))
    shape = (*x.shape[:axis], fixed(count), *x.shape[axis + 1 :])
    largest = d.rng.randint(0, 1)
    inputs = [x, d.integers([count])]
    return d.nodes_of("TopK", inputs, [(shape, "f32"), (shape, "s64")], axis=written, largest=largest)


@grower(1, ("f32", "s64"))
def cumulations(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    _, written = d.axis(x.rank)
    flags: dict[str, Any] = {"exclusive": d.rng.randint(0, 1), "reverse": d.rng.randint(0, 1)}
    return [d.node("CumSum", [x, d.integers(written)], x.shape, **flags)]


@grower(2)
def softmaxes(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    _, written = d.axis(x.rank)
    op = d.rng.choice(["Softmax", "Softmax", "LogSoftmax", "Hardmax"])
    return [d.node(op, [x], x.shape, axis=written)]


@grower(2)
def normalisations(d: Drawing, x: Drawn) -> list[Drawn]:
    kind = d.rng.choice(["layer", "batch", "instance", "lrn", "lp", "mean", "group"])
    if kind == "layer" and x.rank and is_fixed(x.shape[-1]):
        axis = x.rank - 1
        while axis > 0 and is_fixed(x.shape[axis - 1]) and d.rng.random() < 0.3:
            axis -= 1
        sizes = [size[0] for size in x.shape[axis:]]
        inputs = [x, d.numbers(*sizes), *([d.numbers(*sizes)] if d.rng.random() < 0.7 else [])]
        return [d.node("LayerNormalization", inputs, x.shape, axis=axis - x.rank, epsilon=1e-3)]
    if x.rank < 2 or not is_fixed(x.shape[1]):
        return []
    count = x.shape[1][0]
    if kind == "batch":
        weights = [d.numbers(count), d.numbers(count), d.numbers(count), d.numbers(count, low=0.5, high=1.5)]
        return [d.node("BatchNormalization", [x, *weights], x.shape)]
    if x.rank < 3:
        return []
    if kind == "instance":
        return [d.node("InstanceNormalization", [x, d.numbers(count), d.numbers(count)], x.shape, epsilon=1e-2)]
    if kind == "lrn" and x.rank == 4:
        return [d.node("LRN", [x], x.shape, size=d.rng.choice([1, 3, 5]), alpha=0.2, beta=0.6, bias=1.5)]
    if kind == "lp":
        _, written = d.axis(x.rank)
        safe = d.node("Add", [d.node("Abs", [x], x.shape), d.weight(0.1)], x.shape)
        return [d.node("LpNormalization", [safe], x.shape, axis=written, p=d.rng.randint(1, 2))]
    if kind == "mean" and x.rank == 4 and x.is_fixed:
        # Onnxruntime leaves out the epsilon of the definition: equal elements would become NaN.
        x = d.node("Add", [x, d.numbers(*x.sizes())], x.shape)
        return [d.node("MeanVarianceNormalization", [x], x.shape, axes=[0, 2, 3])]
    if kind == "group" and d.opset >= 21:
        groups = d.rng.choice([n for n in range(1, count + 1) if count % n == 0])
        weights = [d.numbers(count), d.numbers(count)]
        return [d.node("GroupNormalization", [x, *weights], x.shape, num_groups=groups, epsilon=1e-2)]
    return []


@grower(4)
def products(d: Drawing, x: Drawn) -> list[Drawn]:
    """Products with weights or other values, of one, two and more dimensions."""
    if not x.rank:
        return []
    if d.rng.random() < 0.4:
        found = _product_of_values(d, x)
        if found:
            return found
    if not is_fixed(x.shape[-1]):
        return []
    inner, width = x.shape[-1][0], d.rng.randint(1, 9)
    kind = d.rng.randrange(4)
    if kind == 0:
        return [d.node("MatMul", [x, d.numbers(inner)], x.shape[:-1])]
    if kind == 1 and x.rank >= 3 and is_fixed(x.shape[-3]):
        weights = d.numbers(x.shape[-3][0], inner, width)
        return [d.node("MatMul", [x, weights], (*x.shape[:-1], fixed(width)))]
    if kind == 2 and is_fixed(x.shape[-2 if x.rank > 1 else -1]):
        left = x.shape[-2][0] if x.rank > 1 else inner
        shape = (*x.shape[:-2], fixed(width), x.shape[-1]) if x.rank > 1 else (fixed(width),)
        return [d.node("MatMul", [d.numbers(width, left), x], shape)]
    return [d.node("MatMul", [x, d.numbers(inner, width)], (*x.shape[:-1], fixed(width)))]


def _product_of_values(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2:
        return []
    found = []
    for y in d.values:
        if y.kind != "f32" or y.rank < 2 or x.shape[-1] != y.shape[-2]:
            continue
        batch = broadcast(x.shape[:-2], y.shape[:-2])
        if batch is not None and fits((*batch, x.shape[-2], y.shape[-1])):
            found.append((y, (*batch, x.shape[-2], y.shape[-1])))
    if not found:  # with itself, turned
        perm = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
        turned = d.node("Transpose", [x], [x.shape[axis] for axis in perm], perm=perm)
        shape = (*x.shape[:-1], x.shape[-2])
        return [d.node("MatMul", [x, turned], shape)] if fits(shape) else []
    y, shape = d.rng.choice(found)
    return [d.node("MatMul", [x, y], shape)]


@grower(2)
def gemms(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank != 2:
        return []
    turned, other = d.rng.randint(0, 1), d.rng.randint(0, 1)
    rows, inner = x.shape[::-1] if turned else x.shape
    if not is_fixed(inner):
        return []
    width = d.rng.randint(1, 9)
    weights = d.numbers(*((width, inner[0]) if other else (inner[0], width)))
    biases = [(), (width,), (1, width), (1, 1), (1,)]
    bias = d.rng.choice([*biases, (rows[0], 1), (rows[0], width)] if is_fixed(rows) else biases)
    inputs = [x, weights, *([d.numbers(*bias)] if d.rng.random() < 0.8 else [])]
    factors: dict[str, Any] = {"alpha": d.rng.choice([1.0, 0.5]), "beta": d.rng.choice([1.0, 0.25])}
    return [d.node("Gemm", inputs, (rows, fixed(width)), transA=turned, transB=other, **factors)]


@grower(1)
def einsums(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2 or x.rank > 4:
        return []
    letters = "abcd"[: x.rank]
    kind = d.rng.randrange(3)
    if kind == 0:
        kept = "".join(d.rng.sample(letters, d.rng.randint(1, x.rank)))
        return [
            d.node("Einsum", [x], [x.shape[letters.index(letter)] for letter in kept], equation=f"{letters}->{kept}")
        ]
    place = d.rng.randrange(x.rank)
    if not is_fixed(x.shape[place]):
        return []
    width = d.rng.randint(1, 5)
    weights = d.numbers(x.shape[place][0], width)
    order = list(letters.replace(letters[place], "z" if kind == 1 else "")) + ([] if kind == 1 else ["z"])
    d.rng.shuffle(order)
    sizes: dict[str, Size] = {**dict(zip(letters, x.shape, strict=True)), "z": fixed(width)}
    equation = f"{letters},{letters[place]}z->{''.join(order)}"
    return [d.node("Einsum", [x, weights], [sizes[letter] for letter in order], equation=equation)]


@grower(1)
def recurrent(d: Drawing, x: Drawn) -> list[Drawn]:
    """LSTM, GRU and RNN in every direction; steps and batch may be run-time sizes."""
    if x.rank != 3 or not is_fixed(x.shape[2]) or max(x.shape[0]) > 12:
        return []
    op = d.rng.choice(["LSTM", "GRU", "RNN"])
    direction = d.rng.choice(["forward", "reverse", "bidirectional"])
    ways, hidden, width = (2 if direction == "bidirectional" else 1), d.rng.randint(1, 5), x.shape[2][0]
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    inputs = [x, d.numbers(ways, gates * hidden, width), d.numbers(ways, gates * hidden, hidden)]
    if d.rng.random() < 0.7:
        inputs.append(d.numbers(ways, 2 * gates * hidden))
    every: Shape = (x.shape[0], fixed(ways), x.shape[1], fixed(hidden))
    last: Shape = (fixed(ways), x.shape[1], fixed(hidden))
    results = [(every, "f32"), (last, "f32"), *([(last, "f32")] if op == "LSTM" else [])]
    attrs = {"direction": direction, "hidden_size": hidden}
    if op == "GRU":
        attrs["linear_before_reset"] = d.rng.randint(0, 1)
    return d.nodes_of(op, inputs, results, **attrs) if fits(every) else []


@grower(0.7, ("s64",))
def one_hots(d: Drawing, x: Drawn) -> list[Drawn]:
    depth = d.rng.randint(2, 5)
    place = d.rng.randint(0, x.rank)
    written = place if d.rng.random() < 0.5 else place - x.rank - 1
    shape = (*x.shape[:place], fixed(depth), *x.shape[place:])
    if not fits(shape):
        return []
    legal = d.node("Mod", [x, d.integers(depth)], x.shape)
    inputs = [legal, d.integers(depth), d.weight([-0.5, 2.0])]
    return [d.node("OneHot", inputs, shape, "f32", axis=written)]


@grower(1.5)
def shape_sums(d: Drawing, x: Drawn) -> list[Drawn]:
    """What exporters write for `x.view(x.size(0), -1)`: sizes that are cut from shapes and joined again."""
    if x.rank < 2:
        return []
    sizes = d.node("Shape", [x], (fixed(x.rank),), "s64")
    first = d.node("Gather", [sizes, d.integers([0])], (fixed(1),), "s64")
    target = d.node("Concat", [first, d.integers([-1])], (fixed(2),), "s64", axis=0)
    del d.values[-3:]
    rest: Size = tuple(int(np.prod([size[run] for size in x.shape[1:]])) for run in range(RUNS))
    return [d.node("Reshape", [x, target], (x.shape[0], rest))]
