"""Quantised products, fused products and embeddings of com.microsoft against onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from buildtool.errors import UnsupportedError
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import (
    Case,
    check_contributed,
    compare,
    contributed_model,
    imported,
    random,
    reference,
    run,
)


def _stored(*shape: int, dtype: Any = np.uint8, seed: int = 0) -> Array:
    """Signed ones have 7 bits: onnxruntime's sums of products of 8 and 8 bits saturate on some processors."""
    limits = np.iinfo(dtype)
    half = limits.min // 2
    return np.random.default_rng((seed, *shape)).integers(half, limits.max + 1 + half, shape).astype(dtype)


def _one(value: float, dtype: Any = np.float32) -> Array:
    return np.array(value, dtype)


def _row(count: int) -> Array:
    return np.linspace(0.01, 0.05, count).astype(np.float32)


# -- weights of a few bits ---------------------------------------------------------------------------------------------
def _few_bits(bits: int, zeros: str, bias: bool, block: int = 16, columns: int = 40) -> Case:
    rows, blocks = 6, -(-columns // block)
    inputs: list[Array | None] = [
        random(2, 3, columns),
        _stored(rows, blocks, block * bits // 8),
        random(rows, blocks, low=0.01, high=0.1),
    ]
    match zeros:
        case "packed":
            inputs.append(_stored(rows, -(-blocks * bits // 8), seed=1))
        case "real":
            inputs.append(random(rows, blocks, low=0, high=2.0**bits))
        case _:
            inputs.append(None)
    if bias:
        inputs += [None, random(rows)]
    attributes = {"bits": bits, "block_size": block, "N": rows, "K": columns}
    held = tuple(index for index, array in enumerate(inputs) if index and array is not None)
    return Case("MatMulNBits", inputs, attributes, held)


_PACKINGS = [(bits, zeros) for bits in (2, 4, 8) for zeros in ("none", "packed", "real")]


@pytest.mark.parametrize(("bits", "zeros"), _PACKINGS[:-1])  # onnxruntime has no real zero points for 8 bits
def test_products_of_few_bits(bits: int, zeros: str, tmp_path: Path) -> None:
    check_contributed(_few_bits(bits, zeros, bias=bits == 4), ["y"], tmp_path)


def test_products_in_one_block_are_the_same(tmp_path: Path) -> None:
    check_contributed(_few_bits(4, "packed", bias=False, block=64), ["y"], tmp_path)


def _table(bits: int, zeros: bool, kind: int | None) -> tuple[list[Array | None], dict[str, Any]]:
    rows, columns, block = 7, 32, 16
    width = columns if kind is not None else columns * bits // 8
    low, high = (-8, 8) if kind == TensorProto.INT4 else (0, 16 if kind is not None else 256)
    data = np.random.default_rng(0).integers(low, high, (rows, width)).astype(np.int8 if low else np.uint8)
    offsets = None
    if zeros:
        packed = rows, -(-2 * bits // 8) if kind is None else 2
        offsets = np.random.default_rng(1).integers(low, high, packed).astype(data.dtype)
    inputs: list[Array | None] = [data, np.array([[1, 6], [0, 3]]), random(rows, 2, low=0.1), offsets]
    attributes: dict[str, Any] = {"block_size": block, "quantize_axis": 1, "gather_axis": 0}
    return inputs, attributes if kind is not None else {**attributes, "bits": bits}


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("bits", "kind"), [(4, None), (8, None), (4, TensorProto.INT4), (4, TensorProto.UINT4)])
def test_rows_of_tables_of_few_bits(bits: int, kind: int | None, zeros: bool, tmp_path: Path) -> None:
    inputs, attributes = _table(bits, zeros, kind)
    held = tuple(index for index, array in enumerate(inputs) if index != 1 and array is not None)
    case = Case("GatherBlockQuantized", inputs, attributes, held)
    model = contributed_model(case, ["y"])
    if kind is not None:
        for tensor in model.graph.initializer:
            array = inputs[int(tensor.name[1:])]
            if array is not None and tensor.name in ("x0", "x3"):
                tensor.CopyFrom(helper.make_tensor(tensor.name, kind, array.shape, array.reshape(-1)))
    expected = reference(model, case.fed())
    graph = imported(model, tmp_path).graph
    compare(graph, list(case.fed().values()), expected)
    optimise(graph)
    compare(graph, list(case.fed().values()), expected)


# -- sums of integers --------------------------------------------------------------------------------------------------
def _dynamic() -> Iterator[Case]:
    x = random(2, 3, 8)
    for dtype in (np.int8, np.uint8):
        weights = _stored(8, 5, dtype=dtype)
        for scale, zero in ((_one(0.02), _one(7, dtype)), (_row(5), np.full(5, 3, dtype)), (_one(0.02), None)):
            yield Case("DynamicQuantizeMatMul", [x, weights, scale, zero, random(5)], {}, (1,))
        yield Case("DynamicQuantizeMatMul", [x, weights, _row(5)], {}, (1,))
        a = _stored(2, 3, 8, dtype=np.uint8)
        both = [a, weights, _one(0.03), _row(5), _one(120, np.uint8), np.full(5, 3, dtype)]
        yield Case("MatMulIntegerToFloat", [*both, random(5)], {}, (1,))
        yield Case("MatMulIntegerToFloat", [*both[:3], _one(0.02)], {}, (1,))


@pytest.mark.parametrize("case", tuple(_dynamic()), ids=str)
def test_products_of_integers(case: Case, tmp_path: Path) -> None:
    graph = check_contributed(case, ["y"], tmp_path)
    assert "matmul_integer" in [node.op.name for node in graph.nodes]


_B, _S, _P, _N, _H = 2, 3, 4, 2, 8
_D = _N * _H


def _quantised_attention(dtype: Any, per_column: bool, **more: Array) -> Case:
    scale = _row(3 * _D) if per_column else _one(0.02)
    zero = np.zeros(3 * _D, dtype) if per_column else _one(3, dtype)
    inputs: list[Array | None] = [_stored(_B, _S, 12), _stored(12, 3 * _D, dtype=dtype), random(3 * _D), _one(0.01)]
    inputs += [scale, more.get("mask"), _one(120, np.uint8), zero, more.get("past")]
    attributes = {"num_heads": _N, "unidirectional": int("past" in more)}
    return Case("QAttention", inputs, attributes, (1, 3, 4, 6, 7))


@pytest.mark.parametrize(
    "case",
    [
        _quantised_attention(np.int8, False),
        _quantised_attention(np.uint8, False, mask=np.array([3, 1], np.int32)),
        _quantised_attention(np.int8, True, past=random(2, _B, _N, _P, _H)),
    ],
    ids=str,
)
def test_quantised_attention(case: Case, tmp_path: Path) -> None:
    graph = check_contributed(case, ["y", "present"] if case.inputs[8] is not None else ["y"], tmp_path)
    assert "matmul_integer" in [node.op.name for node in graph.nodes]


@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_quantised_recurrent_layers(direction: str, per_column: bool, tmp_path: Path) -> None:
    """onnxruntime quantises the state in every step; here its products are exact."""
    hidden, width, steps = 6, 4, 5
    count = 2 if direction == "bidirectional" else 1
    shape = (count, 4 * hidden) if per_column else (count,)
    scales = random(*shape, low=0.004, high=0.008)
    zeros = np.zeros(shape, np.int8) if per_column else np.full(shape, 3, np.int8)
    inputs: list[Array | None] = [
        random(steps, _B, width),
        _stored(count, width, 4 * hidden, dtype=np.int8),
        _stored(count, hidden, 4 * hidden, dtype=np.int8, seed=1),
        random(count, 8 * hidden),
        np.array([5, 3], np.int32) if direction != "forward" else None,
        random(count, _B, hidden),
        random(count, _B, hidden, seed=1),
        random(count, 3 * hidden) if per_column else None,
        *(scales, zeros, scales, zeros),
    ]
    held = tuple(index for index in (1, 2, 8, 9, 10, 11))
    case = Case("DynamicQuantizeLSTM", inputs, {"direction": direction, "hidden_size": hidden}, held)
    check_contributed(case, ["y", "h", "c"], tmp_path, rtol=0.02, atol=0.02)


# -- channels last, fused ----------------------------------------------------------------------------------------------
_IMAGE, _FILTERS = random(1, 7, 6, 4), random(5, 4, 3, 3, low=-0.5, high=0.5)
_HALF = {"pads": [1, 0, 1, 1], "strides": [2, 1]}
_OTHERS: Sequence[tuple[str, Sequence[Array | None], Mapping[str, Any]]] = (
    (
        "FusedGemm",
        [random(3, 4), random(5, 4), random(5)],
        {"alpha": 1.0, "beta": 1.0, "transB": 1, "activation": "Relu"},
    ),
    (
        "FusedGemm",
        [random(3, 4), random(4, 5)],
        {"alpha": 0.5, "beta": 1.0, "activation": "LeakyRelu", "activation_alpha": 0.2},
    ),
    (
        "FusedGemm",
        [random(4, 3), random(4, 5)],
        {
            "alpha": 1.0,
            "beta": 1.0,
            "transA": 1,
            "activation": "HardSigmoid",
            "activation_alpha": 0.3,
            "activation_beta": 0.4,
        },
    ),
    ("FusedGemm", [random(4, 3), random(3, 5)], {"alpha": 1.0, "beta": 1.0, "activation": "Tanh"}),
    ("NhwcMaxPool", [_stored(1, 7, 6, 4)], {"kernel_shape": [3, 2], **_HALF}),
    ("NhwcMaxPool", [_stored(1, 7, 6, 4, dtype=np.int8)], {"kernel_shape": [3, 2], "ceil_mode": 1, "strides": [2, 2]}),
)


@pytest.mark.parametrize(("op", "inputs", "attributes"), _OTHERS, ids=[row[0] for row in _OTHERS])
def test_other_operators(
    op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any], tmp_path: Path
) -> None:
    case = Case(op, inputs, attributes)
    check_contributed(case, ["y"], tmp_path)


def test_convolutions_with_channels_last_are_those_with_channels_first(tmp_path: Path) -> None:
    """onnxruntime has them on GPUs only."""
    first, more = np.ascontiguousarray(_IMAGE.transpose(0, 3, 1, 2)), random(1, 5, 4, 5)
    attributes = {"activation": "Relu", **_HALF}
    case = Case("FusedConv", [first, _FILTERS, random(5), more], attributes)
    (expected,) = reference(contributed_model(case, ["y"]), case.fed())
    inputs = [_IMAGE, _FILTERS, random(5), np.ascontiguousarray(more.transpose(0, 2, 3, 1))]
    graph = imported(contributed_model(Case("NhwcFusedConv", inputs, attributes), ["y"]), tmp_path).graph
    compare(graph, inputs, [expected.transpose(0, 2, 3, 1)])


def test_the_softmax_of_a_biased_tensor(tmp_path: Path) -> None:
    """onnxruntime has it on GPUs only."""
    inputs = [random(2, 3, 4, 5), random(2, 1, 1, 5)]
    powers = np.exp(inputs[0] + inputs[1])
    model = contributed_model(Case("BiasSoftmax", inputs, {"axis": 3, "is_inner_broadcast": 1}), ["y"])
    compare(imported(model, tmp_path).graph, inputs, [powers / powers.sum(axis=3, keepdims=True)])


def test_halves_with_a_gelu(tmp_path: Path) -> None:
    """onnxruntime has it on GPUs only."""
    inputs = [random(2, 3, 8), random(8)]
    total = inputs[0] + inputs[1]
    case = Case("Gelu", [np.ascontiguousarray(total[..., 4:])], {})
    (right,) = reference(contributed_model(case, ["y"]), case.fed())
    model = contributed_model(Case("BiasSplitGelu", inputs, {}), ["y"])
    compare(imported(model, tmp_path).graph, inputs, [total[..., :4] * right])


_TABLES = [random(9, 6, seed=1), random(8, 6, seed=2), random(2, 6, seed=3), random(6), random(6)]
_WORDS, _PARTS = np.array([[1, 8, 3], [0, 2, 2]], np.int32), np.array([[0, 0, 1], [1, 1, 0]], np.int32)
_MASK, _PLACES = np.array([[1, 1, 0], [1, 1, 1]], np.int32), np.array([[2, 3, 4], [7, 6, 5]], np.int32)


@pytest.mark.parametrize(
    "inputs",
    [
        [_WORDS, _PARTS, *_TABLES, _MASK],
        [_WORDS, None, *_TABLES[:2], None, *_TABLES[3:], _MASK],
        [_WORDS, _PARTS, *_TABLES, None, _PLACES],
        [_WORDS, _PARTS, *_TABLES, _MASK, _PLACES[:1]],
    ],
)
def test_embeddings(inputs: list[Array | None], tmp_path: Path) -> None:
    held = tuple(index for index in (2, 3, 4, 5, 6) if inputs[index] is not None)
    case = Case("EmbedLayerNormalization", inputs, {"epsilon": 1e-6}, held)
    check_contributed(case, ["y", "ends", "sum"], tmp_path)


# -- channels last, quantised ------------------------------------------------------------------------------------------
_SCALED = [_one(0.05), _one(120, np.uint8)]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        (
            "QLinearConv",
            [_stored(1, 7, 6, 3), *_SCALED, _stored(4, 3, 3, 3), _one(0.2), _one(130, np.uint8), _one(9.0), _SCALED[1]],
            {"channels_last": 1, **_HALF},
        ),
        (
            "QLinearAveragePool",
            [_stored(1, 7, 6, 3), *_SCALED, *_SCALED],
            {"channels_last": 1, "kernel_shape": [3, 2], **_HALF},
        ),
    ],
)
def test_quantised_images_with_channels_last(
    op: str, inputs: list[Array], attributes: Mapping[str, Any], tmp_path: Path
) -> None:
    case = Case(op, inputs, attributes, tuple(range(1, len(inputs))))
    model = contributed_model(case, ["y"])
    (expected,) = reference(model, case.fed())
    graph = imported(model, tmp_path).graph
    for _ in range(2):
        (result,) = run(graph, list(case.fed().values()))
        assert np.abs(result.astype(int) - expected.astype(int)).max() <= 1
        optimise(graph)


# -- what is refused ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("attributes", "what"),
    [({"bits": 3}, "'bits' is 3"), ({"weight_prepacked": 1}, "'weight_prepacked' is 1")],
)
def test_other_weights_are_refused(attributes: Mapping[str, Any], what: str, tmp_path: Path) -> None:
    case = _few_bits(4, "none", bias=False)
    changed = Case(case.op, case.inputs, {**case.attributes, **attributes}, case.constants)
    with pytest.raises(UnsupportedError, match=what):
        imported(contributed_model(changed, ["y"]), tmp_path)


def test_an_unknown_activation_is_refused(tmp_path: Path) -> None:
    case = Case("FusedGemm", [random(4, 3), random(3, 5)], {"activation": "Erf"})
    with pytest.raises(UnsupportedError, match="'activation' is 'Erf'"):
        imported(contributed_model(case, ["y"]), tmp_path)
