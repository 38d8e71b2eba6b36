"""Quantised operators without a kernel build, too: in floats, between a dequantisation and a quantisation.

The compiler of this machine takes the sources, under its sanitizers.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.ir.operator import Array
from buildtool.targets.micro import reference
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS
from tests.importers.tflite.writer import NodeSpec, Quantisation, TensorSpec
from tests.targets.micro import float_models, quantised_models
from tests.targets.micro.boards import WARNINGS
from tests.targets.micro.quantised_models import SAME, Model
from tests.targets.micro.test_errors import small

_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")


def run_here(network: Network, folder: Path, inputs: dict[str, Array]) -> bytes:
    """All outputs, one after the other."""
    memory = plan(network, "portable")
    sources = files.kernels([network], PROCESSORS["cortex-m3"])
    sources |= {
        "m.h": model.header(network, memory).encode(),
        "m.c": model.source(network, memory, "portable").encode(),
        "harness.c": emulated.harness(network, memory),
    }
    for name, data in sources.items():
        (folder / name).write_bytes(data)
    units = [name for name in sources if name.endswith(".c")]
    include = f"-I{resources.native_dir() / 'micro' / 'emulator'}"
    main = str(Path(__file__).with_name("host_main.c"))
    command = ["gcc", *WARNINGS, *_SANITIZED, "-std=gnu99", "-I.", include, *units, main, "-lm", "-o", "host"]
    subprocess.run(command, cwd=folder, check=True)
    given = b"".join(np.ascontiguousarray(array).tobytes() for array in inputs.values())
    done = subprocess.run(["./host"], cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


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


def _node(op: str, options: str, shape: tuple[int, ...] = (1, 8, 8, 4), **values: object) -> Callable[[Model], int]:
    """A model with one operator behind a convolution."""

    def made(model: Model) -> int:
        x = small(model)
        y = model._activation(shape)
        return model._node(op, [x], y, options, dict(values))

    return made


_PAIRS = {
    "SUB": "SubOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "LESS": "LessOptions",
    "GREATER_EQUAL": "GreaterEqualOptions",
}
_MODELS: dict[str, Callable[[Model], int]] = {
    "log softmax": _node("LOG_SOFTMAX", "LogSoftmaxOptions"),
    "floats": _typed("float32", None),
    "16 bits": _typed("int16", Quantisation([0.1], [0])),
    "unsigned bytes": _unsigned,
    "batch": _batch,
    "average with another scale": _average,
    "softmax with another scale": _scaled_softmax,
    "bilinear resize": _bilinear,
    "a constant operand": _added_constant,
    "L2_NORMALIZATION": _node("L2_NORMALIZATION", "L2NormOptions"),
    "L2_POOL_2D": _node("L2_POOL_2D", "Pool2DOptions", (1, 4, 4, 4), **POOL),
    **{op: _pair(op, options) for op, options in _PAIRS.items()},
    **{f"{op} of axis {axis}": _reduced(op, axis) for op, axis in (("MEAN", 3), ("SUM", 1), ("REDUCE_MAX", 2))},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _MODELS)
def test_everything_builds(name: str, tmp_path: Path) -> None:
    made = Model(2)
    data = made.file(_MODELS[name](made))
    network = quantised_models.network_of(data, tmp_path)
    random = np.random.default_rng(5)
    inputs = {
        each.name: (
            random.normal(0, 1, each.shape) if each.dtype == "float32" else random.integers(0, 100, each.shape)
        ).astype(each.dtype)
        for each in network.inputs
    }
    found = run_here(network, tmp_path, inputs)
    (expected,) = reference.evaluate(network, inputs).values()
    ours = np.frombuffer(found, expected.dtype).reshape(expected.shape)
    if expected.dtype == np.float32:
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)
    else:
        assert np.abs(ours.astype(int) - expected.astype(int)).max() <= int(expected.dtype != bool)
    assert np.ptp(expected.astype(float)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("make", [float_models.images, float_models.sequences])
def test_loops_stay_in_their_memory(make: object, tmp_path: Path) -> None:
    assert callable(make)
    network = float_models.network_of(make(3), tmp_path)
    inputs = float_models.inputs_of(network, 4)
    found = np.frombuffer(run_here(network, tmp_path, inputs), np.float32)
    expected = np.concatenate([each.ravel() for each in reference.evaluate(network, inputs).values()])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
