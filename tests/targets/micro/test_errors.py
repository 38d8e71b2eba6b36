"""What cannot be built is an error that says where, why and what to do; the texts are golden.

LATHE_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

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


MODELS: dict[str, Callable[[Model], int]] = {
    "log softmax": _node("LOG_SOFTMAX", "LogSoftmaxOptions"),
    "floats": _typed("float32", None),
    "16 bits": _typed("int16", Quantisation([0.1], [0])),
    "unsigned bytes": _typed("uint8", Quantisation([0.1], [7])),
    "batch": _batch,
    "average with another scale": _average,
    "softmax with another scale": _scaled_softmax,
    "two problems": _two_problems,
}
LIMITS = (0, 1, 255, 512)


def complaint(folder: Path, make: Callable[[Model], int], extra: str = "") -> str:
    model = Model(2)
    output = model.tensors[y := make(model)]
    (folder / "m.tflite").write_bytes(model.file(y))
    inputs = [model.tensors[x] for x in model.inputs]
    shapes = ", ".join(f'"{",".join(map(str, each.shape))}"' for each in inputs)
    types, names = ", ".join(each.dtype for each in inputs), ", ".join(each.name for each in inputs)
    shape = ",".join(map(str, output.shape))
    (folder / "m.yml").write_text(
        "library_name: m\ntarget_abis: [cortex-m4]\nmodels:\n  m:\n    platform: tflite\n"
        "    model_file_path: m.tflite\n"
        f"    input_tensors: [{names}]\n    input_shapes: [{shapes}]\n    input_data_types: [{types}]\n"
        f'    output_tensors: [{output.name}]\n    output_shapes: ["{shape}"]\n'
        f"    output_data_types: [{output.dtype}]\n    runtime: cpu\n{extra}"
    )
    try:
        building.convert(folder / "m.yml", Overrides(), Options(output=folder / "build"))
    except LatheError as error:
        return str(error).replace(str(folder), "")
    return "no error"


def test_errors_are_the_golden_ones(tmp_path: Path) -> None:
    found = []
    for name, make in MODELS.items():
        found.append(f"== {name} ==\n{complaint(tmp_path, make)}\n")
    limits = {limit: f"    micro: {{arena_limit: {limit}}}" for limit in LIMITS}
    found += [f"== arena_limit {at} ==\n{complaint(tmp_path, small, extra)}\n" for at, extra in limits.items()]
    text = "\n".join(found)
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("limit", ["-1", "many", "1.5"])
def test_a_limit_is_a_number_of_bytes(limit: str, tmp_path: Path) -> None:
    assert "arena_limit" in complaint(tmp_path, small, f"    micro: {{arena_limit: {limit}}}")
