"""Kaldi's operators against their definitions in NumPy, before and after all passes; mistakes in their attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from buildtool.codegen import container
from buildtool.errors import LatheError, UnsupportedError
from buildtool.importers.onnx import supported_operators
from buildtool.importers.request import TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.importers.onnx import harness
from tests.importers.onnx.harness import compare, imported, random
from tests.importers.onnx.kaldi import Lstm, Network, model_of, node, sigmoid
from tests.native_builds import full_library

_X = random(2, 7, 6)


def _run(
    folder: Path, op: str, inputs: Sequence[Array], weights: Sequence[Array] = (), outputs: int = 1, **attributes: Any
) -> Graph:
    """The graph of a model with one node."""
    fed = {f"x{index}": array for index, array in enumerate(inputs)}
    held = {f"w{index}": array for index, array in enumerate(weights)}
    made = [f"y{index}" for index in range(outputs)]
    return imported(model_of([node(op, [*fed, *held], made, **attributes)], fed, made, held), folder).graph


def _check(
    folder: Path, expected: Array, op: str, *inputs: Array, weights: Sequence[Array] = (), **attributes: Any
) -> Graph:
    graph = _run(folder, op, inputs, weights, **attributes)
    wanted = [np.asarray(expected, np.float32)]
    compare(graph, inputs, wanted)
    optimise(graph)
    compare(graph, inputs, wanted)
    return graph


# -- frames and features -----------------------------------------------------------------------------------------------
def test_append_and_dim_range(tmp_path: Path) -> None:
    other = random(2, 7, 3, seed=1)
    _check(tmp_path, np.concatenate([_X, other], axis=2), "Append", _X, other, axis=-1)
    _check(tmp_path, _X[:, :, 2:5], "DimRange", _X, offset=2, output_dim=3)
    _check(tmp_path, _X[:, :, 5:], "DimRange", _X, offset=5, dim=1)
    _check(tmp_path, _X[0, :, :4], "DimRange", _X[0], offset=0, dim=4, output_dim=4)


_PLACES = [[1, 4], [6], [2, 2, 2], [0, 0, 0, 1, 1, 1], [5, 3, 1], [0, 1, 4], list(range(7))]


@pytest.mark.parametrize(
    ("op", "places"),
    [*(("Subsample", places) for places in _PLACES), *((op, [0, 3, 6]) for op in ("Offset", "ReplaceIndex", "Round"))],
)
def test_picked_frames(tmp_path: Path, op: str, places: list[int]) -> None:
    expected = np.stack([_X[:, place] for place in places], axis=1)
    _check(tmp_path, expected, op, _X, forward_indexes=places, modulus=3, offset=-1)


def test_subsampling_keeps_the_frames_of_its_times(tmp_path: Path) -> None:
    """Input times -3..9, of which 0, 3, 6 and 9 come out; and a Round to multiples of 4 below them."""
    times = range(-3, 10)
    x = random(1, len(times), 2)
    by_time = dict(zip(times, x[0], strict=True))
    kept = np.stack([by_time[time] for time in (0, 3, 6, 9)])[None]
    _check(tmp_path, kept, "Subsample", x, forward_indexes=[times.index(time) for time in (0, 3, 6, 9)])
    below = np.stack([by_time[time - time % 4] for time in range(8)])[None]
    places = [times.index(time // 4 * 4) for time in range(8)]
    _check(tmp_path, below, "Round", x, modulus=4, forward_indexes=places)


@pytest.mark.parametrize(
    ("context", "leading"),
    [
        *((context, (2,)) for context in ((-2, -1, 0, 1, 2), (0,), (-3, 0), (0, 2), (1, 2), (-2, -1), (0, -1))),
        ((-1, 1), ()),
        ((-1, 0, 2), (1, 3)),
    ],
)
def test_splice(tmp_path: Path, context: tuple[int, ...], leading: tuple[int, ...]) -> None:
    """With the places that the converter works out, and without them: all frames whose neighbours are there."""
    x = random(*leading, 7, 3)
    times = [time for time in range(-9, 16) if all(0 <= time + offset < 7 for offset in context)]
    rows = [np.concatenate([x[..., time + offset, :] for offset in context], axis=-1) for time in times]
    expected = np.stack(rows, axis=-2)
    places = [time + offset for time in times for offset in context]
    _check(tmp_path, expected, "Splice", x, context=list(context), forward_indexes=places)
    _check(tmp_path, expected, "Splice", x, context=list(context))
    every_second = [time + offset for time in times[::2] for offset in context]
    _check(tmp_path, expected[..., ::2, :], "Splice", x, context=list(context), forward_indexes=every_second)


def test_splice_by_left_and_right_context(tmp_path: Path) -> None:
    expected = np.concatenate([_X[:, start : start + 4] for start in range(4)], axis=2)
    _check(tmp_path, expected, "Splice", _X, left_context=2, right_context=1)
    _check(tmp_path, expected, "Splice", _X, context=[-2, -1, 0, 1], left_context=1, right_context=0)  # what is listed


def test_splice_of_a_chunk_of_any_size(tmp_path: Path) -> None:
    model = model_of([node("Splice", ["x"], ["y"], context=[-1, 0, 2])], {"x": _X}, ["y"], {})
    graph = imported(model, tmp_path, [TensorRequest("x", (2, (4, 9), 6), "NONE")]).graph
    for frames in (4, 7, 9):
        x = random(2, frames, 6)
        compare(graph, [x], [np.concatenate([x[:, : frames - 3], x[:, 1 : frames - 2], x[:, 3:]], axis=2)])


def test_splice_with_constant_features(tmp_path: Path) -> None:
    """The last two features come once, from a frame of their own, or from the first of the row."""
    moving, constant = _X[:, :, :4], _X[:, :, 4:]
    rows = np.concatenate([moving[:, :5], moving[:, 1:6], moving[:, 2:]], axis=2)
    places = [time + offset for time in range(5) for offset in range(3)]
    stated: dict[str, Any] = {"context": [-1, 0, 1], "const_component_dim": 2}
    own = np.concatenate([rows, constant[:, [1, 1, 3, 3, 6]]], axis=2)
    _check(tmp_path, own, "Splice", _X, **stated, forward_indexes=places, forward_const_indexes=[1, 1, 3, 3, 6])
    first = np.concatenate([rows, constant[:, :5]], axis=2)
    _check(tmp_path, first, "Splice", _X, **stated, forward_indexes=places)
    _check(tmp_path, first, "Splice", _X, **stated)


def test_if_defined(tmp_path: Path) -> None:
    cache = random(*_X.shape, seed=1)
    nothing = np.zeros_like(_X)
    _check(tmp_path, _X, "IfDefined", _X)
    _check(tmp_path, _X, "IfDefined", _X, offset=0, forward_indexes=[1])
    shifted = {"offset": -3, "forward_indexes": [-1, -1, -1, 0, 1, 2, 3]}
    _check(tmp_path, np.concatenate([nothing[:, :3], _X[:, :4]], axis=1), "IfDefined", _X, **shifted)  # type: ignore[arg-type]
    delayed = np.concatenate([cache[:, 4:], _X[:, :4]], axis=1)
    _check(tmp_path, delayed, "IfDefined", _X, cache, **shifted, cache_forward_indexes=[4, 5, 6])  # type: ignore[arg-type]
    later_gap = np.concatenate([cache[:, 6:], _X[:, 1:2], nothing[:, :1], _X[:, 3:4], nothing[:, :3]], axis=1)
    places = {"offset": -1, "forward_indexes": [-1, 1, -1, 3], "cache_forward_indexes": [6]}
    _check(tmp_path, later_gap, "IfDefined", _X, cache, **places)  # type: ignore[arg-type]
    far = {"offset": -9, "forward_indexes": [-1] * 7}
    _check(tmp_path, nothing, "IfDefined", _X, **far)  # type: ignore[arg-type]
    _check(tmp_path, cache[:, ::-1], "IfDefined", _X, cache, **far, cache_forward_indexes=list(range(6, -1, -1)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("left", "right"), [(2, 3), (0, 1), (1, 0), (0, 0), (9, 9)])
def test_pad_context(tmp_path: Path, left: int, right: int) -> None:
    expected = np.concatenate([*[_X[:, :1]] * left, _X, *[_X[:, -1:]] * right], axis=1)
    _check(tmp_path, expected, "PadContext", _X, left_context=left, right_context=right)


def test_pad_context_without_attributes(tmp_path: Path) -> None:
    _check(tmp_path, _X[:, :1], "PadContext", _X[:, :1])


# -- layers ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("op", ["Affine", "Gemm", "Linear"])
def test_affine(tmp_path: Path, op: str) -> None:
    matrix, bias = random(4, 6), random(4)
    graph = _check(tmp_path, _X @ matrix.T + bias, op, _X, weights=[matrix, bias])
    assert [node.op.name for node in graph.nodes] == ["fully_connected"]
    _check(tmp_path, _X[0] @ matrix.T, op, _X[0], weights=[matrix], transB=1)


def test_affine_of_repeated_and_own_blocks(tmp_path: Path) -> None:
    bias = random(4)
    small = random(4, 2)
    same = np.concatenate([_X[:, :, start : start + 2] @ small.T + bias for start in (0, 2, 4)], axis=2)
    _check(tmp_path, same, "Gemm", _X, weights=[small, bias], num_repeats=3)
    rows = random(6, 3)
    blocks = np.concatenate([_X[:, :, :3] @ rows[:3].T, _X[:, :, 3:] @ rows[3:].T], axis=2)
    _check(tmp_path, blocks + random(6), "Gemm", _X, weights=[rows, random(6)], num_blocks=2)
    _check(tmp_path, blocks, "Gemm", _X, weights=[rows], num_blocks=2)


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("Relu", lambda x: np.maximum(x, 0)),
        ("Sigmoid", sigmoid),
        ("Tanh", np.tanh),
        ("Identity", lambda x: x),
        ("NoOp", lambda x: x),
        ("Dropout", lambda x: x),
        ("Softmax", lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)),
        ("LogSoftmax", lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True))),
    ],
)
def test_functions(tmp_path: Path, op: str, function: Callable[[Array], Array]) -> None:
    _check(tmp_path, function(_X), op, _X)


def test_sum_and_scale(tmp_path: Path) -> None:
    other, third = random(2, 7, 6, seed=1), random(2, 7, 6, seed=2)
    _check(tmp_path, _X + other, "Sum", _X, other)
    _check(tmp_path, _X + other + third, "Sum", _X, other, third)
    _check(tmp_path, _X * np.float32(-0.25), "Scale", _X, scale=-0.25)
    _check(tmp_path, _X * 3, "Scale", _X, scale=3)
    _check(tmp_path, _X * other, "Scale", _X, other)


@pytest.mark.parametrize("block", [6, 3, 2, 1, -1])
def test_batch_norm_with_stored_statistics(tmp_path: Path, block: int) -> None:
    size = 6 if block == -1 else block
    mean, variance = random(size), random(size, low=-0.5)  # some below 0, which count as 0
    rows = _X.reshape(2, 7, -1, size)
    expected = 1.5 * (rows - mean) / np.sqrt(np.maximum(variance, 0) + 0.01)
    attributes = {"dim": 6, "block_dim": block, "epsilon": 0.01, "target_rms": 1.5, "count": 10.0, "test_mode": 1}
    _check(tmp_path, expected.reshape(_X.shape), "BatchNorm", _X, weights=[mean, variance], **attributes)


@pytest.mark.parametrize("block", [6, 3, 1, -1])
def test_batch_norm_with_statistics_of_the_frames(tmp_path: Path, block: int) -> None:
    rows = _X.reshape(-1, 6 if block == -1 else block).astype(np.float64)
    variance = (rows**2).mean(axis=0) - rows.mean(axis=0) ** 2
    expected = 0.5 * (rows - rows.mean(axis=0)) / np.sqrt(variance + 1e-3)
    _check(tmp_path, expected.reshape(_X.shape), "BatchNorm", _X, block_dim=block, target_rms=0.5, test_mode=0)


@pytest.mark.parametrize("op", ["TargetRMSNorm", "Normalize"])
@pytest.mark.parametrize("logarithm", [0, 1])
@pytest.mark.parametrize("block", [0, 6, 2])
def test_target_rms_norm(tmp_path: Path, op: str, logarithm: int, block: int) -> None:
    x = _X.copy()
    x[0, 0] = 0  # nothing to bring to a size
    x[1, 3] *= 1e-5
    rows = x.reshape(2, 7, -1, block or 6).astype(np.float64)
    part = (rows**2).sum(axis=-1, keepdims=True) / ((block or 6) * 0.25)
    factor = 1 / np.sqrt(np.maximum(part, 1e-6))
    expected = rows * factor
    if logarithm:
        expected = np.concatenate([expected, np.log(0.5) - np.log(factor)], axis=-1)
    _check(
        tmp_path,
        expected.reshape(2, 7, -1),
        op,
        x,
        target_rms=0.5,
        **({"add_log_stddev": 1} if logarithm else {}),  # type: ignore[arg-type]
        **({"block_dim": block} if block else {}),  # type: ignore[arg-type]
    )


def test_normalize_with_a_scale(tmp_path: Path) -> None:
    scale, offset = random(6), random(6, seed=1)
    _check(tmp_path, _X * scale + offset, "Normalize", _X, weights=[scale, offset])


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("power", [0, 1, 2])
def test_p_norm(tmp_path: Path, groups: int, power: int) -> None:
    x = _X.copy()
    x[0, :4, 1:4] = 0
    rows = np.abs(x.reshape(2, 7, groups, -1))
    expected = {0: (rows != 0).sum(axis=3), 1: rows.sum(axis=3), 2: np.sqrt((rows**2).sum(axis=3))}[power]
    _check(tmp_path, expected, "PNorm", x, output_dim=groups, p=power)


def test_p_norm_of_power_2_is_the_default(tmp_path: Path) -> None:
    _check(tmp_path, np.hypot(_X[:, :, ::2], _X[:, :, 1::2]), "PNorm", _X, output_dim=3)


@pytest.mark.parametrize("sizes", [[2, 1, 3], [1, 1, 1, 1, 1, 1], [2, 2, 2], [3], [1, 4], [1, 1], [6]])
def test_sum_group(tmp_path: Path, sizes: list[int]) -> None:
    expected = np.stack(
        [_X[:, :, sum(sizes[:index]) : sum(sizes[: index + 1])].sum(axis=2) for index in range(len(sizes))], axis=2
    )
    _check(tmp_path, expected, "SumGroup", _X, weights=[np.array(sizes, np.int32)])


@pytest.mark.parametrize("variance", [0, 1])
@pytest.mark.parametrize("logs", [0, 1, 3])
def test_extract_pooling(tmp_path: Path, variance: int, logs: int) -> None:
    x = _X.copy()
    x[1, :, 2] = 0.5  # which does not vary
    windows = [(0, 6), (2, 6), (6, 7), (0, 7)]
    rows = []
    for start, end in windows:
        frames = x[:, start:end].astype(np.float64)
        parts = [np.full((2, logs), np.log(end - start)), frames.mean(axis=1)]
        if variance:
            parts.append(np.sqrt(np.maximum(frames.var(axis=1), 0.01)))
        rows.append(np.concatenate(parts, axis=1))
    attributes = {
        "include_variance": variance,
        "num_log_count": logs,
        "variance_floor": 0.01,
        "forward_indexes": [place for window in windows for place in window],
        "counts": [float(end - start) for start, end in windows],
    }
    _check(tmp_path, np.stack(rows, axis=1), "ExtractPooling", x, **attributes)  # type: ignore[arg-type]


def test_image_scaler_of_either_domain(tmp_path: Path) -> None:
    x = random(2, 3, 4, 5)
    bias = [0.5, -1.0, 2.0]
    expected = x * np.float32(0.1) + np.array(bias, np.float32).reshape(3, 1, 1)
    _check(tmp_path, expected, "ImageScaler", x, scale=0.1, bias=bias)
    plain = helper.make_node("ImageScaler", ["x"], ["y"], name="n", scale=0.1, bias=bias)
    compare(imported(harness.model_of([plain], {"x": x}, ["y"], {}, opset=8), tmp_path).graph, [x], [expected])


def test_operators_of_onnx_are_not_meant(tmp_path: Path) -> None:
    """A Round of ONNX beside one of Kaldi."""
    rounds = [node("Round", ["x"], ["y"], forward_indexes=[0, 0, 3]), helper.make_node("Round", ["y"], ["z"], name="n")]
    model = model_of(rounds, {"x": _X}, ["z"], {})
    model.opset_import.append(helper.make_opsetid("", 13))
    compare(imported(model, tmp_path).graph, [_X], [np.rint(_X[:, [0, 0, 3]])])


# -- memory ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("factors", [False, True])
def test_lstm_nonlinear(tmp_path: Path, factors: bool) -> None:
    cells = 4
    x, peepholes = random(2, 3, 5 * cells + (3 if factors else 0)), random(3, cells)
    i, f, c, o, before = (x[..., index * cells : (index + 1) * cells] for index in range(5))
    s_i, s_f, s_o = (x[..., 20 + index : 21 + index] if factors else np.ones(1) for index in range(3))
    cell = s_f * sigmoid(f + peepholes[1] * before) * before + s_i * sigmoid(i + peepholes[0] * before) * np.tanh(c)
    hidden = s_o * sigmoid(o + peepholes[2] * cell) * np.tanh(cell)
    average = random(5, cells)  # of the training, which is not read
    _check(tmp_path, np.concatenate([cell, hidden], axis=-1), "LstmNonlinear", x, weights=[peepholes, average])


LAYERS = [
    Lstm(),
    Lstm(scale=0.5, biases=(False, False)),
    Lstm(out_delay=1, cell_delay=1, biases=(True, False)),
    Lstm(out_delay=2, cell_delay=3, biases=(False, True)),
    Lstm(out_delay=5, cell_delay=1, scale=0.75),
    Lstm(out_delay=6, cell_delay=3, factor=3, forward=[0, 3, 6, 9]),
    Lstm(frames=12, fed_from=0, fed=6, batch=()),
    Lstm(frames=3, batch=(2, 2)),
    Lstm(frames=5, batch=(1,), forward=[4, 2, 2, 0]),
]


@pytest.mark.parametrize("layer", LAYERS, ids=range(len(LAYERS)))
def test_dynamic_lstm(tmp_path: Path, layer: Lstm) -> None:
    out_before, cell_before = layer.states()
    feeds = {"x": layer.x(), "out_before": out_before, "cell_before": cell_before}
    graph = imported(model_of([layer.node()], feeds, ["y", "out", "cell"], layer.weights()), tmp_path).graph
    y, fed, cell = layer.expected(layer.x())
    out_cache, cell_cache = layer.caches()
    expected = [y, fed[..., out_cache, :], cell[..., cell_cache, :]]
    inputs = [feeds[value.name] for value in graph.inputs]
    compare(graph, inputs, [array.astype(np.float32) for array in expected])
    optimise(graph)
    compare(graph, inputs, [array.astype(np.float32) for array in expected])


def test_dynamic_lstm_runs_as_many_frames_at_once_as_its_delays_allow(tmp_path: Path) -> None:
    layer = Lstm(frames=12, batch=(1,))
    feeds = dict(zip(("x", "out_before", "cell_before"), (layer.x(), *layer.states()), strict=True))
    graph = imported(model_of([layer.node()], feeds, ["y", "out", "cell"], layer.weights()), tmp_path).graph
    (loop,) = [item for item in graph.nodes if item.op.name == "loop"]
    assert loop.op.attributes()["most"] == (4,)


def test_dynamic_lstm_in_chunks_is_the_whole(tmp_path: Path) -> None:
    """Two chunks, of which the second begins with what the first has kept, give what one of twice the length gives."""
    layer = Lstm(frames=6, out_delay=3, cell_delay=2, scale=0.9)
    model = model_of(
        [layer.node()],
        {"x": layer.x(), "out_before": layer.states()[0], "cell_before": layer.states()[1]},
        ["y", "out", "cell"],
        layer.weights(),
    )
    graph = imported(model, tmp_path).graph
    long = replace(layer, frames=12)
    states, found = layer.states(), []
    for chunk in (long.x()[:, :6], long.x()[:, 6:]):
        y, *states = harness.run(graph, [chunk, *states])  # type: ignore[assignment]
        found.append(y)
    np.testing.assert_allclose(np.concatenate(found, axis=1), long.expected(long.x())[0], rtol=1e-5, atol=1e-5)


def test_dynamic_lstm_with_caches_that_are_not_stated(tmp_path: Path) -> None:
    layer = Lstm(frames=4, extra={"out_cache_indexes": [3], "cell_cache_indexes": None})
    feeds = dict(zip(("x", "out_before", "cell_before"), (layer.x(), *layer.states()), strict=True))
    graph = imported(model_of([layer.node()], feeds, ["y", "out", "cell"], layer.weights()), tmp_path).graph
    y, fed, _ = layer.expected(layer.x())
    out = np.concatenate([fed[:, 3:], np.zeros((2, 2, 3), np.float32)], axis=1)
    compare(graph, list(feeds.values()), [np.asarray(a, np.float32) for a in (y, out, np.zeros((2, 3, 4)))])


# -- a network ---------------------------------------------------------------------------------------------------------
def _network(folder: Path) -> tuple[Graph, dict[str, Array], dict[str, Array]]:
    network = Network()
    graph = imported(network.model(), folder).graph
    expected = {name: array.astype(np.float32) for name, array in network.expected().items()}
    return graph, network.inputs(), expected


def test_network(tmp_path: Path) -> None:
    graph, feeds, expected = _network(tmp_path)
    inputs, wanted = [feeds[value.name] for value in graph.inputs], list(expected.values())
    compare(graph, inputs, wanted)
    optimise(graph)
    compare(graph, inputs, wanted)


@pytest.mark.slow
def test_network_in_the_runtime(tmp_path: Path) -> None:
    graph, feeds, expected = _network(tmp_path)
    optimise(graph)
    files = container.write(graph, name="kaldi", half=False, plan=None)
    session = Library(full_library()).engine(model=files.model, data=files.data, threads=2).session()
    for _ in range(2):
        found = session.run(feeds)
        for value, wanted in zip(graph.outputs, expected.values(), strict=True):
            np.testing.assert_allclose(found[value.name], wanted, rtol=1e-5, atol=1e-5)


# -- mistakes ----------------------------------------------------------------------------------------------------------
_SIZES = np.array([2, 2], np.int32)
_HUGE = 2**62
MISTAKES: list[tuple[str, list[Array], list[Array], dict[str, Any]]] = [
    *((op, [_X], [], {}) for op in ("Subsample", "Offset", "Round", "ReplaceIndex", "DimRange", "SumGroup", "Gemm")),
    *((op, [_X], [], {}) for op in ("ExtractPooling", "PNorm", "LstmNonlinear", "DynamicLSTM", "ImageScaler")),
    ("IfDefined", [_X], [], {"offset": -1}),
    *(("Subsample", [_X], [], {"forward_indexes": places}) for places in ([7], [-1], [0, _HUGE], [0.5], 3)),
    ("Subsample", [_X[0, 0]], [], {"forward_indexes": [0]}),
    ("Append", [np.array(1, np.float32)], [], {}),
    ("Append", [_X, _X[:1]], [], {}),
    ("DimRange", [_X], [], {"offset": 4, "output_dim": 3}),
    ("DimRange", [_X], [], {"offset": -1, "output_dim": 3}),
    ("DimRange", [_X], [], {"offset": 0, "output_dim": 0}),
    ("DimRange", [_X], [], {"offset": _HUGE, "output_dim": _HUGE}),
    ("Splice", [_X], [], {"context": [-1, 0], "forward_indexes": [0, 1, 2]}),
    ("Splice", [_X], [], {"context": [0, 1], "forward_indexes": [6, 7]}),
    ("Splice", [_X], [], {"context": [0, 1], "forward_indexes": [-1, 0]}),
    ("Splice", [_X], [], {"context": [0, 7]}),
    ("Splice", [_X], [], {"context": [0, _HUGE]}),
    ("Splice", [_X], [], {"left_context": 2, "right_context": -3}),
    ("Splice", [_X], [], {"left_context": _HUGE, "right_context": _HUGE}),
    ("Splice", [_X], [], {"context": [0], "const_component_dim": 6}),
    ("Splice", [_X], [], {"context": [0], "const_component_dim": -1}),
    (
        "Splice",
        [_X],
        [],
        {"context": [0], "const_component_dim": 1, "forward_indexes": [0], "forward_const_indexes": [7]},
    ),
    (
        "Splice",
        [_X],
        [],
        {"context": [0], "const_component_dim": 1, "forward_indexes": [0], "forward_const_indexes": [1, 2]},
    ),
    ("IfDefined", [_X], [], {"offset": 1, "forward_indexes": [0]}),
    ("IfDefined", [_X], [], {"offset": -1, "forward_indexes": [7]}),
    ("IfDefined", [_X], [], {"offset": -1, "forward_indexes": [0] * 8}),
    ("IfDefined", [_X, _X], [], {"offset": -1, "forward_indexes": [-1, 0]}),
    ("IfDefined", [_X, _X], [], {"offset": -1, "forward_indexes": [-1, 0], "cache_forward_indexes": [7]}),
    ("IfDefined", [_X, _X[:, 1:]], [], {"offset": -1, "forward_indexes": [-1, 0], "cache_forward_indexes": [1]}),
    ("PadContext", [_X], [], {"left_context": -1}),
    ("PadContext", [_X], [], {"right_context": _HUGE}),
    ("Gemm", [_X], [random(4, 5)], {}),
    ("Gemm", [_X], [random(4, 6), random(5)], {}),
    ("Gemm", [_X], [random(4, 6, 1)], {}),
    ("Gemm", [_X], [random(4, 2)], {"num_repeats": 2}),
    ("Gemm", [_X], [random(4, 2)], {"num_repeats": 0}),
    ("Gemm", [_X], [random(4, 2)], {"num_repeats": 3, "num_blocks": 3}),
    ("Gemm", [_X], [random(5, 3)], {"num_blocks": 2}),
    ("Gemm", [_X], [np.ones((4, 6), np.int32)], {}),
    ("Scale", [_X], [], {}),
    ("Scale", [_X], [], {"scale": "much"}),
    ("BatchNorm", [_X], [], {"block_dim": 4}),
    ("BatchNorm", [_X], [], {"block_dim": 0}),
    ("BatchNorm", [_X], [], {"epsilon": 0.0}),
    ("BatchNorm", [_X], [], {"target_rms": -1.0}),
    ("BatchNorm", [_X], [], {"test_mode": 1}),
    ("BatchNorm", [_X], [random(5), random(5)], {"test_mode": 1}),
    ("TargetRMSNorm", [_X], [], {"block_dim": 4}),
    ("TargetRMSNorm", [_X], [], {"block_dim": -1}),
    ("TargetRMSNorm", [_X], [], {"target_rms": float("nan")}),
    ("Normalize", [_X], [random(6)], {}),
    ("PNorm", [_X], [], {"output_dim": 4}),
    ("PNorm", [_X], [], {"output_dim": 0}),
    ("PNorm", [_X], [], {"output_dim": 2, "p": 3}),
    ("SumGroup", [_X], [np.array([5, 2], np.int32)], {}),
    ("SumGroup", [_X], [np.array([0, 2], np.int32)], {}),
    ("SumGroup", [_X], [np.array([1.5], np.float32)], {}),
    ("SumGroup", [_X, _SIZES], [], {}),
    ("ExtractPooling", [_X], [], {"counts": [2.0], "forward_indexes": [0, 2, 4]}),
    ("ExtractPooling", [_X], [], {"counts": [2.0], "forward_indexes": [0, 3]}),
    ("ExtractPooling", [_X], [], {"counts": [2.0], "forward_indexes": [6, 8]}),
    ("ExtractPooling", [_X], [], {"counts": [0.0], "forward_indexes": [-1, -1]}),
    ("ExtractPooling", [_X], [], {"counts": [1.0], "forward_indexes": [0, 1], "num_log_count": -1}),
    ("ExtractPooling", [_X], [], {"counts": [1.0], "forward_indexes": [0, 1], "num_log_count": _HUGE}),
    (
        "ExtractPooling",
        [_X],
        [],
        {"counts": [1.0], "forward_indexes": [0, 1], "include_variance": 1, "variance_floor": -1.0},
    ),
    ("ImageScaler", [random(1, 3, 2, 2)], [], {"bias": [1.0], "scale": 1.0}),
    ("LstmNonlinear", [random(2, 21)], [random(3, 4)], {}),
    ("LstmNonlinear", [random(2, 20)], [random(3, 5)], {}),
    ("Softmax", [_X], [], {"axis": 3}),
    ("RestrictedAttention", [_X], [], {}),
]


@pytest.mark.parametrize(("op", "inputs", "weights", "attributes"), MISTAKES)
def test_mistakes(
    tmp_path: Path, op: str, inputs: list[Array], weights: list[Array], attributes: dict[str, Any]
) -> None:
    with pytest.raises(LatheError, match=op):
        _run(tmp_path, op, inputs, weights, **attributes)


LAYER_MISTAKES: list[dict[str, Any]] = [
    {"prev_out_delay": 0},
    {"prev_cell_delay": 3},
    {"prev_cell_delay": None},
    {"subsample_factor": 2},
    {"subsample_factor": 0},
    {"prev_out_dim": 0},
    {"prev_out_dim": 4},
    {"prev_cell_dim": 3},
    {"prev_out_offset": 4},
    {"prev_out_offset": -1},
    {"prev_out_delay": -2},
    {"forward_indexes": [11]},
    {"forward_indexes": None},
    {"out_cache_indexes": [0, 1, 2, 3]},
    {"cell_cache_indexes": [11]},
    {"scale": "half"},
]


@pytest.mark.parametrize("wrong", LAYER_MISTAKES, ids=str)
def test_mistakes_of_a_dynamic_lstm(tmp_path: Path, wrong: dict[str, Any]) -> None:
    layer = Lstm(extra=wrong)
    feeds = dict(zip(("x", "out_before", "cell_before"), (layer.x(), *layer.states()), strict=True))
    with pytest.raises(LatheError, match="DynamicLSTM"):
        imported(model_of([layer.node()], feeds, ["y", "out", "cell"], layer.weights()), tmp_path)


def test_frames_of_any_number_need_no_places(tmp_path: Path) -> None:
    model = model_of([node("Subsample", ["x"], ["y"], forward_indexes=[0])], {"x": _X}, ["y"], {})
    with pytest.raises(UnsupportedError, match="number of frames"):
        imported(model, tmp_path, [TensorRequest("x", (2, (4, 9), 6), "NONE")])


@pytest.mark.parametrize("says", ["operator sets", "producer"])
def test_nodes_of_the_oldest_files_have_no_domain(says: str, tmp_path: Path) -> None:
    """They are Kaldi's all the same: its Round takes frames, which ONNX's does not."""
    model = model_of([node("Round", ["x"], ["y"], forward_indexes=[0, 0, 3, 3])], {"x": _X}, ["y"], {})
    for item in model.graph.node:
        item.ClearField("domain")
    if says == "producer":
        model.producer_name = "kaldi-onnx-nnet3"
        model.opset_import[0].CopyFrom(helper.make_opsetid("", 1))
    graph = imported(model, tmp_path).graph
    np.testing.assert_array_equal(harness.run(graph, [_X])[0], _X[:, [0, 0, 3, 3]])


def test_every_operator_of_the_list_is_there() -> None:
    listed = (
        "Affine Append BatchNorm DimRange ExtractPooling IfDefined ImageScaler Linear LstmNonlinear DynamicLSTM NoOp "
        "Normalize Offset PadContext PNorm ReplaceIndex Round Scale Splice Subsample SumGroup TargetRMSNorm"
    )
    assert {f"ai.kaldi.dnn.{name}" for name in listed.split()} <= set(supported_operators())
    assert "Round" in supported_operators()
