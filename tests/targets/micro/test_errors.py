"""What cannot be built is an error that says where, why and what to do; the texts are golden.

LATHE_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError
from buildtool.settings import Options, Overrides
from buildtool.workflow import building
from tests.importers.tflite.writer import NodeSpec, Quantisation, TensorSpec
from tests.targets.micro.quantised_models import NONE, SAME, Model

GOLDEN = Path(__file__).with_name("errors.txt")


def small(model: Model) -> int:
    x = model.conv(model.input(1, 8, 8, 4), 8, (3, 3))
    return model.conv(x, 4, (1, 1), 1, SAME, NONE)


def _node(op: str, options: str, shape: tuple[int, ...] = (1, 8, 8, 4), **values: object) -> Callable[[Model], int]:
    """A model with one operator behind a convolution."""

    def made(model: Model) -> int:
        x = small(model)
        y = model._activation(shape)
        return model._node(op, [x], y, options, dict(values))

    return made


def _typed(dtype: str, quantisation: Quantisation | None) -> Callable[[Model], int]:
    """A ReLU on numbers of another type."""

    def made(model: Model) -> int:
        for name in ("x", "y"):
            model.tensors.append(TensorSpec(name, dtype, (1, 4), None, quantisation))
        model.inputs.append(0)
        model.nodes.append(NodeSpec("RELU", [0], [1]))
        return 1

    return made


def _unsigned(model: Model) -> int:
    """A sum; functions of one variable read and make unsigned bytes."""
    x, y = (model._tensor("uint8", (1, 4), None, Quantisation([0.1], [7])) for _ in range(2))
    model.inputs.append(x)
    return model._node("ADD", [x, x], y, "AddOptions", {})


def _batch(model: Model) -> int:
    x = model.input(2, 8, 8, 4)
    operands = model._products(x, (8, 3, 3, 4), 8, 0)
    values = {"StrideW": 1, "StrideH": 1, "Padding": SAME, "DilationWFactor": 1, "DilationHFactor": 1}
    return model._node("CONV_2D", [x, *operands], model._activation((2, 8, 8, 8)), "Conv2DOptions", values)


def _average(model: Model) -> int:
    x = small(model)
    values = {"StrideW": 2, "StrideH": 2, "FilterWidth": 2, "FilterHeight": 2, "Padding": 1}
    return model._node("AVERAGE_POOL_2D", [x], model._activation((1, 4, 4, 4)), "Pool2DOptions", values)


def _scaled_softmax(model: Model) -> int:
    x = small(model)
    return model._node("SOFTMAX", [x], model._activation((1, 8, 8, 4)), "SoftmaxOptions", {"Beta": 1.0})


def _two_problems(model: Model) -> int:
    x = _average(model)
    return model._node("LOG_SOFTMAX", [x], model._activation((1, 4, 4, 4)), "LogSoftmaxOptions", {})


POOL: dict[str, object] = {"StrideW": 2, "StrideH": 2, "FilterWidth": 2, "FilterHeight": 2, "Padding": 1}


def _pair(op: str, options: str) -> Callable[[Model], int]:
    def made(model: Model) -> int:
        x = small(model)
        y = model.conv(model.inputs[0], 4, (1, 1))
        return model._node(op, [x, y], model._activation((1, 8, 8, 4)), options, {})

    return made


def _reduced(op: str, axis: int) -> Callable[[Model], int]:
    def made(model: Model) -> int:
        x = small(model)
        axes = model._constant(np.array([axis], np.int32), None)
        shape = tuple(1 if at == axis else size for at, size in enumerate((1, 8, 8, 4)))
        return model._node(op, [x, axes], model._activation(shape), "ReducerOptions", {"KeepDims": True})

    return made


def _bilinear(model: Model) -> int:
    x = small(model)
    size = model._constant(np.array([16, 16], np.int32), None)
    y = model._activation((1, 16, 16, 4), model.tensors[x].quantisation)
    return model._node("RESIZE_BILINEAR", [x, size], y, "ResizeBilinearOptions", {})


def _added_constant(model: Model) -> int:
    x = small(model)
    y = model._constant(np.array([6, -8, 1, 2], np.int8), Quantisation([0.03], [4]))
    return model._node("ADD", [x, y], model._activation((1, 8, 8, 4)), "AddOptions", {})


MODELS: dict[str, Callable[[Model], int]] = {
    "log softmax": _node("LOG_SOFTMAX", "LogSoftmaxOptions"),
    "floats": _typed("float32", None),
    "16 bits": _typed("int16", Quantisation([0.1], [0])),
    "unsigned bytes": _unsigned,
    "batch": _batch,
    "average with another scale": _average,
    "softmax with another scale": _scaled_softmax,
    "two problems": _two_problems,
    "bilinear resize": _bilinear,
    "a constant operand": _added_constant,
}
#: Operators without a kernel, by TFLite's names: options, shape of the result, values.
OPERATORS: dict[str, tuple[str, tuple[int, ...], dict[str, object]]] = {
    "L2_NORMALIZATION": ("L2NormOptions", (1, 8, 8, 4), {}),
    "LOCAL_RESPONSE_NORMALIZATION": ("LocalResponseNormalizationOptions", (1, 8, 8, 4), {"Radius": 2, "Beta": 0.5}),
    "L2_POOL_2D": ("Pool2DOptions", (1, 4, 4, 4), POOL),
    "RSQRT": ("", (1, 8, 8, 4), {}),
    "CUMSUM": ("CumsumOptions", (1, 8, 8, 4), {}),
    "ZEROS_LIKE": ("ZerosLikeOptions", (1, 8, 8, 4), {}),
    "LOGICAL_NOT": ("LogicalNotOptions", (1, 8, 8, 4), {}),
    "SHAPE": ("ShapeOptions", (4,), {}),
    "NO_SUCH_OPERATOR": ("", (1, 8, 8, 4), {}),
}
#: Operators on two results of convolutions, equal in shape.
PAIRS: dict[str, str] = {
    "SUB": "SubOptions",
    "DIV": "DivOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "POW": "PowOptions",
    "FLOOR_DIV": "FloorDivOptions",
    "FLOOR_MOD": "FloorModOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "EQUAL": "EqualOptions",
    "NOT_EQUAL": "NotEqualOptions",
    "LESS": "LessOptions",
    "GREATER": "GreaterOptions",
    "LESS_EQUAL": "LessEqualOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
}
#: Reductions that no layer computes: operator and axes.
REDUCTIONS = (("MEAN", 3), ("MEAN", 1), ("SUM", 1), ("REDUCE_MAX", 2), ("REDUCE_MIN", 2), ("REDUCE_PROD", 3))
#: Changes to a deployment file that is right: text and its replacement.
DESCRIPTIONS = {
    "an unknown processor": ("cortex-m4", "cortex-m9"),
    "a processor without its suffix": ("cortex-m4", "cortex"),
    "a processor and a phone": ("[cortex-m4]", "[cortex-m4, arm64-v8a]"),
    "no processor": ("[cortex-m4]", "[]"),
    "a graphics processor": ("runtime: cpu", "runtime: gpu"),
    "a DSP": ("runtime: cpu", "runtime: dsp"),
    "another platform": ("platform: tflite", "platform: onnx"),
    "an input of another shape": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["1,8,8,3"]'),
    "two inputs in one place": ("input_tensors: [t0]", "input_tensors: [t0, t0]"),
    "an unknown output": ("output_tensors: [t6]", "output_tensors: [t99]"),
    "an input of floats": ("input_data_types: [int8]", "input_data_types: [float16]"),
    "an unknown key of micro": ("runtime: cpu", "runtime: cpu\n    micro: {arena: 4}"),
    "an unknown backend": ("runtime: cpu", "runtime: cpu\n    micro: {backend: helium}"),
    "micro as a list": ("runtime: cpu", "runtime: cpu\n    micro: [cmsis]"),
    "a limit of minus one": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: -1}"),
    "a limit in words": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: 64KB}"),
    "a limit with a fraction": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: 1.5}"),
    "a limit twice": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: 1, arena_limit: 2}"),
}
LIMITS = (0, 1, 255, 512, 699)


def complaint(folder: Path, make: Callable[[Model], int], extra: str = "", change: tuple[str, str] = ("", "")) -> str:
    model = Model(2)
    output = model.tensors[y := make(model)]
    (folder / "m.tflite").write_bytes(model.file(y))
    inputs = [model.tensors[x] for x in model.inputs]
    shapes = ", ".join(f'"{",".join(map(str, each.shape))}"' for each in inputs)
    types, names = ", ".join(each.dtype for each in inputs), ", ".join(each.name for each in inputs)
    shape = ",".join(map(str, output.shape))
    text = (
        "library_name: m\ntarget_abis: [cortex-m4]\nmodels:\n  m:\n    platform: tflite\n"
        "    model_file_path: m.tflite\n"
        f"    input_tensors: [{names}]\n    input_shapes: [{shapes}]\n    input_data_types: [{types}]\n"
        f'    output_tensors: [{output.name}]\n    output_shapes: ["{shape}"]\n'
        f"    output_data_types: [{output.dtype}]\n    runtime: cpu\n{extra}"
    )
    assert change[0] in text
    (folder / "m.yml").write_text(text.replace(*change, 1) if change[0] else text)
    try:
        building.convert(folder / "m.yml", Overrides(), Options(output=folder / "build"))
    except LatheError as error:
        return str(error).replace(str(folder), "")
    return "no error"


def test_errors_are_the_golden_ones(tmp_path: Path) -> None:
    found = []
    for name, make in MODELS.items():
        found.append(f"== {name} ==\n{complaint(tmp_path, make)}\n")
    made = {f"{op}": _node(op, options, shape, **values) for op, (options, shape, values) in OPERATORS.items()}
    made |= {op: _pair(op, options) for op, options in PAIRS.items()}
    made |= {f"{op} of axis {axis}": _reduced(op, axis) for op, axis in REDUCTIONS}
    found += [f"== {name} ==\n{complaint(tmp_path, make)}\n" for name, make in made.items()]
    found += [f"== {name} ==\n{complaint(tmp_path, small, change=change)}\n" for name, change in DESCRIPTIONS.items()]
    limits = {limit: f"    micro: {{arena_limit: {limit}}}" for limit in LIMITS}
    found += [f"== arena_limit {at} ==\n{complaint(tmp_path, small, extra)}\n" for at, extra in limits.items()]
    assert all("\nno error" not in each for each in found)
    text = "\n".join(found)
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("limit", ["-1", "many", "1.5"])
def test_a_limit_is_a_number_of_bytes(limit: str, tmp_path: Path) -> None:
    assert "arena_limit" in complaint(tmp_path, small, f"    micro: {{arena_limit: {limit}}}")
