"""Recurrent layers, Einsum and the operators of com.microsoft against onnxruntime."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.ir.operator import Array
from tests.importers.onnx.harness import Case, check, check_contributed, random

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_STEPS, _BATCH, _WIDTH, _HIDDEN = 5, 3, 4, 6


def _layers() -> Iterator[Case]:
    for op, direction, lengths, number in itertools.product(
        _GATES, ("forward", "reverse", "bidirectional"), (0, 1), (0, 1, 2)
    ):
        directions, gates = 2 if direction == "bidirectional" else 1, _GATES[op]
        inputs: list[Array | None] = [
            random(_STEPS, _BATCH, _WIDTH),
            random(directions, gates * _HIDDEN, _WIDTH, low=-0.5, high=0.5),
            random(directions, gates * _HIDDEN, _HIDDEN, low=-0.5, high=0.5),
            random(directions, 2 * gates * _HIDDEN) if number else None,
            np.array([5, 2, 3], np.int32) if lengths else None,
            random(directions, _BATCH, _HIDDEN),
        ]
        if op == "LSTM":
            inputs += [random(directions, _BATCH, _HIDDEN), random(directions, 3 * _HIDDEN)][: number + 1]
        attributes: dict[str, Any] = {"direction": direction, "hidden_size": _HIDDEN}
        if number == 1:
            attributes["clip"] = 0.5
        if op == "GRU":
            attributes["linear_before_reset"] = number % 2
        if number == 2 and op != "RNN":
            names = ["HardSigmoid", "ScaledTanh", "LeakyRelu"][: 2 if op == "GRU" else 3]
            attributes |= {"activations": names * directions}
            attributes |= {"activation_alpha": [0.25, 0.7, 0.1][: len(names)] * directions}
            attributes |= {"activation_beta": [0.4, 0.9] * directions}
        held = tuple(index for index, array in enumerate(inputs) if index and array is not None)
        yield Case(op, inputs, attributes, held, outputs=3 if op == "LSTM" else 2, opset=14)


@pytest.mark.parametrize("case", tuple(_layers()), ids=str)
def test_recurrent_layers(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


EQUATIONS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
    ("...ij,...kj->...ik", ((2, 3, 4), (1, 5, 4))),
    ("ii->i", ((4, 4),)),
    ("iij->ij", ((3, 3, 4),)),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ("bhwc,hkc->bhwk", ((2, 3, 4, 5), (3, 6, 5))),
    ("i,j", ((3,), (4,))),
    ("ij->", ((3, 4),)),
    ("ij,ij->i", ((3, 4), (3, 4))),
    ("abc,cd", ((2, 3, 4), (4, 5))),
    ("...,...->...", ((2, 3), (2, 3))),
    ("bqhd,bkhd->bhqk", ((2, 3, 4, 5), (2, 6, 4, 5))),
)


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[equation for equation, _ in EQUATIONS])
def test_einsum(equation: str, shapes: tuple[tuple[int, ...], ...], tmp_path: Path) -> None:
    check(Case("Einsum", [random(*shape) for shape in shapes], {"equation": equation}), tmp_path)


_IMAGE = random(1, 4, 7, 7)
_FILTERS = [random(5, 4, 3, 3, low=-0.5, high=0.5), random(5)]
_ROWS = random(2, 3, 9)
CONTRIBUTED: tuple[tuple[str, list[Array], dict[str, Any], tuple[str, ...]], ...] = (
    ("FusedConv", [_IMAGE, *_FILTERS], {"activation": "Relu", "pads": [1, 1, 1, 1]}, ("y",)),
    ("FusedConv", [_IMAGE, *_FILTERS], {"activation": "LeakyRelu", "activation_params": [0.2]}, ("y",)),
    ("FusedConv", [_IMAGE, *_FILTERS], {"activation": "Clip", "activation_params": [-0.5, 0.7]}, ("y",)),
    ("FusedConv", [_IMAGE, *_FILTERS], {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}, ("y",)),
    ("FusedConv", [_IMAGE, *_FILTERS, random(1, 5, 5, 5)], {"activation": "Relu"}, ("y",)),
    ("FusedMatMul", [random(2, 5, 4), random(2, 6, 5)], {"transA": 1, "transB": 1, "alpha": 0.5}, ("y",)),
    ("FusedMatMul", [random(5, 2, 3, 4), random(2, 3, 4, 6)], {"transBatchA": 1}, ("y",)),
    ("Gelu", [_ROWS], {}, ("y",)),
    ("BiasGelu", [_ROWS, random(9)], {}, ("y",)),
    ("FastGelu", [_ROWS, random(9)], {}, ("y",)),
    ("FastGelu", [_ROWS], {}, ("y",)),
    ("QuickGelu", [_ROWS], {}, ("y",)),
    ("SkipLayerNormalization", [_ROWS, random(2, 3, 9, seed=1), random(9), random(9), random(9)], {}, ("y",)),
    ("SkipLayerNormalization", [_ROWS, random(2, 3, 9, seed=1), random(9)], {}, ("y", "", "", "sum")),
    ("SkipSimplifiedLayerNormalization", [_ROWS, random(2, 3, 9, seed=1), random(9)], {}, ("y", "", "", "sum")),
)


@pytest.mark.parametrize(("op", "inputs", "attributes", "outputs"), CONTRIBUTED)
def test_contributed_operators(
    op: str, inputs: list[Array], attributes: dict[str, Any], outputs: tuple[str, ...], tmp_path: Path
) -> None:
    check_contributed(Case(op, inputs, attributes), outputs, tmp_path)
