"""Operators of transformers, signals and training against the reference evaluator of the onnx package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

from buildtool.errors import ModelFileError
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import Case, compare, imported, random, run

_Q, _K, _V = random(2, 4, 3, 8), random(2, 2, 5, 8, seed=1), random(2, 2, 5, 6, seed=2)
_MASK = random(3, 5, seed=3)
_HIDING = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 1, 1, 1]], np.bool_)
_FLAT = [random(2, 3, 32), random(2, 5, 16, seed=1), random(2, 5, 12, seed=2)]
_HEADS = {"q_num_heads": 4, "kv_num_heads": 2}
_PAST = [random(2, 2, 3, 8, seed=4), random(2, 2, 3, 6, seed=5)]
_STATE = [random(2, 4, 2, seed=6)]
_X = random(2, 6, 4)
_ANGLES = [random(10, 4, seed=7), random(10, 4, seed=8)]
_SIGNAL = random(2, 9, 1)
_NEWEST = 27


def _case(op: str, inputs: list[Array | None], opset: int = _NEWEST, outputs: int = 1, **attributes: Any) -> Case:
    return Case(op, inputs, attributes, opset=opset, outputs=outputs)


def _wanted(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    return [np.asarray(array) for array in ReferenceEvaluator(model).run(None, dict(inputs))]


def _held(op: str, inputs: list[Array | None], *constants: int, opset: int = _NEWEST, **attributes: Any) -> Case:
    return Case(op, inputs, attributes, constants, opset=opset)


_ATTENTION = [
    _case("Attention", [_Q, _K, _V], opset=24),
    _case("Attention", [_Q, _K, _V, _MASK], opset=23, scale=0.3),
    _case("Attention", [_Q, _K, _V, _HIDING], opset=24, outputs=3),
    _case("Attention", [*_FLAT, _MASK], opset=24, is_causal=1, **_HEADS),
    _case("Attention", [*_FLAT, None, *_PAST], opset=24, outputs=3, is_causal=1, **_HEADS),
    _case("Attention", [_Q, _K, _V, None, None, None, np.array([4, 2])], opset=24),
    _case("Attention", [_Q, _K, _V, _MASK[:, :3]], opset=24),
    _case("Attention", [_Q, _K, _V, (_MASK * 3).astype(np.int64)], opset=24),
    *(
        _case("Attention", [_Q, _K, _V, _MASK], opset=24, outputs=4, softcap=2.0, qk_matmul_output_mode=mode)
        for mode in range(1, 4)
    ),
    _case("Attention", [_Q, _K, _V, _HIDING], opset=24, outputs=4, qk_matmul_output_mode=3),
]
_LINEAR = [random(2, 3, 8), random(2, 3, 8, seed=1), random(2, 3, 12, seed=2)]
_LINEAR_STATE = random(2, 2, 4, 6, seed=3)
_DECAY, _BETA = -np.abs(random(2, 3, 2, seed=4)), random(2, 3, 2, seed=5)
_LINEAR_HEADS = {"q_num_heads": 2, "kv_num_heads": 2}
_SEQUENCES = [
    *(
        Case("CausalConvWithState", [random(2, 4, 6), random(4, 1, 3), *rest], attributes, opset=_NEWEST, outputs=2)
        for rest, attributes in (
            ([], {}),
            ([random(4)], {"activation": "silu"}),
            ([random(4), *_STATE], {"activation": "none"}),
            ([None, *_STATE], {"activation": "swish"}),
        )
    ),
    *(
        _case("LinearAttention", [*_LINEAR, *rest], outputs=2, **_LINEAR_HEADS, **attributes)
        for rest, attributes in (
            ([None, _DECAY, _BETA], {}),
            ([_LINEAR_STATE, _DECAY, _BETA], {"update_rule": "gated_delta", "scale": 0.3}),
            ([_LINEAR_STATE, _DECAY], {"update_rule": "gated"}),
            ([_LINEAR_STATE, None, _BETA], {"update_rule": "delta"}),
            ([], {"update_rule": "linear"}),
        )
    ),
    _case("RotaryEmbedding", [random(2, 3, 5, 8), *_ANGLES, np.arange(10).reshape(2, 5)], opset=24),
    _case("RotaryEmbedding", [random(2, 5, 24), *_ANGLES, np.arange(10).reshape(2, 5)], opset=24, num_heads=3),
    _case(
        "RotaryEmbedding", [random(1, 3, 5, 12), *_ANGLES, np.arange(5).reshape(1, 5)], opset=24, rotary_embedding_dim=8
    ),
    _case("RotaryEmbedding", [random(2, 3, 5, 8), random(2, 5, 4), random(2, 5, 4, seed=1)], opset=24, interleaved=1),
]
_NORMALISED = [
    _case("RMSNormalization", [_X, random(4)], opset=24),
    _case("RMSNormalization", [_X, random(6, 4)], opset=24, axis=1, epsilon=0.1),
    _case("Swish", [_X], opset=24),
    _case("Swish", [_X], opset=24, alpha=0.5),
    *(
        Case(
            "BatchNormalization",
            [random(2, 3, 4, 5), *(np.abs(random(3, seed=seed)) for seed in range(4))],
            {"training_mode": 1, **attributes},
            opset=15,
            outputs=outputs,
        )
        for attributes, outputs in (({}, 1), ({}, 3), ({"momentum": 0.25, "epsilon": 0.5}, 3))
    ),
]
_RECURRENT = [
    Case(
        op,
        [random(2, 5, 3), random(1, gates * 4, 3, seed=1), random(1, gates * 4, 4, seed=2)],
        {"hidden_size": 4, "layout": 1},
        opset=14,
        outputs=2,
    )
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
]
_CUMULATED = [
    _held("CumProd", [_X, np.array(1)], 1, opset=26),
    _held("CumProd", [_X, np.array(-1)], 1, opset=26, reverse=1),
    _held("CumProd", [_X, np.array(0)], 1, opset=26, exclusive=1),
    _held("CumSum", [_X, np.array(1)], 1, opset=14),
    _held("CumSum", [_X, np.array(1)], 1, opset=14, exclusive=1, reverse=1),
    _case("CastLike", [_X, np.array([1], np.int32)], opset=19),
]
_SIGNALS = [
    _held("DFT", [_SIGNAL], opset=20),
    _held("DFT", [_SIGNAL, None, np.array(1)], 2, opset=20, onesided=1),
    _held("DFT", [random(2, 3, 5, 2), None, np.array(1)], 2, opset=20, inverse=1),
    _held("DFT", [random(2, 3, 5, 2), np.array(4), np.array(-2)], 1, 2, opset=20),
    _held("DFT", [random(2, 5, 3, 1), np.array(7)], 1, opset=17, axis=1, onesided=1),
    _held("DFT", [random(2, 5, 3, 1)], opset=17),
    _held("STFT", [random(2, 12, 1), np.array(3), None, np.array(4)], 1, 3, opset=17),
    _held("STFT", [random(2, 12, 1), np.array(3), random(4)], 1, opset=17),
    _held("STFT", [random(2, 12, 1), np.array(2), random(4), np.array(4)], 1, 3, opset=17, onesided=0),
]
_EQUATIONS = [
    _case("Einsum", [random(2, 3), random(3, 4)], opset=12, equation="ij,jk->ik"),
    _case("Einsum", [random(2, 3, 4), random(2, 4, 5)], opset=12, equation="bij, bjk"),
    _case("Einsum", [random(3, 3)], opset=12, equation="ii->i"),
    _case("Einsum", [random(2, 3, 4)], opset=12, equation="...ij->...ji"),
    _case("Einsum", [random(2, 3)], opset=12, equation="ij->"),
]
CASES = [*_ATTENTION, *_SEQUENCES, *_NORMALISED, *_RECURRENT, *_CUMULATED, *_SIGNALS, *_EQUATIONS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_agrees_with_the_reference_evaluator(case: Case, tmp_path: Path) -> None:
    model = case.model()
    expected = _wanted(model, case.fed())
    graph = imported(model, tmp_path).graph
    fed = list(case.fed().values())
    compare(graph, fed, expected, 1e-4, 1e-4)
    optimise(graph)
    compare(graph, fed, expected, 1e-4, 1e-4)


def test_products_before_they_are_capped(tmp_path: Path) -> None:
    """Mode 0 is the product itself, says ONNX; its evaluator gives what was capped."""
    inputs: list[Array | None] = [_Q, _K, _V, _MASK]
    plain, capped = (_case("Attention", inputs, opset=24, outputs=4, **more) for more in ({}, {"softcap": 2.0}))
    *_, expected = _wanted(plain.model(), plain.fed())
    *_, found = run(imported(capped.model(), tmp_path).graph, list(capped.fed().values()))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_a_short_mask_of_integers(tmp_path: Path) -> None:
    """ONNX's evaluator cannot fill it up; the same one of floats is the reference."""
    mask = (_MASK[:, :4] * 3).astype(np.int32)
    cases = [_case("Attention", [_Q, _K, _V, numbers], opset=24) for numbers in (mask, mask.astype(np.float32))]
    first, second = (run(imported(case.model(), tmp_path).graph, list(case.fed().values())) for case in cases)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


