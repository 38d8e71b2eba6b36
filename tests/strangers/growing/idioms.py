"""What exporters write for one layer with several nodes, and the same with a number or an axis that is another one.

Passes recognise such groups: each has to be recognised rightly, and what only resembles it has to stay.
"""

from __future__ import annotations

import math
from typing import Any

from tests.strangers.drawing import Drawing, Drawn, fits, fixed, is_fixed
from tests.strangers.growing.registry import grower


def _near(d: Drawing, number: float) -> float:
    """A number of an idiom, or now and then another one."""
    return number if d.rng.random() < 0.75 else round(number * d.rng.choice([0.5, 1.1, 2.0]), 4)


def _pair(d: Drawing, left: Drawn, right: Drawn) -> list[Drawn]:
    """Two operands in any order."""
    return [left, right] if d.rng.random() < 0.5 else [right, left]


@grower(2)
def activations(d: Drawing, x: Drawn) -> list[Drawn]:
    """Swish, hard swish, Mish, both forms of GELU, clipped and leaky units, each from plain operators."""
    kind = d.rng.choice(["swish", "hardswish", "mish", "gelu", "tanh_gelu", "relu6", "leaky", "hardsigmoid"])
    if kind == "swish":
        inner = x if d.rng.random() < 0.7 else d.node("Mul", [x, d.weight(_near(d, 1.702))], x.shape)
        return [d.node("Mul", _pair(d, x, d.node("Sigmoid", [inner], x.shape)), x.shape)]
    if kind in ("hardswish", "hardsigmoid"):
        moved = d.node("Add", _pair(d, x, d.weight(_near(d, 3.0))), x.shape)
        low, high = d.weight(0.0), d.weight(_near(d, 6.0))
        clipped = d.node("Clip", [moved, low, high], x.shape)
        gate = d.node("Div", [clipped, d.weight(_near(d, 6.0))], x.shape)
        return [gate if kind == "hardsigmoid" else d.node("Mul", _pair(d, x, gate), x.shape)]
    if kind == "mish":
        soft = d.node("Tanh", [d.node("Softplus", [x], x.shape)], x.shape)
        return [d.node("Mul", _pair(d, x, soft), x.shape)]
    if kind == "gelu":
        root = d.node("Div", [x, d.weight(_near(d, math.sqrt(2)))], x.shape)
        one = d.node("Add", [d.node("Erf", [root], x.shape), d.weight(_near(d, 1.0))], x.shape)
        if d.rng.random() < 0.5:
            return [d.node("Mul", [d.node("Mul", _pair(d, x, one), x.shape), d.weight(0.5)], x.shape)]
        return [d.node("Mul", _pair(d, d.node("Mul", [x, d.weight(0.5)], x.shape), one), x.shape)]
    if kind == "tanh_gelu":
        cube = d.node("Pow", [x, d.weight(3.0)], x.shape)
        inner = d.node("Add", [x, d.node("Mul", [cube, d.weight(_near(d, 0.044715))], x.shape)], x.shape)
        bent = d.node("Tanh", [d.node("Mul", [inner, d.weight(_near(d, 0.7978845608))], x.shape)], x.shape)
        half = d.node("Mul", [x, d.weight(0.5)], x.shape)
        return [d.node("Mul", [half, d.node("Add", [bent, d.weight(1.0)], x.shape)], x.shape)]
    if kind == "relu6":
        most = d.node("Min", [d.node("Relu", [x], x.shape), d.weight(_near(d, 6.0))], x.shape)
        return [most]
    scaled = d.node("Mul", [x, d.weight(_near(d, 0.1))], x.shape)
    return [d.node("Max", _pair(d, x, scaled), x.shape)]


@grower(2)
def normalisations_by_hand(d: Drawing, x: Drawn) -> list[Drawn]:
    """Layer, instance and RMS normalisation from means and powers, over any axes."""
    if not x.rank or not is_fixed(x.shape[-1]):
        return []
    over = d.rng.choice([[-1], [-1], [-2, -1], [0], [1]])
    axes = sorted({axis % x.rank for axis in over if -x.rank <= axis < x.rank})
    if not axes:
        return []
    kept = [fixed(1) if axis in axes else size for axis, size in enumerate(x.shape)]

    def mean(value: Drawn) -> Drawn:
        if d.opset >= 18:
            return d.node("ReduceMean", [value, d.integers(axes)], kept, keepdims=1)
        return d.node("ReduceMean", [value], kept, axes=axes, keepdims=1)

    centred = x if d.rng.random() < 0.4 else d.node("Sub", [x, mean(x)], x.shape)
    if d.rng.random() < 0.5:
        square = d.node("Pow", [centred, d.weight(2.0)], x.shape)
    else:
        square = d.node("Mul", [centred, centred], x.shape)
    spread = d.node("Sqrt", [d.node("Add", [mean(square), d.weight(_near(d, 1e-2))], kept)], kept)
    result = d.node("Div", [centred, spread], x.shape)
    if d.rng.random() < 0.7:
        width = x.shape[-1][0]
        result = d.node("Mul", _pair(d, result, d.numbers(width)), x.shape)
        result = d.node("Add", _pair(d, result, d.numbers(width)), x.shape) if d.rng.random() < 0.7 else result
    return [result]


