"""Programs that were trained for quantisation: what is rounded gives Paddle's numbers, ranges stay with the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType
from tests.importers.paddle.harness import imported, run
from tests.importers.paddle.lite_writer import write
from tests.importers.paddle.plain import declare, program_of, stream
from tests.oracles.paddle.programs import random

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
    wanted = _rounded(X, 0.05) @ (weights * np.float32(scales))
    np.testing.assert_allclose(run(graph, {"Input_0": X})[0], wanted, atol=1e-4)
    np.testing.assert_allclose(_range(graph).scales, [0.05], rtol=1e-5)
