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


#: What cannot be read, or does not depend on the input: operators of TFLite, options, shape of the result, values.
OPERATORS: dict[str, tuple[str, tuple[int, ...], dict[str, object]]] = {
    "LOCAL_RESPONSE_NORMALIZATION": ("LocalResponseNormalizationOptions", (1, 8, 8, 4), {"Radius": 2, "Beta": 0.5}),
    "CUMSUM": ("CumsumOptions", (1, 8, 8, 4), {}),
    "ZEROS_LIKE": ("ZerosLikeOptions", (1, 8, 8, 4), {}),
    "LOGICAL_NOT": ("LogicalNotOptions", (1, 8, 8, 4), {}),
    "SHAPE": ("ShapeOptions", (4,), {}),
    "NO_SUCH_OPERATOR": ("", (1, 8, 8, 4), {}),
    "TOPK_V2": ("TopKV2Options", (1, 8, 8, 4), {}),
    "WHERE": ("WhereOptions", (4, 4), {}),
    "UNIQUE": ("UniqueOptions", (4,), {}),
    "MATRIX_DIAG": ("MatrixDiagOptions", (1, 8, 8, 4), {}),
    "RFFT2D": ("Rfft2dOptions", (1, 8, 8, 4), {}),
    "EMBEDDING_LOOKUP": ("", (1, 8, 8, 4), {}),
    "CONV_3D": ("Conv3DOptions", (1, 8, 8, 4), {}),
}
ROWS = "{kind: log_mel, rate: 8000, window: 256, step: 80, bins: 7, low: 0, high: 4000}"
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
    "no name": ("library_name: m", "library: m"),
    "an empty name": ("library_name: m", "library_name: ''"),
    "a name with a slash": ("library_name: m", "library_name: a/b"),
    "a processor in a mapping": ("[cortex-m4]", "{cortex-m4: 1}"),
    "a processor as a number": ("[cortex-m4]", "[4]"),
    "a processor in capitals": ("cortex-m4", "CORTEX-M4"),
    "a processor of RISC-V without its extensions": ("cortex-m4", "rv32"),
    "no file": ("model_file_path: m.tflite", "weight_file_path: m.tflite"),
    "no platform": ("platform: tflite", "plattform: tflite"),
    "a platform that does not exist": ("platform: tflite", "platform: micro"),
    "no inputs": ("input_tensors: [t0]", "input_tensors: []"),
    "a shape too many": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["1,8,8,4", "1,8,8,4"]'),
    "a shape in words": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["1,8,eight,4"]'),
    "a shape of nothing": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["1,0,8,4"]'),
    "a negative shape": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["1,-8,8,4"]'),
    "a shape of another rank": ('input_shapes: ["1,8,8,4"]', 'input_shapes: ["8,8,4"]'),
    "a type that does not exist": ("input_data_types: [int8]", "input_data_types: [int7]"),
    "an output of another type": ("output_data_types: [int8]", "output_data_types: [complex64]"),
    "an output of another shape": ('output_shapes: ["1,8,8,4"]', 'output_shapes: ["1,8,8,5"]'),
    "no outputs": ("output_tensors: [t6]", "output_tensors: []"),
    "an output twice": ("output_tensors: [t6]", "output_tensors: [t6, t6]"),
    "inputs as a mapping": ("input_tensors: [t0]", "input_tensors: {t0: 1}"),
    "no runtime that exists": ("runtime: cpu", "runtime: interpreter"),
    "a data type that does not exist": ("runtime: cpu", "runtime: cpu\n    data_type: int8_int8"),
    "a limit of nothing": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: }"),
    "a limit as a list": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: [1024]}"),
    "a limit beyond 64 bits": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: -99999999999999999999}"),
    "a backend as a number": ("runtime: cpu", "runtime: cpu\n    micro: {backend: 4}"),
    "no kind of front end": ("runtime: cpu", "runtime: cpu\n    micro: {frontend: {rate: 16000}}"),
    "a front end that does not exist": ("runtime: cpu", "runtime: cpu\n    micro: {frontend: {kind: radar}}"),
    "a front end as a word": ("runtime: cpu", "runtime: cpu\n    micro: {frontend: mfcc}"),
    "an image without its size": ("runtime: cpu", "runtime: cpu\n    micro: {frontend: {kind: image, width: 9}}"),
    "an image with a rate": (
        "runtime: cpu",
        "runtime: cpu\n    micro: {frontend: {kind: image, width: 9, height: 9, rate: 5}}",
    ),
    "a crop outside": (
        "runtime: cpu",
        "runtime: cpu\n    micro: {frontend: {kind: image, width: 9, height: 9, crop: [5, 5, 5, 5]}}",
    ),
    "a mean in words": ("runtime: cpu", "runtime: cpu\n    micro: {frontend: {kind: image, mean: [grey]}}"),
    "rows that do not fit": ("runtime: cpu", f"runtime: cpu\n    micro: {{frontend: {ROWS}}}"),
    "a limit of flash of minus one": ("runtime: cpu", "runtime: cpu\n    micro: {flash_limit: -1}"),
    "a limit of flash in words": ("runtime: cpu", "runtime: cpu\n    micro: {flash_limit: 32 KB}"),
    "a limit twice": ("runtime: cpu", "runtime: cpu\n    micro: {arena_limit: 1, arena_limit: 2}"),
}
LIMITS = (0, 1, 255, 512, 699)
FLASH_LIMITS = (0, 1000, 4000)


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
    made = {op: _node(op, options, shape, **values) for op, (options, shape, values) in OPERATORS.items()}
    found = [f"== {name} ==\n{complaint(tmp_path, make)}\n" for name, make in made.items()]
    found += [f"== {name} ==\n{complaint(tmp_path, small, change=change)}\n" for name, change in DESCRIPTIONS.items()]
    limits = {limit: f"    micro: {{arena_limit: {limit}}}" for limit in LIMITS}
    found += [f"== arena_limit {at} ==\n{complaint(tmp_path, small, extra)}\n" for at, extra in limits.items()]
    flash = {limit: f"    micro: {{flash_limit: {limit}}}" for limit in FLASH_LIMITS}
    found += [f"== flash_limit {at} ==\n{complaint(tmp_path, small, extra)}\n" for at, extra in flash.items()]
    assert all("\nno error" not in each for each in found)
    text = "\n".join(found)
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("limit", ["-1", "many", "1.5"])
def test_a_limit_is_a_number_of_bytes(limit: str, tmp_path: Path) -> None:
    assert "arena_limit" in complaint(tmp_path, small, f"    micro: {{arena_limit: {limit}}}")
