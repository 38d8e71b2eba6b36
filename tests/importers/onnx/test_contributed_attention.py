"""The attention operators of com.microsoft against onnxruntime: masks, caches, windows, rotary positions, packing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from buildtool.errors import UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import (
    Case,
    check_contributed,
    compare,
    contributed_model,
    imported,
    model_of,
    random,
    reference,
    run,
)

_B, _S, _P, _N, _H = 2, 3, 4, 2, 8  # batch, queries, past, heads, size of a head
_D = _N * _H
_KEYS = np.arange(_P + _S)


def _ints(*numbers: Any) -> Array:
    return np.array(numbers, np.int32)


def _flags(*shape: int, seed: int = 0) -> Array:
    """A mask that shows every query a key at least."""
    flags = (np.random.default_rng(seed).uniform(size=shape) < 0.6).astype(np.int32)
    flags[..., 0] = 1
    return flags


_X, _W, _BIAS = random(_B, _S, 12), random(12, 3 * _D, low=-0.5, high=0.5), random(3 * _D)
_CACHE = random(2, _B, _N, _P, _H)
_ATTENTION: Sequence[tuple[str, Sequence[Array | None], Mapping[str, Any], int]] = (
    ("plain", [_X, _W, _BIAS], {}, 1),
    ("no bias", [_X, _W, None], {}, 1),
    ("present without past", [_X, _W, _BIAS], {}, 2),
    ("causal", [_X, _W, _BIAS], {"unidirectional": 1}, 1),
    ("lengths", [_X, _W, _BIAS, _ints(3, 1)], {}, 1),
    ("ends and starts", [_X, _W, _BIAS, _ints(3, 2, 1, 0)], {}, 1),
    ("packing", [_X, _W, _BIAS, _ints(3, 1, 0, 3, 4, 0, 3, 4)], {}, 1),
    ("flags per key", [_X, _W, _BIAS, _flags(_B, _S)], {}, 1),
    ("flags per query", [_X, _W, _BIAS, _flags(_B, _S, _S)], {"unidirectional": 1}, 1),
    ("mild mask", [_X, _W, _BIAS, _flags(_B, _S)], {"mask_filter_value": -2.0}, 1),
    ("nothing to see", [_X, _W, _BIAS, np.zeros((_B, _S), np.int32)], {}, 1),
    ("bias of products", [_X, _W, _BIAS, None, None, random(1, _N, _S, _S)], {"scale": 0.3}, 1),
    ("cache", [_X, _W, _BIAS, None, _CACHE], {"unidirectional": 1}, 2),
    ("cache and mask", [_X, _W, _BIAS, _flags(_B, _P + _S), _CACHE], {}, 2),
    ("sizes", [_X, _W[:, : 2 * _D + 6], _BIAS[: 2 * _D + 6]], {"qkv_hidden_sizes": [_D, _D, 6]}, 1),
)


@pytest.mark.parametrize(
    ("inputs", "attributes", "outputs"), [row[1:] for row in _ATTENTION], ids=[row[0] for row in _ATTENTION]
)
def test_attention(inputs: Sequence[Array | None], attributes: Mapping[str, Any], outputs: int, tmp_path: Path) -> None:
    case = Case("Attention", inputs, {"num_heads": _N, **attributes}, (1,))
    check_contributed(case, ["y", "present"][:outputs], tmp_path)


_Q, _K, _V = random(_B, _S, _D, seed=1), random(_B, 5, _D, seed=2), random(_B, 5, _N * 6, seed=3)
_NEW_K, _NEW_V = random(_B, _S, _D, seed=4), random(_B, _S, _D, seed=5)
_PAST = [random(_B, _N, _P, _H, seed=6), random(_B, _N, _P, _H, seed=7)]
_MULTI: Sequence[tuple[str, Sequence[Array | None], Mapping[str, Any]]] = (
    ("cross", [_Q, _K, _V], {}),
    ("bias", [_Q, _K, _V, random(2 * _D + _N * 6)], {"scale": 0.5}),
    ("causal", [_Q, _NEW_K, _NEW_V], {"unidirectional": 1}),
    ("lengths", [_Q, _K, _V, None, _ints(5, 2)], {}),
    ("packing", [_Q, _K, _V, None, _ints(5, 2, 0, 3, 6, 0, 5, 7)], {}),
    ("flags per key", [_Q, _K, _V, None, _flags(_B, 5)], {"mask_filter_value": -3.0}),
    ("flags per query", [_Q, _K, _V, None, _flags(_B, _S, 5)], {}),
    ("bias of products", [_Q, _K, _V, None, None, random(_B, 1, _S, 5)], {}),
    ("cache", [_Q, _NEW_K, _NEW_V, random(3 * _D), None, None, *_PAST], {"unidirectional": 1}),
    ("cache and mask", [_Q, _NEW_K, _NEW_V, None, _flags(_B, _P + _S), random(1, _N, _S, _P + _S), *_PAST], {}),
    ("from a cache", [_Q, *_PAST], {}),
)


@pytest.mark.parametrize(("inputs", "attributes"), [row[1:] for row in _MULTI], ids=[row[0] for row in _MULTI])
def test_multi_head_attention(inputs: Sequence[Array | None], attributes: Mapping[str, Any], tmp_path: Path) -> None:
    outputs = ["y", "key", "value"] if len(inputs) > 6 else ["y"]
    check_contributed(Case("MultiHeadAttention", inputs, {"num_heads": _N, **attributes}), outputs, tmp_path)


@pytest.mark.parametrize("parts", [2, 3])
def test_packed_operands_are_the_same_as_single_ones(parts: int, tmp_path: Path) -> None:
    """onnxruntime has them on GPUs only."""
    q, k, v = (random(_B, _S, _D, seed=seed) for seed in range(3))
    case = Case("MultiHeadAttention", [q, k, v], {"num_heads": _N})
    expected = reference(contributed_model(case, ["y"]), case.fed())
    together = np.stack([x.reshape(_B, _S, _N, _H) for x in (q, k, v)[3 - parts :]], axis=3)
    packed = [together] if parts == 3 else [q, together]
    graph = imported(contributed_model(Case("MultiHeadAttention", packed, {"num_heads": _N}), ["y"]), tmp_path).graph
    compare(graph, packed, expected, rtol=1e-4, atol=2e-5)


# -- GroupQueryAttention -----------------------------------------------------------------------------------------------
_GROUPS, _SIZE, _ROOM = 2, 32, 8
_ANGLES = [random(_ROOM + 4, _SIZE // 2, seed=seed) for seed in (8, 9)]


def _grouped(count: int, batch: int, seed: int = 0) -> list[Array]:
    widths = (2 * _GROUPS * _SIZE, _GROUPS * _SIZE, _GROUPS * _SIZE)
    return [random(batch, count, width, seed=seed + index) for index, width in enumerate(widths)]


def _past(length: int, batch: int) -> list[Array]:
    return [random(batch, _GROUPS, length, _SIZE, seed=seed) for seed in (10, 11)]


_PROMPT = [*_grouped(3, _B), None, None, _ints(2, 2), _ints(3)[0]]
_STEP = [*_grouped(1, _B), *_past(5, _B), _ints(5, 5), _ints(6)[0]]
_CHUNK = [*_grouped(3, 1), *_past(4, 1), _ints(6), _ints(7)[0]]
_GROUP: Sequence[tuple[str, Sequence[Array | None], Mapping[str, Any]]] = (
    ("prompt", _PROMPT, {}),
    ("prompt into a buffer", [*_grouped(3, _B), *_past(_ROOM, _B), _ints(2, 2), _ints(3)[0]], {}),
    ("step", _STEP, {}),
    ("step in a buffer", [*_grouped(1, _B), *_past(_ROOM, _B), _ints(5, 3), _ints(6)[0]], {}),
    ("chunk", _CHUNK, {"scale": 0.2}),
    ("cap", _CHUNK, {"softcap": 0.7}),
    ("window", _CHUNK, {"local_window_size": 3}),
    ("window of one", _STEP, {"local_window_size": 1}),
    ("both ways", _CHUNK, {"causal": 0}),
    ("smooth", _CHUNK, {"smooth_softmax": 1}),
    ("sinks", [*_CHUNK, None, None, None, None, random(2 * _GROUPS)], {}),
    ("bias", [*_CHUNK, None, None, None, random(1, 1, 3, 7)], {"softcap": 2.0}),
    ("rotary prompt", [*_PROMPT, *_ANGLES], {"do_rotary": 1}),
    ("rotary step", [*_STEP, *_ANGLES], {"do_rotary": 1}),
    ("rotary neighbours", [*_CHUNK, *_ANGLES], {"do_rotary": 1, "rotary_interleaved": 1}),
    ("rotary part", [*_CHUNK, *(table[:, :8] for table in _ANGLES)], {"do_rotary": 1}),
    ("positions", [*_CHUNK, *_ANGLES, np.array([[5, 6, 7]])], {"do_rotary": 1}),
    ("packed", [np.concatenate(_grouped(3, 1), axis=2), None, None, *_CHUNK[3:], *_ANGLES], {"do_rotary": 1}),
)


@pytest.mark.parametrize(("inputs", "attributes"), [row[1:] for row in _GROUP], ids=[row[0] for row in _GROUP])
def test_grouped_attention(inputs: Sequence[Array | None], attributes: Mapping[str, Any], tmp_path: Path) -> None:
    heads = {"num_heads": 2 * _GROUPS, "kv_num_heads": _GROUPS}
    case = Case("GroupQueryAttention", inputs, {**heads, **attributes}, (6,))
    model = contributed_model(case, ["y", "key", "value"])
    expected = reference(model, case.fed())
    graph = imported(model, tmp_path).graph
    filled = np.asarray(inputs[5]) + 1
    for _ in range(2):
        results = run(graph, list(case.fed().values()))
        for result, wanted in zip(results, expected, strict=True):
            assert result.shape == wanted.shape
            np.testing.assert_allclose(_known(result, filled), _known(wanted, filled), rtol=1e-4, atol=2e-5)
        optimise(graph)


def _known(array: Array, filled: Array) -> Array:
    """What stands behind the filled part of a cache is left open."""
    if array.ndim < 4:
        return array
    return np.concatenate([sample[:, :end].reshape(-1) for sample, end in zip(array, filled, strict=True)])


def _rms(x: Array, weights: Array, epsilon: float) -> Array:
    rows = x.reshape(*x.shape[:2], -1, _SIZE)
    mean = np.mean(rows * rows, axis=-1, keepdims=True, dtype=np.float32)
    return np.asarray((rows / np.sqrt(mean + np.float32(epsilon)) * weights).reshape(x.shape))


def test_normalised_heads_are_the_same_as_norms_in_front(tmp_path: Path) -> None:
    """onnxruntime has them on GPUs only."""
    weights, attributes = (
        [random(_SIZE, seed=seed) for seed in (1, 2)],
        {"num_heads": 2 * _GROUPS, "kv_num_heads": _GROUPS},
    )
    attributes |= {"do_rotary": 1}
    q, k, *rest = _CHUNK
    assert q is not None and k is not None
    outside = Case(
        "GroupQueryAttention", [_rms(q, weights[0], 1e-3), _rms(k, weights[1], 1e-6), *rest, *_ANGLES], attributes, (6,)
    )
    expected = reference(contributed_model(outside, ["y", "key", "value"]), outside.fed())
    inputs = [*_CHUNK, *_ANGLES, *[None] * 5, *weights]
    inside = Case("GroupQueryAttention", inputs, {**attributes, "q_norm_epsilon": 1e-3}, (6,))
    graph = imported(contributed_model(inside, ["y", "key", "value"]), tmp_path).graph
    compare(graph, list(inside.fed().values()), expected, rtol=1e-4, atol=2e-5)


# -- RotaryEmbedding ---------------------------------------------------------------------------------------------------
_ROTARY: Sequence[tuple[str, Sequence[Array], Mapping[str, Any]]] = (
    ("one position", [random(_B, _S, 2 * _SIZE), np.array([4]), *_ANGLES], {}),
    ("positions", [random(_B, _S, 2 * _SIZE), np.array([[4, 5, 6], [0, 1, 2]]), *_ANGLES], {"interleaved": 1}),
    ("heads", [random(_B, 2, _S, _SIZE), np.array([1]), *_ANGLES], {}),
    (
        "part",
        [random(_B, _S, 2 * _SIZE), np.array([2]), *(table[:, :8] for table in _ANGLES)],
        {"num_heads": 2, "rotary_embedding_dim": 16},
    ),
    ("scale is not read", [random(_B, _S, 2 * _SIZE), np.array([4]), *_ANGLES], {"scale": 3.0}),
)


@pytest.mark.parametrize(("inputs", "attributes"), [row[1:] for row in _ROTARY], ids=[row[0] for row in _ROTARY])
def test_rotary_embedding(inputs: Sequence[Array], attributes: Mapping[str, Any], tmp_path: Path) -> None:
    check_contributed(Case("RotaryEmbedding", inputs, attributes), ["y"], tmp_path)


# -- run-time sizes ----------------------------------------------------------------------------------------------------
_SIZES = {"batch": (1, 3), "length": (1, 6), "past": (0, 8), "total": (1, 14)}


def _request(name: str, shape: Sequence[int | str]) -> TensorRequest:
    return TensorRequest(name, tuple(_SIZES[word] if isinstance(word, str) else word for word in shape))


def _check_sizes(case: Case, outputs: Sequence[str], words: Mapping[str, Sequence[int | str]], folder: Path) -> None:
    """Imports a model with named sizes, and compares it at those of the case."""
    model = contributed_model(case, outputs)
    expected = reference(model, case.fed())
    requests = []
    for info in model.graph.input:
        shape = words.get(info.name, [dim.dim_value for dim in info.type.tensor_type.shape.dim])
        for dim, word in zip(info.type.tensor_type.shape.dim, shape, strict=True):
            if isinstance(word, str):
                dim.dim_param = word
        requests.append(_request(info.name, shape))
    graph = imported(model, folder, requests).graph
    for _ in range(2):
        compare(graph, list(case.fed().values()), expected, rtol=1e-4, atol=2e-5)
        optimise(graph)


@pytest.mark.parametrize("past", [0, 5])
def test_attention_of_run_time_sizes(past: int, tmp_path: Path) -> None:
    cache = random(2, _B, _N, past, _H)
    case = Case("Attention", [_X, _W, _BIAS, None, cache], {"num_heads": _N, "unidirectional": 1}, (1, 2))
    words: dict[str, Sequence[int | str]] = {"x0": ["batch", "length", 12], "x4": [2, "batch", _N, "past", _H]}
    _check_sizes(case, ["y", "present"], words, tmp_path)


@pytest.mark.parametrize("past", [0, 5])
def test_multi_head_attention_of_run_time_sizes(past: int, tmp_path: Path) -> None:
    cache = [random(_B, _N, past, _H, seed=seed) for seed in range(2)]
    case = Case(
        "MultiHeadAttention", [_Q, _NEW_K, _NEW_V, None, None, None, *cache], {"num_heads": _N, "unidirectional": 1}
    )
    words: dict[str, Sequence[int | str]] = {name: ["batch", "length", _D] for name in ("x0", "x1", "x2")}
    words |= {name: ["batch", _N, "past", _H] for name in ("x6", "x7")}
    _check_sizes(case, ["y", "key", "value"], words, tmp_path)


@pytest.mark.parametrize(("count", "past"), [(3, 0), (1, 5)])
def test_grouped_attention_of_run_time_sizes(count: int, past: int, tmp_path: Path) -> None:
    """As exporters write it: the total is the width of the attention mask, the lengths are its sums less one."""
    mask = np.ones((_B, past + count), np.int64)
    operands = [*_grouped(count, _B), *_past(past, _B), mask]
    fed = {f"x{index}": array for index, array in enumerate(operands)}
    nodes = [
        helper.make_node("ReduceSum", ["x5", "one"], ["sums"], keepdims=0),
        helper.make_node("Sub", ["sums", "one"], ["less"]),
        helper.make_node("Cast", ["less"], ["lengths"], to=TensorProto.INT32),
        helper.make_node("Shape", ["x5"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["width"]),
        helper.make_node("Cast", ["width"], ["total"], to=TensorProto.INT32),
        helper.make_node(
            "GroupQueryAttention",
            [*list(fed)[:5], "lengths", "total", "cos", "sin"],
            ["y", "key", "value"],
            domain="com.microsoft",
            num_heads=2 * _GROUPS,
            kv_num_heads=_GROUPS,
            do_rotary=1,
        ),
    ]
    words: dict[str, list[int | str]] = {
        f"x{index}": ["batch", "length", operands[index].shape[2]] for index in range(3)
    }
    words |= {name: ["batch", _GROUPS, "past", _SIZE] for name in ("x3", "x4")}
    words["x5"] = ["batch", "total"]
    weights = {"one": np.array([1]), "cos": _ANGLES[0], "sin": _ANGLES[1]}
    model = model_of(nodes, fed, ["y", "key", "value"], weights, shapes=words)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    expected = reference(model, fed)
    requests = [_request(name, words[name]) for name in fed]
    graph = imported(model, tmp_path, requests).graph
    for _ in range(2):
        compare(graph, list(fed.values()), expected, rtol=1e-4, atol=2e-5)
        optimise(graph)


# -- what is refused ---------------------------------------------------------------------------------------------------
_REFUSED: Sequence[tuple[str, Sequence[Array | None], Mapping[str, Any], str]] = (
    ("Attention", [_X, _W, _BIAS], {"do_rotary": 1}, "'do_rotary' is 1"),
    ("Attention", [_X, _W, _BIAS, None, _CACHE], {"past_present_share_buffer": 1}, "'past_present_share_buffer' is 1"),
    ("Attention", [_X, _W, _BIAS, _ints(1).reshape(1, 1, 1, 1)], {}, "a mask with 4 axes"),
    ("MultiHeadAttention", [_Q, _NEW_K, _NEW_V, None, None, None, *_PAST, _ints(1)], {}, "'past_sequence_length'"),
    ("GroupQueryAttention", _CHUNK, {"sliding_window_cache": 1}, "'sliding_window_cache' is 1"),
    ("GroupQueryAttention", _CHUNK, {"k_quant_type": "PER_TENSOR"}, "'k_quant_type' is PER_TENSOR"),
    ("GroupQueryAttention", _CHUNK, {"qk_output": 2}, "'qk_output' is 2"),
    ("GroupQueryAttention", [*_CHUNK, *[None] * 9, _ints(1)], {}, "'query_seqlens'"),
    ("RotaryEmbedding", [_Q, np.array([4]), *_ANGLES], {"is_packed_batching": 1}, "'is_packed_batching' is 1"),
)


@pytest.mark.parametrize(("op", "inputs", "attributes", "what"), _REFUSED, ids=[row[3] for row in _REFUSED])
def test_unsupported_options_are_named(
    op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any], what: str, tmp_path: Path
) -> None:
    heads = {} if op == "RotaryEmbedding" else {"num_heads": _N}
    if op == "GroupQueryAttention":
        heads = {"num_heads": 2 * _GROUPS, "kv_num_heads": _GROUPS}
    with pytest.raises(UnsupportedError, match=what):
        imported(contributed_model(Case(op, inputs, {**heads, **attributes}), ["y"]), tmp_path)
