"""Element-wise operators, comparisons, casts and choices."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.strangers.drawing import Drawing, Drawn, broadcast, fits, fixed, is_fixed
from tests.strangers.growing.registry import grower

_PLAIN = ("Abs", "Ceil", "Cos", "Erf", "Floor", "Neg", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Softplus")
_PLAIN_TOO = ("Softsign", "Tanh", "Atan", "HardSwish", "Identity", "Selu", "Sinh", "Asinh")


def _attributes(d: Drawing, op: str) -> dict[str, Any]:
    alpha = round(d.rng.uniform(0.05, 1.5), 3)
    return {
        "Elu": {"alpha": alpha},
        "LeakyRelu": {"alpha": alpha},
        "Celu": {"alpha": alpha},
        "ThresholdedRelu": {"alpha": alpha},
        "HardSigmoid": {"alpha": round(alpha / 2, 3), "beta": 0.4},
        "Shrink": {"lambd": alpha, "bias": 0.1},
    }.get(op, {})


@grower(5)
def unary(d: Drawing, x: Drawn) -> list[Drawn]:
    shaped = ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu", "HardSigmoid", "Shrink")
    op = d.rng.choice([*_PLAIN, *_PLAIN_TOO, *shaped])
    attributes = _attributes(d, op) if d.rng.random() < 0.7 else {}
    return [d.node(op, [x], x.shape, **attributes)]


@grower(1)
def bounded_unary(d: Drawing, x: Drawn) -> list[Drawn]:
    """Operators that need numbers of a certain range."""
    tame = d.node("Tanh", [x], x.shape)
    op = d.rng.choice(["Exp", "Asin", "Acos", "Atanh", "Sqrt", "Log", "Reciprocal", "Tan", "Cosh", "Acosh"])
    if op in ("Sqrt", "Log", "Reciprocal", "Acosh"):
        tame = d.node("Add", [tame, d.weight(1.5 if op != "Acosh" else 2.5)], x.shape)
    if op in ("Asin", "Acos", "Atanh"):
        tame = d.node("Mul", [tame, d.weight(0.9)], x.shape)
    return [d.node(op, [tame], x.shape)]


@grower(1)
def clips(d: Drawing, x: Drawn) -> list[Drawn]:
    low, high = sorted(round(d.rng.uniform(-1.5, 1.5), 2) for _ in range(2))
    kind = d.rng.randrange(3)
    inputs: list[Drawn | str] = [x, d.weight(low), d.weight(high)]
    if kind == 1:
        inputs = [x, "", d.weight(high)]
    if kind == 2:
        inputs = inputs[:2]
    return [d.node("Clip", inputs, x.shape)]


@grower(0.8)
def gelus(d: Drawing, x: Drawn) -> list[Drawn]:
    if d.opset < 20:
        return []
    return [d.node("Gelu", [x], x.shape, approximate=d.rng.choice(["none", "tanh"]))]


def partner(d: Drawing, x: Drawn) -> Drawn:
    """Something that can be combined with a value by broadcasting: another value, weights of any lower rank."""
    fitting = [v for v in d.values if v.kind == x.kind and broadcast(v.shape, x.shape) is not None]
    fitting = [v for v in fitting if fits(broadcast(v.shape, x.shape) or ())]
    if d.rng.random() < 0.6 and fitting:
        return d.rng.choice(fitting)
    rank = d.rng.randint(0, x.rank)
    sizes = [
        size[0] if is_fixed(size) and d.rng.random() < 0.6 else 1 for size in (x.shape[x.rank - rank :] if rank else ())
    ]
    if x.kind == "f32":
        return d.numbers(*sizes)
    return d.weight(np.random.default_rng(d.rng.randrange(1 << 30)).integers(-4, 5, sizes), np.int64)


@grower(7, ("f32", "s64"))
def binary(d: Drawing, x: Drawn) -> list[Drawn]:
    other = partner(d, x)
    shape = broadcast(x.shape, other.shape)
    if shape is None or not fits(shape):
        return []
    op = d.rng.choice(["Add", "Sub", "Mul", "Min", "Max", *(["Mean", "Sum"] if x.kind == "f32" else [])])
    if op == "Mul" and x.kind == "f32":
        x = d.node("Tanh", [x], x.shape)
    pair = [x, other] if d.rng.random() < 0.5 else [other, x]
    kind = x.kind
    if op in ("Min", "Max", "Mean", "Sum") and d.rng.random() < 0.3:
        pair.append(d.numbers() if kind == "f32" else d.integers(1))
    return [d.node(op, pair, shape, kind)]


@grower(1.5)
def quotients(d: Drawing, x: Drawn) -> list[Drawn]:
    other = partner(d, x)
    shape = broadcast(x.shape, other.shape)
    if shape is None or not fits(shape):
        return []
    op = d.rng.choice(["Div", "Pow", "PRelu", "Mod"])
    if op == "Div":
        safe = d.node("Add", [d.node("Abs", [other], other.shape), d.weight(0.75)], other.shape)
        return [d.node("Div", [x, safe], shape)]
    if op == "Pow":
        base = d.node("Add", [d.node("Sigmoid", [x], x.shape), d.weight(0.5)], x.shape)
        power = d.weight(d.rng.choice([0.5, 2.0, 3.0, -1.0, 1.0, 0.0])) if d.rng.random() < 0.6 else other
        result = broadcast(x.shape, power.shape) or x.shape
        return [d.node("Pow", [base, power], result)]
    if op == "Mod":
        safe = d.node("Add", [d.node("Abs", [other], other.shape), d.weight(0.75)], other.shape)
        return [d.node("Mod", [x, safe], shape, fmod=1)]
    slope = d.numbers(*[size[0] if is_fixed(size) else 1 for size in x.shape[x.rank // 2 :]])
    return [d.node("PRelu", [x, slope], x.shape)]


@grower(2, ("f32", "s64"))
def comparisons(d: Drawing, x: Drawn) -> list[Drawn]:
    other = partner(d, x)
    shape = broadcast(x.shape, other.shape)
    if shape is None or not fits(shape):
        return []
    # Floats that are equal but for rounding are so at all inputs: nothing would show that it is no fault.
    op = d.rng.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual", *(["Equal"] if x.kind == "s64" else [])])
    mask = d.node(op, [x, other], shape, "bool")
    return [mask, d.node("Cast", [mask], shape, "f32", to=1)] if d.rng.random() < 0.4 else [mask]


@grower(2, ("bool",))
def logic(d: Drawing, x: Drawn) -> list[Drawn]:
    fitting = [v for v in d.values if v.kind == "bool" and broadcast(v.shape, x.shape) is not None]
    other = d.rng.choice(fitting)
    shape = broadcast(other.shape, x.shape) or ()
    if d.rng.random() < 0.3 or not fits(shape):
        return [d.node("Not", [x], x.shape)]
    return [d.node(d.rng.choice(["And", "Or", "Xor", "Equal"]), [x, other], shape)]


@grower(3, ("bool",))
def choices(d: Drawing, x: Drawn) -> list[Drawn]:
    fitting = [v for v in d.values if v.kind == "f32" and broadcast(v.shape, x.shape) is not None]
    if not fitting:
        return []
    yes, no = d.rng.choice(fitting), d.rng.choice([*fitting, d.numbers()])
    shape = broadcast(broadcast(yes.shape, no.shape) or ((0,) * 3,), x.shape)
    if shape is None or not fits(shape):
        return []
    return [d.node("Where", [x, yes, no], shape, "f32")]


@grower(1.5, ("f32", "s64", "bool"))
def casts(d: Drawing, x: Drawn) -> list[Drawn]:
    kinds = {"f32": 1, "s64": 7, "bool": 9, "s32": 6, "f64": 11}
    wanted = d.rng.choice([kind for kind in ("f32", "s64", "bool", "f64") if kind != x.kind])
    made = d.node("Cast", [x], x.shape, wanted, to=kinds[wanted])
    if wanted == "f64":
        made = d.node(d.rng.choice(["Neg", "Abs", "Relu"]), [made], x.shape)
    return [made if wanted != "f64" else d.node("Cast", [made], x.shape, "f32", to=1)]


@grower(1, ("s64",))
def integers(d: Drawing, x: Drawn) -> list[Drawn]:
    kind = d.rng.randrange(4)
    if kind == 0:
        return [d.node("Abs", [x], x.shape)]
    if kind == 1:
        return [d.node("Neg", [x], x.shape)]
    if kind == 2:
        return [d.node("Mod", [x, d.integers(d.rng.choice([2, 3, 5]))], x.shape)]
    return [d.node("Div", [x, d.integers(d.rng.choice([2, 3, -2]))], x.shape)]


@grower(1)
def quantises(d: Drawing, x: Drawn) -> list[Drawn]:
    """A pair of QuantizeLinear and DequantizeLinear: what quantised models hold between all layers."""
    scale = round(d.rng.uniform(0.01, 0.05), 4)
    signed = d.rng.random() < 0.5
    zero = d.weight(d.rng.randint(-10, 10) if signed else d.rng.randint(110, 140), np.int8 if signed else np.uint8)
    held = d.weight(scale)
    stored = d.node("QuantizeLinear", [x, held, zero], x.shape, "u8")
    d.values.remove(stored)
    return [d.node("DequantizeLinear", [stored, held, zero], x.shape, "f32")]


@grower(0.8)
def fills(d: Drawing, x: Drawn) -> list[Drawn]:
    """What exporters write for ones_like: the shape of a value, filled with a constant."""
    sizes = d.node("Shape", [x], (fixed(x.rank),), "s64")
    d.values.remove(sizes)
    if not x.rank:
        return []
    value = numpy_helper.from_array(np.array([0.5], np.float32), "value")
    return [d.node("ConstantOfShape", [sizes], x.shape, "f32", value=value)]