@grower(3)
def layers(d: Drawing, x: Drawn) -> list[Drawn]:
    """A convolution with what follows it: paddings before, scales, biases, batch normalisation, residuals, units."""
    if not 3 <= x.rank <= 5 or not is_fixed(x.shape[1]):
        return []
    channels, spatial = x.shape[1][0], x.rank - 2
    y = x
    if d.rng.random() < 0.4:
        pads = [d.rng.randint(0, 2) for _ in range(2 * spatial)]
        written = [0, 0, *pads[:spatial], 0, 0, *pads[spatial:]]
        shape = [
            *x.shape[:2],
            *[tuple(n + pads[i] + pads[i + spatial] for n in size) for i, size in enumerate(x.shape[2:])],
        ]
        inputs = [x, d.integers(written), *([d.weight(d.rng.choice([0.0, 0.0, 1.0]))] if d.rng.random() < 0.7 else [])]
        y = d.node("Pad", inputs, shape)
    groups = d.rng.choice([1, channels])
    kernel = [d.rng.choice([1, 3]) for _ in range(spatial)]
    pads = [(size - 1) // 2 for size in kernel] * 2
    width = channels if d.rng.random() < 0.6 else groups * d.rng.randint(1, 2)
    shape = [y.shape[0], fixed(width), *y.shape[2:]]
    if not fits(shape):
        return []
    weights = d.numbers(width, channels // groups, *kernel)
    bias = [d.numbers(width)] if d.rng.random() < 0.4 else []
    if d.rng.random() < 0.2:
        y = d.node("ConvTranspose", [y, d.numbers(channels, width // groups, *kernel)], shape, group=groups, pads=pads)
    else:
        y = d.node("Conv", [y, weights, *bias], shape, group=groups, pads=pads)
    for _ in range(d.rng.randint(0, 3)):
        y = _after(d, x, y, width, spatial)
    return [y]


def _after(d: Drawing, x: Drawn, y: Drawn, width: int, spatial: int) -> Drawn:
    kind = d.rng.choice(["batch", "scale", "bias", "residual", "unit", "gate"])
    per_channel = (width, *[1] * spatial)
    if kind == "batch":
        inputs = [d.numbers(width), d.numbers(width), d.numbers(width), d.numbers(width, low=0.5, high=1.5)]
        return d.node("BatchNormalization", [y, *inputs], y.shape)
    if kind in ("scale", "bias"):
        shape = d.rng.choice([per_channel, (1, *per_channel), (), (1,) * (spatial + 2)])
        op = d.rng.choice(["Mul", "Div"] if kind == "scale" else ["Add", "Sub"])
        weights = d.numbers(*shape, low=0.5, high=1.5)
        return d.node(op, [y, weights] if op == "Div" else _pair(d, y, weights), y.shape)
    if kind == "residual" and x.shape == y.shape:
        return d.node("Add", _pair(d, x, y), y.shape)
    if kind == "gate":
        mean = d.node("GlobalAveragePool", [y], (*y.shape[:2], *[fixed(1)] * spatial))
        gate = d.node(d.rng.choice(["Sigmoid", "HardSigmoid"]), [mean], mean.shape)
        return d.node("Mul", _pair(d, y, gate), y.shape)
    op = d.rng.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSwish", "Clip"])
    if op == "Clip":
        return d.node("Clip", [y, d.weight(d.rng.choice([0.0, -1.0])), d.weight(d.rng.choice([1.0, 6.0]))], y.shape)
    return d.node(op, [y], y.shape)


@grower(2)
def shuffles(d: Drawing, x: Drawn) -> list[Drawn]:
    """Reshape, transpose, reshape: channel shuffle, depth to space, patches; with any order of axes."""
    if x.rank < 2 or not x.is_fixed:
        return []
    sizes: list[int] = []
    for size in x.sizes():
        divisors = [n for n in range(2, size) if size % n == 0]
        if divisors and len(sizes) < 4 and d.rng.random() < 0.6:
            first = d.rng.choice(divisors)
            sizes += [first, size // first]
        else:
            sizes.append(size)
    if len(sizes) > 6:
        return []
    apart = d.node("Reshape", [x, d.integers(sizes)], [fixed(n) for n in sizes])
    perm = list(range(len(sizes)))
    a, b = d.rng.sample(perm, 2)
    perm[a], perm[b] = perm[b], perm[a]
    turned = d.node("Transpose", [apart], [fixed(sizes[axis]) for axis in perm], perm=perm)
    moved = [sizes[axis] for axis in perm]
    place = d.rng.randrange(len(moved) - 1) if len(moved) > 1 else 0
    together = [*moved[:place], math.prod(moved[place : place + 2]), *moved[place + 2 :]]
    return [d.node("Reshape", [turned, d.integers(together)], [fixed(n) for n in together])]


@grower(2)
def attention(d: Drawing, x: Drawn) -> list[Drawn]:
    """Scaled products of queries and keys, a mask, a softmax, and the product with values; one head or several."""
    if x.rank != 3 or not is_fixed(x.shape[2]) or max(x.shape[1]) > 12:
        return []
    batch, steps, width = x.shape[0], x.shape[1], x.shape[2][0]
    heads = d.rng.choice([n for n in (1, 2, 3, 4) if width % n == 0])
    size = width // heads

    def head(perm: list[int], shape: list[Any]) -> Drawn:
        y = d.node("MatMul", [x, d.numbers(width, width)], x.shape)
        if d.rng.random() < 0.5:
            y = d.node("Add", [y, d.numbers(width)], x.shape)
        written = [0, 0, heads, size] if is_fixed(steps) or d.rng.random() < 0.5 else [0, -1, heads, size]
        y = d.node("Reshape", [y, d.integers(written)], (batch, steps, fixed(heads), fixed(size)))
        return d.node("Transpose", [y], shape, perm=perm)

    query = head([0, 2, 1, 3], [batch, fixed(heads), steps, fixed(size)])
    key = head([0, 2, 3, 1], [batch, fixed(heads), fixed(size), steps])
    value = head([0, 2, 1, 3], [batch, fixed(heads), steps, fixed(size)])
    scores = d.node("MatMul", [query, key], (batch, fixed(heads), steps, steps))
    if d.rng.random() < 0.8:
        scores = d.node("Div", [scores, d.weight(math.sqrt(size))], scores.shape)
    if d.rng.random() < 0.4 and is_fixed(steps):
        scores = d.node("Add", [scores, d.numbers(steps[0], steps[0], low=-9, high=0)], scores.shape)
    weights = d.node("Softmax", [scores], scores.shape, axis=d.rng.choice([-1, -1, 3, 2]))
    mixed = d.node("MatMul", [weights, value], (batch, fixed(heads), steps, fixed(size)))
    back = d.node("Transpose", [mixed], (batch, steps, fixed(heads), fixed(size)), perm=[0, 2, 1, 3])
    return [d.node("Reshape", [back, d.integers([0, 0, width])], x.shape)]


@grower(1.5)
def halves(d: Drawing, x: Drawn) -> list[Drawn]:
    """Rotary embeddings, gated units, interleaving and flips: slices of a value that meet again."""
    if not x.rank or not is_fixed(x.shape[-1]) or x.shape[-1][0] % 2:
        return []
    width = x.shape[-1][0]
    half = (*x.shape[:-1], fixed(width // 2))
    last, far = d.integers([-1]), d.integers([(1 << 63) - 1])
    if d.rng.random() < 0.5:
        left, right = d.nodes_of("Split", [x, d.integers([width // 2] * 2)], [(half, ""), (half, "")], axis=-1)
    else:
        two = d.integers([2])
        left = d.node("Slice", [x, d.integers([0]), far, last, two], half)
        right = d.node("Slice", [x, d.integers([1]), far, last, two], half)
    if d.rng.random() < 0.4:
        return [d.node("Mul", [left, d.node("Sigmoid", [right], half)], half)]
    turned = d.node("Concat", [d.node("Neg", [right], half), left], x.shape, axis=-1)
    sine, cosine = d.numbers(width), d.numbers(width)
    parts = [d.node("Mul", [x, cosine], x.shape), d.node("Mul", [turned, sine], x.shape)]
    return [d.node("Add", parts, x.shape)]
