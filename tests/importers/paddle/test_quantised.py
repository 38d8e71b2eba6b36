"""Programs that were trained for quantisation: what is rounded gives Paddle's numbers, ranges stay with the graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType
from buildtool.schemas import paddle_program_pb2 as pb
from tests.importers.paddle.harness import imported, run
from tests.importers.paddle.lite_writer import write
from tests.importers.paddle.plain import declare, program_of, stream
from tests.oracles.paddle.programs import random
from tests.stored_layers import compare, stored

X = random(3, 5, low=-3, high=3)
SCALE = np.array([1.5], np.float32)


def _rounded(x: Array, step: float, least: int = -128) -> Array:
    return np.asarray(np.clip(np.round(x / step), least, 127) * step, np.float32)


def _range(graph: Graph) -> QuantType:
    (found,) = graph.ranges.values()
    return found


def _with_scale(folder: Path, op: str, attributes: dict[str, object]) -> Path:
    """An operator whose scale is a parameter."""
    slot = "Scale" if op == "quantize_linear" else "InScale"
    output = "Y" if op == "quantize_linear" else "Out"
    program = program_of(op, {"X": X}, {slot: "float32"}, attributes, (output,))
    if op == "quantize_linear":
        more = program_of("dequantize_linear", {"X": X, "Scale": SCALE}, {}, attributes, ("Y",)).blocks[0].ops[2]
        more.inputs[0].arguments[0] = b"Y_out_0"
        more.inputs[1].arguments[0] = b"Scale_0"
        more.outputs[0].arguments[0] = b"Z"
        program.blocks[0].ops[-1].inputs[0].arguments[0] = b"Z"
        program.blocks[0].ops.insert(len(program.blocks[0].ops) - 1, more)
    declare(program, {f"{slot}_0": SCALE})
    (folder / "model.pdmodel").write_bytes(program.SerializeToString())
    (folder / "model.pdiparams").write_bytes(stream(SCALE))
    return folder / "model.pdmodel"


@pytest.mark.parametrize(
    ("op", "least"), [("quantize_linear", -128), ("fake_quantize_dequantize_moving_average_abs_max", -127)]
)
def test_activations_are_rounded_where_their_scale_is_known(op: str, least: int, tmp_path: Path) -> None:
    graph = imported(_with_scale(tmp_path, op, {"bit_length": 8})).graph
    step = 1.5 / 127
    # Halves may go either way: Paddle rounds them to even numbers.
    result = run(graph, {"X_0": X})[0]
    np.testing.assert_allclose(result, _rounded(X, step, least), atol=1e-5)
    found = _range(graph)
    assert found.zero_points == (0,)
    np.testing.assert_allclose(found.scales, [step], rtol=1e-5)
    assert {"quantize_linear", "dequantize_linear"} <= {node.op.name for node in graph.walk()}


def test_bytes_of_paddle_lite(tmp_path: Path) -> None:
    """Weights and activations of an operator that computes with bytes: their scales are attributes."""
    weights = np.random.default_rng(0).integers(-127, 128, (5, 4)).astype(np.int8)
    scales = [0.01, 0.02, 0.03, 0.04]
    attributes = {"Input0_scale": [0.05], "W0_scale": scales, "in_num_col_dims": 1, "enable_int8": True}
    program = program_of("fc", {"Input": X}, {"W": "int8"}, attributes, ("Out",))
    (tmp_path / "model.nb").write_bytes(write(program, {"W_0": weights}, 2))
    graph = imported(tmp_path / "model.nb").graph
    wanted = _rounded(X, 0.05) @ (weights * np.float32(scales))  # type: ignore[arg-type]
    np.testing.assert_allclose(run(graph, {"Input_0": X})[0], wanted, atol=1e-4)
    np.testing.assert_allclose(_range(graph).scales, [0.05], rtol=1e-5)


def _then(program: pb.Program, op: str, inputs: Mapping[str, str], attributes: dict[str, object], output: str) -> None:
    """One more operator in front of the last one, which gives away what the new one makes."""
    block = program.blocks[0]
    more = program_of(op, dict.fromkeys(inputs, X), {}, attributes, (output,)).blocks[0].ops[len(inputs)]
    for slot in more.inputs:
        slot.arguments[0] = inputs[slot.parameter.decode()].encode()
    made = f"made{len(block.ops)}".encode()
    more.outputs[0].arguments[0] = made
    block.ops[-1].inputs[0].arguments[0] = made
    block.ops.insert(len(block.ops) - 1, more)


@pytest.mark.parametrize("way", ["pairs", "averages"])
def test_trained_layers_are_stored_in_few_bits(way: str, tmp_path: Path) -> None:
    """A convolution, an activation and a convolution with what rounds before, between and behind them."""
    image, dice = random(1, 3, 8, 8, low=-1, high=1), np.random.default_rng(4)
    window = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1, "data_format": "NCHW"}
    arrays = {f"w{index}": dice.normal(0, 0.2, shape) for index, shape in enumerate(((6, 3, 3, 3), (4, 6, 3, 3)))}
    steps = {name: np.abs(w).max(axis=(1, 2, 3), keepdims=True) / 127 for name, w in arrays.items()}
    weights = {name: np.float32(np.rint(w / steps[name]) * steps[name]) for name, w in arrays.items()}
    scales = {f"s{index}": np.array([scale], np.float32) for index, scale in enumerate((1.0, 2.0, 2.5))}
    program = program_of("scale", {"X": image}, {}, {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}, ("Out",))
    for name in weights | scales:
        program.blocks[0].vars.add(name=name.encode()).type.type = 7
    declare(program, weights | scales)

    def last() -> str:
        return program.blocks[0].ops[-1].inputs[0].arguments[0].decode()

    def rounded(scale: str) -> None:
        settings: dict[str, object] = {"bit_length": 8, "is_test": True}
        if way == "averages":
            name = "fake_quantize_dequantize_moving_average_abs_max"
            _then(program, name, {"X": last(), "InScale": scale}, settings, "Out")
            return
        _then(program, "quantize_linear", {"X": last(), "Scale": scale}, settings, "Y")
        _then(program, "dequantize_linear", {"X": last(), "Scale": scale}, settings, "Y")

    rounded("s0")
    _then(program, "conv2d", {"Input": last(), "Filter": "w0"}, window, "Output")
    _then(program, "relu", {"X": last()}, {}, "Out")
    rounded("s1")
    _then(program, "conv2d", {"Input": last(), "Filter": "w1"}, window, "Output")
    rounded("s2")
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    (tmp_path / "model.pdiparams").write_bytes(
        b"".join(stream(array) for _, array in sorted((weights | scales).items()))
    )
    graph = imported(tmp_path / "model.pdmodel").graph
    values = evaluate(graph, {graph.inputs[0].name: image}, keep=True)
    known = {name: values[one.name] for one in graph.values() if one.name in values for name in one.source_names}
    few = stored(graph)
    assert [node.op.name for node in few.nodes if node.op.name not in ("transpose", "requantize", "clip")] == [
        "conv2d"
    ] * 2
    found = compare(few, values | known)
    assert found.most <= 1, found.worst()
    assert found.part("conv2d") == 1
    assert {node.op.name for node in found.real} <= {"clip"}, "at the border, of what leaves out the least number"
