"""Operators, and attributes of operators, that Paddle 3 no longer has: against what they meant, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.importers.paddle import import_model, supported_operators
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from tests.importers.paddle.harness import check
from tests.importers.paddle.plain import program_of
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.programs import ints, random

#: Tested as what the importer makes of programs of Paddle 3, or by other tests of this folder.
_OTHERS = """
feed fetch
full_int_array shape64 deformable_conv_v1 multiclass_nms multiclass_nms2 while conditional_block write_to_array
read_from_array lod_array_length tensor_array_to_tensor select_input sequence_pad sequence_unpad sequence_arithmetic
search_seq_arithmetic dequantize_linear beam_search beam_search_decode
"""
_ELSEWHERE = frozenset(_OTHERS.split())


@dataclass(frozen=True)
class Older:
    """One operator and what it gives."""

    op: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.op, *(str(value) for value in self.attributes.values() if isinstance(value, str))])


X = random(2, 3, 4)
P = random(1, 4, 2, 6)
C = random(2, 3)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _same() -> list[Older]:
    """What gives its input, maybe in another shape."""
    x = {"X": X}
    return [
        *(
            Older(op, {"Input": X}, {"Out": X})
            for op in ("io_copy", "io_copy_once", "layout", "layout_once", "calib", "calib_once")
        ),
        Older("moving_average_abs_max_scale", x, {"Out": X}),
        Older("fake_quantize_dequantize_moving_average_abs_max", {**x, "InScale": random(1)}, {"Out": X}),
        Older("flatten", x, {"Out": X.reshape(2, 12)}, {"axis": 1}),
        Older("reshape", x, {"Out": X.reshape(6, 4)}, {"shape": [-1, 4]}),
        Older("squeeze", {"X": X[:, :1]}, {"Out": X[:, 0]}, {"axes": [1]}),
        Older("unsqueeze", x, {"Out": X[:, None]}, {"axes": [1]}),
        Older("transpose", x, {"Out": X.transpose(1, 0, 2)}, {"axis": [1, 0, 2]}),
        Older("reverse", x, {"Out": X[:, ::-1]}, {"axis": [1]}),
        Older("expand", x, {"Out": np.tile(X, (1, 2, 3))}, {"expand_times": [1, 2, 3]}),
        Older("expand_as", {"X": X[:1], "Y": X}, {"Out": np.tile(X[:1], (2, 1, 1))}),
    ]


def _elementwise() -> list[Older]:
    x, both = {"X": X}, {"X": X, "Y": random(2, 3, 4, low=0.5, seed=3)}
    gate = np.clip(X + 2, 0, 4) / 5
    fused = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum}
    cases = [
        Older(
            f"fusion_elementwise_{op}_activation",
            both,
            {"Out": np.maximum(compute(X, both["Y"]), 0)},
            {"act_type": "relu", "axis": -1},
        )
        for op, compute in fused.items()
    ]
    kinds = {"tanh": np.tanh(2 * X), "sigmoid": _sigmoid(2 * X), "relu6": np.clip(2 * X, 0, 6)}
    kinds |= {"leaky_relu": np.where(X > 0, 2 * X, 0.02 * X), "hard_swish": 2 * X * np.clip(2 * X / 6 + 0.5, 0, 1)}
    cases += [
        Older("fusion_elementwise_add_activation", {"X": X, "Y": X}, {"Out": y}, {"act_type": kind, "axis": -1})
        for kind, y in kinds.items()
    ]
    return [
        *cases,
        Older("swish", x, {"Out": X * _sigmoid(0.5 * X)}, {"beta": 0.5}),
        Older("hard_swish", x, {"Out": X * gate}, {"threshold": 4.0, "scale": 5.0, "offset": 2.0}),
        Older("round", {"X": 100 * X}, {"Out": np.round(100 * X, 1)}, {"decimals": 1}),
        Older("round", {"X": 100 * X}, {"Out": np.round(100 * X, -2)}, {"decimals": -2}),
        Older("relu_clipped", x, {"Out": np.clip(X, 0, 1.5)}, {"Relu_clipped_coef": 1.5}),
        Older(
            "power", {"X": np.abs(X)}, {"Out": (2 * np.abs(X) + 1) ** 1.5}, {"scale": 2.0, "shift": 1.0, "power": 1.5}
        ),
    ]


def _numbers() -> list[Older]:
    x = {"X": X}
    return [
        Older("negative", x, {"Out": -X}),
        Older("fill_zeros_like", x, {"Out": 0 * X}),
        Older(
            "axpy",
            {"Scale": C, "X": X[..., None], "Bias": X[..., None]},
            {"Out": (1 + C[..., None, None]) * X[..., None]},
        ),
        Older(
            "matmul",
            {"X": X, "Y": X},
            {"Out": 0.5 * X @ X.transpose(0, 2, 1)},
            {"transpose_X": False, "transpose_Y": True, "alpha": 0.5},
        ),
        Older(
            "one_hot",
            {"X": ints(1, 3, dtype="int64").reshape(2, 1)},
            {"Out": np.eye(4, dtype=np.float32)[[1, 3]]},
            {"depth": 4, "dtype": 5},
        ),
        Older(
            "data_norm",
            {
                "X": C,
                "BatchSize": np.full(3, 4, np.float32),
                "BatchSum": np.full(3, 2, np.float32),
                "BatchSquareSum": np.full(3, 16, np.float32),
            },
            {"Y": (C - 0.5) * 0.5},
        ),
        Older(
            "fake_quantize_range_abs_max",
            {"X": X, "InScale": np.array([2], np.float32)},
            {"Out": X * 63.5},
            {"bit_length": 8},
        ),
        Older(
            "fake_quantize_moving_average_abs_max",
            {"X": X, "InScale": np.array([2], np.float32)},
            {"Out": X * 63.5},
            {"bit_length": 8},
        ),
        Older(
            "fake_quantize_abs_max",
            x,
            {"Out": X * 127 / np.abs(X).max(), "OutScale": np.abs(X).max().reshape(1)},
            {"bit_length": 8},
        ),
    ]


def _pictures() -> list[Older]:
    x = {"X": P}
    pads = [(0, 0), (0, 0), (1, 0), (2, 1)]
    depth = np.concatenate([P[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=1)
    windows = np.stack([P[0, :, i : i + 1, j : j + 3].reshape(-1) for i in (0, 1) for j in (0, 2)])
    size = {"out_h": 4, "out_w": 12, "align_corners": False, "align_mode": 1}
    resized = P.repeat(2, axis=2).repeat(2, axis=3)
    norm = {
        "Scale": random(4, low=0.5),
        "Bias": random(4),
        "Mean": random(4, seed=1),
        "Variance": random(4, low=0.5, seed=2),
    }
    s, b, m, v = (item.reshape(1, 4, 1, 1) for item in norm.values())
    return [
        *(
            Older(
                "pad2d", x, {"Out": np.pad(P, pads, mode)}, {"paddings": [1, 0, 2, 1], "mode": mode, "pad_value": 0.0}
            )
            for mode in ("constant", "reflect", "edge")
        ),
        Older(
            "pad_constant_like",
            {"X": random(3, 4), "Y": C},
            {"Out": np.pad(C, [(0, 1), (0, 1)], constant_values=2)},
            {"pad_value": 2.0},
        ),
        Older("space_to_depth", x, {"Out": depth}, {"blocksize": 2}),
        Older("im2sequence", x, {"Out": windows}, {"kernels": [1, 3], "strides": [1, 2], "paddings": [0, 0, 0, 0]}),
        Older(
            "im2sequence",
            x,
            {"Out": _rows_of_windows(np.pad(P, [(0, 0), (0, 0), (1, 2), (0, 1)]), (2, 3), (2, 1))},
            {"kernels": [2, 3], "strides": [2, 1], "paddings": [1, 0, 2, 1]},
        ),
        Older(
            "max_pool2d_with_index",
            x,
            {"Out": P.max((2, 3), keepdims=True)},
            {"global_pooling": True, "ksize": [1, 1], "strides": [1, 1], "paddings": [0, 0]},
        ),
        Older(  # three regions, each of them the same everywhere
            "roi_align",
            {"X": np.full((1, 2, 6, 8), 0.5, np.float32), "ROIs": np.array([[0, 0, 3, 3]] * 3, np.float32)},
            {"Out": np.full((3, 2, 2, 1), 0.5, np.float32)},
            {"pooled_height": 2, "pooled_width": 1},
        ),
        Older("nearest_interp", x, {"Out": resized}, {**size, "scale": 0.0}),
        Older("bilinear_interp", {"X": P[:, :, :1, :1]}, {"Out": np.tile(P[:, :, :1, :1], (1, 1, 4, 12))}, size),
        Older(
            "bicubic_interp",
            {"X": P[:, :, :1, :1]},
            {"Out": np.tile(P[:, :, :1, :1], (1, 1, 4, 12))},
            {**size, "align_corners": True},
        ),
        Older("linear_interp", {"X": P[:, :, 0]}, {"Out": P[:, :, 0]}, {"out_w": 6, "align_corners": True}),
        Older("sync_batch_norm", {**x, **norm}, {"Y": (P - m) / np.sqrt(v + 1e-5) * s + b}, {"epsilon": 1e-5}),
    ]


def _rows_of_windows(x: Array, kernel: tuple[int, int], strides: tuple[int, int]) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))[0, :, :: strides[0], :: strides[1]]
    return windows.transpose(1, 2, 0, 3, 4).reshape(-1, x.shape[1] * kernel[0] * kernel[1])


def _boxes() -> list[Older]:
    boxes = np.array([[-3, 1, 9, 4], [2, 2, 30, 50]], np.float32)
    info = np.array([[20, 24, 2]], np.float32)
    other = np.array([[0, 0, 2, 2], [1, 1, 3, 3]], np.float32)
    shares = np.array([[1, 1 / 7], [1 / 7, 1]], np.float32)
    density = {
        "fixed_sizes": [4.0],
        "fixed_ratios": [1.0],
        "densities": [2],
        "variances": [0.1, 0.1, 0.2, 0.2],
        "clip": False,
        "step_w": 0.0,
        "step_h": 0.0,
        "offset": 0.5,
        "flatten_to_2d": True,
    }
    centres = np.array([[x, y] for y in (2, 6) for x in (2, 6)], np.float32)
    priors = np.concatenate([np.maximum(centres - 2, 0), np.minimum(centres + 2, 8)], axis=1) / 8
    i, f, o, g = np.split(random(2, 12), 4, axis=1)
    before = random(2, 3)
    c = _sigmoid(f + 0.5) * before + _sigmoid(i) * np.tanh(g)
    return [
        Older("box_clip", {"Input": boxes, "ImInfo": info}, {"Output": np.clip(boxes, 0, [11, 9, 11, 9])}),
        Older("iou_similarity", {"X": other, "Y": other}, {"Out": shares}, {"box_normalized": True}),
        Older(
            "density_prior_box",
            {"Input": random(1, 1, 1, 1), "Image": random(1, 3, 8, 8)},
            {"Boxes": priors, "Variances": np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), (4, 1))},
            density,
        ),
        Older(
            "lstm_unit",
            {"X": random(2, 12), "C_prev": before},
            {"C": c, "H": _sigmoid(o) * np.tanh(c)},
            {"forget_bias": 0.5},
        ),
    ]


def _gru(x: Array, w: Array, h: Array, origin: bool, reverse: bool) -> Array:
    """Step by step: w holds the gates' weights and then the candidate's."""
    size = h.shape[1]
    gates, candidate = w.reshape(-1)[: 2 * size * size].reshape(size, -1), w.reshape(-1)[2 * size * size :]
    rows = []
    for row in x[::-1] if reverse else x:
        u, r = np.split(_sigmoid(row[: 2 * size] + h @ gates), 2, axis=1)
        new = np.tanh(row[2 * size :] + (r * h) @ candidate.reshape(size, size))
        h = u * h + (1 - u) * new if origin else u * new + (1 - u) * h
        rows.append(h[0])
    return np.array(rows[::-1] if reverse else rows)


def _lstm(x: Array, w: Array, bias: Array, states: tuple[Array, Array], reverse: bool) -> Array:
    """Step by step: columns of the candidate, i, f and o; behind their biases those of the cell for i, f and o."""
    size = w.shape[0]
    h, c = states
    own = np.split(bias[0, 4 * size :], 3) if bias.shape[1] > 4 * size else [np.zeros(size, np.float32)] * 3
    rows = []
    for row in x[::-1] if reverse else x:
        new, i, f, o = np.split(row + h @ w + bias[:, : 4 * size], 4, axis=1)
        c = _sigmoid(f + own[1] * c) * c + _sigmoid(i + own[0] * c) * np.tanh(new)
        h = _sigmoid(o + own[2] * c) * np.tanh(c)
        rows.append(h[0])
    return np.array(rows[::-1] if reverse else rows)


def _sequences() -> list[Older]:
    """The rows of a tensor are one sequence."""
    x, w, h = random(5, 9), random(3, 9), random(1, 3)
    steps, cells, biases = random(5, 12), random(3, 12), random(1, 21)
    rows = random(4, 6)
    column = random(4, 1)
    mask = np.array([[True], [False], [False], [True]])
    even = np.exp(column) / np.exp(column).sum()
    pools = {"SUM": rows.sum(0), "AVERAGE": rows.mean(0), "MAX": rows.max(0), "SQRT": rows.sum(0) / 2}
    pools |= {"FIRST": rows[0], "LAST": rows[-1]}
    return [
        *(Older("sequence_pool", {"X": rows}, {"Out": y[None]}, {"pooltype": kind}) for kind, y in pools.items()),
        Older("lod_reset", {"X": rows}, {"Out": rows}),
        Older("split_lod_tensor", {"X": rows, "Mask": mask}, {"OutTrue": rows[[0, 3]], "OutFalse": rows[[1, 2]]}),
        Older(
            "merge_lod_tensor",
            {"X": rows, "Mask": mask, "InTrue": rows[:2], "InFalse": rows[2:]},
            {"Out": rows[[0, 2, 3, 1]]},
        ),
        *(
            Older(op, {"X": rows, "W": w[:, :6], "b": w[0, :3]}, {"Out": rows @ w[:, :6].T + w[0, :3]})
            for op in ("search_fc", "search_seq_fc")
        ),
        Older("sequence_softmax", {"X": column}, {"Out": even}),
        Older("sequence_reverse", {"X": rows}, {"Y": rows[::-1]}),
        Older("sequence_concat", {"X": rows}, {"Out": rows}),
        Older("sequence_expand", {"X": rows[:1], "Y": column}, {"Out": np.tile(rows[:1], (4, 1))}),
        Older("sequence_expand_as", {"X": rows[:1], "Y": column}, {"Out": np.tile(rows[:1], (4, 1))}),
        Older("sequence_reshape", {"X": rows}, {"Out": rows.reshape(8, 3)}, {"new_dim": 3}),
        *(
            Older(
                "gru",
                {"Input": x, "Weight": w, "H0": h},
                {"Hidden": _gru(x, w, h, origin, reverse)},
                {"origin_mode": origin, "is_reverse": reverse, "activation": "tanh", "gate_activation": "sigmoid"},
            )
            for origin, reverse in ((True, False), (False, False), (False, True))
        ),
        *(
            Older(
                "lstm",
                {"Input": steps, "Weight": cells, "Bias": bias, "H0": h, "C0": -h},
                {"Hidden": _lstm(steps, cells, bias, (h, -h), reverse)},
                {"use_peepholes": bias.shape[1] > 4 * h.shape[1], "is_reverse": reverse},
            )
            for bias, reverse in ((biases, False), (biases[:, : 4 * h.shape[1]], True))
        ),
    ]


OLDER = (*_same(), *_elementwise(), *_numbers(), *_pictures(), *_boxes(), *_sequences())


@pytest.mark.parametrize("case", OLDER, ids=str)
def test_meaning(case: Older, tmp_path: Path) -> None:
    file = tmp_path / "model.pdmodel"
    program = program_of(case.op, case.inputs, {}, case.attributes, tuple(case.expected))
    file.write_bytes(program.SerializeToString())
    wanted = [np.asarray(item, np.float32) for item in case.expected.values()]
    check(file, {f"{slot}_0": item for slot, item in case.inputs.items()}, wanted)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "told"),
    [
        ("lrn", {"X": random(1, 4, 3, 3)}, {"n": 4}, "4 neighbours"),
        ("lrn", {"X": random(1, 4, 3, 3)}, {"n": 0}, "0 neighbours"),
        (
            "pool2d",
            {"X": random(1, 2, 2, 2)},
            {"ksize": [2, 2], "strides": [3, 3], "paddings": [1, 1], "ceil_mode": True, "pooling_type": "max"},
            "a window that starts in the padding",
        ),
        ("im2sequence", {"X": random(2, 2, 4, 4)}, {"kernels": [2, 2]}, "windows of several images"),
        ("roi_align", {"X": random(2, 2, 4, 4), "ROIs": random(1, 4)}, {}, "regions of several images"),
    ],
)
def test_what_the_graph_cannot_say_is_an_error(
    op: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any], told: str, tmp_path: Path
) -> None:
    file = tmp_path / "model.pdmodel"
    file.write_bytes(program_of(op, inputs, {}, attributes, ("Out",)).SerializeToString())
    with pytest.raises(UnsupportedError, match=told):
        import_model(ImportRequest("refused", file))


def test_weights_of_linear_quantisation(tmp_path: Path) -> None:
    """Weights in bytes are known, activations pass unchanged."""
    x = random(2, 4)
    program = program_of("quantize_linear", {"X": x, "Scale": random(1, low=1)}, {}, {"bit_length": 8}, ("Y",))
    del program.blocks[0].ops[-1]
    last = (
        program_of("dequantize_linear", {"X": x, "Scale": random(1)}, {}, {"bit_length": 8}, ("Y",)).blocks[0].ops[-2:]
    )
    last[0].inputs[0].arguments[0] = b"Y_out_0"
    last[0].outputs[0].arguments[0] = b"Z"
    last[1].inputs[0].arguments[0] = b"Z"
    program.blocks[0].ops.extend(last)
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    check(tmp_path / "model.pdmodel", {"X_0": x, "Scale_0": random(1)}, [x])


def test_every_operator_has_a_case() -> None:
    tested = {case.op for case in CASES} | {case.op for case in OLDER} | _ELSEWHERE
    assert sorted(set(supported_operators()) - tested) == []


@pytest.mark.parametrize(
    ("op", "inputs", "more"), [("gru", 9, ("BatchGate", "BatchHidden")), ("lstm", 12, ("Cell", "BatchGate"))]
)
def test_outputs_for_training_that_nobody_reads(op: str, inputs: int, more: tuple[str, ...], tmp_path: Path) -> None:
    fed = {"Input": random(5, inputs), "Weight": random(3, inputs), "Bias": random(1, inputs)}
    program = program_of(op, fed, {}, {"use_peepholes": False} if op == "lstm" else {}, ("Hidden", *more))
    block = program.blocks[0]
    for other in [item for item in block.ops if item.type == b"fetch"][1:]:
        block.ops.remove(other)
    file = tmp_path / "model.pdmodel"
    file.write_bytes(program.SerializeToString())
    zero = np.zeros((1, 3), np.float32)
    share = fed["Input"] + fed["Bias"]
    if op == "gru":
        expected = _gru(share, fed["Weight"], zero, False, False)
    else:
        expected = _lstm(fed["Input"], fed["Weight"], fed["Bias"], (zero, zero), False)
    check(file, {f"{slot}_0": item for slot, item in fed.items()}, [expected])