_WRONG = [
    (_case("Attention", [_Q, _K, _V, np.array(1, np.float32)], opset=24), "its mask is a single number"),
    (
        _case("Attention", [_Q, _K, _V], opset=24, outputs=4, qk_matmul_output_mode=4),
        "'qk_matmul_output_mode' is 4",
    ),
    (
        Case("ConvTranspose", [random(1, 2, 3), random(2, 2, 3)], {"output_shape": [5, 6, 7, 8]}),
        "'output_shape' has 4 sizes",
    ),
    (
        Case("ConvTranspose", [random(1, 2, 3, 3), random(2, 2, 3, 3)], {"output_shape": [5]}),
        "'output_shape' has 1 sizes",
    ),
]


@pytest.mark.parametrize(("case", "message"), _WRONG)
def test_wrong_nodes(case: Case, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        imported(case.model(), tmp_path)


_WINDOWS = [
    (op, length, attributes)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow")
    for length, attributes in ((1, {}), (8, {}), (9, {"periodic": 0}), (5, {"output_datatype": TensorProto.DOUBLE}))
]


def _of_numbers(op: str, numbers: list[Array], **attributes: Any) -> ModelProto:
    """A node whose inputs are all known, added to an input."""
    names = [f"n{index}" for index in range(len(numbers))]
    constants = [
        helper.make_node("Constant", [], [name], value=helper.make_tensor(name, code, array.shape, array.reshape(-1)))
        for name, array in zip(names, numbers, strict=True)
        if (code := helper.np_dtype_to_tensor_dtype(array.dtype))
    ]
    nodes = [helper.make_node(op, names, ["made"], **attributes), helper.make_node("Cast", ["made"], ["y"], to=1)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z")]
    z = helper.make_node("Relu", ["x"], ["z"])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])]
    graph = helper.make_graph([*constants, *nodes, z], "made", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def _made(model: ModelProto, folder: Path) -> tuple[Array, Array]:
    """What we make on import, and what the reference evaluator makes."""
    (wanted, _), graph = _wanted(model, {"x": np.zeros(1, np.float32)}), imported(model, folder)
    content = next(value.constant for value in graph.graph.values() if value.constant is not None)
    return content, wanted


@pytest.mark.parametrize(("op", "length", "attributes"), _WINDOWS)
def test_windows(op: str, length: int, attributes: dict[str, int], tmp_path: Path) -> None:
    made, wanted = _made(_of_numbers(op, [np.array(length)], **attributes), tmp_path)
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "numbers",
    [(8, 64, 8000, 20.0, 4000.0), (5, 33, 16000, 0.0, 8000.0), (3, 16, 100, 10.0, 40.0), (1, 16, 100, 0.0, 50.0)],
)
def test_filters_of_mel(numbers: tuple[float, ...], tmp_path: Path) -> None:
    arrays = [np.array(number, np.int64 if index < 3 else np.float32) for index, number in enumerate(numbers)]
    made, wanted = _made(_of_numbers("MelWeightMatrix", arrays), tmp_path)
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)
