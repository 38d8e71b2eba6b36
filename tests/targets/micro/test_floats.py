"""Models of floats on emulated boards, from ONNX: outputs are those of the reference and of onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.ir.operator import Array, Operator
from buildtool.targets.micro import reference
from buildtool.targets.micro.definitions.tracing import UntraceableError
from buildtool.targets.micro.lowering import definitions
from buildtool.targets.micro.network import Defined
from tests.targets.micro import boards, float_models, quantised_models
from tests.targets.micro.float_models import Floats, inputs_of, network_of
from tests.targets.micro.quantised_models import NONE, Model

_BOARDS = ("cortex-m0", "cortex-m4", "cortex-m4f", "cortex-m7", "cortex-m55", "rv32imac", "rv32imafc", "rv64gc")


def _close(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", [float_models.images, float_models.sequences])
def test_the_reference_is_what_onnxruntime_computes(make: object, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    assert callable(make)
    data = make(1)
    network = network_of(data, tmp_path)
    inputs = inputs_of(network, 2)
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for ours, theirs in zip(reference.evaluate(network, inputs).values(), session.run(None, inputs), strict=True):
        assert np.ptp(theirs) > 1e-3
        _close(ours, theirs)


@pytest.mark.arm
@pytest.mark.parametrize("abi", _BOARDS)
@pytest.mark.parametrize("make", [float_models.images, float_models.sequences])
def test_floats_on_boards(make: object, abi: str, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(1), tmp_path)
    inputs = inputs_of(network, 2)
    ran = boards.run(network, abi, tmp_path, inputs)
    for name, expected in reference.evaluate(network, inputs).items():
        _close(ran.result.outputs[name], expected)
    assert 0 < ran.result.stack_bytes <= 1024


@pytest.mark.arm
def test_constants_in_half_the_bytes(tmp_path: Path) -> None:
    """data_type: bf16_fp32 stores constants in 16 bits and computes in 32."""
    sizes = []
    for halves in (False, True):
        network = network_of(float_models.images(1), tmp_path, halves=halves)
        layers = [layer for layer in network.layers if isinstance(layer, Defined)]
        sizes.append(sum(array.nbytes for layer in layers for array in layer.function.arrays))
        inputs = inputs_of(network, 2)
        ran = boards.run(network, "cortex-m4f", tmp_path, inputs)
        for name, expected in reference.evaluate(network, inputs).items():
            _close(ran.result.outputs[name], expected)
    assert sizes[1] < 0.75 * sizes[0]


@pytest.mark.arm
@pytest.mark.parametrize("op", ["SUB", "MAXIMUM", "SQUARED_DIFFERENCE", "LOG_SOFTMAX", "L2_NORMALIZATION"])
def test_bytes_without_a_kernel_are_computed_in_floats(op: str, tmp_path: Path) -> None:
    """Between layers that have kernels: at most a step away from LiteRT."""
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    model = Model(2)
    x = model.conv(model.input(1, 5, 7, 4), 8, (3, 3), activation=NONE)
    options = {"SUB": "SubOptions", "MAXIMUM": "MaximumMinimumOptions"}
    options |= {"SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "LOG_SOFTMAX": "LogSoftmaxOptions"}
    quantisation = {
        "MAXIMUM": model.tensors[x].quantisation,
        "LOG_SOFTMAX": quantised_models.Quantisation([16 / 256], [127]),
        "L2_NORMALIZATION": quantised_models.Quantisation([1 / 128], [0]),
    }
    y = model._activation((1, 5, 7, 8), quantisation.get(op))
    one = op in ("LOG_SOFTMAX", "L2_NORMALIZATION")
    second = [] if one else [model.pool(x, "MAX", 1, 1) if op == "MAXIMUM" else model.conv(x, 8, (1, 1))]
    model._node(op, [x, *second], y, options.get(op, "L2NormOptions"), {})
    data = model.file(y)
    network = quantised_models.network_of(data, tmp_path)
    assert any(isinstance(layer, Defined) for layer in network.layers)
    inputs = quantised_models.inputs_of(network, 3)
    ran = boards.run(network, "cortex-m4f", tmp_path, inputs)
    (found,) = ran.result.outputs.values()
    (ours,) = reference.evaluate(network, inputs).values()
    assert np.abs(found.astype(int) - ours.astype(int)).max() <= 1
    if op != "SQUARED_DIFFERENCE":  # which LiteRT computes in bytes only with other scales
        (theirs,) = quantised_models.litert(data, list(inputs.values()))
        assert np.abs(found.astype(int) - theirs.astype(int)).max() <= 1


def test_a_definition_without_loops_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_loops(op: Operator, about: object) -> NoReturn:
        raise UntraceableError(f"{op.name} decides by values")

    monkeypatch.setattr(definitions, "functions", without_loops)
    m = Floats(1, 3, 3)
    with pytest.raises(UnsupportedError, match="'det' has no kernel for microcontrollers, and its definition no loops"):
        network_of(m.file(m.node("Det", ["x"], 1)), tmp_path)
